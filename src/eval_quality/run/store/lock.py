"""One writer a run directory (spec 13 §13.1 G4, §13.7.1).

An advisory lock that the system releases with the process, so a crash never leaves one behind. The file says who holds
it, for the message.
"""

import fcntl
import json
import os
import socket
from pathlib import Path
from typing import Any

from eval_quality.run.errors import RunFault
from eval_quality.run.store.files import faults


class Lock:
    """The held lock of a run directory; a context manager that releases it."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    @classmethod
    def take(cls, path: Path, now_ms: int) -> "Lock":
        """Take the writer's lock without waiting. Raises `RunFault` (`store-locked`, `resume-refused`)."""
        with faults("lock"):
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        lock = cls(descriptor)
        lock._claim(path, fcntl.LOCK_EX)
        holder = {"host": socket.gethostname(), "pid": os.getpid(), "startedMs": now_ms}
        with faults("lock"):
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, json.dumps(holder).encode(), 0)
        return lock

    @classmethod
    def look(cls, path: Path) -> "Lock":
        """Keep writers away while reading; works on a store that cannot be written. Raises as `take` does."""
        with faults("lock"):
            descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        lock = cls(descriptor)
        lock._claim(path, fcntl.LOCK_SH)
        return lock

    def _claim(self, path: Path, kind: int) -> None:
        try:
            fcntl.flock(self._descriptor, kind | fcntl.LOCK_NB)
        except BlockingIOError as error:
            holder = self._holder()
            self.release()
            detail = f"the run is being written by {holder}"
            raise RunFault.of("store-locked", f"Run[{path.parent.name}]", detail) from error
        try:
            # A collection that had the lock may have removed the directory while we waited for the file.
            is_same = os.path.samestat(os.fstat(self._descriptor), os.stat(path))
        except FileNotFoundError:
            is_same = False
        if not is_same:
            self.release()
            raise RunFault.of("resume-refused", f"Run[{path.parent.name}]", "the run directory has been removed")

    def _holder(self) -> str:
        try:
            holder: Any = json.loads(os.pread(self._descriptor, 4096, 0))
            return f"process {holder['pid']} on {holder['host']}, started at {holder['startedMs']} ms since 1970"
        except (ValueError, KeyError, TypeError):
            return "another process"

    @property
    def held(self) -> bool:
        """Whether the lock has not been released yet."""
        return self._descriptor >= 0

    def release(self) -> None:
        """Let the next writer in. Releasing twice is no error."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def __enter__(self) -> "Lock":
        return self

    def __exit__(self, *_: object) -> None:
        self.release()
