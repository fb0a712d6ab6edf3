"""Key orders (spec 03, conventions).

JS order: array-index keys (`0`, `42`, no leading zero, below 2^32-1) ascending, then the others as written.
UTF-16 order: by code unit, which differs from code-point order where astral characters meet U+E000-U+FFFF.
"""

import re
from collections.abc import Iterable
from typing import Final

from eval_quality.value.text import quoted, utf16_key

_ARRAY_INDEX_LIMIT: Final = 2**32 - 1
_ARRAY_INDEX_DIGITS: Final = len(str(_ARRAY_INDEX_LIMIT))


def is_array_index(key: str) -> bool:
    """Whether a key is spelled like an array index: digits without a leading zero."""
    return key == "0" or (key.isascii() and key.isdigit() and key[0] != "0")


def _is_integer_key(key: str) -> bool:
    return is_array_index(key) and len(key) <= _ARRAY_INDEX_DIGITS and int(key) < _ARRAY_INDEX_LIMIT


def js_order(keys: Iterable[str]) -> list[str]:
    """Keys in the order a JavaScript object enumerates them."""
    written = list(keys)
    integers = [key for key in written if _is_integer_key(key)]
    if not integers:
        return written
    return sorted(integers, key=int) + [key for key in written if not _is_integer_key(key)]


def utf16_order(keys: Iterable[str]) -> list[str]:
    """Keys by UTF-16 code unit."""
    return sorted(keys, key=utf16_key)


_PLAIN_NAME: Final = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]*")


def member_key(key: str) -> str:
    """How a path spells a caller's key: `.name` where it is a plain name, else a quoted subscript (spec 03 §9.3)."""
    return f".{key}" if _PLAIN_NAME.fullmatch(key) else f"[{quoted(key)}]"
