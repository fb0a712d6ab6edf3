"""The `regex` operator: ECMA-262 matching behind two static gates (spec 05 §5.7.6).

1. The pattern must compile as an ECMA-262 expression without flags.
2. Gate one refuses a quantified group that holds a quantifier, whatever the value.
3. Gate two refuses a match whose estimated steps, (1 + quantifiers) x (value length in UTF-16 code units), exceed the
   budget.
4. Then the pattern is searched anywhere in the value: by the engine, which backtracks, or, where backtracking could
   take more than `BACKTRACKING_CAP` steps, by a machine that does not (`bounded`). Both give the same answer.

Gates read a stripped copy of the pattern: escapes and class contents cannot quantify anything. They run before the
engine sees the value. Two caps are ours: more alternatives than `MAX_ALTERNATIVES` are refused before compilation,
because the engine's compiler recurses once per alternative and a long enough pattern would end the process; and a
pattern longer than compile admits is refused as well.

Text and pattern reach the engine, which works by code point, one character per UTF-16 code unit (`code_units`).
"""

import re
from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

from eval_quality.core.compile.regex import MAX_PATTERN_LENGTH
from eval_quality.core.evaluation import bounded, code_units
from eval_quality.errors import RuntimeFault
from eval_quality.value.text import quoted, utf16_length

if TYPE_CHECKING:
    import regress

MAX_ALTERNATIVES: Final = 4096

BACKTRACKING_CAP: Final = 10**8
"""Steps the engine may backtrack: value length to the power of the number of quantifiers, at worst."""

_PATTERNS: Final = 256
"""Compiled patterns kept: a predicate compiles its pattern once, not once an element."""

_ESCAPE: Final = re.compile(r"\\[^\n\r\u2028\u2029]")
_CLASS: Final = re.compile(r"\[[^\]]*\]")
_GROUP_MARKER: Final = re.compile(r"\?(?:[:=!]|<[=!]?[^>]*>)")
_QUANTIFIER: Final = re.compile(r"[*+?]|\{[0-9]+(?:,[0-9]*)?\}")
_INNER_QUANTIFIER: Final = re.compile(r"[*+?{]")
_PIECE: Final = re.compile(r"\\.|\[(?:\\.|[^\]\\])*\]|.", re.DOTALL)
_ALTERNATIVE: Final = re.compile(r"\|")


class _Pattern(NamedTuple):
    """One compiled pattern with what its stripped text shows.

    `nested_quantifier` and `quantifiers` are the gates'; `quantified_alternatives` tells whether a quantified group
    holds alternatives, which can overlap.
    """

    search: Callable[[str], bool]
    nested_quantifier: bool
    quantifiers: int
    quantified_alternatives: bool

    def may_backtrack_long(self, length: int) -> bool:
        """Whether backtracking over a value of that length has no useful bound."""
        if self.quantified_alternatives:
            return True
        return self.quantifiers > 1 and length > BACKTRACKING_CAP ** (1 / self.quantifiers)


class _Refused(Exception):
    """A pattern that is not matched; carries the fault's code and the reason, which follows the pattern's name."""

    def __init__(self, code: str, reason: str) -> None:
        self.code = code
        self.reason = reason
        super().__init__(reason)


def matches(pattern: str, value: str, step_budget: int, artifact_path: str) -> bool:
    """Whether `pattern` matches anywhere in `value`.

    Raises `RuntimeFault` at `artifact_path`: `operator-cannot-accept-operand` for a pattern that is not ECMA-262,
    `budget-exhausted` for a pattern that a gate or a cap stops.
    """
    try:
        compiled = _compile(pattern)
        if compiled.nested_quantifier:
            reason = "applies a quantifier to a group that holds one, so its cost has no useful bound"
            raise _Refused("budget-exhausted", reason)
        length = utf16_length(value)
        estimate = (1 + compiled.quantifiers) * length
        if estimate > step_budget:
            reason = f"needs an estimated {estimate} steps over this value where the budget is {step_budget}"
            raise _Refused("budget-exhausted", reason)
        if compiled.may_backtrack_long(length):
            bounded_search = _bounded_search(pattern)
            if bounded_search is not None:
                return bounded_search(code_units.text_to_units(value))
        return compiled.search(value)
    except _Refused as refusal:
        raise RuntimeFault(refusal.code, artifact_path, f"pattern {quoted(pattern)} {refusal.reason}") from refusal


