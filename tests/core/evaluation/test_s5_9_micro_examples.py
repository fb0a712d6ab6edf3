"""The worked micro-examples of spec 05 §5.9, row by row."""

from typing import Any

import pytest

from eval_quality.errors import RuntimeFault
from support.evaluation import answer, body, evaluate, literal, observation, pointer

EVIDENCE = {
    "s": observation(
        responseBody={"ok": True, "items": [{"k": 2}, {"k": 1}], "none": [], "n": None, "t": "ab"},
        responseHeaders=None,
    )
}
COLLECTIONS = tuple(f"/interactions/s/response-body/{name}" for name in ("items", "none", "gone"))


def P(name: str) -> dict[str, Any]:
    return body(f"/{name}")


def op(name: str, *operands: Any, **members: Any) -> dict[str, Any]:
    return {"op": name, "operands": list(operands), **members}


def over(name: str, collection: Any, predicate: Any) -> dict[str, Any]:
    return {"op": name, "collection": collection, "predicate": predicate}


ANY_PREDICATE = op("existence", pointer("@/"))

ROWS: list[tuple[int, Any, str, str | None, list[str]]] = [
    (1, op("existence", P("n")), "true", None, []),
    (2, op("existence", P("zzz")), "false", None, []),
    (3, op("existence", P("gone")), "insufficient-evidence", "empty-collection", []),
    (4, op("existence", P("none")), "true", None, []),
    (5, op("count-tolerance", P("none"), expected=0, tolerance=0, relative=False), "true", None, []),
    (6, op("deep-equality", P("none"), literal([])), "insufficient-evidence", "empty-collection", []),
    (7, op("ordering", P("items"), key="k", order="descending"), "true", None, []),
    (8, over("for-all", P("items"), op("equality", pointer("@/k"), literal(1))), "false", None, ["false", "true"]),
    (9, over("for-any", P("items"), op("existence", pointer("@/k"))), "true", None, ["true", "true"]),
    (10, over("for-all", P("t"), ANY_PREDICATE), "insufficient-evidence", "empty-collection", []),
    (
        11,
        op("any", op("equality", P("ok"), literal(True)), over("for-all", P("none"), ANY_PREDICATE)),
        "insufficient-evidence",
        None,
        ["true", "insufficient-evidence"],
    ),
    (
        12,
        op("all", op("equality", P("ok"), literal(False)), over("for-all", P("none"), ANY_PREDICATE)),
        "false",
        None,
        ["false", "insufficient-evidence"],
    ),
    (13, op("equality", P("ok"), literal(1)), "false", None, []),
    (14, op("containment", P("items"), literal([{"k": 1}])), "true", None, []),
    (15, op("containment", P("items"), literal({"k": 1})), "true", None, []),
    (16, op("absence", pointer("/interactions/s/response-headers")), "false", None, []),
    (17, op("absence", pointer("/interactions/s/response-headers/x")), "true", None, []),
    (18, op("absence", pointer("/interactions/q/response-body")), "true", None, []),
    (22, op("regex", P("ok"), pattern="^($"), "false", None, []),
]


@pytest.mark.parametrize(("row", "check", "resolution", "condition", "children"), ROWS, ids=lambda v: str(v)[:20])
def test_s5_9_row(row: int, check: Any, resolution: str, condition: str | None, children: list[str]) -> None:
    result = evaluate(check, EVIDENCE, collections=COLLECTIONS)
    assert result.resolution == resolution
    assert result.introduction_condition == condition
    assert [child.resolution for child in result.children] == children


def test_s5_9_row_19_nested_quantifier_is_a_fault_under_any_budget() -> None:
    with pytest.raises(RuntimeFault, match="quantifier") as caught:
        evaluate(op("regex", P("t"), pattern="^(?:a+)+$"), EVIDENCE, budget=10**12)
    assert caught.value.code == "budget-exhausted"


@pytest.mark.parametrize(("budget", "expected"), [(6, "true"), (5, "budget-exhausted")])
def test_s5_9_rows_20_and_21_the_estimate_must_exceed_the_budget(budget: int, expected: str) -> None:
    check = op("regex", P("t"), pattern="^(?:a|b)+$")
    if expected == "true":
        assert answer(check, EVIDENCE, budget=budget) == "true"
        return
    with pytest.raises(RuntimeFault, match=r"6 steps .* budget is 5") as caught:
        evaluate(check, EVIDENCE, budget=budget)
    assert caught.value.code == expected


MEMBERS = {"rs": [{"id": 1, "x": 9}, {"id": 2}]}
KEYS = {"rs": ["id"]}
ACTUAL: list[Any] = [{"id": 2}, {"id": 1, "y": 0}]
RS = {"referenceSet": "rs"}


def covers(actual: Any) -> str:
    check = op("covers-by-key", RS, body("/rows"), expectedKey="id", actualKey="id")
    answered = {"s": observation(responseBody={} if actual is None else {"rows": actual})}
    return answer(check, answered, members=MEMBERS, keys=KEYS, collections=("/interactions/s/response-body/rows",))


@pytest.mark.parametrize(
    ("actual", "expected"),
    [
        (ACTUAL, "true"),
        ([*ACTUAL, {"id": 3}], "false"),
        ([*ACTUAL, {"z": 1}], "false"),
        ([{"id": 1}, {"id": 1}], "false"),
        (None, "false"),
        ([], "insufficient-evidence"),
    ],
    ids=["one-to-one", "extra", "keyless", "duplicate", "absent", "empty"],
)
def test_s5_9_covers_by_key(actual: Any, expected: str) -> None:
    assert covers(actual) == expected


@pytest.mark.parametrize(
    ("check", "expected"),
    [
        (op("set-membership", literal(2), RS), "true"),
        (op("set-membership", literal({"id": 2}), RS), "false"),
        (op("containment", body(), RS), "false"),
    ],
    ids=["projected", "whole-member", "containment-sees-whole-members"],
)
def test_s5_9_reference_sets(check: Any, expected: str) -> None:
    answered = {"s": observation(responseBody=ACTUAL)}
    assert answer(check, answered, members=MEMBERS, keys=KEYS) == expected


@pytest.mark.parametrize(("length", "expected"), [(8, "false"), (9, "true"), (10, "true"), (11, "true"), (12, "false")])
def test_s5_9_relative_tolerance(length: int, expected: str) -> None:
    check = op("count-tolerance", body(), expected=10, tolerance=15, relative=True)
    assert answer(check, {"s": observation(responseBody=[0] * length)}) == expected
