"""The command line reference as a Markdown page, made from the command tables.

`python -m eval_quality.cli.reference` prints it; the committed page is compared with it byte for byte.
"""

import re
from collections.abc import Iterable, Iterator, Sequence

from eval_quality.cli.command import PIPELINE_EXITS, Command
from eval_quality.cli.dispatch import is_family, load
from eval_quality.cli.help import INPUTS_AND_OUTPUTS, STRICT_NOTE, flag_help, spelling, synopsis
from eval_quality.cli.registry import REGISTRY, Entry

INTRODUCTION = """\
# Command line

This page is generated from the command tables (`make generate`); a test compares it with a fresh copy.

Every command prints its help with `--help`. Flags take their value after a space or after `=`; the second form is the
only one for a value that begins with `-`. A flag may be repeated with the same value; with two different values it is
a usage error, unless it is marked repeatable. Messages go to standard error, one line each, behind `eval-quality: `.
"""


def page() -> str:
    """The whole page."""
    parts = [INTRODUCTION, "## Inputs and outputs\n", *(_prose(paragraph) for paragraph in INPUTS_AND_OUTPUTS)]
    parts += ["## Exit codes\n", _exits(PIPELINE_EXITS), f"{STRICT_NOTE}\n", "## Commands\n", _overview()]
    for entry in REGISTRY:
        commands = load(entry)
        if is_family(entry, commands):
            parts.append(f"### {entry.name}\n")
            parts.append(f"{_sentence(entry.purpose)}\n")
        for command in commands:
            parts += _command(command, "####" if is_family(entry, commands) else "###")
    return "\n".join(parts)


def _overview() -> str:
    return _table(("Command", "Purpose"), [(_anchor(entry), entry.purpose) for entry in REGISTRY])


def _anchor(entry: Entry) -> str:
    return f"[`{entry.name}`](#{entry.name})"


def _command(command: Command, heading: str) -> Iterator[str]:
    yield f"{heading} {command.name}\n"
    yield f"{_sentence(command.purpose)}\n"
    yield f"```text\n{synopsis(command)}\n```\n"
    if command.positionals:
        rows = [
            (
                f"`<{word.name}>`",
                word.help + (f": {', '.join(f'`{choice}`' for choice in word.choices)}" * bool(word.choices)),
            )
            for word in command.positionals
        ]
        yield _table(("Argument", "Meaning"), rows)
    if command.flags:
        yield _table(("Flag", "Meaning"), [(f"`{spelling(flag)}`", flag_help(flag)) for flag in command.flags])
    for paragraph in command.notes.split("\n\n") if command.notes else ():
        yield _prose(paragraph)
    if command.exits is not PIPELINE_EXITS:
        yield _exits(command.exits)


def _sentence(purpose: str) -> str:
    return f"{purpose[:1].upper()}{purpose[1:]}."


def _prose(paragraph: str) -> str:
    """One paragraph in which words with angle brackets are code, not HTML."""
    words = (f"`{word}`" if "<" in word and "`" not in word else word for word in paragraph.split())
    return re.sub(r"([,;.]+)`(?=\s|$)", r"`\1", " ".join(words)) + "\n"


def _exits(exits: Iterable[tuple[int, str]]) -> str:
    return _table(("Exit code", "Meaning"), [(str(code), meaning) for code, meaning in exits])


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"]
    lines += [f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |" for row in rows]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    print(page(), end="")
