"""Whether a folder can hold a store, found out by using it (spec 13 §13.3).

Exclusive creation, fsync of a file and of a folder, renaming over an existing name, an advisory lock that excludes, a
journal in WAL mode, and modes that stick. A failing check is `store-unsupported` with the check's name.
"""

import fcntl
import os
import shutil
import sqlite3
import stat
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Final

from eval_quality.run.confine.mounts import host_mounts, is_below
from eval_quality.run.errors import RunFault
from eval_quality.run.store.files import FULL, sync_folder, write_new

LEAST_FREE_BYTES: Final = 256 * 1024 * 1024
"""Below this nothing is started."""
FREE_BYTES_WARNED: Final = 1024 * 1024 * 1024

NETWORK_FILE_SYSTEMS: Final = frozenset(
    {"nfs", "nfs4", "cifs", "smb3", "smbfs", "afs", "ceph", "lustre", "glusterfs", "fuse.sshfs", "fuse.glusterfs", "9p"}
)
"""Where advisory locks and shared memory between processes cannot be relied on."""


def check_place(root: Path) -> None:
    """Refuse a store below a folder in which anybody may replace it. Raises `RunFault` (`store-unsupported`)."""
    for folder in (root, *root.parents):
        try:
            mode = folder.stat().st_mode
        except FileNotFoundError:
            continue
        if mode & stat.S_IWOTH and not mode & stat.S_ISVTX:
            raise _unsupported("ownership", f"anybody may replace what is in {folder}; choose another place")


def check_file_system(folder: Path) -> None:
    """Refuse a network file system. Raises `RunFault` (`store-unsupported`)."""
    real = os.path.realpath(folder)
    found = max((m for m in host_mounts() if is_below(real, m.point)), key=lambda m: len(m.point), default=None)
    if found is not None and found.file_system in NETWORK_FILE_SYSTEMS:
        why = f"{found.file_system} does not keep locks and shared memory reliably; choose a local disk"
        raise _unsupported("file-system", why)


def check_working(folder: Path) -> None:
    """Do what a store does, in a scratch folder that is removed again. Raises `RunFault`."""
    name = "create"
    scratch: Path | None = None
    try:
        scratch = Path(tempfile.mkdtemp(prefix=".check-", dir=folder))
        for check_name, check in _CHECKS:
            name = check_name
            check(scratch)
    except (OSError, sqlite3.Error, AssertionError) as error:
        if isinstance(error, OSError) and error.errno in FULL:
            raise RunFault.of("store-full", "Store", f"no space left in {folder}") from error
        why = (error.strerror if isinstance(error, OSError) else None) or str(error)
        raise _unsupported(name, f"{folder}: {why}") from error
    finally:
        if scratch is not None:
            shutil.rmtree(scratch, ignore_errors=True)


def free_bytes(folder: Path) -> int:
    """Bytes that this user may still write."""
    found = os.statvfs(folder)
    return found.f_bavail * found.f_frsize


def check_space(folder: Path, least: int = LEAST_FREE_BYTES) -> str | None:
    """A warning when space runs short. Raises `RunFault` (`store-full`) below `least`."""
    free = free_bytes(folder)
    if free < least:
        raise RunFault.of("store-full", "Store", f"{free} bytes are left in {folder}, at least {least} are needed")
    return f"{free} bytes are left in {folder}" if free < FREE_BYTES_WARNED else None


def _unsupported(check: str, why: str) -> RunFault:
    return RunFault.of("store-unsupported", "Store", f"check {check}: {why}")


def _create(folder: Path) -> None:
    path = folder / "exclusive"
    path.touch(exist_ok=False)
    try:
        path.touch(exist_ok=False)
    except FileExistsError:
        return
    raise AssertionError("an existing file could be created again")


def _durable(folder: Path) -> None:
    write_new(folder / "renamed", b"1", folder)
    write_new(folder / "renamed", b"2", folder)
    sync_folder(folder)
    if (folder / "renamed").read_bytes() != b"2":
        raise AssertionError("renaming over an existing name did not replace it")


def _mode(folder: Path) -> None:
    path = folder / "renamed"
    path.chmod(0o400)
    if stat.S_IMODE(path.stat().st_mode) != 0o400:
        raise AssertionError("permission bits are not kept")


def _locking(folder: Path) -> None:
    path = folder / "exclusive"
    with path.open() as one, path.open() as other:
        fcntl.flock(one, fcntl.LOCK_EX | fcntl.LOCK_NB)
        try:
            fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return
    raise AssertionError("two descriptors could hold one lock")


def _write_ahead(folder: Path) -> None:
    connection = sqlite3.connect(folder / "journal")
    try:
        (mode,) = connection.execute("PRAGMA journal_mode=WAL").fetchone()
        connection.execute("CREATE TABLE t(x)")
        connection.commit()
    finally:
        connection.close()
    if mode != "wal":
        raise AssertionError(f"the journal mode is {mode}")


_CHECKS: Final[tuple[tuple[str, Callable[[Path], None]], ...]] = (
    ("create", _create),
    ("durable", _durable),
    ("mode", _mode),
    ("lock", _locking),
    ("journal", _write_ahead),
)
