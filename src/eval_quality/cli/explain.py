"""`eval-quality explain`: what a code means, why it matters, and how to mend what shows it."""

from typing import Final

from eval_quality.cli.command import Command, Invocation, Positional, UsageError
from eval_quality.cli.output import write_stdout
from eval_quality.value.text import quoted


def run(invocation: Invocation) -> int:
    """Print one explanation; without a code, every code."""
    from eval_quality.app.explain import UnknownCode, explain

    try:
        text = explain(invocation.positional("code"))
    except UnknownCode as unknown:
        hint = f"; did you mean {' or '.join(unknown.nearest)}?" if unknown.nearest else ""
        raise UsageError(f"no code is called {quoted(str(unknown))}{hint}") from unknown
    write_stdout(text)
    return 0


COMMAND: Final = Command(
    "explain",
    "explain a code of a failure, a fault, a coverage rule, a check, a qualification or a run",
    (),
    run,
    positionals=(Positional("code", "the code as it is printed", required=False),),
    notes="Without a code, every code is listed by family.",
    exits=((0, "explained or listed"), (5, "internal error"), (64, "usage error, such as an unknown code")),
)
