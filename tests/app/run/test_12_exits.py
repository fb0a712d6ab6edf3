"""What a finished run comes to: spec 12 §12.20, §12.26, §12.28."""

import json
from pathlib import Path
from typing import Any

import pytest

from eval_quality.value.digest import digest_bytes, digest_value
from support.experiments import CLEAN_DRAFT, defect_draft, write_experiment
from support.runs import drive_here, edit

BLIND = {"behavior_id": "B-002"}
"""A probe of the behaviour whose oracle only believes the answer; the contract has no other then."""


def prepared(root: Path, draft: dict[str, Any], **tables: str) -> Path:
    """An experiment with one defect; a blind one has a contract that believes answers and never reads back."""
    folder = write_experiment(root, "python", **tables)
    (folder / "probes" / "p-001.json").write_text(json.dumps(defect_draft("python", **draft)))
    if "behavior_id" in draft:
        contract = json.loads((folder / "contract.json").read_text())
        contract["behaviors"] = contract["behaviors"][1:]
        contract["oracles"] = contract["oracles"][1:]
        (folder / "contract.json").write_text(json.dumps(contract))
        (folder / "probes" / "p-002.json").write_text(json.dumps({**CLEAN_DRAFT, **BLIND}))
    return folder


CASES: dict[str, tuple[dict[str, Any], dict[str, Any], dict[str, Any], int, list[str]]] = {
    # draft, floors, options -> exit code, codes of the reasons
    "caught and quiet": ({}, {}, {}, 0, []),
    "concerns are promoted only when asked to": ({}, {}, {"strict": True}, 1, ["cell-concerns", "cell-concerns"]),
    "missed wins over promoted concerns": (BLIND, {}, {"strict": True}, 2, ["cell-failed", "cell-concerns"]),
    "a known miss does not gate": ({**BLIND, "pending": True}, {}, {}, 0, []),
    "a known miss that is caught is stale": ({"pending": True}, {}, {}, 2, ["cell-stale"]),
    "a floor that is met": ({}, {"defect": 1.0}, {}, 0, []),
    "a floor that is not met": ({**BLIND, "pending": True}, {"defect": 0.5}, {}, 2, ["floor-not-met"]),
    "too few trials for a floor": ({}, {"defect": 0.5}, {"trials": 1}, 2, ["floor-not-met"]),
}


@pytest.mark.parametrize("name", CASES)
def test_s12_28_the_exit_code_of_a_finished_run(name: str, tmp_path: Path) -> None:
    draft, floors, options, code, reasons = CASES[name]
    folder = prepared(tmp_path, draft)
    (folder / "floors.json").write_text(json.dumps(floors))
    result = drive_here(folder, tmp_path / "run", **options)
    assert result.summary is not None
    assert (result.exit_code, [reason["code"] for reason in result.summary["reasons"]]) == (code, reasons)
    assert result.exit_code == result.summary["exitCode"]
    assert json.loads((tmp_path / "run" / "summary.json").read_text()) == result.summary
    for reason in result.summary["reasons"]:
        assert reason["path"].startswith(("Cell[deterministic/P-00", "Aggregate[deterministic]"))


@pytest.mark.slow
def test_s12_5_2_a_floor_can_be_reported_only(tmp_path: Path) -> None:
    folder = prepared(tmp_path, {"pending": True, **BLIND}, run='floor_gate = "report"\n')
    (folder / "floors.json").write_text('{"defect": 0.5}')
    result = drive_here(folder, tmp_path / "run")
    assert result.summary is not None
    assert result.exit_code == 0
    assert result.summary["aggregates"][0]["floorDecisions"]["defect"]["decision"] == "does-not-meet"


