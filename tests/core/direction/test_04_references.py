"""Spec 04 §7.6: how a step is named, and how much of what was sent it takes."""

from typing import Any

import pytest

from eval_quality.core.compile.entry import read_contract
from eval_quality.core.contract.plan import PlanIndex
from eval_quality.core.direction import evidence as evidence_module
from eval_quality.core.direction.reference import Budget, render_step
from eval_quality.errors import StructuralFailure
from support.contracts import (
    api_binding,
    api_operation,
    contract,
    keys,
    lit,
    raw_body,
    response,
    shape,
    step,
)
from support.prose import clause, renderer


def many(*bindings: Any, **over: Any) -> Any:
    """Steps s1, s2, ... of one operation, each with its binding; `make` and `take` feed captures."""
    take = api_operation(
        "take",
        "POST",
        "/take",
        requestShape=shape(
            path=keys({}, {"id": "string", "b": "string"}),
            query=keys({}, {"page": "number", "q": ""}),
            header=keys({}, {"x": "string"}),
        ),
        responseDescriptor=response({"out": "string"}),
    )
    make = api_operation(
        "make",
        "POST",
        "/make",
        requestShape=shape(body=keys({}, {"n": "number", "id": "string"})),
        responseDescriptor=response({"id": "string"}),
    )
    plan = [step(f"s{n}", "take", inputBinding=each) for n, each in enumerate(bindings, 1)]
    return contract(
        permittedInterfaces=[{"logicalId": "library", "kind": "api", "operations": [take, make]}],
        **{"interactionPlan": [*plan, *over.pop("plan", ())], **over},
    )


def reference(document: Any, step_id: str, level: str = "generic", limit: int = 1000) -> str:
    index = PlanIndex(read_contract(document))
    found = index.step(step_id)
    assert found is not None
    operation = index.operation_of(found)
    assert operation is not None
    return render_step(found, operation, level, limit, index).text  # type: ignore[arg-type]


LEVELS = ("generic", "kind", "literal")
VALUES: list[tuple[Any, tuple[str, str, str]]] = [
    ({"matcher": "type-violating"}, ("a malformed path id value",) * 3),
    ({"matcher": "any"}, ("the supplied path id",) * 3),
    (lit("x"), ("the supplied path id", "the stated path id", 'the path id "x"')),
    (lit(None), ("the supplied path id", "the stated path id", "the path id null")),
    (
        lit({"b": [1.0, "\u00e9"], "a": {"2": 0, "10": -0.0, "1": 1e21}}),
        (
            "the supplied path id",
            "the stated path id",
            'the path id {"a":{"1":1e+21,"2":0,"10":0},"b":[1,"\u00e9"]}',
        ),
    ),
    (
        {"principal": "alice"},
        ("the supplied path id", "the path id of the alice account", "the path id of the alice account"),
    ),
]


@pytest.mark.parametrize(("value", "phrases"), VALUES)
@pytest.mark.parametrize("level", LEVELS)
def test_s7_6_a_binding_at_each_level(value: Any, phrases: tuple[str, str, str], level: str) -> None:
    document = many(api_binding(path={"id": value}))
    assert reference(document, "s1", level) == f"the take endpoint (with {phrases[LEVELS.index(level)]})"


def test_s7_6_a_step_that_binds_nothing_has_no_clause() -> None:
    assert reference(many(api_binding()), "s1", "literal") == "the take endpoint"


def test_s7_6_entries_go_by_channel_then_key_and_violations_stand_alone() -> None:
    bound = api_binding(query={"q": lit(1), "page": lit(2)}, path={"id": lit("x")})
    assert reference(many(bound), "s1") == (
        "the take endpoint (with the supplied path id, the supplied query page, and the supplied query q)"
    )
    bad = {"matcher": "type-violating"}
    violating = api_binding(query={"q": bad, "page": lit(2)}, path={"id": bad})
    for level in LEVELS:
        assert reference(many(violating), "s1", level) == (
            "the take endpoint (with a malformed path id value and a malformed query q value)"
        )


def test_s7_6_a_raw_body_is_never_rendered() -> None:
    assert reference(many(api_binding(path={"id": lit("x")}, body=raw_body())), "s1") == (
        "the take endpoint (with the supplied path id)"
    )
    with pytest.raises(StructuralFailure):
        clause(many(api_binding(body=raw_body("AA==")), api_binding(body=raw_body("AQ=="))), "s1/stdout", "s2/stdout")


def captured(pointer: str) -> Any:
    return {"captured": f"/interactions/{pointer}"}


MAKERS = [
    step("m1", "make", inputBinding=api_binding(body={"n": lit(7)})),
    step("m2", "make", inputBinding=api_binding(body={"n": lit(8)})),
]


def test_s7_6_a_capture_is_explained_at_the_literal_level_only() -> None:
    document = many(api_binding(path={"id": captured("m1/response-body/id")}), plan=MAKERS)
    assert reference(document, "s1") == "the take endpoint (with the supplied path id)"
    assert reference(document, "s1", "kind") == "the take endpoint (with the path id you obtained earlier)"
    assert reference(document, "s1", "literal") == (
        "the take endpoint (with the path id you obtained as its id field from the make endpoint (with the body n 7))"
    )


