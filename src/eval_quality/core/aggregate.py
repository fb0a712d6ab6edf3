"""Many scored probes as one strength statement (spec 09 §4).

    1  every evidence value with a numeric stamp carries the stamp this build reads; then all shapes are parsed
    2  floors and policy are parsed
    3  each artifact is held against itself: what it records must follow from what it records (§4.2)
    4  the artifacts are held against the policy and each other (§4.3)
    5  classes and floor decisions (§4.5, §4.6)

Steps 1 and 2 are runtime faults, 3 and 4 refusals: nothing is produced from a set that cannot be added up. What cannot
be seen from here is in §4.7: that an artifact came from a scorer, that the set is complete, that a class is right.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from eval_quality._version import VERSION
from eval_quality.core.decision import Row, first
from eval_quality.core.emit import comparability_key, scoring_version
from eval_quality.core.faults import parse_failure
from eval_quality.core.score.consistency import inconsistencies
from eval_quality.core.score.strength import STRENGTH_CLASSES, Caught, class_strength, is_comparable
from eval_quality.errors import AggregationRefusal, Problem, RuntimeFault
from eval_quality.model.aggregate import StrengthAggregate, StrengthFloors
from eval_quality.model.artifact import ClassStrength, EvidenceArtifact
from eval_quality.model.decode import decode, decode_list, to_value
from eval_quality.model.policy import ScoringPolicy
from eval_quality.model.stamp import STRENGTH_AGGREGATE_SCHEMA_VERSION, check_stamp
from eval_quality.value.digest import digest_value
from eval_quality.value.frozen import FrozenList

INCONSISTENT: Final = "strength-input-inconsistent"
DISAGREE: Final = "strength-inputs-disagree"

CONTROL_STATES: Final = ("passed-clean-control", "false-positive")
"""States that only a clean control can have, and a clean control has no class."""

AGGREGATE_ATTESTED_INPUTS: Final = ("evidenceSetCompleteness", "probeClass")
"""What the aggregate takes on the caller's word, in order (spec 09 §4.4)."""


class FloorFacts(NamedTuple):
    """What a floor decision reads."""

    declared: bool
    eligible: bool = True
    comparable: bool = True
    measured: bool = True
    complete: bool = True
    reached: bool = True


# spec 09 §4.6
FLOOR_DECISIONS: Final[tuple[Row[tuple[str, str]], ...]] = (
    Row("no-floor-declared", (("declared", (False,)),), ("undeclared", "no-floor-declared")),
    Row("no-eligible-probe", (("eligible", (False,)),), ("does-not-meet", "no-eligible-probe")),
    Row("not-comparable", (("comparable", (False,)),), ("does-not-meet", "not-comparable")),
    Row("no-exercised-probe", (("measured", (False,)),), ("does-not-meet", "no-exercised-probe")),
    Row("unexercised-probe", (("complete", (False,)),), ("does-not-meet", "unexercised-probe")),
    Row("rate-meets-floor", (("reached", (True,)),), ("meets", "rate-meets-floor")),
    Row("rate-below-floor", (), ("does-not-meet", "rate-below-floor")),
)
"""Decision and basis by the first row that holds."""


class _Input(NamedTuple):
    """One verified artifact: where it stood, its probe and its class."""

    path: str
    artifact: EvidenceArtifact
    probe_id: str
    probe_class: str | None


