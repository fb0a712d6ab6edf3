"""A hostile program in the sandbox tries every way out, under both profiles (spec 13 §13.9, T13-17).

Each attempt that can be shown to work where nothing confines it is also made outside; so an attempt that is held inside
is known to be a real one.
"""

import contextlib
import ctypes
import importlib.util
import json
import os
import secrets
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from eval_quality.probe.process import Caps, Launch, run_process
from eval_quality.run.confine.beneath import read_beneath
from eval_quality.run.confine.lane import ConfinedLane
from eval_quality.run.confine.specification import Limits
from support.sandbox import PYTHON, needs_sandbox, run_inside, specification

ATTEMPTS_FILE = Path(__file__).with_name("attempts.py")


def _names() -> list[str]:
    found = importlib.util.spec_from_file_location("escape_attempts", ATTEMPTS_FILE)
    assert found is not None
    assert found.loader is not None
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return list(module.ATTEMPTS)


NAMES = _names()

WORKS_OUTSIDE = [
    "read_by_path",
    "read_by_climbing",
    "read_through_a_link",
    "link_the_file_here",
    "list_its_folder",
    "read_the_store",
    "read_repository_objects",
    "read_through_the_root_of_the_runner",
    "read_through_the_working_folder_of_the_runner",
    "see_the_runner",
    "read_environments",
    "signal_the_runner",
    "read_memory_of_the_runner",
    "reach_the_hosts_loopback",
    "reach_the_hosts_loopback_by_six",
    "reach_a_socket_by_path",
    "reach_an_abstract_socket",
    "attach_shared_memory",
    "open_shared_memory_by_name",
    "pass_descriptors_to_the_host",
    "know_the_host",
]
"""What any process of the same user can do, so that it must succeed unconfined."""


class Host:
    """What is planted outside for a hostile program to find, and what it is told."""

    def __init__(self, root: Path) -> None:
        self.token = "token-" + secrets.token_hex(12)
        self.root = root
        self.outside = root / "outside"
        for folder in ("outside", "store", "repository/.git/objects", "bridge"):
            (root / folder).mkdir(parents=True)
        for place in ("outside/human-labels", "store/journal", "repository/.git/objects/packed"):
            (root / place).write_text(self.token)
        self.sockets = [self._listen(socket.AF_INET6, ("::", 0)), self._listen(socket.AF_UNIX, str(root / "sock"))]
        self.abstract = f"eval-quality-{secrets.token_hex(6)}"
        self.sockets.append(self._listen(socket.AF_UNIX, "\0" + self.abstract))
        self.sockets.append(self._listen(socket.AF_UNIX, str(root / "bridge" / "bridge.sock")))
        self.libc = ctypes.CDLL(None, use_errno=True)
        self.key = secrets.randbelow(2**30) + 1
        self.shared = self.libc.shmget(self.key, 4096, 0o1600)
        assert self.shared >= 0
        self.shared_name = f"eval-quality-{secrets.token_hex(6)}"
        Path("/dev/shm", self.shared_name).write_text(self.token)

    def _listen(self, family: int, address: Any) -> socket.socket:
        server = socket.socket(family, socket.SOCK_STREAM)
        if family == socket.AF_INET6:
            server.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        server.bind(address)
        server.listen()
        threading.Thread(target=self._serve, args=(server,), daemon=True).start()
        return server

    def _serve(self, server: socket.socket) -> None:
        while True:
            try:
                client, _ = server.accept()
            except OSError:
                return
            with client, contextlib.suppress(OSError):
                client.sendall(self.token.encode())
                # closed only after the peer is done, or what it sends would fail for the wrong reason
                client.settimeout(5)
                client.shutdown(socket.SHUT_WR)
                while client.recv(4096):
                    pass

    def known(self, only: list[str]) -> bytes:
        return json.dumps(
            {
                "token": self.token,
                "only": only,
                "secret": str(self.outside / "human-labels"),
                "store": str(self.root / "store"),
                "repository": str(self.root / "repository"),
                "runtime": sys.base_prefix,
                "pid": os.getpid(),
                "port": self.sockets[0].getsockname()[1],
                "socket": str(self.root / "sock"),
                "abstract": self.abstract,
                "sharedMemoryKey": self.key,
                "sharedMemoryName": self.shared_name,
                "keyName": "eval-quality-escape",
                "hostName": socket.gethostname(),
            }
        ).encode()

    def close(self) -> None:
        for server in self.sockets:
            server.close()
        self.libc.shmctl(self.shared, 0, None)
        Path("/dev/shm", self.shared_name).unlink()


