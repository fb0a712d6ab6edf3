"""Values as text and text as values, the way a JavaScript host writes and reads them (spec 07 §7.4.3 - §7.4.7).

1. Keys iterate in JavaScript property order: integer-like keys ascending, then the rest in document order.
2. A value's text is the string itself, a number or boolean in JavaScript spelling, anything else compact JSON.
3. Bytes decode as UTF-8 with one U+FFFD for each maximal bad subsequence; a byte-order mark is kept.
4. Text is tagged `json` when it parses as strict ECMA JSON, repeated keys keeping the last value and numbers becoming
   binary64; otherwise it is tagged `text`, and so is empty text.
"""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, NoReturn

from eval_quality.value.depth import room
from eval_quality.value.domain import MAX_NESTING_DEPTH
from eval_quality.value.kind import is_array, is_object
from eval_quality.value.text import js_number, normal_number, quoted

_INDEX: Final = re.compile(r"0|[1-9][0-9]{0,9}")
_HIGHEST_INDEX: Final = 2**32 - 2
"""Keys up to this number are array indexes, which come first in every JavaScript object."""


def property_order(members: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """The members of an object in JavaScript property order (§7.4.3)."""
    indexes = [key for key in members if _INDEX.fullmatch(key) and int(key) <= _HIGHEST_INDEX]
    if indexes:
        for key in sorted(indexes, key=int):
            yield key, members[key]
        first = frozenset(indexes)
        yield from ((key, value) for key, value in members.items() if key not in first)
    else:
        yield from members.items()


def compact_json(value: Any) -> str:
    """The value as `JSON.stringify` writes it: property order, no spaces, not canonical (§7.4.4)."""
    parts: list[str] = []
    with room():
        _write(value, parts)
    return "".join(parts)


def _write(value: Any, parts: list[str]) -> None:
    if is_object(value):
        mark = "{"
        for key, member in property_order(value):
            parts.append(f"{mark}{quoted(key)}:")
            _write(member, parts)
            mark = ","
        parts.append("}" if mark == "," else "{}")
    elif is_array(value):
        mark = "["
        for item in value:
            parts.append(mark)
            _write(item, parts)
            mark = ","
        parts.append("]" if mark == "," else "[]")
    elif isinstance(value, str):
        parts.append(quoted(value))
    else:
        parts.append(_scalar(value))


def _scalar(value: bool | int | float | None) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    return js_number(value)


def text_of(value: Any) -> str:
    """One argument token for a value (§7.4.3)."""
    return value if isinstance(value, str) else compact_json(value)


def decoded(data: bytes) -> str:
    """UTF-8 text of what a process wrote (§7.4.5)."""
    return data.decode("utf-8", "replace")


def tagged(text: str) -> dict[str, Any]:
    """The observed body for the text of a stream or an artifact (§7.4.7).

    Raises `ValueError` for JSON that nests deeper than any document of this product may.
    """
    if text == "":
        return {"kind": "text", "value": ""}
    try:
        return {"kind": "json", "value": parse_json(text)}
    except NotJson:
        return {"kind": "text", "value": text}


class NotJson(ValueError):
    """The text does not parse as strict ECMA JSON."""


class TooDeep(ValueError):
    """The text is JSON and nests deeper than `MAX_NESTING_DEPTH`."""


def _refuse_constant(name: str) -> NoReturn:
    raise NotJson(f"{name} is not JSON")


def _number(token: str) -> int | float:
    return normal_number(float(token))


_decoder = json.JSONDecoder(parse_int=_number, parse_float=_number, parse_constant=_refuse_constant)


def parse_json(text: str) -> Any:
    """The value of strict ECMA JSON. A number too large for binary64 becomes an infinity.

    Raises `NotJson`, or `TooDeep` for JSON that nests deeper than a document may.
    """
    if text.count("[") + text.count("{") > MAX_NESTING_DEPTH and (depth := _deepest(text)) > MAX_NESTING_DEPTH:
        raise TooDeep(f"the JSON nests {depth} levels deep; at most {MAX_NESTING_DEPTH} can be evidence")
    try:
        with room():
            return _decoder.decode(text)
    except NotJson:
        raise
    except ValueError as error:
        raise NotJson(str(error)) from error


_TOKEN: Final = re.compile(
    r"[ \t\n\r]*+(?:"
    r'(?P<string>"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*+")'
    r"|(?P<plain>-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?(?:[eE][+-]?[0-9]++)?|true|false|null)"
    r"|(?P<mark>[][{}:,]))"
)
_SPACE_ONLY: Final = re.compile(r"[ \t\n\r]*+")


def _deepest(text: str) -> int:
    """How deep JSON nests, without recursion; raises `NotJson` for anything else."""
    closers: list[str] = []
    deepest = at = 0
    expect = "value"
    while expect != "end":
        token = _TOKEN.match(text, at)
        if token is None:
            raise NotJson(f"not JSON at offset {at}")
        at = token.end()
        mark = token["mark"]
        if expect in ("value", "value or ]") and mark in ("[", "{"):
            closers.append("]" if mark == "[" else "}")
            deepest = max(deepest, len(closers))
            expect = "value or ]" if mark == "[" else "key or }"
            continue
        if expect in ("key", "key or }") and token["string"] is not None:
            expect = ":"
            continue
        if expect == ":" and mark == ":":
            expect = "value"
            continue
        if expect == "next" and mark == ",":
            expect = "value" if closers[-1] == "]" else "key"
            continue
        ends_container = mark is not None and expect in ("next", f"value or {mark}", f"key or {mark}")
        if ends_container and closers and mark == closers[-1]:
            closers.pop()
        elif mark is not None or expect not in ("value", "value or ]"):
            raise NotJson(f"not JSON at offset {at}")
        expect = "next" if closers else "end"
    if _SPACE_ONLY.fullmatch(text, at) is None:
        raise NotJson(f"not JSON at offset {at}")
    return deepest
