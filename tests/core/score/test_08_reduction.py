"""Trial-set reduction, rate vector, comparability and note, reduction consistency (spec 08 §8 to §10, §12)."""

import math
from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval_quality.core.score.consistency import inconsistencies
from eval_quality.core.score.reduction import INVALIDATING_STATES, STATE_GROUPS, Reduction, reduce_votes
from eval_quality.core.score.strength import Caught, class_strength, is_comparable, strength, strength_class
from eval_quality.model.artifact import (
    ClassStrength,
    EvidenceArtifact,
    InvalidatedAttempt,
    TrialVote,
)
from eval_quality.model.decode import decode, to_value
from eval_quality.model.primitives import OUTCOME_STATES
from support import judgment as j


def votes(*states: str) -> list[TrialVote]:
    return [TrialVote(trial_index=n, state=state) for n, state in enumerate(states, 1)]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("states", "threshold", "expected"),
    [
        (("caught", "caught", "missed"), 0.5, (True, True, 3, 2, ())),
        (("caught", "missed", "not-applicable"), 0.5, (True, False, 2, 1, ())),
        (
            ("caught", "infrastructure-error"),
            0.5,
            (True, True, 1, 1, (InvalidatedAttempt(attempt=2, reason="infrastructure-error"),)),
        ),
        (("not-applicable",) * 3, 0.5, (False, False, 0, 0, ())),
        (("caught", *("confirmed",) * 9), 0, (True, True, 10, 1, ())),
        (("confirmed",), 0, (True, False, 1, 0, ())),
        (("caught",), 1, (True, False, 1, 1, ())),
        (("caught",) * 29 + ("missed",) * 71, 0.29, (True, False, 100, 29, ())),
        ((), 0.5, (False, False, 0, 0, ())),
    ],
)
def test_s16_11_reduction(states: tuple[str, ...], threshold: float, expected: tuple[Any, ...]) -> None:
    assert reduce_votes(votes(*states), threshold) == Reduction(*expected)


def test_s8_the_share_is_a_division_not_a_product() -> None:
    # 0.07 * 100 is 7.000000000000001, so a product would say 7 of 100 is not above 0.07 for another reason.
    caught, total, threshold = 7, 100, 0.07
    found = reduce_votes(votes(*("caught",) * caught, *("missed",) * (total - caught)), threshold)
    assert found.caught is (caught / total > threshold)


@pytest.mark.parametrize("state", OUTCOME_STATES)
def test_s8_every_state_is_in_one_group(state: str) -> None:
    found = reduce_votes(votes(state), 0.5)
    group = STATE_GROUPS[state]
    assert found.exercised == (group == "voted")
    assert bool(found.invalidated_attempts) == (group == "invalidating") == (state in INVALIDATING_STATES)
    assert found.caught == (state == "caught")


@pytest.mark.parametrize("threshold", [-0.1, 1.1, math.inf, -math.inf, math.nan, True])
def test_s8_a_threshold_outside_its_range_is_a_type_error(threshold: float) -> None:
    with pytest.raises(TypeError, match=r"^the catch threshold must be a finite number from 0 to 1$"):
        reduce_votes([], threshold)


def test_s8_an_unknown_state_is_a_type_error() -> None:
    with pytest.raises(TypeError, match=r"^'won' is no outcome state$"):
        reduce_votes([TrialVote(trial_index=1, state="won")], 0.5)  # type: ignore[arg-type]


@given(st.lists(st.sampled_from(OUTCOME_STATES), max_size=12), st.floats(0, 1))
def test_s8_removing_a_caught_vote_never_makes_the_probe_caught(states: list[str], threshold: float) -> None:
    before = reduce_votes(votes(*states), threshold)
    if "caught" in states:
        fewer = list(states)
        fewer.remove("caught")
        after = reduce_votes(votes(*fewer), threshold)
        assert after.caught <= before.caught


# --- vector ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("eligible", "reductions", "expected"),
    [
        ((), {}, None),
        (("P-001",), {}, (0, 0, None)),
        (("P-001",), {"P-001": Caught(False, False)}, (0, 0, None)),
        (("P-001",), {"P-001": Caught(True, False)}, (0, 1, 0)),
        (("P-001",), {"P-001": Caught(True, True)}, (1, 1, 1)),
        (("P-001", "P-001"), {"P-001": Caught(True, True)}, (1, 1, 1)),
        (
            ("P-001", "P-002", "P-003"),
            {"P-001": Caught(True, True), "P-002": Caught(True, True), "P-003": Caught(True, False)},
            (2, 3, 2 / 3),
        ),
    ],
)
def test_s9_class_strength(eligible: tuple[str, ...], reductions: dict[str, Caught], expected: Any) -> None:
    found = class_strength(eligible, reductions)
    if expected is None:
        assert found is None
    else:
        assert found == ClassStrength(caught=expected[0], exercised=expected[1], rate=expected[2])


