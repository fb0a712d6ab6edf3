"""`eval-quality completion <shell>`: completion scripts made from the command tables.

The script names every command, flag and closed choice of this version; nothing is asked of the program while typing.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

from eval_quality.cli.command import Command, Flag, Invocation, Positional
from eval_quality.cli.registry import REGISTRY

SHELLS: Final = ("bash", "zsh", "fish")
TOP_WORDS: Final = ("help", "--help", "--version")
FOLDER_VALUES: Final = ("dir", "directory", "folder")
FILE_VALUES: Final = ("path", "file", "target")


class Family(NamedTuple):
    """One first word and the commands behind it."""

    word: str
    purpose: str
    commands: tuple[Command, ...]

    @property
    def has_second_word(self) -> bool:
        """Whether a second word chooses among the commands."""
        return any(command.name != self.word for command in self.commands)

    def second(self, command: Command) -> str:
        """The second word of one of the commands."""
        return command.name.removeprefix(self.word).strip()


def run(invocation: Invocation) -> int:
    """Print the script for one shell."""
    from eval_quality.cli.output import write_stdout

    write_stdout(script(invocation.positional("shell") or SHELLS[0]))
    return 0


def script(shell: str) -> str:
    """The completion script for "bash", "zsh" or "fish"."""
    from eval_quality.cli.dispatch import load

    families = [Family(word, entry.purpose, load(entry)) for entry in REGISTRY for word in (entry.name, *entry.aliases)]
    return {"bash": bash, "zsh": zsh, "fish": fish}[shell](families)


def _flag_names(command: Command) -> list[str]:
    return [name for flag in command.flags for name in (flag.name, flag.short) if name] + ["--help"]


def _wants_files(value: str | None) -> bool:
    return value in FILE_VALUES or value in FOLDER_VALUES


# bash


def bash(families: Sequence[Family]) -> str:
    """A function for `complete -F`, with one case for each command and one for each flag that takes a value."""
    words = " ".join([family.word for family in families] + list(TOP_WORDS))
    lines = [
        "# Completion of eval-quality for bash.",
        "_eval_quality() {",
        '    local current="${COMP_WORDS[COMP_CWORD]}" previous="${COMP_WORDS[COMP_CWORD-1]}"',
        '    local command="${COMP_WORDS[1]}" flags="" choices="" first=2',
        "    COMPREPLY=()",
        "    if ((COMP_CWORD == 1)); then",
        f'        mapfile -t COMPREPLY < <(compgen -W "{words}" -- "$current")',
        "        return",
        "    fi",
        '    case "$command" in',
        f'    help) ((COMP_CWORD == 2)) && mapfile -t COMPREPLY < <(compgen -W "{words}" -- "$current"); return ;;',
    ]
    for family in families:
        if family.has_second_word:
            seconds = " ".join(family.second(command) for command in family.commands)
            lines += [
                f"    {family.word})",
                "        if ((COMP_CWORD == 2)); then",
                f'            mapfile -t COMPREPLY < <(compgen -W "{seconds}" -- "$current")',
                "            return",
                "        fi",
                '        command="$command ${COMP_WORDS[2]}" first=3 ;;',
            ]
    lines += ["    esac", '    case "$command" in']
    for family in families:
        for command in family.commands:
            name = f"{family.word} {family.second(command)}".strip()
            lines.append(f'    "{name}") flags="{" ".join(_flag_names(command))}"')
            choices = command.positionals[0].choices if command.positionals else ()
            if choices:
                lines.append(f'        ((COMP_CWORD == first)) && choices="{" ".join(choices)}"')
            lines += _bash_values(command)
            lines.append("        ;;")
    lines += [
        "    *) return ;;",
        "    esac",
        '    if [[ -n "$choices" ]]; then',
        '        mapfile -t COMPREPLY < <(compgen -W "$choices" -- "$current")',
        '    elif [[ "$current" == -* ]]; then',
        '        mapfile -t COMPREPLY < <(compgen -W "$flags" -- "$current")',
        "    else",
        '        mapfile -t COMPREPLY < <(compgen -f -- "$current")',
        "    fi",
        "}",
        "complete -o filenames -F _eval_quality eval-quality",
    ]
    return "\n".join(lines) + "\n"


def _bash_values(command: Command) -> list[str]:
    """What to do right after a flag that takes a value: offer its choices, or nothing for free text."""
    closed = [flag for flag in command.flags if flag.choices]
    free = [flag.name for flag in command.flags if flag.value and not flag.choices and not _wants_files(flag.value)]
    if not closed and not free:
        return []
    lines = ['        case "$previous" in']
    lines += [f'        {flag.name}) choices="{" ".join(flag.choices)}" ;;' for flag in closed]
    if free:
        lines.append(f"        {'|'.join(free)}) return ;;")
    return [*lines, "        esac"]


# zsh


def zsh(families: Sequence[Family]) -> str:
    """A `#compdef` function that hands each command's flags to `_arguments`."""
    lines = [
        "#compdef eval-quality",
        "# Completion of eval-quality for zsh.",
        "_eval_quality() {",
        "    local -a commands",
    ]
    lines += ["    commands=("]
    lines += [f"        {_zsh_quote(f'{family.word}:{family.purpose}')}" for family in families]
    lines += [
        "        'help:print help'",
        "    )",
        "    if (( CURRENT == 2 )); then",
        "        _describe command commands",
        "        return",
        "    fi",
        "    shift words; (( CURRENT-- ))",
        "    case $words[1] in",
        "    help) _describe command commands ;;",
    ]
    for family in families:
        if not family.has_second_word:
            lines += [f"    {family.word})", *_zsh_arguments(family.commands[0], "        "), "        ;;"]
            continue
        lines += [f"    {family.word})", "        if (( CURRENT == 2 )); then", "            commands=("]
        lines += [
            f"                {_zsh_quote(f'{family.second(command)}:{command.purpose}')}"
            for command in family.commands
            if family.second(command)
        ]
        lines += [
            "            )",
            "            _describe command commands",
            "            return",
            "        fi",
            "        shift words; (( CURRENT-- ))",
            "        case $words[1] in",
        ]
        for command in family.commands:
            if family.second(command):
                lines += [
                    f"        {family.second(command)})",
                    *_zsh_arguments(command, "            "),
                    "            ;;",
                ]
        lines += ["        esac", "        ;;"]
    lines += ["    esac", "}", '_eval_quality "$@"']
    return "\n".join(lines) + "\n"


