"""From a draft to a Probe artifact (spec 12 §12.11.5).

What the author wrote is copied; what only a run can know comes from the qualification cycle: digests of the arm, the
readings as evidence, and whether the roll-back was verified.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from eval_quality.model.decode import to_value
from eval_quality.run.arm import Arm
from eval_quality.run.experiment.corpus import arm_of
from eval_quality.run.experiment.document import ProbeDraft
from eval_quality.value.digest import digest_bytes

NO_READING = b""
"""Stands for a reading that was not taken yet: planning needs a probe before anything ran."""


class Facts(NamedTuple):
    """What minting needs besides the draft and its arm.

    readings: phase -> canonical bytes. target: the reference to what the mutation changed.
    """

    experiment_id: str
    system_id: str
    revision: str
    clean_tree_digest: str
    readings: Mapping[str, bytes]
    rollback_verified: bool
    target: Mapping[str, Any] | None


def mint(draft: ProbeDraft, arm: Arm, facts: Facts) -> dict[str, Any]:
    """The probe as a plain value."""
    revision = digest_bytes(facts.revision.encode() or facts.clean_tree_digest.encode())
    clean = arm_of(draft)[0] == "clean"
    probe: dict[str, Any] = {
        "schemaVersion": 6,
        "parentDigest": None,
        "revisionCount": 0,
        "probeId": draft.probe_id,
        "probeClass": draft.class_,
        "behaviorId": draft.behavior_id,
        "systemId": facts.system_id,
        "implementationDigest": arm.digest,
        "artifactDigest": arm.change_digest,
        "commitDigest": revision,
        "rationale": draft.rationale,
        "qualification": _qualification(draft, arm, facts, revision),
        "expectedClean": clean,
        "defects": [] if clean else _defects(draft, facts),
    }
    if not clean:
        probe["defectSignature"] = None if draft.signature is None else to_value(draft.signature)
    return probe


def reading_path(probe_id: str, phase: str) -> str:
    """Where a reading stands in the run directory."""
    return f"qualification/{probe_id}/{phase}.json"


def reading_reference(draft: ProbeDraft, facts: Facts, phase: str) -> dict[str, Any]:
    """The public reference to one reading."""
    return {
        "storage": "public",
        "path": reading_path(draft.probe_id, phase),
        "privateRef": None,
        "digest": digest_bytes(facts.readings.get(phase, NO_READING)),
    }


def _defects(draft: ProbeDraft, facts: Facts) -> list[dict[str, Any]]:
    return [
        {
            "defectId": defect.defect_id,
            "behaviorId": defect.behavior_id or draft.behavior_id,
            "summary": defect.summary,
            "severity": defect.severity,
            "oracleEvidence": [reading_reference(draft, facts, "mutated")],
            "source": "controlled-mutation",
            "manifestationWitness": None
            if defect.manifestation_witness is None
            else to_value(defect.manifestation_witness),
        }
        for defect in draft.defects
    ]


def _qualification(draft: ProbeDraft, arm: Arm, facts: Facts, revision: str) -> dict[str, Any]:
    def reading(phase: str) -> dict[str, Any]:
        return reading_reference(draft, facts, phase)

    if draft.class_ == "canary":
        return {"route": "canary", "indicts": draft.indicts, "nonDetectionEvidence": reading("silent")}
    if arm.reply is not None:
        return {
            "route": "gameability",
            "degenerateResponse": draft.degenerate_response,
            "naiveOracleSatisfiedEvidence": reading("naive"),
            "disciplinedOracleRejectedEvidence": reading("disciplined"),
        }
    if arm.mutation is not None:
        return {
            "route": "controlled-mutation",
            "mutationSource": f"{facts.experiment_id}/{arm.mutation.id}",
            "mutationOperator": arm.mutation.operator or arm.mutation.kind,
            "targetArtifact": dict(facts.target or {}),
            "expectedObservableFailure": draft.expected_failure,
            "baselinePassEvidence": reading("clean-before"),
            "mutatedFailEvidence": reading("mutated"),
            "rollbackVerified": facts.rollback_verified,
        }
    return {
        "route": "clean-control",
        "baselinePassEvidence": reading("control"),
        "revisionCommitDigest": revision,
        "noKnownDefectStatement": draft.no_known_defect,
    }