def aggregate_strength(*, evidence: Any, floors: Any, policy: Any) -> StrengthAggregate:
    """Aggregate evidence artifacts under one policy (spec 09 §4).

    `evidence` is a list of artifacts, `floors` a map from class to number; plain values or records. Raises
    `AggregationRefusal`, or a `RuntimeFault` for values that do not parse.
    """
    artifacts, declared, rules = _parse(evidence, floors, policy)
    inputs = [_verified(artifact, f"EvidenceArtifact[{index}]") for index, artifact in enumerate(artifacts)]
    policy_digest = digest_value(to_value(rules), "ScoringPolicy")
    _cross_check(inputs, rules, policy_digest)
    inputs.sort(key=lambda entry: entry.probe_id)
    shared = artifacts[0]
    classes = {name: _class(name, inputs) for name in STRENGTH_CLASSES}
    value = {
        "schemaVersion": STRENGTH_AGGREGATE_SCHEMA_VERSION,
        "parentDigest": None,
        "revisionCount": 0,
        "engineVersion": VERSION,
        "mode": shared.scoring_version_inputs.mode,
        "scoringVersion": shared.scoring_version,
        "scoringPolicyDigest": policy_digest,
        "comparabilityKey": comparability_key(policy_digest, [entry.probe_id for entry in inputs]),
        "basis": shared.strength.basis,
        "minimumTrialCount": rules.minimum_trial_count,
        "callerAttestedInputs": sorted(shared.caller_attested_inputs),
        "aggregateAttestedInputs": list(AGGREGATE_ATTESTED_INPUTS),
        "inputs": [
            {
                "probeId": entry.probe_id,
                "probeClass": entry.probe_class,
                "runId": entry.artifact.run_id,
                "artifactDigest": digest_value(to_value(entry.artifact), "EvidenceArtifact"),
            }
            for entry in inputs
        ],
        "classes": classes,
        "floorDecisions": {name: _decision(classes[name], declared.get(name)) for name in STRENGTH_CLASSES},
    }
    try:
        return decode(StrengthAggregate, value, "StrengthAggregate")
    except RuntimeFault as fault:
        raise TypeError("the strength aggregate does not fit its schema") from fault


def _parse(
    evidence: Any, floors: Any, policy: Any
) -> tuple[tuple[EvidenceArtifact, ...], Mapping[str, float], ScoringPolicy]:
    """spec 09 §4.1"""
    for index, value in enumerate(_elements(evidence)):
        check_stamp("evidence-artifact", value, f"EvidenceArtifact[{index}]")
    artifacts = decode_list(EvidenceArtifact, evidence, "EvidenceArtifact[]")
    if not artifacts:
        raise parse_failure("EvidenceArtifact[]", Problem((), "too_small", "must hold at least one evidence artifact"))
    if isinstance(floors, dict) and "__proto__" in floors:
        raise parse_failure("StrengthFloors", Problem((), "unrecognized_keys", 'Unrecognized key: "__proto__"'))
    declared = to_value(decode(StrengthFloors, floors, "StrengthFloors"))
    check_stamp("scoring-policy", policy, "ScoringPolicy")
    return artifacts, declared, decode(ScoringPolicy, policy, "ScoringPolicy")


def _elements(evidence: Any) -> Iterable[Any]:
    return evidence if type(evidence) in (list, tuple, FrozenList) else ()


def _verified(artifact: EvidenceArtifact, path: str) -> _Input:
    """spec 09 §4.2: the artifact, once nothing in it contradicts anything else in it."""
    contradiction = next(_contradictions(artifact), None)
    if contradiction is not None:
        raise AggregationRefusal(INCONSISTENT, path, f"{contradiction} (probe {artifact.scored_probe_id or 'none'})")
    assert artifact.scored_probe_id is not None
    counted = [name for name, strength in _vector(artifact).items() if strength is not None]
    return _Input(path, artifact, artifact.scored_probe_id, counted[0] if counted else None)


def _vector(artifact: EvidenceArtifact) -> dict[str, ClassStrength | None]:
    vector = artifact.strength.vector
    return dict(zip(STRENGTH_CLASSES, (vector.defect, vector.gameability, vector.zero_action), strict=True))


def _contradictions(artifact: EvidenceArtifact) -> Iterator[str]:
    """What the artifact contradicts, in the order of §4.2."""
    # 1
    for problem in inconsistencies(artifact):
        yield f"{'.'.join(map(str, problem.path))} {problem.message}"
    # 2
    if artifact.scoring_version != scoring_version(to_value(artifact.scoring_version_inputs)):
        yield "scoringVersion is not the digest of scoringVersionInputs"
    # 3
    if artifact.excluded_probe_ids:
        yield f"excludedProbeIds is not empty: {', '.join(artifact.excluded_probe_ids)}"
    # 4
    if artifact.scored_probe_id is None:
        yield "scoredProbeId is null, so the artifact scores no probe"
    elif artifact.comparability_key != comparability_key(
        artifact.scoring_version_inputs.scoring_policy_digest, [artifact.scored_probe_id]
    ):
        yield "comparabilityKey is not the digest of the policy and the scored probe"
    # 5
    states = [outcome.state for outcome in artifact.outcomes]
    trials = artifact.trials
    if artifact.strength.comparable != is_comparable(trials.completed, trials.declared_minimum, states):
        yield "strength.comparable does not follow from the trials and the outcomes"
    # 6
    measured = [strength for strength in _vector(artifact).values() if strength is not None]
    if len(measured) > 1:
        yield "strength.vector names more than one class for one probe"
    if len(measured) == 1:
        # 7
        if any(state in CONTROL_STATES for state in states):
            yield "strength.vector names a class although an outcome is a clean control's"
        # 8
        if measured[0] != _own_strength(artifact):
            yield "strength.vector does not follow from the reduced outcome"


