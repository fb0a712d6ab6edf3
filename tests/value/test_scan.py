"""The scanner, row by row (spec 01 §3, §10.6). Every row is held against both readers."""

import math
from collections.abc import Callable
from typing import Any

import pytest

from eval_quality.errors import RuntimeFault
from eval_quality.value import precise
from eval_quality.value import scan as scan_module
from eval_quality.value.scan import MAX_NESTING_DEPTH, scan

Reader = Callable[[str, str], Any]
readers = pytest.mark.parametrize("read", [scan, precise.read], ids=["scan", "precise"])

P = "schema-parse-failure"
D = "non-canonicalizable-value"
ROCKET = "\U0001f600"

FAULTS = [
    # §10.6
    ('{"a":1,"\\u0061":2}', D, 'duplicate object key "a"', 15),
    ('{"a":1,}', P, "expected a string object key", 7),
    ("[1,]", P, 'unexpected character "]"', 3),
    ("[1}", P, "expected ',' or ']' in array", 2),
    ('{"a" 1}', P, "expected ':' after object key", 5),
    ("{1:2}", P, "expected a string object key", 1),
    ("", P, "unexpected end of input", 0),
    ("1 2", P, "trailing content after the document", 2),
    ("1_0", P, "trailing content after the document", 1),
    ("01", P, "leading zero in number", 1),
    ("-", P, "invalid number", 1),
    ("1.", P, "expected digits after decimal point", 2),
    ("1e", P, "expected digits in exponent", 2),
    ("truex", P, "invalid literal starting with true", 4),
    ("nul", P, "invalid literal, expected null", 0),
    ('"abc', P, "unterminated string", 4),
    ('"ab\\', P, "unterminated escape sequence", 4),
    ('"\\x"', P, 'invalid escape character "x"', 3),
    ('"\\u12g4"', P, "invalid \\u escape", 3),
    ('"a\tb"', P, "unescaped control character in string", 2),
    ("\ufeff{}", P, 'unexpected character "\ufeff"', 0),
    (f'["{ROCKET}",x]', P, 'unexpected character "x"', 6),
    ('"\\ud800"', D, "lone surrogate in string", 8),
    ("9007199254740993", D, "integer literal outside the safe range: 9007199254740993", 16),
    ("-9007199254740992", D, "integer literal outside the safe range: -9007199254740992", 17),
    ("9007199254740993.0", D, "numeric literal is an unsafe integer in binary64: 9007199254740993.0", 18),
    ("1e21", D, "numeric literal is an unsafe integer in binary64: 1e21", 4),
    ("1e400", D, "numeric literal is not finite in binary64: 1e400", 5),
    ("[" * 1025, D, "nesting depth exceeds 1024", 1024),
    # §3.7, what §10.6 leaves out
    (" \t\r\n", P, "unexpected end of input", 4),
    ("[", P, "unexpected end of input", 1),
    ('{"a":', P, "unexpected end of input", 5),
    ("{} x", P, "trailing content after the document", 3),
    ("+1", P, 'unexpected character "+"', 0),
    (".5", P, 'unexpected character "."', 0),
    ("NaN", P, 'unexpected character "N"', 0),
    ("Infinity", P, 'unexpected character "I"', 0),
    ("-Infinity", P, "invalid number", 1),
    ("\xa01", P, 'unexpected character "\xa0"', 0),
    ("\x00", P, 'unexpected character "\\u0000"', 0),
    ("\u0661", P, 'unexpected character "\u0661"', 0),
    (ROCKET, P, 'unexpected character "\\ud83d"', 0),
    ("\udc00", P, 'unexpected character "\\udc00"', 0),
    ("True", P, 'unexpected character "T"', 0),
    ("tru", P, "invalid literal, expected true", 0),
    ("[falsy]", P, "invalid literal, expected false", 1),
    ("false0", P, "invalid literal starting with false", 5),
    ("[nullA]", P, "invalid literal starting with null", 5),
    ("true_", P, "trailing content after the document", 4),
    ("{,", P, "expected a string object key", 1),
    ("{", P, "expected a string object key", 1),
    ('{"a":1,', P, "expected a string object key", 7),
    ("{a:1}", P, "expected a string object key", 1),
    ('{"a"', P, "expected ':' after object key", 4),
    ('{"a",1}', P, "expected ':' after object key", 4),
    ('{"a":1 "b":2}', P, "expected ',' or '}' in object", 7),
    ('{"a":1]', P, "expected ',' or '}' in object", 6),
    ('{"a":1', P, "expected ',' or '}' in object", 6),
    ("[1 2]", P, "expected ',' or ']' in array", 3),
    ("[1", P, "expected ',' or ']' in array", 2),
    ('"', P, "unterminated string", 1),
    (f'"{ROCKET}', P, "unterminated string", 3),
    ('"\x1f"', P, "unescaped control character in string", 1),
    ('{"\n":1}', P, "unescaped control character in string", 2),
    ('"a\\\x00"', P, 'invalid escape character "\\u0000"', 4),
    (f'"\\{ROCKET}"', P, 'invalid escape character "\\ud83d"', 3),
    ('"\\U0041"', P, 'invalid escape character "U"', 3),
    ('"\\u', P, "invalid \\u escape", 3),
    ('"\\u004', P, "invalid \\u escape", 3),
    ('"ab\\u+041"', P, "invalid \\u escape", 5),
    ("-01", P, "leading zero in number", 2),
    ("00", P, "leading zero in number", 1),
    ("[-]", P, "invalid number", 2),
    ("-a", P, "invalid number", 1),
    ("0x10", P, "invalid number", 1),
    ("1a", P, "invalid number", 1),
    ("1.5e3f", P, "invalid number", 5),
    ("1.a", P, "expected digits after decimal point", 2),
    ("1.e5", P, "expected digits after decimal point", 2),
    ("1e+", P, "expected digits in exponent", 3),
    ("1E-x", P, "expected digits in exponent", 3),
    ("1.5.2", P, "trailing content after the document", 3),
    ("[1.5.2]", P, "expected ',' or ']' in array", 4),
    ("-0.", P, "expected digits after decimal point", 3),
    ('{"\\ud800":1}', D, "lone surrogate in string", 9),
    ('{"\\ud800":1,"\\ud800":2}', D, "lone surrogate in string", 9),
    ('"\\ude00\\ud83d"', D, "lone surrogate in string", 14),
    ('"\\\\ud83d\\ude00"', D, "lone surrogate in string", 15),
    ('"\ud800"', D, "lone surrogate in string", 3),
    ('"a\\n\\ud800"', D, "lone surrogate in string", 11),
    ('{"":1,"":2}', D, 'duplicate object key ""', 8),
    ('{"b":{"a":1,"a":2}}', D, 'duplicate object key "a"', 15),
    ('{"a":1,"a" 2', D, 'duplicate object key "a"', 10),
    ('{"a\\n":1,"a\\u000a":2}', D, 'duplicate object key "a\\n"', 18),
    ('{"__proto__":1,"__proto__":2}', D, 'duplicate object key "__proto__"', 26),
    ("9007199254740992", D, "integer literal outside the safe range: 9007199254740992", 16),
    ("[10000000000000000]", D, "integer literal outside the safe range: 10000000000000000", 18),
    ("9007199254740992.0", D, "numeric literal is an unsafe integer in binary64: 9007199254740992.0", 18),
    ("9.007199254740993e15", D, "numeric literal is an unsafe integer in binary64: 9.007199254740993e15", 20),
    ("-1e300", D, "numeric literal is an unsafe integer in binary64: -1e300", 6),
    ("-1e999", D, "numeric literal is not finite in binary64: -1e999", 6),
    ('{"a":' * 1024 + "{", D, "nesting depth exceeds 1024", 5 * 1024),
    # Reading order decides between two faults.
    ('{"a":1e400,"a":2}', D, "numeric literal is not finite in binary64: 1e400", 10),
    ('["\\ud800", x]', D, "lone surrogate in string", 9),
    ('[x, "\\ud800"]', P, 'unexpected character "x"', 1),
]


