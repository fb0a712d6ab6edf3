"""The token loop: one command line after its command word, read left to right (spec 10 §2.2).

Every command uses it. The first error or help token ends parsing; the checks after the loop run in a fixed order:
blank values, missing flags, several readers of standard input, malformed values. Values are carried exactly as given.

A command with positional arguments (none of the pipeline) takes words that are no flag in their order, and everything
after `--`.
"""

import re
from typing import Final

from eval_quality.cli.command import Command, Flag, Invocation, UsageError
from eval_quality.value.text import quoted

HELP_TOKENS: Final = ("--help", "-h")

ECMASCRIPT_SPACE: Final = (
    "\t\n\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000\ufeff"
)
"""What ECMAScript's `trim` removes."""


class HelpRequested(Exception):
    """The token loop met `--help` or `-h`."""


def parse(command: Command, tokens: list[str]) -> Invocation:
    """The invocation that `tokens` spell. Raises `UsageError` or `HelpRequested`."""
    table = {flag.name: flag for flag in command.flags}
    table |= {flag.short: flag for flag in command.flags if flag.short}
    values: dict[str, list[str]] = {}
    words: list[str] = []
    index = 0
    while index < len(tokens):
        token = tokens[index]
        index += 1
        # 1. The end of the flags.
        if token == "--":
            if tokens[index:] and not command.positionals:
                raise UsageError(f"{command.name} takes no positional argument, got {quoted(tokens[index])}")
            words += tokens[index:]
            break
        # 2. Help, whatever is still missing.
        if token in HELP_TOKENS:
            raise HelpRequested
        # 3. Flag and inline value.
        name, inline, text = token.partition("=")
        flag = table.get(name)
        # 4. A flag with a value.
        if flag is not None and flag.value is not None:
            if inline:
                value = text
            else:
                value = _next_value(name, tokens[index:])
                index += 1
            if value == "":
                raise UsageError(f"{name} was given an empty value")
            _take(values, flag, value)
        # 5. A value where none belongs.
        elif inline and not _is_word(command, token):
            hint = f"; {name} takes no value" if flag is not None else _nearest(command, name)
            raise UsageError(f"unknown flag {name} in {quoted(token)} for {command.name}{hint}")
        # 6. A switch.
        elif flag is not None:
            _switch(values, command, flag)
        # 7. Anything else.
        elif _is_word(command, token):
            words.append(token)
        else:
            raise UsageError(f"unknown flag {quoted(token)} for {command.name}{_nearest(command, token)}")
    invocation = Invocation(command, values, _assign(command, words))
    _check(command, invocation)
    return invocation


def _next_value(name: str, rest: list[str]) -> str:
    """The value of the space form, from the tokens that follow the flag. A lone `-` is a value."""
    if not rest:
        raise UsageError(f"{name} requires a value")
    if len(rest[0]) > 1 and rest[0].startswith("-"):
        raise UsageError(
            f"{name} requires a value, but {quoted(rest[0])} follows; write {name}={rest[0]} if that is the value"
        )
    return rest[0]


def _take(values: dict[str, list[str]], flag: Flag, value: str) -> None:
    seen = values.get(flag.name)
    if seen is None:
        values[flag.name] = [value]
    elif flag.repeatable:
        seen.append(value)
    elif flag.once:
        raise UsageError(f"{flag.name} was given twice")
    elif seen[0] != value:
        raise UsageError(f"{flag.name} was given two different values, {quoted(seen[0])} and {quoted(value)}")


def _switch(values: dict[str, list[str]], command: Command, flag: Flag) -> None:
    """Record a switch. Of `--x` and `--no-x` the last one given wins."""
    opposite = opposite_of(command, flag)
    if opposite is not None:
        values.pop(opposite.name, None)
    if flag.repeatable:
        values.setdefault(flag.name, []).append("")
    else:
        values[flag.name] = [""]


def opposite_of(command: Command, flag: Flag) -> Flag | None:
    """The switch of `command` that undoes `flag`: `--no-x` for `--x`, and the other way round."""
    wanted = f"--{flag.name[5:]}" if flag.name.startswith("--no-") else f"--no-{flag.name[2:]}"
    return next((other for other in command.flags if other.name == wanted and other.value is None), None)


def _is_word(command: Command, token: str) -> bool:
    """Whether `token` can be a positional argument of `command`."""
    return bool(command.positionals) and (token == "-" or not token.startswith("-"))


def _assign(command: Command, words: list[str]) -> dict[str, list[str]]:
    """Hand the words to the positional arguments in order; the last one may take all that remain."""
    given: dict[str, list[str]] = {}
    rest = list(words)
    for positional in command.positionals:
        taken = rest if positional.repeatable else rest[:1]
        rest = rest[len(taken) :]
        if taken:
            given[positional.name] = taken
    if rest:
        raise UsageError(f"{command.name} takes no further argument, got {quoted(rest[0])}")
    return given


def _check(command: Command, invocation: Invocation) -> None:
    """The checks after the loop, in the order of spec 10 §2.2."""
    # 1. Values of white space alone.
    for flag in command.flags:
        value = invocation.text(flag.name)
        if flag.not_blank and value is not None and not value.strip(ECMASCRIPT_SPACE):
            raise UsageError(f"{flag.name} must not be blank")
    # 2. Everything that is missing.
    missing = [flag.name for flag in command.flags if flag.required and not invocation.has(flag.name)]
    missing += [f"<{word.name}>" for word in command.positionals if word.required and not given(invocation, word.name)]
    if missing:
        raise UsageError(f"{command.name} requires {', '.join(missing)}")
    # 3. Several readers of standard input.
    readers = [
        flag.name for flag in command.flags if flag.reads for value in invocation.texts(flag.name) if value == "-"
    ]
    if len(readers) > 1:
        listed = f"{', '.join(readers[:-1])} and {readers[-1]}"
        amount = "both" if len(readers) == 2 else "all"
        raise UsageError(f'only one input may read standard input, but {listed} are {amount} "-"')
    # 4. Malformed values.
    for flag in command.flags:
        for value in invocation.texts(flag.name) if flag.value is not None else ():
            if flag.pattern and not re.fullmatch(flag.pattern, value):
                raise UsageError(f"{flag.name}: {quoted(value)} is not {flag.form}")
            if flag.choices and value not in flag.choices:
                raise UsageError(f"{flag.name} {quoted(value)} is none of {', '.join(flag.choices)}")
    for word in command.positionals:
        for value in invocation.positionals(word.name):
            if word.choices and value not in word.choices:
                raise UsageError(f"<{word.name}> {quoted(value)} is none of {', '.join(word.choices)}")


def given(invocation: Invocation, positional: str) -> bool:
    """Whether a positional argument was given."""
    return invocation.positional(positional) is not None


def _nearest(command: Command, token: str) -> str:
    """A hint at the flag of this command that was probably meant, or nothing."""
    from difflib import get_close_matches

    name = token.partition("=")[0]
    close = get_close_matches(name, [flag.name for flag in command.flags if flag.name != name], n=1, cutoff=0.75)
    return f"; did you mean {close[0]}?" if close else ""
