"""`eval-quality capabilities`: what this host can do for a run (spec 13 §13.18)."""

from typing import Final

from eval_quality.cli.command import Command, Flag, Invocation
from eval_quality.cli.output import write_stdout

DEFAULT_STORE: Final = ".eval-quality"


def run(invocation: Invocation) -> int:
    """Print the report, as text or as a JSON document."""
    from eval_quality.app.capabilities import capabilities_document, host_capabilities
    from eval_quality.value.canonical import canonicalize

    lines = host_capabilities(invocation.text("--store") or DEFAULT_STORE)
    if invocation.has("--json"):
        write_stdout(canonicalize(capabilities_document(lines), "Capabilities").decode() + "\n")
    else:
        width = max(len(line.name) for line in lines)
        write_stdout("".join(f"{line.name:<{width}}  {line.state:<11}  {line.detail}\n" for line in lines))
    return 0


COMMAND: Final = Command(
    "capabilities",
    "find out what this host can do for a run: sandboxes, limits, the store",
    (
        Flag("--store", f"the store whose place is tried; {DEFAULT_STORE} by default", value="directory"),
        Flag("--json", "print a JSON document"),
    ),
    run,
    notes="Each line is the result of doing the thing, not of finding a program. Nothing is left behind. A run refuses "
    "where it needs something that is unavailable here, and says which line.",
    exits=((0, "reported"), (5, "runtime fault or internal error"), (64, "usage error")),
)
