"""Reading what a confined process left in its workspace, without being led out of it (spec 13 §13.9.7).

Inside, a link may point anywhere; on the host the same link would name a host file. So the kernel is asked to resolve
the path below the workspace's own folder and to follow no link at all.
"""

import ctypes
import errno
import os
import stat
from typing import Final

_SYS_OPENAT2: Final = 437
_NO_MAGIC_LINKS: Final = 0x02
_NO_SYMLINKS: Final = 0x04
_BENEATH: Final = 0x08


class _How(ctypes.Structure):
    _fields_ = (("flags", ctypes.c_uint64), ("mode", ctypes.c_uint64), ("resolve", ctypes.c_uint64))


_libc: Final = ctypes.CDLL(None, use_errno=True)


def read_beneath(root: str, relative: str, cap: int) -> bytes | None:
    """The bytes of a regular file below `root`, at most `cap` + 1 of them; None when there is no such file.

    A link anywhere on the way, a path that climbs out, and anything that is no regular file raise `OSError` (`ELOOP`,
    `EXDEV`, `EINVAL`); so does a file that cannot be read. A result longer than `cap` says that the cap was exceeded.
    """
    folder = os.open(root, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        descriptor = _open_beneath(folder, relative)
    except FileNotFoundError:
        return None
    finally:
        os.close(folder)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, "not a regular file", relative)
        data = bytearray()
        while len(data) <= cap and (chunk := os.read(descriptor, min(1 << 20, cap + 1 - len(data)))):
            data += chunk
        return bytes(data)
    finally:
        os.close(descriptor)


def _open_beneath(folder: int, relative: str) -> int:
    flags = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY
    how = _How(flags, 0, _BENEATH | _NO_SYMLINKS | _NO_MAGIC_LINKS)
    path = os.fsencode(relative)
    if b"\0" in path:
        raise OSError(errno.EINVAL, "a path with a NUL byte", relative)
    descriptor: int = _libc.syscall(_SYS_OPENAT2, folder, path, ctypes.byref(how), ctypes.sizeof(how))
    if descriptor < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), relative)
    return descriptor
