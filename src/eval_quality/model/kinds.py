"""The thirteen published artifacts as plain data: registry key, schema name, and where the record lives (spec 02 §4.1).

Kept apart from the records, so that a command that only needs a name imports none of them.
"""

from typing import Final

RECORDS: Final = {
    "eval-contract": ("contract", "EvalContract"),
    "rubric": ("rubric", "Rubric"),
    "sealed-evaluator-brief": ("brief", "SealedEvaluatorBrief"),
    "sealed-run-record": ("run_record", "SealedRunRecord"),
    "isolation-manifest": ("isolation", "IsolationManifest"),
    "evaluator-configuration": ("configuration", "EvaluatorConfiguration"),
    "probe": ("probe", "Probe"),
    "artifact-reference": ("evidence", "ArtifactReference"),
    "private-artifact-manifest": ("evidence", "PrivateArtifactManifest"),
    "preflight-verdict": ("preflight", "PreflightVerdict"),
    "scoring-policy": ("policy", "ScoringPolicy"),
    "evidence-artifact": ("artifact", "EvidenceArtifact"),
    "strength-aggregate": ("aggregate", "StrengthAggregate"),
}
"""Registry key -> (module of this package, name of the record class and of the schema)."""

INTERCHANGE_ARTIFACT_KEYS: Final = tuple(RECORDS)
"""The registry keys, in their normative order."""
