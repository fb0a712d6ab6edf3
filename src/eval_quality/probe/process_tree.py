"""The processes below this one: finding, killing and collecting them. Used by the supervisor, so no project imports.

A process found in /proc may be gone, or be another one, by the time it is killed: kills go through a descriptor of the
process whose start time is compared first.
"""

import os
import signal
import time
from collections.abc import Collection
from typing import NamedTuple

KILL_ROUNDS = 100
"""Stops a target that starts new processes faster than they are killed from holding the host (spec 07 §7.4.8)."""
KILL_PAUSE_SECONDS = 0.005
DYING_PAUSES = (0, 0.0005, 0.001, 0.002)
"""What is about to end by itself is given this long (seconds) before anything is looked for in /proc."""
QUIET_LOOKS = 3
"""How many looks in a row must find nothing alive."""


class Process(NamedTuple):
    pid: int
    parent: int
    zombie: bool
    start: bytes


def stat(pid: int) -> Process | None:
    try:
        with open(f"/proc/{pid}/stat", "rb", buffering=0) as file:
            text = file.read()
    except OSError:
        return None
    fields = text[text.rindex(b")") + 2 :].split()
    return Process(pid, int(fields[1]), fields[0] in (b"Z", b"X"), fields[19])


def below(root: int, spared: Collection[int]) -> list[Process]:
    """Every process below `root`, apart from the `spared` ones and what is below them."""
    children: dict[int, list[Process]] = {}
    for name in os.listdir("/proc"):
        if name.isdigit() and (process := stat(int(name))):
            children.setdefault(process.parent, []).append(process)
    found: list[Process] = []
    waiting = [root]
    while waiting:
        for process in children.get(waiting.pop(), ()):
            if process.pid not in spared:
                found.append(process)
                waiting.append(process.pid)
    return found


def kill(process: Process) -> None:
    """Kill exactly this process: a reused process id has another start time."""
    try:
        descriptor = os.pidfd_open(process.pid)
    except OSError:
        return
    try:
        now = stat(process.pid)
        if now and now.start == process.start:
            signal.pidfd_send_signal(descriptor, signal.SIGKILL)
    except OSError:
        pass
    finally:
        os.close(descriptor)


def signal_group(leader: int, number: int) -> None:
    try:
        os.killpg(leader, number)
    except OSError:
        return


def reap(kept: int) -> None:
    """Collect every dead child but the zombie `kept`."""
    for process in below(os.getpid(), ()):
        if process.zombie and process.parent == os.getpid() and process.pid != kept:
            try:
                os.waitpid(process.pid, os.WNOHANG)
            except ChildProcessError:
                continue


def childless() -> bool:
    """Collect dead children; whether none is left at all. Orphans come here, so nothing is below this process then."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        return True
    return False


def settled() -> bool:
    """Whether nothing is below this process, or will be once what is ending has ended."""
    for pause in DYING_PAUSES:
        time.sleep(pause)
        if childless():
            return True
    return False


def sweep(leader: int, spared: Collection[int]) -> int:
    """Kill the group of `leader` (0: none) and everything below this process until nothing lives; their number.

    One look that finds nothing proves nothing: /proc is read process by process, and one whose parent ends and is
    collected in between hangs below nobody for that look. Having no child left proves it at once.
    """
    seen: set[int] = set()
    quiet = 0
    if not leader and not spared and settled():
        return 0
    for _ in range(KILL_ROUNDS):
        if not leader and not spared and childless():
            break
        if leader:
            signal_group(leader, signal.SIGKILL)
        alive = [process for process in below(os.getpid(), spared) if not process.zombie]
        for process in alive:
            seen.add(process.pid)
            kill(process)
        quiet = 0 if alive else quiet + 1
        if quiet == QUIET_LOOKS:
            break
        reap(leader)
        time.sleep(KILL_PAUSE_SECONDS)
    return len(seen)