def test_s7_6_captures_of_one_step_form_one_group_where_the_first_stands() -> None:
    bound = api_binding(
        path={"b": captured("m1/response-body/id"), "id": lit("x")},
        query={"page": captured("m2/response-body/id"), "q": captured("m1/response-status")},
    )
    assert reference(many(bound, plan=MAKERS), "s1", "literal") == (
        "the take endpoint (with the path b and query q you obtained as its id field and its transport status "
        "from the make endpoint (with the body n 7), "
        'the path id "x", and '
        "the query page you obtained as its id field from the make endpoint (with the body n 8))"
    )


def test_s7_6_a_capture_of_itself_or_of_nothing_never_expands() -> None:
    itself = many(api_binding(path={"id": captured("s1/response-body/out")}))
    assert reference(itself, "s1", "literal") == "the take endpoint (with the path id you obtained earlier)"
    nothing = many(api_binding(path={"id": captured("nowhere/stdout")}))
    assert reference(nothing, "s1", "literal") == "the take endpoint (with the path id you obtained earlier)"
    lost = many(api_binding(path={"id": captured("x/stdout")}), plan=[step("x", "burn")])
    assert reference(lost, "s1", "literal") == "the take endpoint (with the path id you obtained earlier)"


def test_s7_6_a_longer_cycle_stops_where_it_closes() -> None:
    back = step("m1", "make", inputBinding=api_binding(body={"id": captured("s1/response-body/out")}))
    document = many(api_binding(path={"id": captured("m1/response-body/id")}), plan=[back])
    assert reference(document, "s1", "literal") == (
        "the take endpoint (with the path id you obtained as its id field from the make endpoint "
        "(with the body id you obtained earlier))"
    )


def chain(length: int) -> Any:
    """m0 <- m1 <- ... : each step captures from the one before it."""
    first = step("m0", "make", inputBinding=api_binding(body={"n": lit(7)}))
    rest = [
        step(f"m{n}", "make", inputBinding=api_binding(body={"id": captured(f"m{n - 1}/response-body/id")}))
        for n in range(1, length)
    ]
    return many(plan=[first, *rest])


LEAF = "the make endpoint (with the body n 7)"
EARLIER = "the make endpoint (with the body id you obtained earlier)"


def test_s7_6_a_budget_pays_for_nested_groups_first() -> None:
    one = f"the make endpoint (with the body id you obtained as its id field from {LEAF})"
    two = f"the make endpoint (with the body id you obtained as its id field from {one})"
    assert reference(chain(3), "m2", "literal", 1) == two  # nothing is paid before the innermost is rendered
    assert reference(chain(3), "m2", "literal", 0) == EARLIER


def two_groups(limit: int) -> str:
    bound = api_binding(path={"b": captured("m1/response-body/id"), "id": captured("m2/response-body/id")})
    return reference(many(bound, plan=MAKERS), "s1", "literal", limit)


def test_s7_6_a_group_asks_again_when_it_is_rendered() -> None:
    first = "the path b you obtained as its id field from the make endpoint (with the body n 7)"
    second = "the path id you obtained as its id field from the make endpoint (with the body n 8)"
    paid = len("the make endpoint (with the body n 7)")
    assert two_groups(paid + 1) == f"the take endpoint (with {first} and {second})"
    assert two_groups(paid) == f"the take endpoint (with {first} and the path id you obtained earlier)"
    assert two_groups(1) == f"the take endpoint (with {first} and the path id you obtained earlier)"


def test_s7_6_an_unexpanded_group_keeps_its_names_together() -> None:
    bound = api_binding(
        path={"b": captured("m1/response-body/id")},
        query={"page": captured("m2/response-body/id"), "q": captured("m2/response-status")},
    )
    found = reference(many(bound, plan=MAKERS), "s1", "literal", 1)
    assert found.endswith(" and the query page and query q you obtained earlier)")


def test_s7_6_characters_are_counted_in_utf16_units() -> None:
    astral = [step("m1", "make", inputBinding=api_binding(body={"id": lit("\U0001f600")})), MAKERS[1]]
    bound = api_binding(path={"b": captured("m1/response-body/id"), "id": captured("m2/response-body/id")})
    document = many(bound, plan=astral)
    spelled = 'the make endpoint (with the body id "\U0001f600")'
    assert reference(document, "s1", "literal", len(spelled) + 1).endswith("you obtained earlier)")
    assert not reference(document, "s1", "literal", len(spelled) + 2).endswith("you obtained earlier)")


def test_s7_6_being_told_so_marks_the_budget_spent() -> None:
    budget = Budget(1)
    assert (budget.exhausted(), budget.spent) == (False, False)
    budget.remaining = 0
    assert (budget.exhausted(), budget.spent) == (True, True)


