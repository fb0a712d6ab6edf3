"""Argument text, compact JSON and tagging (spec 07 §7.4.3 - §7.4.7)."""

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval_quality.probe.jstext import TooDeep, compact_json, decoded, property_order, tagged, text_of


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("x y", "x y"),
        ("", ""),
        (3, "3"),
        (0.1, "0.1"),
        (1e21, "1e+21"),
        (-0.0, "0"),
        (True, "true"),
        (None, "null"),
        ({"a": 1}, '{"a":1}'),
        ([1, [True, None]], "[1,[true,null]]"),
        ({}, "{}"),
        ([], "[]"),
        ({"b": 1, "10": 2, "9": 3, "01": 4}, '{"9":3,"10":2,"b":1,"01":4}'),
    ],
)
def test_s7_4_3_text_of_a_value(value: Any, text: str) -> None:
    assert text_of(value) == text


def test_s7_4_3_property_order() -> None:
    members = {"b": "B", "10": "ten", "2": "two", "-1": "n", "4294967294": "last", "4294967295": "no index", "1.5": "x"}
    assert [key for key, _ in property_order(members)] == ["2", "10", "4294967294", "b", "-1", "4294967295", "1.5"]


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53) + 1, 2**53 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=20,
)


@given(JSON)
def test_s7_4_4_compact_json_means_the_same_value(value: Any) -> None:
    assert json.loads(compact_json(value), parse_int=float) == value


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"a":1}\n', {"kind": "json", "value": {"a": 1}}),
        ("007", {"kind": "text", "value": "007"}),
        ("7", {"kind": "json", "value": 7}),
        ("42", {"kind": "json", "value": 42}),
        ("true", {"kind": "json", "value": True}),
        ('"x"', {"kind": "json", "value": "x"}),
        ("", {"kind": "text", "value": ""}),
        (" ", {"kind": "text", "value": " "}),
        ("NaN", {"kind": "text", "value": "NaN"}),
        ("Infinity", {"kind": "text", "value": "Infinity"}),
        ("[1,]", {"kind": "text", "value": "[1,]"}),
        ("{'a':1}", {"kind": "text", "value": "{'a':1}"}),
        ("// c\n1", {"kind": "text", "value": "// c\n1"}),
        ('{"a":1,"a":2}', {"kind": "json", "value": {"a": 2}}),
        ("\ufeff1", {"kind": "text", "value": "\ufeff1"}),
        ("\u00a01", {"kind": "text", "value": "\u00a01"}),
        ('"a\tb"', {"kind": "text", "value": '"a\tb"'}),
        ("1.0", {"kind": "json", "value": 1}),
        ("1 2", {"kind": "text", "value": "1 2"}),
        ("null", {"kind": "json", "value": None}),
    ],
)
def test_s7_4_7_tagging(text: str, expected: Any) -> None:
    found = tagged(text)
    assert found == expected
    assert type(found["value"]) is type(expected["value"])


def test_s7_4_7_numbers_become_binary64() -> None:
    assert tagged("12345678901234567891")["value"] == 12345678901234567168
    assert math.isinf(tagged("1e400")["value"])
    assert math.isinf(tagged("9" * 5000)["value"])
    assert str(tagged("-0")["value"]) == "-0.0"


@pytest.mark.parametrize("depth", [1024, 1025, 100_000])
def test_s7_4_7_nesting(depth: int) -> None:
    sound = "[" * depth + "]" * depth
    if depth <= 1024:
        assert tagged(sound)["kind"] == "json"
    else:
        with pytest.raises(TooDeep):
            tagged(sound)
    assert tagged("[" * depth)["kind"] == "text"
    assert tagged("[" * depth + "]" * (depth - 1) + "}")["kind"] == "text"
    assert tagged('{"a":' * depth + "1" + "}" * depth + "x")["kind"] == "text"


MANY = "[" + "[]," * 2000


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (MANY + "1]", "json"),
        (MANY + "]", "text"),
        (MANY + '{"a":1,"b":[true,false,null,-1.5e3,"x"]}] ', "json"),
        (MANY + '{"a" 1}]', "text"),
        (MANY + "{1:2}]", "text"),
        (MANY + '{"a":1,}]', "text"),
        (MANY + "1] 2", "text"),
        (MANY + "01]", "text"),
        (MANY + "}", "text"),
        (MANY + "1,,2]", "text"),
        ("[[]" + ",[]" * 2000 + "]]", "text"),
    ],
)
def test_s7_4_7_documents_with_many_brackets(text: str, kind: str) -> None:
    assert tagged(text)["kind"] == kind


def test_s7_4_5_malformed_bytes_become_replacement_characters() -> None:
    assert decoded(b"\xef\xbb\xbfa") == "\ufeffa"
    assert decoded(b"\xe2\x82") == "\ufffd"
    assert decoded(b"\xff\xfe") == "\ufffd\ufffd"
    assert decoded(b"\xed\xa0\x80") == "\ufffd\ufffd\ufffd"
