"""Strength aggregation (spec 09 §4) and dominance (spec 08 §13)."""

from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval_quality._version import VERSION
from eval_quality.core.aggregate import FLOOR_DECISIONS, FloorFacts, aggregate_strength
from eval_quality.core.decision import first
from eval_quality.core.dominance import DOMINANCE_RELATIONS, ComparableResult, compare_dominance
from eval_quality.core.emit import comparability_key, scoring_version
from eval_quality.errors import AggregationRefusal, RuntimeFault, SchemaIssues
from eval_quality.model.aggregate import StrengthAggregate
from eval_quality.model.artifact import EvidenceArtifact
from eval_quality.model.decode import decode, to_value
from eval_quality.value.digest import digest_value
from support import judgment as j
from support.judgment import digest
from support.mutants import mutants


def evidence(number: int = 1, *, caught: bool = True, exercised: bool = True, **over: Any) -> dict[str, Any]:
    """The artifact of one defect probe (or of another, by `probe`)."""
    probe_id = f"P-{number:03}"
    probe = over.pop("probe", j.probe)(probeId=probe_id)
    findings = [j.finding(probeId=probe_id)] if caught else []
    if exercised:
        seen = j.observation(1) if caught else j.observation(1, ["front"])
    else:
        seen = j.observation(1, ["front"], provenance="baseline")
    word = "violated" if caught else "held"
    base = j.record(
        findings=findings,
        observations=[seen],
        oracleDispositions=[j.disposition(1, "held", "obs-1"), j.disposition(2, word, "obs-1")],
        **over.pop("record", {}),
    )
    return to_value(j.run(record=base, probe=probe, **over).artifact)


def control(number: int) -> dict[str, Any]:
    return evidence(number, caught=False, probe=j.clean_probe)


def aggregate(values: list[Any], floors: Any = None, policy: Any = None) -> StrengthAggregate:
    return aggregate_strength(
        evidence=values, floors={} if floors is None else floors, policy=j.policy() if policy is None else policy
    )


def refused(values: list[Any], **over: Any) -> AggregationRefusal:
    with pytest.raises(AggregationRefusal) as raised:
        aggregate(values, **over)
    return raised.value


def fault(values: Any, floors: Any = None, policy: Any = None) -> RuntimeFault:
    with pytest.raises(RuntimeFault) as raised:
        aggregate(values, floors, policy)
    return raised.value


def test_s4_4_every_member_of_an_aggregate() -> None:
    inputs = [evidence(3), control(1), evidence(2, caught=False)]
    found = to_value(aggregate(inputs, {"defect": 0.5}))
    policy_digest = digest_value(j.policy(), "x")
    assert found == {
        "schemaVersion": 1,
        "parentDigest": None,
        "revisionCount": 0,
        "engineVersion": VERSION,
        "mode": "contract-scoring",
        "scoringVersion": inputs[0]["scoringVersion"],
        "scoringPolicyDigest": policy_digest,
        "comparabilityKey": comparability_key(policy_digest, ["P-001", "P-002", "P-003"]),
        "basis": "measured",
        "minimumTrialCount": 1,
        "callerAttestedInputs": ["corpusDigest", "evaluatorConfigurationDigest", "fixtureDigest", "mode"],
        "aggregateAttestedInputs": ["evidenceSetCompleteness", "probeClass"],
        "inputs": [
            {
                "probeId": f"P-00{number}",
                "probeClass": probe_class,
                "runId": "run-1",
                "artifactDigest": digest_value(inputs[position], "x"),
            }
            for number, probe_class, position in ((1, None, 1), (2, "defect", 2), (3, "defect", 0))
        ],
        "classes": {
            "defect": {"caught": 1, "exercised": 2, "rate": 0.5, "eligible": 2, "comparable": True},
            "gameability": None,
            "zero-action": None,
        },
        "floorDecisions": {
            "defect": {"floor": 0.5, "decision": "meets", "basis": "rate-meets-floor"},
            "gameability": {"floor": None, "decision": "undeclared", "basis": "no-floor-declared"},
            "zero-action": {"floor": None, "decision": "undeclared", "basis": "no-floor-declared"},
        },
    }


