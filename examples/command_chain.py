"""What the command-line examples share: run a command, observe it, and write down what a trial consists of.

An example says what is particular to it: its contract, its agent, its planted defect and its evaluator. Everything here
is the plain bookkeeping around that: one fresh folder a call, one observation a call, one record a trial.
"""

import contextlib
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import eval_quality

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
FORBIDDEN_INPUTS = (
    "original-spec",
    "source-code",
    "repository",
    "builder-transcript",
    "implementation-logs",
    "comparator-results",
    "human-labels",
)
ABSENT = {"kind": "absent"}
USE = {"inputTokens": 0, "outputTokens": 0, "wallClockSeconds": 0, "costUsd": "0"}


def digest(data):
    """Digest of raw bytes."""
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def reference(path, data):
    """A public reference to a file of the example."""
    return {"storage": "public", "path": path, "privateRef": None, "digest": digest(data)}


def lineage(version):
    """The members that open every artifact, for a first revision."""
    return {"schemaVersion": version, "parentDigest": None, "revisionCount": 0}


def load(path):
    return json.loads(Path(path).read_text(encoding="utf-8"))


class Writer:
    """Writes documents below a folder and hands out references to them."""

    def __init__(self, folder):
        self.folder = Path(folder)

    def write(self, path, document):
        data = (json.dumps(document, indent=2, ensure_ascii=False) + "\n").encode()
        target = self.folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
        return reference(path, data)


def planted(source, mutation):
    """The agent's source with the mutation's one line replaced."""
    if source.count(mutation["find"]) != 1:
        raise SystemExit(f"{mutation['id']}: the line to replace must occur exactly once")
    return source.replace(mutation["find"], mutation["replace"])


class Agent:
    """A Python program, called in a fresh folder each time; `files` are copied there first.

    Options become `--name value`, standard input is the JSON text of what is sent there, and each artifact is a file
    that the call may leave behind.
    """

    def __init__(self, source, words=(), files=None, artifacts=None):
        self.source = source
        self.words = tuple(words)
        self.files = files
        self.artifacts = artifacts or {}

    def call(self, option=None, stdin=None):
        """One call; what it sent and what came back, in the words of an observation."""
        with tempfile.TemporaryDirectory() as scratch:
            folder = Path(scratch)
            if self.files is not None:
                shutil.copytree(self.files, folder / self.files.name)
            program = folder / "agent.py"
            program.write_text(self.source, encoding="utf-8")
            arguments = [text for name, value in (option or {}).items() for text in (f"--{name}", str(value))]
            finished = subprocess.run(
                [sys.executable, "-I", str(program), *self.words, *arguments],
                cwd=folder,
                input=None if stdin is None else json.dumps(stdin).encode(),
                stdin=subprocess.DEVNULL if stdin is None else None,
                capture_output=True,
                env={"PATH": os.defpath, "PYTHONDONTWRITEBYTECODE": "1"},
                timeout=60,
                check=False,
            )
            written = {name: tagged_file(folder / path) for name, path in self.artifacts.items()}
        return {
            "stdout": tagged(finished.stdout),
            "stderr": tagged(finished.stderr),
            "exitCode": finished.returncode,
            "artifacts": written,
        }


def tagged(data):
    """Output as JSON where it is JSON, as text otherwise."""
    text = data.decode()
    with contextlib.suppress(ValueError):
        return {"kind": "json", "value": json.loads(text)}
    return {"kind": "text", "value": text}


def tagged_file(path):
    return tagged(path.read_bytes()) if path.exists() else ABSENT


def observe(number, interface, operation, agent, option=None, stdin=None):
    """Call the agent and write down call `number` as a run record holds it."""
    return {
        "observationId": f"obs-{number}",
        "sequence": number,
        "interfaceId": interface,
        "operationId": operation,
        "provenance": "evaluator-chosen",
        "principal": None,
        "callInputs": {**dict.fromkeys(CHANNELS), "option": option, "stdin": stdin},
        "responseBody": None,
        "responseHeaders": None,
        "responseStatus": None,
        **agent.call(option, stdin),
    }


class Legs:
    """Pre-flight's side of the agent: clean legs go to the sound one, fault legs to the damaged one.

    An environment-probe port (`eval_quality.run_preflight`) that also keeps what was observed, so that the pipeline
    command can reduce the same observations from a file.
    """

    def __init__(self, sound, faulty):
        self.sound = sound
        self.faulty = faulty
        self.seen = []

    def probe(self, request, signal):
        """One leg: the request's channels to the agent, the answer back."""
        del signal
        asked = eval_quality.to_value(request)
        agent = self.faulty.get(asked["probeId"], self.sound)
        channels = asked["channels"]
        stdin = channels["stdin"]
        answer = agent.call(channels["option"], stdin["value"] if stdin["kind"] == "json" else None)
        observed = {name: asked[name] for name in ("probeId", "interfaceId", "operationId", "kind")}
        observation = {**observed, **answer}
        self.seen.append(observation)
        return observation


