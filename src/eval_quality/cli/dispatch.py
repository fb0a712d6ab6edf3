"""From the first word to the command's own module (spec 10 §1.1).

1. No word: usage error that lists the commands.
2. `--help`, `-h`, `help`: general help, or the help of the command named next.
3. `--version`, `-V`: the version.
4. A word that is no command: usage error that lists the commands.
5. Otherwise the command's module is imported, and only that one, and its command line parsed.

A family such as `behavior-eval` has a second word, which chooses among the commands of its module.
"""

from importlib import import_module

from eval_quality.cli.command import Command, UsageError
from eval_quality.cli.diagnostics import report
from eval_quality.cli.output import write_stdout
from eval_quality.cli.registry import REGISTRY, Entry, find
from eval_quality.value.text import quoted

HELP_WORDS = ("--help", "-h", "help")
VERSION_WORDS = ("--version", "-V")


def main(argv: list[str]) -> int:
    """Carry out one command line (without the program's own name) and return the exit code."""
    command: Command | None = None
    try:
        if not argv:
            raise UsageError(f"no command given; the commands are {_listed()}")
        word = argv[0]
        if word in HELP_WORDS:
            return _help(argv[1:])
        if word in VERSION_WORDS:
            from eval_quality._version import VERSION

            write_stdout(f"{VERSION}\n")
            return 0
        entry = _entry(word)
        commands = load(entry)
        command = commands[0]  # until one of a family is chosen: its exit codes are theirs all
        chosen, tokens = _choose(entry, commands, argv[1:])
        if chosen is None:
            from eval_quality.cli.help import family_help

            write_stdout(family_help(entry, commands))
            return 0
        command = chosen
        return _run(command, tokens)
    except BaseException as error:
        if isinstance(error, SystemExit):
            raise
        return report(error, command)


def load(entry: Entry) -> tuple[Command, ...]:
    """The command, or the commands of the family, that `entry` names."""
    module = import_module(f"eval_quality.cli.{entry.module}")
    family: tuple[Command, ...] | None = getattr(module, "COMMANDS", None)
    return family if family is not None else (module.COMMAND,)


def is_family(entry: Entry, commands: tuple[Command, ...]) -> bool:
    """Whether a second word chooses among `commands`."""
    return any(command.name != entry.name for command in commands)


def _entry(word: str) -> Entry:
    entry = find(word)
    if entry is None:
        raise UsageError(f"unknown command {quoted(word)}; the commands are {_listed()}")
    return entry


def _listed() -> str:
    return ", ".join(entry.name for entry in REGISTRY)


def _import_msgspec() -> None:
    """Import msgspec without `typing_extensions`, which it prefers where it is installed and does not need.

    That module costs as much as msgspec itself (it reads `inspect`, `ast` and `tokenize`): a tenth of a whole
    `compile`. The standard library has had both names msgspec takes from it since 3.11. This process has one thread
    so far, and later imports of `typing_extensions` find it as ever.
    """
    import sys

    if "msgspec" in sys.modules or "typing_extensions" in sys.modules:
        return
    sys.modules["typing_extensions"] = None  # pyright: ignore[reportArgumentType]
    try:
        import_module("msgspec")
    finally:
        del sys.modules["typing_extensions"]


def _run(command: Command, tokens: list[str]) -> int:
    from eval_quality.cli.flags import HelpRequested, parse

    try:
        invocation = parse(command, tokens)
    except HelpRequested:
        from eval_quality.cli.help import command_help

        write_stdout(command_help(command))
        return 0
    _import_msgspec()
    return command.run(invocation)


def _choose(entry: Entry, commands: tuple[Command, ...], rest: list[str]) -> tuple[Command | None, list[str]]:
    """The command meant and the tokens left for it; no command when the family's own help is asked for."""
    if not is_family(entry, commands):
        return commands[0], rest
    word = rest[0] if rest else ""
    if word in HELP_WORDS:
        return None, []
    wanted = word.lower() if entry.folds_case else word
    chosen = next((command for command in commands if command.name == f"{entry.name} {wanted}"), None)
    if chosen is not None:
        return chosen, rest[1:]
    if entry.default and (not word or word.startswith("-")):
        return next(command for command in commands if command.name == f"{entry.name} {entry.default}"), rest
    words = ", ".join(command.name.removeprefix(entry.name).strip() for command in commands)
    problem = f"unknown word {quoted(word)} after {entry.name}" if word else f"{entry.name} needs a word after it"
    raise UsageError(f"{problem}; it takes {words}")


def _help(words: list[str]) -> int:
    from eval_quality.cli import help as texts

    if not words:
        write_stdout(texts.general_help([load(entry)[0] for entry in REGISTRY if texts.is_pipeline(entry)]))
        return 0
    entry = _entry(words[0])
    commands = load(entry)
    if not is_family(entry, commands):
        write_stdout(texts.command_help(commands[0]))
        return 0
    named = f"{entry.name} {words[1]}" if len(words) > 1 else ""
    chosen = next((command for command in commands if command.name == named), None)
    write_stdout(texts.command_help(chosen) if chosen is not None else texts.family_help(entry, commands))
    return 0
