"""The scoring policy, and the published default that nothing applies implicitly (spec 02 §20)."""

from typing import Final

from eval_quality.model.lineage import Artifact
from eval_quality.model.primitives import Count, Fraction, Identifier, Positive, Severity


class ScoringPolicy(Artifact):
    """Thresholds and caps of scoring."""

    policy_id: Identifier
    severity_floor: Severity
    confidence_threshold: Fraction
    catch_threshold: Fraction
    minimum_trial_count: Positive
    re_execution_cap: Count
    remediation_cap: Count
    regex_match_step_budget: Positive


DEFAULT_SCORING_POLICY: Final = ScoringPolicy(
    schema_version=2,
    parent_digest=None,
    revision_count=0,
    policy_id="default-policy",
    severity_floor="material",
    confidence_threshold=0.7,
    catch_threshold=0.5,
    minimum_trial_count=3,
    re_execution_cap=2,
    remediation_cap=3,
    regex_match_step_budget=1_000_000,
)
"""The default policy; its artifact digest is printed in spec 02 §20."""