def test_s9_canaries_and_clean_controls_have_no_class() -> None:
    for probe_class, clean in product(("defect", "gameability", "zero-action", "canary"), (True, False)):
        expected = None if clean or probe_class == "canary" else probe_class
        assert strength_class(probe_class, clean) == expected


# --- comparability and note -----------------------------------------------------------------------------------------


def test_s16_12_the_note_of_a_vector_that_is_not_comparable() -> None:
    found = strength({}, 1, 1, 3, [("O-001", "unreached")])
    assert found.note == (
        "1 admitted probe over 1 completed trial. Below the declared minimum of 3. O-001 resolved unreached. The "
        "vector is reported and marked non-comparable."
    )
    assert found.denominator == "unique qualified probe identifiers exercised per class, across 1 completed trial"
    assert (found.basis, found.comparable) == ("measured", False)


def test_s10_the_note_of_a_comparable_vector() -> None:
    found = strength({}, 0, 3, 3, [("O-001", "caught")])
    assert found.note == "0 admitted probe over 3 completed trials."
    assert found.denominator.endswith("across 3 completed trials")
    assert found.comparable


def test_s10_unreached_oracles_are_listed_trial_by_trial_without_deduplication() -> None:
    found = strength({}, 1, 2, 1, [("O-002", "unreached"), ("O-001", "caught"), ("O-002", "unreached")])
    assert "O-002, O-002 resolved unreached. The vector" in str(found.note)
    assert "Below" not in str(found.note)


@pytest.mark.parametrize(
    ("completed", "minimum", "states", "comparable"),
    [(3, 3, ["caught"], True), (2, 3, ["caught"], False), (3, 3, ["caught", "unreached"], False), (4, 3, [], True)],
)
def test_s10_comparable(completed: int, minimum: int, states: list[str], comparable: bool) -> None:
    assert is_comparable(completed, minimum, states) is comparable


# --- consistency (§12) ----------------------------------------------------------------------------------------------


def artifact() -> dict[str, Any]:
    trials = [j.record(trialIndex=1), j.record(trialIndex=2)]
    return to_value(j.run(record=trials).artifact)


def issues(value: dict[str, Any]) -> list[str]:
    decoded = decode(EvidenceArtifact, value, "EvidenceArtifact")
    return [".".join(map(str, found.path)) for found in inconsistencies(decoded)]


def edited(**changes: Any) -> dict[str, Any]:
    """The artifact with members replaced by dotted path (`__` for a dot)."""
    value = artifact()
    for path, replacement in changes.items():
        *above, last = path.split("__")
        target: Any = value
        for key in above:
            target = target[int(key)] if key.isdigit() else target[key]
        target[int(last) if last.isdigit() else last] = replacement
    return value


def test_s12_an_emitted_artifact_is_consistent() -> None:
    assert issues(artifact()) == []


