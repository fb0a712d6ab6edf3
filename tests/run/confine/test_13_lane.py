"""Launching in a sandbox, and what is observed of it (spec 13 §13.9.3-§13.9.6)."""

import errno
import os
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from eval_quality.probe.lanes import Lane
from eval_quality.probe.process import Caps, Child, Launch, run_process
from eval_quality.run.confine import bubblewrap, capability, cgroups
from eval_quality.run.confine import lane as lane_module
from eval_quality.run.confine import watch as watch_module
from eval_quality.run.confine.growth import Growth, folder_bytes
from eval_quality.run.confine.ingress import Ingress
from eval_quality.run.confine.lane import ConfinedLane, open_lane
from eval_quality.run.confine.specification import Limits, Mount
from eval_quality.run.errors import RunFault
from support.sandbox import PYTHON, needs_sandbox, run_inside, specification

CAPS = Caps(20_000, 1 << 20)
SHELL = {"PATH": "/usr/bin:/bin"}
pytestmark = needs_sandbox


def test_a_command_runs_in_its_workspace_and_reports_like_any_other(tmp_path: Path) -> None:
    script = 'pwd; cat; echo "$A"; echo err >&2; echo made > file; exit 7'
    completed, facts = run_inside(specification(tmp_path), "sh", "-c", script, stdin=b"in\n", environment={"A": "b c"})
    assert completed.stdout == b"/box\nin\nb c\n"
    assert completed.stderr == b"err\n"
    assert (completed.ended, completed.exit_code) == ("exit", 7)
    assert (tmp_path / "file").read_text() == "made\n"
    assert facts.starts == 1
    assert facts.observed_mounts == specification(tmp_path).allowed_mounts()


@pytest.mark.parametrize(
    ("cwd", "inside"), [("/box/below", b"/box/below\n"), ("/tmp", b"/box\n"), ("/box/../etc", b"/box\n")]
)
def test_the_working_folder_is_the_workspace_or_below_it(tmp_path: Path, cwd: str, inside: bytes) -> None:
    (tmp_path / "below").mkdir()
    (tmp_path / "below" / "tool").write_text("#!/bin/sh\npwd\n")
    (tmp_path / "below" / "tool").chmod(0o755)
    program = "./tool" if inside == b"/box/below\n" else "pwd"
    with ConfinedLane(specification(tmp_path)) as lane:
        assert run_process(Launch((program,), cwd, SHELL), b"", CAPS, None, lane).stdout == inside


def test_the_environment_is_exactly_the_given_one(tmp_path: Path) -> None:
    completed, _ = run_inside(specification(tmp_path), "/usr/bin/env", environment={"X": "1"})
    assert sorted(completed.stdout.decode().split()) == ["PATH=/usr/bin:/bin", "PWD=/box", "X=1"]


def test_facts_are_the_union_over_all_launches(tmp_path: Path) -> None:
    with ConfinedLane(specification(tmp_path)) as lane:
        for _ in range(3):
            assert run_process(Launch(("true",), "/", SHELL), b"", CAPS, None, lane).exit_code == 0
        facts = lane.facts()
        assert facts.starts == 3
        assert lane.facts() == facts
    assert {fact.limit for fact in facts.limits} == {"file-size", "open-files", "private-space", "processes"}


@pytest.mark.parametrize(
    ("program", "number"),
    [
        ("no-such-program", errno.ENOENT),
        ("/no/such/program", errno.ENOENT),
        (sys.executable + "-nothing", errno.ENOENT),
        ("./script", errno.EACCES),
        ("/etc/ssl", errno.EACCES),
    ],
)
def test_what_cannot_be_started_inside_is_a_failed_launch(tmp_path: Path, program: str, number: int) -> None:
    (tmp_path / "script").write_text("#!/bin/sh\n")
    with ConfinedLane(specification(tmp_path)) as lane:
        with pytest.raises(OSError) as raised:
            run_process(Launch((program,), "/", SHELL), b"", CAPS, None, lane)
        assert raised.value.errno == number
        assert lane.facts().starts == 0
        (tmp_path / "script").chmod(0o755)
        if program == "./script":
            assert run_process(Launch((program,), "/", SHELL), b"", CAPS, None, lane).exit_code == 0


def test_no_further_descriptor_crosses(tmp_path: Path) -> None:
    with ConfinedLane(specification(tmp_path)) as lane, open("/dev/null", "rb") as file:
        launch = Launch(("true",), "/", SHELL, descriptors=((9, file.fileno()),))
        with pytest.raises(ValueError, match="no other descriptor"):
            run_process(launch, b"", CAPS, None, lane)


