"""Small complete experiments, one per subject kind, over one tiny key-value store (used by the tests of `run`).

The store answers `put` with what it was sent and `get` with what it kept. The planted defect is one exact replacement
in `store.py`: the answer stays right and the value is lost. O-001 reads back, O-002 believes the answer.
"""

import json
from pathlib import Path
from typing import Any

EMPTY = {"requiredKeys": [], "permittedKeys": [], "types": {}}
FORBIDDEN = [
    "original-spec",
    "source-code",
    "repository",
    "builder-transcript",
    "implementation-logs",
    "comparator-results",
    "human-labels",
]

STORE = """\
import json, os, sys

START = {"a": "one", "b": "two"}
FILE = "items.json"


def items():
    if os.path.exists(FILE):
        with open(FILE) as file:
            return json.load(file)
    return dict(START)


def put(key, value):
    kept = items()
    kept[key] = value
    with open(FILE, "w") as file:
        json.dump(kept, file)
    return {"ok": True, "value": value}


def get(key):
    kept = items()
    return {"value": kept.get(key)}
"""

CLI = (
    STORE
    + """

if __name__ == "__main__":
    words = sys.argv[1:]
    options = dict(zip([word[2:] for word in words[1::2]], words[2::2]))
    print(json.dumps(put(**options) if words[0] == "put" else get(**options)))
"""
)

MCP = (
    STORE
    + """

if __name__ == "__main__":
    for line in sys.stdin:
        message = json.loads(line)
        if "id" not in message:
            continue
        if message["method"] == "initialize":
            result = {"protocolVersion": message["params"]["protocolVersion"], "capabilities": {"tools": {}},
                      "serverInfo": {"name": "store", "version": "1"}}
        else:
            call = message["params"]
            made = put if call["name"] == "put" else get
            result = {"content": [], "structuredContent": made(**call["arguments"])}
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
"""
)

API = (
    STORE
    + """

from http.server import BaseHTTPRequestHandler, HTTPServer


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        self.answer(get(self.path.rsplit("/", 1)[1]))

    def do_PUT(self):
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.answer(put(self.path.rsplit("/", 1)[1], body["value"]))

    def answer(self, value):
        data = json.dumps(value).encode()
        self.send_response_only(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass


if __name__ == "__main__":
    HTTPServer(("127.0.0.1", int(os.environ["PORT"])), Handler).serve_forever()
"""
)

PYTHON = (
    STORE
    + """

def serve(request):
    print("noise on standard output")
    options = request["channels"]["option"]
    made = put if request["subcommandPath"] == ["put"] else get
    return 0, json.dumps(made(**options))
"""
)

SOURCES = {"cli": CLI, "mcp": MCP, "api": API, "python": PYTHON}


def shape(*keys: str) -> dict[str, Any]:
    """Required string keys."""
    return {"requiredKeys": list(keys), "permittedKeys": list(keys), "types": dict.fromkeys(keys, "string")}


def inputs(kind: str, **values: str) -> dict[str, Any]:
    """Witness inputs of one call."""
    if kind == "mcp":
        return {"arguments": values}
    if kind == "api":
        body = {"kind": "json", "value": {"value": values["value"]}} if "value" in values else {"kind": "absent"}
        return {"path": {"key": values["key"]}, "query": {}, "header": {}, "body": body}
    return {"argument": {}, "option": values, "environment": {}, "stdin": {"kind": "absent"}}


def binding(kind: str, **values: Any) -> dict[str, Any]:
    """A plan step's binding."""
    if kind == "mcp":
        return {"arguments": values}
    if kind == "api":
        body = {"value": values["value"]} if "value" in values else None
        return {"path": {"key": values["key"]}, "query": None, "header": None, "body": body}
    return {"argument": None, "option": values, "environment": None, "stdin": None}


def selector(kind: str, **values: Any) -> dict[str, Any]:
    """A signature's selector over all nine channels."""
    channels = dict.fromkeys(
        ("path", "query", "header", "body", "argument", "option", "environment", "stdin", "arguments")
    )
    return {**channels, **binding(kind, **values)}


