"""Where a command's product and its messages go (spec 10 §4, §5.1).

Standard output carries the product alone. Messages go to standard error, one line each, with the program's name in
front and every character a terminal would obey made visible. A reader that went away is no reason for a traceback.
"""

import errno
import os
import sys
from collections.abc import Iterable
from typing import TextIO

from eval_quality.app.files import PathError, write_atomic
from eval_quality.cli.command import Invocation, UsageError
from eval_quality.report.visible import visible
from eval_quality.value.text import quoted


def target_path(out: str | None, kind: str) -> str | None:
    """The file `--out` names: itself when it ends in .json, else `<out>/<kind>.json`; None for standard output.

    The file system is never consulted (spec 10 §4 rule 2).
    """
    if out is None or out.lower().endswith(".json"):
        return out
    return os.path.join(out, f"{kind}.json")


def refuse_collision(invocation: Invocation, kind: str) -> None:
    """Refuse an `--out` that would overwrite an input, before anything is read (spec 10 §4 rule 5)."""
    target = target_path(invocation.text("--out"), kind)
    if target is not None:
        refuse_collisions(invocation, [target])


def refuse_collisions(invocation: Invocation, targets: Iterable[str]) -> None:
    """The same for a command that writes several files."""
    for target in targets:
        resolved = os.path.abspath(target)
        for flag, path in invocation.inputs():
            if path != "-" and (os.path.abspath(path) == resolved or _same_file(path, target)):
                raise UsageError(f"--out would overwrite {quoted(resolved)}, the input {flag} {quoted(path)}")


def _same_file(one: str, other: str) -> bool:
    try:
        return os.path.samestat(os.stat(one), os.stat(other))
    except (OSError, ValueError):
        return False


def emit(artifact_text: str, out: str | None, kind: str) -> None:
    """Write an artifact's text to standard output, or to the file that `out` names."""
    target = target_path(out, kind)
    if target is None:
        write_stdout(artifact_text)
    else:
        write_atomic(target, artifact_text.encode())


def write_stdout(text: str) -> None:
    """Write `text` to standard output as UTF-8 and flush it. Raises `PathError` when nobody takes it."""
    stream: TextIO | None = sys.stdout
    if stream is None:
        raise PathError("write", None, errno.EBADF)
    try:
        stream.flush()
        stream.buffer.write(text.encode())
        stream.flush()
    except OSError as error:
        _forget(stream)
        raise PathError("write", None, error.errno or errno.EIO) from error


def note(line: str) -> None:
    """Print one message line to standard error, prefixed with the program's name."""
    write_stderr(f"eval-quality: {line}")


def write_stderr(line: str) -> None:
    """Print one line to standard error as it is, but for characters that a terminal would obey."""
    stream: TextIO | None = sys.stderr
    if stream is None:
        return
    try:
        stream.write(visible(line) + "\n")
        stream.flush()
    except (OSError, ValueError):
        _forget(stream)


def _forget(stream: TextIO) -> None:
    """Point a stream nobody reads at the null device, so that the interpreter's own flush at exit stays silent."""
    try:
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, stream.fileno())
        os.close(null)
    except (OSError, ValueError):
        return
