"""Result trees and resolution rules (spec 05 §5.5, §5.6)."""

from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval_quality.errors import RuntimeFault
from support.evaluation import answer, body, evaluate, literal, observation, pointer, tree

TRUE, FALSE, OPEN = "true", "false", "insufficient-evidence"
SEEN = {"s": observation(responseBody={"empty": [], "one": [1], "n": None})}
GONE = ("/interactions/s/response-body/gone",)

OF: dict[str, Any] = {
    TRUE: {"op": "existence", "operands": [literal(1)]},
    FALSE: {"op": "absence", "operands": [literal(1)]},
    OPEN: {"op": "regex", "operands": [literal([])], "pattern": "^$"},
}
"""An expression for each answer."""

ANSWERS = st.sampled_from((TRUE, FALSE, OPEN))


def node(op: str, *operands: Any, **members: Any) -> dict[str, Any]:
    return {"op": op, "operands": list(operands), **members}


def fold(op: str, *answers: str) -> str:
    return answer(node(op, *(OF[each] for each in answers)))


# §5.5


def test_s5_5_shapes_of_the_tree() -> None:
    leaf = {"resolution": TRUE, "introductionCondition": None, "children": []}
    empty = {"resolution": OPEN, "introductionCondition": "empty-collection", "children": []}
    assert tree(evaluate(OF[TRUE])) == leaf
    assert tree(evaluate(OF[OPEN])) == empty
    assert tree(evaluate(node("not", OF[OPEN]))) == {
        "resolution": OPEN,
        "introductionCondition": None,
        "children": [empty],
    }
    assert tree(evaluate(node("all", OF[TRUE], OF[OPEN]))) == {
        "resolution": OPEN,
        "introductionCondition": None,
        "children": [leaf, empty],
    }
    elements = {"op": "for-any", "collection": literal([1, 2]), "predicate": OF[OPEN]}
    assert tree(evaluate(elements)) == {
        "resolution": OPEN,
        "introductionCondition": None,
        "children": [empty, empty],
    }
    assert tree(evaluate({**elements, "collection": literal([])})) == empty


# §5.6.1

NEEDS_A_MEMBER: list[tuple[str, Any]] = [
    ("equality", {}),
    ("deep-equality", {}),
    ("containment", {}),
    ("regex", {"pattern": "^a$"}),
    ("set-membership", {}),
    ("ordering", {"key": "k", "order": "ascending"}),
    ("shape", {"descriptor": {"requiredKeys": [], "permittedKeys": [], "types": {}}}),
]
TOTAL: list[tuple[str, Any]] = [
    ("existence", {}),
    ("absence", {}),
    ("count-tolerance", {"expected": 0, "tolerance": 0, "relative": False}),
]
BINARY = ("equality", "deep-equality", "containment", "set-membership")


def leaf(op: str, operand: Any, members: Any) -> dict[str, Any]:
    return node(op, operand, *([literal([1])] if op in BINARY else []), **members)


@pytest.mark.parametrize(("op", "members"), NEEDS_A_MEMBER)
@pytest.mark.parametrize("operand", [body("/empty"), literal([]), {"referenceSet": "none"}, body("/gone")])
def test_s5_6_1_operators_that_need_a_member_trip(op: str, members: Any, operand: Any) -> None:
    result = evaluate(leaf(op, operand, members), SEEN, collections=GONE, members={"none": []})
    assert (result.resolution, result.introduction_condition) == (OPEN, "empty-collection")
    assert result.children == ()


@pytest.mark.parametrize(("op", "members"), TOTAL)
@pytest.mark.parametrize("operand", [body("/empty"), literal([]), {"referenceSet": "none"}])
def test_s5_6_1_total_operators_answer_about_an_observed_empty_array(op: str, members: Any, operand: Any) -> None:
    expected = FALSE if op == "absence" else TRUE
    assert answer(leaf(op, operand, members), SEEN, members={"none": []}) == expected


