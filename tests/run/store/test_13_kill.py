"""Killing the process at any instant and going on (spec 13 §13.6; T13-05, T13-06)."""

import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import pytest

from eval_quality.run.errors import RunFault
from eval_quality.run.store.directory import Run
from eval_quality.run.store.verify import verify_run

WORKER = Path(__file__).with_name("worker.py")
NAMES = [f"trial/a/P-{probe:03d}/{trial}" for probe in (1, 2, 3, 4) for trial in (1, 2, 3)]
MAX_STARTS = 60


def start(directory: Path, log: Path, *words: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, str(WORKER), str(directory), str(log), *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )


def views(directory: Path) -> dict[str, bytes]:
    paths = [*directory.glob("cells/**/*.json"), directory / "summary.json"]
    return {str(path.relative_to(directory)): path.read_bytes() for path in paths}


class Calm(NamedTuple):
    """A run that nothing disturbed: its views, and how long it took here and now."""

    views: dict[str, bytes]
    seconds: float


@pytest.fixture(scope="module")
def calm(tmp_path_factory: pytest.TempPathFactory) -> Calm:
    folder = tmp_path_factory.mktemp("calm")
    began = time.monotonic()
    worker = start(folder / "calm", folder / "calm.log", "create")
    out, err = worker.communicate(timeout=60)
    assert out == b"done\n", err
    return Calm(views(folder / "calm"), time.monotonic() - began)


@pytest.fixture
def expected(calm: Calm) -> dict[str, bytes]:
    return calm.views


def kill_round(folder: Path, random_: random.Random, calm: Calm) -> tuple[int, int]:
    """One run, killed again and again until it is done: (kills, executions)."""
    directory, log = folder / "run", folder / "log"
    kills = 0
    for number in range(MAX_STARTS):
        worker = start(directory, log, "create")
        # On a busy machine every start takes longer; a round must end all the same.
        limit = calm.seconds * (1.1 + number / 10)
        try:
            out, err = worker.communicate(timeout=random_.uniform(0.02, limit))
        except subprocess.TimeoutExpired:
            os.killpg(worker.pid, signal.SIGKILL)
            worker.communicate()
            kills += 1
            continue
        if out == b"done\n":
            break
        # The only refusal there may be: the run was killed while its directory was being made.
        assert b"run directory is not empty" in err or b"was never planned" in err, err
        assert not log.exists() or log.read_bytes() == b""
        subprocess.run(["rm", "-r", str(directory)], check=True)
    else:
        pytest.fail(f"not done after {MAX_STARTS} starts")
    found = verify_run(directory)
    assert found.damage == ()
    assert (found.state, found.items, found.captures) == ("done", len(NAMES), len(NAMES))
    assert views(directory) == calm.views
    executed = Counter(log.read_text().split())
    assert set(executed) == set(NAMES)
    with Run.open(directory) as run:
        captured = [capture.item_id for capture in run.journal.captures()]
        assert captured == NAMES
        # A trial is executed again exactly as often as an attempt of it was lost, once started.
        for item in run.journal.items():
            assert 1 <= executed[item.item_id] <= 1 + item.lost
            assert item.void == 0
        assert run.journal.calls_booked() == len(NAMES) + sum(item.lost for item in run.journal.items())
    return kills, sum(executed.values())


def test_s13_6_kills_at_random_instants(tmp_path: Path, calm: Calm) -> None:
    random_ = random.Random(136)
    kills = 0
    for number in range(3):
        folder = tmp_path / str(number)
        folder.mkdir()
        kills += kill_round(folder, random_, calm)[0]
    assert kills > 0


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_s13_6_many_kills_at_random_instants(tmp_path: Path, calm: Calm) -> None:
    random_ = random.Random(20260913)
    kills = rounds = 0
    while kills < 200:
        folder = tmp_path / str(rounds)
        folder.mkdir()
        kills += kill_round(folder, random_, calm)[0]
        rounds += 1
    assert rounds > 10


SUICIDE = """
import os, runpy, signal, sys
from eval_quality.run.store import directory as d, journal as j
point, moment, hit, *arguments = sys.argv[1:]
owner = d.Run if point == "publish" else j.Journal
real, count = getattr(owner, point), [0]
def shim(*positional, **options):
    count[0] += 1
    dies = count[0] == int(hit)
    if dies and moment == "before": os.kill(os.getpid(), signal.SIGKILL)
    result = real(*positional, **options)
    if dies: os.kill(os.getpid(), signal.SIGKILL)
    return result
setattr(owner, point, shim)
sys.argv = arguments
runpy.run_path(arguments[0], run_name="__main__")
"""


@pytest.mark.parametrize("point", ["begin", "capture", "enter", "publish"])
@pytest.mark.parametrize(("moment", "hit"), [("after", 1), ("before", 3)])
def test_s13_6_2_killed_at_a_named_instant(
    tmp_path: Path, expected: dict[str, bytes], point: str, moment: str, hit: int
) -> None:
    """The process kills itself right before, or right after, a step is committed."""
    directory, log = tmp_path / "run", tmp_path / "log"
    command = [sys.executable, "-c", SUICIDE, point, moment, str(hit), str(WORKER), str(directory), str(log), "create"]
    done = subprocess.run(command, capture_output=True, timeout=60)
    assert done.returncode == -signal.SIGKILL, done.stderr
    out, err = start(directory, log).communicate(timeout=60)
    assert out == b"done\n", err
    assert views(directory) == expected
    assert verify_run(directory).damage == ()


def test_s13_7_1_a_second_writer_is_refused_and_harms_nothing(tmp_path: Path) -> None:
    with Run.create(tmp_path / "run", {}) as run:
        run.journal.plan([], "sha256:" + "1" * 64)
        worker = start(tmp_path / "run", tmp_path / "log")
        _, err = worker.communicate(timeout=60)
        assert f"store-locked in Run[run]: the run is being written by process {os.getpid()} on ".encode() in err
        with pytest.raises(RunFault, match="store-locked"):
            verify_run(tmp_path / "run")
        run.journal.event("still works")


def test_g4_two_runs_at_once_in_one_store(tmp_path: Path) -> None:
    workers = [start(tmp_path / "runs" / name, tmp_path / f"{name}.log", "create") for name in ("one", "two")]
    for worker in workers:
        out, err = worker.communicate(timeout=60)
        assert out == b"done\n", err
    assert views(tmp_path / "runs" / "one") == views(tmp_path / "runs" / "two")


def test_a_stopped_process_goes_on(tmp_path: Path, expected: dict[str, bytes]) -> None:
    worker = start(tmp_path / "run", tmp_path / "log", "create")
    log = tmp_path / "log"
    while not log.exists() or not log.stat().st_size:
        time.sleep(0.001)
    os.kill(worker.pid, signal.SIGSTOP)
    time.sleep(0.1)
    with pytest.raises(RunFault):
        Run.open(tmp_path / "run")
    os.kill(worker.pid, signal.SIGCONT)
    out, err = worker.communicate(timeout=60)
    assert out == b"done\n", err
    assert views(tmp_path / "run") == expected
