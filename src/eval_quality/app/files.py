"""Reading input documents and writing output files.

Reading (spec 10 §2.4, §3):

1. `-` is standard input, read to its end for as long as that takes.
2. A document longer than `MAX_INPUT_BYTES` is refused; a regular file is refused by its size, before any of it is read.
3. A directory is a path error, like any path the operating system refuses.
4. A named pipe is read like a file. One that nobody writes to within `PIPE_OPEN_SECONDS`, or whose writer stays
   silent for `PIPE_SILENCE_SECONDS`, is a fault instead of a command that hangs for ever. A slow producer belongs on
   standard input.
5. The bytes go through the scanner (spec 01 §3), whose value is the only one used.

Writing (spec 10 §1.2 rule 4, §4): parents are created, the bytes go to a temporary file beside the target, which is
then renamed over it: a reader sees the old file or the new one, never half of one, and nothing is left behind when
writing fails. A symbolic link as target stays, and the file it names is replaced.
"""

import errno
import os
import stat
import sys
from typing import Any, Final

from eval_quality.errors import RuntimeFault
from eval_quality.value.text import quoted

MAX_INPUT_BYTES: Final = 256 * 1024 * 1024
"""Longest document read. Stops an endless device or a file that would not fit in memory several times over."""

PIPE_OPEN_SECONDS: Final = 5
"""How long a named pipe may stay without any writer."""

PIPE_SILENCE_SECONDS: Final = 30
"""How long the writer of a named pipe may stay silent."""

USAGE_ERRNOS: Final = frozenset(
    {
        errno.ENOENT,
        errno.EACCES,
        errno.EISDIR,
        errno.ENOTDIR,
        errno.EPERM,
        errno.ELOOP,
        errno.ENAMETOOLONG,
    }
)
"""Operating system errors that are the caller's path, not a fault (spec 10 §2.4)."""

_CHUNK: Final = 1 << 20


class PathError(Exception):
    """An operating system error about a path: the call, the path as given and the error number."""

    def __init__(self, call: str, path: str | None, number: int) -> None:
        self.call = call
        self.path = path
        self.number = number
        super().__init__(f"{call} {quoted(path) if path is not None else '(unknown path)'}: {self.code}")

    @property
    def code(self) -> str:
        """The symbolic name, such as ENOENT."""
        return errno.errorcode.get(self.number, str(self.number))

    @property
    def is_usage(self) -> bool:
        """Whether the path as typed is to blame (exit 64) rather than the machine (exit 5)."""
        return self.number in USAGE_ERRNOS


def _number(error: OSError) -> int:
    return error.errno if error.errno is not None else errno.EIO


def _refuse_nul(path: str) -> None:
    """No file has a NUL in its name, and the operating system never gets to say so."""
    if "\0" in path:
        raise PathError("open", path, errno.ENOENT)


def read_bytes(path: str, flag: str, artifact_path: str) -> bytes:
    """The bytes of the input named by `flag`; "-" is standard input.

    Raises `PathError`, or a `schema-parse-failure` at `artifact_path` for a document that is too long or never arrives.
    """
    if path == "-":
        stream = sys.stdin
        if stream is None:  # pyright: ignore[reportUnnecessaryComparison]  # closed by the caller: `<&-`
            raise PathError("read", "-", errno.EBADF)
        try:
            return _drain(stream.buffer.fileno(), flag, artifact_path)
        except OSError as error:
            raise PathError("read", path, _number(error)) from error
    _refuse_nul(path)
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        raise PathError("open", path, _number(error)) from error
    try:
        status = os.fstat(descriptor)
        if stat.S_ISDIR(status.st_mode):
            raise PathError("read", path, errno.EISDIR)
        if stat.S_ISREG(status.st_mode) and status.st_size > MAX_INPUT_BYTES:
            raise _too_long(flag, artifact_path)
        if stat.S_ISFIFO(status.st_mode):
            return _drain_pipe(descriptor, flag, artifact_path)
        os.set_blocking(descriptor, True)
        return _drain(descriptor, flag, artifact_path)
    except OSError as error:
        raise PathError("read", path, _number(error)) from error
    finally:
        os.close(descriptor)