def test_a_cap_ends_everything_inside(tmp_path: Path) -> None:
    script = "(sleep 60 & while :; do echo x >> beats; sleep 0.02; done) & sleep 60"
    with ConfinedLane(specification(tmp_path)) as lane:
        completed = run_process(Launch(("sh", "-c", script), "/", SHELL), b"", Caps(400, 4096), None, lane)
        assert completed.ended == "elapsed"
        beats = (tmp_path / "beats").stat().st_size
        time.sleep(0.2)
        assert (tmp_path / "beats").stat().st_size == beats
        assert lane.facts().starts == 1
        assert lane.close() == 0


def test_a_launch_killed_before_its_sandbox_was_there_is_no_fault(tmp_path: Path) -> None:
    with ConfinedLane(specification(tmp_path)) as lane:
        for _ in range(5):
            run_process(Launch(("true",), "/", SHELL), b"", Caps(0, 4096), None, lane)
        lane.facts()


def test_the_open_lane_is_what_was_chosen(tmp_path: Path) -> None:
    with open_lane("bwrap", specification(tmp_path)) as lane:
        assert isinstance(lane, ConfinedLane)
    with open_lane("none", specification(tmp_path)) as lane:
        assert type(lane) is Lane


# -- T13-19: something else than specified --


def breach(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tamper: Any) -> tuple[str, bytes]:
    """What a sandbox that is not the specified one leads to: the fault's text and what the target printed."""
    monkeypatch.setattr(watch_module, "SETTLE_SECONDS", 0.3)
    monkeypatch.setattr(watch_module.watch, "__defaults__", (0.3,))
    real = bubblewrap.wrap

    def wrap(program: str, spec: Any, argv: Any, environment: Any, cwd: str) -> Any:
        return real(program, spec._replace(mounts=tamper(spec.mounts)), argv, environment, cwd)

    monkeypatch.setattr(bubblewrap, "wrap", wrap)
    with ConfinedLane(specification(tmp_path)) as lane:
        completed = run_process(Launch(("sh", "-c", "echo ran; touch ran"), "/", SHELL), b"", CAPS, None, lane)
        with pytest.raises(RunFault) as raised:
            lane.facts()
    assert not (tmp_path / "ran").exists()
    return str(raised.value), completed.stdout


@pytest.mark.parametrize(
    ("tamper", "problem"),
    [
        (lambda mounts: (*mounts, Mount("ro", "/extra", "/etc")), "unexpected mount at /extra"),
        (lambda mounts: tuple(m for m in mounts if m.target != "/run"), "missing tmpfs:/run"),
        (
            lambda mounts: tuple(m._replace(kind="rw") if m.target == "/usr" else m for m in mounts),
            "/usr is writable, expected ro",
        ),
        (
            lambda mounts: tuple(m._replace(source="/usr/share") if m.target == "/box" else m for m in mounts),
            "/box is not what it was to be",
        ),
        (
            lambda mounts: tuple(Mount("rw", "/tmp", "/tmp") if m.target == "/tmp" else m for m in mounts),
            "/tmp is not a private file system",
        ),
        (lambda mounts: tuple(m for m in mounts if m.target != "/proc/sys"), "/proc/sys is not closed"),
    ],
    ids=["extra", "missing", "writable", "another", "shared", "open"],
)
def test_t13_19_a_breach_is_caught_before_the_first_instruction(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tamper: Any, problem: str
) -> None:
    text, out = breach(tmp_path, monkeypatch, tamper)
    assert "confinement-breach in Experiment.confine: " in text
    assert problem in text
    assert "killed before it ran" in text
    assert out == b""


def test_a_sandbox_that_cannot_be_made_is_not_taken_for_the_target(tmp_path: Path) -> None:
    program = tmp_path / "bwrap"
    program.write_text("#!/bin/sh\necho 'bwrap: no' >&2\nexit 1\n")
    program.chmod(0o755)
    with ConfinedLane(specification(tmp_path), str(program)) as lane:
        completed = run_process(Launch(("true",), "/", SHELL), b"", CAPS, None, lane)
        assert completed.exit_code == 1
        with pytest.raises(RunFault, match=r"confinement-unavailable.*1 of 1 sandboxes could not be made"):
            lane.facts()
        assert lane.sandbox_pid() is None


@pytest.mark.parametrize("says", ["nothing", "{}", '{"child-pid": "x"}', "}", '{"child-pid": 999999999}'])
def test_a_sandbox_program_that_talks_nonsense_is_released_by_nobody(tmp_path: Path, says: str) -> None:
    program = tmp_path / "bwrap"
    program.write_text(f"#!/bin/sh\necho '{says}' >&4\nexec 4>&-\nread line <&5 && echo released\n")
    program.chmod(0o755)
    with ConfinedLane(specification(tmp_path), str(program)) as lane:
        completed = run_process(Launch(("true",), "/", SHELL), b"", CAPS, None, lane)
        assert completed.stdout == b""
        with pytest.raises(RunFault, match="confinement-unavailable"):
            lane.facts()


