"""Exact binomial statistics with the standard library alone (spec 11 §17.10).

Tails are summed from logarithms of binomial terms; Clopper-Pearson bounds invert a tail by bisection, which is
monotone in the rate. Sample sizes here are cases of a skill: tens to thousands.
"""

from math import exp, lgamma, log, log1p
from typing import Final

import msgspec

BISECTIONS: Final = 60
"""Halvings of [0, 1]: more than a double can hold."""


def _term(successes: int, total: int, rate: float) -> float:
    if rate <= 0.0:
        return 1.0 if successes == 0 else 0.0
    if rate >= 1.0:
        return 1.0 if successes == total else 0.0
    ways = lgamma(total + 1) - lgamma(successes + 1) - lgamma(total - successes + 1)
    return exp(ways + successes * log(rate) + (total - successes) * log1p(-rate))


def tail_at_least(successes: int, total: int, rate: float) -> float:
    """The chance of `successes` or more among `total` tries of chance `rate`."""
    return min(1.0, sum(_term(count, total, rate) for count in range(successes, total + 1)))


def lower_bound(passed: int, total: int, confidence: float) -> float:
    """The one-sided Clopper-Pearson lower bound of a rate; 0 when nothing passed or nothing was tried."""
    if passed == 0 or total == 0:
        return 0.0
    low, high = 0.0, 1.0
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        if tail_at_least(passed, total, middle) > 1 - confidence:
            high = middle
        else:
            low = middle
    return low


def upper_bound(passed: int, total: int, confidence: float) -> float:
    """The one-sided Clopper-Pearson upper bound of a rate; 1 when everything passed or nothing was tried."""
    return 1.0 - lower_bound(total - passed, total, confidence)


class Interval(msgspec.Struct, frozen=True):
    """A two-sided Clopper-Pearson interval."""

    low: float
    high: float
    confidence: float


def interval(passed: int, total: int, confidence: float = 0.95) -> Interval:
    """The two-sided interval: each side misses with half of what the confidence leaves."""
    side = (1 + confidence) / 2
    return Interval(lower_bound(passed, total, side), upper_bound(passed, total, side), confidence)


def mcnemar(wins: int, losses: int) -> float:
    """The exact two-sided McNemar p value of a paired comparison; 1 without a discordant pair."""
    discordant = wins + losses
    if discordant == 0:
        return 1.0
    return min(1.0, 2 * tail_at_least(max(wins, losses), discordant, 0.5))


def rounded(number: float) -> float:
    """Four decimals, enough for a person and stable across platforms."""
    return round(number, 4)