@pytest.mark.parametrize(("op", "members"), TOTAL)
def test_s5_6_1_total_operators_trip_on_an_absent_collection(op: str, members: Any) -> None:
    assert answer(leaf(op, body("/gone"), members), SEEN, collections=GONE) == OPEN


@pytest.mark.parametrize(("op", "members"), [*NEEDS_A_MEMBER, *TOTAL])
@pytest.mark.parametrize("operand", [body("/gone"), {"referenceSet": "gone"}])
def test_s5_6_1_absence_alone_does_not_trip(op: str, members: Any, operand: Any) -> None:
    expected = TRUE if op == "absence" else FALSE
    assert answer(leaf(op, operand, members), SEEN) == expected


@pytest.mark.parametrize("op", ["equality", "deep-equality", "containment"])
def test_s5_6_1_the_second_operand_trips_as_well(op: str) -> None:
    assert answer(node(op, body("/one"), literal([])), SEEN) == OPEN
    assert answer(node(op, body("/one"), body("/gone")), SEEN, collections=GONE) == OPEN


@pytest.mark.parametrize("op", ["equality", "deep-equality"])
@given(st.one_of(st.none(), st.integers(-9, 9), st.lists(st.integers(0, 2), max_size=2)))
def test_s5_6_1_nothing_compares_to_an_empty_array(op: str, value: Any) -> None:
    assert answer(node(op, literal(value), literal([]))) == OPEN


def test_s5_6_1_the_operator_does_not_run_behind_a_trip() -> None:
    bad = node("regex", literal([]), pattern="^($")
    assert answer(bad) == OPEN
    assert answer(node("deep-equality", literal("\ud800"), literal([]))) == OPEN


# §5.6.2


@pytest.mark.parametrize(("child", "expected"), [(TRUE, FALSE), (FALSE, TRUE), (OPEN, OPEN)])
def test_s5_6_2_not(child: str, expected: str) -> None:
    assert fold("not", child) == expected


@pytest.mark.parametrize(("left", "right"), list(product((TRUE, FALSE, OPEN), repeat=2)))
def test_s5_6_2_all_and_any(left: str, right: str) -> None:
    both = {left, right}
    expected_all = FALSE if FALSE in both else OPEN if OPEN in both else TRUE
    expected_any = OPEN if OPEN in both else TRUE if TRUE in both else FALSE
    assert fold("all", left, right) == expected_all
    assert fold("any", left, right) == expected_any


@given(st.lists(ANSWERS, min_size=2, max_size=5), st.randoms(use_true_random=False))
def test_s5_6_2_folds_do_not_depend_on_order_or_repetition(answers: list[str], shuffler: Any) -> None:
    shuffled = answers * 2
    shuffler.shuffle(shuffled)
    for op in ("all", "any"):
        assert fold(op, *answers) == fold(op, *shuffled)


@given(st.lists(ANSWERS, min_size=1, max_size=3), st.lists(ANSWERS, min_size=2, max_size=3))
def test_s5_6_2_folds_are_associative(first: list[str], second: list[str]) -> None:
    for op in ("all", "any"):
        inner = node(op, *(OF[each] for each in second))
        nested = answer(node(op, *(OF[each] for each in first), inner))
        assert nested == fold(op, *first, *second)


@given(st.lists(st.sampled_from((TRUE, FALSE)), min_size=2, max_size=4))
def test_s5_6_2_de_morgan_holds_where_everything_was_examined(answers: list[str]) -> None:
    negated = [node("not", OF[each]) for each in answers]
    assert answer(node("not", node("all", *(OF[each] for each in answers)))) == answer(node("any", *negated))
    assert answer(node("not", node("any", *(OF[each] for each in answers)))) == answer(node("all", *negated))