def preflight_observations(contract, probes, sound, faulty):
    """Every leg pre-flight plans, observed; `faulty` maps a fault leg's id to the agent that carries the fault."""
    legs = Legs(sound, faulty)
    eval_quality.run_preflight(
        contract=contract, probes=probes, run_id="capture", port=legs, signal=eval_quality.AbortSignal()
    )
    return legs.seen


def configuration(contract, identity, tools):
    """Who evaluates under this contract: a script, so nothing is decoded and nothing is seeded."""
    brief = eval_quality.seal_contract(contract)
    return {
        **lineage(1),
        "sealedBriefDigest": eval_quality.digest_artifact(brief, "SealedEvaluatorBrief"),
        "evaluatorIdentity": identity,
        "modelSnapshot": "none: a script",
        "systemPromptDigest": digest(b""),
        "decodingParameters": {},
        "toolInventory": list(tools),
        "permissionInventory": [],
        "budgets": contract["budgets"],
        "seed": None,
        "judgeConfiguration": None,
    }


def shared_members(contract, settings, run_id):
    """What a record and its isolation manifest must agree on."""
    return {
        "runId": run_id,
        "conditionArm": "scripted",
        "contractDigest": eval_quality.digest_artifact(contract, "EvalContract"),
        "evaluatorConfigurationDigest": eval_quality.digest_artifact(settings, "EvaluatorConfiguration"),
    }


def isolation_manifest(contract, settings, run_id, calls):
    """What the evaluator was kept from, and what it was seen to use."""
    return {
        **lineage(1),
        **shared_members(contract, settings, run_id),
        "contractId": contract["contractId"],
        "modelSnapshot": settings["modelSnapshot"],
        "systemPromptDigest": settings["systemPromptDigest"],
        "workspaceIdentity": "a fresh folder for each call",
        "allowedMounts": [],
        "observedMounts": [],
        "networkAllowlist": [],
        "observedNetworkTargets": [],
        "toolAllowlist": settings["toolInventory"],
        "observedToolCalls": settings["toolInventory"],
        "resourceCeilings": {
            "maxToolCalls": 20,
            "maxInputTokens": 1,
            "maxOutputTokens": 1,
            "maxWallClockMinutes": 5,
            "maxCostUsd": "1.0",
        },
        "actualResourceUse": {"toolCalls": calls, **USE},
        "forbiddenInputAccounting": {name: {"withheld": True, "note": None} for name in FORBIDDEN_INPUTS},
        "violation": None,
    }


def run_record(contract, settings, run_id, trial, seen, verdicts, findings, manifest, actions):
    """One trial; `verdicts` are (oracle id, holds, observations it rests on)."""
    return {
        **lineage(8),
        **shared_members(contract, settings, run_id),
        "mode": "contract-scoring",
        "trialIndex": trial,
        "sealedBriefDigest": settings["sealedBriefDigest"],
        "evaluatorRecommendation": "FAIL" if findings else "PASS",
        "oracleDispositions": [
            {
                "oracleId": oracle,
                "disposition": "held" if holds else "violated",
                "observationIds": [observation["observationId"] for observation in rests_on],
                "note": None,
            }
            for oracle, holds, rests_on in verdicts
        ],
        "findings": findings,
        "observations": seen,
        "judgeResults": [],
        "actionsArtifact": actions,
        "isolationManifestArtifact": manifest,
        "resourceUse": {"toolCalls": len(seen), **USE},
        "evidenceDisclosure": {"truncationBound": None, "reportedIncomplete": False},
    }


def defect_finding(number, oracle, behavior, probe_id, severity, summary, observation, quotes):
    """A defect the evaluator reports; `quotes` are (channel, exact text)."""
    return {
        "findingType": "defect",
        "findingId": f"F-{number:03}",
        "oracleId": oracle,
        "probeId": probe_id,
        "behaviorId": behavior,
        "severity": severity,
        "summary": summary,
        "confidence": 0.95,
        "observationIds": [observation["observationId"]],
        "evidenceArtifacts": [],
        "quotedEvidence": [{"quote": text, "channel": channel, "artifactId": None} for channel, text in quotes],
    }


def write_trials(writer, folder, contract, settings, run_id, trial, trials=3):
    """`trials` records and the manifest they share; `trial()` gives (observations, verdicts, findings)."""
    calls = None
    for number in range(1, trials + 1):
        seen, verdicts, findings = trial()
        if calls is None:
            calls = len(seen)
            manifest = writer.write(
                f"{folder}/isolation-manifest.json", isolation_manifest(contract, settings, run_id, calls)
            )
        actions = writer.write(f"{folder}/actions-{number}.json", [entry["callInputs"] for entry in seen])
        record = run_record(contract, settings, run_id, number, seen, verdicts, findings, manifest, actions)
        writer.write(f"{folder}/record-{number}.json", record)


def selector(**channels):
    """The selector of a signature: all nine channels, null where nothing is asked."""
    names = [name for name in CHANNELS if name != "bodyEncoding"]
    return {"inputBinding": {**dict.fromkeys(names), **channels}}