@lru_cache(maxsize=_PATTERNS)
def _compile(pattern: str) -> _Pattern:
    """Compile once per pattern; raises `_Refused`."""
    if len(pattern) > MAX_PATTERN_LENGTH:
        raise _Refused("budget-exhausted", f"is longer than {MAX_PATTERN_LENGTH} characters")
    if pattern.count("|") >= MAX_ALTERNATIVES:
        raise _Refused("budget-exhausted", f"has more than {MAX_ALTERNATIVES} alternatives")
    search = _searcher(pattern)
    stripped = _CLASS.sub("[]", _ESCAPE.sub("_", pattern))
    return _Pattern(
        search,
        _quantified_group_holds(_INNER_QUANTIFIER, stripped),
        len(_QUANTIFIER.findall(stripped)),
        _quantified_group_holds(_ALTERNATIVE, stripped),
    )


def is_ecma_262(pattern: str) -> bool:
    """Whether a pattern within the caps is a valid ECMA-262 expression without flags."""
    try:
        _searcher(pattern)
    except _Refused:
        return False
    return True


def _searcher(pattern: str) -> Callable[[str], bool]:
    """A search for the pattern; raises `_Refused` for one that is not ECMA-262."""
    if _quantifies_boundary(pattern):
        raise _not_ecma_262("nothing to repeat")
    return _search_by_unit(pattern) if code_units.pattern_needs_units(pattern) else _search(pattern)


def _quantifies_boundary(pattern: str) -> bool:
    """Whether a quantifier stands on a word boundary, which ECMA-262 refuses and the engine lets pass."""
    return any(
        piece.group() in ("\\b", "\\B") and _QUANTIFIER.match(pattern, piece.end())
        for piece in _PIECE.finditer(pattern)
    )


def _search(pattern: str) -> Callable[[str], bool]:
    """A search by code point, which is the same thing until a text holds an astral character."""
    engine = _engine(pattern)

    def search(value: str) -> bool:
        if code_units.text_needs_units(value):
            return _search_by_unit(pattern)(value)
        return engine.find(value) is not None

    return search


@lru_cache(maxsize=_PATTERNS)
def _search_by_unit(pattern: str) -> Callable[[str], bool]:
    """A search by UTF-16 code unit."""
    try:
        engine = _engine(code_units.pattern_to_units(pattern))
    except code_units.RangeOutOfOrder as error:
        raise _not_ecma_262(error) from error
    return lambda value: engine.find(code_units.text_to_units(value)) is not None


def _engine(source: str) -> "regress.Regex":
    """The compiled pattern. The engine is imported by the first check that matches anything."""
    import regress

    try:
        return regress.Regex(source)
    except regress.RegressError as error:
        raise _not_ecma_262(error) from error


def _not_ecma_262(error: Exception | str) -> _Refused:
    return _Refused("operator-cannot-accept-operand", f"is not valid ECMA-262: {error}")


@lru_cache(maxsize=_PATTERNS)
def _bounded_search(pattern: str) -> Callable[[str], bool] | None:
    """The search that does not backtrack, or None for a pattern that has none."""
    try:
        return bounded.build(code_units.pattern_to_units(pattern), _accepts)
    except bounded.Unsupported:
        return None


def _accepts(atom: str) -> Callable[[str], bool]:
    """Whether one character is matched by an atom: the engine's answer, asked once a character."""
    engine = _engine(f"^(?:{atom})$")
    known: dict[str, bool] = {}

    def accepts(character: str) -> bool:
        answer = known.get(character)
        if answer is None:
            answer = known[character] = engine.find(character) is not None
        return answer

    return accepts


def _quantified_group_holds(wanted: re.Pattern[str], stripped: str) -> bool:
    """Whether a quantified group of the stripped pattern holds something: with a quantifier, gate one."""
    opened: list[int] = []
    for position, character in enumerate(stripped):
        if character == "(":
            opened.append(position)
        elif character == ")" and opened:
            start = opened.pop() + 1
            if not _QUANTIFIER.match(stripped, position + 1):
                continue
            marker = _GROUP_MARKER.match(stripped, start, position)
            if wanted.search(stripped, marker.end() if marker else start, position):
                return True
    return False
