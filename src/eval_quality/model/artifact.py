"""The evidence artifact: what scoring one probe found (spec 02 §21).

A tagged union on `mode`; the recorded scoring-version inputs carry the mode of their branch. Consistency between votes
and reductions is recomputed by consumers, never by the shape (§21.11).
"""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

from msgspec import Meta, field

from eval_quality.model.evidence import QuotedEvidence
from eval_quality.model.expression import CheckResolution
from eval_quality.model.lineage import Artifact
from eval_quality.model.primitives import (
    Basis,
    Count,
    Digest,
    EvaluatorRecommendation,
    FindingId,
    Fraction,
    Identifier,
    Int,
    OracleId,
    OracleVerdict,
    OutcomeState,
    Positive,
    ProbeId,
    RunMode,
    ScoringVersionInputName,
    Severity,
    Text,
    Verdict,
)
from eval_quality.model.record import Record


class ScoringVersionInputs(Record):
    """The six inputs whose digest is the scoring version (§21.3)."""

    contract_schema_version: Positive
    corpus_digest: Digest
    fixture_digest: Digest
    evaluator_configuration_digest: Digest
    scoring_policy_digest: Digest
    mode: RunMode


class ProductionInputs(ScoringVersionInputs):
    """The inputs inside a production artifact."""

    mode: Literal["production"]  # pyright: ignore[reportIncompatibleVariableOverride]


class ContractScoringInputs(ScoringVersionInputs):
    """The inputs inside a contract-scoring artifact."""

    mode: Literal["contract-scoring"]  # pyright: ignore[reportIncompatibleVariableOverride]


class InvalidatedAttempt(Record):
    """An attempt that does not count, and why."""

    attempt: Positive
    reason: Text


class Trials(Record):
    """How many trials were asked for and which completed (§21.4)."""

    declared_minimum: Positive
    completed: Count
    completed_attempts: tuple[Positive, ...]
    invalidated_attempts: tuple[InvalidatedAttempt, ...]


class TrialOutcome(Record):
    """One oracle's outcome in one trial (§21.5)."""

    oracle_id: OracleId
    probe_id: ProbeId | None
    state: OutcomeState
    severity: Severity
    disposition: OracleVerdict
    resolved_from: FindingId | None
    corroboration: Literal["agrees", "disagrees", "not-evaluable"]
    selected_observation_ids: tuple[Identifier, ...]
    check_resolution: CheckResolution | None
    trial_index: Positive


class TrialVote(Record):
    """The one state a trial contributes to a reduction."""

    trial_index: Positive
    state: OutcomeState


class ReducedProbeOutcome(Record):
    """All trials of one probe, reduced (§21.6)."""

    probe_id: ProbeId
    severity: Severity
    exercised: bool
    caught: bool
    catch_threshold: Fraction
    trial_votes: tuple[TrialVote, ...]
    valid_count: Count
    caught_count: Count
    invalidated_attempts: tuple[InvalidatedAttempt, ...]


class CoverageGap(Record):
    """One discipline rule and whether the contract satisfies it (§21.7)."""

    rule: Text
    relevance_predicate: Text
    satisfaction_predicate: Text
    satisfied: bool
    severity: Severity


class UncitedFindingGap(Record):
    """A finding that no oracle stands behind (§21.8)."""

    finding_id: FindingId
    observation_ids: Annotated[tuple[Identifier, ...], Meta(min_length=1)]
    quoted_evidence: Annotated[tuple[QuotedEvidence, ...], Meta(min_length=1)]
    severity: Severity


class ClassStrength(Record):
    """Caught out of exercised; `rate` is None exactly when nothing was exercised (§21.9)."""

    caught: Count
    exercised: Count
    rate: Fraction | None


class StrengthVector(Record):
    """Strength by probe class; no other class has a key (§21.9)."""

    defect: ClassStrength | None
    gameability: ClassStrength | None
    zero_action: ClassStrength | None = field(name="zero-action")


class Strength(Record):
    """What was measured, over which denominator (§21.9)."""

    denominator: Text
    basis: Basis
    vector: StrengthVector
    comparable: bool
    note: str | None


class LineageChain(Record):
    """What the caller attests about the chain of revisions (§21.10)."""

    length_consistent: bool
    no_repeated_digest: bool
    no_gap: bool


class Remediation(Record):
    """How often the contract was revised, against the cap (§21.10)."""

    revision_count: Count
    cap: Count
    cap_source: Literal["caller-attested"]
    lineage_chain: LineageChain


class EvidenceArtifact(Artifact):
    """What both modes have (§21.1). Decoding gives a `ProductionEvidence` or a `ContractScoringEvidence`."""

    BRANCH_KEY: ClassVar[str | None] = "mode"

    run_id: Text
    scored_probe_id: ProbeId | None
    scoring_version: Digest
    scoring_version_inputs: ScoringVersionInputs
    comparability_key: Digest
    excluded_probe_ids: tuple[ProbeId, ...]
    exit_code: Int
    verdict_basis: tuple[Text, ...]
    caller_attested_inputs: tuple[ScoringVersionInputName, ...]
    trials: Trials
    outcomes: tuple[TrialOutcome, ...]
    reduced_probe_outcomes: tuple[ReducedProbeOutcome, ...]
    uncited_findings: tuple[FindingId, ...]
    coverage_gaps: tuple[CoverageGap, ...]
    strength: Strength
    remediation: Remediation
    mode: ClassVar[RunMode]

    @classmethod
    def branches(cls) -> Mapping[Any, type[Record]]:
        """The shape for each mode."""
        return {"production": ProductionEvidence, "contract-scoring": ContractScoringEvidence}


class ProductionEvidence(EvidenceArtifact, tag_field="mode", tag="production"):
    """A judgment of the system (§21.2)."""

    BRANCH_KEY: ClassVar[str | None] = None

    scoring_version_inputs: ProductionInputs  # pyright: ignore[reportIncompatibleVariableOverride]
    mode: ClassVar[RunMode] = "production"
    production_verdict: Verdict


class ContractScoringEvidence(EvidenceArtifact, tag_field="mode", tag="contract-scoring"):
    """A judgment of the contract (§21.2)."""

    BRANCH_KEY: ClassVar[str | None] = None

    scoring_version_inputs: ContractScoringInputs  # pyright: ignore[reportIncompatibleVariableOverride]
    mode: ClassVar[RunMode] = "contract-scoring"
    contract_verdict: Verdict
    uncited_finding_gaps: tuple[UncitedFindingGap, ...]
    system_recommendation_recorded: EvaluatorRecommendation
    system_recommendation_note: str | None