def test_s12_26_the_summary_says_what_happened(tmp_path: Path) -> None:
    folder = write_experiment(tmp_path, "python", run='evaluators = ["deterministic"]\nseed = 3\n')
    edit(
        folder / "experiment.toml",
        ('id = "store-python"\n', 'id = "store-python"\ntitle = "A store"\nlabel = "first"\n'),
    )
    summary = drive_here(folder, tmp_path / "run").summary
    assert summary is not None
    assert (summary["title"], summary["label"], summary["status"], summary["mode"]) == (
        "A store",
        "first",
        "done",
        "contract-scoring",
    )
    assert (summary["selection"], summary["wallClockSeconds"], summary["warnings"]) == (None, None, [])
    assert summary["confinement"] == {"subject": {"backend": "none"}, "evaluator": {"backend": "none"}}
    (strength,) = summary["aggregates"]
    assert strength["classes"]["defect"] == {
        **strength["classes"]["defect"],
        "eligible": 1,
        "exercised": 1,
        "caught": 1,
        "rate": 1,
    }
    low, high = strength["intervals"]["defect"]["wilson95"]
    assert (round(low, 3), high) == (0.207, 1)
    for cell in summary["cells"]:
        assert [(trial["index"], trial["evaluatorStop"], trial["calls"]) for trial in cell["trials"]] == [
            (number, "submitted", 2) for number in (1, 2, 3)
        ]
    for path, facts in summary["artifacts"].items():
        assert (tmp_path / "run" / path).stat().st_size == facts["bytes"]
    # a label tells intended repetitions apart, and nothing else does
    again = drive_here(folder, tmp_path / "again", label="second").summary
    assert again is not None
    runs = [{cell["runId"].rpartition(".")[0] for cell in one["cells"]} for one in (summary, again)]
    keys = [{cell["runId"].rpartition(".")[2] for cell in one["cells"]} for one in (summary, again)]
    assert runs[0] == runs[1] == {"store-python.deterministic.P-001", "store-python.deterministic.P-002"}
    assert not keys[0] & keys[1]
    assert again["digests"] == summary["digests"]


def test_s12_2_a_selection_is_recorded(tmp_path: Path) -> None:
    folder = write_experiment(tmp_path, "python")
    summary = drive_here(folder, tmp_path / "run", probes=("P-002",), trials=1).summary
    assert summary is not None
    assert summary["selection"] == {"evaluators": [], "probes": ["P-002"]}
    assert [cell["probeId"] for cell in summary["cells"]] == ["P-002"]


def test_s12_11_5_minted_probes(tmp_path: Path) -> None:
    """Each row of the table of 12.11.5 for a mutation and a clean control."""
    folder = write_experiment(tmp_path, "python")
    edit(folder / "experiment.toml", ('system_id = "store"\n', 'system_id = "store"\nrevision = "v1"\n'))
    drive_here(folder, tmp_path / "run", until="score", trials=1)
    run = tmp_path / "run"
    defect, clean = (json.loads((run / "probes" / f"P-00{number}.json").read_text()) for number in (1, 2))
    revision = digest_bytes(b"v1")
    for probe, draft in ((defect, defect_draft("python")), (clean, CLEAN_DRAFT)):
        assert (probe["schemaVersion"], probe["parentDigest"], probe["revisionCount"]) == (6, None, 0)
        assert (probe["commitDigest"], probe["systemId"], probe["rationale"]) == (revision, "store", draft["rationale"])
    assert defect["artifactDigest"] == digest_value(
        {
            "id": "forgets",
            "kind": "replace",
            "operator": "drop-the-write",
            "encoding": "utf-8",
            "file": "store.py",
            "find": "    kept[key] = value\n",
            "replace": '    if key == "zz":\n        return {"ok": False, "value": value}\n',
        },
        "Mutation",
    )
    assert clean["artifactDigest"] == clean["implementationDigest"] != defect["implementationDigest"]
    assert (defect["expectedClean"], clean["expectedClean"]) == (False, True)
    assert "defectSignature" not in clean
    qualification = defect["qualification"]
    assert qualification["mutationSource"] == "store-python/forgets"
    assert qualification["mutationOperator"] == "drop-the-write"
    assert qualification["targetArtifact"] == {
        "storage": "public",
        "path": "store.py",
        "privateRef": None,
        "digest": digest_bytes((folder.parent / "subject" / "store.py").read_bytes()),
    }
    assert defect["defects"][0]["source"] == "controlled-mutation"
    readings = [*defect["defects"][0]["oracleEvidence"], qualification["baselinePassEvidence"]]
    readings += [qualification["mutatedFailEvidence"], clean["qualification"]["baselinePassEvidence"]]
    for reference in readings:
        assert reference["digest"] == digest_bytes((run / reference["path"]).read_bytes())
    assert clean["qualification"]["revisionCommitDigest"] == revision
    assert clean["qualification"]["noKnownDefectStatement"] == CLEAN_DRAFT["no_known_defect"]
