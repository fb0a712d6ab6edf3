"""Does a recorded reduction follow from the recorded votes and outcomes? (spec 08 §12)

Emission requires that it does, dominance answers `incomparable` when it does not, aggregation refuses.

    1  completed attempts are distinct, and as many as counted
    2  the detailed outcomes cover exactly the completed attempts
    3  one reduction, for the scored probe, or none without one
    4  per reduction: its probe, its severity, its votes, and section 8 recomputed from them
    5  every probe with a detailed outcome has a reduction
    6  the trials' invalidated attempts are the reductions' together
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple, Protocol

from eval_quality.core.score.reduction import reduce_votes
from eval_quality.model.artifact import InvalidatedAttempt, ReducedProbeOutcome, TrialOutcome, Trials


class Scored(Protocol):
    """What the check reads; an evidence artifact of either mode has it."""

    @property
    def scored_probe_id(self) -> str | None: ...
    @property
    def outcomes(self) -> Sequence[TrialOutcome]: ...
    @property
    def reduced_probe_outcomes(self) -> Sequence[ReducedProbeOutcome]: ...
    @property
    def trials(self) -> Trials: ...


class Inconsistency(NamedTuple):
    """One equality that fails: the path of the member, in wire names, and what it contradicts."""

    path: tuple[str | int, ...]
    message: str


def inconsistencies(scored: Scored) -> Iterator[Inconsistency]:
    """Every failing equality, in the order of the chapter."""
    completed = scored.trials.completed_attempts
    attempts = set(completed)
    # 1
    if len(attempts) != len(completed) or len(completed) != scored.trials.completed:
        yield Inconsistency(
            ("trials", "completedAttempts"), "must list each completed attempt once, as many as trials.completed"
        )
    # 2
    if scored.outcomes and {outcome.trial_index for outcome in scored.outcomes} != attempts:
        yield Inconsistency(("outcomes",), "must cover exactly the completed attempts")
    # 3
    reduced = scored.reduced_probe_outcomes
    expected = () if scored.scored_probe_id is None else (scored.scored_probe_id,)
    if tuple(entry.probe_id for entry in reduced) != expected:
        wanted = "be empty without a scored probe" if not expected else "hold exactly one entry, for the scored probe"
        yield Inconsistency(("reducedProbeOutcomes",), f"must {wanted}")
    # 4
    recomputed: Counter[InvalidatedAttempt] = Counter()
    seen: set[str] = set()
    for index, entry in enumerate(reduced):
        at = ("reducedProbeOutcomes", index)
        if entry.probe_id in seen:
            yield Inconsistency((*at, "probeId"), "repeats the probe of an earlier entry")
        seen.add(entry.probe_id)
        if entry.probe_id != scored.scored_probe_id:
            yield Inconsistency((*at, "probeId"), "is not the scored probe")
        yield from _entry(at, entry, scored.outcomes, attempts)
        recomputed.update(reduce_votes(entry.trial_votes, entry.catch_threshold).invalidated_attempts)
    # 5
    for probe_id in dict.fromkeys(outcome.probe_id for outcome in scored.outcomes):
        if probe_id is not None and probe_id not in seen:
            yield Inconsistency(("reducedProbeOutcomes",), f"must hold an entry for probe {probe_id} of the outcomes")
    # 6
    if Counter(scored.trials.invalidated_attempts) != recomputed:
        yield Inconsistency(
            ("trials", "invalidatedAttempts"), "must be the invalidated attempts of the reduced outcomes together"
        )


def _entry(
    at: tuple[str | int, ...],
    entry: ReducedProbeOutcome,
    outcomes: Sequence[TrialOutcome],
    attempts: set[int],
) -> Iterator[Inconsistency]:
    own = [outcome for outcome in outcomes if outcome.probe_id == entry.probe_id]
    if any(outcome.severity != entry.severity for outcome in own):
        yield Inconsistency((*at, "severity"), "differs from the severity of a detailed outcome of the probe")
    detailed = {(outcome.trial_index, outcome.state) for outcome in own}
    voted: set[int] = set()
    for index, vote in enumerate(entry.trial_votes):
        if vote.trial_index in voted:
            yield Inconsistency((*at, "trialVotes", index, "trialIndex"), "repeats the trial of an earlier vote")
        voted.add(vote.trial_index)
        if (vote.trial_index, vote.state) not in detailed:
            yield Inconsistency((*at, "trialVotes", index), "names no detailed outcome of its trial and state")
    if outcomes and voted != attempts:
        yield Inconsistency((*at, "trialVotes"), "must cover exactly the completed attempts")
    if not outcomes and entry.trial_votes:
        yield Inconsistency((*at, "trialVotes"), "must be empty without detailed outcomes")
    again = reduce_votes(entry.trial_votes, entry.catch_threshold)
    for name, recorded, follows in (
        ("exercised", entry.exercised, again.exercised),
        ("caught", entry.caught, again.caught),
        ("validCount", entry.valid_count, again.valid_count),
        ("caughtCount", entry.caught_count, again.caught_count),
        ("invalidatedAttempts", Counter(entry.invalidated_attempts), Counter(again.invalidated_attempts)),
    ):
        if recorded != follows:
            yield Inconsistency((*at, name), "does not follow from the votes and the threshold")
