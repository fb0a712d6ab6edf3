"""JSON kinds and JSON equality (spec 01 §2, 05 §5.1.3)."""

import math
from typing import Any

import pytest
from hypothesis import given

from eval_quality.value.canonical import canonicalize
from eval_quality.value.compare import json_equal, json_type
from eval_quality.value.freeze import freeze
from support.json_values import values


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        ("", "string"),
        (True, "boolean"),
        (0, "number"),
        (0.5, "number"),
        ({}, "object"),
        ([], "array"),
        (None, "null"),
        (freeze({}), "object"),
        (freeze([]), "array"),
    ],
)
def test_kinds(value: Any, kind: str) -> None:
    assert json_type(value) == kind


@pytest.mark.parametrize("value", [(), b"", {1}, object()])
def test_no_kind(value: Any) -> None:
    with pytest.raises(TypeError, match=f"{type(value).__name__} is not a JSON value"):
        json_type(value)


@pytest.mark.parametrize(
    ("left", "right", "equal"),
    [
        (1, 1.0, True),
        (0, -0.0, True),
        (True, 1, False),
        (False, 0, False),
        (None, False, False),
        ("1", 1, False),
        ([True], [1], False),
        ({"a": True}, {"a": 1}, False),
        ({"a": 1, "b": [2]}, {"b": [2.0], "a": 1}, True),
        ({"a": 1}, {"a": 1, "b": 2}, False),
        ({"a": 1}, {"b": 1}, False),
        ([1, 2], [2, 1], False),
        ([1], [1, 1], False),
        ({}, [], False),
        ([], [], True),
        ("é", "e\u0301", False),
        (math.nan, math.nan, False),
        (freeze({"a": [1]}), {"a": [1]}, True),
    ],
)
def test_s5_1_3_equality(left: Any, right: Any, equal: bool) -> None:
    assert json_equal(left, right) is equal
    assert json_equal(right, left) is equal


@given(values, values)
def test_s5_1_3_is_equality_of_canonical_forms(left: Any, right: Any) -> None:
    assert json_equal(left, right) is (canonicalize(left, "Thing") == canonicalize(right, "Thing"))
    assert json_equal(left, left)


def test_depth_needs_no_recursion() -> None:
    left: Any = []
    right: Any = []
    for _ in range(1023):
        left, right = [left], [right]
    assert json_equal(left, right)
    assert not json_equal(left, [right])