def test_s4_the_order_of_inputs_never_matters() -> None:
    inputs = [evidence(1), evidence(2, caught=False), control(3)]
    assert to_value(aggregate(inputs)) == to_value(aggregate(inputs[::-1]))


def test_s7_8_aggregation() -> None:
    five = [evidence(n, caught=n != 3) for n in range(1, 6)]
    measured = to_value(aggregate(five))["classes"]["defect"]
    assert measured == {"caught": 4, "exercised": 5, "rate": 0.8, "eligible": 5, "comparable": True}

    def decision(values: list[Any], floor: float) -> tuple[str, str]:
        made = to_value(aggregate(values, {"defect": floor}))["floorDecisions"]["defect"]
        return made["decision"], made["basis"]

    assert decision(five, 0.75) == ("meets", "rate-meets-floor")
    assert decision(five, 0.8) == ("meets", "rate-meets-floor")
    assert decision(five, 0.9) == ("does-not-meet", "rate-below-floor")
    partly = [*five[:2], *five[3:4], evidence(9, caught=False, exercised=False)]
    assert to_value(aggregate(partly))["classes"]["defect"]["rate"] == 1
    assert decision(partly, 0.75) == ("does-not-meet", "unexercised-probe")
    never = [evidence(9, caught=False, exercised=False)]
    assert decision(never, 0) == ("does-not-meet", "no-exercised-probe")
    assert decision([control(1)], 0) == ("does-not-meet", "no-eligible-probe")
    three = [evidence(1), evidence(2), evidence(3, caught=False)]
    assert to_value(aggregate(three))["classes"]["defect"]["rate"] == 0.6666666666666666


def test_s4_5_one_class_that_is_not_comparable() -> None:
    policy = j.policy(minimumTrialCount=3)
    thin = evidence(1, policy=policy)
    found = to_value(aggregate([thin], {"defect": 0, "gameability": 0}, policy))
    assert found["classes"]["defect"]["comparable"] is False
    assert found["floorDecisions"]["defect"] == {"floor": 0, "decision": "does-not-meet", "basis": "not-comparable"}
    assert found["floorDecisions"]["gameability"]["basis"] == "no-eligible-probe"


def test_s4_6_floor_decisions_over_their_whole_space() -> None:
    def expected(facts: FloorFacts) -> str:
        if not facts.declared:
            return "no-floor-declared"
        if not facts.eligible:
            return "no-eligible-probe"
        if not facts.comparable:
            return "not-comparable"
        if not facts.measured:
            return "no-exercised-probe"
        if not facts.complete:
            return "unexercised-probe"
        return "rate-meets-floor" if facts.reached else "rate-below-floor"

    for values in product((True, False), repeat=6):
        row = first(FLOOR_DECISIONS, FloorFacts(*values))
        assert row.rule == row.value[1] == expected(FloorFacts(*values))


def test_s4_4_an_aggregate_that_does_not_fit_its_schema_is_a_programming_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("eval_quality.core.aggregate.VERSION", "")
    with pytest.raises(TypeError, match="does not fit"):
        aggregate([evidence(1)])


# --- boundary (§4.1) ------------------------------------------------------------------------------------------------


def test_s4_1_stamps_of_all_evidence_come_before_any_shape() -> None:
    found = fault([{}, {**evidence(1), "schemaVersion": 3}], {"__proto__": 1})
    assert (found.code, found.artifact_path) == ("schema-version-mismatch", "EvidenceArtifact[1].schemaVersion")


@pytest.mark.parametrize(
    ("values", "floors", "policy", "code", "path"),
    [
        ([{}], {"x": 1}, None, "schema-parse-failure", "EvidenceArtifact[]"),
        ([], {"x": 1}, None, "schema-parse-failure", "EvidenceArtifact[]"),
        ({}, {"x": 1}, None, "schema-parse-failure", "EvidenceArtifact[]"),
        (None, {"__proto__": 1}, {"schemaVersion": 1}, "schema-parse-failure", "StrengthFloors"),
        (None, {"x": 1}, {"schemaVersion": 1}, "schema-parse-failure", "StrengthFloors"),
        (None, {"defect": 1.5}, None, "schema-parse-failure", "StrengthFloors"),
        (None, [], None, "schema-parse-failure", "StrengthFloors"),
        (None, {}, {"schemaVersion": 1}, "schema-version-mismatch", "ScoringPolicy.schemaVersion"),
        (None, {}, {}, "schema-parse-failure", "ScoringPolicy"),
    ],
)
def test_s4_1_boundary_parsing_in_order(values: Any, floors: Any, policy: Any, code: str, path: str) -> None:
    found = fault([evidence(1)] if values is None else values, floors, policy)
    assert (found.code, found.artifact_path) == (code, path)
    if code == "schema-parse-failure":
        assert isinstance(found.cause, SchemaIssues)


