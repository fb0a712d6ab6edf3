"""Patterns a contract may carry (spec 03 §9.4).

A pattern is an ECMA-262 expression without flags, anchored as a whole, without backreference and without
lookbehind. The first reason in that order is the one reported. The last two are plain text searches, not
escape-aware, on purpose: `^\\\\1$` (an escaped backslash, then 1) is refused as a backreference.
"""

import re
from collections.abc import Iterable
from typing import Final

from eval_quality.core.compile.codes import MALFORMED_OPERATOR_EXPRESSION
from eval_quality.core.compile.survey import Survey
from eval_quality.core.contract.walk import Node
from eval_quality.errors import StructuralFailure
from eval_quality.model.expression import Regex

_NUMBERED_BACKREFERENCE: Final = re.compile(r"\\[1-9]")
_NAMED_BACKREFERENCE: Final = re.compile(r"\\k<[^>]")
_LOOKBEHIND: Final = re.compile(r"\(\?<[=!]")
_GROUP_NAME: Final = re.compile(r"(\(\?<[^<>]*>|\\k<[^<>]*>)")
_FIRST_SURROGATE: Final = 0xD800
_ABOVE_BMP: Final = 0x10000


def regex_constructs(survey: Survey) -> StructuralFailure | None:
    """Step 10: every pattern of every site."""
    return next(filter(None, (refused_pattern(site.nodes) for site in survey.sites)), None)


def refused_pattern(nodes: Iterable[Node]) -> StructuralFailure | None:
    """The first pattern of one expression that may not stand in a contract."""
    for node in nodes:
        if isinstance(node.expression, Regex):
            reason = pattern_refusal(node.expression.pattern)
            if reason is not None:
                return StructuralFailure(MALFORMED_OPERATOR_EXPRESSION, f"{node.path}.pattern", reason)
    return None


def pattern_refusal(pattern: str) -> str | None:
    """Why a pattern may not stand in a contract, or None."""
    if not _is_valid(pattern):
        return "the pattern is not a valid ECMA-262 regular expression"
    if not _is_anchored(pattern):
        return "the pattern is not anchored as a whole"
    if _has_backreference(pattern):
        return "the pattern carries a backreference"
    if _LOOKBEHIND.search(pattern):
        return "the pattern carries a lookbehind"
    return None


def _is_valid(pattern: str) -> bool:
    import regress  # deferred: only a contract with a pattern pays for the engine

    try:
        regress.Regex(_code_units(pattern))
    except regress.RegressError:
        return False
    return True


def _code_units(pattern: str) -> str:
    """One character per UTF-16 code unit, in code-unit order, for an engine that reads by code point.

    Without flags ECMA-262 reads code units, so a class such as `[<astral>-a]` is a range out of order. Units from
    U+D800 up move above the basic plane, order kept. Group names are read by code point and stay as they are.
    """
    if max(pattern, default="") < chr(_FIRST_SURROGATE):
        return pattern
    pieces = _GROUP_NAME.split(pattern)
    pieces[::2] = [_lifted(piece) for piece in pieces[::2]]
    return "".join(pieces)


def _lifted(text: str) -> str:
    raw = text.encode("utf-16-le", "surrogatepass")
    units = (int.from_bytes(raw[i : i + 2], "little") for i in range(0, len(raw), 2))
    return "".join(chr(unit + _ABOVE_BMP if unit >= _FIRST_SURROGATE else unit) for unit in units)


def _is_anchored(pattern: str) -> bool:
    if not (pattern.startswith("^") and pattern.endswith("$")):
        return False
    body = pattern[:-1]
    dollar_is_escaped = (len(body) - len(body.rstrip("\\"))) % 2 == 1
    return not dollar_is_escaped and not _has_top_level_alternation(pattern)


def _has_top_level_alternation(pattern: str) -> bool:
    depth, in_class, escaped = 0, False, False
    for character in pattern:
        if escaped:
            escaped = False
        elif character == "\\":
            escaped = True
        elif in_class:
            in_class = character != "]"
        elif character == "[":
            in_class = True
        elif character == "(":
            depth += 1
        elif character == ")":
            depth -= 1
        elif character == "|" and depth == 0:
            return True
    return False


def _has_backreference(pattern: str) -> bool:
    """Text matching `\\\\(?:[1-9][0-9]*|k<[^>]+>)`, asked in linear time."""
    if _NUMBERED_BACKREFERENCE.search(pattern):
        return True
    named = _NAMED_BACKREFERENCE.search(pattern)
    # The first `\k<` with a name character decides: any `>` further on closes it.
    return named is not None and pattern.find(">", named.end()) >= 0
