"""`eval-quality why`: the reasons of a verdict, what decided each, and what would change it."""

from typing import Final

from eval_quality.cli.command import Command, Flag, Invocation, Positional
from eval_quality.cli.output import write_stdout


def run(invocation: Invocation) -> int:
    """Print the explanation; it judges nothing itself, so the exit code says only that it was printed."""
    from eval_quality.app.why import why_report

    path = invocation.positional("evidence") or "-"
    write_stdout(why_report(path, invocation.text("--contract"), as_json=invocation.text("--format") == "json"))
    return 0


COMMAND: Final = Command(
    "why",
    "explain a verdict: its reasons, what decided each, and what would have to change",
    (
        Flag(
            "--contract",
            "the contract: adds what its oracles ask and which part of a check decided",
            value="path",
            reads=True,
        ),
        Flag("--format", "how the explanation is written; text when absent", value="format", choices=("text", "json")),
    ),
    run,
    positionals=(Positional("evidence", "the evidence artifact; standard input when absent or -", required=False),),
    notes="An Invalid run has no evidence artifact; `score` prints its reasons. In brackets: what a change costs, "
    "rescore (stored documents suffice), rerun (new trials), author (contract or probe changes), setup (environment).",
    exits=((0, "explained"), (5, "runtime fault or internal error"), (64, "usage error")),
)