def operation(kind: str, name: str, keys: tuple[str, ...], answers: tuple[str, ...]) -> dict[str, Any]:
    """One operation with its sensitivity witness."""
    channel = {"mcp": "arguments", "api": "body" if name == "put" else "path", "cli": "option"}[kind]
    body = {"mcp": "response-body", "api": "response-body", "cli": "stdout"}[kind]
    sent = ({"key": "a", "value": "x"}, {"key": "a", "value": "y"}) if name == "put" else ({"key": "a"}, {"key": "b"})
    legs = [{"legId": f"{name}-leg-{number}", "inputs": inputs(kind, **each)} for number, each in enumerate(sent)]
    made: dict[str, Any] = {
        "operationId": name,
        "stateChangeMarker": name == "put",
        "responseDescriptor": {
            "requiredKeys": list(answers),
            "permittedKeys": list(answers),
            "types": {key: {"ok": "boolean", "value": "string"}[key] for key in answers},
            "successIndicator": "",
            "channelRoles": {"": "payload"},
            "collectionLocations": [],
        },
        "volatilePointers": [],
        "sensitivityWitness": {
            "witnessId": f"{name}-reads-its-input",
            "channel": channel,
            "legs": legs,
            "relation": {
                "op": "not",
                "operands": [
                    {
                        "op": "deep-equality",
                        "operands": [{"pointer": f"/interactions/{leg['legId']}/{body}/value"} for leg in legs],
                    }
                ],
            },
        },
    }
    if kind == "mcp":
        made |= {
            "toolName": name,
            "requestShape": {"arguments": shape(*keys)},
            "descriptorChannel": {"kind": "structured-result"},
        }
    elif kind == "api":
        made |= {
            "method": "PUT" if name == "put" else "GET",
            "pathTemplate": "/items/{key}",
            "requestShape": {
                "path": shape("key"),
                "query": EMPTY,
                "header": EMPTY,
                "body": shape("value") if "value" in keys else EMPTY,
            },
        }
    else:
        made |= {
            "invocation": {"executable": "store", "subcommandPath": [name]},
            "requestShape": {"argument": EMPTY, "option": shape(*keys), "environment": EMPTY, "stdin": EMPTY},
            "artifacts": [],
            "descriptorChannel": {"kind": "stream", "channel": "stdout"},
        }
    return made


def contract(kind: str) -> dict[str, Any]:
    """The contract of the store; a `python` subject serves the `cli` kind."""
    if kind == "python":
        kind = "cli"
    body = "stdout" if kind == "cli" else "response-body"
    sent = {"mcp": "call-inputs/arguments", "api": "call-inputs/body", "cli": "call-inputs/option"}[kind]

    def oracle(name: str, step: str) -> dict[str, Any]:
        targets = [f"/interactions/{step}/{body}/value", f"/interactions/write/{sent}/value"]
        return {
            "id": name,
            "polarity": "expects-hold",
            "commentary": None,
            "direction": {
                "polarity": "expects-hold",
                "relation": "equality",
                "scope": None,
                "negativeDomain": None,
                "evidenceTargets": targets,
            },
            "check": {"op": "equality", "operands": [{"pointer": pointer} for pointer in targets]},
        }

    def behavior(number: int, text: str) -> dict[str, Any]:
        return {
            "id": f"B-00{number}",
            "description": text,
            "severity": "material",
            "observableSuccessCriterion": text,
            "requirementLinks": [{"scheme": "requirement", "id": f"R{number}"}],
            "riskLinks": [],
            "oracles": [f"O-00{number}"],
        }

    steps = [
        {
            "stepId": "write",
            "interfaceId": "store",
            "operationId": "put",
            "inputBinding": binding(kind, key={"literal": "a"}, value={"literal": "changed"}),
            "after": None,
            "cardinality": "exactly-one",
        },
        {
            "stepId": "read-back",
            "interfaceId": "store",
            "operationId": "get",
            "inputBinding": binding(kind, key={"literal": "a"}),
            "after": "write",
            "cardinality": "exactly-one",
        },
    ]
    return {
        "schemaVersion": 7,
        "parentDigest": None,
        "revisionCount": 0,
        "contractId": "store",
        "sourceSpecDigest": None,
        "behaviors": [behavior(1, "What was put is kept."), behavior(2, "A put answers with what it was sent.")],
        "oracles": [oracle("O-001", "read-back"), oracle("O-002", "write")],
        "rubrics": [],
        "waivers": [],
        "permittedInterfaces": [
            {
                "logicalId": "store",
                "kind": kind,
                "operations": [
                    operation(kind, "put", ("key", "value"), ("ok", "value")),
                    operation(kind, "get", ("key",), ("value",)),
                ],
            }
        ],
        "referenceSets": {},
        "siblingGroups": {"operations": [], "parameters": []},
        "interactionPlan": steps,
        "scopedResources": [],
        "forbiddenInputs": FORBIDDEN,
        "testData": {"setup": None, "cleanup": None, "principals": None, "resources": None},
        "budgets": {"maxToolCalls": 20, "maxWallClockMinutes": 2, "maxCostUsd": "0"},
        "safetyLimits": [],
        "requiredEvidence": [],
        "probeStepBound": None,
        "fixtureReset": None,
    }


POLICY = {
    "schemaVersion": 2,
    "parentDigest": None,
    "revisionCount": 0,
    "policyId": "default-policy",
    "severityFloor": "material",
    "confidenceThreshold": 0.7,
    "catchThreshold": 0.5,
    "minimumTrialCount": 3,
    "reExecutionCap": 2,
    "remediationCap": 3,
    "regexMatchStepBudget": 1_000_000,
}


