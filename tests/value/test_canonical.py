"""The canonical byte form and the domain check (spec 01 §2, §4, §5, §10)."""

import math
from collections import OrderedDict
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest

from eval_quality.errors import RuntimeFault
from eval_quality.value import canonical
from eval_quality.value.canonical import assert_hashed_artifact_value, canonicalize
from eval_quality.value.domain import serializer_fault
from eval_quality.value.frozen import FrozenDict, FrozenList
from eval_quality.value.scan import scan

PADDING = list(range(40))
"""Makes a document large enough for the encoder's way."""


class Text(str):
    """A subclass, which the domain refuses."""


class Whole(int):
    """A subclass, which the domain refuses."""


class Items(list[Any]):
    """A subclass, which the domain refuses."""


def small(value: Any) -> Any:
    return value


def large(value: Any) -> Any:
    return [*PADDING, value]


sizes = pytest.mark.parametrize("size", [small, large])


def canonical_of(value: Any, size: Callable[[Any], Any]) -> str:
    text = canonicalize(size(value), "Thing").decode()
    return text if size is small else text.removeprefix("[" + ",".join(map(str, PADDING)) + ",").removesuffix("]")


@sizes
@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({}, "{}"),
        ([], "[]"),
        (None, "null"),
        (True, "true"),
        (False, "false"),
        ("", '""'),
        ({"b": 1, "a": [True, None, "é"]}, '{"a":[true,null,"é"],"b":1}'),
        (-0.0, "0"),
        (0.0, "0"),
        (1.0, "1"),
        (-1.5, "-1.5"),
        (1e-6, "0.000001"),
        (1.234e-6, "0.000001234"),
        (1e-7, "1e-7"),
        (-1.5e-10, "-1.5e-10"),
        (5e-324, "5e-324"),
        (9.999e-5, "0.00009999"),
        (1e-4, "0.0001"),
        (1e15, "1000000000000000"),
        (4503599627370495.5, "4503599627370495.5"),
        (9007199254740991.0, "9007199254740991"),
        (-9007199254740991, "-9007199254740991"),
        ('\x00\x01\b\t\n\x0b\f\r\x1f"\\/\x7f\u2028', '"\\u0000\\u0001\\b\\t\\n\\u000b\\f\\r\\u001f\\"\\\\/\x7f\u2028"'),
        ("\U0001f600", '"\U0001f600"'),
        ({"\ufb33": 1, "\U0001f600": 2}, '{"\U0001f600":2,"\ufb33":1}'),
        ({"é\U0001f600": 1, "é\uffff": 2, "é": 3}, '{"é":3,"é\U0001f600":1,"é\uffff":2}'),
        ({"é": 1, "z": "\U0001f600"}, '{"z":"\U0001f600","é":1}'),
        (FrozenDict(b=FrozenList([1]), a=FrozenDict()), '{"a":{},"b":[1]}'),
        ([[0.25, 0.5], [1, 2.5]], "[[0.25,0.5],[1,2.5]]"),
    ],
    ids=lambda value: repr(value)[:24],
)
def test_s5_text(value: Any, text: str, size: Callable[[Any], Any]) -> None:
    assert canonical_of(value, size) == text
    assert_hashed_artifact_value(value, "Thing")
    assert serializer_fault(value, "Thing") is None


def test_s10_2_numbers() -> None:
    text = (
        "[0,-0,1.0,10.50,1e-6,1e-7,0.000001234,123456789.125,9007199254740991,-9007199254740991,"
        "1.5e-10,4.9e-324,0.1,333333333.3333333,1e15,2e-3,5e-324,1e-400]"
    )
    expected = (
        "[0,0,1,10.5,0.000001,1e-7,0.000001234,123456789.125,9007199254740991,-9007199254740991,"
        "1.5e-10,5e-324,0.1,333333333.3333333,1000000000000000,0.002,5e-324,0]"
    )
    found = canonicalize(scan(text, "Thing"), "Thing")
    assert found.decode() == expected
    assert len(found) == 156


def test_s10_3_key_order() -> None:
    keys = ["\U0001f600", "\ufb33", "a", "", "A", "\xe9", "10", "9"]
    found = canonicalize({key: index + 1 for index, key in enumerate(keys)}, "Thing")
    assert found.decode() == '{"":4,"10":7,"9":8,"A":5,"a":3,"\xe9":6,"\U0001f600":1,"\ufb33":2}'
    assert len(found) == 55


def test_s5_keys_sort_by_code_unit_in_large_documents() -> None:
    document = {f"k{index}": index for index in range(50)} | {"\ufb33": 1, "\U0001f600": 2}
    assert canonicalize(document, "Thing").decode().endswith('"\U0001f600":2,"\ufb33":1}')


