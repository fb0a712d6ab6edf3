"""Help texts, made from the command tables (spec 10 §6.1)."""

from collections.abc import Iterable, Sequence
from textwrap import fill, wrap
from typing import Final

from eval_quality.cli.command import PIPELINE_EXITS, Command, Flag
from eval_quality.cli.flags import opposite_of
from eval_quality.cli.registry import PIPELINE, REGISTRY, Entry

PROGRAM: Final = "eval-quality"
WIDTH: Final = 100

INPUTS_AND_OUTPUTS: Final = (
    "Inputs are JSON documents. A path of - is standard input, for at most one input of a command; only --in also "
    "falls back to standard input when it is absent. compile and seal read 1 document; preflight reads 3; score reads "
    "8, of which the isolation manifest, the evaluator configuration and the private manifest are optional and "
    "--record may be repeated; aggregate-strength reads 3, and --evidence may be repeated.",
    "The artifact goes to standard output, or to --out: a target that ends in .json is the file, anything else is a "
    "directory that receives <kind>.json. Diagnostics go to standard error, one line each.",
)

STRICT_NOTE: Final = "CONCERNS that rest on the evidence alone are never promoted by --strict."


def is_pipeline(entry: Entry) -> bool:
    """Whether `entry` is one of the five pipeline commands."""
    return entry.name in PIPELINE


def general_help(pipeline: Sequence[Command]) -> str:
    """What `eval-quality --help` prints; `pipeline` are the five pipeline commands."""
    lines = ["Would this evaluation have caught a known bug?", "", "Usage:"]
    for command in pipeline:
        lines += _indented(synopsis(command))
    lines += [f"  {PROGRAM} help [<command>]", f"  {PROGRAM} --version", "", "Further commands:"]
    others = [(entry.name, entry.purpose) for entry in REGISTRY if not is_pipeline(entry)]
    lines += _table(others)
    lines += ["", "Inputs and outputs:"]
    for paragraph in INPUTS_AND_OUTPUTS:
        lines += fill(paragraph, WIDTH, initial_indent="  ", subsequent_indent="  ").splitlines()
    lines += ["", "Exit codes:", *_exits(PIPELINE_EXITS)]
    return "\n".join(lines) + "\n"


def family_help(entry: Entry, commands: Sequence[Command]) -> str:
    """The help of a family: one synopsis and purpose for each of its commands."""
    lines = [f"{entry.name}: {entry.purpose}", "", "Usage:"]
    for command in commands:
        lines += _indented(synopsis(command))
    lines += ["", "Commands:", *_table([(command.name, command.purpose) for command in commands])]
    if entry.aliases:
        lines += ["", f"{entry.name} can also be written {', '.join(entry.aliases)}."]
    return "\n".join(lines) + "\n"


def command_help(command: Command) -> str:
    """The help of one command: synopsis, one entry a flag, exit codes."""
    lines = [f"{command.name}: {command.purpose}", "", "Usage:", *_indented(synopsis(command))]
    if command.positionals:
        lines += ["", "Arguments:"]
        lines += _table([(f"<{word.name}>", _with_choices(word.help, word.choices)) for word in command.positionals])
    lines += ["", "Flags:", *_table([(spelling(flag), flag_help(flag)) for flag in command.flags])]
    for paragraph in command.notes.split("\n\n") if command.notes else ():
        lines += ["", *wrap(" ".join(paragraph.split()), WIDTH)]
    lines += ["", "Exit codes:", *_exits(command.exits)]
    return "\n".join(lines) + "\n"


def spelling(flag: Flag) -> str:
    """A flag as help shows it: "--in <path>"."""
    name = f"{flag.short}, {flag.name}" if flag.short else flag.name
    return name if flag.value is None else f"{name} <{flag.value}>"


def flag_help(flag: Flag) -> str:
    """The sentence of a flag with its marks: required, repeatable, allowed values."""
    text = _with_choices(flag.help, flag.choices)
    marks = [mark for mark, is_set in (("required", flag.required), ("repeatable", flag.repeatable)) if is_set]
    return f"{text} ({', '.join(marks)})" if marks else text


def _with_choices(text: str, choices: tuple[str, ...]) -> str:
    return f"{text}: {', '.join(choices)}" if choices else text


def synopsis(command: Command) -> str:
    """One line: required flags first, then the optional ones in brackets, each in table order."""
    parts = [PROGRAM, command.name]
    for word in command.positionals:
        name = f"<{word.name}>"
        more = f"{name} ..." if word.repeatable else name
        parts.append(more if word.required else f"[{more}]")
    parts += [_required(flag) for flag in command.flags if flag.required]
    shown: set[str] = set()
    for flag in command.flags:
        if flag.required or flag.name in shown:
            continue
        opposite = opposite_of(command, flag) if flag.value is None else None
        alternatives = [flag] if opposite is None else [flag, opposite]
        shown |= {alternative.name for alternative in alternatives}
        text = " | ".join(_plain(alternative) for alternative in alternatives)
        parts.append(f"[{text} ...]" if flag.repeatable else f"[{text}]")
    return " ".join(parts)


def _plain(flag: Flag) -> str:
    return flag.name if flag.value is None else f"{flag.name} <{flag.value}>"


def _required(flag: Flag) -> str:
    return f"{_plain(flag)} [{_plain(flag)} ...]" if flag.repeatable else _plain(flag)


def _indented(text: str) -> list[str]:
    """A synopsis wrapped between its parts, never inside one."""
    glued = text.replace(" <", "\u00a0<").replace(" |", "\u00a0|").replace("| ", "|\u00a0").replace(" ...", "\u00a0...")
    lines = wrap(
        glued,
        WIDTH,
        initial_indent="  ",
        subsequent_indent="      ",
        break_long_words=False,
        break_on_hyphens=False,
    )
    return [line.replace("\u00a0", " ") for line in lines]


def _table(rows: Sequence[tuple[str, str]]) -> list[str]:
    """Two columns; a left cell that is too wide has a line of its own."""
    width = min(30, max((len(left) for left, _ in rows), default=0))
    lines: list[str] = []
    for left, right in rows:
        indent = " " * (width + 4)
        body = wrap(right, WIDTH - len(indent), break_on_hyphens=False) or [""]
        if len(left) > width:
            lines += [f"  {left}", *(f"{indent}{line}" for line in body)]
        else:
            lines += [f"  {left:<{width}}  {body[0]}".rstrip(), *(f"{indent}{line}" for line in body[1:])]
    return lines


def _exits(exits: Iterable[tuple[int, str]]) -> list[str]:
    lines = [f"  {code:<4} {meaning}" for code, meaning in exits]
    return [*lines, "", STRICT_NOTE] if exits is PIPELINE_EXITS else lines
