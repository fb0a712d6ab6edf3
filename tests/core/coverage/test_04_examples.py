"""Spec 04 §11.1 and §1.4: the worked examples, and the reasons a rule gives."""

from typing import Any

import pytest

from eval_quality.core.compile.entry import read_contract
from eval_quality.core.coverage.evaluate import assess, coverage_gaps
from eval_quality.core.explain.patch import add, put
from support.contracts import (
    Edit,
    api_operation,
    both,
    contract,
    desk,
    eq,
    every,
    exists,
    library,
    lit,
    oracle,
    p,
)
from support.coverage_rules import (
    DESCRIPTOR,
    ITEMS,
    LOAN,
    MEMBER,
    OBSERVED,
    PAGE,
    SENT,
    STATUS,
    grouped,
    located,
    open_rules,
    pair,
)

# --- §11.1 ------------------------------------------------------------------------------------------------------

NO_LOAN = put("/oracles/0/direction/evidenceTargets", [f"/interactions/{STATUS}"])
SPLIT = (
    put("/oracles/0", oracle(1, eq(p(STATUS), lit("open")))),
    add("/oracles/-", oracle(3, eq(p(LOAN), lit("l-1")))),
    put("/behaviors/0/oracles", ["O-001", "O-003"]),
)
WHOLE = put("/oracles/0", oracle(1, exists("read/response-body")))
EXAMPLES: dict[str, tuple[tuple[Edit, ...], list[int]]] = {
    "K0": ((), []),
    "not listed": ((put("/behaviors/0/oracles", []),), [1]),
    "direction drops loanId": ((NO_LOAN,), [1, 2]),
    "split": (SPLIT, [1, 2]),
    "whole body only": ((WHOLE,), [1, 2]),
    "no roles": ((put(f"{DESCRIPTOR}/channelRoles", {}),), []),
    "roles absent": ((put(f"{DESCRIPTOR}/channelRoles", None),), [1]),
    "literal": ((put("/interactionPlan/1/inputBinding/path/id", lit("x")),), [3]),
    "locations absent": ((put(f"{DESCRIPTOR}/collectionLocations", None),), [4, 6]),
    "location without quantifier": ((located(),), [4, 6]),
    "page form": ((located(), add("/oracles/-", oracle(3, PAGE))), []),
    "wrapped membership": (
        (located(), add("/oracles/-", oracle(3, every(ITEMS, both(MEMBER, exists("@/id")))))),
        [6],
    ),
    "page form of an exact collection": ((located("exact"), add("/oracles/-", oracle(3, PAGE))), [6]),
    "siblings absent": ((put("/siblingGroups", None),), [5]),
    "no interface": ((put("/permittedInterfaces", []), put("/interactionPlan", [])), [1, 2, 3, 4, 6, 7]),
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_s11_1_worked_example(name: str) -> None:
    edits, expected = EXAMPLES[name]
    assert open_rules(desk(), *edits) == expected


def test_s11_1_a_critical_behaviour_makes_the_gap_critical() -> None:
    record = read_contract(desk(put("/behaviors/0/severity", "critical"), put("/siblingGroups", None)))
    assert [(gap.rule, gap.severity) for gap in coverage_gaps(record)] == [("sibling-cross-check", "critical")]


def test_s11_1_reasons_name_place_witness_and_way_out() -> None:
    verdicts = {each.rule.id: each for each in assess(read_contract(desk(NO_LOAN)))}
    (indicator,) = verdicts["success-indicator-separation"].sites
    assert indicator.place == "operation library/get-loan"
    assert '"/status"' in indicator.because
    assert indicator.witness is None
    (malformed,) = verdicts["malformed-input"].sites
    assert malformed.witness == "oracle O-002 at step bad"
    whole = verdicts["whole-body"].sites[0]
    assert "loanId, status" in whole.close
    assert "2 keys" in whole.because


def reasons(document: Any, rule: str) -> list[tuple[str, str, str | None, str]]:
    """Every site of one rule, whole."""
    (verdict,) = [each for each in assess(read_contract(document)) if each.rule.id == rule]
    return [tuple(site) for site in verdict.sites]


def test_s1_4_every_reason_is_a_sentence_about_its_place() -> None:
    place = "operation library/get-loan"
    read_both = (
        "let one oracle that a behaviour lists read the indicator and one other channel, at one step, in its direction "
        "and in its check"
    )
    indicator = "success-indicator-separation"
    assert reasons(desk(), indicator) == [
        (
            place,
            'its success indicator "/status" and another answer channel have roles',
            "oracle O-001 at step read",
            read_both,
        )
    ]
    assert reasons(desk(put(f"{DESCRIPTOR}/channelRoles", None)), indicator) == [
        (
            place,
            "channelRoles is null, so nothing says what stands beside the indicator",
            None,
            "declare channelRoles; {} says that nothing stands beside the indicator",
        )
    ]
    assert reasons(desk(put(f"{DESCRIPTOR}/successIndicator", None)), indicator) == [
        (
            place,
            "successIndicator is null, so nothing says where success shows",
            None,
            'nominate a successIndicator ("" is the whole answer), or, for a command that prints one plain text, let '
            "one listed oracle assert exit code 0 and the exact text together",
        )
    ]
    assert reasons(contract(), indicator) == [
        (
            "contract",
            "it declares no operation, so nothing says that the rule does not apply",
            None,
            "declare the operations under test in permittedInterfaces",
        )
    ]
    assert reasons(desk(), "whole-body") == [
        (
            place,
            "its answer requires 2 keys",
            "oracle O-001 at step read",
            "let one oracle read all of loanId, status at one step, in its direction and in its check",
        )
    ]
    assert reasons(desk(), "malformed-input") == [
        (
            place,
            "it declares request keys",
            "oracle O-002 at step bad",
            'add a step that binds one key to {"matcher": "type-violating"} and an oracle whose check reads that step',
        )
    ]


def test_s1_4_reasons_of_collections_siblings_and_read_backs() -> None:
    undeclared = (
        "operation library/get-loan",
        "collectionLocations is null, so nothing says whether the answer holds a collection",
        None,
        "declare collectionLocations; [] says that the answer holds none",
    )
    unsaid = desk(put(f"{DESCRIPTOR}/collectionLocations", None))
    assert reasons(unsaid, "per-record") == reasons(unsaid, "omission-and-completeness") == [undeclared]
    where = 'operation library/get-loan, collection "/items"'
    found = desk(located(), add("/oracles/-", oracle(3, PAGE)))
    assert reasons(found, "per-record") == [
        (
            where,
            "the answer holds a collection there",
            "oracle O-003 at step read",
            "let some check run for-all or for-any over exactly that collection",
        )
    ]
    assert reasons(found, "omission-and-completeness") == [
        (
            where,
            'the at-most collection is reconciled with reference set "books"',
            "oracle O-003 at step read",
            "let some check be for-all over that collection whose predicate is set-membership in that set",
        )
    ]
    exact = desk(located("exact"))
    assert reasons(exact, "omission-and-completeness")[0][3] == (
        "let some check be covers-by-key with that set and that collection"
    )
    grouping = grouped([pair("lend-book", "get-loan")], [["copyId", "id"]])
    compare = "let one oracle read two members of the group, in its direction and in its check"
    assert reasons(library(grouping), "sibling-cross-check") == [
        ("siblingGroups.operations[0]", "library/lend-book, library/get-loan should agree", "oracle O-001", compare),
        ("siblingGroups.parameters[0]", "copyId, id should agree", None, compare),
    ]
    assert reasons(library(put("/siblingGroups", None)), "sibling-cross-check") == [
        (
            "contract",
            "siblingGroups is null, so nothing says which operations or parameters should agree",
            None,
            'declare siblingGroups; {"operations": [], "parameters": []} says that none should',
        )
    ]
    related = library(put("/oracles/0", oracle(1, eq(p(SENT), p(OBSERVED)))))
    assert reasons(related, "state-change-read-back") == [
        (
            "operation library/lend-book",
            "it is marked as changing state",
            "oracle O-001 relates step lend with step read",
            "add a step after it that reads the state back, and one comparison between what was sent and what that "
            "step observed",
        )
    ]


def test_s1_4_an_operation_without_site_does_not_hide_the_next() -> None:
    quiet = api_operation("quiet", "GET", "/quiet")
    first = add("/permittedInterfaces/0/operations/0", quiet)
    only_target = put("/oracles/0/direction/evidenceTargets", [f"/interactions/{STATUS}"])
    silent = put("/interactionPlan/1/inputBinding/path/id", lit("x"))
    assert open_rules(desk(), first) == []
    assert open_rules(desk(), first, only_target, silent) == [1, 2, 3]
