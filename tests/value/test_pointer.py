"""Pointer tails and the walk along them (RFC 6901; spec 03 §5.1, 05 §5.3.3)."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval_quality.value.frozen import FrozenDict, FrozenList
from eval_quality.value.pointer import MISSING, escape, join, lookup, split


@pytest.mark.parametrize(
    ("tail", "tokens"),
    [
        ("", ()),
        ("/", ("",)),
        ("/a/b", ("a", "b")),
        ("//", ("", "")),
        ("/a~1b/m~0n", ("a/b", "m~n")),
        ("/~01", ("~1",)),
        ("/ /\n", (" ", "\n")),
    ],
)
def test_split_and_join(tail: str, tokens: tuple[str, ...]) -> None:
    assert split(tail) == tokens
    assert join(tokens) == tail


@pytest.mark.parametrize("text", ["a", "a/b", "/a~", "/~2", "/a~/b"])
def test_split_refuses_what_is_no_pointer(text: str) -> None:
    with pytest.raises(ValueError, match="not a JSON Pointer"):
        split(text)


def test_join_takes_indexes() -> None:
    assert join(["a", 0, "b/c"]) == "/a/0/b~1c"
    assert escape("~/") == "~0~1"


@given(st.lists(st.text(max_size=5), max_size=5))
def test_split_undoes_join(tokens: list[str]) -> None:
    assert split(join(tokens)) == tuple(tokens)


DOCUMENT: Any = {
    "items": [{"id": 1}, None, [2]],
    "": {"": 3},
    "__proto__": 4,
    "length": 5,
    "none": None,
    "text": "abc",
    "0": "zero",
}


@pytest.mark.parametrize(
    ("tail", "found"),
    [
        ("", DOCUMENT),
        ("/items/0/id", 1),
        ("/items/1", None),
        ("/items/2/0", 2),
        ("//", 3),
        ("/__proto__", 4),
        ("/length", 5),
        ("/none", None),
        ("/0", "zero"),
        ("/items/3", MISSING),
        ("/items/-", MISSING),
        ("/items/01", MISSING),
        ("/items/+1", MISSING),
        ("/items/1.0", MISSING),
        ("/items/ 1", MISSING),
        ("/items/\u0661", MISSING),
        ("/items/length", MISSING),
        ("/items/" + "9" * 5000, MISSING),
        ("/items/1/x", MISSING),
        ("/none/x", MISSING),
        ("/text/0", MISSING),
        ("/text/length", MISSING),
        ("/constructor", MISSING),
        ("/items/0/id/x", MISSING),
    ],
    ids=lambda value: repr(value)[:20],
)
def test_s5_3_3_walk(tail: str, found: Any) -> None:
    assert lookup(DOCUMENT, split(tail)) is found or lookup(DOCUMENT, split(tail)) == found
    assert (lookup(DOCUMENT, split(tail)) is MISSING) is (found is MISSING)


def test_walk_through_frozen_containers() -> None:
    assert lookup(FrozenDict(a=FrozenList([FrozenDict(b=7)])), ("a", "0", "b")) == 7


def test_missing_is_one_thing_that_says_its_name() -> None:
    assert repr(MISSING) == "MISSING"
    assert lookup({}, ("a",)) is lookup([], ("0",)) is MISSING
