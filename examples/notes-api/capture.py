"""Run the notes service, sound and damaged, and write down what was observed.

    python examples/notes-api/capture.py            # rewrites the captured documents of this folder
    python examples/notes-api/capture.py --out DIR  # writes them somewhere else

What is authored: `contract.json`, `policy.json`, `floors.json`, the service, the planted defect under `mutations/` and
the canned reply under `replies/`. What this script captures from running services:

| File | Content |
|---|---|
| `captures/<arm>.json` | the plan's four calls on one arm, as observations |
| `probes/P-00n.json`, `probes.json` | the probes, whose evidence names those captures by digest |
| `observations.json` | what every pre-flight leg observed: clean legs on the sound service, fault legs on the damaged one |
| `evaluator-configuration.json` | who evaluated |
| `runs/P-00n/` | three trials a probe, each on a fresh service, and what the evaluator was kept from |

The evaluator is a script that does what the brief asks: it changes a title, reads it back, sends two malformed calls
and reports what it saw. It quotes its evidence.
"""

import argparse
import hashlib
import http.client
import json
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

import eval_quality

HERE = Path(__file__).resolve().parent
SERVICE = HERE / "service" / "notes_api.py"
TITLE = "Groceries for Friday"
OLD_TITLE = "Groceries"
TRIALS = 3
CHANNELS = ("path", "query", "header", "body", "bodyEncoding", "argument", "option", "environment", "stdin", "arguments")
JSON_HEADERS = {"content-type": "application/json"}


# Arms: something that answers (operation, path parameters, body) with (status, headers, body).


class Service:
    """The notes service in a process of its own, with a fresh store."""

    def __init__(self, source):
        self.folder = tempfile.TemporaryDirectory()
        script = Path(self.folder.name) / SERVICE.name
        script.write_text(source, encoding="utf-8")
        self.process = subprocess.Popen([sys.executable, "-I", str(script)], stdout=subprocess.PIPE, text=True)
        address = self.process.stdout.readline().strip().removeprefix("http://")
        self.connection = http.client.HTTPConnection(address, timeout=10)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.connection.close()
        self.process.terminate()
        self.process.wait()
        self.process.stdout.close()
        self.folder.cleanup()

    def __call__(self, operation, path, body):
        method = {"get-note": "GET", "change-note": "PATCH"}[operation]
        data = None if body is None else json.dumps(body)
        self.connection.request(method, f"/notes/{path['id']}", body=data, headers=JSON_HEADERS if data else {})
        answer = self.connection.getresponse()
        text = answer.read()
        headers = {name.lower(): value for name, value in answer.getheaders()}
        return answer.status, headers, json.loads(text)


class Canned:
    """A committed reply: the first answer whose conditions the call meets."""

    def __init__(self, reply):
        self.answers = reply["answers"]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return None

    def __call__(self, operation, path, body):
        sent = {"path": path, "body": body or {}}
        for answer in self.answers:
            wanted = [
                (channel, key, value["literal"])
                for channel, keys in answer["when"].items()
                for key, value in (keys or {}).items()
            ]
            if answer["operation_id"] == operation and all(sent[c].get(k) == v for c, k, v in wanted):
                observation = answer["observation"]
                return observation["status"], observation["headers"], observation["body"]["value"]
        raise LookupError(f"the canned reply has no answer for {operation}")


def planted(source, mutation):
    """The service's source with the one line replaced."""
    if source.count(mutation["find"]) != 1:
        raise ValueError(f"{mutation['find']!r} must occur exactly once")
    return source.replace(mutation["find"], mutation["replace"])


# One trial: the plan's calls, and what the evaluator makes of them.


def follow_plan(call):
    """The four calls of the interaction plan, in order."""
    plan = (
        ("change-note", {"id": "n-1"}, {"title": TITLE}),
        ("get-note", {"id": "n-1"}, None),
        ("change-note", {"id": "n-1"}, {"tags": "not-an-array"}),
        ("get-note", {"id": 12345}, None),
    )
    return [observe(number, call, *step) for number, step in enumerate(plan, 1)]


