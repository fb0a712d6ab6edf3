"""The program, run the way users run it and the way tests can afford.

`call` runs the dispatcher inside the test process with its own streams; `spawn` starts `python -m eval_quality`.
"""

import io
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

import pytest

from eval_quality.cli.dispatch import main


class Outcome(NamedTuple):
    """What one run of the program left behind."""

    code: int
    out: str
    err: str

    @property
    def lines(self) -> list[str]:
        """The lines on standard error."""
        return self.err.splitlines()


def call(*arguments: str | Path, stdin: bytes = b"") -> Outcome:
    """Run the program inside this process."""
    out = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    err = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", errors="backslashreplace")
    with tempfile.TemporaryFile("w+b") as file, pytest.MonkeyPatch.context() as patch:
        file.write(stdin)
        file.seek(0)
        source = io.TextIOWrapper(file, encoding="utf-8")
        patch.setattr(sys, "stdin", source)
        patch.setattr(sys, "stdout", out)
        patch.setattr(sys, "stderr", err)
        code = main([str(argument) for argument in arguments])
        source.detach()
    return Outcome(code, _text(out), _text(err))


def _text(stream: io.TextIOWrapper) -> str:
    stream.flush()
    buffer = stream.buffer
    assert isinstance(buffer, io.BytesIO)
    return buffer.getvalue().decode()


def spawn(
    *arguments: str | Path, stdin: bytes | int = subprocess.DEVNULL, cwd: Path | None = None, timeout: float = 60
) -> Outcome:
    """Start the program as a process of its own."""
    finished = subprocess.run(
        [sys.executable, "-m", "eval_quality", *(str(argument) for argument in arguments)],
        cwd=cwd,
        input=stdin if isinstance(stdin, bytes) else None,
        stdin=None if isinstance(stdin, bytes) else stdin,
        capture_output=True,
        timeout=timeout,
        check=False,
    )
    return Outcome(finished.returncode, finished.stdout.decode(), finished.stderr.decode())
