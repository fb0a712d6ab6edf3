"""`eval-quality coverage`: what the coverage rules say of a contract (spec 04)."""

from typing import Final

from eval_quality.cli.command import Command, Flag, Invocation, Positional
from eval_quality.cli.output import write_stdout


def run(invocation: Invocation) -> int:
    """Print the report; gaps block nothing, so they do not change the exit code."""
    from eval_quality.app.coverage import coverage_report

    path = invocation.positional("contract") or "-"
    write_stdout(coverage_report(path, as_json=invocation.text("--format") == "json"))
    return 0


COMMAND: Final = Command(
    "coverage",
    "show which coverage rules a contract owes, what satisfies them and how to close the gaps",
    (Flag("--format", "how the report is written; text when absent", value="format", choices=("text", "json")),),
    run,
    positionals=(Positional("contract", "the contract; standard input when absent or -", required=False),),
    notes="Gaps block nothing: a contract with gaps compiles, seals and runs; its evidence publishes them.",
    exits=((0, "reported, whatever the gaps"), (5, "runtime fault or internal error"), (64, "usage error")),
)
