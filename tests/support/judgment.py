"""A small command-line chain, built as plain JSON, for the tests of qualification, ingest, scoring and emission.

One agent is asked a case: `O-001` asks whether it named what it must, `O-002` whether it named what it must not. A
builder takes overrides by wire name and returns a fresh value.
"""

from typing import Any

from eval_quality.core.score.entry import RunScoreResult, run_score
from eval_quality.value.digest import digest_value

Json = dict[str, Any]

INPUT_CHANNELS = ("path", "query", "header", "body", "argument", "option", "environment", "stdin", "arguments")
FORBIDDEN = (
    "original-spec",
    "source-code",
    "repository",
    "builder-transcript",
    "implementation-logs",
    "comparator-results",
    "human-labels",
)
LINEAGE: Json = {"parentDigest": None, "revisionCount": 0}


def digest(number: int) -> str:
    """A digest that is easy to tell from another."""
    return f"sha256:{number:064x}"


def public(path: str = "evidence.json") -> Json:
    return {"storage": "public", "path": path, "privateRef": None, "digest": digest(0xE)}


def private(ref: str, of: str) -> Json:
    return {"storage": "private", "path": None, "privateRef": ref, "digest": of}


def pointer(text: str) -> Json:
    return {"pointer": text}


def literal(value: Any) -> Json:
    return {"literal": value}


def equality(left: Json, right: Json) -> Json:
    return {"op": "equality", "operands": [left, right]}


def existence(of: str) -> Json:
    return {"op": "existence", "operands": [pointer(of)]}


def names_any(collection: str, members: list[str]) -> Json:
    """Some element of the collection is one of `members`."""
    predicate = {"op": "set-membership", "operands": [pointer("@/"), literal(members)]}
    return {"op": "for-any", "collection": pointer(collection), "predicate": predicate}


def negation(of: Json) -> Json:
    return {"op": "not", "operands": [of]}


def shape(required: list[str] = [], permitted: list[str] = [], types: Json | None = None) -> Json:  # noqa: B006
    return {"requiredKeys": required, "permittedKeys": permitted or required, "types": types or {}}


def descriptor(**over: Any) -> Json:
    return {
        **shape(["selected"], ["selected", "count"], {"selected": "array", "count": "number"}),
        "successIndicator": "/selected",
        "channelRoles": {"/selected": "collection"},
        "collectionLocations": [],
        **over,
    }


def command(operation_id: str = "run-skill", **over: Any) -> Json:
    return {
        "operationId": operation_id,
        "invocation": {"executable": "agent", "subcommandPath": []},
        "stateChangeMarker": False,
        "requestShape": {
            "argument": shape(),
            "option": shape(["case"], ["case", "level"], {"case": "string", "level": None}),
            "environment": shape(),
            "stdin": shape(["prompt"], ["prompt"], {"prompt": "string"}),
        },
        "artifacts": [],
        "descriptorChannel": {"kind": "stream", "channel": "stdout"},
        "responseDescriptor": descriptor(),
        "volatilePointers": [],
        "sensitivityWitness": None,
        **over,
    }


def http(operation_id: str = "get-note", method: str = "GET", path: str = "/notes/{noteId}", **over: Any) -> Json:
    return {
        "operationId": operation_id,
        "method": method,
        "pathTemplate": path,
        "stateChangeMarker": False,
        "requestShape": {
            "path": shape(["noteId"], ["noteId"], {"noteId": "string"}),
            "query": shape(),
            "header": shape(),
            "body": shape([], ["title"], {"title": "string"}),
        },
        "responseDescriptor": descriptor(**shape(["message"], ["message"], {"message": "string"})),
        "volatilePointers": [],
        "sensitivityWitness": None,
        **over,
    }


def tool(operation_id: str = "call", name: str = "search", **over: Any) -> Json:
    return {
        "operationId": operation_id,
        "toolName": name,
        "stateChangeMarker": False,
        "requestShape": {"arguments": shape(["q"], ["q"], {"q": "string"})},
        "descriptorChannel": {"kind": "structured-result"},
        "responseDescriptor": descriptor(**shape(["message"], ["message"], {"message": "string"})),
        "volatilePointers": [],
        "sensitivityWitness": None,
        **over,
    }


def interface(kind: str = "cli", logical_id: str = "agent", *operations: Json) -> Json:
    return {"logicalId": logical_id, "kind": kind, "operations": list(operations)}


