"""Version stamps: what this build reads and writes, and the check every reader makes first (spec 02 §4.3, §29.1).

The check looks at the raw value before its shape. It is silent when `schemaVersion` is absent or no number: the shape
check reports that.
"""

from typing import Any, Final

from eval_quality.errors import RuntimeFault
from eval_quality.model.record import Record
from eval_quality.value.kind import is_object
from eval_quality.value.text import js_number

EVAL_CONTRACT_SCHEMA_VERSION: Final = 7
RUBRIC_SCHEMA_VERSION: Final = 1
SEALED_EVALUATOR_BRIEF_SCHEMA_VERSION: Final = 2
SEALED_RUN_RECORD_SCHEMA_VERSION: Final = 8
ISOLATION_MANIFEST_SCHEMA_VERSION: Final = 1
EVALUATOR_CONFIGURATION_SCHEMA_VERSION: Final = 1
PROBE_SCHEMA_VERSION: Final = 6
PRIVATE_ARTIFACT_MANIFEST_SCHEMA_VERSION: Final = 1
PREFLIGHT_VERDICT_SCHEMA_VERSION: Final = 2
SCORING_POLICY_SCHEMA_VERSION: Final = 2
EVIDENCE_ARTIFACT_SCHEMA_VERSION: Final = 4
STRENGTH_AGGREGATE_SCHEMA_VERSION: Final = 1

NATIVE_SCHEMA_VERSIONS: Final[dict[str, tuple[int, ...]]] = {
    "eval-contract": (EVAL_CONTRACT_SCHEMA_VERSION,),
    "rubric": (RUBRIC_SCHEMA_VERSION,),
    "sealed-evaluator-brief": (SEALED_EVALUATOR_BRIEF_SCHEMA_VERSION,),
    "sealed-run-record": (7, SEALED_RUN_RECORD_SCHEMA_VERSION),
    "isolation-manifest": (ISOLATION_MANIFEST_SCHEMA_VERSION,),
    "evaluator-configuration": (EVALUATOR_CONFIGURATION_SCHEMA_VERSION,),
    "probe": (PROBE_SCHEMA_VERSION,),
    "private-artifact-manifest": (PRIVATE_ARTIFACT_MANIFEST_SCHEMA_VERSION,),
    "preflight-verdict": (PREFLIGHT_VERDICT_SCHEMA_VERSION,),
    "scoring-policy": (SCORING_POLICY_SCHEMA_VERSION,),
    "evidence-artifact": (EVIDENCE_ARTIFACT_SCHEMA_VERSION,),
    "strength-aggregate": (STRENGTH_AGGREGATE_SCHEMA_VERSION,),
}
"""Registry key -> the stamps read natively. The last one is the stamp written."""

MIGRATABLE_SCHEMA_VERSIONS: Final[dict[str, tuple[int, ...]]] = {
    "eval-contract": (4, 5, 6),
    "probe": (4, 5),
    "sealed-run-record": (5, 6),
}
"""Registry key -> older stamps that `migrate` converts (§29.3)."""

_CONSEQUENCE: Final = {
    "eval-contract": "its plan steps, sibling groups and bindings mean something else under another stamp",
    "rubric": "its criteria are read under one shape only",
    "sealed-evaluator-brief": "a brief is derived; seal the contract again",
    "sealed-run-record": "what its observations were sent, and in which order, is recorded differently there",
    "isolation-manifest": "what was withheld and allowed is accounted for under one shape only",
    "evaluator-configuration": "trials share its digest, so it is read under one shape only",
    "probe": (
        "the qualification record every probe carries, and the witness legs, the defect-signature grammar and the raw "
        "HTTP body bytes of seeded ones, mean something else under another stamp"
    ),
    "private-artifact-manifest": "its entries are compared with resolved bytes under one shape only",
    "preflight-verdict": "a verdict is derived; reduce the observations again",
    "scoring-policy": "a missing threshold is a person's choice, so none is assumed",
    "evidence-artifact": "evidence is derived; score the record again",
    "strength-aggregate": "an aggregate is derived; aggregate again",
}


def check_stamp(registry_key: str, value: Any, artifact_path: str) -> None:
    """Refuse a document stamped with a number outside the native set of its kind.

    `value` is a plain value or a record. Raises `schema-version-mismatch` at `<artifact_path>.schemaVersion`; pass
    the path of the artifact itself (`EvalContract`, `Probe[probeId=P-001]`, ...).
    """
    stamp = stamp_of(value)
    native = NATIVE_SCHEMA_VERSIONS[registry_key]
    if stamp is None or stamp in native:
        return
    accepted = " or ".join(str(number) for number in native)
    detail = (
        f'carries "schemaVersion" {js_number(stamp)} where this build reads {accepted}; {_CONSEQUENCE[registry_key]}'
    )
    if stamp in MIGRATABLE_SCHEMA_VERSIONS.get(registry_key, ()):
        detail += "; run migrate to convert it"
    raise RuntimeFault("schema-version-mismatch", f"{artifact_path}.schemaVersion", detail)


def stamp_of(value: Any) -> int | float | None:
    """The number a document is stamped with, or None where it carries no number."""
    return _number(_member(value, "schemaVersion", "schema_version"))


def probe_path(value: Any) -> str:
    """`Probe[probeId=<id>]`, or `Probe` for a document without a string there (spec 10 §7.6)."""
    found = _member(value, "probeId", "probe_id")
    return f"Probe[probeId={found}]" if isinstance(found, str) else "Probe"


def record_path(value: Any, index: int) -> str:
    """`SealedRunRecord[trialIndex=<n>]`, or `[index=<i>]` for a document without a number there (spec 10 §7.6)."""
    found = _number(_member(value, "trialIndex", "trial_index"))
    return f"SealedRunRecord[index={index}]" if found is None else f"SealedRunRecord[trialIndex={js_number(found)}]"


def _member(value: Any, wire: str, attribute: str) -> Any:
    if isinstance(value, Record):
        return getattr(value, attribute, None)
    return value.get(wire) if is_object(value) else None


def _number(found: Any) -> int | float | None:
    return found if isinstance(found, int | float) and not isinstance(found, bool) else None
