"""Is one result at least as strong as another everywhere, and stronger somewhere? (spec 08 §13)

    1  keys differ                                        incomparable
    2  either vector is not comparable                    incomparable
    3  either result contradicts itself                   incomparable
    4  either repeats a probe (3 has found that)          incomparable
    5  over the classes both sides measured: nobody wins and all counts are equal, one side wins, or neither of these
    6  a dominance result is withdrawn when the dominated side caught a probe at or above the floor that the favoured
       side did not

Scoring versions are not compared; that is the caller's business.
"""

from typing import Final, Protocol

from eval_quality.core.score.consistency import Scored, inconsistencies
from eval_quality.core.score.strength import STRENGTH_CLASSES
from eval_quality.core.severity import at_or_above
from eval_quality.model.artifact import ClassStrength, ReducedProbeOutcome, Strength, TrialOutcome, Trials
from eval_quality.model.primitives import Digest, ProbeId
from eval_quality.model.record import Record

A_DOMINATES: Final = "a-dominates-b"
B_DOMINATES: Final = "b-dominates-a"
EQUIVALENT: Final = "equivalent"
INCOMPARABLE: Final = "incomparable"

DOMINANCE_RELATIONS: Final = (A_DOMINATES, B_DOMINATES, EQUIVALENT, INCOMPARABLE)
"""The four answers, in published order."""


class ComparableResult(Record):
    """What dominance reads of one result; an evidence artifact has every member."""

    scored_probe_id: ProbeId | None
    reduced_probe_outcomes: tuple[ReducedProbeOutcome, ...]
    strength: Strength
    comparability_key: Digest
    outcomes: tuple[TrialOutcome, ...]
    trials: Trials


class Result(Scored, Protocol):
    """Anything with the members of `ComparableResult`."""

    @property
    def strength(self) -> Strength: ...
    @property
    def comparability_key(self) -> str: ...


def compare_dominance(a: Result, b: Result, severity_floor: str) -> str:
    """One of `DOMINANCE_RELATIONS` (spec 08 §13)."""
    if a.comparability_key != b.comparability_key:
        return INCOMPARABLE
    if not (a.strength.comparable and b.strength.comparable):
        return INCOMPARABLE
    if any(next(inconsistencies(side), None) is not None for side in (a, b)):
        return INCOMPARABLE
    relation = _componentwise(a.strength, b.strength)
    favoured, dominated = (a, b) if relation == A_DOMINATES else (b, a)
    if relation in (A_DOMINATES, B_DOMINATES) and _overridden(favoured, dominated, severity_floor):
        return INCOMPARABLE
    return relation


def _componentwise(a: Strength, b: Strength) -> str:
    pairs: list[tuple[ClassStrength, ClassStrength]] = []
    for name in STRENGTH_CLASSES:
        attribute = name.replace("-", "_")
        one: ClassStrength | None = getattr(a.vector, attribute)
        other: ClassStrength | None = getattr(b.vector, attribute)
        if one is not None and other is not None and one.rate is not None and other.rate is not None:
            pairs.append((one, other))
    if not pairs:
        return INCOMPARABLE
    if all((one.caught, one.exercised) == (other.caught, other.exercised) for one, other in pairs):
        return EQUIVALENT
    a_wins = any(_rate(one) > _rate(other) for one, other in pairs)
    b_wins = any(_rate(other) > _rate(one) for one, other in pairs)
    if a_wins == b_wins:
        return INCOMPARABLE
    return A_DOMINATES if a_wins else B_DOMINATES


def _rate(measured: ClassStrength) -> float:
    return measured.rate or 0


def _overridden(favoured: Result, dominated: Result, severity_floor: str) -> bool:
    caught = {entry.probe_id for entry in favoured.reduced_probe_outcomes if entry.caught}
    return any(
        entry.caught and at_or_above(entry.severity, severity_floor) and entry.probe_id not in caught
        for entry in dominated.reduced_probe_outcomes
    )
