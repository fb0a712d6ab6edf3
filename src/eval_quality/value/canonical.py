"""The canonical byte form, RFC 8785 within the value domain (spec 01 §5).

1. No white space, no final newline, UTF-8 without a byte-order mark.
2. Numbers as ECMAScript prints them; `-0` is `0`, integral values have no point.
3. Strings with the JSON short escapes, other control characters as lower-case `\\u00xx`, everything else raw.
4. Arrays in order; object members sorted by the UTF-16 code units of their keys.

Two writers, one answer. `_write` is the definition: it checks the domain and writes in one traversal, and raises the
first fault in the order of spec 01 §4. Most values are so plain that the standard library's encoder prints the same
text; `_is_plain` proves that first, at the speed of C, and everything it does not prove goes through `_write`. A
property test holds the two together.
"""

from json import JSONEncoder
from json.encoder import encode_basestring
from typing import Any, Final

from eval_quality.value.domain import (
    ARRAY_TYPES,
    MAX_SAFE_INTEGER,
    OBJECT_TYPES,
    assert_hashed_artifact_value,
    container_problem,
    fault,
    key_type_fault,
    scalar_fault,
    scalar_problem,
    spell,
)
from eval_quality.value.text import has_surrogates, js_number, utf16_key

__all__ = ["assert_hashed_artifact_value", "canonicalize"]

_ENCODER = JSONEncoder(ensure_ascii=False, check_circular=False, allow_nan=False, sort_keys=True, separators=(",", ":"))
_PLAIN_DEPTH: Final = 128
"""Deeper values are written with a stack of our own: the encoder recurses on the interpreter's."""

_CONTAINER_TYPES: Final = OBJECT_TYPES | ARRAY_TYPES
_INERT_TYPES: Final = frozenset({str, bool, type(None)})
_ENCODER_TYPES: Final = _CONTAINER_TYPES | _INERT_TYPES | {int, float}
_STR_ONLY: Final = frozenset({str})
_FIRST_ASTRAL_BYTES: Final = (b"\xf0", b"\xf1", b"\xf2", b"\xf3", b"\xf4")
_REPR_IS_ECMASCRIPT_FROM: Final = 1e-4
"""Python prints a fraction of at least this magnitude, below 2^53, exactly as ECMAScript does."""


def canonicalize(value: Any, artifact_path: str) -> bytes:
    """The canonical bytes of a JSON value.

    Raises `RuntimeFault("non-canonicalizable-value")` under `artifact_path` for a value outside the domain of spec
    01 §2. Plain and frozen containers give the same bytes.
    """
    if type(value) in _CONTAINER_TYPES and _is_plain(value):
        encoded = _encode(value)
        if encoded is not None:
            return encoded
    return _write(value, artifact_path).encode()


def _is_plain(root: Any) -> bool:
    """Whether the encoder prints every scalar of this container as spec 01 §5 demands, and accepts nothing more.

    Left open, and settled on the encoded bytes: surrogates, and keys whose order depends on UTF-16.
    """
    level: list[Any] = [root]
    pending: list[tuple[int, list[Any]]] = [(1, level)]
    while pending:
        depth, level = pending.pop()
        if depth > _PLAIN_DEPTH:
            return False
        for container in level:
            if isinstance(container, dict):
                if not _STR_ONLY.issuperset(map(type, container)):
                    return False
                members: Any = container.values()
            else:
                members = container
            kinds = set(map(type, members))
            if kinds <= _INERT_TYPES:
                continue
            if not kinds <= _ENCODER_TYPES:
                return False
            if int in kinds and not all(-MAX_SAFE_INTEGER <= m <= MAX_SAFE_INTEGER for m in members if type(m) is int):
                return False
            if float in kinds and not all(_prints_alike(m) for m in members if type(m) is float):
                return False
            if not kinds.isdisjoint(_CONTAINER_TYPES):
                pending.append((depth + 1, [m for m in members if type(m) in _CONTAINER_TYPES]))
    return True


def _prints_alike(number: float) -> bool:
    magnitude = abs(number)
    return _REPR_IS_ECMASCRIPT_FROM <= magnitude <= MAX_SAFE_INTEGER and not number.is_integer()


def _encode(value: Any) -> bytes | None:
    """The encoder's bytes for a plain value, or None where a surrogate or an astral key may make them wrong."""
    try:
        encoded = _ENCODER.encode(value).encode()
    except (UnicodeEncodeError, RecursionError):
        return None
    # The encoder sorts by code point. That is the order of UTF-16 code units unless an astral character takes part.
    if not encoded.isascii() and any(byte in encoded for byte in _FIRST_ASTRAL_BYTES):
        return None
    return encoded


def _write(root: Any, artifact_path: str) -> str:
    """Check and write in one traversal; the first fault in traversal order is raised (spec 01 §4, §5)."""
    out: list[str] = []
    location: list[str | int] = []
    ancestors: set[int] = set()
    # One frame a container: itself, its members yet to come, its closing bracket.
    frames: list[tuple[Any, Any, str]] = []
    current = root
    while True:
        kind = type(current)
        if isinstance(current, (dict, list)):
            problem = container_problem(current, kind, len(frames), ancestors)
            if problem is not None:
                raise fault(f"{problem} at {spell(location)}", artifact_path)
            ancestors.add(id(current))
            location.append("")
            if isinstance(current, dict):
                members = iter(_sorted_members(current, location, artifact_path))
                frames.append((current, members, "}"))
                out.append("{")
            else:
                frames.append((current, iter(enumerate(current)), "]"))
                out.append("[")
            separator = ""
        else:
            out.append(_scalar(current, kind, location, artifact_path))
            separator = ","
        while frames:
            container, members, closer = frames[-1]
            step = next(members, None)
            if step is not None:
                break
            frames.pop()
            location.pop()
            ancestors.discard(id(container))
            out.append(closer)
            separator = ","
        else:
            return "".join(out)
        key, current = step
        location[-1] = key
        out.append(separator + encode_basestring(key) + ":" if closer == "}" else separator)


def _scalar(value: Any, kind: type, location: list[str | int], artifact_path: str) -> str:
    problem = scalar_problem(value, kind)
    if problem is not None:
        raise scalar_fault(problem, value, location, artifact_path)
    if kind is str:
        return encode_basestring(value)
    if kind is int:
        return str(value)
    if kind is float:
        return js_number(value)
    return "null" if value is None else "true" if value else "false"


def _sorted_members(container: dict[Any, Any], location: list[str | int], artifact_path: str) -> list[tuple[str, Any]]:
    """Every key checked in insertion order, then the members by the UTF-16 code units of their keys."""
    ascii_only = True
    for key in container:
        if type(key) is not str:
            raise key_type_fault(key, location[:-1], artifact_path)
        if not key.isascii():
            ascii_only = False
            if has_surrogates(key):
                detail = f"lone surrogate in string at {spell(location[:-1])} (object key)"
                raise fault(detail, artifact_path)
    if ascii_only:
        return sorted(container.items(), key=_key)
    return sorted(container.items(), key=_utf16_member_key)


def _key(member: tuple[str, Any]) -> str:
    return member[0]


def _utf16_member_key(member: tuple[str, Any]) -> bytes:
    return utf16_key(member[0])
