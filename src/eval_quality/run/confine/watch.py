"""Looking at a sandbox before it runs (spec 13 §13.9.3).

1. The sandbox program says which process it made, builds the mounts, and then waits.
2. Once it waits (where the system does not say so: again and again), its mount table is read from the kernel and must
   be exactly the specified one. While mounts are being made it is another; once equal it is final, because nothing
   inside can mount: no capability, and further user namespaces are disabled (the self-test of the capability report
   establishes that on this host).
3. Every bind must be the very file or folder that it was to be: same device, same inode.
4. The process gets its ceilings: its control groups, and what is counted within its user namespace.
5. Then it is released. A table that is not equal after `SETTLE_SECONDS` is a breach: the process is killed unreleased.
"""

import json
import os
import select
import signal
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Final, NamedTuple

from eval_quality.run.confine.bubblewrap import BLOCK_NUMBER
from eval_quality.run.confine.mounts import HostMount, normal_table, parse_mounts, visible
from eval_quality.run.confine.specification import Specification

START_SECONDS: Final = 30.0
"""How long the sandbox program may take to make its process."""
SETTLE_SECONDS: Final = 5.0
"""How long it may then take to finish its mounts."""
FINAL_SECONDS: Final = 0.1
"""How long the table of a sandbox that waits may still differ; it is final, so this only covers a look at a bad
moment."""
MAX_INFORMATION_BYTES: Final = 65_536

_READ_CALL: Final = {"x86_64": "0", "aarch64": "63"}.get(os.uname().machine)
"""The number of the read call on this machine, where it is known."""
_PAUSES: Final = (0.003, 0.001, 0.0005, 0.0005, 0.001, 0.002)
"""A sandbox takes some milliseconds to make; a busy machine takes its time."""


class Seen(NamedTuple):
    """What one sandbox was. `breach` names the first difference that kept it from being released."""

    pid: int
    mounts: tuple[str, ...]
    breach: str | None = None


def watch(
    specification: Specification,
    host: Sequence[HostMount],
    information: int,
    release: int,
    confine: Callable[[int], None],
    settle_seconds: float = SETTLE_SECONDS,
) -> Seen | None:
    """Follow one sandbox from the launch to its release; None when it never came to life.

    `information` and `release` are our ends of the two pipes; both are closed when this returns. `confine` puts the
    process under its ceilings and may raise `OSError`.
    """
    try:
        pid = _read_pid(information)
        if pid is None:
            return None
        seen = _settled(specification, host, pid, settle_seconds)
        if seen is None:
            return None
        try:
            if seen.breach is None:
                confine(pid)
                os.write(release, b"1")
                return seen
        except (ProcessLookupError, BrokenPipeError):
            return None  # somebody ended it while it waited
        except OSError as error:
            seen = seen._replace(breach=f"the process could not be put under its ceilings: {error.strerror}")
        _kill(pid)
        return seen
    finally:
        os.close(information)
        os.close(release)


def _read_pid(information: int) -> int | None:
    data = b""
    poller = select.poll()
    poller.register(information, select.POLLIN | select.POLLHUP)
    deadline = time.monotonic() + START_SECONDS
    while len(data) < MAX_INFORMATION_BYTES:
        if not poller.poll(max(0.0, deadline - time.monotonic()) * 1000):
            return None
        chunk = os.read(information, 4096)
        if not chunk:
            return None
        data += chunk
        if b"}" in chunk:
            try:
                return int(json.loads(data)["child-pid"])
            except (ValueError, KeyError, TypeError):
                return None
    return None


def _settled(specification: Specification, host: Sequence[HostMount], pid: int, settle_seconds: float) -> Seen | None:
    expected = visible(specification.expected(host))
    deadline = time.monotonic() + settle_seconds
    pauses = iter(_PAUSES)
    while True:
        waits = _waits(pid)
        if waits is not False or time.monotonic() >= deadline:
            try:
                with open(f"/proc/{pid}/mountinfo", encoding="utf-8", errors="surrogateescape") as table:
                    found = parse_mounts(table.read())
            except OSError:
                return None  # it ended by itself: the sandbox program says why on its standard error
            problem = next(iter(differences(specification, expected, found, host, pid)), None)
            if problem is None:
                return Seen(pid, observed(expected, found))
            if time.monotonic() >= deadline:
                return Seen(pid, observed(expected, found), problem)
            if waits:
                deadline = min(deadline, time.monotonic() + FINAL_SECONDS)
        time.sleep(next(pauses, _PAUSES[-1]))


def _waits(pid: int) -> bool | None:
    """Whether a sandbox waits for its release; None where the system does not say."""
    if _READ_CALL is None:
        return None
    try:
        with open(f"/proc/{pid}/syscall", encoding="ascii") as file:
            words = file.read().split()
    except OSError:
        return None
    return words[:2] == [_READ_CALL, hex(BLOCK_NUMBER)]


def observed(expected: dict[str, tuple[str, str]], found: Iterable[HostMount]) -> tuple[str, ...]:
    """The kernel's table in normal form, places named as the specification names them."""
    made: list[tuple[str, str, str]] = []
    for mount in found:
        kind, label = expected.get(mount.point, ("", mount.point))
        if kind not in ("tmpfs", "dev", "proc"):
            kind = "ro" if mount.read_only else "rw"
        made.append((kind, mount.point, label))
    return normal_table(made)


def differences(
    specification: Specification,
    expected: dict[str, tuple[str, str]],
    found: Sequence[HostMount],
    host: Sequence[HostMount],
    pid: int,
) -> Iterable[str]:
    """Every way in which the kernel's table is not the specified one."""
    table = {mount.point: mount for mount in found}
    shown = visible(("", mount.point, "") for mount in found)
    devices = {mount.device for mount in host}
    for point in sorted(expected.keys() - shown.keys()):
        yield f"missing {expected[point][0]}:{expected[point][1]}"
    for point in sorted(shown.keys() - expected.keys()):
        yield f"unexpected mount at {point}"
    for point, (kind, label) in sorted(expected.items()):
        mount = table.get(point)
        if mount is None:
            continue
        if kind in ("ro", "rw", "dev") and mount.read_only != (kind != "rw"):
            yield f"{label} is {'read-only' if mount.read_only else 'writable'}, expected {kind}"
        if kind in ("tmpfs", "dev") and (mount.file_system != "tmpfs" or mount.device in devices):
            yield f"{label} is not a private file system"
        if kind == "proc" and (mount.file_system != "proc" or mount.device in devices):
            yield f"{label} is not a process file system of its own"
    for guard in specification.mounts:
        if guard.target.startswith(("/dev/", "/proc/")):
            mount = table.get(guard.target)
            if mount is None or (guard.kind == "ro" and not mount.read_only):
                yield f"{guard.target} is not closed"
            elif guard.kind == "tmpfs" and (mount.file_system != "tmpfs" or mount.device in devices):
                yield f"{guard.target} is not a private file system"
    for bind in specification.mounts:
        shows = bind.kind in ("ro", "rw") and expected.get(bind.target, ("", ""))[1] == bind.label
        if shows and not _same(f"/proc/{pid}/root{bind.target}", bind.source):
            yield f"{bind.label} is not what it was to be"


def _same(inside: str, outside: str) -> bool:
    try:
        here, there = os.stat(inside), os.stat(outside)
    except OSError:
        return False
    return (here.st_dev, here.st_ino) == (there.st_dev, there.st_ino)


def _kill(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except OSError:
        return
