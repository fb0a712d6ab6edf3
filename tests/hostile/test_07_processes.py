"""Hostile children: no orphan, no hang, and exactly the outcome the chapter names (spec 07 §7.4.5, §7.4.8)."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from eval_quality.probe.lanes import Lane
from eval_quality.probe.process import Caps, Completed, Launch, run_process
from eval_quality.probe.signals import AbortController, AbortError
from support.hostile import (
    CASES,
    PROGRAMS,
    Case,
    eventually,
    launch,
    new_marker,
    run,
    survivors,
)

ROUNDS = 2
SLOW_ROUNDS = 20


def check(case: Case) -> None:
    marker = new_marker()
    begin = time.monotonic()
    completed = run(case, marker)
    took = time.monotonic() - begin
    assert completed.ended == case.ended
    if case.exit_code is not None:
        assert completed.exit_code == case.exit_code
    assert took < case.max_elapsed_ms / 1000 + 1 + 1  # the launch of an interpreter comes on top of the cap
    assert eventually(lambda: not survivors(marker), 2)


@pytest.mark.parametrize("name", CASES)
def test_s7_4_8_a_hostile_child_leaves_nothing(name: str) -> None:
    for _ in range(ROUNDS):
        check(CASES[name])


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_s7_4_8_a_hostile_child_leaves_nothing_many_times(name: str) -> None:
    for _ in range(SLOW_ROUNDS):
        check(CASES[name])


def test_s7_4_5_the_next_run_works_after_every_hostile_one() -> None:
    for case in CASES.values():
        run(case, new_marker())
        marker = new_marker()
        after = run_process(launch(("deaf",), marker), b"", Caps(10_000, 1000))
        assert (after.ended, after.exit_code, after.stdout) == ("exit", 0, b"deaf\n")


@pytest.mark.parametrize("argv", [("fork_bomb",), ("fork_bomb", "escape"), ("daemon", "wait"), ("stubborn",)])
def test_s7_4_5_an_abort_kills_everything(argv: tuple[str, ...]) -> None:
    marker = new_marker()
    controller = AbortController()
    errors: list[AbortError] = []

    def work() -> None:
        try:
            run_process(launch(argv, marker), b"", Caps(60_000, 1000), controller.signal)
        except AbortError as error:
            errors.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    assert eventually(lambda: len(survivors(marker)) > (argv[0] != "stubborn"), 10)
    reason = ValueError("enough")
    controller.abort(reason)
    thread.join(3)
    assert not thread.is_alive()
    assert errors[0].code == "ABORT_ERR"
    assert errors[0].__cause__ is reason
    assert controller.signal.listener_count == 0
    assert eventually(lambda: not survivors(marker), 2)


def test_s7_4_5_a_target_that_exited_on_its_own_leaves_what_it_started() -> None:
    marker = new_marker()
    with Lane() as lane:
        completed = run_process(launch(("daemon",), marker), b"", Caps(10_000, 1000), lane=lane)
        assert (completed.ended, completed.stdout) == ("exit", b"done\n")
        assert len(survivors(marker)) == 1
        # A later run of the same lane that is cut kills its own processes and spares the daemon.
        other = new_marker()
        cut = run_process(launch(("fork_bomb", "escape"), other), b"", Caps(300, 1000), lane=lane)
        assert cut.ended == "elapsed"
        assert eventually(lambda: not survivors(other), 2)
        assert len(survivors(marker)) == 1
        assert lane.close() == 1
    assert eventually(lambda: not survivors(marker), 2)


@pytest.mark.parametrize("argv", [("fork_bomb",), ("fork_bomb", "escape"), ("daemon",), ("stubborn",)])
@pytest.mark.parametrize("whom", ["host", "group"])
def test_s7_4_8_a_killed_host_leaves_no_target(argv: tuple[str, ...], whom: str) -> None:
    for _ in range(2):
        kill_a_host(argv, whom)


@pytest.mark.slow
@pytest.mark.parametrize("argv", [("fork_bomb",), ("fork_bomb", "escape"), ("daemon",), ("stubborn",)])
def test_s7_4_8_a_killed_host_leaves_no_target_many_times(argv: tuple[str, ...]) -> None:
    for _ in range(10):
        kill_a_host(argv, "host")


HOST = """
import sys, time
sys.path.insert(0, sys.argv[1])
from support.hostile import launch
from eval_quality.probe.process import Caps, run_process
print("ready", flush=True)
run_process(launch(tuple(sys.argv[3:]), sys.argv[2]), b"", Caps(60_000, 1000))
time.sleep(600)
"""


def kill_a_host(argv: tuple[str, ...], whom: str) -> None:
    marker = new_marker()
    tests = str(PROGRAMS.parents[1])
    host = subprocess.Popen(
        [sys.executable, "-c", HOST, tests, marker, *argv], stdout=subprocess.PIPE, start_new_session=True
    )
    try:
        assert eventually(lambda: bool(survivors(marker)), 20)
        if argv[0] in ("fork_bomb", "daemon"):
            time.sleep(0.05)
        if whom == "host":
            os.kill(host.pid, signal.SIGKILL)
        else:
            os.killpg(host.pid, signal.SIGKILL)
        assert eventually(lambda: not survivors(marker), 2)
    finally:
        host.kill()
        host.wait()
        assert host.stdout is not None
        host.stdout.close()


def nosy(**environment: str) -> Completed:
    return run_process(launch(("nosy", "a b", ""), "m", **environment), "stdin é".encode(), Caps(10_000, 10_000))


def test_s7_4_8_the_target_leads_its_own_session_and_has_no_terminal() -> None:
    import json

    seen = json.loads(nosy(MODE="x").stdout)
    assert seen["leader"] is True
    assert seen["tty"] is False
    assert seen["argv"] == ["a b", ""]
    assert seen["cwd"] == "/"
    assert seen["stdin"] == "stdin é"
    assert seen["descriptors"] == [0, 1, 2]
    names = set(seen["environment"])
    assert names - {"LC_CTYPE"} == {"PATH", "MODE", "EVAL_QUALITY_TEST_MARKER"}


def test_s7_4_8_the_target_starts_with_default_signal_dispositions() -> None:
    # A Python interpreter ignores SIGPIPE and SIGXFSZ itself, so a shell reports what it was given.
    status = run_process(
        Launch(("/bin/sh", "-c", "grep SigIgn /proc/self/status"), "/", {"PATH": os.defpath}),
        b"",
        Caps(10_000, 1000),
    ).stdout
    assert int(status.split()[1], 16) & 0x7FFFFFFF == 0


def test_s7_4_8_no_value_of_the_environment_shows_in_a_process_listing() -> None:
    marker = new_marker()
    secret = new_marker()
    thread = threading.Thread(
        target=run_process, args=(launch(("stubborn",), marker, SECRET=secret), b"", Caps(700, 1000))
    )
    thread.start()
    assert eventually(lambda: bool(survivors(marker)), 10)
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            assert secret.encode() not in path.read_bytes()
        except OSError:
            continue
    thread.join()


def test_s7_4_5_split_and_malformed_characters_decode_as_one_text() -> None:
    from eval_quality.probe.jstext import decoded

    completed = run_process(launch(("split",), "m"), b"", Caps(10_000, 1000))
    assert decoded(completed.stdout) == '{"text":"é€𝄞"}'
    assert decoded(completed.stderr) == "bad \ufffd\ufffd end \ufffd"


def test_s7_4_5_output_of_exactly_the_cap_is_no_breach() -> None:
    size = len(b"deaf\n")
    assert run_process(launch(("deaf",), "m"), b"", Caps(10_000, size)).ended == "exit"
    assert run_process(launch(("deaf",), "m"), b"", Caps(10_000, size - 1)).ended == "stdout"