def signature(kind: str) -> dict[str, Any]:
    """A read of `a` that still shows the value from the start."""
    if kind == "python":
        kind = "cli"
    body = "stdout" if kind == "cli" else "response-body"
    identity: dict[str, Any] = {
        "mcp": {"toolName": "get"},
        "api": {"method": "GET", "pathTemplate": "/items/{key}"},
        "cli": {"invocation": {"executable": "store", "subcommandPath": ["get"]}},
    }[kind]
    return {
        "interfaceKind": kind,
        **identity,
        "observableChannel": body,
        "condition": {
            "selector": {"inputBinding": selector(kind, key={"literal": "a"})},
            "predicate": {
                "op": "equality",
                "operands": [{"pointer": f"/interactions/observed/{body}/value"}, {"literal": "one"}],
            },
        },
    }


def defect_draft(kind: str, mutation: str = "forgets", probe_id: str = "P-001", **more: Any) -> dict[str, Any]:
    """The probe of the planted defect.

    The manifestation witness asks for a put under `nothing` before it would fire; the store forgets every put, so a put
    followed by a read of another value cannot be one leg. The witness therefore looks at the acknowledgement.
    """
    return {
        "probe_id": probe_id,
        "class": "defect",
        "behavior_id": "B-001",
        "rationale": "A store that forgets is the bug this contract is for.",
        "arm": {"mutation": mutation},
        "expected_failure": "put answers ok and get shows the old value",
        "signature": signature(kind),
        "defects": [
            {
                "defect_id": "D-001",
                "summary": "an accepted put is not kept",
                "severity": "material",
                "manifestation_witness": witness(kind),
            }
        ],
        **more,
    }


def witness(kind: str) -> dict[str, Any]:
    """True exactly where the damaged `put` marks its answer (the mutation does)."""
    if kind == "python":
        kind = "cli"
    body = "stdout" if kind == "cli" else "response-body"
    return {
        "legId": "fault-put",
        "interfaceId": "store",
        "operationId": "put",
        "inputs": inputs(kind, key="zz", value="lost"),
        "relation": {
            "op": "equality",
            "operands": [{"pointer": f"/interactions/fault-put/{body}/ok"}, {"literal": False}],
        },
    }


CLEAN_DRAFT = {
    "probe_id": "P-002",
    "class": "zero-action",
    "behavior_id": "B-001",
    "rationale": "The untouched store must not be accused.",
    "arm": {"clean": True},
    "no_known_defect": "This revision passes its own tests.",
}

FORGETS = """\
id = "forgets"
kind = "replace"
operator = "drop-the-write"
file = "store.py"
find = '''    kept[key] = value
'''
replace = '''    if key == "zz":
        return {"ok": False, "value": value}
'''
"""


def experiment_toml(kind: str, source: str, **tables: str) -> str:
    """The experiment file of one kind; `tables` are appended as they are."""
    bound = {
        "cli": 'kind = "cli"\n[interface.store.executable.store]\n'
        'target = "python3"\ntarget_args = ["-B", "store.py"]\n',
        "mcp": 'kind = "mcp"\ncommand = ["python3", "-B", "store.py"]\n',
        "api": 'kind = "api"\n[interface.store.start]\ncommand = ["python3", "-B", "store.py"]\n'
        '[interface.store.start.ready]\nkind = "tcp"\n',
        "python": 'kind = "python"\ntarget = "store:serve"\ninterpreter = "/usr/bin/python3"\n',
    }[kind]
    run = tables.pop("run", "")
    return (
        f'evalQuality = "experiment/1"\nid = "store-{kind}"\n[run]\n{run}\n[subject]\nsystem_id = "store"\n'
        f'source = "{source}"\n[interface.store]\n{bound}' + "".join(tables.values())
    )


def write_experiment(root: Path, kind: str, **tables: str) -> Path:
    """Write subject and experiment below `root`; the experiment's folder."""
    subject, folder = root / "subject", root / "experiment"
    for path in (subject, folder / "probes", folder / "mutations", folder / "replies"):
        path.mkdir(parents=True)
    (subject / "store.py").write_text(SOURCES[kind])
    (folder / "experiment.toml").write_text(experiment_toml(kind, "../subject", **tables))
    (folder / "contract.json").write_text(json.dumps(contract(kind)))
    (folder / "policy.json").write_text(json.dumps(POLICY))
    (folder / "mutations" / "forgets.toml").write_text(FORGETS)
    (folder / "probes" / "p-001.json").write_text(json.dumps(defect_draft(kind)))
    (folder / "probes" / "p-002.json").write_text(json.dumps(CLEAN_DRAFT))
    return folder