def test_s4_1_own_records_are_accepted() -> None:
    own = decode(EvidenceArtifact, evidence(1), "x")
    assert to_value(aggregate([own])) == to_value(aggregate([evidence(1)]))


# --- refusals (§4.2, §4.3) ------------------------------------------------------------------------------------------


def rescored(value: dict[str, Any]) -> dict[str, Any]:
    """Bring the derived digests of an edited artifact up to date."""
    inputs = value["scoringVersionInputs"]
    return {
        **value,
        "scoringVersion": scoring_version(inputs),
        "comparabilityKey": comparability_key(inputs["scoringPolicyDigest"], [value["scoredProbeId"]]),
    }


def edit(value: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """`value` with members replaced by path (`__` for a dot)."""
    for path, replacement in changes.items():
        *above, last = path.split("__")
        target: Any = value
        for key in above:
            target = target[int(key)] if key.isdigit() else target[key]
        target[last] = replacement
    return value


DEFECT = {"caught": 1, "exercised": 1, "rate": 1}


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"trials__completed": 2}, "trials.completedAttempts must list"),
        ({"reducedProbeOutcomes__0__caught": False}, "reducedProbeOutcomes.0.caught does not follow"),
        ({"scoringVersion": digest(1)}, "scoringVersion is not the digest"),
        ({"excludedProbeIds": ["P-007"]}, "excludedProbeIds is not empty: P-007"),
        ({"comparabilityKey": digest(1)}, "comparabilityKey is not the digest"),
        ({"strength__comparable": False}, "strength.comparable does not follow"),
        ({"strength__vector__gameability": DEFECT}, "more than one class"),
        ({"outcomes__0__state": "passed-clean-control"}, "a clean control's"),
        ({"strength__vector__defect": {"caught": 0, "exercised": 1, "rate": 0}}, "does not follow from the reduced"),
        ({"strength__vector__defect": {"caught": 1, "exercised": 1, "rate": None}}, "does not follow from the reduced"),
    ],
)
def test_s4_2_an_artifact_that_contradicts_itself(changes: dict[str, Any], says: str) -> None:
    found = refused([evidence(2), edit(evidence(1), **changes)])
    assert (found.code, found.artifact_path) == ("strength-input-inconsistent", "EvidenceArtifact[1]")
    assert says in found.detail
    assert "P-001" in found.detail


def test_s4_2_4_an_artifact_that_scores_no_probe() -> None:
    value = evidence(1)
    value.update(scoredProbeId=None, reducedProbeOutcomes=[], outcomes=[])
    found = refused([value])
    assert "scores no probe" in found.detail


def test_s4_2_an_artifact_without_a_class_is_accepted_whatever_its_states() -> None:
    value = edit(evidence(1), strength__vector__defect=None)
    assert to_value(aggregate([value]))["inputs"][0]["probeClass"] is None


@pytest.mark.parametrize(
    ("policy", "says"),
    [
        (j.policy(policyId="other"), "scoringPolicyDigest is"),
        (j.policy(catchThreshold=0.25), "scoringPolicyDigest is"),
    ],
)
def test_s4_3_1_another_policy(policy: dict[str, Any], says: str) -> None:
    found = refused([evidence(1)], policy=policy)
    assert (found.code, found.artifact_path) == ("strength-inputs-disagree", "EvidenceArtifact[0]")
    assert says in found.detail


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"trials__declaredMinimum": 2, "strength__comparable": False}, "trials.declaredMinimum is 2 for probe P-002"),
        ({"reducedProbeOutcomes__0__catchThreshold": 0.25}, "catchThreshold is 0.25 for probe P-002"),
    ],
)
def test_s4_3_1_recorded_thresholds_are_the_policys(changes: dict[str, Any], says: str) -> None:
    found = refused([evidence(1), edit(evidence(2), **changes)])
    assert (found.code, found.artifact_path) == ("strength-inputs-disagree", "EvidenceArtifact[1]")
    assert says in found.detail


