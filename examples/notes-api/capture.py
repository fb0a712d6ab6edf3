"""Run the notes service, sound and damaged, and write down what was observed.

    python examples/notes-api/capture.py            # rewrites the captured documents of this folder
    python examples/notes-api/capture.py --out DIR  # writes them somewhere else

What is authored: `contract.json`, `policy.json`, `floors.json`, the service, the planted defect under `mutations/` and
the canned reply under `replies/`. What this script captures from running services:

| File | Content |
|---|---|
| `captures/<arm>.json` | the plan's four calls on one arm, as observations |
| `probes/P-00n.json`, `probes.json` | the probes, whose evidence names those captures by digest |
| `observations.json` | what every pre-flight leg observed: clean legs on the sound service, fault legs on the other |
| `evaluator-configuration.json` | who evaluated |
| `runs/P-00n/` | three trials a probe, each on a fresh service, and what the evaluator was kept from |
| `response-only/` | the contract without its read-back oracle, and three trials of that on the damaged service |

The evaluator is a script that does what the brief asks: it changes a title, reads it back, sends two malformed calls
and reports what it saw. It quotes its evidence.
"""

import argparse
import json
import tomllib
from pathlib import Path

from arms import Canned, Service, planted
from documents import digest, lineage, probe_documents, reference

import eval_quality

HERE = Path(__file__).resolve().parent
SERVICE = HERE / "service" / "notes_api.py"
TITLE = "Groceries for Friday"
TRIALS = 3
CHANNELS = (
    "path",
    "query",
    "header",
    "body",
    "bodyEncoding",
    "argument",
    "option",
    "environment",
    "stdin",
    "arguments",
)


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


def judge(contract, probe_id, observations):
    """What the evaluator says about each oracle of the contract, and the defects it reports."""
    declared = [oracle["id"] for oracle in contract["oracles"]]
    write, read, malformed_write, malformed_read = observations
    sent = write["callInputs"]["body"]["title"]
    kept = read["responseBody"]["note"]["title"]
    answered = write["responseBody"]
    verdicts = (
        ("O-001", kept == sent, [write, read]),
        ("O-002", (write["responseStatus"], answered["ok"], answered["note"]["title"]) == (200, True, sent), [write]),
        (
            "O-003",
            (malformed_write["responseStatus"], malformed_write["responseBody"]["ok"]) == (400, False),
            [malformed_write],
        ),
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
        if oracle in declared
    ]
    findings = []
    if kept != sent and "O-001" in declared:
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

    probes = probe_documents(source, damaged, mutation_text, reply_text, captures, stored_version)
    defect, control, gameability = probes
    for document in probes:
        writer.write(f"probes/{document['probeId']}.json", document)
    writer.write("probes.json", probes)

    with arms["clean"]() as clean, arms["forgets-changes"]() as faulty:
        observations = [
            leg_observation(faulty if is_fault else clean, leg_id, operation, inputs)
            for leg_id, operation, inputs, is_fault in legs(contract, probes)
        ]
    writer.write("observations.json", observations)

    configuration = write_configuration(writer, contract, "evaluator-configuration.json")
    for document, arm in ((defect, "forgets-changes"), (control, "clean"), (gameability, "canned")):
        folder = f"runs/{document['probeId']}"
        write_trials(writer, folder, contract, configuration, document["probeId"], arms[arm])

    weak = without_read_back(contract)
    writer.write("response-only/contract.json", weak)
    configuration = write_configuration(writer, weak, "response-only/evaluator-configuration.json")
    write_trials(writer, "response-only", weak, configuration, defect["probeId"], arms["forgets-changes"])


def without_read_back(contract):
    """The same contract, judged by answers alone: B-001 is left to the oracle that never reads back."""
    weak = json.loads(json.dumps(contract))
    weak["contractId"] = "notes-api-response-only"
    weak["behaviors"][0]["oracles"] = ["O-002"]
    weak["oracles"] = [oracle for oracle in weak["oracles"] if oracle["id"] != "O-001"]
    return weak


def write_configuration(writer, contract, path):
    """Who evaluates under this contract."""
    brief = eval_quality.seal_contract(contract)
    configuration = {
        **lineage(1),
        "sealedBriefDigest": eval_quality.digest_artifact(brief, "SealedEvaluatorBrief"),
        "evaluatorIdentity": "capture.py",
        "modelSnapshot": "none: a script",
        "systemPromptDigest": digest(b""),
        "decodingParameters": {},
        "toolInventory": ["get-note", "change-note"],
        "permissionInventory": [],
        "budgets": contract["budgets"],
        "seed": None,
        "judgeConfiguration": None,
    }
    writer.write(path, configuration)
    return configuration


def write_trials(writer, folder, contract, configuration, probe_id, arm):
    """Three trials on fresh services, and the isolation manifest they share."""
    use = {"toolCalls": 4, "inputTokens": 0, "outputTokens": 0, "wallClockSeconds": 0, "costUsd": "0"}
    shared = {
        "runId": f"{contract['contractId']}-{probe_id}",
        "conditionArm": "scripted",
        "contractDigest": eval_quality.digest_artifact(contract, "EvalContract"),
        "evaluatorConfigurationDigest": eval_quality.digest_artifact(configuration, "EvaluatorConfiguration"),
    }
    manifest = {
        **lineage(1),
        **shared,
        "contractId": contract["contractId"],
        "modelSnapshot": configuration["modelSnapshot"],
        "systemPromptDigest": configuration["systemPromptDigest"],
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
        "forbiddenInputAccounting": {name: {"withheld": True, "note": None} for name in contract["forbiddenInputs"]},
        "violation": None,
    }
    manifest_reference = writer.write(f"{folder}/isolation-manifest.json", manifest)
    for trial in range(1, TRIALS + 1):
        with arm() as call:
            seen = follow_plan(call)
        dispositions, findings = judge(contract, probe_id, seen)
        actions = writer.write(f"{folder}/actions-{trial}.json", [observation["callInputs"] for observation in seen])
        record = {
            **lineage(8),
            **shared,
            "mode": "contract-scoring",
            "trialIndex": trial,
            "sealedBriefDigest": configuration["sealedBriefDigest"],
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
