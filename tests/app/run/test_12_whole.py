"""Whole runs of each subject kind, and what they come to: spec 12 §12.10, §12.15, §12.17-12.20, §12.28."""

import json
import subprocess
from pathlib import Path

import pytest

from eval_quality.run.confine import bubblewrap
from eval_quality.run.errors import RunFault
from support.experiments import write_experiment
from support.reviewers import ATTESTED, BAD, HEAD, honest, write_reviewed
from support.runs import artifacts, command, drive_here, edit, resume_here, rows, run

KINDS = ("cli", "mcp", "api", "python")
needs_bwrap = pytest.mark.skipif(bubblewrap.find_program() is None, reason="bubblewrap is not installed")


def states(summary: dict[str, object]) -> dict[tuple[str, str], str]:
    return {(cell["evaluatorId"], cell["probeId"]): cell["state"] for cell in summary["cells"]}  # type: ignore[index]


@pytest.mark.slow
@needs_bwrap
@pytest.mark.parametrize("kind", KINDS)
def test_s12_10_each_kind_confined_and_unconfined_says_the_same(kind: str, tmp_path: Path) -> None:
    folder = write_reviewed(tmp_path, kind, {"reviewer": honest(kind)}, only=False, run="trials = 1\n")
    here = run(folder, tmp_path / "none", *ATTESTED)
    inside = run(folder, tmp_path / "bwrap", "--confine", "bwrap")
    for ended in (here, inside):
        assert ended.code == 0, ended.err
        assert states(ended.summary) == {
            ("deterministic", "P-001"): "caught",
            ("deterministic", "P-002"): "passed",
            ("reviewer", "P-001"): "caught",
            ("reviewer", "P-002"): "passed",
        }
    one, two = artifacts(tmp_path / "none", "reproducible"), artifacts(tmp_path / "bwrap", "reproducible")
    assert one.keys() == two.keys()
    # what was confined is part of the configuration of an external evaluator, and of whatever names its digest
    differing = {name for name in one if one[name] != two[name]}
    assert all("reviewer" in name or name == "classic.json" for name in differing)
    manifest = json.loads((tmp_path / "bwrap/cells/reviewer/P-001/isolation-manifest.json").read_text())
    assert manifest["allowedMounts"] == manifest["observedMounts"] != ["host"]
    assert {entry["withheld"] for entry in manifest["forbiddenInputAccounting"].values()} == {True}


@pytest.mark.parametrize("kind", ["python", *(pytest.param(kind, marks=pytest.mark.slow) for kind in KINDS[:3])])
def test_s12_20_4_the_classic_commands_reproduce_every_artifact(kind: str, tmp_path: Path) -> None:
    """T12-34: every command line of `classic.json`, as a child process, byte for byte."""
    folder = write_experiment(tmp_path, kind)
    (folder / "floors.json").write_text('{"defect": 0.5}')
    assert drive_here(folder, tmp_path / "run").exit_code == 0
    listed = json.loads((tmp_path / "run" / "classic.json").read_text())["commands"]
    assert [entry["argv"][1] for entry in listed] == [
        "compile",
        "seal",
        "preflight",
        "score",
        "score",
        "aggregate-strength",
    ]
    for entry in listed:
        assert entry["argv"][0] == "eval-quality"
        done = subprocess.run(
            command(*entry["argv"][1:]), cwd=tmp_path / "run", capture_output=True, timeout=120, check=False
        )
        assert done.returncode == 0, done.stderr
        assert done.stdout == (tmp_path / "run" / entry["artifact"]).read_bytes(), entry["artifact"]


def test_s12_23_artifacts_do_not_depend_on_the_concurrency(tmp_path: Path) -> None:
    """M9."""
    folder = write_experiment(tmp_path, "python", run="trials = 3\n")
    seen = []
    for concurrency in (1, 4, 32):
        directory = tmp_path / str(concurrency)
        drive_here(folder, directory, concurrency=concurrency)
        seen.append(
            {**artifacts(directory, "reproducible", "measured"), "s": (directory / "summary.json").read_bytes()}
        )
    assert len(seen[0]) > 20
    assert seen[0] == seen[1] == seen[2]