@pytest.fixture(scope="module")
def host() -> Generator[Host]:
    # Not below a folder that is hidden anyway: the masks are what is tested.
    with tempfile.TemporaryDirectory(prefix="eval-quality-escape-", dir=Path(__file__).parents[3]) as folder:
        host = Host(Path(folder))
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("EVAL_QUALITY_ESCAPE_TOKEN", host.token)
            try:
                yield host
            finally:
                host.close()


def results_inside(host: Host, profile: Any) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(dir=host.root) as workspace:
        Path(workspace, "attempts.py").write_bytes(ATTEMPTS_FILE.read_bytes())
        masks = {name: str(host.root / name) for name in ("outside", "store", "repository")} | {"root": str(host.root)}
        spec = specification(Path(workspace), profile, masks, bridge=host.root / "bridge")
        completed, facts = run_inside(spec, PYTHON, "-I", "/box/attempts.py", stdin=host.known([]), seconds=120)
        assert completed.stderr == b""
        assert facts.observed_mounts == spec.allowed_mounts()
        return json.loads(completed.stdout)


@pytest.fixture(scope="module", params=["minimal", "host-ro"])
def inside(request: pytest.FixtureRequest, host: Host) -> dict[str, Any]:
    return results_inside(host, request.param)


@pytest.fixture(scope="module")
def outside(host: Host) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(dir=host.root) as workspace:
        os.makedirs(workspace, exist_ok=True)
        # A name of the runner that a process listing would show.
        environment = {**os.environ, "MARK": host.token}
        launch = Launch((PYTHON, "-I", str(ATTEMPTS_FILE)), workspace, environment)
        completed = run_process(launch, host.known(WORKS_OUTSIDE), Caps(60_000, 1 << 20))
        assert completed.stderr == b""
        return json.loads(completed.stdout)


@needs_sandbox
@pytest.mark.parametrize("name", NAMES)
def test_s13_9_held_inside(inside: dict[str, Any], name: str) -> None:
    assert inside[name] is False


@pytest.mark.parametrize("name", WORKS_OUTSIDE)
def test_s13_9_the_attempt_is_a_real_one(outside: dict[str, Any], name: str) -> None:
    assert outside[name] is True


def test_there_are_enough_kinds() -> None:
    assert len(NAMES) >= 25
    assert set(WORKS_OUTSIDE) < set(NAMES)


# -- what needs a look from outside --

SESSION_KEYRING = """
import ctypes, os, sys, tempfile
from pathlib import Path
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall(248, b"user", b"eval-quality-escape", b"planted", 7, -3)
from support.sandbox import PYTHON, run_inside, specification
code = "import ctypes; print(ctypes.CDLL(None).syscall(250, 10, -3, b'user', b'eval-quality-escape', 0))"
here = os.popen(f'{PYTHON} -I -c "{code}"').read()
with tempfile.TemporaryDirectory() as folder:
    there = run_inside(specification(Path(folder)), PYTHON, "-I", "-c", code)[0].stdout.decode()
print(int(here) > 0, int(there))
"""


def own_imports() -> dict[str, str]:
    """An environment in which a fresh interpreter imports what this one does."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join([str(Path(__file__).parents[2]), *filter(None, sys.path)])}


@needs_sandbox
@pytest.mark.skipif(os.uname().machine != "x86_64", reason="the numbers of the key system calls are those of x86-64")
def test_s13_9_the_session_keyring_stays_outside() -> None:
    # A process of its own, because the keyring must be there before anything else is started.
    command = [sys.executable, "-c", SESSION_KEYRING]
    done = subprocess.run(command, env=own_imports(), capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout == "True -1\n"


@needs_sandbox
def test_s13_9_4_a_fork_bomb_meets_its_ceiling(tmp_path: Path) -> None:
    code = """