@pytest.mark.parametrize(
    ("bindings", "expected"),
    [
        (
            (api_binding(path={"id": lit("x")}), api_binding(query={"q": lit(1)})),
            ("supplied path id", "supplied query q"),
        ),
        ((api_binding(path={"id": lit("x")}), api_binding(path={"id": lit("y")})), ('path id "x"', 'path id "y"')),
        (
            (api_binding(path={"id": lit("x")}), api_binding(path={"id": {"principal": "bob"}})),
            ("stated path id", "path id of the bob account"),
        ),
        (
            (api_binding(path={"id": {"principal": "alice"}}), api_binding(path={"id": {"principal": "bob"}})),
            ("path id of the alice account", "path id of the bob account"),
        ),
        (
            (
                api_binding(path={"id": captured("m1/response-body/id")}),
                api_binding(path={"id": captured("m2/response-body/id")}),
            ),
            ("(with the body n 7))", "(with the body n 8))"),
        ),
    ],
)
def test_s7_6_escalation_stops_at_the_first_level_that_separates(bindings: Any, expected: tuple[str, str]) -> None:
    document = many(*bindings, plan=MAKERS)
    found = clause(document, "s1/response-status", "s2/response-status")
    assert all(phrase in found for phrase in expected)


def test_s7_6_a_step_without_siblings_stays_generic_in_another_direction() -> None:
    document = many(api_binding(path={"id": lit("x")}), api_binding(path={"id": lit("y")}))
    render = renderer(document)
    both_steps = render.clause(["/interactions/s1/response-status", "/interactions/s2/response-status"])
    assert '"x"' in both_steps
    assert render.clause(["/interactions/s1/response-status"]) == (
        "its transport status from the take endpoint (with the supplied path id)"
    )
    assert render.clause(["/interactions/s1/response-status", "/interactions/s2/response-status"]) == both_steps


def test_s7_6_the_second_budget_is_tried_only_where_the_first_ran_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def bound(maker: str) -> Any:
        return api_binding(path={"b": captured("m0/response-body/id"), "id": captured(f"{maker}/response-body/id")})

    makers = [step("m0", "make", inputBinding=api_binding(body={"n": lit(0)})), *MAKERS]
    document = many(bound("m1"), bound("m2"), plan=makers)
    monkeypatch.setattr(evidence_module, "BUDGETS", (5, 10_000))
    found = clause(document, "s1/response-status", "s2/response-status")
    assert "body n 7" in found
    assert "body n 8" in found
    monkeypatch.setattr(evidence_module, "BUDGETS", (5, 5))
    with pytest.raises(StructuralFailure):
        clause(document, "s1/response-status", "s2/response-status")


def test_s7_6_no_second_budget_where_nothing_ran_out(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    real = evidence_module.render_step

    def counting(found: Any, operation: Any, level: Any, limit: int, index: Any) -> Any:
        asked.append(limit)
        return real(found, operation, level, limit, index)

    monkeypatch.setattr(evidence_module, "render_step", counting)
    same = api_binding(path={"id": lit("x")})
    with pytest.raises(StructuralFailure):
        clause(many(same, same), "s1/stdout", "s2/stdout")
    assert set(asked) == {100_000}
    assert evidence_module.BUDGETS == (100_000, 4_000_000)
    assert len(asked) == 6  # two steps at three levels, each once


def test_s7_6_the_irreducible_path_names_the_operation_and_a_shared_interface() -> None:
    same = api_binding(path={"id": lit("x")})
    with pytest.raises(StructuralFailure) as caught:
        clause(many(same, same), "s1/stdout", "s2/stdout")
    assert (caught.value.code, caught.value.artifact_path) == (
        "irreducible-step-reference",
        "EvalContract.interactionPlan[operationId=take]",
    )
    assert '"take"' in caught.value.detail
    shared = many(same, same)
    shared["permittedInterfaces"].append(
        {"logicalId": "other", "kind": "api", "operations": [api_operation("take", "GET", "/x")]}
    )
    with pytest.raises(StructuralFailure) as caught:
        clause(shared, "s1/stdout", "s2/stdout")
    assert caught.value.artifact_path == "EvalContract.interactionPlan[interfaceId=library][operationId=take]"
    assert '"library"' in caught.value.detail


def test_s7_6_steps_that_capture_one_another_without_end_are_cheap() -> None:
    # Sixteen steps that each capture from all the others: unbounded, the text would have 16! parts.
    names = [f"s{n}" for n in range(1, 17)]
    bindings = [
        api_binding(path={f"k{other}": captured(f"{other}/response-body/out") for other in names if other != name})
        for name in names
    ]
    document = many(*bindings)
    assert len(reference(document, "s1", "literal", 100_000)) < 1_000_000
    with pytest.raises(StructuralFailure):
        renderer(many(*(api_binding(path={"k": captured(f"{n}/response-body/out")}) for n in ("s2", "s1")))).clause(
            ["/interactions/s1/stdout", "/interactions/s2/stdout"]
        )


def test_s11_2_example_9_a_violation_hides_the_rest() -> None:
    violating = api_binding(path={"id": {"matcher": "type-violating"}}, query={"page": lit(1)})
    assert clause(many(violating), "s1/response-status").endswith("(with a malformed path id value)")
