"""Files that are whole or absent, and what a failing disk means (spec 13 §13.4.1, §13.17).

`write_new` gives content a name only once it is on the disk: temporary file, fsync, mode, rename. `faults` turns an
operating-system error of the block into the fault that says what to do about it.
"""

import errno
import itertools
import os
import shutil
import stat
import sys
import threading
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from eval_quality.run.errors import RunFault

FULL: Final = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
"""What a disk without space answers."""

_counter = itertools.count(1)


@contextmanager
def faults(what: str, size: int = 0) -> Generator[None]:
    """Raise `RunFault` instead of `OSError`: `store-full` without space, `store-unsupported` otherwise.

    what: the class of path, such as `blob`; size: the bytes that were to be written, where known.
    """
    try:
        yield
    except OSError as error:
        why = error.strerror or str(error)
        if error.errno in FULL:
            detail = f"no space left for a {what}" + (f" of {size} bytes" if size else "") + f" ({why})"
            raise RunFault.of("store-full", "Store", detail) from error
        raise RunFault.of("store-unsupported", "Store", f"a {what} cannot be written or read: {why}") from error


def write_new(path: Path, data: bytes, temporary: Path, mode: int = 0o444, durable: bool = True) -> None:
    """Make `path` hold exactly `data`, whole or not at all. `temporary` is a folder of the same file system.

    durable: on the disk when this returns, its name included. Raises `OSError`.
    """
    # The name is this process's and this call's own; what a crash leaves of it is emptied on open.
    scratch = temporary / f"{os.getpid()}-{threading.get_ident()}-{next(_counter)}"
    descriptor = os.open(scratch, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        try:
            view = memoryview(data)
            while view:
                view = view[os.write(descriptor, view) :]
            # Exactly this mode, whatever the caller's umask is.
            os.fchmod(descriptor, mode)
            if durable:
                os.fsync(descriptor)
        finally:
            os.close(descriptor)
        os.rename(scratch, path)
    except BaseException:
        scratch.unlink(missing_ok=True)
        raise
    if durable:
        sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Put a folder's names on the disk."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def make_folder(path: Path, mode: int = 0o755) -> None:
    """A new folder with exactly this mode. Raises `OSError`, also when it exists."""
    os.mkdir(path, 0o700)
    os.chmod(path, mode)


def remove_tree(path: Path) -> None:
    """Remove a folder and everything in it, whatever modes a subject left there; a missing one is no error."""

    if sys.version_info >= (3, 12):
        shutil.rmtree(path, onexc=lambda _function, name, error: _open_and_remove(name, error))
    else:
        shutil.rmtree(path, onerror=lambda _function, name, info: _open_and_remove(name, info[1]))


def _open_and_remove(name: str, error: BaseException) -> None:
    """Remove what refused to go, after making it and its folder accessible to their owner."""
    if isinstance(error, FileNotFoundError):
        return
    for place in (os.path.dirname(name), name):
        if stat.S_ISDIR(os.lstat(place).st_mode):
            os.chmod(place, 0o700)
    if stat.S_ISDIR(os.lstat(name).st_mode):
        shutil.rmtree(name)
    else:
        os.unlink(name)


def empty_folder(path: Path) -> None:
    """Remove everything in a folder, and keep the folder."""
    for entry in list(path.iterdir()):
        if entry.is_dir() and not entry.is_symlink():
            remove_tree(entry)
        else:
            entry.unlink(missing_ok=True)
