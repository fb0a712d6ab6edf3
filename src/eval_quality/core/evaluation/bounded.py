"""Matching in time that the pattern cannot blow up (spec 05 §5.7.6).

The two gates of the specification read a pattern's text and miss some that backtrack without end, such as `^(?:a|a)*$`.
Here a pattern without lookaround and backreferences runs as a set of states, all ways at once: the work is at most
states x text, and the answer is the one backtracking would give, because only whether it matches is asked.

1. The pattern, which the engine has already accepted, is taken apart into atoms, assertions, groups and quantifiers.
   What an atom means is not decided here: the engine is asked about one character at a time, and remembered.
2. Groups become states. A counted repetition becomes copies; `MAX_STATES` caps them.
3. The text is read once, one character per UTF-16 code unit.

`build` refuses with `Unsupported` what has no such machine; the caller then has only the gates.
"""

import re
from collections.abc import Callable
from typing import Final, NamedTuple, NoReturn, TypeAlias

MAX_STATES: Final = 20_000
"""Stops `(?:a|b){1000000}` from becoming a million copies."""

MAX_REMEMBERED: Final = 1_000_000
"""State numbers one machine remembers in its steps; a text that needs more makes it forget and find them again."""

Accepts: TypeAlias = Callable[[str], bool]
"""Whether one character is matched by an atom."""

_QUANTIFIER: Final = re.compile(r"(?:([*+?])|\{([0-9]+)(?:(,)([0-9]*))?\})\??")
_ATOM: Final = re.compile(
    r"\\(?:u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|c[A-Za-z]|0[0-7]{0,2}|[^1-9ckbB])|\[(?:\\.|[^\]\\])*\]|[^\\\[()|*+?^$]",
    re.DOTALL,
)
_GROUP: Final = re.compile(r"\((?:\?:|\?<(?![=!])[^>]*>|(?!\?))")
_ASSERTION: Final = re.compile(r"[\^$]|\\[bB]")
_WORD: Final = re.compile(r"[A-Za-z0-9_]")
_DIGITS: Final = 6
"""A longer count is beyond every cap; the bound keeps it from the integer parser."""


class Unsupported(Exception):
    """A pattern with no bounded machine: lookaround, a backreference, or too many states."""


class _State(NamedTuple):
    """An atom that reads a character, an assertion, or (with neither) a branch to every target."""

    accepts: Accepts | None
    assertion: str
    targets: list[int]


class _Context(NamedTuple):
    """What assertions ask about a position."""

    at_start: bool
    at_end: bool
    at_boundary: bool


_HOLDS: Final[dict[str, Callable[[_Context], bool]]] = {
    "^": lambda context: context.at_start,
    "$": lambda context: context.at_end,
    "\\b": lambda context: context.at_boundary,
    "\\B": lambda context: not context.at_boundary,
}

_MATCHED: Final = 0
"""The state that accepts, always the first."""

_Node: TypeAlias = Callable[["_Builder", int], int]
"""Adds a piece of the pattern in front of a state; gives the state that enters it."""


class _Builder:
    """The states of one machine. Pieces are added back to front, each before the state that follows it."""

    def __init__(self) -> None:
        self.states: list[_State] = [_State(None, "", [])]

    def add(self, accepts: Accepts | None, assertion: str, targets: list[int]) -> int:
        if len(self.states) >= MAX_STATES:
            raise Unsupported("more states than MAX_STATES")
        self.states.append(_State(accepts, assertion, targets))
        return len(self.states) - 1


def build(pattern: str, atom: Callable[[str], Accepts]) -> Callable[[str], bool]:
    """A search for `pattern`, unanchored; `atom` gives the meaning of one atom's source.

    Pattern and texts have one character per UTF-16 code unit. Raises `Unsupported`.
    """
    node, end = _alternatives(pattern, 0, atom)
    if end != len(pattern):
        _refuse("a group that closes nothing")
    builder = _Builder()
    start = node(builder, _MATCHED)
    return _Machine(builder.states, start).search


# 1., 2.


def _alternatives(pattern: str, at: int, atom: Callable[[str], Accepts]) -> tuple[_Node, int]:
    """A disjunction, up to the end of its group or of the pattern."""
    branches: list[_Node] = []
    pieces: list[_Node] = []
    while at < len(pattern) and pattern[at] != ")":
        if pattern[at] == "|":
            branches.append(_sequence(pieces))
            pieces, at = [], at + 1
        else:
            piece, at = _term(pattern, at, atom)
            pieces.append(piece)
    branches.append(_sequence(pieces))
    if len(branches) == 1:
        return branches[0], at
    return (lambda builder, following: builder.add(None, "", [b(builder, following) for b in branches])), at