def test_a_ceiling_that_cannot_be_put_is_a_breach(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(self: Any, pid: int) -> None:
        raise OSError(errno.EBUSY, "Device or resource busy")

    monkeypatch.setattr(cgroups.Group, "join", fails)
    with ConfinedLane(specification(tmp_path)) as lane:
        completed = run_process(Launch(("echo", "ran"), "/", SHELL), b"", CAPS, None, lane)
        assert completed.stdout == b""
        with pytest.raises(RunFault, match=r"confinement-breach.*ceilings: Device or resource busy"):
            lane.facts()


# -- limits --


def test_s13_9_4_which_mechanism_acts_is_recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    limits = Limits(max_processes=40, max_memory=1 << 30)

    def mechanisms() -> dict[str, str | None]:
        with ConfinedLane(specification(tmp_path, limits=limits)) as lane:
            return {fact.limit: fact.mechanism for fact in lane.facts().limits}

    monkeypatch.setattr(lane_module, "create_group", lambda name, wanted: cgroups.Group((), {}))
    monkeypatch.setattr(lane_module.os, "getuid", lambda: 0)
    assert (mechanisms()["processes"], mechanisms()["memory"]) == (None, None)
    monkeypatch.setattr(lane_module.os, "getuid", lambda: 1000)
    assert mechanisms()["processes"] == "rlimit"
    monkeypatch.setattr(lane_module, "_kernel_version", lambda: (5, 10))
    assert mechanisms()["processes"] is None
    group = cgroups.Group((), {"processes": "cgroup-v2", "memory": "cgroup-v2"})
    monkeypatch.setattr(lane_module, "create_group", lambda name, wanted: group)
    assert (mechanisms()["processes"], mechanisms()["memory"]) == ("cgroup-v2", "cgroup-v2")
    monkeypatch.setattr(lane_module, "_kernel_version", lambda: (6, 1))
    assert mechanisms()["processes"] == "rlimit"


def test_s13_9_4_a_hard_limit_of_the_caller_is_never_raised(tmp_path: Path) -> None:
    code = (
        "import resource; print(resource.getrlimit(resource.RLIMIT_NOFILE), resource.getrlimit(resource.RLIMIT_CORE))"
    )
    spec = specification(tmp_path, limits=Limits(max_open_files=1 << 40))
    import resource

    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    completed, _ = run_inside(spec, PYTHON, "-I", "-c", code)
    assert completed.stdout.decode() == f"({hard}, {hard}) (0, 0)\n"


# -- ingress --

SERVER = """
import socket, sys
server = socket.create_server(("127.0.0.1", 8080))
print("up", flush=True)
while True:
    client, _ = server.accept()
    with client:
        data = b""
        while chunk := client.recv(65536):
            data += chunk
        client.sendall(data[::-1])
"""


def test_s13_10_1_a_server_inside_is_reached_from_outside(tmp_path: Path) -> None:
    launch = Launch((PYTHON, "-I", "-c", SERVER), "/", {})
    with ConfinedLane(specification(tmp_path)) as lane, Child(lane, launch) as child:
        while not any(event.data == b"up\n" for event in child.wait(10)):
            assert child.exit_code is None
        pid = lane.sandbox_pid()
        assert pid is not None
        with Ingress(pid) as way:
            assert way.address == f"127.0.0.1:{way.port}"
            payload = os.urandom(300_000)

            def talk(answers: list[bytes]) -> None:
                with socket.create_connection(("127.0.0.1", way.port), 10) as client:
                    client.sendall(payload)
                    client.shutdown(socket.SHUT_WR)
                    answers.append(b"".join(iter(lambda: client.recv(65536), b"")))

            answers: list[bytes] = []
            talkers = [threading.Thread(target=talk, args=(answers,)) for _ in range(4)]
            for talker in talkers:
                talker.start()
            for talker in talkers:
                talker.join()
            assert answers == [payload[::-1]] * 4
        with pytest.raises(OSError):
            socket.create_connection(("127.0.0.1", way.port), 1)
        with (
            Ingress(pid, 9) as closed,
            socket.create_connection(("127.0.0.1", closed.port), 10) as client,
            pytest.raises(ConnectionResetError),
        ):
            client.recv(1)
        child.kill_and_drain()


def test_s13_10_1_a_process_that_is_gone_cannot_be_entered() -> None:
    with pytest.raises(OSError, match="could not enter"):
        Ingress(2**22 + 1)


# -- what the host can do --


def test_s13_18_the_report_has_every_line_and_leaves_nothing() -> None:
    lines = capability.report()
    assert [line.name for line in lines] == ["bwrap", "cgroups", "ingress", "limits"]
    assert lines[0].state == "available"
    assert all(line.state in ("available", "degraded", "unavailable") and line.detail for line in lines)


def test_s13_9_5_the_choice() -> None:
    assert capability.require_backend("auto") == "bwrap"
    assert capability.require_backend("bwrap") == "bwrap"
    assert capability.require_backend("none") == "none"


@pytest.mark.parametrize("choice", ["auto", "bwrap"])
def test_t13_21_a_host_without_the_program_refuses(
    choice: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(bubblewrap, "SEARCH_PATH", str(tmp_path))
    monkeypatch.setattr(bubblewrap.shutil, "which", lambda name, path: None)
    with pytest.raises(RunFault) as raised:
        capability.require_backend(choice)
    text = str(raised.value)
    assert "confinement-unavailable" in text
    assert "no program bwrap" in text
    assert "--confine none" in text
    assert capability.require_backend("none") == "none"
    with pytest.raises(RunFault, match=r"confinement-unavailable.*bwrap .bubblewrap. is not installed"):
        ConfinedLane(specification(tmp_path))


@pytest.mark.parametrize(
    ("script", "why"),
    [
        ("echo bubblewrap 0.4.0", "cannot forbid further user namespaces"),
        (
            '[ "$1" = --version ] && echo bubblewrap 0.9.0 || { echo no namespaces here >&2; exit 1; }',
            "no namespaces here",
        ),
    ],
)
def test_s13_9_5_a_program_that_cannot_do_it_is_refused(
    script: str, why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "bwrap"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    monkeypatch.setattr(bubblewrap, "find_program", lambda: str(program))
    with pytest.raises(RunFault, match="confinement-unavailable") as raised:
        capability.require_backend("auto")
    assert why in str(raised.value) or "could not be made" in str(raised.value)


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ("start nested workspace end", "a further user namespace can be made inside"),
        ("start writable workspace end", "the system can be written inside"),
        ("start unbounded workspace end", "the private file system has no bound"),
        ("start end", "the workspace cannot be written inside"),
    ],
)
def test_s13_9_3_a_host_on_which_a_protection_does_not_hold_is_refused(
    said: str, why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = " ".join(said.split())
    monkeypatch.setattr(capability, "_SELF_TEST", f"echo {words}")
    with pytest.raises(RunFault, match=why):
        capability.require_backend("auto")


def test_another_operating_system_refuses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(capability.sys, "platform", "darwin")
    with pytest.raises(RunFault, match="sandboxes need Linux, this is darwin"):
        capability.require_backend("auto")


def test_few_open_files_are_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(capability.resource, "getrlimit", lambda number: (256, 256))
    [line] = [line for line in capability.report() if line.name == "limits"]
    assert (line.state, line.detail) == ("degraded", "256 open files are enough for 32 processes at once")


# -- workspaces --


def test_s13_9_4_the_size_of_a_folder(tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "b" / "file").write_bytes(b"x" * 100_000)
    (tmp_path / "link").symlink_to("/usr")
    assert 100_000 <= folder_bytes(str(tmp_path), 1 << 40) < 200_000
    assert folder_bytes(str(tmp_path / "nothing"), 1) == 0
    for number in range(50):
        (tmp_path / str(number)).mkdir()
    assert folder_bytes(str(tmp_path), 0) > 0


def test_s13_9_4_a_small_workspace_is_left_alone(tmp_path: Path) -> None:
    spec = specification(tmp_path, limits=Limits(max_workspace=1 << 20))
    with ConfinedLane(spec) as lane:
        for _ in range(2):
            assert run_process(Launch(("sh", "-c", "echo x > f"), "/", SHELL), b"", CAPS, None, lane).exit_code == 0
        facts = lane.facts()
    assert facts.reached == ()
    assert next(fact for fact in facts.limits if fact.limit == "workspace").mechanism == "watched"
    lane.close()


def test_s13_9_4_growth_kills_what_it_follows_and_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"x" * 100_000)
    growth = Growth(str(tmp_path), 1000, 0.01)
    growth.start()
    deadline = time.monotonic() + 10
    while not growth.reached and time.monotonic() < deadline:
        time.sleep(0.01)
    assert growth.reached
    child = subprocess.Popen(["sleep", "60"])
    growth.follow(child.pid)
    assert child.wait(10) == -9
    growth.end()
    with pytest.raises(OSError):
        growth.follow(2**22 + 1)