@readers
@pytest.mark.parametrize(("text", "code", "detail", "offset"), FAULTS, ids=lambda value: repr(value)[:30])
def test_s3_7_fault(read: Reader, text: str, code: str, detail: str, offset: int) -> None:
    with pytest.raises(RuntimeFault) as raised:
        read(text, "Thing")
    assert raised.value.code == code
    assert raised.value.artifact_path == "Thing"
    assert raised.value.detail == f"{detail} at offset {offset}"
    assert str(raised.value) == f"{code} in Thing: {detail} at offset {offset}"
    assert raised.value.reason is None


ACCEPTED: list[tuple[str, Any]] = [
    (' \t\n\r{ "a" : [ 1 , true , false , null , "" , { } , [ ] ] } \n', {"a": [1, True, False, None, "", {}, []]}),
    ('"\\ud83d\\ude00"', ROCKET),
    (f'"{ROCKET}"', ROCKET),
    ('"\ud83d\\ude00"', ROCKET),
    ('"\\ud83d\ude00"', ROCKET),
    ('"\ud83d\ude00"', ROCKET),
    ('"\\"\\\\\\/\\b\\f\\n\\r\\t\\u0041\\u00e9\\uABCD"', '"\\/\b\f\n\r\tAé\uabcd'),
    ('"\x7f\u2028\u2029\ufeff"', "\x7f\u2028\u2029\ufeff"),
    ('"\\u0000"', "\x00"),
    ('"\\\\ud800"', "\\ud800"),
    ('{"__proto__":1,"constructor":2,"":3}', {"__proto__": 1, "constructor": 2, "": 3}),
    ("1.0", 1),
    ("1e3", 1000),
    ("12.5e1", 125),
    ("0.1", 0.1),
    ("-0.5", -0.5),
    ("9007199254740991", 9007199254740991),
    ("-9007199254740991", -9007199254740991),
    ("9007199254740991.0", 9007199254740991),
    ("90071992547409910e-1", 9007199254740991),
    ("1e-400", 0),
    ("0." + "0" * 5000 + "1", 0),
    ("[" * 1024 + "]" * 1024, None),
]


