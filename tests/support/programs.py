"""Executable test programs: small Python scripts started by the interpreter of the tests."""

import atexit
import os
import shutil
import stat
import sys
import tempfile
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).with_name("programs")


@cache
def _launchers() -> Path:
    folder = tempfile.mkdtemp(prefix="eval-quality-programs-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Path(folder)


@cache
def program(name: str) -> str:
    """The path of an executable that runs `programs/<name>.py`; policies name a target without arguments."""
    launcher = _launchers() / name
    launcher.write_text(f'#!/bin/sh\nexec "{sys.executable}" -I -S "{FOLDER / name}.py" "$@"\n')
    os.chmod(launcher, stat.S_IRWXU)
    return str(launcher)
