"""Text that came from somewhere else, made safe to show on a terminal (spec 16 §35).

A document may hold escape sequences that move the cursor, rewrite earlier lines or turn the writing direction. They are
shown, never sent:

1. C0 (line feed apart), DEL and C1 characters become `\\xNN`;
2. bidirectional controls, the byte order mark, private-use, unassigned and surrogate code points become `\\u{...}`;
3. a line feed inside a one-line field becomes a visible arrow.
"""

from typing import Final

_BIDIRECTIONAL: Final = frozenset("\u200e\u200f\ufeff\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
_UNSHOWABLE: Final = ("Cc", "Cn", "Co", "Cs")


def visible(text: str, *, one_line: bool = True) -> str:
    """`text` without a character that a terminal would obey. Ordinary text comes back unchanged."""
    if text.isascii() and text.isprintable():
        return text
    from unicodedata import category

    shown: list[str] = []
    for char in text:
        if char == "\n":
            shown.append("\u23ce" if one_line else char)
        elif char not in _BIDIRECTIONAL and category(char) not in _UNSHOWABLE:
            shown.append(char)
        elif ord(char) <= 0xFF:
            shown.append(f"\\x{ord(char):02x}")
        else:
            shown.append(f"\\u{{{ord(char):x}}}")
    return "".join(shown)
