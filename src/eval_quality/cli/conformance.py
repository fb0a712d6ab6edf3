"""`eval-quality conformance`: prove an adapter (spec 07 §7.7)."""

from typing import Final

from eval_quality.cli.command import Command, Flag, Invocation, UsageError
from eval_quality.cli.output import write_stdout

FAILED_EXIT: Final = 2

EXITS: Final = (
    (0, "every assertion passed for every subject"),
    (2, "an assertion failed"),
    (64, "usage error, or a factory that cannot be used"),
)


def run(invocation: Invocation) -> int:
    """Run the suite over everything the factory gives, and print a report for each subject."""
    import json

    from eval_quality.app.conformance import Unusable, reports

    try:
        found = reports(invocation.require("--adapter"))
    except Unusable as error:
        raise UsageError(f"--adapter: {error}") from error
    if invocation.text("--format") == "json":
        text = json.dumps([report.to_value() for report in found], indent=2, ensure_ascii=False)
    else:
        text = "\n".join(report.text() for report in found)
    write_stdout(text + "\n")
    return 0 if all(report.passed for report in found) else FAILED_EXIT


COMMAND: Final = Command(
    "conformance",
    "prove that an adapter keeps the promises of its port",
    (
        Flag(
            "--adapter",
            "a callable that gives a conformance subject, or several: package.module:factory",
            value="factory",
            required=True,
        ),
        Flag("--format", "how the reports are printed (text unless given)", value="form", choices=("text", "json")),
    ),
    run,
    notes="The current folder is importable. Every assertion of the subject's runner is run against freshly built "
    "instances; `eval_quality.conformance` documents what a subject is.",
    exits=EXITS,
)
