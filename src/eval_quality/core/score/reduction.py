"""A set of trials reduced to one answer about the probe (spec 08 §8).

1. An invalidating vote becomes an invalidated attempt; an unvoted one is dropped; every other vote is valid.
2. The probe is exercised when a valid vote is left.
3. It is caught when the share of `caught` among the valid votes is strictly above the threshold: a tie is no catch,
   0 asks for any catch, and nothing is ever caught under 1. The share is a binary64 division, never a product.
"""

import math
from collections.abc import Sequence
from typing import Final, NamedTuple

from eval_quality.model.artifact import InvalidatedAttempt, TrialVote

STATE_GROUPS: Final[dict[str, str]] = {
    "caught": "voted",
    "confirmed": "voted",
    "missed": "voted",
    "passed-clean-control": "voted",
    "false-positive": "voted",
    "abstained": "voted",
    "bypassed": "voted",
    "unreached": "unvoted",
    "oracle-error": "invalidating",
    "judge-error": "invalidating",
    "infrastructure-error": "invalidating",
    "not-applicable": "unvoted",
}
"""What a state does as a vote; total over the twelve (spec 08 §8)."""

INVALIDATING_STATES: Final = tuple(state for state, group in STATE_GROUPS.items() if group == "invalidating")


class Reduction(NamedTuple):
    """What a trial set says about its probe."""

    exercised: bool
    caught: bool
    valid_count: int
    caught_count: int
    invalidated_attempts: tuple[InvalidatedAttempt, ...]


def reduce_votes(votes: Sequence[TrialVote], catch_threshold: float) -> Reduction:
    """Reduce votes in order (spec 08 §8).

    Raises `TypeError` for a threshold outside [0, 1] or a state outside the twelve; parsed values are neither.
    """
    if isinstance(catch_threshold, bool) or not math.isfinite(catch_threshold) or not 0 <= catch_threshold <= 1:
        raise TypeError("the catch threshold must be a finite number from 0 to 1")
    unknown = [vote.state for vote in votes if vote.state not in STATE_GROUPS]
    if unknown:
        raise TypeError(f"{unknown[0]!r} is no outcome state")
    valid = [vote for vote in votes if STATE_GROUPS[vote.state] == "voted"]
    caught_count = sum(vote.state == "caught" for vote in valid)
    return Reduction(
        exercised=bool(valid),
        caught=bool(valid) and caught_count / len(valid) > catch_threshold,
        valid_count=len(valid),
        caught_count=caught_count,
        invalidated_attempts=tuple(
            InvalidatedAttempt(attempt=vote.trial_index, reason=vote.state)
            for vote in votes
            if STATE_GROUPS[vote.state] == "invalidating"
        ),
    )
