"""Spec 04 §3.4 to §3.6: collections and siblings."""

from typing import Any

import pytest

from eval_quality.core.explain.patch import add, put
from support.contracts import (
    Edit,
    both,
    desk,
    eq,
    every,
    exists,
    library,
    negated,
    oracle,
    p,
    refset,
)
from support.coverage_rules import (
    DESCRIPTOR,
    ITEMS,
    MEMBER,
    PAGE,
    covers,
    grouped,
    located,
    open_rules,
    pair,
    reconciled,
)

# --- rules 4 and 6 ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("check", "edits", "expected"),
    [
        (PAGE, (located(),), []),
        (PAGE, (located("page-bounded"),), []),
        (PAGE, (located("exact"),), [6]),
        (covers(), (located("exact"),), [4]),
        (both(covers(), every(ITEMS, exists("@/id"), "for-any")), (located("exact"),), []),
        (both(covers(), PAGE), (located("at-most"),), []),
        (covers(), (located("at-most"),), [4, 6]),
        (covers(named="films"), (located("exact"),), [4, 6]),
        (covers("read/response-body"), (located("exact"),), [4, 6]),
        (every(ITEMS, MEMBER, "for-any"), (located(),), [6]),
        (every(ITEMS, both(MEMBER, exists("@/id"))), (located(),), [6]),
        (every(ITEMS, negated(MEMBER)), (located(),), [6]),
        (every(ITEMS, {**MEMBER, "operands": [p("@/id"), refset("films")]}), (located(),), [6]),
        (every(ITEMS, {**MEMBER, "operands": [p("@/id"), {"literal": [1]}]}), (located(),), [6]),
        (negated(PAGE), (located(),), []),
        (every("read/response-body", MEMBER), (located(),), [4, 6]),
        (every(f"{ITEMS}/0", MEMBER), (located(),), [4, 6]),
        (every("bad/response-body/items", MEMBER), (located(),), []),
        (exists(ITEMS), (located(named=None),), [4]),
        (every(ITEMS, exists("@/x")), (located(named=None),), []),
        (every("read/response-body", exists("@/x")), (located(named=None, pointer=""),), []),
        (exists(ITEMS), (put(f"{DESCRIPTOR}/collectionLocations", None),), [4, 6]),
        (PAGE, (put(f"{DESCRIPTOR}/collectionLocations", None),), [4, 6]),
        (exists(ITEMS), (put(f"{DESCRIPTOR}/collectionLocations", []),), []),
    ],
)
def test_s3_4_and_s3_6_collections(check: Any, edits: tuple[Edit, ...], expected: list[int]) -> None:
    assert reconciled(check, *edits) == expected


def test_s3_4_each_location_is_a_site_and_nested_quantifiers_count() -> None:
    two = located()
    second = {**two.value[0], "pointer": "/items/parts", "referenceSet": None}
    more = add(f"{DESCRIPTOR}/collectionLocations/-", second)
    assert reconciled(PAGE, two, more) == [4]
    nested = every(ITEMS, every("@/parts", exists("@/x")))
    assert reconciled(both(PAGE, nested), two, more) == []


def test_s3_6_an_undeclared_set_is_as_relevant() -> None:
    assert desk()["referenceSets"] is None
    assert reconciled(exists(ITEMS), located()) == [4, 6]


# --- rule 5 -----------------------------------------------------------------------------------------------------


LEND_AND_READ = eq(p("lend/response-body/loanId"), p("read/response-body/loanId"))


@pytest.mark.parametrize(
    ("group", "check", "targets", "expected"),
    [
        (grouped([pair("lend-book", "get-loan")]), LEND_AND_READ, None, False),
        (grouped([pair("lend-book", "get-loan", "nowhere")]), LEND_AND_READ, None, False),
        (grouped([pair("lend-book", "lend-book")]), LEND_AND_READ, None, True),
        (grouped([pair("lend-book", "nowhere")]), LEND_AND_READ, None, True),
        (grouped([pair("lend-book", "get-loan")]), LEND_AND_READ, ["lend/response-body/loanId"], True),
        (grouped([pair("lend-book", "get-loan")]), exists("read/stdout"), None, True),
        (grouped([pair("lend-book", "get-loan")] * 2), LEND_AND_READ, None, False),
        (grouped([pair("lend-book", "get-loan"), pair("lend-book", "other")]), LEND_AND_READ, None, True),
        (
            grouped([], [["copyId", "id"]]),
            both(exists("lend/call-inputs/body/copyId"), exists("read/call-inputs/path/id")),
            None,
            False,
        ),
        (
            grouped([], [["copyId", "id"]]),
            both(exists("lend/call-inputs/body/copyId"), exists("lend/call-inputs/option/id/deep")),
            None,
            False,
        ),
        (grouped([], [["copyId", "id"]]), exists("lend/call-inputs/body/copyId"), None, True),
        (grouped([], [["copyId", "copyId"]]), exists("lend/call-inputs/body/copyId"), None, True),
        (grouped([], [["copyId", "id"]]), exists("lend/call-inputs/body"), None, True),
        (
            grouped([], [["copyId", "id"]]),
            both(exists("lend/call-inputs/body/copyId"), exists("nowhere/call-inputs/path/id")),
            None,
            True,
        ),
        (put("/siblingGroups", None), LEND_AND_READ, None, True),
        (grouped(), exists("read/stdout"), None, False),
    ],
)
def test_s3_5_two_members_are_read_by_one_oracle(group: Edit, check: Any, targets: Any, expected: bool) -> None:
    found = open_rules(library(), group, put("/oracles", [oracle(1, check, targets)]))
    assert (5 in found) is expected


def test_s3_5_two_oracles_of_one_member_each_compare_nothing() -> None:
    apart = [oracle(1, exists("lend/stdout")), oracle(2, exists("read/stdout"))]
    assert 5 in open_rules(library(), grouped([pair("lend-book", "get-loan")]), put("/oracles", apart))