def read_input(path: str, flag: str, artifact_path: str, *, show_path: bool = False) -> Any:
    """The JSON value of the input document named by `flag`.

    `show_path` adds the path to the message of a fault, for flags that may be given several times (spec 10 §3 rule 2).
    """
    from eval_quality.value.scan import scan

    place = f"{flag} {quoted(path)}" if show_path else flag
    source = read_bytes(path, place, artifact_path)
    try:
        return scan(source, artifact_path)
    except RuntimeFault as fault:
        raise RuntimeFault(fault.code, artifact_path, f"{place}: {fault.detail}") from fault


def _too_long(flag: str, artifact_path: str) -> RuntimeFault:
    limit = MAX_INPUT_BYTES // (1024 * 1024)
    return RuntimeFault("schema-parse-failure", artifact_path, f"{flag}: the document is longer than {limit} MiB")


def _drain(descriptor: int, flag: str, artifact_path: str) -> bytes:
    """Read to the end, at most `MAX_INPUT_BYTES`."""
    parts: list[bytes] = []
    total = 0
    while part := os.read(descriptor, _CHUNK):
        total += len(part)
        if total > MAX_INPUT_BYTES:
            raise _too_long(flag, artifact_path)
        parts.append(part)
    return b"".join(parts)


def _drain_pipe(descriptor: int, flag: str, artifact_path: str) -> bytes:
    """Read a named pipe opened without blocking, giving up on one that never delivers."""
    import select

    poller = select.poll()
    poller.register(descriptor, select.POLLIN)
    parts: list[bytes] = []
    total = 0
    silent = 0
    while True:
        ready = poller.poll(PIPE_OPEN_SECONDS * 1000)
        try:
            part = os.read(descriptor, _CHUNK)
        except BlockingIOError:
            # A writer holds the pipe open and has not written yet.
            silent += PIPE_OPEN_SECONDS
            if silent >= PIPE_SILENCE_SECONDS:
                raise _never_came(flag, artifact_path, PIPE_SILENCE_SECONDS) from None
            continue
        if not part:
            if not ready and not parts:
                raise _never_came(flag, artifact_path, PIPE_OPEN_SECONDS)
            return b"".join(parts)
        silent = 0
        total += len(part)
        if total > MAX_INPUT_BYTES:
            raise _too_long(flag, artifact_path)
        parts.append(part)


def _never_came(flag: str, artifact_path: str, seconds: int) -> RuntimeFault:
    detail = f"{flag}: a pipe that delivered nothing for {seconds} seconds; a slow producer can write to standard input"
    return RuntimeFault("schema-parse-failure", artifact_path, detail)


def write_atomic(path: str, data: bytes) -> None:
    """Replace the file at `path` by `data`, creating its parent directories. Raises `PathError`."""
    _refuse_nul(path)
    target = os.path.realpath(path)
    parent = os.path.dirname(target)
    try:
        os.makedirs(parent, exist_ok=True)
    except OSError as error:
        # A file where a directory is needed reads EEXIST here and ENOTDIR one level down: it is one mistake.
        number = errno.ENOTDIR if error.errno == errno.EEXIST else _number(error)
        raise PathError("mkdir", os.path.dirname(path) or ".", number) from error
    mode = _mode_of_existing(path, target)
    temporary = os.path.join(parent, f".{os.path.basename(target)[:200]}.{os.urandom(6).hex()}.tmp")
    try:
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
    except OSError as error:
        raise PathError("open", path, _number(error)) from error
    try:
        try:
            if mode is not None:
                os.fchmod(descriptor, mode)
            view = memoryview(data)
            while view:
                view = view[os.write(descriptor, view) :]
        finally:
            os.close(descriptor)
        os.replace(temporary, target)
    except BaseException as error:
        os.unlink(temporary)
        if isinstance(error, OSError):
            raise PathError("write", path, _number(error)) from error
        raise


def _mode_of_existing(path: str, target: str) -> int | None:
    """The permissions to keep when `target` exists; refuses a directory and a file that may not be written."""
    try:
        status = os.stat(target)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise PathError("open", path, _number(error)) from error
    if stat.S_ISDIR(status.st_mode):
        raise PathError("open", path, errno.EISDIR)
    if not os.access(target, os.W_OK):
        raise PathError("open", path, errno.EACCES)
    return stat.S_IMODE(status.st_mode)