def _own_strength(artifact: EvidenceArtifact) -> ClassStrength | None:
    reductions = {
        reduced.probe_id: Caught(reduced.exercised, reduced.caught) for reduced in artifact.reduced_probe_outcomes
    }
    return class_strength(reductions, reductions)


def _cross_check(inputs: Sequence[_Input], policy: ScoringPolicy, policy_digest: str) -> None:
    """spec 09 §4.3"""
    # 1
    for entry in inputs:
        artifact = entry.artifact
        for field, recorded, expected in (
            ("scoringPolicyDigest", artifact.scoring_version_inputs.scoring_policy_digest, policy_digest),
            ("trials.declaredMinimum", artifact.trials.declared_minimum, policy.minimum_trial_count),
            ("catchThreshold", artifact.reduced_probe_outcomes[0].catch_threshold, policy.catch_threshold),
        ):
            if recorded != expected:
                raise AggregationRefusal(
                    DISAGREE,
                    entry.path,
                    f"{field} is {recorded} for probe {entry.probe_id}, and the supplied policy says {expected}",
                )
    # 2
    seen: dict[str, str] = {}
    for entry in inputs:
        if entry.probe_id in seen:
            detail = f"probe {entry.probe_id} was already scored by {seen[entry.probe_id]}"
            raise AggregationRefusal(DISAGREE, entry.path, detail)
        seen[entry.probe_id] = entry.path
    # 3, 4, 5
    shared: tuple[tuple[str, Callable[[EvidenceArtifact], Any]], ...] = (
        ("scoringVersion", lambda artifact: artifact.scoring_version),
        ("strength.basis", lambda artifact: artifact.strength.basis),
        ("callerAttestedInputs", lambda artifact: sorted(artifact.caller_attested_inputs)),
    )
    reference = inputs[0]
    for field, read in shared:
        for entry in inputs[1:]:
            here, there = read(entry.artifact), read(reference.artifact)
            if here != there:
                raise AggregationRefusal(
                    DISAGREE,
                    entry.path,
                    f"{field} is {here} for probe {entry.probe_id} and {there} for probe {reference.probe_id}",
                )


def _class(name: str, inputs: Sequence[_Input]) -> dict[str, Any] | None:
    """spec 09 §4.5"""
    own = [entry for entry in inputs if entry.probe_class == name]
    reductions = {
        entry.probe_id: Caught(reduced.exercised, reduced.caught)
        for entry in own
        for reduced in entry.artifact.reduced_probe_outcomes
    }
    measured = class_strength([entry.probe_id for entry in own], reductions)
    if measured is None:
        return None
    return {
        **to_value(measured),
        "eligible": len(own),
        "comparable": all(entry.artifact.strength.comparable for entry in own),
    }


def _decision(measured: Mapping[str, Any] | None, floor: float | None) -> dict[str, Any]:
    """spec 09 §4.6"""
    if floor is None:
        facts = FloorFacts(declared=False)
    elif measured is None:
        facts = FloorFacts(declared=True, eligible=False)
    else:
        rate: float | None = measured["rate"]
        facts = FloorFacts(
            declared=True,
            comparable=measured["comparable"],
            measured=rate is not None,
            complete=measured["exercised"] >= measured["eligible"],
            reached=rate is not None and rate >= floor,
        )
    decision, basis = first(FLOOR_DECISIONS, facts).value
    return {"floor": floor, "decision": decision, "basis": basis}