@pytest.mark.slow
def test_s12_17_5_times_are_measured_unless_they_are_left_out(tmp_path: Path) -> None:
    folder = write_experiment(tmp_path, "python", run="trials = 1\n")
    drive_here(folder, tmp_path / "timed", reproducible=False)
    drive_here(folder, tmp_path / "untimed", reproducible=True)
    timed, untimed = artifacts(tmp_path / "timed", "measured"), artifacts(tmp_path / "untimed", "measured")
    assert timed.keys() == untimed.keys()
    record = json.loads(timed["cells/deterministic/P-001/record-1.json"])
    assert record["resourceUse"]["wallClockSeconds"] > 0
    assert json.loads(untimed["cells/deterministic/P-001/record-1.json"])["resourceUse"]["wallClockSeconds"] == 0
    known = artifacts(tmp_path / "timed", "reproducible")
    assert known == artifacts(tmp_path / "untimed", "reproducible")
    edit(folder / "experiment.toml", ("[run]\n", '[run]\nwall_clock = "omitted"\n'))
    drive_here(folder, tmp_path / "omitted", reproducible=False)
    assert artifacts(tmp_path / "omitted", "measured") == untimed


def test_s12_10_every_phase_can_be_the_last_one_for_now(tmp_path: Path) -> None:
    folder = write_experiment(tmp_path, "python", run="trials = 1\n")
    drive_here(folder, tmp_path / "whole")
    assert drive_here(folder, tmp_path / "run", until="preflight").summary is None
    seen = []
    for until in ("qualify", "measure", "score"):
        seen.append(
            dict(rows(tmp_path / "run", "SELECT kind, count(*) FROM item WHERE state = 'captured' GROUP BY kind"))
        )
        assert rows(tmp_path / "run", "SELECT state, reason FROM run_state ORDER BY seq DESC LIMIT 1") == [
            ("stopped", "until")
        ]
        # the experiment is not needed any more: the run works from what it kept
        (folder / "experiment.toml").unlink(missing_ok=True)
        result = resume_here(tmp_path / "run", until=until)
    assert seen == [
        {"fixture": 1},
        {"fixture": 1, "qualify": 2, "arm": 1},
        {"fixture": 1, "qualify": 2, "arm": 1, "trial": 2},
    ]
    assert result.exit_code == 0
    assert artifacts(tmp_path / "run", "reproducible", "measured") == artifacts(
        tmp_path / "whole", "reproducible", "measured"
    )
    assert rows(tmp_path / "run", "SELECT item_id FROM attempt GROUP BY item_id HAVING count(*) > 1") == []
    # a finished run is not run again
    again = resume_here(tmp_path / "run")
    assert (again.exit_code, again.summary) == (result.exit_code, result.summary)


def test_s12_4_an_edit_of_the_folder_during_a_run_changes_nothing(tmp_path: Path) -> None:
    """T12-04."""
    folder = write_experiment(tmp_path, "python", run="trials = 1\n")
    drive_here(folder, tmp_path / "whole")
    drive_here(folder, tmp_path / "run", until="qualify")
    edit(folder.parent / "subject" / "store.py", ("    kept[key] = value\n", "    kept[key] = 'tampered'\n"))
    edit(folder / "contract.json", ('"store"', '"shop"'))
    (folder / "probes" / "p-001.json").unlink()
    assert resume_here(tmp_path / "run").exit_code == 0
    kinds = ("reproducible", "measured", "input")
    one, two = artifacts(tmp_path / "run", *kinds), artifacts(tmp_path / "whole", *kinds)
    assert one == two