def _zsh_quote(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


def _zsh_escape(text: str) -> str:
    return text.replace("\\", "\\\\").replace("[", "\\[").replace("]", "\\]").replace(":", "\\:")


def _zsh_arguments(command: Command, indent: str) -> list[str]:
    specs: list[str] = []
    for flag in command.flags:
        star = "*" if flag.repeatable else ""
        text = f"[{_zsh_escape(flag.help)}]"
        if flag.value is None:
            specs.append(f"{star}{flag.name}{text}")
        else:
            specs.append(f"{star}{flag.name}={text}:{_zsh_escape(flag.value)}:{_zsh_action(flag.value, flag.choices)}")
    specs.append("--help[print this command's help]")
    for word in command.positionals:
        star = "*" if word.repeatable else ""
        specs.append(f"{star}:{_zsh_escape(word.name)}:{_zsh_action('path', word.choices)}")
    lines = [f"{indent}_arguments \\"]
    lines += [f"{indent}    {_zsh_quote(spec)} \\" for spec in specs[:-1]]
    return [*lines, f"{indent}    {_zsh_quote(specs[-1])}"]


def _zsh_action(value: str, choices: tuple[str, ...]) -> str:
    if choices:
        return f"({' '.join(choices)})"
    if value in FOLDER_VALUES:
        return "_files -/"
    return "_files" if value in FILE_VALUES else " "


# fish


def fish(families: Sequence[Family]) -> str:
    """One `complete` line for each command, flag and choice."""
    firsts = " ".join(family.word for family in families)
    lines = ["# Completion of eval-quality for fish.", "complete -c eval-quality -f"]
    top = f"not __fish_seen_subcommand_from {firsts}"
    lines += [_fish_line(top, f"-a {family.word} -d {_fish_quote(family.purpose)}") for family in families]
    lines.append(_fish_line(top, "-a help -d 'print help'"))
    lines.append(_fish_line(top, "-l version -d 'print the version'"))
    for family in families:
        seconds = [family.second(command) for command in family.commands if family.second(command)]
        for command in family.commands:
            second = family.second(command)
            condition = f"__fish_seen_subcommand_from {family.word}"
            if second:
                unseen = f"{condition}; and not __fish_seen_subcommand_from {' '.join(seconds)}"
                lines.append(_fish_line(unseen, f"-a {second} -d {_fish_quote(command.purpose)}"))
                condition += f"; and __fish_seen_subcommand_from {second}"
            lines += [_fish_line(condition, _fish_flag(flag)) for flag in command.flags]
            for word in command.positionals:
                lines.append(_fish_line(condition, _fish_word(word)))
    return "\n".join(lines) + "\n"


def _fish_quote(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def _fish_line(condition: str, rest: str) -> str:
    return f"complete -c eval-quality -n {_fish_quote(condition)} {rest}"


def _fish_flag(flag: Flag) -> str:
    short = f"-s {flag.short[1:]} " if flag.short else ""
    text = f"{short}-l {flag.name[2:]} -d {_fish_quote(flag.help)}"
    if flag.value is None:
        return text
    if flag.choices:
        return f"{text} -x -a {_fish_quote(' '.join(flag.choices))}"
    if flag.value in FOLDER_VALUES:
        return f"{text} -x -a '(__fish_complete_directories)'"
    return f"{text} -r -F" if flag.value in FILE_VALUES else f"{text} -x"


def _fish_word(word: Positional) -> str:
    return f"-a {_fish_quote(' '.join(word.choices))}" if word.choices else "-F"


COMMAND: Final = Command(
    "completion",
    "print a completion script for bash, zsh or fish",
    (),
    run,
    positionals=(Positional("shell", "the shell that will read the script", choices=SHELLS),),
    notes='bash: add `eval "$(eval-quality completion bash)"` to ~/.bashrc. '
    "zsh: write the script to a file named _eval-quality in a folder of $fpath. "
    "fish: write it to ~/.config/fish/completions/eval-quality.fish.",
    exits=((0, "printed"), (64, "usage error")),
)