import os, time
made = 0
try:
    while made < 500:
        if os.fork() == 0:
            time.sleep(20)
            os._exit(0)
        made += 1
except OSError:
    pass
print(made)
"""
    with ConfinedLane(specification(tmp_path, limits=Limits(max_processes=20))) as lane:
        launch = Launch((PYTHON, "-I", "-c", code), "/", {})
        completed = run_process(launch, b"", Caps(20_000, 4096), None, lane)
        limit = next(fact for fact in lane.facts().limits if fact.limit == "processes")
    if limit.mechanism is None:
        pytest.skip("NO PROCESS CEILING ON THIS HOST: neither control groups nor an ordinary user")
    assert int(completed.stdout) < 20


@needs_sandbox
def test_s13_9_4_memory_meets_its_ceiling(tmp_path: Path) -> None:
    code = "x=bytearray(600*1024*1024)\nfor i in range(0,len(x),4096): x[i]=1\nprint('got it')"
    with ConfinedLane(specification(tmp_path, limits=Limits(max_memory=100 * 1024 * 1024))) as lane:
        completed = run_process(Launch((PYTHON, "-I", "-c", code), "/", {}), b"", Caps(30_000, 4096), None, lane)
        limit = next(fact for fact in lane.facts().limits if fact.limit == "memory")
    if limit.mechanism is None:
        pytest.skip("NO MEMORY CEILING ON THIS HOST: control groups cannot be made")
    assert b"got it" not in completed.stdout
    assert completed.exit_code != 0


@needs_sandbox
@pytest.mark.parametrize("place", ["/tmp", "/var/tmp", "/run", "/dev/shm"])
def test_s13_9_4_private_space_is_bounded(tmp_path: Path, place: str) -> None:
    code = f"f=open({place + '/fill'!r},'wb')\nfor _ in range(64): f.write(b'x'*(1<<20)); f.flush()\nprint('filled')"
    spec = specification(tmp_path, limits=Limits(tmp_bytes=1 << 20))
    completed, _ = run_inside(spec, PYTHON, "-I", "-c", code)
    assert b"filled" not in completed.stdout
    assert completed.exit_code == 1


@needs_sandbox
def test_s13_9_4_a_file_meets_its_ceiling(tmp_path: Path) -> None:
    code = "f=open('big','wb')\nfor _ in range(64): f.write(b'x'*(1<<20)); f.flush()\nprint('filled')"
    spec = specification(tmp_path, limits=Limits(max_file_bytes=4 << 20))
    completed, _ = run_inside(spec, PYTHON, "-I", "-c", code)
    assert b"filled" not in completed.stdout
    assert (tmp_path / "big").stat().st_size <= 4 << 20


@needs_sandbox
def test_s13_9_4_a_workspace_meets_its_ceiling(tmp_path: Path) -> None:
    code = """
import os, time
os.mkdir('deep')
for number in range(10_000):
    with open(f'deep/{number}', 'wb') as file:
        file.write(b'x' * 65536)
    time.sleep(0.001)
"""
    spec = specification(tmp_path, limits=Limits(max_workspace=8 << 20))
    completed, facts = run_inside(spec, PYTHON, "-I", "-c", code, seconds=60)
    assert completed.ended == "exit"
    assert completed.exit_code != 0
    assert facts.reached == ("workspace",)
    assert len(os.listdir(tmp_path / "deep")) < 10_000


@needs_sandbox
def test_s13_9_6_a_daemon_does_not_outlive_its_sandbox(tmp_path: Path) -> None:
    code = """
import os, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.closerange(0, 3)
        while True:
            with open('/box/heartbeat', 'a') as f: f.write('x')
            time.sleep(0.02)
    os._exit(0)