def cli_binding(**channels: Any) -> Json:
    return {"argument": None, "option": None, "environment": None, "stdin": None, **channels}


def step(step_id: str, binding: Json | None = None, **over: Any) -> Json:
    return {
        "stepId": step_id,
        "interfaceId": "agent",
        "operationId": "run-skill",
        "inputBinding": cli_binding() if binding is None else binding,
        "after": None,
        "cardinality": "any",
        **over,
    }


def behavior(number: int, *oracles: str, **over: Any) -> Json:
    return {
        "id": f"B-{number:03}",
        "description": "what the agent selects",
        "severity": "material",
        "observableSuccessCriterion": "the selection",
        "requirementLinks": [{"scheme": "req", "id": f"{number}"}],
        "riskLinks": [],
        "oracles": list(oracles),
        **over,
    }


def oracle(number: int, check: Json | None, **over: Any) -> Json:
    return {
        "id": f"O-{number:03}",
        "direction": None,
        "check": check,
        "polarity": "expects-hold",
        "commentary": None,
        **over,
    }


FRONT = "/interactions/front-case/stdout/selected"

NAMES_FRONT: Json = {"op": "containment", "operands": [pointer(FRONT), literal(["front"])]}
REFUSES_BAD: Json = negation(equality(pointer("/interactions/bad-case/exit-code"), literal(0)))
"""Holds as well where no bad case was tried: what is absent equals nothing."""


def contract(**over: Any) -> Json:
    """A contract without a coverage gap."""
    return {
        "schemaVersion": 7,
        **LINEAGE,
        "contractId": "selection",
        "sourceSpecDigest": None,
        "behaviors": [behavior(1, "O-001"), behavior(2, "O-002")],
        "oracles": [
            oracle(1, {"op": "all", "operands": [NAMES_FRONT, REFUSES_BAD]}),
            oracle(2, negation(names_any(FRONT, ["mobile"]))),
        ],
        "rubrics": [],
        "waivers": [],
        "permittedInterfaces": [interface("cli", "agent", command())],
        "referenceSets": None,
        "siblingGroups": {"operations": [], "parameters": []},
        "interactionPlan": [
            step("front-case", cli_binding(option={"case": literal("front")})),
            step("bad-case", cli_binding(option={"case": {"matcher": "type-violating"}})),
        ],
        "scopedResources": None,
        "forbiddenInputs": list(FORBIDDEN),
        "testData": {"setup": None, "cleanup": None, "principals": None, "resources": None},
        "budgets": {"maxToolCalls": 10, "maxWallClockMinutes": 10, "maxCostUsd": "1"},
        "safetyLimits": [],
        "requiredEvidence": [],
        "probeStepBound": None,
        "fixtureReset": None,
        **over,
    }


def selector(**channels: Any) -> Json:
    return {"inputBinding": {**dict.fromkeys(INPUT_CHANNELS), **channels}}


OBSERVED = "/interactions/observed"


def signature(**over: Any) -> Json:
    return {
        "interfaceKind": "cli",
        "invocation": {"executable": "agent", "subcommandPath": []},
        "observableChannel": "stdout",
        "condition": {
            "selector": selector(option={"case": literal("front")}),
            "predicate": names_any(f"{OBSERVED}/stdout/selected", ["mobile"]),
        },
        **over,
    }


def with_predicate(predicate: Json, base: Json | None = None, **over: Any) -> Json:
    """The signature with another predicate (and other members)."""
    found = signature(**over) if base is None else {**base, **over}
    return {**found, "condition": {**found["condition"], "predicate": predicate}}


def defect(source: str = "controlled-mutation", **over: Any) -> Json:
    return {
        "defectId": "D-001",
        "behaviorId": "B-002",
        "summary": "an excluded item is named",
        "severity": "material",
        "oracleEvidence": [],
        "source": source,
        "manifestationWitness": None,
        **over,
    }


