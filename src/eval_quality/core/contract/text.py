"""JSON and white space the way the wire format's home language spells them (spec 03 §13.3, §14.3; spec 04 §7.6)."""

from collections.abc import Callable, Iterable
from typing import Final

from eval_quality.core.contract.keys import js_order, utf16_order
from eval_quality.value.kind import is_array, is_object
from eval_quality.value.text import js_number, quoted

JS_WHITESPACE: Final = "".join(
    map(
        chr,
        (
            *range(0x09, 0x0E),
            0x20,
            0xA0,
            0x1680,
            *range(0x2000, 0x200B),
            0x2028,
            0x2029,
            0x202F,
            0x205F,
            0x3000,
            0xFEFF,
        ),
    )
)
"""What ECMAScript trims: U+0009-U+000D, U+0020, U+00A0, U+1680, U+2000-U+200A, U+2028, U+2029, U+202F, U+205F,
U+3000, U+FEFF."""

JS_SPACE_CLASS: Final = r"\t-\r \u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"
"""The same set as the inside of a regular-expression class."""

_ZERO_WIDTH: Final = str.maketrans("", "", "\u200b\u200c\u200d\ufeff")


def js_trim(text: str) -> str:
    """Strip ECMAScript white space from both ends."""
    return text.strip(JS_WHITESPACE)


def is_blank(text: str) -> bool:
    """Whether nothing is left once zero-width characters are deleted and white space is trimmed."""
    return not js_trim(text.translate(_ZERO_WIDTH))


def compact(value: object) -> str:
    """Compact JSON text with object keys in JS order: equal texts are equal values written in the same key order."""
    return _render(value, js_order)


def display(value: object) -> str:
    """Compact JSON text with object keys in UTF-16 order at every depth, array-index keys first."""
    return _render(value, _sorted_js_order)


def _sorted_js_order(keys: Iterable[str]) -> list[str]:
    return js_order(utf16_order(keys))


def _render(value: object, order: Callable[[Iterable[str]], list[str]]) -> str:
    # Recursion is bounded by the nesting a document may have; callers hold `value.depth.room`.
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, int | float):
        return js_number(value)
    if is_object(value):
        return "{" + ",".join(f"{quoted(key)}:{_render(value[key], order)}" for key in order(value)) + "}"
    assert is_array(value), "a JSON value is one of the six types"
    return "[" + ",".join(_render(item, order) for item in value) + "]"
