"""A workspace that grows without end is stopped before it fills the disk (spec 13 §13.9.4).

No limit of the system covers a folder, so its size is looked at every `INTERVAL_SECONDS`, links not followed. Above the
ceiling everything in the sandbox is killed. What is written between two looks is not prevented.
"""

import os
import signal
import threading
from contextlib import suppress
from typing import Final

INTERVAL_SECONDS: Final = 1.0
_BLOCK_BYTES: Final = 512


class Growth(threading.Thread):
    """Watches one workspace for as long as its lane lives. `reached`: whether the ceiling was passed."""

    def __init__(self, workspace: str, ceiling: int, interval: float = INTERVAL_SECONDS) -> None:
        super().__init__(name="workspace-growth", daemon=True)
        self.reached = False
        self._workspace = workspace
        self._ceiling = ceiling
        self._interval = interval
        self._ended = threading.Event()
        self._lock = threading.Lock()
        self._sandbox = -1

    def follow(self, pid: int) -> None:
        """Make this the sandbox that is killed. Raises `OSError` when it is gone already."""
        descriptor = os.pidfd_open(pid)
        with self._lock:
            self._forget()
            self._sandbox = descriptor

    def end(self) -> None:
        """Stop watching."""
        self._ended.set()
        if self.is_alive():
            self.join()
        with self._lock:
            self._forget()

    def _forget(self) -> None:
        if self._sandbox >= 0:
            os.close(self._sandbox)
            self._sandbox = -1

    def run(self) -> None:
        while not self._ended.wait(self._interval):
            if folder_bytes(self._workspace, self._ceiling) <= self._ceiling:
                continue
            self.reached = True
            with self._lock, suppress(OSError):
                if self._sandbox >= 0:
                    signal.pidfd_send_signal(self._sandbox, signal.SIGKILL)


def folder_bytes(folder: str, enough: int) -> int:
    """The disk space that a folder takes; counting ends once it is more than `enough`. What vanishes is not counted."""
    total = 0
    folders = [folder]
    while folders and total <= enough:
        try:
            with os.scandir(folders.pop()) as found:
                for entry in found:
                    status = entry.stat(follow_symlinks=False)
                    total += status.st_blocks * _BLOCK_BYTES
                    if entry.is_dir(follow_symlinks=False):
                        folders.append(entry.path)
        except OSError:
            continue
    return total
