"""A small naive Bayes classifier, cross-validated: what somebody who studied other families would guess.

Deterministic: families are split in two by their order, each half is guessed from the other, ties go to the class
that is commoner and then earlier. Without any signal the accuracy is the share of the commonest class.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from math import log
from typing import Final, NamedTuple

SMOOTHING: Final = 1.0


class Sample(NamedTuple):
    """One thing to classify: its group (never split), its true class, and what can be seen of it."""

    group: str
    label: str
    features: frozenset[str]


class _Model:
    def __init__(self, samples: Sequence[Sample]) -> None:
        self.counts = Counter(sample.label for sample in samples)
        self.seen: dict[str, Counter[str]] = {label: Counter() for label in self.counts}
        for sample in samples:
            self.seen[sample.label].update(sample.features)
        self.vocabulary = frozenset(feature for counter in self.seen.values() for feature in counter)

    def scores(self, features: Iterable[str]) -> dict[str, float]:
        """Log odds of each class, from the features that training has seen."""
        known = [feature for feature in features if feature in self.vocabulary]
        result: dict[str, float] = {}
        for label, count in self.counts.items():
            seen = self.seen[label]
            result[label] = log(count) + sum(
                log((seen[feature] + SMOOTHING) / (count + 2 * SMOOTHING)) for feature in sorted(known)
            )
        return result


def _folds(samples: Sequence[Sample]) -> list[tuple[list[Sample], list[Sample]]]:
    groups = list(dict.fromkeys(sample.group for sample in samples))
    even = set(groups[::2])
    first = [sample for sample in samples if sample.group in even]
    second = [sample for sample in samples if sample.group not in even]
    return [(first, second), (second, first)]


def _best(scores: Mapping[str, float]) -> str:
    top = max(scores.values())
    return next(label for label in scores if scores[label] > top - 1e-9)


def guessed(samples: Sequence[Sample]) -> list[bool]:
    """Whether the classifier gets each sample right, guessed from the half that does not hold it; in order."""
    right: dict[int, bool] = {}
    for training, testing in _folds(samples):
        model = _Model(training)
        for sample in testing:
            right[id(sample)] = bool(training) and _best(model.scores(sample.features)) == sample.label
    return [right[id(sample)] for sample in samples]


def picked(groups: Mapping[str, Sequence[Sample]], wanted: str) -> tuple[int, int]:
    """(right, tried): in each group, the member most like `wanted` is picked; right when it is labelled so.

    Groups without exactly one wanted member, or with no rival, are no test and are left out.
    """
    usable = {
        name: members
        for name, members in groups.items()
        if len(members) > 1 and sum(member.label == wanted for member in members) == 1
    }
    flat = [member for members in usable.values() for member in members]
    right = 0
    for training, testing in _folds(flat):
        if not training:
            continue
        model = _Model(training)
        held_out = {sample.group for sample in testing}
        for name in held_out:
            right += _pick(model, usable[name], wanted).label == wanted
    return right, len(usable)


def _pick(model: _Model, members: Sequence[Sample], wanted: str) -> Sample:
    def odds(member: Sample) -> float:
        scores = model.scores(member.features)
        return scores[wanted] - max(score for label, score in scores.items() if label != wanted)

    return max(members, key=odds)