@readers
@pytest.mark.parametrize(("text", "value"), ACCEPTED, ids=lambda value: repr(value)[:30])
def test_s3_accepted(read: Reader, text: str, value: Any) -> None:
    found = read(text, "Thing")
    if value is None:
        for _ in range(MAX_NESTING_DEPTH - 1):
            [found] = found
        assert found == []
    else:
        assert found == value
        assert type(found) is type(value)


@readers
@pytest.mark.parametrize("text", ["-0", "-0.0", "-0e5", "-1e-400"])
def test_s3_6_negative_zero_is_kept(read: Reader, text: str) -> None:
    found = read(text, "Thing")
    assert type(found) is float
    assert math.copysign(1, found) == -1


@readers
@pytest.mark.parametrize("text", ["0", "0.0", "0e5", "1e-400"])
def test_s3_6_positive_zero_is_an_integer(read: Reader, text: str) -> None:
    assert type(read(text, "Thing")) is int


@readers
def test_s3_4_members_keep_reading_order(read: Reader) -> None:
    assert list(read('{"b":1,"a":{"d":1,"c":2},"":3}', "Thing")) == ["b", "a", ""]


@pytest.mark.parametrize(
    "data",
    [b"\xff", b'"\xc0\x80"', b'"\xed\xa0\x80"', b'"\xf4\x90\x80\x80"', b'"\xe2\x82"', b'"\x80"', b'"\xe2'],
    ids=["stray", "overlong", "surrogate", "beyond", "truncated", "continuation", "cut"],
)
def test_s3_1_bytes_that_are_not_utf8(data: bytes) -> None:
    with pytest.raises(RuntimeFault) as raised:
        scan(data, "Thing")
    assert raised.value.code == P
    assert raised.value.detail == "input is not valid UTF-8"
    assert isinstance(raised.value.cause, UnicodeDecodeError)


def test_s3_1_a_byte_order_mark_is_part_of_the_text() -> None:
    with pytest.raises(RuntimeFault, match='unexpected character "\ufeff" at offset 0'):
        scan(b"\xef\xbb\xbf{}", "Thing")


def test_s3_1_bytes_and_text_give_the_same_value() -> None:
    assert scan('["é", "\U0001f600"]'.encode(), "Thing") == scan('["é", "\U0001f600"]', "Thing")


@pytest.mark.parametrize("opening", ["[", '{"a":', '[{"a":'])
def test_s3_nesting_without_end_is_refused_at_once(opening: str) -> None:
    with pytest.raises(RuntimeFault) as raised:
        scan(opening * 100_000, "Thing")
    assert raised.value.detail.startswith("nesting depth exceeds 1024 at offset ")


def test_s3_nesting_beyond_the_plain_reader_is_read() -> None:
    text = '{"a":[' * 500 + "7" + "]}" * 500
    value = scan(text, "Thing")
    for _ in range(500):
        value = value["a"][0]
    assert value == 7


@pytest.mark.parametrize("text", ['["]]]]","[[[[",["\\"]\\\\"]]', '{"}":"{","\\\\":[{"[":1}]}'])
def test_s3_brackets_in_strings_do_not_nest(text: str) -> None:
    assert scan(text, "Thing") == precise.read(text, "Thing")


def test_s3_a_huge_integer_costs_nothing() -> None:
    digits = "1" + "0" * 1_000_000
    with pytest.raises(RuntimeFault) as raised:
        scan(digits, "Thing")
    assert raised.value.detail == f"integer literal outside the safe range: {digits} at offset 1000001"


def test_without_the_c_parser_the_precise_reader_does_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scan_module, "_HAS_C_PARSER", False)
    assert scan('{"a":[1,"x"]}', "Thing") == {"a": [1, "x"]}
