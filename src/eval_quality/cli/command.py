"""What a command is: its flags, its positional arguments and the function that runs it.

These tables are the only description of the command line. The token loop (`cli/flags.py`), every help text
(`cli/help.py`), shell completion (`cli/completion.py`) and `docs/reference/cli.md` are made from them.

The order of `Command.flags` is part of the behaviour (spec 10 §2.1): missing flags and several readers of standard
input are reported in this order.
"""

from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

PIPELINE_EXITS: Final = (
    (0, "success; PASS, WAIVED, unpromoted CONCERNS; help; version; any aggregate"),
    (1, "CONCERNS promoted by --strict"),
    (2, "FAIL"),
    (3, "Invalid run, or failed pre-flight"),
    (4, "structural failure, aggregation refusal"),
    (5, "runtime fault or internal error"),
    (64, "usage error"),
)
"""The exit code table of spec 10 §6."""


class UsageError(Exception):
    """A command line that cannot be carried out as typed. Rendered as `eval-quality: usage: <message>`; exit 64."""


class Flag(NamedTuple):
    """One flag of one command."""

    name: str
    """With its dashes: "--in"."""
    help: str
    value: str | None = None
    """What the value is called in help, such as "path"; None for a switch."""
    required: bool = False
    repeatable: bool = False
    """Every occurrence adds a value (or, for a switch, counts)."""
    reads: bool = False
    """Its value names an input document, so `-` means standard input and `--out` may not name the same file."""
    choices: tuple[str, ...] = ()
    """The only values allowed; empty means any."""
    once: bool = False
    """Any second occurrence is a usage error, even with the same value (spec 10 §2.2 rule 4)."""
    not_blank: bool = False
    """A value of white space alone is refused, before missing flags are reported (spec 10 §2.2, after the loop)."""
    pattern: str = ""
    """A regular expression the whole value must match, checked last; empty means any value."""
    form: str = ""
    """What a value that does not match is not: "an oracle id; expected ..."."""
    short: str = ""
    """A one-letter spelling with its dash, "-o"; empty for none. Pipeline commands have none."""


class Positional(NamedTuple):
    """One positional argument of one command."""

    name: str
    help: str
    required: bool = True
    repeatable: bool = False
    """It takes every remaining word. Only the last positional argument may."""
    choices: tuple[str, ...] = ()


class Invocation:
    """A parsed command line: values exactly as they were typed, nothing expanded or normalized."""

    def __init__(self, command: "Command", values: dict[str, list[str]], positionals: dict[str, list[str]]) -> None:
        self.command = command
        self._values = values
        self._positionals = positionals

    def text(self, flag: str) -> str | None:
        """The value of `flag`, or None when it was not given. The last one of a repeatable flag."""
        found = self._values.get(flag)
        return found[-1] if found else None

    def require(self, flag: str) -> str:
        """The value of a flag that the table marks as required."""
        return self._values[flag][-1]

    def texts(self, flag: str) -> list[str]:
        """Every value of `flag`, in the order given."""
        return list(self._values.get(flag, ()))

    def has(self, flag: str) -> bool:
        """Whether `flag` was given at all."""
        return flag in self._values

    def count(self, flag: str) -> int:
        """How often a repeatable switch was given."""
        return len(self._values.get(flag, ()))

    def positional(self, name: str) -> str | None:
        """The first word given for a positional argument, or None."""
        found = self._positionals.get(name)
        return found[0] if found else None

    def positionals(self, name: str) -> list[str]:
        """Every word given for a repeatable positional argument."""
        return list(self._positionals.get(name, ()))

    def inputs(self) -> Iterator[tuple[str, str]]:
        """(flag, value) of every input, single-valued flags in the order first given, then the repeatable ones."""
        reading = {flag.name: flag for flag in self.command.flags if flag.reads}
        for name, values in self._values.items():
            if name in reading and not reading[name].repeatable:
                yield name, values[-1]
        for name, flag in reading.items():
            if flag.repeatable:
                for value in self._values.get(name, ()):
                    yield name, value


class Command(NamedTuple):
    """One command, or one form of a family such as "behavior-eval export"."""

    name: str
    purpose: str
    """One line, without a full stop."""
    flags: tuple[Flag, ...]
    run: Callable[[Invocation], int]
    """Returns the exit code. What it raises is rendered by `cli/main.py`: see `cli/diagnostics.py`."""
    positionals: tuple[Positional, ...] = ()
    notes: str = ""
    """Further paragraphs of the command's help."""
    exits: tuple[tuple[int, str], ...] = PIPELINE_EXITS
    """The exit codes its help lists."""
    usage_exit: int = 64
    fault_exit: int | None = None
    """When set, every other refusal or fault exits with this code instead of those of spec 10 §6 (spec 11 §13.1)."""
    falls_back_to_stdin: str = ""
    """The input flag that reads standard input when it is absent (spec 10 §3 rule 1); empty for none."""