def test_s4_3_2_a_probe_scored_twice() -> None:
    found = refused([evidence(1), evidence(2), evidence(1)])
    assert (found.code, found.artifact_path) == ("strength-inputs-disagree", "EvidenceArtifact[2]")
    assert "P-001" in found.detail
    assert "EvidenceArtifact[0]" in found.detail


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"scoringVersionInputs__corpusDigest": digest(55)}, "scoringVersion is"),
        ({"strength__basis": "reconstructed"}, "strength.basis is reconstructed for probe P-003 and measured"),
        ({"callerAttestedInputs": ["mode"]}, "callerAttestedInputs is ['mode'] for probe P-003"),
    ],
)
def test_s4_3_3_shared_members_differ_from_the_first_inputs(changes: dict[str, Any], says: str) -> None:
    found = refused([evidence(1), evidence(2), rescored(edit(evidence(3), **changes))])
    assert (found.code, found.artifact_path) == ("strength-inputs-disagree", "EvidenceArtifact[2]")
    assert says in found.detail
    assert "P-001" in found.detail


def test_s4_3_one_field_is_compared_across_all_inputs_before_the_next() -> None:
    attested = rescored(edit(evidence(2), callerAttestedInputs=[]))
    version = rescored(edit(evidence(3), scoringVersionInputs__corpusDigest=digest(55)))
    assert refused([evidence(1), attested, version]).artifact_path == "EvidenceArtifact[2]"


def test_s4_3_attested_inputs_are_compared_as_sorted_lists() -> None:
    turned = edit(evidence(2), callerAttestedInputs=evidence(2)["callerAttestedInputs"][::-1])
    assert aggregate([evidence(1), turned])


@given(st.lists(st.booleans(), min_size=1, max_size=6), st.integers(0, 5))
def test_s4_dropping_a_caught_probe_never_raises_the_rate(caught: list[bool], position: int) -> None:
    """Removing evidence never improves an aggregate."""
    values = [CAUGHT[n] if is_caught else MISSED[n] for n, is_caught in enumerate(caught)]
    before = to_value(aggregate(values))["classes"]["defect"]["rate"]
    drop = position % len(values)
    if caught[drop] and len(values) > 1:
        after = to_value(aggregate([*values[:drop], *values[drop + 1 :]]))["classes"]["defect"]["rate"]
        assert after <= before


CAUGHT = [evidence(n) for n in range(1, 7)]
MISSED = [evidence(n, caught=False) for n in range(1, 7)]


def check_mutated(count: int, seed: str) -> None:
    """A damaged artifact is refused with a typed error, or is whole after all; nothing else ever comes of it."""
    sources = [evidence(1), evidence(2, caught=False), control(3)]
    whole = decode(EvidenceArtifact, sources[0], "x")
    seen: set[str] = set()
    for mutant in mutants(sources, count, seed):
        try:
            aggregate([FOURTH, mutant], {"defect": 0.5})
        except (AggregationRefusal, RuntimeFault) as error:
            seen.add(error.code)
        else:
            seen.add("aggregated")
        try:
            relation = compare_dominance(whole, decode(EvidenceArtifact, mutant, "x"), "material")
        except RuntimeFault:
            continue
        seen.add(relation)
    assert seen >= {"schema-parse-failure", "strength-input-inconsistent", "strength-inputs-disagree", "incomparable"}


FOURTH = evidence(4)


def test_s4_mutated_evidence_is_refused_with_a_typed_error() -> None:
    check_mutated(500, "fast")


@pytest.mark.slow
def test_s4_mutated_evidence_is_refused_with_a_typed_error_at_length() -> None:
    check_mutated(2500, "slow")


# --- dominance ------------------------------------------------------------------------------------------------------


