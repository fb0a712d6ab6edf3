"""Load somebody's adapter and prove it (spec 07 §7.7)."""

import os
import sys
from collections.abc import Iterable
from importlib import import_module
from typing import Any

from eval_quality.conformance import PUBLISHED_COUNTS, Report, run


class Unusable(ValueError):
    """The named factory cannot be used; the message says why."""


def reports(factory_path: str) -> list[Report]:
    """A report for each subject that `package.module:factory` gives.

    The current folder is importable, as under `python -m`. Raises `Unusable`.
    """
    return [run(subject) for subject in _subjects(_factory(factory_path))]


def _factory(path: str) -> Any:
    module_name, colon, name = path.partition(":")
    if not colon or not module_name or not name:
        raise Unusable(f"{path!r} is not of the form package.module:factory")
    folder = os.getcwd()
    if folder not in sys.path:
        sys.path.insert(0, folder)
    try:
        found: Any = import_module(module_name)
        for part in name.split("."):
            found = getattr(found, part)
    except Exception as error:
        raise Unusable(f"{path!r} cannot be imported: {type(error).__name__}: {error}") from error
    return found


def _subjects(factory: Any) -> list[Any]:
    try:
        made = factory()
    except Exception as error:
        raise Unusable(f"the factory raised {type(error).__name__}: {error}") from error
    subjects: list[Any] = list(made) if isinstance(made, Iterable) and not hasattr(made, "conforms_to") else [made]  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
    for subject in subjects:
        conforms_to = getattr(subject, "conforms_to", None)
        if conforms_to not in PUBLISHED_COUNTS:
            runners = ", ".join(PUBLISHED_COUNTS)
            raise Unusable(f"a subject's conforms_to is {conforms_to!r}, which is none of {runners}")
    if not subjects:
        raise Unusable("the factory gave no subject, so nothing would be proven")
    return subjects
