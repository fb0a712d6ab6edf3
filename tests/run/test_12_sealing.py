"""Records, manifests and configurations from what really happened: spec 12 §12.17."""

import json
from pathlib import Path
from typing import Any

import pytest

from eval_quality.run.evaluators.configuration import CommandFacts, evaluator_facts
from eval_quality.run.experiment.document import Evaluator
from eval_quality.run.sealing import FORBIDDEN_INPUTS, Cell, TrialCapture, accounting, manifest, record, worst
from eval_quality.value.digest import digest_bytes, digest_value
from support.experiments import write_experiment
from support.runs import planned

CELL = Cell("e.x.P-001.k", "mutated:forgets", "contract-scoring", "c", "b", "f", "x", "P-001")


def capture(index: int, recommendation: str = "PASS", **isolation: Any) -> TrialCapture:
    seen = {
        "mounts": ["m"],
        "allowedMounts": ["m"],
        "network": [],
        "allowedNetwork": [],
        "tools": ["store/get"],
        "accounting": accounting(True, "why"),
    }
    return TrialCapture(index, recommendation, [], [], [], [], index, index / 2, {**seen, **isolation})


def test_s12_17_1_members_of_a_record() -> None:
    trials = (capture(1), capture(2, "FAIL"), capture(3, "CONCERNS"))
    sealed = record(CELL, trials, trials[0], b"[]\n", b"{}\n")
    assert {key: sealed[key] for key in ("schemaVersion", "parentDigest", "revisionCount", "trialIndex")} == {
        "schemaVersion": 8,
        "parentDigest": None,
        "revisionCount": 0,
        "trialIndex": 1,
    }
    assert (sealed["runId"], sealed["conditionArm"], sealed["mode"]) == CELL[:3]
    assert sealed["evaluatorRecommendation"] == "FAIL"
    assert sealed["resourceUse"] == {
        "toolCalls": 1,
        "inputTokens": 0,
        "outputTokens": 0,
        "wallClockSeconds": 0.5,
        "costUsd": "0",
    }
    assert sealed["evidenceDisclosure"] == {"truncationBound": None, "reportedIncomplete": False}
    for member, file, data in (
        ("actionsArtifact", "actions-1.json", b"[]\n"),
        ("isolationManifestArtifact", "isolation-manifest.json", b"{}\n"),
    ):
        assert sealed[member] == {
            "storage": "public",
            "path": f"cells/x/P-001/{file}",
            "privateRef": None,
            "digest": digest_bytes(data),
        }


@pytest.mark.parametrize(
    ("set_", "expected"),
    [(("PASS",), "PASS"), (("PASS", "CONCERNS"), "CONCERNS"), (("FAIL", "CONCERNS", "PASS"), "FAIL")],
)
def test_s12_17_1_a_trial_set_has_one_recommendation(set_: tuple[str, ...], expected: str) -> None:
    assert worst(set_) == expected


def test_s12_17_3_a_manifest_adds_up_its_trials(tmp_path: Path) -> None:
    prepared = planned(write_experiment(tmp_path, "cli"))
    settings = {
        "modelSnapshot": "none",
        "systemPromptDigest": "p",
        "workspaceIdentity": "none",
        "toolInventory": ["store/get", "store/put"],
        "budgets": {"maxToolCalls": 20, "maxWallClockMinutes": 2},
    }
    trials = (capture(1, mounts=["b"], tools=[]), capture(2, mounts=["a", "b"], network=["bridge"]))
    sealed = manifest(CELL, prepared.contract, trials, settings)
    assert sealed["observedMounts"] == ["a", "b"]
    assert sealed["observedNetworkTargets"] == ["bridge"]
    assert sealed["observedToolCalls"] == ["store/get"]
    assert sealed["resourceCeilings"] == {
        "maxToolCalls": 40,
        "maxInputTokens": 1,
        "maxOutputTokens": 1,
        "maxWallClockMinutes": 4,
        "maxCostUsd": "0.000001",
    }
    assert (sealed["actualResourceUse"]["toolCalls"], sealed["actualResourceUse"]["wallClockSeconds"]) == (3, 1.5)
    assert sealed["violation"] is None
    assert set(sealed["forbiddenInputAccounting"]) == set(FORBIDDEN_INPUTS)


def test_s12_17_2_configurations(tmp_path: Path) -> None:
    prepared = planned(write_experiment(tmp_path, "cli"))
    own = evaluator_facts(prepared, None, None)
    assert own.configuration == {
        **own.configuration,
        "evaluatorIdentity": "eval-quality/deterministic",
        "modelSnapshot": "none",
        "systemPromptDigest": digest_bytes(b"eval-quality/deterministic/v1"),
        "decodingParameters": {},
        "toolInventory": ["store/get", "store/put"],
        "permissionInventory": [],
        "seed": None,
        "judgeConfiguration": None,
    }
    table = Evaluator(id="x", kind="command", command=("/usr/bin/python3", "a.py"), seed=4, max_wall_s=60)
    host = CommandFacts(b"program", "sha256:" + "1" * 64, ["env:B", "confine:bwrap/minimal"])
    other = evaluator_facts(prepared, table, host)
    assert other.configuration == {
        **other.configuration,
        "evaluatorIdentity": f"x:python3@{digest_bytes(b'program').removeprefix('sha256:')[:12]}",
        "modelSnapshot": "opaque",
        "systemPromptDigest": digest_value(["/usr/bin/python3", "a.py"], "argv"),
        "permissionInventory": ["confine:bwrap/minimal", "env:B"],
        "seed": 4,
    }
    assert other.configuration["budgets"]["maxWallClockMinutes"] == 1
    assert [name for name in other.configuration["toolInventory"] if name.startswith("bridge/")] == [
        "bridge/brief",
        "bridge/budget",
        "bridge/observations",
        "bridge/operations",
        "bridge/submit",
    ]
    assert other.settings["workspaceIdentity"] == "tree:sha256:" + "1" * 64
    assert other.digest == digest_value(json.loads(json.dumps(other.configuration)), "EvaluatorConfiguration")
