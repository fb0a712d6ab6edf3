"""The precise reader: the scanner's definition, with a stack of its own (spec 01 §3.3-§3.7).

States, by what may come next:

* a value: a scalar is complete at once, a bracket opens a container;
* after `{` or a comma in an object: a key string, a colon, then a value;
* after a value: the container's comma or closing bracket, or the end of the document.

Positions are kept as indexes into the Python string; an offset in UTF-16 code units is computed only for a fault.
"""

import re
from typing import Any, Final, NoReturn

from eval_quality.errors import RuntimeFault
from eval_quality.value.domain import MAX_NESTING_DEPTH, MAX_SAFE_INTEGER
from eval_quality.value.kind import is_object
from eval_quality.value.text import (
    first_code_unit,
    has_surrogates,
    join_surrogates,
    normal_number,
    quoted,
    utf16_length,
)

_SPACE = re.compile(r"[ \t\n\r]*")
_SIMPLE_STRING = re.compile(r'"([^"\\\x00-\x1f]*)"')
_CHUNK = re.compile(r'[^"\\\x00-\x1f]*')
_HEX = re.compile(r"[0-9a-fA-F]{4}")
_DIGITS = re.compile(r"[0-9]*")
_GLUED = re.compile(r"[0-9A-Za-z]")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)((?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)(?![0-9A-Za-z.])")

_LITERALS: Final = {"t": ("true", True), "f": ("false", False), "n": ("null", None)}
_ESCAPES: Final = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_NUMBER_STARTS: Final = frozenset("-0123456789")
_SAFE_DIGITS: Final = 16
"""Digits of 2^53-1: a longer integer spelling is refused unread, so a huge literal costs nothing."""

_SYNTAX: Final = "schema-parse-failure"
_DOMAIN: Final = "non-canonicalizable-value"


def read(text: str, artifact_path: str) -> Any:
    """The value of a JSON text, or its first fault in reading order."""
    return _Reader(text, artifact_path).document()


class _Reader:
    def __init__(self, text: str, artifact_path: str) -> None:
        self.text = text
        self.end = len(text)
        self.artifact_path = artifact_path
        self.at = 0

    def fail(self, code: str, detail: str, at: int, further_units: int = 0) -> NoReturn:
        """Raise the fault at an index, plus some code units inside the character there."""
        offset = utf16_length(self.text[:at]) + further_units
        raise RuntimeFault(code, self.artifact_path, f"{detail} at offset {offset}")

    def space(self) -> str:
        """Skip white space; the character after it, or `""` at the end of the text."""
        character = self.text[self.at : self.at + 1]
        if character > " ":
            return character
        found = _SPACE.match(self.text, self.at)
        assert found is not None
        self.at = found.end()
        return self.text[self.at : self.at + 1]

    def document(self) -> Any:
        """One value and nothing but white space around it (spec 01 §3.3)."""
        # The containers still open, innermost last, and for each object the key whose value is being read.
        containers: list[dict[str, Any] | list[Any]] = []
        keys: list[str] = []
        while True:
            value, opened = self.value(len(containers))
            if opened:
                containers.append(value)
                if is_object(value):
                    if self.space() != "}":
                        keys.append(self.key(value))
                        continue
                elif self.space() != "]":
                    continue
                self.at += 1
                containers.pop()
            # A value is complete: it goes to its container, which may complete with it.
            while containers:
                container = containers[-1]
                if isinstance(container, dict):
                    container[keys.pop()] = value
                    if self.separator("}", "expected ',' or '}' in object"):
                        self.space()
                        keys.append(self.key(container))
                        break
                else:
                    container.append(value)
                    if self.separator("]", "expected ',' or ']' in array"):
                        break
                value = containers.pop()
            else:
                if self.space():
                    self.fail(_SYNTAX, "trailing content after the document", self.at)
                return value

    def separator(self, closer: str, expectation: str) -> bool:
        """Consume what follows a member: True for a comma, False for the closing bracket."""
        found = self.space()
        if found != "," and found != closer:
            self.fail(_SYNTAX, expectation, self.at)
        self.at += 1
        return found == ","

    def value(self, depth: int) -> tuple[Any, bool]:
        """A scalar, or a new empty container and True; `depth` containers are open around it."""
        start = self.space()
        if start == '"':
            return self.string(), False
        if start in _NUMBER_STARTS:
            return self.number(), False
        if start == "{" or start == "[":
            if depth >= MAX_NESTING_DEPTH:
                self.fail(_DOMAIN, f"nesting depth exceeds {MAX_NESTING_DEPTH}", self.at)
            self.at += 1
            return (dict[str, Any]() if start == "{" else list[Any]()), True
        if start == "":
            self.fail(_SYNTAX, "unexpected end of input", self.at)
        if start not in _LITERALS:
            self.fail(_SYNTAX, f"unexpected character {quoted(first_code_unit(start))}", self.at)
        literal, value = _LITERALS[start]
        if not self.text.startswith(literal, self.at):
            self.fail(_SYNTAX, f"invalid literal, expected {literal}", self.at)
        self.at += len(literal)
        if _GLUED.match(self.text, self.at):
            self.fail(_SYNTAX, f"invalid literal starting with {literal}", self.at)
        return value, False

    def key(self, container: dict[str, Any]) -> str:
        """A key and its colon; a repeated key is refused before the colon is looked for (spec 01 §3.4)."""
        if self.text[self.at : self.at + 1] != '"':
            self.fail(_SYNTAX, "expected a string object key", self.at)
        key = self.string()
        if key in container:
            self.fail(_DOMAIN, f"duplicate object key {quoted(key)}", self.at)
        # The key takes its place at once, so that members keep reading order and a repetition is seen.
        container[key] = None
        if self.space() != ":":
            self.fail(_SYNTAX, "expected ':' after object key", self.at)
        self.at += 1
        return key

    def string(self) -> str:
        """A string from its opening quote on (spec 01 §3.5)."""
        text = self.text
        simple = _SIMPLE_STRING.match(text, self.at)
        if simple is not None:
            self.at = simple.end()
            return self.well_formed(simple[1])
        self.at += 1
        parts: list[str] = []
        while True:
            found = _CHUNK.match(text, self.at)
            assert found is not None
            parts.append(found[0])
            self.at = found.end()
            if self.at == self.end:
                self.fail(_SYNTAX, "unterminated string", self.end)
            if text[self.at] == '"':
                break
            if text[self.at] != "\\":
                self.fail(_SYNTAX, "unescaped control character in string", self.at)
            parts.append(self.escape())
        self.at += 1
        return self.well_formed("".join(parts))

    def well_formed(self, string: str) -> str:
        """The string that has just been read, its surrogates joined; refused where one is left over."""
        if has_surrogates(string):
            string = join_surrogates(string)
            if has_surrogates(string):
                self.fail(_DOMAIN, "lone surrogate in string", self.at)
        return string

    def escape(self) -> str:
        """One escape from its backslash on; a `\\u` escape gives one code unit."""
        self.at += 1
        if self.at == self.end:
            self.fail(_SYNTAX, "unterminated escape sequence", self.end)
        letter = self.text[self.at]
        if letter == "u":
            found = _HEX.match(self.text, self.at + 1)
            if found is None:
                self.fail(_SYNTAX, "invalid \\u escape", self.at + 1)
            self.at = found.end()
            return chr(int(found[0], 16))
        if letter not in _ESCAPES:
            self.fail(_SYNTAX, f"invalid escape character {quoted(first_code_unit(letter))}", self.at, 1)
        self.at += 1
        return _ESCAPES[letter]

    def number(self) -> int | float:
        """A number and its checks, in the order of spec 01 §3.6."""
        start = self.at
        found = _NUMBER.match(self.text, start)
        if found is None:
            integral = self.walk_number()
        else:
            self.at = found.end()
            integral = found[1] == ""
        token = self.text[start : self.at]
        # 1. An integer spelling is held against the safe range by its digits.
        if integral:
            digits = token.removeprefix("-")
            if len(digits) > _SAFE_DIGITS or int(digits) > MAX_SAFE_INTEGER:
                self.fail(_DOMAIN, f"integer literal outside the safe range: {token}", self.at)
        number = float(token)
        # 2. Finite in binary64.
        if number - number != 0:
            self.fail(_DOMAIN, f"numeric literal is not finite in binary64: {token}", self.at)
        # 3. Above 2^53 every binary64 number is an integer, so one comparison finds the unsafe ones.
        if not -MAX_SAFE_INTEGER <= number <= MAX_SAFE_INTEGER:
            self.fail(_DOMAIN, f"numeric literal is an unsafe integer in binary64: {token}", self.at)
        return normal_number(number)

    def walk_number(self) -> bool:
        """Read a number part by part, for the fault in it; gives whether it was an integer spelling."""
        if self.text[self.at] == "-":
            self.at += 1
        if self.text[self.at : self.at + 1] == "0":
            self.at += 1
            second = self.at
            if self.digits():
                self.fail(_SYNTAX, "leading zero in number", second)
        elif not self.digits():
            self.fail(_SYNTAX, "invalid number", self.at)
        integral = True
        if self.text[self.at : self.at + 1] == ".":
            integral = False
            self.at += 1
            if not self.digits():
                self.fail(_SYNTAX, "expected digits after decimal point", self.at)
        if self.text[self.at : self.at + 1] in ("e", "E"):
            integral = False
            self.at += 1
            if self.text[self.at : self.at + 1] in ("+", "-"):
                self.at += 1
            if not self.digits():
                self.fail(_SYNTAX, "expected digits in exponent", self.at)
        if _GLUED.match(self.text, self.at):
            self.fail(_SYNTAX, "invalid number", self.at)
        return integral

    def digits(self) -> bool:
        """Consume decimal digits; whether there was one."""
        found = _DIGITS.match(self.text, self.at)
        assert found is not None
        self.at = found.end()
        return found[0] != ""
