"""The canonical byte form, RFC 8785 within the value domain (spec 01 §5).

1. No white space, no final newline, UTF-8 without a byte-order mark.
2. Numbers as ECMAScript prints them; `-0` is `0`, integral values have no point.
3. Strings with the JSON short escapes, other control characters as lower-case `\\u00xx`, everything else raw.
4. Arrays in order; object members sorted by the UTF-16 code units of their keys.

`write` is the definition: it writes a value of the domain and refuses any other, without saying why; `serializer_fault`
then names the first violation. Most values of some size are so plain that the standard library's encoder prints the
same text in a fraction of the time. `_plain_objects` proves that first, a whole level at a time, and everything it does
not prove goes through `write`; a property test holds the two together.
"""

from collections.abc import Callable
from itertools import chain
from json import JSONEncoder
from json.encoder import encode_basestring
from typing import Any, Final

from eval_quality.value.depth import room
from eval_quality.value.domain import (
    ARRAY_TYPES,
    MAX_NESTING_DEPTH,
    MAX_SAFE_INTEGER,
    OBJECT_TYPES,
    assert_hashed_artifact_value,
    serializer_fault,
)
from eval_quality.value.frozen import FrozenDict, FrozenList
from eval_quality.value.kind import is_object
from eval_quality.value.text import HIGHEST_BMP, js_number, utf16_key

__all__ = ["assert_hashed_artifact_value", "canonicalize"]

_ENCODER: Final = JSONEncoder(
    ensure_ascii=False, check_circular=False, allow_nan=False, sort_keys=True, separators=(",", ":")
)
_PLAIN_DEPTH: Final = 128
"""Deeper values are left to `write`, which makes room on the stack where it needs some."""

_WORTH_PROVING: Final = 32
"""Below so many members in the two outer levels, the proof costs more than it saves."""

_STR_ONLY: Final = frozenset({str})
_CONTAINER_TYPES: Final = OBJECT_TYPES | ARRAY_TYPES
_PLAIN_TYPES: Final = _CONTAINER_TYPES | {str, bool, type(None), int, float}
_FIRST_ASTRAL_BYTES: Final = (b"\xf0", b"\xf1", b"\xf2", b"\xf3", b"\xf4")
_REPR_IS_ECMASCRIPT_FROM: Final = 1e-4
"""Python prints a number of at least this magnitude, below 2^53, as ECMAScript does but for a final `.0`."""

_values = dict[str, Any].values


class _Refused(Exception):
    """The value is outside the domain."""


def canonicalize(value: Any, artifact_path: str) -> bytes:
    """The canonical bytes of a JSON value.

    Raises `RuntimeFault("non-canonicalizable-value")` under `artifact_path` for a value outside the domain of spec
    01 §2. Plain and frozen containers give the same bytes.
    """
    if _is_large(value):
        encoded = _encode(value)
        if encoded is not None:
            return encoded
    try:
        return write(value)
    except _Refused:
        fault = serializer_fault(value, artifact_path)
    assert fault is not None
    raise fault


def write(value: Any) -> bytes:
    """The canonical bytes of a value of the domain; refuses any other, one that holds itself included."""
    try:
        text = _any(value, 0)
    except RecursionError:
        with room():
            text = _any(value, 0)
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise _Refused from None


def _any(value: object, depth: int) -> str:
    """One value; `depth` containers are around it."""
    writer = _WRITERS.get(type(value))
    if writer is None:
        raise _Refused
    return writer(value, depth)


def _object(value: dict[str, Any], depth: int) -> str:
    if depth >= MAX_NESTING_DEPTH or not _STR_ONLY.issuperset(map(type, value)):
        raise _Refused
    inside = depth + 1
    keys = sorted(value)
    if not "".join(keys).isascii():
        # Code points order all other text as code units do, and compare faster.
        keys.sort(key=utf16_key)
    # Strings are most of any document and are not worth a call each.
    return (
        "{"
        + ",".join(
            [
                f"{encode_basestring(key)}:{encode_basestring(m) if type(m := value[key]) is str else _any(m, inside)}"
                for key in keys
            ]
        )
        + "}"
    )