time.sleep(0.3)
"""
    run_inside(specification(tmp_path), PYTHON, "-I", "-c", code)
    beats = (tmp_path / "heartbeat").stat().st_size
    assert beats > 0
    time.sleep(0.3)
    assert (tmp_path / "heartbeat").stat().st_size == beats


ZOO = """
import os, signal, sys, time
def beat(name):
    while True:
        with open('/box/' + name, 'a') as f: f.write('x')
        time.sleep(0.02)
signal.signal(signal.SIGTERM, signal.SIG_IGN)
for name in ('child', 'session', 'daemon'):
    if os.fork() == 0:
        if name != 'child': os.setsid()
        if name == 'daemon' and os.fork(): os._exit(0)
        if name == 'daemon': os.closerange(0, 3)
        beat(name)
beat('target')
"""

RUNNER = """
import os, sys
from pathlib import Path
from support.sandbox import PYTHON, run_inside, specification
run_inside(specification(Path(sys.argv[1])), PYTHON, "-I", "-c", sys.argv[2], seconds=60)
"""


@needs_sandbox
@pytest.mark.parametrize("killed", ["runner", "supervisor", "both"])
def test_g7_nothing_outlives_a_killed_runner(tmp_path: Path, killed: str) -> None:
    command = [sys.executable, "-c", RUNNER, str(tmp_path), ZOO]
    with subprocess.Popen(command, env=own_imports(), stderr=subprocess.DEVNULL, start_new_session=True) as runner:
        names = ("target", "child", "session", "daemon")
        deadline = time.monotonic() + 30
        while not all((tmp_path / name).exists() for name in names):
            assert time.monotonic() < deadline
            time.sleep(0.02)
        children = Path(f"/proc/{runner.pid}/task/{runner.pid}/children").read_text().split()
        doomed = {"runner": [runner.pid], "supervisor": [int(children[0])], "both": [int(children[0]), runner.pid]}
        for pid in doomed[killed]:
            os.kill(pid, signal.SIGKILL)
        # Generous, because the machine may be busy; each beat is 20 ms.
        quiet = -1
        for _ in range(50):
            sizes = sum((tmp_path / name).stat().st_size for name in names)
            if sizes == quiet:
                break
            quiet = sizes
            time.sleep(0.2)
        else:
            pytest.fail("something is still alive")
        runner.kill()
    time.sleep(0.3)
    assert sum((tmp_path / name).stat().st_size for name in names) == quiet


@needs_sandbox
def test_s13_12_the_environment_acts_inside_only(tmp_path: Path) -> None:
    # A library that is to be loaded first, named in the target's environment, must not reach the sandbox program.
    missing = tmp_path / "evil.so"
    environment = {"LD_PRELOAD": "/box/evil.so", "GCONV_PATH": "/box", "BWRAP_LOG": "1"}
    completed, facts = run_inside(specification(tmp_path), "/bin/sh", "-c", "echo ran", environment=environment)
    assert completed.stdout == b"ran\n"
    # Inside it is looked for once, by the shell; the sandbox program would have said so before.
    assert completed.stderr.count(b"evil.so") == 1
    assert facts.starts == 1
    assert not missing.exists()


@needs_sandbox
@pytest.mark.parametrize("made", ["symlink", "folder-link", "pipe", "socket", "climb"])
def test_s13_9_7_what_is_left_in_the_workspace_leads_nowhere(host: Host, tmp_path: Path, made: str) -> None:
    secret = host.outside / "human-labels"
    code = {
        "symlink": f"os.symlink({str(secret)!r}, 'artifact')",
        "folder-link": f"os.symlink({str(host.outside)!r}, 'artifact')",
        "pipe": "os.mkfifo('artifact')",
        "socket": "import socket; socket.socket(socket.AF_UNIX).bind('artifact')",
        "climb": "os.mkdir('artifact')",
    }[made]
    run_inside(specification(tmp_path), PYTHON, "-I", "-c", f"import os; {code}")
    name = {"folder-link": "artifact/human-labels", "climb": f"artifact/../../../../..{secret}"}.get(made, "artifact")
    with pytest.raises(OSError):
        read_beneath(str(tmp_path), name, 1 << 20)
