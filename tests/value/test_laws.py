"""The promises of spec 01 as properties, and the quick readers and writers against the ones that define them."""

import math
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from eval_quality.errors import RuntimeFault
from eval_quality.value import canonical, precise
from eval_quality.value.canonical import assert_hashed_artifact_value, canonicalize
from eval_quality.value.compare import json_equal
from eval_quality.value.domain import serializer_fault
from eval_quality.value.scan import scan
from support.json_values import nearly_json, strings, values

CODES = ("schema-parse-failure", "non-canonicalizable-value")


def attempt(source: str | bytes) -> Any:
    """The value of a text, or its fault."""
    try:
        return scan(source, "Thing")
    except RuntimeFault as fault:
        return fault


def outcome(read: Any, source: Any) -> Any:
    """What a reader makes of a text, down to the types and the sign of zero; or its fault."""
    try:
        return repr(read(source, "Thing"))
    except RuntimeFault as fault:
        return fault.code, fault.detail


@given(values)
def test_s5_canonical_form_is_idempotent(value: Any) -> None:
    once = canonicalize(value, "Thing")
    again = scan(once, "Thing")
    assert json_equal(again, value)
    assert canonicalize(again, "Thing") == once


@settings(max_examples=500)
@given(nearly_json | st.text(st.characters(), max_size=20))
def test_s3_any_text_is_a_value_or_one_typed_fault(text: str) -> None:
    found = attempt(text)
    if isinstance(found, RuntimeFault):
        assert found.code in CODES
        assert found.artifact_path == "Thing"
    else:
        assert_hashed_artifact_value(found, "Thing")
        once = canonicalize(found, "Thing")
        assert canonicalize(scan(once, "Thing"), "Thing") == once


@given(st.binary(max_size=40))
def test_s3_any_bytes_are_a_value_or_one_typed_fault(data: bytes) -> None:
    found = attempt(data)
    assert found.code in CODES if isinstance(found, RuntimeFault) else canonicalize(found, "Thing")


@settings(max_examples=500)
@given(nearly_json)
def test_the_quick_reader_agrees_with_the_precise_one(text: str) -> None:
    expected = outcome(precise.read, text)
    assert outcome(scan, text) == expected
    assert outcome(scan, text.encode()) == expected


@given(st.lists(st.sampled_from(['{"a":', "[", "]", "}", '"]"', '"\\""', ",", "1"]), max_size=300).map("".join))
def test_the_readers_agree_on_nesting(text: str) -> None:
    assert outcome(scan, text) == outcome(precise.read, text)


class Strange:
    """No JSON value."""


strange = st.sampled_from([math.nan, math.inf, 2**53, -(2**60), 1e300, "\ud800", (), Strange(), b"", 0.0, 1e-7, 7.0])
dirty_keys = strings | st.sampled_from(["\ud800", "\U0001f600", "\ufb33"])
dirty_values = st.recursive(
    strange | values,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(dirty_keys | st.integers(0, 3), inner, max_size=4),
    max_leaves=12,
)


@settings(max_examples=150)
@given(dirty_values)
def test_the_writers_and_the_check_agree(value: Any) -> None:
    # A long tail of members sends the value the encoder's way.
    large = {"value": value, "tail": list(range(40))}
    fault = serializer_fault(large, "Thing")
    try:
        defined = canonical.write(large)
    except canonical._Refused:
        assert fault is not None
    else:
        assert fault is None
        assert canonical._encode(large) in (None, defined)
        assert canonicalize(large, "Thing") == defined
        assert canonicalize(value, "Thing") == defined.split(b',"value":', 1)[1][:-1]
    try:
        assert_hashed_artifact_value(large, "Thing")
    except RuntimeFault:
        assert fault is not None
    else:
        assert fault is None
