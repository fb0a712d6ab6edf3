"""Content no contract may carry (spec 03 §16.3): anything shaped like a credential or like personal data.

Every string value is scanned, keys never are; the first string with a hit is reported, with the first category it
matches and without its text. Two of the specified patterns are searched in an equivalent form that takes linear
time, because a contract may hold one very long string:

    an address      some `@` after a local-part character and before a domain; the local part's length is free
    a web token     `eyJ` inside a run of token characters that a dot and more token characters follow
"""

import re
from collections.abc import Callable
from typing import Final

from eval_quality.core.compile.codes import EXCLUDED_CONTENT_IN_DECLARATION
from eval_quality.core.compile.survey import Survey
from eval_quality.core.contract.keys import js_order
from eval_quality.core.contract.text import JS_SPACE_CLASS
from eval_quality.errors import StructuralFailure
from eval_quality.model.decode import to_value
from eval_quality.value.kind import is_array, is_object

EXCLUDED_CONTENT_CATEGORIES: Final = (
    "credentials",
    "tokens",
    "real names",
    "email addresses",
    "account identifiers",
    "transaction content",
)
"""What is excluded; real names have no pattern and are left to review."""

_PRIVATE_KEY: Final = re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----")
_TOKEN: Final = re.compile(
    rf"(?<![A-Za-z])(?:[Bb]earer[{JS_SPACE_CLASS}]+[\w.~+/-]{{16}}|sk-[A-Za-z0-9]{{16}}"
    r"|gh[pousr]_[A-Za-z0-9]{16}|AKIA[0-9A-Z]{16})",
    re.ASCII,
)
_WEB_TOKEN_RUN: Final = re.compile(r"(?<![\w-])[\w-]{11,}+(?=\.[\w-]{8})", re.ASCII)
_WEB_TOKEN_START: Final = re.compile(r"(?<![A-Za-z])eyJ")
_WEB_TOKEN_TAIL: Final = 8
_ADDRESS: Final = re.compile(r"(?<=[A-Za-z0-9._%+-])@[A-Za-z0-9.-]+\.[A-Za-z]{2}")
_ACCOUNT: Final = re.compile(r"\b[A-Z]{2}\d{2}[A-Z0-9]{11,30}\b|\b\d{3}-\d{2}-\d{4}\b", re.ASCII)
_CARD: Final = re.compile(r"(?<![0-9A-Za-z])\d{4}(?:[ -]\d{4}){3}(?![0-9A-Za-z])", re.ASCII)


def _has_token(text: str) -> bool:
    return _TOKEN.search(text) is not None or any(
        _WEB_TOKEN_START.search(run[0][:-_WEB_TOKEN_TAIL]) for run in _WEB_TOKEN_RUN.finditer(text)
    )


_DETECTORS: Final[tuple[tuple[str, Callable[[str], object]], ...]] = (
    ("credentials", _PRIVATE_KEY.search),
    ("tokens", _has_token),
    ("email addresses", _ADDRESS.search),
    ("account identifiers", _ACCOUNT.search),
    ("transaction content", _CARD.search),
)


def excluded_category(text: str) -> str | None:
    """The first category a string belongs to, or None."""
    return next((category for category, found in _DETECTORS if found(text)), None)


class _Place:
    """Where a value stands; spelled out only for the one that is reported."""

    __slots__ = ("parent", "suffix")

    def __init__(self, parent: "_Place | None", suffix: str) -> None:
        self.parent, self.suffix = parent, suffix

    def spell(self) -> str:
        suffixes: list[str] = []
        at: _Place | None = self
        while at is not None:
            suffixes.append(at.suffix)
            at = at.parent
        return "".join(reversed(suffixes))


_BETWEEN: Final = "\0"
"""Joins strings so that one search covers them all: no pattern matches it, and it is an edge like a string's end."""


def excluded_content(survey: Survey) -> StructuralFailure | None:
    """Step 29: depth-first, members in schema order or JS order, elements by index.

    Nearly every contract is clean, and one search over all of its strings together, wherever they stand, says so.
    """
    document = to_value(survey.contract)
    if excluded_category(_BETWEEN.join(_texts(document))) is None:
        return None
    located = _located_texts(document)
    hits = [(place, category) for text, place in located if (category := excluded_category(text)) is not None]
    place, category = hits[0]
    return StructuralFailure(
        EXCLUDED_CONTENT_IN_DECLARATION,
        place.spell(),
        f"the text looks like {category}; store a digest or an opaque reference instead",
    )


def _texts(document: object) -> set[str]:
    """The distinct string values."""
    found: set[str] = set()
    pending = [document]
    while pending:
        value = pending.pop()
        if isinstance(value, str):
            found.add(value)
        elif is_object(value):
            pending += value.values()
        elif is_array(value):
            pending += value
    return found


def _located_texts(document: object) -> list[tuple[str, _Place]]:
    """Every string value and where it stands, in the order of the walk."""
    found: list[tuple[str, _Place]] = []
    pending: list[tuple[object, _Place]] = [(document, _Place(None, "EvalContract"))]
    while pending:
        value, place = pending.pop()
        if isinstance(value, str):
            found.append((value, place))
        elif is_object(value):
            pending.extend((value[key], _Place(place, f".{key}")) for key in reversed(js_order(value)))
        elif is_array(value):
            pending.extend((value[i], _Place(place, f"[{i}]")) for i in reversed(range(len(value))))
    return found
