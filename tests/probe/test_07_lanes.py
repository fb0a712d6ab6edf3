"""Lanes, launches and the supervisor behind them (spec 07 §7.4.8, 13 §13.9.6)."""

import os
import resource
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from eval_quality.probe import lanes
from eval_quality.probe.lanes import Lane, LaneLost
from eval_quality.probe.process import Caps, Child, Launch, run_process
from support.hostile import PROGRAMS, eventually, launch, new_marker, survivors

CAPS = Caps(20_000, 65536)
ENVIRONMENT = {"PATH": os.defpath}


def shell(script: str, **more: object) -> Launch:
    return Launch(("/bin/sh", "-c", script), "/", ENVIRONMENT, **more)  # type: ignore[arg-type]


def test_s13_9_6_many_runs_at_once_do_not_mix() -> None:
    def one(number: int) -> str:
        return run_process(shell(f"cat; echo {number} >&2"), str(number).encode(), CAPS).stdout.decode()

    with ThreadPoolExecutor(12) as pool:
        assert list(pool.map(one, range(60))) == [str(number) for number in range(60)]
    assert len(lanes._supervisor.idle) <= lanes.MAX_IDLE_LANES


def test_s13_9_6_a_lost_supervisor_is_replaced() -> None:
    run_process(shell("true"), b"", CAPS)
    process = lanes._supervisor._process
    assert process is not None
    os.kill(process.pid, signal.SIGKILL)
    assert eventually(lambda: process.poll() is not None, 5)
    assert run_process(shell("echo again"), b"", CAPS).stdout == b"again\n"
    assert lanes._supervisor._process is not process


def test_s7_4_8_a_supervisor_that_dies_before_the_start_is_an_error() -> None:
    with Lane() as lane:
        process = lanes._supervisor._process
        assert process is not None
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        assert eventually(lambda: not lane.is_alive(), 5)
        with pytest.raises(LaneLost):
            run_process(shell("true"), b"", CAPS, lane=lane)
        assert not lane.is_alive()
    lanes._supervisor.distrust()
    assert run_process(shell("true"), b"", CAPS).exit_code == 0


def test_s13_9_6_a_forked_host_starts_from_nothing() -> None:
    run_process(shell("true"), b"", CAPS)
    code = """
import os, sys
from eval_quality.probe.process import Caps, Launch, run_process
def run():
    return run_process(Launch(("/bin/sh", "-c", "echo ok"), "/", {"PATH": os.defpath}), b"", Caps(20000, 100)).stdout
assert run() == b"ok\\n"
pid = os.fork()
if pid == 0:
    os._exit(0 if run() == b"ok\\n" else 1)
assert os.waitpid(pid, 0)[1] == 0
assert run() == b"ok\\n"
"""
    assert subprocess.run([sys.executable, "-c", code], timeout=60).returncode == 0


def test_s13_9_4_limits_hold_for_the_target_alone() -> None:
    limited = shell(
        "ulimit -n; ulimit -f", limits=((resource.RLIMIT_NOFILE, 17, 17), (resource.RLIMIT_FSIZE, 512, 512))
    )
    with Lane() as lane:
        assert run_process(limited, b"", CAPS, lane=lane).stdout == b"17\n1\n"
        assert run_process(shell("ulimit -n"), b"", CAPS, lane=lane).stdout != b"17\n"
        with pytest.raises(FileNotFoundError):
            run_process(limited._replace(argv=("/nonexistent",)), b"", CAPS, lane=lane)
        with pytest.raises(OSError, match="Invalid argument"):
            run_process(limited._replace(argv=("/bin/echo", "a\0b")), b"", CAPS, lane=lane)
        leader = run_process(limited._replace(argv=("/bin/sh", "-c", "echo $$; ps -o pgid=,sid= -p $$")), b"", CAPS)
        pid, group, session = leader.stdout.split()
        assert pid == group == session


def test_a_launch_may_carry_further_descriptors(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("from a descriptor")
    with open(tmp_path / "file") as file:
        done = run_process(shell("cat <&7", descriptors=((7, file.fileno()),)), b"", CAPS)
    assert done.stdout == b"from a descriptor"


def test_s13_9_6_strays_are_counted_when_the_lane_closes() -> None:
    marker = new_marker()
    lane = Lane()
    for _ in range(3):
        run_process(launch(("daemon",), marker), b"", CAPS, lane=lane)
    assert len(survivors(marker)) == 3
    assert lane.close() == 3
    assert survivors(marker) == []
    assert lane.close() == 0


def test_a_child_can_be_talked_to_and_signalled() -> None:
    with (
        Lane() as lane,
        Child(lane, shell("trap 'echo bye; exit 7' TERM; read x; echo got $x; while :; do sleep 0.05; done")) as child,
    ):
        child.write(b"hello\n")
        seen = b""
        while b"got hello\n" not in seen:
            seen += b"".join(event.data for event in child.wait(5) if event.kind == "stdout")
        assert eventually(lambda: child.pid > 0, 5)
        assert child.started_at <= time.monotonic()
        child.signal(signal.SIGTERM)
        while child.exit_code is None or child.streams_open:
            seen += b"".join(event.data for event in child.wait(5) if event.kind == "stdout")
        assert (child.exit_code, seen) == (7, b"got hello\nbye\n")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_host_kills_its_target(number: int) -> None:
    marker = new_marker()
    code = """
import sys
sys.path.insert(0, sys.argv[1])
from support.hostile import launch
from eval_quality.probe.process import Caps, run_process
run_process(launch(("daemon", "wait"), sys.argv[2]), b"", Caps(60000, 1000))
"""
    host = subprocess.Popen(
        [sys.executable, "-c", code, str(PROGRAMS.parents[1]), marker],
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    assert eventually(lambda: len(survivors(marker)) >= 2, 20)
    os.kill(host.pid, number)
    assert host.wait(10) != 0
    assert eventually(lambda: not survivors(marker), 2)


def test_large_input_and_output_flow_both_ways_at_once() -> None:
    data = os.urandom(3_000_000)
    done = run_process(shell("cat"), data, Caps(20_000, len(data)))
    assert (done.ended, done.stdout == data) == ("exit", True)


def test_a_launch_from_a_folder_that_is_gone(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    gone.rmdir()
    with pytest.raises(FileNotFoundError):
        run_process(shell("true")._replace(cwd=str(gone)), b"", CAPS)


def test_a_relative_folder_is_the_hosts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "sub").mkdir()
    monkeypatch.chdir(tmp_path)
    assert run_process(shell("pwd -P")._replace(cwd="sub"), b"", CAPS).stdout.decode().strip() == str(tmp_path / "sub")


def test_no_descriptor_of_the_host_is_left_open_by_a_run() -> None:
    for _ in range(3):
        run_process(shell("echo x"), b"in", CAPS)
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(20):
        run_process(shell("echo x"), b"in", CAPS)
        with pytest.raises(FileNotFoundError):
            run_process(shell("x")._replace(argv=("/nonexistent",)), b"", CAPS)
    assert len(os.listdir("/proc/self/fd")) <= before
    assert threading.active_count() < 50
