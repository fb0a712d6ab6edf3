"""The Wilson score interval of a proportion (spec 12 §12.20 point 5, spec 15).

It stays inside [0, 1], is never empty at 0 or all of n, and says by its width how little a few probes prove.
"""

from math import sqrt
from typing import Final, NamedTuple

Z_95: Final = 1.959963984540054
"""The two-sided 95 % quantile of the standard normal distribution."""


class Interval(NamedTuple):
    """Both ends of an interval for a rate, each in [0, 1]."""

    low: float
    high: float


def wilson(caught: int, exercised: int, z: float = Z_95) -> Interval | None:
    """The interval for `caught` of `exercised`; None when nothing was exercised, which is no rate at all.

    Raises `ValueError` for counts that are no share.
    """
    if not 0 <= caught <= exercised:
        raise ValueError(f"{caught} of {exercised} is no share")
    if exercised == 0:
        return None
    rate = caught / exercised
    square = z * z
    scale = 1 + square / exercised
    centre = (rate + square / (2 * exercised)) / scale
    margin = z * sqrt(rate * (1 - rate) / exercised + square / (4 * exercised * exercised)) / scale
    low = 0.0 if caught == 0 else max(0.0, centre - margin)
    high = 1.0 if caught == exercised else min(1.0, centre + margin)
    return Interval(low, high)
