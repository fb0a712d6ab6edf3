"""The lexical scanner: JSON text to a value, refusing what an ordinary parser hides (spec 01 §3).

Repeated keys, lone surrogates, integers that binary64 would round, and nesting without end are refused, and so is
everything that is not JSON. One pass from left to right; the first violation in reading order is the fault.

Two readers, one answer. `precise.read` is the definition and says where the fault is. A sound document is read by
the standard library's parser instead, which is many times faster, where it can be shown that the value is the same:

1. its brackets cancel out within `_PLAIN_DEPTH` rounds, so neither the depth rule nor the C stack is at stake;
2. the parser's hooks refuse a repeated key, an integer or a float outside the domain, and `NaN` and `Infinity`;
3. no surrogate is left in the strings it built; raw ones, in text input, are never given to it.

Whatever fails one of these, or is no JSON to the parser, goes to the precise reader, which settles it. A differential
test holds the two together.
"""

import json.scanner
from json import JSONDecoder, JSONEncoder
from typing import Any, Final, NoReturn

from eval_quality.errors import RuntimeFault
from eval_quality.value.domain import MAX_NESTING_DEPTH, MAX_SAFE_INTEGER
from eval_quality.value.text import normal_number

__all__ = ["MAX_NESTING_DEPTH", "scan"]

_PLAIN_DEPTH: Final = 64
"""Deeper documents are left to the precise reader, which does not recurse."""

_NOT_STRUCTURE: Final = bytes(set(range(256)) - set(b'"[]{}'))
_TO_ONE_KIND: Final = bytes.maketrans(b"{}", b"[]")
_LONGEST_INTEGER: Final = 17
"""A sign and the 16 digits of 2^53-1."""

_HAS_C_PARSER: Final = getattr(json.scanner, "c_make_scanner", None) is not None
"""The standard library's fallback in Python is more lenient than the grammar; it is never used."""


class _NotPlain(ValueError):
    """The document needs the precise reader."""


def scan(source: str | bytes, artifact_path: str) -> Any:
    """The value that a JSON text spells: `dict`, `list`, `str`, `int`, `float`, `bool` or `None`.

    A number is an `int` wherever its binary64 value is integral, whatever its spelling, except negative zero, which is
    the float `-0.0`. Bytes are strict UTF-8; a byte-order mark is part of the text and so refused.

    Raises `RuntimeFault` under `artifact_path`: `schema-parse-failure` where the text is not JSON,
    `non-canonicalizable-value` where its value is outside the domain. Details are those of spec 01 §3.7, offsets in
    UTF-16 code units.
    """
    if isinstance(source, str):
        text = source
        try:
            data = source.encode()
        except UnicodeEncodeError:
            return _read_precisely(text, artifact_path)
    else:
        data = source
        try:
            text = source.decode()
        except UnicodeDecodeError as cause:
            detail = "input is not valid UTF-8"
            raise RuntimeFault("schema-parse-failure", artifact_path, detail) from cause
    if _HAS_C_PARSER and _is_shallow(data):
        try:
            return _read_plainly(text)
        except (ValueError, RecursionError):
            pass
    return _read_precisely(text, artifact_path)


def _read_precisely(text: str, artifact_path: str) -> Any:
    # Loaded when needed: most runs read sound documents only, and its grammar takes time to compile.
    from eval_quality.value import precise

    return precise.read(text, artifact_path)


def _is_shallow(data: bytes) -> bool:
    """Whether brackets outside strings cancel out in few rounds: each round removes the innermost pairs.

    Sound for every prefix that a parser accepts, because there a backslash is always inside a string; what follows the
    first error of a broken document does not matter.
    """
    if b"\\" in data:
        data = data.replace(rb"\\", b"").replace(rb"\"", b"")
    marks = data.translate(_TO_ONE_KIND, _NOT_STRUCTURE)
    brackets = b"".join(marks.split(b'"')[::2])
    for _ in range(_PLAIN_DEPTH):
        if not brackets:
            return True
        brackets = brackets.replace(b"[]", b"")
    return not brackets


def _read_plainly(text: str) -> Any:
    """The parser's value. Raises `ValueError` where it may differ from the precise reader's answer."""
    value = _DECODER.decode(text)
    if "\\u" in text:
        # Refuses a surrogate that an escape left behind, in a key or a value.
        _ENCODER.encode(value).encode()
    return value


def _object(members: list[tuple[str, Any]]) -> dict[str, Any]:
    built = dict(members)
    if len(built) != len(members):
        raise _NotPlain
    return built


def _integer(token: str) -> int | float:
    if len(token) > _LONGEST_INTEGER:
        raise _NotPlain
    number = int(token)
    if number == 0 and token[0] == "-":
        return -0.0
    if not -MAX_SAFE_INTEGER <= number <= MAX_SAFE_INTEGER:
        raise _NotPlain
    return number


def _fraction(token: str) -> int | float:
    number = float(token)
    if not -MAX_SAFE_INTEGER <= number <= MAX_SAFE_INTEGER:
        raise _NotPlain
    return normal_number(number)


def _constant(_token: str) -> NoReturn:
    raise _NotPlain


_DECODER: Final = JSONDecoder(
    object_pairs_hook=_object, parse_int=_integer, parse_float=_fraction, parse_constant=_constant
)
_ENCODER: Final = JSONEncoder(ensure_ascii=False, check_circular=False)
