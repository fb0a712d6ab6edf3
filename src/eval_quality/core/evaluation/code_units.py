"""One character per UTF-16 code unit, for a regex engine that works by code point (spec 05 §5.7.6).

ECMA-262 without flags matches code units: an astral character is two of them, and each half can be matched, counted or
excluded on its own. The 2,048 surrogates are carried by the last 2,048 code points of the last private plane. The
carriers keep the surrogates' order, are no word, space or digit characters, and cannot collide with the text, whose
own astral characters are all taken apart.

Rewriting a pattern:

1. An astral character, a surrogate, or a `\\uXXXX` escape of one becomes its carriers.
2. In a class, a range that crosses the surrogates is split, so that it holds the carriers instead; a range whose ends
   are out of order by code unit is refused, as ECMA-262 refuses it.
3. Everything else is copied. A group name is copied whole: it is matched with nothing.
"""

import re
from typing import Final

_FIRST_SURROGATE: Final = 0xD800
_LAST_SURROGATE: Final = 0xDFFF
_CARRIER_SHIFT: Final = 0x10F800 - _FIRST_SURROGATE
_NEEDS_UNITS: Final = re.compile("[\ud800-\udfff\U00010000-\U0010ffff]")
_SURROGATE_ESCAPE: Final = re.compile(r"\\u[dD][89a-fA-F][0-9a-fA-F]{2}")
_CLASS_ESCAPE: Final = re.compile(r"\\(?:[dDwWsS])")
_NUMERIC_ESCAPE: Final = re.compile(r"\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|(?:c([A-Za-z0-9_]))|([0-3]?[0-7]{1,2}))")
_GROUP_NAME: Final = re.compile(r"\(\?<(?![=!])[^>]*>|\\k<[^>]*>")
_CONTROL_ESCAPES: Final = {"b": 8, "t": 9, "n": 10, "v": 11, "f": 12, "r": 13}


class RangeOutOfOrder(Exception):
    """A class range whose ends, read by code unit, are out of order."""


def text_needs_units(text: str) -> bool:
    """Whether `text` holds anything that code points and code units count differently."""
    return not text.isascii() and _NEEDS_UNITS.search(text) is not None


def pattern_needs_units(pattern: str) -> bool:
    """Whether `pattern` names a surrogate or an astral character."""
    return text_needs_units(pattern) or _SURROGATE_ESCAPE.search(pattern) is not None


def text_to_units(text: str) -> str:
    """`text` with one character per UTF-16 code unit."""
    return _NEEDS_UNITS.sub(lambda found: "".join(_carry(unit) for unit in _units(found.group())), text)


def pattern_to_units(pattern: str) -> str:
    """`pattern` rewritten for texts made by `text_to_units`. Raises `RangeOutOfOrder`."""
    parts: list[str] = []
    position = 0
    while position < len(pattern):
        name = _GROUP_NAME.match(pattern, position)
        if name:
            parts.append(name.group())
            position = name.end()
        elif pattern[position] == "[":
            text, position = _class_to_units(pattern, position)
            parts.append(text)
        else:
            text, position = _atom_to_units(pattern, position)
            parts.append(text)
    return "".join(parts)


def _atom_to_units(pattern: str, position: int) -> tuple[str, int]:
    """One escape or character outside a class, and the position after it."""
    if pattern[position] != "\\" or position + 1 == len(pattern):
        return text_to_units(pattern[position]), position + 1
    if _SURROGATE_ESCAPE.match(pattern, position):
        return _carry(int(pattern[position + 2 : position + 6], 16)), position + 6
    if text_needs_units(pattern[position + 1]):
        # An escaped astral character is an identity escape of its first unit; carriers need no escape.
        return text_to_units(pattern[position + 1]), position + 2
    return pattern[position : position + 2], position + 2


def _class_to_units(pattern: str, position: int) -> tuple[str, int]:
    """One character class, and the position after it; an unterminated class is copied for the engine to refuse."""
    head = re.compile(r"\[\^?").match(pattern, position)
    assert head is not None
    parts = [head.group()]
    atoms: list[tuple[str, int | None]] = []
    position = head.end()
    while position < len(pattern) and pattern[position] != "]":
        found, position = _class_atoms(pattern, position)
        atoms.extend(found)
    index = 0
    while index < len(atoms):
        low = atoms[index]
        if index + 2 < len(atoms) and atoms[index + 1] == ("-", 0x2D):
            high = atoms[index + 2]
            parts.append(_range(low, high))
            index += 3
        else:
            parts.append(low[0])
            index += 1
    return "".join(parts) + pattern[position : position + 1], position + 1


def _class_atoms(pattern: str, position: int) -> tuple[list[tuple[str, int | None]], int]:
    """The members written at `position`: text for the engine, and the code unit, or None for a class escape."""
    character = pattern[position]
    if character != "\\" or position + 1 == len(pattern):
        return [(_spell(unit, character), unit) for unit in _units(character)], position + 1
    if _CLASS_ESCAPE.match(pattern, position):
        return [(pattern[position : position + 2], None)], position + 2
    numeric = _NUMERIC_ESCAPE.match(pattern, position)
    if numeric:
        unicode_escape, hexadecimal, control, octal = numeric.groups()
        if control is not None:
            unit = ord(control) % 32
        elif octal is not None:
            unit = int(octal, 8)
        else:
            unit = int(unicode_escape or hexadecimal, 16)
        return [(_spell(unit, numeric.group()), unit)], numeric.end()
    escaped = pattern[position + 1]
    if escaped in _CONTROL_ESCAPES:
        return [("\\" + escaped, _CONTROL_ESCAPES[escaped])], position + 2
    if escaped == "c":
        # `\c` before anything but a letter, digit or underscore is a literal backslash (Annex B).
        return [("\\\\", 0x5C)], position + 1
    return [(_spell(unit, "\\" + escaped), unit) for unit in _units(escaped)], position + 2


def _range(low: tuple[str, int | None], high: tuple[str, int | None]) -> str:
    """A class range by code unit; with a class escape at either end the hyphen is a literal (Annex B)."""
    first, last = low[1], high[1]
    if first is None or last is None:
        return f"{low[0]}\\-{high[0]}"
    if first > last:
        raise RangeOutOfOrder("range out of order in character class")
    if last < _FIRST_SURROGATE or first > _LAST_SURROGATE:
        return f"{low[0]}-{high[0]}"
    below = f"{low[0]}-\ud7ff" if first < _FIRST_SURROGATE else ""
    above = f"\ue000-{high[0]}" if last > _LAST_SURROGATE else ""
    return f"{below}{_carry(max(first, _FIRST_SURROGATE))}-{_carry(min(last, _LAST_SURROGATE))}{above}"


def _spell(unit: int, source: str) -> str:
    """A code unit as the engine reads it: a carrier, or the spelling it had."""
    return _carry(unit) if _FIRST_SURROGATE <= unit <= _LAST_SURROGATE else source


def _carry(unit: int) -> str:
    return chr(unit + _CARRIER_SHIFT)


def _units(character: str) -> tuple[int, ...]:
    """The UTF-16 code units of one character."""
    code = ord(character)
    if code < 0x10000:
        return (code,)
    return (0xD800 + ((code - 0x10000) >> 10), 0xDC00 + ((code - 0x10000) & 0x3FF))