def test_s5_6_2_de_morgan_fails_where_something_was_not() -> None:
    """`all` lets a false decide, `any` lets nothing rescue: they are no mirror images."""
    assert fold("all", FALSE, OPEN) == FALSE
    assert answer(node("not", node("all", OF[FALSE], OF[OPEN]))) == TRUE
    assert answer(node("any", node("not", OF[FALSE]), node("not", OF[OPEN]))) == OPEN
    assert answer(node("not", node("any", OF[TRUE], OF[OPEN]))) == OPEN
    assert answer(node("all", node("not", OF[TRUE]), node("not", OF[OPEN]))) == FALSE


@given(st.lists(ANSWERS, min_size=2, max_size=4), ANSWERS)
def test_s5_6_2_any_is_never_truer_for_an_unexamined_sibling(answers: list[str], extra: str) -> None:
    """A child that examined nothing can only take an answer away from `any`."""
    assert fold("any", *answers, OPEN) == OPEN
    if fold("any", *answers) == TRUE and extra != OPEN:
        assert fold("any", *answers, extra) == TRUE
    if fold("all", *answers) == FALSE:
        assert fold("all", *answers, extra) == FALSE


@given(ANSWERS)
def test_s5_6_2_double_negation(child: str) -> None:
    assert answer(node("not", node("not", OF[child]))) == child


def test_s5_6_2_nothing_short_circuits_but_a_fault() -> None:
    fault = node("regex", literal("a"), pattern="^($")
    other = node("regex", literal("a"), pattern="^(?:a+)+$")
    for op, first in (("all", FALSE), ("any", OPEN)):
        with pytest.raises(RuntimeFault) as caught:
            evaluate(node(op, OF[first], fault, other))
        assert caught.value.code == "operator-cannot-accept-operand"


# §5.6.3


def quantified(op: str, collection: Any, predicate: Any) -> dict[str, Any]:
    return {"op": op, "collection": collection, "predicate": predicate}


@pytest.mark.parametrize("op", ["for-all", "for-any"])
@pytest.mark.parametrize(
    "collection", [body("/gone"), body("/n"), body("/empty"), literal("text"), literal({"k": 1}), literal(0)]
)
def test_s5_6_3_no_element_no_answer(op: str, collection: Any) -> None:
    result = evaluate(quantified(op, collection, OF[TRUE]), SEEN)
    assert tree(result) == {"resolution": OPEN, "introductionCondition": "empty-collection", "children": []}


@given(st.lists(st.sampled_from((TRUE, FALSE, OPEN)), min_size=1, max_size=4))
def test_s5_6_3_quantifiers_fold_like_connectives(answers: list[str]) -> None:
    """Each element is a value for which the predicate gives one of the three answers."""
    elements = {TRUE: {"v": ["x"]}, FALSE: {"v": ["y"]}, OPEN: {"v": []}}
    predicate = node("containment", pointer("@/v"), literal("x"))
    collection = literal([elements[each] for each in answers])
    for op, how in (("for-all", "all"), ("for-any", "any")):
        result = evaluate(quantified(op, collection, predicate))
        assert [child.resolution for child in result.children] == answers
        assert result.resolution == (fold(how, *answers) if len(answers) > 1 else answers[0])


def test_s5_6_3_an_inner_quantifier_rebinds_the_element() -> None:
    rows = literal([{"tags": ["a", "b"], "k": 1}, {"tags": ["b"], "k": 2}])
    inner = quantified("for-any", pointer("@/tags"), node("equality", pointer("@/"), literal("b")))
    assert answer(quantified("for-all", rows, inner)) == TRUE
    outer_is_out_of_reach = quantified("for-any", pointer("@/tags"), node("existence", pointer("@/k")))
    assert answer(quantified("for-any", rows, outer_is_out_of_reach)) == FALSE


