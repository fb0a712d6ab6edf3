"""Spec 12 §12.20 point 5 and 15: the interval beside every rate of a twin run."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval_quality.core.statistics.intervals import Z_95, Interval, wilson

SHARES = st.integers(1, 100_000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


@pytest.mark.parametrize(
    ("caught", "exercised", "low", "high"),
    [
        (0, 1, 0.0, 0.7935),
        (1, 1, 0.2065, 1.0),
        (5, 10, 0.2366, 0.7634),
        (10, 10, 0.7225, 1.0),
        (1, 10, 0.0179, 0.4042),
        (81, 263, 0.2553, 0.3662),
    ],
)
def test_published_values(caught: int, exercised: int, low: float, high: float) -> None:
    interval = wilson(caught, exercised)
    assert interval is not None
    assert interval.low == pytest.approx(low, abs=5e-5)
    assert interval.high == pytest.approx(high, abs=5e-5)


def test_nothing_exercised_is_no_rate() -> None:
    assert wilson(0, 0) is None


@pytest.mark.parametrize(("caught", "exercised"), [(-1, 3), (4, 3), (1, 0), (0, -1)])
def test_counts_that_are_no_share_are_refused(caught: int, exercised: int) -> None:
    with pytest.raises(ValueError, match=f"^{caught} of {exercised} is no share$"):
        wilson(caught, exercised)


@given(SHARES)
def test_an_end_is_where_the_score_test_just_fails_to_reject(share: tuple[int, int]) -> None:
    """The definition of the interval, checked without the closed formula: (rate - p)² = z² p (1 - p) / n."""
    caught, exercised = share
    interval = wilson(caught, exercised)
    assert interval is not None
    rate = caught / exercised
    for end in interval:
        # At the edges 0 and all of n one end is the edge itself and satisfies the equation trivially.
        assert math.isclose((rate - end) ** 2, Z_95**2 * end * (1 - end) / exercised, rel_tol=1e-6, abs_tol=1e-12)


@given(SHARES)
def test_the_interval_holds_the_rate_and_is_never_empty(share: tuple[int, int]) -> None:
    caught, exercised = share
    interval = wilson(caught, exercised)
    assert interval is not None
    assert 0 <= interval.low <= caught / exercised <= interval.high <= 1
    assert interval.low < interval.high


@given(SHARES)
def test_caught_and_missed_mirror_each_other(share: tuple[int, int]) -> None:
    caught, exercised = share
    one, other = wilson(caught, exercised), wilson(exercised - caught, exercised)
    assert one is not None
    assert other is not None
    assert one.low == pytest.approx(1 - other.high, abs=1e-12)
    assert one.high == pytest.approx(1 - other.low, abs=1e-12)


@given(st.integers(1, 1_000), st.integers(2, 50))
def test_more_probes_narrow_it(exercised: int, times: int) -> None:
    caught = exercised // 2

    def width(interval: Interval | None) -> float:
        assert interval is not None
        return interval.high - interval.low

    assert width(wilson(caught * times, exercised * times)) < width(wilson(caught, exercised))
