"""Small contracts, probes and observations for pre-flight tests, in the wire's names."""

from collections.abc import Sequence
from typing import Any

from eval_quality.core.preflight.entry import preflight_from_observations
from eval_quality.core.preflight.plan import PreflightPlan, plan_preflight
from eval_quality.model.contract import EvalContract
from eval_quality.model.decode import decode, decode_list, to_value
from eval_quality.model.probe import Probe
from support.documents import minimal

NO_KEYS: dict[str, Any] = {"requiredKeys": [], "permittedKeys": [], "types": {}}
ABSENT_BODY: dict[str, Any] = {"kind": "absent"}
NO_INPUTS: dict[str, Any] = {"path": {}, "query": {}, "header": {}, "body": ABSENT_BODY}
NO_CLI_INPUTS: dict[str, Any] = {"argument": {}, "option": {}, "environment": {}, "stdin": ABSENT_BODY}

DIFFERENT_BODIES: dict[str, Any] = {"op": "not", "operands": [{"op": "deep-equality", "operands": []}]}


def required(*keys: str) -> dict[str, Any]:
    """A channel that requires some keys."""
    return {"requiredKeys": list(keys), "permittedKeys": list(keys), "types": {}}


def descriptor(collections: Sequence[str] = ()) -> dict[str, Any]:
    """A response descriptor that declares collections only."""
    return {
        **NO_KEYS,
        "successIndicator": None,
        "channelRoles": None,
        "collectionLocations": [
            {"pointer": place, "expectedCardinality": {"mode": "exact", "count": 1}, "referenceSet": None}
            for place in collections
        ],
    }


def api(name: str, *, path: str = "/", changes: bool = False, witness: Any = None, **members: Any) -> dict[str, Any]:
    """An HTTP operation; channels are given as keyword arguments named like them."""
    channels = {name: members.pop(name, NO_KEYS) for name in ("path_keys", "query", "header", "body")}
    return {
        "operationId": name,
        "method": "GET",
        "pathTemplate": path,
        "stateChangeMarker": changes,
        "requestShape": {
            "path": channels["path_keys"],
            "query": channels["query"],
            "header": channels["header"],
            "body": channels["body"],
        },
        "responseDescriptor": descriptor(members.pop("collections", ())),
        "volatilePointers": members.pop("volatile", []),
        "sensitivityWitness": witness,
        **members,
    }


def cli(
    name: str, *, channel: Any = None, changes: bool = False, witness: Any = None, **members: Any
) -> dict[str, Any]:
    """A command operation."""
    return {
        "operationId": name,
        "invocation": {"executable": "tool", "subcommandPath": [name]},
        "stateChangeMarker": changes,
        "requestShape": {
            "argument": members.pop("argument", NO_KEYS),
            "option": NO_KEYS,
            "environment": NO_KEYS,
            "stdin": members.pop("stdin", NO_KEYS),
        },
        "artifacts": ["notes", "other"],
        "descriptorChannel": channel or {"kind": "stream", "channel": "stdout"},
        "responseDescriptor": descriptor(),
        "volatilePointers": members.pop("volatile", []),
        "sensitivityWitness": witness,
        **members,
    }


def mcp(name: str, *, changes: bool = False, witness: Any = None, **members: Any) -> dict[str, Any]:
    """A tool operation."""
    return {
        "operationId": name,
        "toolName": name,
        "stateChangeMarker": changes,
        "requestShape": {"arguments": members.pop("arguments", NO_KEYS)},
        "descriptorChannel": {"kind": "structured-result"},
        "responseDescriptor": descriptor(),
        "volatilePointers": [],
        "sensitivityWitness": witness,
        **members,
    }


def interface(kind: str, logical_id: str, *operations: Any) -> dict[str, Any]:
    return {"logicalId": logical_id, "kind": kind, "operations": list(operations)}


def body_of(leg: str, tail: str = "") -> dict[str, Any]:
    return {"pointer": f"/interactions/{leg}/response-body{tail}"}