def observe(number, call, operation, path, body):
    """One call as a run record writes it down."""
    status, headers, answer = call(operation, path, body)
    sent = {**dict.fromkeys(CHANNELS), "path": path, "body": body}
    return {
        "observationId": f"obs-{number}",
        "sequence": number,
        "interfaceId": "notes-api",
        "operationId": operation,
        "provenance": "evaluator-chosen",
        "principal": None,
        "callInputs": sent,
        "responseBody": answer,
        "responseHeaders": headers,
        "responseStatus": status,
        "stdout": {"kind": "absent"},
        "stderr": {"kind": "absent"},
        "exitCode": None,
        "artifacts": {},
    }


def judge(probe_id, observations):
    """What the evaluator says about each oracle, and the defects it reports."""
    write, read, malformed_write, malformed_read = observations
    sent = write["callInputs"]["body"]["title"]
    kept = read["responseBody"]["note"]["title"]
    answered = write["responseBody"]
    verdicts = (
        ("O-001", kept == sent, [write, read]),
        ("O-002", (write["responseStatus"], answered["ok"], answered["note"]["title"]) == (200, True, sent), [write]),
        ("O-003", (malformed_write["responseStatus"], malformed_write["responseBody"]["ok"]) == (400, False), [malformed_write]),
        ("O-004", malformed_read["responseStatus"] == 404, [malformed_read]),
    )
    dispositions = [
        {
            "oracleId": oracle,
            "disposition": "held" if holds else "violated",
            "observationIds": [observation["observationId"] for observation in seen],
            "note": None,
        }
        for oracle, holds, seen in verdicts
    ]
    findings = []
    if kept != sent:
        findings.append(
            {
                "findingType": "defect",
                "findingId": "F-001",
                "oracleId": "O-001",
                "probeId": probe_id,
                "behaviorId": "B-001",
                "severity": "critical",
                "summary": f"The change to {sent!r} answered ok, and the read after it still shows {kept!r}.",
                "confidence": 0.95,
                "observationIds": [write["observationId"], read["observationId"]],
                "evidenceArtifacts": [],
                "quotedEvidence": [
                    {"quote": f'"title":"{title}"', "channel": "response-body", "artifactId": None}
                    for title in (sent, kept)
                ],
            }
        )
    return dispositions, findings


# Pre-flight legs.


def legs(contract, probes):
    """(leg id, operation, inputs, is it a fault leg) of the plan that `eval-quality preflight` will make."""
    operations = contract["permittedInterfaces"][0]["operations"]
    for operation in operations:
        for leg in operation["sensitivityWitness"]["legs"]:
            yield leg["legId"], operation["operationId"], leg["inputs"], False
    observed = next(operation for operation in operations if not operation["stateChangeMarker"])
    for name in ("preflight-control-observe", "preflight-control-observe-2"):
        yield name, observed["operationId"], observed["sensitivityWitness"]["legs"][0]["inputs"], False
    for probe in probes:
        for defect in probe["defects"]:
            witness = defect["manifestationWitness"]
            yield witness["legId"], witness["operationId"], witness["inputs"], True


def leg_observation(call, leg_id, operation, inputs):
    """One leg's answer as `eval-quality preflight` reads it."""
    body = inputs["body"]["value"] if inputs["body"]["kind"] == "json" else None
    status, headers, answer = call(operation, inputs["path"], body)
    return {
        "probeId": leg_id,
        "interfaceId": "notes-api",
        "operationId": operation,
        "kind": "api",
        "status": status,
        "headers": headers,
        "body": {"kind": "json", "value": answer},
    }


# Documents.


def lineage(version):
    return {"schemaVersion": version, "parentDigest": None, "revisionCount": 0}


def signature():
    """How the defect shows: a read of the changed note still has the old title."""
    selector = dict.fromkeys(name for name in CHANNELS if name != "bodyEncoding")
    return {
        "interfaceKind": "api",
        "method": "GET",
        "pathTemplate": "/notes/{id}",
        "observableChannel": "response-body",
        "condition": {
            "selector": {"inputBinding": {**selector, "path": {"id": {"literal": "n-1"}}}},
            "predicate": {
                "op": "equality",
                "operands": [
                    {"pointer": "/interactions/observed/response-body/note/title"},
                    {"literal": OLD_TITLE},
                ],
            },
        },
    }


