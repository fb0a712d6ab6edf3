"""`eval-quality schema`: the published JSON Schema documents (spec 02 §28)."""

from typing import Final

from eval_quality.cli.command import Command, Flag, Invocation, Positional
from eval_quality.cli.output import emit, write_stdout
from eval_quality.schemas import names, text


def run(invocation: Invocation) -> int:
    """Print or write one schema; without a kind, print the kinds."""
    kind = invocation.positional("kind")
    if kind is None:
        write_stdout("".join(f"{name}\n" for name in names()))
    else:
        emit(text(kind), invocation.text("--out"), f"{kind}.schema")
    return 0


COMMAND: Final = Command(
    "schema",
    "print the JSON Schema of a document kind",
    (
        Flag(
            "--out",
            "where the schema goes: a file when it ends in .json, else a directory; standard output when absent",
            value="target",
        ),
    ),
    run,
    positionals=(Positional("kind", "the kind, one of", required=False, choices=names()),),
    notes="Without a kind, the kinds are listed, one a line.",
    exits=((0, "printed or written"), (5, "runtime fault or internal error"), (64, "usage error")),
)