def bodies_differ(first: str, second: str) -> dict[str, Any]:
    equal = {"op": "deep-equality", "operands": [body_of(first), body_of(second)]}
    return {"op": "not", "operands": [equal]}


def witness(*legs: tuple[str, Any], relation: Any = None, channel: str = "path") -> dict[str, Any]:
    """A sensitivity witness; by default its two bodies differ."""
    return {
        "witnessId": "w",
        "channel": channel,
        "legs": [{"legId": leg, "inputs": inputs} for leg, inputs in legs],
        "relation": relation or bodies_differ(legs[0][0], legs[1][0]),
    }


def contract(*interfaces: Any, **members: Any) -> dict[str, Any]:
    """A contract with these interfaces and nothing else to say."""
    return {**minimal("eval-contract"), "permittedInterfaces": list(interfaces), "interactionPlan": [], **members}


def step(step_id: str, interface_id: str, operation_id: str) -> dict[str, Any]:
    return {
        "stepId": step_id,
        "interfaceId": interface_id,
        "operationId": operation_id,
        "inputBinding": {"path": None, "query": None, "header": None, "body": None},
        "after": None,
        "cardinality": "any",
    }


def manifestation(leg: str, interface_id: str, operation_id: str, inputs: Any, relation: Any) -> dict[str, Any]:
    return {
        "legId": leg,
        "interfaceId": interface_id,
        "operationId": operation_id,
        "inputs": inputs,
        "relation": relation,
    }


def probe(*manifestations: Any, probe_id: str = "P-001", **members: Any) -> dict[str, Any]:
    """A seeded probe with one defect for each manifestation witness, None included."""
    value = minimal("probe")
    value |= {"expectedClean": False, "probeId": probe_id, "defectSignature": None, **members}
    value["defects"] = [
        {
            "defectId": f"D-{number:03d}",
            "behaviorId": "B-001",
            "summary": "a defect",
            "severity": "low",
            "oracleEvidence": [],
            "source": "natural",
            "manifestationWitness": each,
        }
        for number, each in enumerate(manifestations, start=1)
    ]
    return value


def clean_probe(probe_id: str = "P-009") -> dict[str, Any]:
    value = minimal("probe")
    value.pop("defectSignature", None)
    return {**value, "probeId": probe_id, "expectedClean": True, "defects": []}


def plan_of(value: Any, *probes: Any) -> PreflightPlan:
    return plan_preflight(decode(EvalContract, value, "EvalContract"), decode_list(Probe, list(probes), "Probe"))


def api_answer(leg: str, value: Any = None, **members: Any) -> dict[str, Any]:
    """An HTTP observation: the JSON value given, or whatever `body` says."""
    return {
        "probeId": leg,
        "interfaceId": "shop",
        "operationId": "get-item",
        "kind": "api",
        "status": 200,
        "headers": {},
        "body": {"kind": "json", "value": value},
        **members,
    }


def cli_answer(leg: str, operation: str, **members: Any) -> dict[str, Any]:
    return {
        "probeId": leg,
        "interfaceId": "tool",
        "operationId": operation,
        "kind": "cli",
        "exitCode": 0,
        "stdout": ABSENT_BODY,
        "stderr": ABSENT_BODY,
        "artifacts": {},
        **members,
    }


def mcp_answer(leg: str, operation: str, **members: Any) -> dict[str, Any]:
    return {
        "probeId": leg,
        "interfaceId": "server",
        "operationId": operation,
        "kind": "mcp",
        "isError": False,
        "result": ABSENT_BODY,
        **members,
    }


def verdict_of(value: Any, probes: Sequence[Any], observations: Sequence[Any], run_id: str = "run-1") -> dict[str, Any]:
    """The verdict as plain JSON."""
    verdict = preflight_from_observations(
        contract=value, probes=list(probes), run_id=run_id, observations=list(observations)
    )
    return to_value(verdict)


def results(verdict: dict[str, Any], kind: str) -> list[tuple[str, str | None]]:
    """`(outcome, note)` of every check of a kind."""
    return [(check["outcome"], check["note"]) for check in verdict["checks"] if check["kind"] == kind]
