"""A lane whose launches each get a sandbox of their own (spec 13 §13.9.3, §13.9.6).

A lane is a process slot below the supervisor. This one rewrites a launch on its way: the sandbox program is started in
the target's place, with the target's argument vector and environment in a descriptor, and a watcher looks at the
sandbox before it lets the target run. Killing, sweeping and counting strays are the plain lane's; the sandbox's first
process takes everything inside with it.

1. A target that the sandbox could not see is refused before anything starts, as a missing file (`ENOENT`), which is
   what it is in there.
2. The launch's working folder is the workspace, `/box`, or a folder below it; a path of the host means nothing inside.
3. Further descriptors of a launch are refused: nothing but the three standard streams crosses.
"""

import errno
import os
import re
import resource
import threading
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from typing import Any, Final, NamedTuple

from eval_quality.probe.lanes import Lane
from eval_quality.run.confine import bubblewrap
from eval_quality.run.confine.cgroups import create_group, group_name
from eval_quality.run.confine.growth import Growth
from eval_quality.run.confine.mounts import host_mounts
from eval_quality.run.confine.specification import WORKSPACE, Specification
from eval_quality.run.confine.watch import Seen, watch
from eval_quality.run.errors import RunFault

WATCH_SECONDS: Final = 40.0
"""How long the facts of a launch that has ended are waited for."""


COUNTS_BY_NAMESPACE: Final = (5, 14)
"""The kernel that first counts a user's processes by user namespace; an older one counts those outside as well, so that
a ceiling would stop the sandbox itself. The administrator is never held to it."""


class LimitFact(NamedTuple):
    """One ceiling: what acts on it, None when nothing does on this host."""

    limit: str
    value: int
    mechanism: str | None


class Facts(NamedTuple):
    """What was observed of every sandbox of a lane.

    observed_mounts: the union of their mount tables. starts: their number. reached: the ceilings that ended one of
    them, as far as this host tells (`workspace`).
    """

    observed_mounts: tuple[str, ...]
    limits: tuple[LimitFact, ...]
    starts: int
    reached: tuple[str, ...] = ()


