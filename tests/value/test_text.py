"""Text and numbers as ECMAScript sees them (spec 01 §1, §5)."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval_quality.value.text import (
    first_code_unit,
    has_surrogates,
    join_surrogates,
    js_number,
    normal_number,
    quoted,
    utf16_key,
    utf16_length,
)


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0, "0"),
        (-0.0, "0"),
        (1.0, "1"),
        (-12, "-12"),
        (True, "1"),
        (0.1, "0.1"),
        (100.5, "100.5"),
        (-0.001, "-0.001"),
        (0.0001, "0.0001"),
        (0.00001, "0.00001"),
        (0.000001, "0.000001"),
        (1.25e-6, "0.00000125"),
        (0.0000001, "1e-7"),
        (-1.5e-10, "-1.5e-10"),
        (5e-324, "5e-324"),
        (1.7976931348623157e308, "1.7976931348623157e+308"),
        (1e16, "10000000000000000"),
        (1e20, "100000000000000000000"),
        (1.2e20, "120000000000000000000"),
        (123456789012345680000.0, "123456789012345680000"),
        (1e21, "1e+21"),
        (1.5e21, "1.5e+21"),
        (2**53, "9007199254740992"),
        (2**53 + 1, "9007199254740993"),
        (10**20, "1" + "0" * 20),
        (10**21, "1e+21"),
        (-(10**22), "-1e+22"),
        (10**400, "Infinity"),
        (-(10**400), "-Infinity"),
        (math.inf, "Infinity"),
        (-math.inf, "-Infinity"),
        (math.nan, "NaN"),
    ],
)
def test_s5_number_notation(number: int | float, text: str) -> None:
    assert js_number(number) == text


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_s5_notation_round_trips(number: float) -> None:
    assert float(js_number(number)) == number


@pytest.mark.parametrize(
    ("text", "literal"),
    [
        ("", '""'),
        ("a", '"a"'),
        ('"\\/\b\f\n\r\t\x00\x1f\x7f', '"\\"\\\\/\\b\\f\\n\\r\\t\\u0000\\u001f\x7f"'),
        ("é\u2028\U0001f600", '"é\u2028\U0001f600"'),
        ("a\ud83d", '"a\\ud83d"'),
        ("\ude00\ud83d", '"\\ude00\\ud83d"'),
        ("\ud83d\ude00", '"\U0001f600"'),
    ],
)
def test_quoted(text: str, literal: str) -> None:
    assert quoted(text) == literal


def test_code_units() -> None:
    assert utf16_length("") == 0
    assert utf16_length("aé\uffff") == 3
    assert utf16_length("a\U0001f600b") == 4
    assert first_code_unit("é") == "é"
    assert first_code_unit("\U0001f600") == "\ud83d"
    assert first_code_unit("\U0010ffff") == "\udbff"
    assert sorted(["\uffff", "\U0001f600", "a", "ab", "\ud900"], key=utf16_key) == [
        "a",
        "ab",
        "\U0001f600",
        "\ud900",
        "\uffff",
    ]


@given(st.text())
def test_the_key_is_the_code_units(text: str) -> None:
    assert len(utf16_key(text)) == 2 * utf16_length(text)


def test_surrogates() -> None:
    assert not has_surrogates("a")
    assert not has_surrogates("é\U0001f600")
    assert has_surrogates("\ud800")
    assert join_surrogates("x\ud83d\ude00\ud83d") == "x\U0001f600\ud83d"


@pytest.mark.parametrize(
    ("number", "normal"), [(1.0, 1), (0.5, 0.5), (0.0, 0), (-3.0, -3), (-0.0, -0.0), (5e-324, 5e-324)]
)
def test_s3_6_normal_numbers(number: float, normal: int | float) -> None:
    assert repr(normal_number(number)) == repr(normal)