BAD: list[tuple[Any, str]] = [
    (math.nan, "non-finite number at $"),
    (math.inf, "non-finite number at $"),
    (-math.inf, "non-finite number at $"),
    (2**53, "integer outside the safe range at $: 9007199254740992"),
    (-(2**53), "integer outside the safe range at $: -9007199254740992"),
    (1e21, "integer outside the safe range at $: 1e+21"),
    (10**400, "integer outside the safe range at $: Infinity"),
    ("\ud800", "lone surrogate in string at $"),
    ("\ud83d\ude00", "lone surrogate in string at $"),
    ((), "tuple is not a hashed-artifact value at $"),
    ({1}, "set is not a hashed-artifact value at $"),
    (b"", "bytes is not a hashed-artifact value at $"),
    (Decimal(1), "Decimal is not a hashed-artifact value at $"),
    (Text("x"), "Text is not a hashed-artifact value at $"),
    (Whole(1), "Whole is not a hashed-artifact value at $"),
    (Items(), "non-plain array at $"),
    (OrderedDict(), "non-plain object at $"),
    ({1: 2}, "int is not a hashed-artifact value at $ (object key)"),
    ({None: 2}, "NoneType is not a hashed-artifact value at $ (object key)"),
    ({Text("a"): 2}, "Text is not a hashed-artifact value at $ (object key)"),
]


def under(value: Any) -> Any:
    return {"list": [0, {"a.b": value}]}


@sizes
@pytest.mark.parametrize("place", [small, under], ids=["root", "inside"])
@pytest.mark.parametrize(("value", "detail"), BAD, ids=lambda value: repr(value)[:24])
def test_s4_outside_the_domain(
    value: Any, detail: str, place: Callable[[Any], Any], size: Callable[[Any], Any]
) -> None:
    location = "$" + ("[40]" if size is large else "") + (".list[1].a.b" if place is under else "")
    document = size(place(value))
    for check in (canonicalize, assert_hashed_artifact_value):
        with pytest.raises(RuntimeFault) as raised:
            check(document, "Thing")
        assert raised.value.code == "non-canonicalizable-value"
        assert raised.value.artifact_path == "Thing"
        assert raised.value.detail == detail.replace("$", location)


def test_s4_ill_formed_key_has_two_wordings() -> None:
    with pytest.raises(RuntimeFault) as raised:
        canonicalize({"a": {"\ud800": 1}}, "Thing")
    assert raised.value.detail == "lone surrogate in string at $.a (object key)"
    with pytest.raises(RuntimeFault) as raised:
        assert_hashed_artifact_value({"a": {"\ud800": 1}}, "Thing")
    assert raised.value.detail == "lone surrogate in object key at $.a"


def test_s4_traversal_order_decides_the_first_fault() -> None:
    document = {"b": math.nan, "a": (), "\ud800": 1}
    with pytest.raises(RuntimeFault) as raised:
        canonicalize(document, "Thing")
    assert raised.value.detail == "lone surrogate in string at $ (object key)"
    with pytest.raises(RuntimeFault) as raised:
        assert_hashed_artifact_value(document, "Thing")
    assert raised.value.detail == "non-finite number at $.b"
    del document["\ud800"]
    with pytest.raises(RuntimeFault) as raised:
        canonicalize(document, "Thing")
    assert raised.value.detail == "tuple is not a hashed-artifact value at $.a"


def nested(depth: int) -> Any:
    value: Any = []
    for _ in range(depth - 1):
        value = [value]
    return value


def test_s2_depth_at_the_limit() -> None:
    value = nested(1024)
    assert canonicalize(value, "Thing") == b"[" * 1024 + b"]" * 1024
    assert_hashed_artifact_value(value, "Thing")
    wide = [*PADDING, nested(200)]
    assert canonicalize(wide, "Thing").endswith(b"[" * 200 + b"]" * 201)


@pytest.mark.parametrize("depth", [1025, 100_000])
def test_s2_depth_beyond_the_limit(depth: int) -> None:
    value = nested(depth)
    for check in (canonicalize, assert_hashed_artifact_value):
        with pytest.raises(RuntimeFault) as raised:
            check(value, "Thing")
        assert raised.value.detail == "nesting depth exceeds 1024 at $" + "[0]" * 1024
    # Taken apart level by level, so that the interpreter does not recurse.
    while value:
        value = value.pop()


def test_s2_objects_count_as_containers() -> None:
    value: Any = {}
    for _ in range(1024):
        value = {"k": value}
    with pytest.raises(RuntimeFault) as raised:
        canonicalize(value, "Thing")
    assert raised.value.detail == "nesting depth exceeds 1024 at $" + ".k" * 1024


@pytest.mark.parametrize("width", [1, 2, 50])
def test_s2_cycles(width: int) -> None:
    cyclic: list[Any] = []
    cyclic.extend([cyclic] * width)
    keyed: dict[str, Any] = {str(index): index for index in range(width)}
    keyed["back"] = [keyed]
    for check in (canonicalize, assert_hashed_artifact_value):
        with pytest.raises(RuntimeFault) as raised:
            check(cyclic, "Thing")
        assert raised.value.detail == "cyclic reference at $[0]"
        with pytest.raises(RuntimeFault) as raised:
            check(keyed, "Thing")
        assert raised.value.detail == "cyclic reference at $.back[0]"


@sizes
def test_s2_a_shared_container_is_written_twice(size: Callable[[Any], Any]) -> None:
    shared = {"a": []}
    assert canonical_of([shared, shared], size) == '[{"a":[]},{"a":[]}]'


def test_the_encoders_own_recursion_error_is_not_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    class Exhausted:
        def encode(self, value: Any) -> str:
            raise RecursionError

    monkeypatch.setattr(canonical, "_ENCODER", Exhausted())
    assert canonicalize(PADDING, "Thing") == ("[" + ",".join(map(str, PADDING)) + "]").encode()