@pytest.mark.parametrize(
    ("predicate", "expected"),
    [
        (node("equality", literal(1), pointer("@/k")), [TRUE, FALSE]),
        (node("deep-equality", literal(1), pointer("@/k")), [TRUE, FALSE]),
        (node("containment", literal([1]), pointer("@/k")), [TRUE, FALSE]),
        (node("equality", pointer("@/k"), pointer("@/k")), [TRUE, TRUE]),
        (node("set-membership", pointer("@/k"), literal([1])), [TRUE, FALSE]),
        (node("not", node("equality", literal(1), pointer("@/k"))), [FALSE, TRUE]),
        (node("all", OF[TRUE], node("equality", literal(1), pointer("@/k"))), [TRUE, FALSE]),
        (node("covers-by-key", literal([{"e": 1}]), pointer("@/rows"), expectedKey="e", actualKey="a"), [TRUE, FALSE]),
        (node("covers-by-key", pointer("@/rows"), literal([{"a": 1}]), expectedKey="a", actualKey="a"), [TRUE, FALSE]),
    ],
)
def test_s5_6_3_every_operand_position_sees_the_element(predicate: Any, expected: list[str]) -> None:
    rows = literal([{"k": 1, "rows": [{"a": 1}]}, {"k": 2, "rows": [{"a": 2}]}])
    result = evaluate(quantified("for-all", rows, predicate))
    assert [child.resolution for child in result.children] == expected


def test_s5_6_3_outside_a_quantifier_no_operand_position_sees_one() -> None:
    bound = pointer("@/")
    for op in ("equality", "deep-equality", "containment"):
        assert answer(node(op, bound, literal(None))) == FALSE
        assert answer(node(op, literal([None]), bound)) == FALSE
    assert answer(node("not", node("existence", bound))) == TRUE


BAD = literal([2**53])


@pytest.mark.parametrize(
    ("check", "code"),
    [
        (node("equality", BAD, BAD), "non-canonicalizable-value"),
        (node("deep-equality", BAD, BAD), "non-canonicalizable-value"),
        (node("containment", BAD, literal(1)), "non-canonicalizable-value"),
        (node("set-membership", literal(1), BAD), "non-canonicalizable-value"),
        (
            node("covers-by-key", literal([{"k": 1}]), literal([{"k": 2**53}]), expectedKey="k", actualKey="k"),
            "non-canonicalizable-value",
        ),
        (
            node("covers-by-key", literal([{"k": 2**53}]), literal([{"k": 1}]), expectedKey="k", actualKey="k"),
            "non-canonicalizable-value",
        ),
        (node("regex", literal("a"), pattern="^($"), "operator-cannot-accept-operand"),
        (node("regex", literal("a"), pattern="^(?:a+)+$"), "budget-exhausted"),
    ],
)
def test_s5_8_every_fault_carries_the_evaluators_path(check: Any, code: str) -> None:
    with pytest.raises(RuntimeFault) as caught:
        evaluate(check, path="Somewhere")
    assert (caught.value.code, caught.value.artifact_path) == (code, "Somewhere")


def test_s5_6_3_a_predicate_that_ignores_the_element_runs_once_for_each() -> None:
    result = evaluate(quantified("for-all", literal([None, None, None]), OF[FALSE]))
    assert [child.resolution for child in result.children] == [FALSE] * 3


def test_s5_6_3_reference_sets_are_collections_of_whole_members() -> None:
    each = quantified("for-all", {"referenceSet": "rs"}, node("existence", pointer("@/x")))
    assert answer(each, members={"rs": [{"id": 1, "x": 1}, {"id": 2, "x": 2}]}, keys={"rs": ["id"]}) == TRUE


# Depth


def test_s5_5_a_tree_as_deep_as_a_document_may_be_needs_no_deep_stack() -> None:
    check = OF[TRUE]
    for _ in range(500):
        check = node("not", check)
    assert answer(check) == TRUE
    depth, result = 0, evaluate(check)
    while result.children:
        depth, result = depth + 1, result.children[0]
    assert depth == 500


def test_s5_1_3_values_as_deep_as_a_document_may_be_compare() -> None:
    def deep(bottom: Any) -> Any:
        value = bottom
        for _ in range(900):
            value = [value]
        return value

    assert answer(node("deep-equality", literal(deep(1)), literal(deep(1.0)))) == TRUE
    assert answer(node("equality", literal(deep(1)), literal(deep(2)))) == FALSE
