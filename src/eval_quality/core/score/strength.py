"""The strength vector: how many planted defects the evaluation caught (spec 08 §9, §10).

1. There is a class for `defect`, `gameability` and `zero-action`; canaries and clean controls have none.
2. Each exercised probe counts once, and once more under `caught` when its reduction is caught.
3. Nothing measured is a state: a class without an eligible probe is null, one without an exercised probe has rate null.
4. A vector is comparable when enough trials completed and no outcome of any of them was `unreached`.

The sentences are members of the artifact and so of its digest.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from eval_quality.model.artifact import ClassStrength, Strength, StrengthVector

STRENGTH_CLASSES: Final = ("defect", "gameability", "zero-action")
"""The classes of the vector, in order (spec 08 §9)."""


class Caught(NamedTuple):
    """The two facts a reduction contributes."""

    exercised: bool
    caught: bool


def strength_class(probe_class: str, expected_clean: bool) -> str | None:
    """The class a probe counts under; None for canaries and clean controls."""
    return None if probe_class == "canary" or expected_clean else probe_class


def class_strength(eligible: Iterable[str], reductions: Mapping[str, Caught]) -> ClassStrength | None:
    """Rate over the eligible probe ids of one class; None when there is none (spec 08 §9)."""
    probe_ids = dict.fromkeys(eligible)
    if not probe_ids:
        return None
    exercised = [reductions[name] for name in probe_ids if name in reductions and reductions[name].exercised]
    caught = sum(reduction.caught for reduction in exercised)
    return ClassStrength(caught=caught, exercised=len(exercised), rate=caught / len(exercised) if exercised else None)


def is_comparable(completed: int, declared_minimum: int, states: Iterable[str]) -> bool:
    """Whether the vector may be compared with another (spec 08 §10)."""
    return completed >= declared_minimum and "unreached" not in states


def strength(
    vector: Mapping[str, ClassStrength | None],
    admitted: int,
    completed: int,
    declared_minimum: int,
    outcomes: Sequence[tuple[str, str]],
) -> Strength:
    """The strength block of an artifact; `outcomes` are (oracle id, state), trial by trial (spec 08 §10)."""
    over = f"{completed} completed trial{'' if completed == 1 else 's'}"
    unreached = [oracle_id for oracle_id, state in outcomes if state == "unreached"]
    comparable = is_comparable(completed, declared_minimum, (state for _, state in outcomes))
    note = [f"{admitted} admitted probe over {over}."]
    if completed < declared_minimum:
        note.append(f"Below the declared minimum of {declared_minimum}.")
    if unreached:
        note.append(f"{', '.join(unreached)} resolved unreached.")
    if not comparable:
        note.append("The vector is reported and marked non-comparable.")
    return Strength(
        denominator=f"unique qualified probe identifiers exercised per class, across {over}",
        basis="measured",
        vector=StrengthVector(**{name.replace("-", "_"): vector.get(name) for name in STRENGTH_CLASSES}),
        comparable=comparable,
        note=" ".join(note),
    )