def _array(value: list[Any], depth: int) -> str:
    if depth >= MAX_NESTING_DEPTH:
        raise _Refused
    inside = depth + 1
    return "[" + ",".join([encode_basestring(m) if type(m) is str else _any(m, inside) for m in value]) + "]"


def _string(value: str, _depth: int) -> str:
    return encode_basestring(value)


def _integer(value: int, _depth: int) -> str:
    if not -MAX_SAFE_INTEGER <= value <= MAX_SAFE_INTEGER:
        raise _Refused
    return str(value)


def _number(value: float, _depth: int) -> str:
    if _REPR_IS_ECMASCRIPT_FROM <= abs(value) <= MAX_SAFE_INTEGER:
        return repr(value).removesuffix(".0")
    if not -MAX_SAFE_INTEGER <= value <= MAX_SAFE_INTEGER:
        raise _Refused
    return js_number(value)


def _constant(value: bool | None, _depth: int) -> str:
    return "null" if value is None else "true" if value else "false"


_WRITERS: Final[dict[type[Any], Callable[[Any, int], str]]] = {
    str: _string,
    int: _integer,
    float: _number,
    bool: _constant,
    type(None): _constant,
    dict: _object,
    FrozenDict: _object,
    list: _array,
    FrozenList: _array,
}


def _is_large(root: Any) -> bool:
    """Whether a container has enough members in its two outer levels to be worth the proof."""
    if type(root) not in _CONTAINER_TYPES:
        return False
    members = root.values() if is_object(root) else root
    return len(members) + sum([len(m) for m in members if type(m) in _CONTAINER_TYPES]) >= _WORTH_PROVING


def _encode(root: Any) -> bytes | None:
    """The encoder's bytes for a large container where they are the canonical ones, else None."""
    objects = _plain_objects(root)
    if objects is None:
        return None
    try:
        encoded = _ENCODER.encode(root).encode()
    except (UnicodeEncodeError, RecursionError):
        return None
    # The encoder sorts by code point, which is the order of UTF-16 code units unless a key has an astral character.
    if not encoded.isascii() and any(byte in encoded for byte in _FIRST_ASTRAL_BYTES):
        for key in chain.from_iterable(objects):
            if not key.isascii() and max(key) > HIGHEST_BMP:
                return None
    return encoded


def _plain_objects(root: Any) -> list[dict[str, Any]] | None:
    """Every object of a container that the encoder prints as spec 01 §5 demands; None for any other container.

    The walk goes level by level, so that each question is asked of a whole level at once. It proves: exact types
    only, numbers whose notation is the same, depth, and no container reached twice (which bounds the walk of a cyclic
    value). Left open, and settled on the encoded bytes: surrogates, and the order of keys.
    """
    found: list[dict[str, Any]] = []
    seen: set[int] = set()
    containers: list[Any] = [root]
    for _ in range(_PLAIN_DEPTH):
        already = len(seen)
        seen.update(map(id, containers))
        if len(seen) != already + len(containers):
            return None
        objects: list[dict[str, Any]] = [c for c in containers if type(c) in OBJECT_TYPES]
        arrays: list[list[Any]] = [c for c in containers if type(c) in ARRAY_TYPES]
        if not _STR_ONLY.issuperset(map(type, chain.from_iterable(objects))):
            return None
        found += objects
        members: list[Any] = [*chain.from_iterable(map(_values, objects)), *chain.from_iterable(arrays)]
        kinds = set(map(type, members))
        if not kinds <= _PLAIN_TYPES:
            return None
        if int in kinds:
            integers = [m for m in members if type(m) is int]
            if max(integers) > MAX_SAFE_INTEGER or min(integers) < -MAX_SAFE_INTEGER:
                return None
        if float in kinds and not all(_prints_alike(m) for m in members if type(m) is float):
            return None
        if kinds.isdisjoint(_CONTAINER_TYPES):
            return found
        containers = [m for m in members if type(m) in _CONTAINER_TYPES]
    return None


def _prints_alike(number: float) -> bool:
    return _REPR_IS_ECMASCRIPT_FROM <= abs(number) <= MAX_SAFE_INTEGER and not number.is_integer()