class ConfinedLane(Lane):
    """A process slot that starts every target in a sandbox. `program` is the sandbox program."""

    def __init__(self, specification: Specification, program: str | None = None) -> None:
        found = program or bubblewrap.find_program()
        if found is None:
            detail = "the program bwrap (bubblewrap) is not installed; install it, or run with --confine none"
            raise RunFault.of("confinement-unavailable", "Experiment.confine", detail)
        self.specification = specification
        self._program = found
        self._host = host_mounts()
        self._watchers: list[_Watcher] = []
        self._seen: list[Seen] = []
        self._starts = 0
        self._unmade = 0
        # A control group is dear: moving a process into one waits for every processor of the host.
        self._counts_in_namespace = os.getuid() != 0 and _kernel_version() >= COUNTS_BY_NAMESPACE
        limits = {} if self._counts_in_namespace else {"processes": specification.limits.max_processes}
        if specification.limits.max_memory is not None:
            limits["memory"] = specification.limits.max_memory
        self._group = create_group(group_name(), limits)
        self._growth: Growth | None = None
        if specification.limits.max_workspace is not None:
            workspace = next(mount.source for mount in specification.mounts if mount.target == WORKSPACE)
            self._growth = Growth(workspace, specification.limits.max_workspace)
            self._growth.start()
        super().__init__()

    def __enter__(self) -> "ConfinedLane":
        return self

    def send(self, *message: Any, descriptors: tuple[int, ...] = ()) -> None:
        """Send a message; a launch is put into a sandbox first."""
        if message[0] != "launch":
            if message[0] in ("kill", "signal") and self._watchers:
                self._watchers[-1].was_ended = True
            super().send(*message, descriptors=descriptors)
            return
        launch: Mapping[str, Any] = message[1]
        if len(descriptors) != 3:
            raise ValueError("a confined target gets the three standard streams and no other descriptor")
        cwd = _inside(os.fsdecode(launch["cwd"]))
        argv = [self._resolved(launch["argv"][0], launch["environment"], cwd), *launch["argv"][1:]]
        wrapped = bubblewrap.wrap(self._program, self.specification, argv, launch["environment"], cwd)
        information, theirs = os.pipe2(os.O_CLOEXEC)
        blocked, release = os.pipe2(os.O_CLOEXEC)
        with _files(wrapped.options, *wrapped.texts) as files:
            numbers = [
                0,
                1,
                2,
                bubblewrap.ARGUMENTS_NUMBER,
                bubblewrap.INFORMATION_NUMBER,
                bubblewrap.BLOCK_NUMBER,
                *range(bubblewrap.FIRST_FILE_NUMBER, bubblewrap.FIRST_FILE_NUMBER + len(wrapped.texts)),
            ]
            rewritten: dict[str, Any] = {
                "argv": list(wrapped.argv),
                "cwd": b"/",
                "environment": {},
                "targets": numbers,
                "limits": [*launch["limits"], *self._resource_limits()],
            }
            sent = (*descriptors, files[0], theirs, blocked, *files[1:])
            try:
                super().send("launch", rewritten, descriptors=sent)
            except BaseException:
                os.close(information)
                os.close(release)
                raise
            finally:
                os.close(theirs)
                os.close(blocked)
        self._starts += 1
        self._watchers.append(_Watcher(self.specification, self._host, information, release, self._confine))

    def _resolved(self, program: bytes, environment: Mapping[bytes, bytes], cwd: str) -> bytes:
        """The target's path inside; raises `OSError` as a launch of a missing or unusable program does."""
        name = os.fsdecode(program)
        if "/" in name:
            candidates = [name if name.startswith("/") else os.path.join(cwd, name)]
        else:
            folders = os.fsdecode(environment.get(b"PATH", b"")).split(":")
            candidates = [os.path.join(folder, name) for folder in folders if folder.startswith("/")]
        refusal = errno.ENOENT
        for candidate in candidates:
            path = self.specification.host_path(candidate)
            if path is None:
                continue
            if os.path.isfile(path) and os.access(path, os.X_OK):
                return os.fsencode(candidate)
            refusal = errno.EACCES
        raise OSError(refusal, os.strerror(refusal))

    def _resource_limits(self) -> list[tuple[int, int, int]]:
        limits = self.specification.limits
        wanted = [
            (resource.RLIMIT_FSIZE, limits.max_file_bytes),
            (resource.RLIMIT_NOFILE, limits.max_open_files),
            (resource.RLIMIT_CORE, 0),
        ]
        lowered: list[tuple[int, int, int]] = []
        for number, value in wanted:
            hard = resource.getrlimit(number)[1]
            ceiling = value if hard == resource.RLIM_INFINITY else min(value, hard)
            lowered.append((number, ceiling, ceiling))
        return lowered

    def _process_mechanism(self) -> str | None:
        return "rlimit" if self._counts_in_namespace else self._group.mechanisms.get("processes")

    def _confine(self, pid: int) -> None:
        """Put a sandbox that waits for its release under its ceilings. Raises `OSError`."""
        self._group.join(pid)
        if self._growth is not None:
            self._growth.follow(pid)
        if self._counts_in_namespace:
            processes = self.specification.limits.max_processes
            resource.prlimit(pid, resource.RLIMIT_NPROC, (processes, processes))

    @property
    def overgrown(self) -> bool:
        """Whether a launch was ended because its workspace grew beyond the ceiling."""
        return self._growth is not None and self._growth.reached

    def facts(self) -> Facts:
        """What was observed so far, once every watcher is done.

        Raises `RunFault`: `confinement-breach` when a sandbox was not exactly its specification,
        `confinement-unavailable` when one could not be made, so that what the call returned is not the target's.
        """
        self._collect()
        for seen in self._seen:
            if seen.breach is not None:
                detail = f"{seen.breach}; the process was killed before it ran"
                raise RunFault.of("confinement-breach", "Experiment.confine", detail)
        if self._unmade:
            detail = f"{self._unmade} of {self._starts} sandboxes could not be made; see the standard error of the call"
            raise RunFault.of("confinement-unavailable", "Experiment.confine", detail)
        limits = self.specification.limits
        facts = [
            LimitFact("file-size", limits.max_file_bytes, "rlimit"),
            LimitFact("open-files", limits.max_open_files, "rlimit"),
            LimitFact("private-space", limits.tmp_bytes, "file-system-size"),
            LimitFact("processes", limits.max_processes, self._process_mechanism()),
        ]
        if limits.max_memory is not None:
            facts.append(LimitFact("memory", limits.max_memory, self._group.mechanisms.get("memory")))
        mounts = sorted(set[str]().union(*(seen.mounts for seen in self._seen)))
        if limits.max_workspace is not None:
            facts.append(LimitFact("workspace", limits.max_workspace, "watched"))
        reached = ("workspace",) if self.overgrown else ()
        return Facts(tuple(mounts), tuple(sorted(facts, key=lambda fact: fact.limit)), self._starts, reached)

    def sandbox_pid(self) -> int | None:
        """The first process inside the latest sandbox, as this host numbers it; None when it never came to life."""
        self._collect()
        return self._seen[-1].pid if self._seen else None

    def _collect(self) -> None:
        for watcher in self._watchers:
            watcher.join(WATCH_SECONDS)
            if watcher.seen is not None:
                self._seen.append(watcher.seen)
            elif not watcher.was_ended:
                self._unmade += 1
        self._watchers.clear()

    def close(self) -> int:
        """End everything that the lane started; how many live processes were left behind."""
        strays = super().close()
        self._collect()
        self._group.close()
        if self._growth is not None:
            self._growth.end()
        return strays


class _Watcher(threading.Thread):
    def __init__(self, specification: Specification, host: Any, information: int, release: int, confine: Any) -> None:
        super().__init__(name="sandbox-watcher", daemon=True)
        self._arguments = (specification, host, information, release, confine)
        self.seen: Seen | None = None
        self.was_ended = False
        self.start()

    def run(self) -> None:
        self.seen = watch(*self._arguments)


@contextmanager
def _files(*contents: bytes) -> Generator[list[int]]:
    """Descriptors of nameless files holding these bytes."""
    opened: list[int] = []
    try:
        for content in contents:
            descriptor = os.memfd_create("eval-quality", os.MFD_CLOEXEC)
            opened.append(descriptor)
            view = memoryview(content)
            while view:
                view = view[os.write(descriptor, view) :]
            os.lseek(descriptor, 0, os.SEEK_SET)
        yield opened
    finally:
        for descriptor in opened:
            os.close(descriptor)


def _kernel_version() -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"[0-9]+", os.uname().release)[:2])


def open_lane(backend: str, specification: Specification) -> Lane:
    """A lane for the chosen back end: `bwrap` confines, `none` does not."""
    return ConfinedLane(specification) if backend == "bwrap" else Lane()


def _inside(cwd: str) -> str:
    """The working folder inside: a folder of the workspace stays, anything else is the workspace."""
    return cwd if cwd.startswith(f"{WORKSPACE}/") and ".." not in cwd.split("/") else WORKSPACE
