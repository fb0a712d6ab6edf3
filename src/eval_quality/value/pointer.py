"""JSON Pointers: the tail of a pointer, and the walk along it (RFC 6901; spec 03 §5.1, 05 §5.3.3).

A pointer's tail is a text such as `/items/0/na~1me`; its tokens are the decoded names. The walk never fails: a missing
key, an index outside the array and a step into a scalar are all the same `MISSING`.
"""

import re
from collections.abc import Iterable
from enum import Enum
from typing import Any, Final

from eval_quality.value.kind import is_array, is_object

_TAIL = re.compile(r"(?:/(?:[^/~]|~[01])*)*")
_INDEX = re.compile(r"0|[1-9][0-9]*")
_LONGEST_INDEX: Final = 18
"""No list has an index of more digits; the bound keeps a hostile token from reaching the integer parser."""


class Missing(Enum):
    """The type of `MISSING`, so that a checker can tell it from every JSON value."""

    MISSING = "missing"

    def __repr__(self) -> str:
        return "MISSING"


MISSING: Final = Missing.MISSING


def escape(token: str) -> str:
    """One token as it is spelled in a pointer: `~` becomes `~0`, then `/` becomes `~1`."""
    return token.replace("~", "~0").replace("/", "~1")


def split(tail: str) -> tuple[str, ...]:
    """The decoded tokens of a tail: `""` has none, `"/"` has one empty token.

    Raises `ValueError` for a text that is no RFC 6901 pointer; the schema refuses such text in documents.
    """
    if _TAIL.fullmatch(tail) is None:
        raise ValueError("not a JSON Pointer")
    return tuple(token.replace("~1", "/").replace("~0", "~") for token in tail.split("/")[1:])


def join(tokens: Iterable[str | int]) -> str:
    """The pointer text of some tokens; an array index may be given as a number."""
    return "".join("/" + escape(str(token)) for token in tokens)


def lookup(value: Any, tokens: Iterable[str]) -> Any:
    """Walk from a value along decoded tokens; gives the value found, or `MISSING` (spec 05 §5.3.3).

    An array takes only `0` or digits without a leading zero, below its length. An object takes its own keys.
    """
    current: Any = value
    for token in tokens:
        if is_object(current):
            if token not in current:
                return MISSING
            current = current[token]
        elif is_array(current):
            if len(token) > _LONGEST_INDEX or _INDEX.fullmatch(token) is None or int(token) >= len(current):
                return MISSING
            current = current[int(token)]
        else:
            return MISSING
    return current