def witness(stored_version):
    """True exactly when a change of the third note left its stored version as it was."""
    return {
        "legId": "change-dentist",
        "interfaceId": "notes-api",
        "operationId": "change-note",
        "inputs": {
            "path": {"id": "n-3"},
            "query": {},
            "header": {},
            "body": {"kind": "json", "value": {"title": "Dentist on Monday"}},
        },
        "relation": {
            "op": "equality",
            "operands": [
                {"pointer": "/interactions/change-dentist/response-body/version"},
                {"literal": stored_version},
            ],
        },
    }


class Writer:
    """Writes documents and hands out references to them."""

    def __init__(self, folder):
        self.folder = folder

    def write(self, path, document):
        data = (json.dumps(document, indent=2, ensure_ascii=False) + "\n").encode()
        target = self.folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
        return reference(path, data)


def digest(data):
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def reference(path, data):
    return {"storage": "public", "path": path, "privateRef": None, "digest": digest(data)}


def main():
    parser = argparse.ArgumentParser(description="Capture the notes-api example from running services.")
    parser.add_argument("--out", type=Path, default=HERE, help="folder to write to")
    writer = Writer(parser.parse_args().out)

    contract = json.loads((HERE / "contract.json").read_text(encoding="utf-8"))
    source = SERVICE.read_text(encoding="utf-8")
    mutation_text = (HERE / "mutations" / "forgets-changes.toml").read_bytes()
    reply_text = (HERE / "replies" / "canned.json").read_bytes()
    damaged = planted(source, tomllib.loads(mutation_text.decode()))
    arms = {
        "clean": lambda: Service(source),
        "forgets-changes": lambda: Service(damaged),
        "canned": lambda: Canned(json.loads(reply_text)),
    }

    captures = {}
    for name, arm in arms.items():
        with arm() as call:
            captures[name] = writer.write(f"captures/{name}.json", follow_plan(call))
    with arms["clean"]() as call:
        stored_version = call("get-note", {"id": "n-3"}, None)[2]["version"]

    def probe(number, probe_class, behavior, implementation, artifact, rationale, rest):
        return {
            **lineage(6),
            "probeId": f"P-00{number}",
            "probeClass": probe_class,
            "behaviorId": behavior,
            "systemId": "notes-api",
            "implementationDigest": digest(implementation),
            "artifactDigest": digest(artifact),
            "commitDigest": digest(source.encode()),
            "rationale": rationale,
            **rest,
        }

    defect = probe(
        1,
        "defect",
        "B-001",
        damaged.encode(),
        mutation_text,
        "An accepted change is answered with the new title, and the store keeps the old one.",
        {
            "qualification": {
                "route": "controlled-mutation",
                "mutationSource": "mutations/forgets-changes.toml",
                "mutationOperator": "drop-the-write",
                "targetArtifact": reference("service/notes_api.py", source.encode()),
                "expectedObservableFailure": "the read after an accepted change shows the old title",
                "baselinePassEvidence": captures["clean"],
                "mutatedFailEvidence": captures["forgets-changes"],
                "rollbackVerified": True,
            },
            "expectedClean": False,
            "defects": [
                {
                    "defectId": "D-001",
                    "behaviorId": "B-001",
                    "summary": "Changes are answered and not kept.",
                    "severity": "critical",
                    "oracleEvidence": [captures["forgets-changes"]],
                    "source": "controlled-mutation",
                    "manifestationWitness": witness(stored_version),
                }
            ],
            "defectSignature": signature(),
        },
    )
    control = probe(
        2,
        "zero-action",
        "B-001",
        source.encode(),
        source.encode(),
        "The sound service: whoever reports a defect here reports one that is not there.",
        {
            "qualification": {
                "route": "clean-control",
                "baselinePassEvidence": captures["clean"],
                "revisionCommitDigest": digest(source.encode()),
                "noKnownDefectStatement": "The four calls of the plan satisfy every oracle.",
            },
            "expectedClean": True,
            "defects": [],
        },
    )
    gameability = probe(
        3,
        "gameability",
        "B-001",
        reply_text,
        reply_text,
        "A reply that pleases whoever looks at answers alone: O-002 holds, O-001 does not.",
        {
            "qualification": {
                "route": "gameability",
                "degenerateResponse": "Every change is acknowledged with the title that was sent, and none is made.",
                "naiveOracleSatisfiedEvidence": captures["canned"],
                "disciplinedOracleRejectedEvidence": captures["canned"],
            },
            "expectedClean": False,
            "defects": [],
            "defectSignature": signature(),
        },
    )
    probes = [defect, control, gameability]
    for document in probes:
        writer.write(f"probes/{document['probeId']}.json", document)
    writer.write("probes.json", probes)

    with arms["clean"]() as clean, arms["forgets-changes"]() as faulty:
        observations = [
            leg_observation(faulty if is_fault else clean, leg_id, operation, inputs)
            for leg_id, operation, inputs, is_fault in legs(contract, probes)
        ]
    writer.write("observations.json", observations)

    brief = eval_quality.seal_contract(contract)
    nothing = digest(b"")
    configuration = {
        **lineage(1),
        "sealedBriefDigest": eval_quality.digest_artifact(brief, "SealedEvaluatorBrief"),
        "evaluatorIdentity": "capture.py",
        "modelSnapshot": "none: a script",
        "systemPromptDigest": nothing,
        "decodingParameters": {},
        "toolInventory": ["get-note", "change-note"],
        "permissionInventory": [],
        "budgets": contract["budgets"],
        "seed": None,
        "judgeConfiguration": None,
    }
    writer.write("evaluator-configuration.json", configuration)
    contract_digest = eval_quality.digest_artifact(contract, "EvalContract")
    configuration_digest = eval_quality.digest_artifact(configuration, "EvaluatorConfiguration")

    for document, arm in ((defect, "forgets-changes"), (control, "clean"), (gameability, "canned")):
        probe_id = document["probeId"]
        folder = f"runs/{probe_id}"
        use = {"toolCalls": 4, "inputTokens": 0, "outputTokens": 0, "wallClockSeconds": 0, "costUsd": "0"}
        manifest = {
            **lineage(1),
            "runId": f"notes-api-{probe_id}",
            "contractId": contract["contractId"],
            "conditionArm": "scripted",
            "modelSnapshot": configuration["modelSnapshot"],
            "systemPromptDigest": nothing,
            "contractDigest": contract_digest,
            "evaluatorConfigurationDigest": configuration_digest,
            "workspaceIdentity": "a fresh service for each trial",
            "allowedMounts": [],
            "observedMounts": [],
            "networkAllowlist": ["127.0.0.1"],
            "observedNetworkTargets": ["127.0.0.1"],
            "toolAllowlist": configuration["toolInventory"],
            "observedToolCalls": configuration["toolInventory"],
            "resourceCeilings": {
                "maxToolCalls": 20,
                "maxInputTokens": 1,
                "maxOutputTokens": 1,
                "maxWallClockMinutes": 5,
                "maxCostUsd": "1.0",
            },
            "actualResourceUse": use,
            "forbiddenInputAccounting": {
                forbidden: {"withheld": True, "note": None} for forbidden in contract["forbiddenInputs"]
            },
            "violation": None,
        }
        manifest_reference = writer.write(f"{folder}/isolation-manifest.json", manifest)
        for trial in range(1, TRIALS + 1):
            with arms[arm]() as call:
                seen = follow_plan(call)
            dispositions, findings = judge(probe_id, seen)
            actions = writer.write(f"{folder}/actions-{trial}.json", [observation["callInputs"] for observation in seen])
            record = {
                **lineage(8),
                "runId": manifest["runId"],
                "conditionArm": manifest["conditionArm"],
                "mode": "contract-scoring",
                "trialIndex": trial,
                "contractDigest": contract_digest,
                "sealedBriefDigest": configuration["sealedBriefDigest"],
                "evaluatorConfigurationDigest": configuration_digest,
                "evaluatorRecommendation": "FAIL" if findings else "PASS",
                "oracleDispositions": dispositions,
                "findings": findings,
                "observations": seen,
                "judgeResults": [],
                "actionsArtifact": actions,
                "isolationManifestArtifact": manifest_reference,
                "resourceUse": use,
                "evidenceDisclosure": {"truncationBound": None, "reportedIncomplete": False},
            }
            writer.write(f"{folder}/record-{trial}.json", record)


if __name__ == "__main__":
    main()
