"""Running hostile programs, and counting what is left of them."""

import os
import sys
import time
import uuid
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from eval_quality.probe.process import Caps, Completed, Launch, run_process

PROGRAMS = Path(__file__).parents[1] / "hostile" / "programs"
MARKER = "EVAL_QUALITY_TEST_MARKER"


class Case(NamedTuple):
    """One hostile child and what must become of it."""

    argv: tuple[str, ...]
    ended: str
    exit_code: int | None = None
    stdin: bytes = b""
    max_elapsed_ms: int = 300
    """Long enough for what the outcome says: an interpreter has to start and end within it on a busy machine."""


CASES: Mapping[str, Case] = {
    "fork bomb": Case(("fork_bomb",), "elapsed"),
    "fork bomb that leaves the session": Case(("fork_bomb", "escape"), "elapsed"),
    "flood of stdout": Case(("flood",), "stdout", max_elapsed_ms=5000),
    "flood of stderr": Case(("flood", "stderr"), "stderr", max_elapsed_ms=5000),
    "never reads stdin": Case(("deaf",), "exit", 0, b"x" * 1_000_000, max_elapsed_ms=5000),
    "ignores signals": Case(("stubborn",), "elapsed", -9),
    "lingering grandchild": Case(("lingering",), "elapsed", max_elapsed_ms=600),
    "lingering grandchild in a session of its own": Case(("lingering", "escape"), "elapsed", max_elapsed_ms=600),
    "daemon": Case(("daemon", "wait"), "elapsed", -9),
    "split characters": Case(("split",), "exit", 0, max_elapsed_ms=5000),
    "kills its parent": Case(("parricide",), "lost", -9, max_elapsed_ms=5000),
    "kills its parent and the supervisor": Case(("parricide", "all"), "lost", -9, max_elapsed_ms=5000),
    "stops its parent": Case(("parricide", "stop"), "elapsed"),
    "stops its parent and the supervisor": Case(("parricide", "stop", "all"), "elapsed"),
    "closes its streams": Case(("closed",), "elapsed", -9),
    "stops itself": Case(("stopped",), "elapsed", -9),
    "dies by a signal": Case(("suicide",), "exit", -15, max_elapsed_ms=5000),
}


def launch(argv: tuple[str, ...], marker: str, **environment: str) -> Launch:
    """One of the programs under a marker that everything it starts inherits."""
    name, *arguments = argv
    program = (sys.executable, "-I", "-S", str(PROGRAMS / f"{name}.py"), *arguments)
    return Launch(program, "/", {"PATH": os.defpath, MARKER: marker, **environment})


def run(case: Case, marker: str) -> Completed:
    """Run one case under its caps."""
    return run_process(launch(case.argv, marker), case.stdin, Caps(case.max_elapsed_ms, 100_000))


def new_marker() -> str:
    """A marker nobody else has."""
    return uuid.uuid4().hex


def survivors(marker: str) -> list[int]:
    """Live processes that carry the marker in their environment."""
    wanted = f"{MARKER}={marker}".encode()
    found: list[int] = []
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            environment = Path("/proc", name, "environ").read_bytes()
        except OSError:
            continue
        if wanted in environment.split(b"\0"):
            found.append(int(name))
    return found


def eventually(condition: Callable[[], bool], seconds: float) -> bool:
    """Whether the condition comes true in time."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True
