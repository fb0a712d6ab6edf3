"""A run killed at any instant goes on to the same bytes: spec 13 §13.6 (more rounds: benchmarks/run_reliability.py)."""

import json
import os
import random
import signal
import subprocess
from pathlib import Path

import pytest

from eval_quality.run.store.directory import Run
from support.experiments import write_experiment
from support.reviewers import ATTESTED, honest, write_reviewed
from support.runs import artifacts, command, drive_here, eval_quality, rows, run

KINDS = ("reproducible", "measured")


def in_flight(directory: Path) -> bool:
    """Whether an attempt was begun and not ended, now or before an earlier resumption."""
    found = rows(directory, "SELECT count(*) FROM attempt WHERE state != 'captured'")
    return found != [(0,)]


@pytest.mark.slow
def test_s13_6_3_kills_lose_nothing_and_double_nothing(tmp_path: Path) -> None:
    chance = random.Random(11)
    folder = write_reviewed(tmp_path, "python", {"reviewer": honest("python")}, only=False, run="trials = 2\n")
    assert run(folder, tmp_path / "whole", *ATTESTED).code == 0
    words = ["run", folder, "--run-dir", tmp_path / "run", "--confine", "none", "--reproducible", *ATTESTED]
    total = len(rows(tmp_path / "whole", "SELECT * FROM event"))
    kills = 0
    # four kills, and more while none of them has met an item at work
    while kills < 4 or (kills < 20 and not in_flight(tmp_path / "run")):
        process = subprocess.Popen(
            command(*words, "--json"), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True
        )
        assert process.stdout is not None
        for _ in range(chance.randint(1, total // 3)):
            if not process.stdout.readline():
                break
        for line in process.stdout:
            if json.loads(line)["event"] == "item.started":
                break
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        process.stdout.close()
        kills += 1
        words = ["run", "--resume", tmp_path / "run"]
    done = eval_quality("run", "--resume", tmp_path / "run", "--json")
    assert done.code == 0, done.err
    assert done.events[-1]["event"] == "run.finished"
    assert rows(tmp_path / "run", "SELECT count(*) FROM item WHERE state != 'captured'") == [(0,)]
    assert rows(tmp_path / "run", "SELECT count(*) > 0 FROM attempt WHERE state = 'lost'") == [(1,)]
    assert artifacts(tmp_path / "run", *KINDS) == artifacts(tmp_path / "whole", *KINDS)
    summary = json.loads((tmp_path / "run" / "summary.json").read_text())
    assert {cell["state"] for cell in summary["cells"]} == {"caught", "passed"}


def test_s13_1_two_runs_share_a_store(tmp_path: Path) -> None:
    folder = write_experiment(tmp_path, "python", run="trials = 1\n")
    words = ("run", folder, "--store", tmp_path / "store", "--confine", "none", "--reproducible", "--progress", "none")
    both = [subprocess.Popen(command(*words), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) for _ in range(2)]
    assert [process.wait(240) for process in both] == [0, 0]
    one, two = (tmp_path / "store" / "runs" / "store-python").iterdir()
    assert artifacts(one, *KINDS) == artifacts(two, *KINDS)


def test_s13_1_one_run_directory_has_one_writer(tmp_path: Path) -> None:
    folder = write_experiment(tmp_path, "python", run="trials = 1\n")
    drive_here(folder, tmp_path / "run", until="qualify")
    with Run.open(tmp_path / "run"):
        ended = eval_quality("run", "--resume", tmp_path / "run")
    assert ended.code == 5
    assert "eval-quality: store-locked: " in ended.err
    assert eval_quality("run", "--resume", tmp_path / "run").code == 0
