"""Immutable JSON values: in, out, and never changed (spec 10 §8)."""

import copy
import pickle
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given

from eval_quality.value.compare import json_equal
from eval_quality.value.freeze import freeze, thaw
from eval_quality.value.frozen import FrozenDict, FrozenList
from support.json_values import values


def kinds(value: Any) -> set[type]:
    members = value.values() if isinstance(value, dict) else value if isinstance(value, list) else []
    found = {type(value)} if isinstance(value, (dict, list)) else set[type]()
    return found.union(*map(kinds, members))


@given(values)
def test_there_and_back(value: Any) -> None:
    frozen = freeze(value)
    assert json_equal(frozen, value)
    assert kinds(frozen) <= {FrozenDict, FrozenList}
    thawed = thaw(frozen)
    assert json_equal(thawed, value)
    assert kinds(thawed) <= {dict, list}


def test_the_original_is_neither_shared_nor_changed() -> None:
    inner = [1, {"b": []}]
    original = {"a": inner, "c": [[2]]}
    frozen, copy = freeze(original), thaw(original)
    inner.append(2)
    assert frozen["a"] == copy["a"] == [1, {"b": []}]
    assert type(original["c"]) is list
    copy["c"][0].append(3)
    assert original["c"] == [[2]]


def test_member_order_is_kept() -> None:
    assert list(freeze({"b": 1, "a": {}})) == ["b", "a"]


OBJECT_CHANGES: list[Callable[[dict[str, Any]], object]] = [
    lambda d: d.__setitem__("a", 2),
    lambda d: d.__delitem__("a"),
    lambda d: d.__ior__({"b": 1}),
    lambda d: d.clear(),
    lambda d: d.pop("a"),
    lambda d: d.popitem(),
    lambda d: d.setdefault("b", 1),
    lambda d: d.update(b=1),
]
ARRAY_CHANGES: list[Callable[[list[Any]], object]] = [
    lambda v: v.__setitem__(0, 2),
    lambda v: v.__delitem__(0),
    lambda v: v.__iadd__([1]),
    lambda v: v.__imul__(2),
    lambda v: v.append(1),
    lambda v: v.clear(),
    lambda v: v.extend([1]),
    lambda v: v.insert(0, 1),
    lambda v: v.pop(),
    lambda v: v.remove(1),
    lambda v: v.reverse(),
    lambda v: v.sort(),
]


@pytest.mark.parametrize("change", OBJECT_CHANGES)
def test_a_frozen_object_refuses_to_change(change: Callable[[dict[str, Any]], object]) -> None:
    frozen = freeze({"a": 1})
    with pytest.raises(TypeError, match="cannot be changed"):
        change(frozen)
    assert frozen == {"a": 1}


@pytest.mark.parametrize("change", ARRAY_CHANGES)
def test_a_frozen_array_refuses_to_change(change: Callable[[list[Any]], object]) -> None:
    frozen = freeze([1])
    with pytest.raises(TypeError, match="cannot be changed"):
        change(frozen)
    assert frozen == [1]


def test_every_method_that_could_change_one_is_refused() -> None:
    reading = {"copy", "fromkeys", "get", "items", "keys", "values", "count", "index"}
    for frozen, plain in ((FrozenDict, dict), (FrozenList, list)):
        named = {name for name in vars(plain) if not name.startswith("_")} - reading
        assert {name for name in named if vars(frozen).get(name) is None} == set()


def test_depth_needs_no_recursion() -> None:
    value: Any = "x"
    for _ in range(512):
        value = {"a": [value]}
    found = thaw(freeze(value))
    for _ in range(512):
        found = found["a"][0]
    assert found == "x"


def test_frozen_values_are_copied_and_pickled() -> None:
    frozen = freeze({"a": [1, {"b": []}], "c": None})
    assert copy.deepcopy(freeze([[1]])) == [[1]]
    for copied in (copy.copy(frozen), copy.deepcopy(frozen), pickle.loads(pickle.dumps(frozen))):
        assert json_equal(copied, frozen)
        assert kinds(copied) <= {FrozenDict, FrozenList}
        with pytest.raises(TypeError, match="cannot be changed"):
            copied["a"].append(2)
