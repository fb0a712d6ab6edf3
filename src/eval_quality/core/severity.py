"""Severities in order, and the floor that divides them (spec 08 §0).

Rules:

1. `low` < `material` < `critical`.
2. "At or above the floor" is a comparison of ranks. A severity outside the three is never at or above anything, and a
   floor outside the three bounds nothing: the answer is False.
"""

from collections.abc import Iterable
from typing import Final

from eval_quality.model.primitives import SEVERITY_LEVELS, Severity

LOWEST: Final[Severity] = SEVERITY_LEVELS[0]

_RANK: Final[dict[str, int]] = {level: rank for rank, level in enumerate(SEVERITY_LEVELS)}


def at_or_above(severity: str, floor: str) -> bool:
    """Whether `severity` reaches `floor` (spec 08 §0)."""
    rank, bound = _RANK.get(severity), _RANK.get(floor)
    return rank is not None and bound is not None and rank >= bound


def highest(severities: Iterable[Severity]) -> Severity:
    """The highest of `severities`; `low` when there is none."""
    found: Severity = LOWEST
    for level in severities:
        if _RANK[level] > _RANK[found]:
            found = level
    return found