def result(value: dict[str, Any]) -> EvidenceArtifact:
    return decode(EvidenceArtifact, value, "x")


CAUGHT_RESULT, MISSED_RESULT = result(CAUGHT[0]), result(MISSED[0])


def test_s16_13_dominance() -> None:
    assert compare_dominance(CAUGHT_RESULT, MISSED_RESULT, "material") == "a-dominates-b"
    assert compare_dominance(MISSED_RESULT, CAUGHT_RESULT, "material") == "b-dominates-a"
    assert compare_dominance(CAUGHT_RESULT, CAUGHT_RESULT, "material") == "equivalent"
    never = result(evidence(1, caught=False, exercised=False))
    assert compare_dominance(never, CAUGHT_RESULT, "material") == "incomparable"
    assert DOMINANCE_RELATIONS == ("a-dominates-b", "b-dominates-a", "equivalent", "incomparable")


def comparable(value: dict[str, Any], **changes: Any) -> ComparableResult:
    names = ("scoredProbeId", "reducedProbeOutcomes", "strength", "comparabilityKey", "outcomes", "trials")
    return decode(ComparableResult, edit({name: value[name] for name in names}, **changes), "x")


@pytest.mark.parametrize(
    "changes",
    [
        {"comparabilityKey": digest(1)},
        {"strength__comparable": False},
        {"trials__completed": 7},
        {"scoredProbeId": None},
    ],
)
def test_s13_what_makes_results_incomparable(changes: dict[str, Any]) -> None:
    good, bad = comparable(evidence(1)), comparable(evidence(1), **changes)
    assert compare_dominance(good, good, "low") == "equivalent"
    assert compare_dominance(good, bad, "low") == "incomparable"
    assert compare_dominance(bad, good, "low") == "incomparable"


def test_s13_4_a_probe_repeated_in_the_reduction_is_incomparable() -> None:
    value = evidence(1)
    value["reducedProbeOutcomes"] *= 2
    assert compare_dominance(comparable(value), comparable(evidence(1)), "low") == "incomparable"


def vector(defect: Any, gameability: Any, zero_action: Any = None) -> ComparableResult:
    def cell(counts: Any) -> Any:
        if counts is None:
            return None
        caught, exercised = counts
        return {"caught": caught, "exercised": exercised, "rate": caught / exercised if exercised else None}

    classes = {"defect": cell(defect), "gameability": cell(gameability), "zero-action": cell(zero_action)}
    return comparable(evidence(1), strength__vector=classes)


@pytest.mark.parametrize(
    ("a", "b", "relation"),
    [
        (((1, 2), None), ((0, 2), None), "a-dominates-b"),
        (((1, 2), (1, 1)), ((0, 2), (1, 1)), "a-dominates-b"),
        (((1, 2), (0, 1)), ((0, 2), (1, 1)), "incomparable"),
        (((1, 2), None), ((2, 4), None), "incomparable"),
        (((1, 2), (1, 1)), ((2, 4), (0, 1)), "a-dominates-b"),
        (((1, 2), None), (None, (1, 2)), "incomparable"),
        (((0, 0), (1, 1)), ((1, 1), (1, 1)), "equivalent"),
        ((None, None, (1, 3)), (None, None, (2, 3)), "b-dominates-a"),
    ],
)
def test_s13_5_component_comparison(a: tuple[Any, ...], b: tuple[Any, ...], relation: str) -> None:
    assert compare_dominance(vector(*a), vector(*b), "critical") == relation


@pytest.mark.parametrize(("floor", "relation"), [("material", "incomparable"), ("critical", "b-dominates-a")])
def test_s13_6_the_dominated_side_caught_what_the_favoured_side_did_not(floor: str, relation: str) -> None:
    """The vector says b, the reductions say that only a caught the material probe."""
    a = comparable(evidence(1), strength__vector__defect={"caught": 0, "exercised": 1, "rate": 0})
    b = comparable(evidence(1, caught=False), strength__vector__defect={"caught": 1, "exercised": 1, "rate": 1})
    assert compare_dominance(a, b, floor) == relation
    assert compare_dominance(a, b, "grave") == "b-dominates-a"
