"""Reading below a folder that somebody else wrote (spec 11 §1.3).

1. The path policy refuses a path before anything is touched.
2. Every component is opened relative to the one above it, without following a link: no race and no `..` leaves the
   folder, and a link anywhere on the way is refused.
3. Only regular files are read, and never more than the limit, whatever their size was a moment ago.
4. Bytes decode as UTF-8 with U+FFFD for bad ones; line ends and a byte-order mark are kept.
"""

import errno
import os
import stat
from typing import Final

from eval_quality.core.behavior.package import MAX_RESOURCE_BYTES, path_problem

_FLAGS: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK


class Unreadable(Exception):
    """A file that is not read; the message says why. `absent` for one that does not exist."""

    def __init__(self, message: str, *, absent: bool = False) -> None:
        super().__init__(message)
        self.absent = absent


def _opened(name: str, flags: int, folder: int | None) -> int:
    try:
        return os.open(name, flags, dir_fd=folder)
    except FileNotFoundError as error:
        raise Unreadable("the file does not exist", absent=True) from error
    except NotADirectoryError as error:
        raise Unreadable("a folder on the way is a link or no folder") from error
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise Unreadable("links are not followed") from error
        raise Unreadable(os.strerror(error.errno or errno.EIO)) from error


def open_below(folder: str, relative: str) -> int:
    """A descriptor of a regular file below `folder`, opened without following any link. Raises `Unreadable`."""
    parts = relative.split("/")
    current = _opened(folder, os.O_RDONLY | os.O_CLOEXEC | os.O_DIRECTORY, None)
    try:
        for part in parts[:-1]:
            below = _opened(part, _FLAGS | os.O_DIRECTORY, current)
            os.close(current)
            current = below
        descriptor = _opened(parts[-1], _FLAGS, current)
    finally:
        os.close(current)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise Unreadable("not a regular file")
    return descriptor


def read_below(folder: str, relative: str, limit: int = MAX_RESOURCE_BYTES) -> bytes:
    """The bytes of a file below `folder`. Raises `Unreadable`."""
    if (problem := path_problem(relative)) is not None:
        raise Unreadable(problem)
    descriptor = open_below(folder, relative)
    try:
        parts: list[bytes] = []
        total = 0
        while part := os.read(descriptor, 1 << 18):
            total += len(part)
            if total > limit:
                raise Unreadable(f"longer than {limit} bytes")
            parts.append(part)
        return b"".join(parts)
    except OSError as error:
        raise Unreadable(os.strerror(error.errno or errno.EIO)) from error
    finally:
        os.close(descriptor)


def decoded(data: bytes) -> str:
    """The text of a resource: UTF-8, U+FFFD for bad bytes, line ends kept."""
    return data.decode("utf-8", "replace")


def listing(folder: str) -> list[os.DirEntry[str]]:
    """The entries of a folder, sorted by name; nothing for a folder that cannot be read."""
    try:
        with os.scandir(folder) as entries:
            return sorted(entries, key=lambda entry: entry.name)
    except OSError:
        return []