def _sequence(pieces: list[_Node]) -> _Node:
    def node(builder: _Builder, following: int) -> int:
        for piece in reversed(pieces):
            following = piece(builder, following)
        return following

    return node


def _term(pattern: str, at: int, atom: Callable[[str], Accepts]) -> tuple[_Node, int]:
    """An assertion, or an atom or a group with its quantifier."""
    assertion = _ASSERTION.match(pattern, at)
    if assertion:
        return _assertion(assertion.group()), assertion.end()
    group = _GROUP.match(pattern, at)
    if group:
        node, at = _alternatives(pattern, group.end(), atom)
        at += 1
    else:
        single = _ATOM.match(pattern, at)
        if single is None:
            _refuse("lookaround or a backreference")
        node, at = _atom(atom(single.group())), single.end()
    quantifier = _QUANTIFIER.match(pattern, at)
    if quantifier is None:
        return node, at
    return _repeated(node, *_bounds(quantifier)), quantifier.end()


def _assertion(kind: str) -> _Node:
    return lambda builder, following: builder.add(None, kind, [following])


def _atom(accepts: Accepts) -> _Node:
    return lambda builder, following: builder.add(accepts, "", [following])


def _bounds(quantifier: re.Match[str]) -> tuple[int, int | None]:
    """The least and the most repetitions; None for no most."""
    sign, least, comma, most = quantifier.groups()
    if sign:
        return (1 if sign == "+" else 0), (1 if sign == "?" else None)
    if max(len(least), len(most or "")) > _DIGITS:
        _refuse("more states than MAX_STATES")
    if not comma:
        return int(least), int(least)
    return int(least), int(most) if most else None


def _repeated(node: _Node, least: int, most: int | None) -> _Node:
    def repeated(builder: _Builder, following: int) -> int:
        if most is None:
            entry = builder.add(None, "", [following])
            builder.states[entry].targets.append(node(builder, entry))
        else:
            entry = following
            for _ in range(most - least):
                entry = builder.add(None, "", [following, node(builder, entry)])
        for _ in range(least):
            entry = node(builder, entry)
        return entry

    return repeated


def _refuse(reason: str) -> NoReturn:
    raise Unsupported(reason)


# 3.


_Step: TypeAlias = tuple[frozenset[int], _Context, str]
"""The states entered, the position, and the character to read; none at the end."""


class _Machine:
    """The states, and what reading a character in a set of them leads to; each such step is found once and kept."""

    def __init__(self, states: list[_State], start: int) -> None:
        self._states = states
        self._start = start
        self._known: dict[_Step, frozenset[int]] = {}
        self._remembered = 0
        self._asks_boundary = any(state.assertion in ("\\b", "\\B") for state in states)

    def search(self, text: str) -> bool:
        """Whether some part of `text` matches."""
        entered = frozenset((self._start,))
        for position in range(len(text) + 1):
            step = (entered, self._context(text, position), text[position : position + 1])
            following = self._known.get(step)
            if following is None:
                following = self._step(*step)
                self._remember(step, following)
            if _MATCHED in following:
                return True
            entered = following
        return False

    def _remember(self, step: _Step, following: frozenset[int]) -> None:
        self._remembered += len(following)
        if self._remembered > MAX_REMEMBERED:
            self._known.clear()
            self._remembered = len(following)
        self._known[step] = following

    def _step(self, entered: frozenset[int], context: _Context, character: str) -> frozenset[int]:
        """The states entered by reading `character`, or only the accepting one when it is reached before.

        A match may begin after the character as well, so the start is always among them.
        """
        following = {self._start}
        seen: set[int] = set()
        pending = list(entered)
        while pending:
            number = pending.pop()
            if number == _MATCHED:
                return frozenset((_MATCHED,))
            if number in seen:
                continue
            seen.add(number)
            state = self._states[number]
            if state.accepts is None:
                if not state.assertion or _HOLDS[state.assertion](context):
                    pending.extend(state.targets)
            elif character and state.accepts(character):
                following.update(state.targets)
        return frozenset(following)

    def _context(self, text: str, position: int) -> _Context:
        boundary = False
        if self._asks_boundary:
            before = position > 0 and _WORD.match(text, position - 1) is not None
            boundary = before != (_WORD.match(text, position) is not None)
        return _Context(position == 0, position == len(text), boundary)