@pytest.mark.parametrize(
    "transport", ["stdout", *(pytest.param(name, marks=pytest.mark.slow) for name in ("bridge", "command"))]
)
def test_s12_15_1_one_reviewer_three_transports(transport: str, tmp_path: Path) -> None:
    folder = write_reviewed(tmp_path, "python", {"reviewer": honest("python", transport)})
    ended = run(folder, tmp_path / "run", *ATTESTED)
    assert ended.code == 0, ended.err
    assert states(ended.summary) == {("reviewer", "P-001"): "caught", ("reviewer", "P-002"): "passed"}
    record = json.loads((tmp_path / "run/cells/reviewer/P-001/record-1.json").read_text())
    assert [seen["callInputs"]["option"] for seen in record["observations"]] == [
        {"key": "a", "value": "mine"},
        {"key": "a"},
    ]
    assert record["findings"][0]["findingId"] == "F-001"
    assert record["findings"][0]["probeId"] == "P-001"
    assert record["oracleDispositions"][1]["note"] == "not reported by the evaluator"
    assert (record["evaluatorRecommendation"], record["resourceUse"]["toolCalls"]) == ("FAIL", 2)


@pytest.mark.slow
def test_s12_14_5_how_a_badly_behaved_reviewer_ends(tmp_path: Path) -> None:
    names = {f"bad-{number}": (HEAD + program, stop) for number, (program, stop) in enumerate(BAD.values())}
    folder = write_reviewed(
        tmp_path,
        "python",
        {name: program for name, (program, _) in names.items()},
        fields='max_wall_s = 5\nmax_output_bytes = "1MiB"\n',
    )
    ended = run(folder, tmp_path / "run", "--probe", "P-001", *ATTESTED)
    # CONCERNS alone do not gate: nothing was claimed and nothing was exercised
    assert ended.code == 0, ended.err
    found = {cell["evaluatorId"]: cell for cell in ended.summary["cells"]}
    assert {name: found[name]["trials"][0]["evaluatorStop"] for name in names} == {
        name: stop for name, (_, stop) in names.items()
    }
    for name in names:
        # the trial counts, with nothing said: it is neither repeated nor invalid
        assert found[name]["verdict"] is not None
        record = json.loads((tmp_path / f"run/cells/{name}/P-001/record-1.json").read_text())
        assert record["evaluatorRecommendation"] == "CONCERNS"
        assert {entry["disposition"] for entry in record["oracleDispositions"]} == {"not-attempted"}
        assert record["findings"] == []
    assert rows(tmp_path / "run", "SELECT count(*) FROM attempt WHERE state != 'captured'") == [(0,)]
    assert list((tmp_path / "run" / "work").iterdir()) == []


def test_s12_17_3_an_unconfined_reviewer_counts_only_when_somebody_signs(tmp_path: Path) -> None:
    folder = write_reviewed(tmp_path, "python", {"reviewer": honest("python")})
    unsigned = run(folder, tmp_path / "unsigned")
    assert unsigned.code == 3
    assert {cell["state"] for cell in unsigned.summary["cells"]} == {"invalid"}
    assert "cell-invalid: Cell[reviewer/P-001]" in unsigned.err
    signed = run(folder, tmp_path / "signed", *ATTESTED)
    assert signed.code == 0
    assert signed.summary["attestations"]["source-code"] == "kept apart by hand"
    manifest = json.loads((tmp_path / "signed/cells/reviewer/P-001/isolation-manifest.json").read_text())
    assert manifest["observedMounts"] == ["host"]
    assert manifest["forbiddenInputAccounting"]["source-code"] == {
        "withheld": True,
        "note": "attested by the operator, not enforced: kept apart by hand",
    }
    assert "UNCONFINED: the evaluator ran without isolation" in signed.err
    # one missing signature is one too few
    assert run(folder, tmp_path / "partly", *ATTESTED[2:]).code == 3


def test_s13_9_5_a_host_without_the_sandbox_program_refuses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = write_experiment(tmp_path, "python")
    monkeypatch.setattr(bubblewrap, "find_program", lambda: None)
    for backend in (None, "auto", "bwrap"):
        with pytest.raises(RunFault) as caught:
            drive_here(folder, tmp_path / "run", confine=backend)
        (problem,) = caught.value.problems
        assert problem.code == "confinement-unavailable"
        assert "--confine none" in problem.detail
        # nothing was started and nothing was left behind
        assert not (tmp_path / "run").exists()
    assert drive_here(folder, tmp_path / "run", confine="none", trials=1).exit_code == 0
