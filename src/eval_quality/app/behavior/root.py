"""Where a repository of skills begins, and its configuration (spec 11 §17.1, §17.3). One root for everything (W21)."""

import os
from typing import Any, Final

from eval_quality.app.behavior.documents_in import parse_document
from eval_quality.app.behavior.reading import Unreadable, read_below
from eval_quality.app.behavior.yaml_source import SourceRefused
from eval_quality.core.behavior.config import Config, read_config
from eval_quality.errors import EvalQualityError

CONFIG_NAME: Final = ".skill-evidence.json"
STATE_FOLDER: Final = ".skill-evidence"
MARKERS: Final = (CONFIG_NAME, "skills", ".claude/skills", ".agents/skills", ".git")
SALT_NAME: Final = f"{STATE_FOLDER}/salt"
SALT_DIGITS: Final = 64


class RepositoryRefused(EvalQualityError):
    """A repository that cannot be worked with at all: no such folder, a wrong configuration, a wrong salt."""


def find_root(given: str | None, working: str) -> str:
    """The root: `given`, else the nearest folder above with a marker, else the working folder."""
    if given is not None:
        if not os.path.isdir(given):
            raise RepositoryRefused(f"--root: {given} is not a folder")
        return os.path.realpath(given)
    current = os.path.realpath(working)
    while True:
        for marker in MARKERS:
            path = os.path.join(current, marker)
            if os.path.isfile(path) if marker == CONFIG_NAME else os.path.exists(path):
                return current
        parent = os.path.dirname(current)
        if parent == current:
            return os.path.realpath(working)
        current = parent


def load_config(root: str) -> Config:
    """The effective configuration. Raises `RepositoryRefused` with every problem."""
    value: Any = {}
    try:
        value = parse_document(read_below(root, CONFIG_NAME), CONFIG_NAME)
    except Unreadable as error:
        if not error.absent:
            raise RepositoryRefused(f"{CONFIG_NAME}: {error}") from error
    except SourceRefused as error:
        raise RepositoryRefused(f"{CONFIG_NAME}: {error}") from error
    config, problems = read_config(value)
    if problems:
        lines = "; ".join(f"{'.'.join(map(str, problem.path)) or '(root)'}: {problem.message}" for problem in problems)
        raise RepositoryRefused(f"{CONFIG_NAME}: {lines}")
    return config


def load_salt(root: str) -> bytes | None:
    """The repository's salt, or None without one. Raises `RepositoryRefused` for a file that is no salt."""
    try:
        text = read_below(root, SALT_NAME, 4096).decode("ascii", "replace").strip()
    except Unreadable as error:
        if error.absent:
            return None
        raise RepositoryRefused(f"{SALT_NAME}: {error}") from error
    if len(text) != SALT_DIGITS or any(digit not in "0123456789abcdef" for digit in text):
        raise RepositoryRefused(f"{SALT_NAME}: expected {SALT_DIGITS} lower-case hex digits")
    return bytes.fromhex(text)