ROUTES: Json = {
    "controlled-mutation": {
        "mutationSource": "the rules",
        "mutationOperator": "clause deletion",
        "targetArtifact": public(),
        "expectedObservableFailure": "an excluded item",
        "baselinePassEvidence": public(),
        "mutatedFailEvidence": public(),
        "rollbackVerified": True,
    },
    "historical": {
        "failBeforeEvidence": public(),
        "passAfterEvidence": public(),
        "fixCommitDigest": digest(1),
        "oracleStableAcrossRevisions": True,
    },
    "gameability": {
        "degenerateResponse": "names everything",
        "naiveOracleSatisfiedEvidence": public(),
        "disciplinedOracleRejectedEvidence": public(),
    },
    "canary": {"indicts": "corpus", "nonDetectionEvidence": public()},
    "clean-control": {
        "baselinePassEvidence": public(),
        "revisionCommitDigest": digest(1),
        "noKnownDefectStatement": "none known",
    },
}


def route(name: str, **over: Any) -> Json:
    return {"route": name, **ROUTES[name], **over}


def probe(**over: Any) -> Json:
    base: Json = {
        "schemaVersion": 6,
        **LINEAGE,
        "probeId": "P-001",
        "probeClass": "defect",
        "behaviorId": "B-002",
        "systemId": "agent",
        "implementationDigest": digest(2),
        "artifactDigest": digest(3),
        "commitDigest": digest(4),
        "rationale": "the exclusion rule is deleted",
        "qualification": route("controlled-mutation"),
        "expectedClean": False,
        "defects": [defect()],
        "defectSignature": signature(),
    }
    merged = {**base, **over}
    if merged["expectedClean"] is True:
        del merged["defectSignature"]
    return merged


def clean_probe(**over: Any) -> Json:
    return probe(
        **{
            "probeClass": "zero-action",
            "expectedClean": True,
            "defects": [],
            "qualification": route("clean-control"),
            **over,
        }
    )


def canary(**over: Any) -> Json:
    return probe(
        **{
            "probeClass": "canary",
            "defects": [],
            "defectSignature": None,
            "qualification": route("canary"),
            **over,
        }
    )


def gameability(**over: Any) -> Json:
    return probe(**{"probeClass": "gameability", "defects": [], "qualification": route("gameability"), **over})


def call_inputs(**channels: Any) -> Json:
    return {**dict.fromkeys(INPUT_CHANNELS), "bodyEncoding": None, **channels}


def json_body(value: Any) -> Json:
    return {"kind": "json", "value": value}


ABSENT_BODY: Json = {"kind": "absent"}


def observation(number: int, selected: list[str] | None = None, **over: Any) -> Json:
    """Call `number`; its `stdout` names `selected`."""
    return {
        "observationId": f"obs-{number}",
        "sequence": number,
        "interfaceId": "agent",
        "operationId": "run-skill",
        "provenance": "evaluator-chosen",
        "principal": None,
        "callInputs": call_inputs(option={"case": "front"}, stdin={"prompt": "select"}),
        "responseBody": None,
        "responseHeaders": None,
        "responseStatus": None,
        "stdout": json_body({"selected": ["front", "mobile"] if selected is None else selected}),
        "stderr": ABSENT_BODY,
        "exitCode": 0,
        "artifacts": {},
        **over,
    }


def quote(text: str, channel: str = "stdout", artifact_id: str | None = None) -> Json:
    return {"quote": text, "channel": channel, "artifactId": artifact_id}


def finding(number: int = 1, kind: str = "defect", **over: Any) -> Json:
    base: Json = {
        "findingType": kind,
        "findingId": f"F-{number:03}",
        "oracleId": "O-002",
        "probeId": "P-001",
        "behaviorId": None,
        "severity": "critical",
        "summary": "an excluded item is named",
        "confidence": 0.9,
        "observationIds": ["obs-1"],
        "evidenceArtifacts": [],
    }
    if kind == "defect":
        base["quotedEvidence"] = [quote('"mobile"')]
    return {**base, **over}


def disposition(number: int, word: str = "held", *cited: str, **over: Any) -> Json:
    return {
        "oracleId": f"O-{number:03}",
        "disposition": word,
        "observationIds": list(cited),
        "note": None,
        **over,
    }


def configuration(**over: Any) -> Json:
    return {
        "schemaVersion": 1,
        **LINEAGE,
        "sealedBriefDigest": digest(5),
        "evaluatorIdentity": "someone",
        "modelSnapshot": "model",
        "systemPromptDigest": digest(6),
        "decodingParameters": {},
        "toolInventory": [],
        "permissionInventory": [],
        "budgets": {"maxToolCalls": 10, "maxWallClockMinutes": 10, "maxCostUsd": "1"},
        "seed": None,
        "judgeConfiguration": None,
        **over,
    }


