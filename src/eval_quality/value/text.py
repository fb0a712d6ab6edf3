"""Text and numbers as ECMAScript sees them (spec 01 §1, §5).

The documents of this product are ordered, measured and printed by rules written for UTF-16 code units and binary64
numbers. This module is the one place that knows how to do that with Python strings, which hold code points.
"""

import re
from json.encoder import encode_basestring
from typing import Final

HIGHEST_BMP: Final = "\uffff"

_ASTRAL = re.compile("[\U00010000-\U0010ffff]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_NOTATION = re.compile(r"(-?)([0-9]+)(?:\.([0-9]+))?(?:e([+-][0-9]+))?")
_PLAIN_DIGITS: Final = 21
"""ECMAScript prints decimal digits alone below 10^21 and an exponent from there on."""


def utf16_key(text: str) -> bytes:
    """A sort key that orders strings by UTF-16 code unit, the shorter prefix first (spec 01 §5 rule 6)."""
    return text.encode("utf-16-be", "surrogatepass")


def utf16_length(text: str) -> int:
    """The length in UTF-16 code units: an astral character counts two."""
    return len(text) if text.isascii() else len(text) + sum(1 for _ in _ASTRAL.finditer(text))


def first_code_unit(character: str) -> str:
    """The first UTF-16 code unit of one character: itself, or the high surrogate of an astral one."""
    if character <= HIGHEST_BMP:
        return character
    return chr(0xD800 + ((ord(character) - 0x10000) >> 10))


def has_surrogates(text: str) -> bool:
    """Whether the string holds a surrogate code point, which no well-formed Python string does (spec 01 §9)."""
    return not text.isascii() and _SURROGATE.search(text) is not None


def join_surrogates(text: str) -> str:
    """The same code units with every adjacent high and low surrogate joined into the character they spell."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


def quoted(text: str) -> str:
    """The string as a JSON string literal, the way `JSON.stringify` writes it.

    Everything printable stays raw; a lone surrogate is written as a lower-case `\\u` escape, so the result can always
    be encoded.
    """
    literal = encode_basestring(text)
    if not has_surrogates(literal):
        return literal
    return _SURROGATE.sub(lambda found: f"\\u{ord(found[0]):04x}", join_surrogates(literal))


def normal_number(number: float) -> int | float:
    """An integral binary64 number as an `int`, negative zero excepted; any other as it is (spec 01 §3.6 rule 4)."""
    if number.is_integer() and (number != 0 or repr(number)[0] != "-"):
        return int(number)
    return number


def js_number(number: int | float) -> str:
    """The number as ECMAScript's `Number::toString` prints it (spec 01 §5 rule 3).

    A binary64 value prints its shortest round-tripping digits: without an exponent from 1e-6 up to, but not
    including, 1e21, and as `d.ddde-N` or `d.ddde+N` beyond. An `int` below 10^21 prints all its digits; a longer one is
    rounded to binary64 first.
    """
    if isinstance(number, int):
        if -(10**_PLAIN_DIGITS) < number < 10**_PLAIN_DIGITS:
            return str(int(number))
        try:
            number = float(number)
        except OverflowError:
            return "Infinity" if number > 0 else "-Infinity"
    if number != number:
        return "NaN"
    if number - number != 0:
        return "Infinity" if number > 0 else "-Infinity"
    if number == 0:
        return "0"
    found = _NOTATION.fullmatch(repr(number))
    assert found is not None
    sign, whole, fraction, exponent = found.groups("")
    digits = (whole + fraction).lstrip("0")
    # The value is 0.<digits> x 10^point.
    point = len(whole) + int(exponent or 0) - (len(whole + fraction) - len(digits))
    digits = digits.rstrip("0")
    return sign + _place_point(digits, point)


def _place_point(digits: str, point: int) -> str:
    """Write 0.`digits` x 10^`point`, where `digits` neither starts nor ends with a zero."""
    if len(digits) <= point <= _PLAIN_DIGITS:
        return digits + "0" * (point - len(digits))
    if 0 < point <= _PLAIN_DIGITS:
        return digits[:point] + "." + digits[point:]
    if -6 < point <= 0:
        return "0." + "0" * -point + digits
    mantissa = digits[0] + ("." + digits[1:] if len(digits) > 1 else "")
    return f"{mantissa}e{point - 1:+d}"
