"""What this host can do, found out by doing it (spec 13 §13.18), and the choice that follows (§13.9.5).

A line is `available`, `degraded` (with what) or `unavailable` (with why). A refusal later cites the line.
"""

import resource
import shutil
import socket
import sys
import tempfile
from collections.abc import Callable
from typing import Final, Literal, NamedTuple, TypeAlias

from eval_quality.probe.lanes import LaneLost
from eval_quality.probe.process import Caps, Child, Completed, Launch, run_process
from eval_quality.run.confine import bubblewrap
from eval_quality.run.confine.cgroups import create_group, group_name
from eval_quality.run.confine.ingress import Ingress
from eval_quality.run.confine.lane import ConfinedLane, Facts
from eval_quality.run.confine.specification import Grants, Limits, specify
from eval_quality.run.errors import RunError, RunFault

State: TypeAlias = Literal["available", "degraded", "unavailable"]
Backend: TypeAlias = Literal["bwrap", "none"]

LEAST_OPEN_FILES: Final = 64 + 6 * 64
"""Descriptors that 64 supervised processes need."""

_PROBE_CAPS: Final = Caps(20_000, 65_536)
_SMALL_BYTES: Final = 1024 * 1024
_SELF_TEST: Final = """
echo start
if unshare -U true 2>/dev/null || unshare -m true 2>/dev/null; then echo nested; fi
if touch /eval-quality-probe 2>/dev/null || touch /usr/eval-quality-probe 2>/dev/null; then echo writable; fi
if head -c 4000000 /dev/zero > /tmp/fill 2>/dev/null; then echo unbounded; fi
if touch /box/probe; then echo workspace; fi
echo end
"""


class Capability(NamedTuple):
    """One line of the report."""

    name: str
    state: State
    detail: str


def report() -> tuple[Capability, ...]:
    """Every line, in order. Nothing is left behind."""
    return tuple(_attempt(name, test) for name, test in _TESTS)


def _attempt(name: str, test: Callable[[], Capability]) -> Capability:
    try:
        return test()
    except (OSError, RunError, LaneLost) as error:
        return Capability(name, "unavailable", str(error))


def require_backend(choice: str) -> Backend:
    """The back end to use for `auto`, `bwrap` or `none`.

    There is no silent fall-back: where sandboxes cannot be made, `auto` and `bwrap` raise `RunFault`
    (`confinement-unavailable`) that says what is missing and both ways out.
    """
    if choice == "none":
        return "none"
    line = _attempt("bwrap", _bwrap)
    if line.state != "available":
        detail = f"{line.detail}. Install bubblewrap 0.8 or newer and allow user namespaces, or run with --confine none"
        raise RunFault.of("confinement-unavailable", "Experiment.confine", detail)
    return "bwrap"


def _bwrap() -> Capability:
    if not sys.platform.startswith("linux"):
        return Capability("bwrap", "unavailable", f"sandboxes need Linux, this is {sys.platform}")
    program = bubblewrap.find_program()
    if program is None:
        return Capability("bwrap", "unavailable", f"no program {bubblewrap.PROGRAM} in {bubblewrap.SEARCH_PATH}")
    version = bubblewrap.version_of(program)
    shown = ".".join(map(str, version)) or "of unknown version"
    if version < bubblewrap.LEAST_VERSION:
        return Capability("bwrap", "unavailable", f"{program} {shown} cannot forbid further user namespaces")
    completed, facts = _inside(_SELF_TEST)
    said = completed.stdout.decode(errors="replace").split()
    if "start" not in said:
        why = completed.stderr.decode(errors="replace").strip() or f"it ended with {completed.exit_code}"
        return Capability("bwrap", "unavailable", f"{program} {shown} cannot make a sandbox: {why}")
    for word, meaning in (
        ("nested", "a further user namespace can be made inside"),
        ("writable", "the system can be written inside"),
        ("unbounded", "the private file system has no bound"),
    ):
        if word in said:
            return Capability("bwrap", "unavailable", f"{program} {shown}: {meaning}")
    if said != ["start", "workspace", "end"]:
        return Capability("bwrap", "unavailable", f"{program} {shown}: the workspace cannot be written inside")
    return Capability("bwrap", "available", f"{program} {shown}, {len(facts.observed_mounts)} mounts as specified")


def _shell() -> str:
    return shutil.which("sh", path="/usr/bin:/bin") or "/bin/sh"


def _inside(script: str) -> tuple[Completed, Facts]:
    with tempfile.TemporaryDirectory(prefix="eval-quality-") as folder:
        specification = specify("minimal", Grants(folder), limits=Limits(tmp_bytes=_SMALL_BYTES))
        with ConfinedLane(specification) as lane:
            launch = Launch((_shell(), "-c", script), folder, {"PATH": "/usr/bin:/bin"})
            completed = run_process(launch, b"", _PROBE_CAPS, None, lane)
            return completed, lane.facts()


def _limits() -> Capability:
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft >= LEAST_OPEN_FILES:
        return Capability("limits", "available", f"{soft} open files")
    processes = max(1, (soft - 64) // 6)
    return Capability("limits", "degraded", f"{soft} open files are enough for {processes} processes at once")


def _control_groups() -> Capability:
    group = create_group(group_name(), {"processes": 64, "memory": 1 << 30})
    group.close()
    missing = [limit for limit in ("processes", "memory") if limit not in group.mechanisms]
    acting = ", ".join(f"{limit}: {mechanism}" for limit, mechanism in sorted(group.mechanisms.items()))
    if not missing:
        return Capability("cgroups", "available", acting)
    detail = f"not enforced: {', '.join(missing)}" + (f"; {acting}" if acting else "")
    return Capability("cgroups", "degraded" if acting else "unavailable", detail)


def _ingress() -> Capability:
    with (
        tempfile.TemporaryDirectory(prefix="eval-quality-") as folder,
        ConfinedLane(specify("minimal", Grants(folder))) as lane,
        Child(lane, Launch((_shell(), "-c", "read line"), folder, {"PATH": "/usr/bin:/bin"})) as child,
    ):
        pid = lane.sandbox_pid()
        if pid is None:
            return Capability("ingress", "unavailable", "no sandbox could be made")
        with Ingress(pid) as way, socket.create_connection(("127.0.0.1", way.port), 5):
            child.kill_and_drain()
    return Capability("ingress", "available", "a port of the host can lead into a sandbox's network")


_TESTS: Final[tuple[tuple[str, Callable[[], Capability]], ...]] = (
    ("bwrap", _bwrap),
    ("cgroups", _control_groups),
    ("ingress", _ingress),
    ("limits", _limits),
)
