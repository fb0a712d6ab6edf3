"""The planted fault every probe example starts from, and what a desk that carries it answers.

The fault: tracking a parcel loses its sender. It fires on one request, parcel `p-9`, and on no other.
"""

from typing import Any, Final

from eval_quality.model.primitives import INPUT_CHANNELS
from eval_quality.model.stamp import PROBE_SCHEMA_VERSION

_EVIDENCE: Final = {
    "storage": "public",
    "path": "evidence/run.json",
    "privateRef": None,
    "digest": "sha256:" + "1" * 64,
}


def base_probe() -> dict[str, Any]:
    """A fresh copy of the base probe, qualified, as a plain JSON value."""
    lost_sender = {
        "op": "equality",
        "operands": [{"pointer": "/interactions/observed/response-body/sender"}, {"literal": ""}],
    }
    return {
        "schemaVersion": PROBE_SCHEMA_VERSION,
        "parentDigest": None,
        "revisionCount": 0,
        "probeId": "P-001",
        "probeClass": "defect",
        "behaviorId": "B-001",
        "systemId": "parcel-desk",
        "implementationDigest": "sha256:" + "2" * 64,
        "artifactDigest": "sha256:" + "3" * 64,
        "commitDigest": "sha256:" + "4" * 64,
        "rationale": "An evaluation that never compares the sender would not notice.",
        "qualification": {
            "route": "controlled-mutation",
            "mutationSource": "the tracking handler",
            "mutationOperator": "assignment removed",
            "targetArtifact": dict(_EVIDENCE),
            "expectedObservableFailure": "the sender of a tracked parcel is empty",
            "baselinePassEvidence": dict(_EVIDENCE),
            "mutatedFailEvidence": dict(_EVIDENCE),
            "rollbackVerified": True,
        },
        "expectedClean": False,
        "defects": [
            {
                "defectId": "D-001",
                "behaviorId": "B-001",
                "summary": "the sender is lost",
                "severity": "material",
                "oracleEvidence": [],
                "source": "controlled-mutation",
                "manifestationWitness": {
                    "legId": "lost-sender",
                    "interfaceId": "parcel-desk",
                    "operationId": "track-parcel",
                    "inputs": {"path": {"id": "p-9"}, "query": {}, "header": {}, "body": {"kind": "absent"}},
                    "relation": {
                        "op": "equality",
                        "operands": [{"pointer": "/interactions/lost-sender/response-body/sender"}, {"literal": ""}],
                    },
                },
            }
        ],
        "defectSignature": {
            "interfaceKind": "api",
            "method": "GET",
            "pathTemplate": "/parcels/{id}",
            "observableChannel": "response-body",
            "condition": {
                "selector": {"inputBinding": {**dict.fromkeys(INPUT_CHANNELS), "path": {"id": {"literal": "p-9"}}}},
                "predicate": lost_sender,
            },
        },
    }


def base_observations() -> list[dict[str, Any]]:
    """What a desk that carries the fault answers to the seven pre-flight legs of the base contract and probe."""
    register, track = "register-parcel", "track-parcel"
    return [
        _answer("leg-light", register, {"parcelId": "p-1", "status": "registered"}),
        _answer("leg-heavy", register, {"parcelId": "p-2", "status": "registered"}),
        _answer("leg-first", track, {"parcelId": "p-1", "sender": "depot", "events": []}),
        _answer("leg-second", track, {"parcelId": "p-2", "sender": "depot", "events": []}),
        _answer("preflight-control-observe", track, {"parcelId": "p-1", "sender": "depot", "events": []}),
        _answer("preflight-control-observe-2", track, {"parcelId": "p-1", "sender": "depot", "events": []}),
        _answer("lost-sender", track, {"parcelId": "p-9", "sender": "", "events": []}),
    ]


def _answer(leg_id: str, operation_id: str, body: dict[str, Any]) -> dict[str, Any]:
    return {
        "probeId": leg_id,
        "interfaceId": "parcel-desk",
        "operationId": operation_id,
        "kind": "api",
        "status": 200,
        "headers": {},
        "body": {"kind": "json", "value": body},
    }