RESOURCE_USE: Json = {"toolCalls": 1, "inputTokens": 1, "outputTokens": 1, "wallClockSeconds": 1, "costUsd": "0"}


def record(for_contract: Json | None = None, **over: Any) -> Json:
    """A trial in which the excluded item shows and a finding claims it."""
    return {
        "schemaVersion": 8,
        **LINEAGE,
        "runId": "run-1",
        "conditionArm": "independent",
        "mode": "contract-scoring",
        "trialIndex": 1,
        "contractDigest": digest_value(contract() if for_contract is None else for_contract, "EvalContract"),
        "sealedBriefDigest": digest(5),
        "evaluatorConfigurationDigest": digest_value(configuration(), "EvaluatorConfiguration"),
        "evaluatorRecommendation": "PASS",
        "oracleDispositions": [disposition(1, "held", "obs-1"), disposition(2, "violated", "obs-1")],
        "findings": [finding()],
        "observations": [observation(1)],
        "judgeResults": [],
        "actionsArtifact": public(),
        "isolationManifestArtifact": public(),
        "resourceUse": RESOURCE_USE,
        "evidenceDisclosure": {"truncationBound": None, "reportedIncomplete": False},
        **over,
    }


def quiet_record(for_contract: Json | None = None, **over: Any) -> Json:
    """A trial in which nothing shows and nothing is claimed."""
    return record(
        for_contract,
        **{
            "observations": [observation(1, ["front"])],
            "findings": [],
            "oracleDispositions": [disposition(1, "held", "obs-1"), disposition(2, "held", "obs-1")],
            **over,
        },
    )


def manifest(of: Json | None = None, **over: Any) -> Json:
    trial = record() if of is None else of
    return {
        "schemaVersion": 1,
        **LINEAGE,
        "runId": trial["runId"],
        "contractId": "selection",
        "conditionArm": "independent",
        "modelSnapshot": "model",
        "systemPromptDigest": digest(6),
        "contractDigest": trial["contractDigest"],
        "evaluatorConfigurationDigest": trial["evaluatorConfigurationDigest"],
        "workspaceIdentity": "workspace",
        "allowedMounts": ["/in"],
        "observedMounts": [],
        "networkAllowlist": [],
        "observedNetworkTargets": [],
        "toolAllowlist": [],
        "observedToolCalls": [],
        "resourceCeilings": {
            "maxToolCalls": 1,
            "maxInputTokens": 1,
            "maxOutputTokens": 1,
            "maxWallClockMinutes": 1,
            "maxCostUsd": "1",
        },
        "actualResourceUse": RESOURCE_USE,
        "forbiddenInputAccounting": {name: {"withheld": True, "note": None} for name in FORBIDDEN},
        "violation": None,
        **over,
    }


def policy(**over: Any) -> Json:
    return {
        "schemaVersion": 2,
        **LINEAGE,
        "policyId": "policy",
        "severityFloor": "material",
        "confidenceThreshold": 0.5,
        "catchThreshold": 0.5,
        "minimumTrialCount": 1,
        "reExecutionCap": 2,
        "remediationCap": 3,
        "regexMatchStepBudget": 10000,
        **over,
    }


def preflight(**over: Any) -> Json:
    return {
        "schemaVersion": 2,
        **LINEAGE,
        "runId": "run-1",
        "fixtureDigest": digest(7),
        "passed": True,
        "checks": [],
        **over,
    }


def inputs(**over: Any) -> Json:
    """The arguments of `run_score` for a run that is caught; each may be replaced."""
    given = dict(over)
    given.setdefault("contract", contract())
    if "record" not in given:
        given["record"] = record(given["contract"])
    if "manifest" not in given:
        trials = given["record"]
        first = trials[0] if isinstance(trials, list) and trials else trials
        given["manifest"] = manifest(first if isinstance(first, dict) and "runId" in first else None)
    return {
        "configuration": configuration(),
        "probe": probe(),
        "preflight_verdict": preflight(),
        "policy": policy(),
        "corpus_digest": digest(8),
        **given,
    }


def run(**over: Any) -> RunScoreResult:
    """Score the chain with some inputs replaced."""
    return run_score(**inputs(**over))
