"""Everything the verdict ladders read, for one run (spec 09 §1).

Lists are in trial order, and within a trial in oracle or recording order. Five members are constants through the
shipped entry point; they are here because the ladders are total over their inputs.
"""

from collections.abc import Sequence
from typing import NamedTuple

from eval_quality.core.ingest.conditions import Condition, Quotation
from eval_quality.core.score.outcome import OracleOutcome
from eval_quality.model.artifact import CoverageGap, Trials, UncitedFindingGap
from eval_quality.model.primitives import Severity


class ScoredOutcome(NamedTuple):
    """One oracle's outcome as the ladders see it; `severity` is the ladder's own (spec 08 §7.1)."""

    oracle_id: str
    required: bool
    severity: Severity
    check_resolved: bool
    outcome: OracleOutcome


class Confidence(NamedTuple):
    """How sure the evaluator was of one finding, of any type."""

    finding_id: str
    confidence: float


class EvidenceFlags(NamedTuple):
    """Evidence states that no shipped path sets (spec 09 §1)."""

    reported_incomplete: bool = False
    over_truncated: bool = False
    unavailable: bool = False
    internally_inconsistent: bool = False


class RemediationState(NamedTuple):
    """The three booleans of a presented lineage chain; scoring presents none (spec 09 §3.8)."""

    length_consistent: bool = True
    no_repeated_digest: bool = True
    no_gap: bool = True


class Assessment(NamedTuple):
    """The ladder inputs of one run."""

    mode: str
    run_id: str
    outcomes: Sequence[ScoredOutcome]
    unwitnessed_quotations: Sequence[Quotation]
    trials: Trials
    re_execution_cap: int
    isolation_violations: Sequence[str]
    conditions: Sequence[Condition]
    """Every ingest condition of every trial; a row reads the kind it is about."""
    disagreements: Sequence[str]
    evaluator_recommendation: str
    coverage_gaps: Sequence[CoverageGap]
    uncited_defect_findings: Sequence[UncitedFindingGap]
    confidences: Sequence[Confidence]
    confidence_threshold: float
    severity_floor: str
    preflight_passed: bool
    evidence: EvidenceFlags = EvidenceFlags()
    remediation: RemediationState = RemediationState()
