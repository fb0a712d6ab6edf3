"""The run record: one trial of one evaluator (spec 02 §16).

Two stamps are native: 8 as tabled, and 7, which is the same document except that `callInputs` has no `bodyEncoding`.
Here that member is UNSET in a record stamped 7, and `null` or `"raw"` in any other.
"""

from collections.abc import Iterable, Mapping
from typing import Annotated, Any, ClassVar, Literal, TypeAlias

from msgspec import UNSET, Meta, UnsetType

from eval_quality.errors import Problem
from eval_quality.model.binding import ProbeObservedBody
from eval_quality.model.evidence import ArtifactReference, QuotedEvidence, ResourceUse
from eval_quality.model.lineage import Artifact
from eval_quality.model.primitives import (
    BehaviorId,
    Count,
    Digest,
    EvaluatorRecommendation,
    FindingId,
    Fraction,
    Identifier,
    Int,
    JsonObject,
    JsonValue,
    OracleId,
    OracleVerdict,
    Positive,
    ProbeId,
    RubricCriterionId,
    RubricId,
    RunMode,
    Severity,
    Text,
)
from eval_quality.model.record import Record, freeze_maps
from eval_quality.value.kind import is_array, is_object

STAMP_WITHOUT_BODY_ENCODING = 7

REPEATED_SEQUENCE = (
    "every observation's `sequence` is unique within the record (ADR-006, owed item 2); a duplicate leaves the total "
    "order the fix exists to supply ambiguous"
)


class OracleDisposition(Record):
    """What the evaluator says about one oracle (§16.1)."""

    oracle_id: OracleId
    disposition: OracleVerdict
    observation_ids: tuple[Identifier, ...]
    note: str | None


class DefectFinding(Record, tag_field="findingType", tag="defect"):
    """A defect the evaluator reports, quoted from observations (§16.2)."""

    finding_type: ClassVar[Literal["defect"]] = "defect"
    finding_id: FindingId
    oracle_id: OracleId | None
    probe_id: ProbeId
    behavior_id: BehaviorId | None
    severity: Severity
    summary: Text
    confidence: Fraction
    observation_ids: Annotated[tuple[Identifier, ...], Meta(min_length=1)]
    evidence_artifacts: tuple[ArtifactReference, ...]
    quoted_evidence: Annotated[tuple[QuotedEvidence, ...], Meta(min_length=1)]


class _PlainFinding(Record):
    finding_type: ClassVar[Literal["observation", "confirmation"]]
    finding_id: FindingId
    oracle_id: OracleId | None
    probe_id: ProbeId
    behavior_id: BehaviorId | None
    severity: Severity
    summary: Text
    confidence: Fraction
    observation_ids: tuple[Identifier, ...]
    evidence_artifacts: tuple[ArtifactReference, ...]


class ObservationFinding(_PlainFinding, tag_field="findingType", tag="observation"):
    """Something noticed, without a claim of a defect (§16.2)."""

    finding_type: ClassVar[Literal["observation", "confirmation"]] = "observation"


class ConfirmationFinding(_PlainFinding, tag_field="findingType", tag="confirmation"):
    """A behaviour seen to hold (§16.2)."""

    finding_type: ClassVar[Literal["observation", "confirmation"]] = "confirmation"


Finding: TypeAlias = DefectFinding | ObservationFinding | ConfirmationFinding


class ObservedCallInputs(Record):
    """What one call sent, by channel; None where nothing was sent (§16.5)."""

    path: JsonObject | None
    query: JsonObject | None
    header: JsonObject | None
    body: JsonObject | None
    body_encoding: Literal["raw"] | UnsetType | None = UNSET
    argument: JsonObject | None
    option: JsonObject | None
    environment: JsonObject | None
    stdin: JsonObject | None
    arguments: JsonObject | None


class Observation(Record):
    """One call as it was observed; `sequence` is the total order (§16.4)."""

    observation_id: Identifier
    sequence: Positive
    interface_id: Identifier
    operation_id: Identifier
    provenance: Literal["baseline", "evaluator-chosen"]
    principal: Identifier | None
    call_inputs: ObservedCallInputs
    response_body: JsonValue
    response_headers: JsonObject | None
    response_status: Count | None
    stdout: ProbeObservedBody
    stderr: ProbeObservedBody
    exit_code: Int | None
    artifacts: Mapping[Identifier, ProbeObservedBody]

    def __post_init__(self) -> None:
        freeze_maps(self, "artifacts")


class JudgeResult(Record):
    """One criterion's score; None is the judge-error shape (§16.6)."""

    rubric_id: RubricId
    criterion_id: RubricCriterionId
    score: Int | None
    note: str | None


class EvidenceDisclosure(Record):
    """How complete the evidence is (§16.7)."""

    truncation_bound: Count | None
    reported_incomplete: bool


class SealedRunRecord(Artifact):
    """One trial (§16)."""

    REFINED: ClassVar[tuple[str, ...]] = ("observations",)

    run_id: Text
    condition_arm: Text
    mode: RunMode
    trial_index: Positive
    contract_digest: Digest
    sealed_brief_digest: Digest
    evaluator_configuration_digest: Digest
    evaluator_recommendation: EvaluatorRecommendation
    oracle_dispositions: tuple[OracleDisposition, ...]
    findings: tuple[Finding, ...]
    observations: tuple[Observation, ...]
    judge_results: tuple[JudgeResult, ...]
    actions_artifact: ArtifactReference
    isolation_manifest_artifact: ArtifactReference
    resource_use: ResourceUse
    evidence_disclosure: EvidenceDisclosure

    def __post_init__(self) -> None:
        if len({observation.sequence for observation in self.observations}) != len(self.observations):
            raise ValueError(REPEATED_SEQUENCE)
        absent = self.schema_version == STAMP_WITHOUT_BODY_ENCODING
        if any((observation.call_inputs.body_encoding is UNSET) != absent for observation in self.observations):
            raise ValueError("bodyEncoding is absent in a record stamped 7 and present in any other")

    @classmethod
    def refine(cls, value: Mapping[str, Any]) -> tuple[Problem, ...]:
        """Pairwise distinct sequence numbers (§27.1)."""
        sequences = [observation["sequence"] for observation in value["observations"]]
        if len(set(sequences)) == len(sequences):
            return ()
        return (Problem(("observations",), "custom", REPEATED_SEQUENCE),)

    @classmethod
    def structure(cls, value: Mapping[str, Any]) -> Iterable[Problem]:
        """Where `bodyEncoding` is missing or should not be (§16.5); `value` may be wrong in any other way."""
        absent = value.get("schemaVersion") == STAMP_WITHOUT_BODY_ENCODING
        observations = value.get("observations")
        for index, observation in enumerate(observations if is_array(observations) else ()):
            inputs = observation.get("callInputs") if is_object(observation) else None
            if not is_object(inputs) or ("bodyEncoding" in inputs) != absent:
                continue
            path = ("observations", index, "callInputs")
            if absent:
                yield Problem(path, "unrecognized_keys", 'Unrecognized key: "bodyEncoding"')
            else:
                yield Problem((*path, "bodyEncoding"), "invalid_type", "is required")
