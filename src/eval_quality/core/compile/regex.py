"""Patterns a contract may carry (spec 03 §9.4).

A pattern is an ECMA-262 expression without flags, anchored as a whole, without backreference and without
lookbehind. The first reason in that order is the one reported. The last two are plain text searches, not
escape-aware, on purpose: `^\\\\1$` (an escaped backslash, then 1) is refused as a backreference.

Two caps come first, both ours: the engine that judges validity ends the process on very many alternatives and takes
quadratic time over very long patterns.
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

MAX_PATTERN_LENGTH: Final = 16_384
"""Characters of a pattern. The engine's parser takes quadratic time over some texts, such as a run of `u{`."""


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
    from eval_quality.core.evaluation.regex import MAX_ALTERNATIVES  # deferred, like the engine

    if len(pattern) > MAX_PATTERN_LENGTH:
        return f"the pattern is longer than {MAX_PATTERN_LENGTH} characters, which no evaluation will match"
    if pattern.count("|") >= MAX_ALTERNATIVES:
        return f"the pattern has more than {MAX_ALTERNATIVES} alternatives, which no evaluation will match"
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
    # Deferred: only a contract with a pattern pays for the engine and the modules around it.
    from eval_quality.core.evaluation.regex import is_ecma_262

    return is_ecma_262(pattern)


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