R0 = "reducedProbeOutcomes__0__"


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"trials__completedAttempts": [1, 2, 2]}, ["trials.completedAttempts"]),
        ({"trials__completed": 3}, ["trials.completedAttempts"]),
        (
            {"trials__completedAttempts": [1, 3]},
            ["outcomes", "reducedProbeOutcomes.0.trialVotes"],
        ),
        ({"scoredProbeId": None}, ["reducedProbeOutcomes", "reducedProbeOutcomes.0.probeId"]),
        ({"reducedProbeOutcomes": []}, ["reducedProbeOutcomes", "reducedProbeOutcomes"]),
        (
            {R0 + "probeId": "P-002"},
            [
                "reducedProbeOutcomes",
                "reducedProbeOutcomes.0.probeId",
                "reducedProbeOutcomes.0.trialVotes.0",
                "reducedProbeOutcomes.0.trialVotes.1",
                "reducedProbeOutcomes",
            ],
        ),
        ({R0 + "severity": "low"}, ["reducedProbeOutcomes.0.severity"]),
        (
            {R0 + "trialVotes__1__trialIndex": 1},
            ["reducedProbeOutcomes.0.trialVotes.1.trialIndex", "reducedProbeOutcomes.0.trialVotes"],
        ),
        (
            {R0 + "trialVotes__1__state": "missed", R0 + "caughtCount": 1, R0 + "caught": False},
            ["reducedProbeOutcomes.0.trialVotes.1"],
        ),
        (
            {
                "outcomes": [],
                R0 + "trialVotes": [],
                R0 + "exercised": False,
                R0 + "caught": False,
                R0 + "validCount": 0,
                R0 + "caughtCount": 0,
            },
            [],
        ),
        (
            {"outcomes": []},
            [
                "reducedProbeOutcomes.0.trialVotes.0",
                "reducedProbeOutcomes.0.trialVotes.1",
                "reducedProbeOutcomes.0.trialVotes",
            ],
        ),
        ({R0 + "exercised": False}, ["reducedProbeOutcomes.0.exercised"]),
        ({R0 + "caught": False}, ["reducedProbeOutcomes.0.caught"]),
        ({R0 + "validCount": 1}, ["reducedProbeOutcomes.0.validCount"]),
        ({R0 + "caughtCount": 1}, ["reducedProbeOutcomes.0.caughtCount"]),
        ({R0 + "catchThreshold": 1}, ["reducedProbeOutcomes.0.caught"]),
        (
            {R0 + "invalidatedAttempts": [{"attempt": 1, "reason": "x"}]},
            ["reducedProbeOutcomes.0.invalidatedAttempts"],
        ),
        ({"trials__invalidatedAttempts": [{"attempt": 1, "reason": "x"}]}, ["trials.invalidatedAttempts"]),
    ],
)
def test_s12_each_failing_equality_in_order(changes: dict[str, Any], expected: list[str]) -> None:
    assert issues(edited(**changes)) == expected


def test_s12_messages_state_which_equality_failed() -> None:
    def told(**changes: Any) -> list[str]:
        return [found.message for found in inconsistencies(decode(EvidenceArtifact, edited(**changes), "x"))]

    assert told(trials__completed=3) == ["must list each completed attempt once, as many as trials.completed"]
    assert told(trials__completedAttempts=[1, 3]) == ["must cover exactly the completed attempts"] * 2
    assert told(scoredProbeId=None) == ["must be empty without a scored probe", "is not the scored probe"]
    assert told(reducedProbeOutcomes=[]) == [
        "must hold exactly one entry, for the scored probe",
        "must hold an entry for probe P-001 of the outcomes",
    ]
    assert told(**{R0 + "severity": "low"}) == ["differs from the severity of a detailed outcome of the probe"]
    assert told(**{R0 + "trialVotes__1__trialIndex": 1})[0] == "repeats the trial of an earlier vote"
    assert told(outcomes=[])[::2] == [
        "names no detailed outcome of its trial and state",
        "must be empty without detailed outcomes",
    ]
    assert told(**{R0 + "caught": False}) == ["does not follow from the votes and the threshold"]
    lost = [{"attempt": 1, "reason": "x"}]
    assert told(trials__invalidatedAttempts=lost) == [
        "must be the invalidated attempts of the reduced outcomes together"
    ]
    value = artifact()
    value["reducedProbeOutcomes"] *= 2
    twice = inconsistencies(decode(EvidenceArtifact, value, "x"))
    assert [found.message for found in twice][1] == "repeats the probe of an earlier entry"


def test_s12_a_repeated_probe_is_reported_at_its_second_entry() -> None:
    value = artifact()
    value["reducedProbeOutcomes"] *= 2
    assert issues(value) == ["reducedProbeOutcomes", "reducedProbeOutcomes.1.probeId"]


def test_s12_invalidated_attempts_are_compared_as_multisets() -> None:
    value = artifact()
    for outcome in value["outcomes"]:
        outcome["state"] = "infrastructure-error"
    attempts = [{"attempt": n, "reason": "infrastructure-error"} for n in (1, 2)]
    reduced = value["reducedProbeOutcomes"][0]
    for vote in reduced["trialVotes"]:
        vote["state"] = "infrastructure-error"
    reduced.update(exercised=False, caught=False, validCount=0, caughtCount=0, invalidatedAttempts=attempts[::-1])
    value["trials"]["invalidatedAttempts"] = attempts
    assert issues(value) == []
    value["trials"]["invalidatedAttempts"] = [attempts[0], attempts[0], attempts[1]]
    assert issues(value) == ["trials.invalidatedAttempts"]


def test_s12_an_outcome_without_a_probe_is_nobodys() -> None:
    value = artifact()
    for outcome in value["outcomes"]:
        outcome["probeId"] = None
    assert issues(value) == ["reducedProbeOutcomes.0.trialVotes.0", "reducedProbeOutcomes.0.trialVotes.1"]
