"""The thirteen published artifacts: registry key, schema name, record class (spec 02 §4.1)."""

from importlib import import_module
from typing import Any, Final

from eval_quality.model.decode import decode
from eval_quality.model.stamp import check_stamp

_RECORDS: Final = {
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

INTERCHANGE_ARTIFACT_KEYS: Final = tuple(_RECORDS)
"""The registry keys, in their normative order."""


def schema_name(registry_key: str) -> str:
    """The schema name of a registry key; it is also the artifact path of its faults."""
    return _RECORDS[registry_key][1]


def kind_of(registry_key: str) -> Any:
    """The record class (for `artifact-reference` the union) of a registry key; imports its module."""
    module, name = _RECORDS[registry_key]
    return getattr(import_module(f"eval_quality.model.{module}"), name)


def read(registry_key: str, value: Any, artifact_path: str | None = None) -> Any:
    """The record of a document: its stamp is checked first, then its shape (spec 02 §4.3).

    Both faults are raised at `artifact_path`, by default the schema name, the stamp's at its `.schemaVersion`.
    """
    path = artifact_path or schema_name(registry_key)
    if registry_key != "artifact-reference":
        check_stamp(registry_key, value, path)
    return decode(kind_of(registry_key), value, path)
