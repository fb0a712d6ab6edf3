"""The contract every example starts from: a parcel desk, complete and without a coverage gap.

Two operations, four plan steps, five oracles, one rubric, one waiver, one reference set. Each entry of the catalogue
and each document of `examples/corpus` is this contract with a few members changed.
"""

from typing import Any, Final

from eval_quality.model.primitives import FORBIDDEN_INPUTS
from eval_quality.model.stamp import EVAL_CONTRACT_SCHEMA_VERSION

_KEYLESS: Final[dict[str, Any]] = {"requiredKeys": [], "permittedKeys": [], "types": {}}


def _keys(required: dict[str, str], permitted: dict[str, str] | None = None) -> dict[str, Any]:
    permitted = permitted or {}
    return {"requiredKeys": [*required], "permittedKeys": [*permitted], "types": {**required, **permitted}}


def _pointer(step: str, rest: str) -> dict[str, Any]:
    return {"pointer": f"/interactions/{step}/{rest}"}


def _equality(one: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    return {"op": "equality", "operands": [one, other]}


def _existence(step: str, rest: str) -> dict[str, Any]:
    return {"op": "existence", "operands": [_pointer(step, rest)]}


def _oracle(number: int, targets: list[str], check: dict[str, Any], scope: str) -> dict[str, Any]:
    return {
        "id": f"O-{number:03}",
        "direction": {
            "evidenceTargets": [f"/interactions/{target}" for target in targets],
            "relation": check["op"],
            "polarity": "expects-hold",
            "scope": scope,
            "negativeDomain": None,
        },
        "check": check,
        "polarity": "expects-hold",
        "commentary": None,
    }


def _step(step_id: str, operation_id: str, after: str | None, **channels: Any) -> dict[str, Any]:
    return {
        "stepId": step_id,
        "interfaceId": "parcel-desk",
        "operationId": operation_id,
        "inputBinding": {"path": None, "query": None, "header": None, "body": None, **channels},
        "after": after,
        "cardinality": "exactly-one",
    }


def _leg(leg_id: str, path: dict[str, Any], body: dict[str, Any] | None) -> dict[str, Any]:
    sent = {"kind": "absent"} if body is None else {"kind": "json", "value": body}
    return {"legId": leg_id, "inputs": {"path": path, "query": {}, "header": {}, "body": sent}}


def _register() -> dict[str, Any]:
    return {
        "operationId": "register-parcel",
        "method": "POST",
        "pathTemplate": "/parcels",
        "stateChangeMarker": True,
        "requestShape": {
            "path": _KEYLESS,
            "query": _KEYLESS,
            "header": _KEYLESS,
            "body": _keys({"weight": "number", "sender": "string"}, {"note": "string"}),
        },
        "responseDescriptor": {
            **_keys({"parcelId": "string", "status": "string"}),
            "successIndicator": "/status",
            "channelRoles": {"/status": "success-indicator", "/parcelId": "payload"},
            "collectionLocations": [],
        },
        "volatilePointers": [],
        "sensitivityWitness": {
            "witnessId": "weight-decides-the-parcel",
            "channel": "body",
            "legs": [
                _leg("leg-light", {}, {"weight": 1, "sender": "depot"}),
                _leg("leg-heavy", {}, {"weight": 30, "sender": "depot"}),
            ],
            "relation": {
                "op": "not",
                "operands": [
                    _equality(
                        _pointer("leg-light", "response-body/parcelId"), _pointer("leg-heavy", "response-body/parcelId")
                    )
                ],
            },
        },
    }


def _track() -> dict[str, Any]:
    return {
        "operationId": "track-parcel",
        "method": "GET",
        "pathTemplate": "/parcels/{id}",
        "stateChangeMarker": False,
        "requestShape": {"path": _keys({"id": "string"}), "query": _KEYLESS, "header": _KEYLESS, "body": _KEYLESS},
        "responseDescriptor": {
            **_keys({"parcelId": "string", "sender": "string", "events": "array"}),
            "successIndicator": "",
            "channelRoles": {},
            "collectionLocations": [
                {
                    "pointer": "/events",
                    "expectedCardinality": {"mode": "at-most", "max": 20},
                    "referenceSet": "event-kinds",
                }
            ],
        },
        "volatilePointers": ["/events/*/at"],
        "sensitivityWitness": {
            "witnessId": "id-decides-the-parcel",
            "channel": "path",
            "legs": [_leg("leg-first", {"id": "p-1"}, None), _leg("leg-second", {"id": "p-2"}, None)],
            "relation": {
                "op": "not",
                "operands": [
                    _equality(
                        _pointer("leg-first", "response-body/parcelId"),
                        _pointer("leg-second", "response-body/parcelId"),
                    )
                ],
            },
        },
    }


def _oracles() -> list[dict[str, Any]]:
    known_events = {
        "op": "for-all",
        "collection": _pointer("track", "response-body/events"),
        "predicate": {"op": "set-membership", "operands": [{"pointer": "@/kind"}, {"referenceSet": "event-kinds"}]},
    }
    return [
        _oracle(
            1,
            ["register/call-inputs/body/sender", "track/response-body/sender"],
            _equality(_pointer("register", "call-inputs/body/sender"), _pointer("track", "response-body/sender")),
            "the parcel just registered",
        ),
        _oracle(
            2,
            ["register/response-body/status", "register/response-body/parcelId"],
            {
                "op": "all",
                "operands": [
                    _equality(_pointer("register", "response-body/status"), {"literal": "registered"}),
                    _existence("register", "response-body/parcelId"),
                ],
            },
            "a parcel with a weight and a sender",
        ),
        _oracle(
            3,
            ["track/response-body/parcelId", "track/response-body/sender", "track/response-body/events"],
            {
                "op": "all",
                "operands": [
                    _existence("track", "response-body/parcelId"),
                    _existence("track", "response-body/sender"),
                    known_events,
                ],
            },
            "every recorded event of the parcel",
        ),
        _oracle(
            4,
            ["register-malformed/response-status"],
            _equality(_pointer("register-malformed", "response-status"), {"literal": 400}),
            "a weight that is no number",
        ),
        _oracle(
            5,
            ["track-malformed/response-status"],
            _equality(_pointer("track-malformed", "response-status"), {"literal": 400}),
            "an id that is no text",
        ),
    ]


def base_contract() -> dict[str, Any]:
    """A fresh copy of the base contract, as a plain JSON value."""
    type_violating = {"matcher": "type-violating"}
    return {
        "schemaVersion": EVAL_CONTRACT_SCHEMA_VERSION,
        "parentDigest": None,
        "revisionCount": 0,
        "contractId": "parcel-desk",
        "sourceSpecDigest": None,
        "behaviors": [
            {
                "id": "B-001",
                "description": "A registered parcel can be tracked with what was registered.",
                "severity": "material",
                "observableSuccessCriterion": "Tracking shows the sender that was registered.",
                "requirementLinks": [{"scheme": "ticket", "id": "DESK-7"}],
                "riskLinks": [],
                "oracles": ["O-001", "O-002", "O-003", "O-004", "O-005"],
            }
        ],
        "oracles": _oracles(),
        "rubrics": [
            {
                "id": "R-001",
                "scaleLevels": [
                    {"level": 0, "anchor": "no event is named"},
                    {"level": 1, "anchor": "each event is named"},
                ],
                "failureModePenalties": [
                    {"name": "invented event", "description": "An event that was never recorded."}
                ],
                "maxLength": 400,
                "criteria": [
                    {
                        "id": "RC-001",
                        "text": "Does the answer name every event?",
                        "evidence": "/interactions/track/response-body/events",
                    }
                ],
            }
        ],
        "waivers": [
            {
                "id": "W-001",
                "rule": "per-record",
                "rationale": "Parcels of the trial desk have one event.",
                "condition": None,
                "approval": "desk owner",
                "expiresAt": "2030-01-01T00:00:00Z",
            }
        ],
        "permittedInterfaces": [{"logicalId": "parcel-desk", "kind": "api", "operations": [_register(), _track()]}],
        "referenceSets": {
            "event-kinds": {"keys": ["kind"], "members": [{"kind": "received"}, {"kind": "sorted"}], "commentary": None}
        },
        "siblingGroups": {
            "operations": [
                [
                    {"interfaceId": "parcel-desk", "operationId": "register-parcel"},
                    {"interfaceId": "parcel-desk", "operationId": "track-parcel"},
                ]
            ],
            "parameters": [],
        },
        "interactionPlan": [
            _step("register", "register-parcel", None, body={"weight": {"literal": 2}, "sender": {"literal": "depot"}}),
            _step(
                "track",
                "track-parcel",
                "register",
                path={"id": {"captured": "/interactions/register/response-body/parcelId"}},
            ),
            _step("register-malformed", "register-parcel", None, body={"weight": type_violating}),
            _step("track-malformed", "track-parcel", None, path={"id": type_violating}),
        ],
        "scopedResources": None,
        "forbiddenInputs": [*FORBIDDEN_INPUTS],
        "testData": {
            "setup": "an empty desk",
            "cleanup": None,
            "principals": {"clerk": {"kind": "staff"}},
            "resources": None,
        },
        "budgets": {"maxToolCalls": 20, "maxWallClockMinutes": 5, "maxCostUsd": "1.00"},
        "safetyLimits": ["register nothing outside the trial desk"],
        "requiredEvidence": ["responses"],
        "probeStepBound": 2,
        "fixtureReset": None,
    }
