"""Spec 04 §7: the generated prose of a direction."""

from typing import Any

import pytest

from eval_quality.core.compile.entry import read_contract
from eval_quality.core.contract.plan import PlanIndex
from eval_quality.core.contract.pointer import parse_pointer
from eval_quality.core.direction import evidence as evidence_module
from eval_quality.core.direction.evidence import EvidenceRenderer
from eval_quality.core.direction.grouping import group_steps
from eval_quality.core.direction.precondition import PreconditionError
from eval_quality.core.direction.reference import Budget, render_step
from eval_quality.core.direction.text import direction_text
from eval_quality.core.direction.words import and_, sentence, target_phrase
from eval_quality.core.explain.patch import add, put
from eval_quality.errors import StructuralFailure
from eval_quality.model.contract import Direction
from eval_quality.model.decode import decode
from support.contracts import (
    api_binding,
    api_operation,
    apply,
    both,
    cli_binding,
    command_contract,
    contract,
    eq,
    exists,
    keys,
    library,
    lit,
    oracle,
    p,
    raw_body,
    response,
    shape,
    step,
    tool_contract,
)


def renderer(document: Any) -> EvidenceRenderer:
    return EvidenceRenderer(PlanIndex(read_contract(document)))


def said(document: Any, *targets: str, **over: Any) -> str:
    """The text of a direction over some targets, whatever the contract's own oracles say."""
    direction = {
        "evidenceTargets": [f"/interactions/{target}" for target in targets],
        "relation": "equality",
        "polarity": "expects-hold",
        "scope": None,
        "negativeDomain": None,
        **over,
    }
    return direction_text(decode(Direction, direction, "Direction"), renderer(document))


def clause(document: Any, *targets: str) -> str:
    return renderer(document).clause([f"/interactions/{target}" for target in targets])


HOLDS = "The declared polarity expects this relation to hold."
LOAN = "Its loanId field from the get loan endpoint (with the supplied path id)"
CLAIMS = {
    "equality": f"{LOAN} is asserted to be equal.",
    "deep-equality": f"{LOAN} is asserted to be deeply, structurally equal.",
    "containment": f"{LOAN} is asserted to contain the declared member.",
    "existence": f"{LOAN} is asserted to be present.",
    "absence": f"{LOAN} is asserted to be absent.",
    **{
        name: f'{LOAN} is asserted to satisfy the declared "{name}" condition.'
        for name in ("regex", "set-membership", "ordering", "count-tolerance", "shape", "covers-by-key")
    },
    "all": f"{LOAN} is asserted to satisfy every declared condition together.",
    "any": f"{LOAN} is asserted to satisfy at least one declared condition.",
    "not": f"{LOAN} is asserted to fail the declared condition, not to satisfy it.",
    "for-all": f"Every element reachable through i{LOAN[1:]} is asserted to meet the declared condition.",
    "for-any": f"At least one element reachable through i{LOAN[1:]} is asserted to meet the declared condition.",
}


@pytest.mark.parametrize("relation", CLAIMS)
def test_s7_1_a_claim_per_relation(relation: str) -> None:
    assert said(library(), "read/response-body/loanId", relation=relation) == f"{CLAIMS[relation]} {HOLDS}"


def test_s7_1_a_sentence_per_polarity() -> None:
    text = said(library(), "read/response-body/loanId", polarity="expects-violation")
    assert text.endswith(" The declared polarity expects this relation to be a violation.")


@pytest.mark.parametrize(
    ("scope", "negative", "tail"),
    [
        (None, None, ""),
        (" \ufeff\n", "\u2003", ""),
        ("the loan", None, " The loan."),
        ("  the loan!  ", None, " The loan!"),
        ("7 loans", None, " 7 Loans."),
        ("\u00e9tat x", None, " \u00e9Tat x."),
        ("a\n  b", None, " A\n  b."),
        (None, "A loan for someone else.", " A loan for someone else is treated as a defect."),
        (None, " no loan?!. ", " No loan is treated as a defect."),
        (None, "x .", " X  is treated as a defect."),
        (None, "...", " Is treated as a defect."),
        ("now", "else", " Now. Else is treated as a defect."),
    ],
)
def test_s7_1_scope_and_negative_domain_become_sentences(scope: Any, negative: Any, tail: str) -> None:
    text = said(library(), "read/response-body/loanId", scope=scope, negativeDomain=negative)
    assert text == f"{CLAIMS['equality']} {HOLDS}{tail}"


def test_s7_1_no_target_is_a_precondition() -> None:
    with pytest.raises(PreconditionError, match="no evidence target"):
        said(library())


@pytest.mark.parametrize(
    ("text", "expected"),
    [("a", "A."), (" a? ", "A?"), ("1.5", "1.5."), ("", "."), ("\u00df b", "\u00df B."), ("ab", "Ab.")],
)
def test_s7_1_ensure_sentence(text: str, expected: str) -> None:
    assert sentence(text) == expected


@pytest.mark.parametrize(
    ("phrases", "expected"),
    [
        ([], ""),
        (["a"], "a"),
        (["a", "b"], "a and b"),
        (["a", "b", "c"], "a, b, and c"),
        (["a", "b", "c", "d"], "a, b, c, and d"),
    ],
)
def test_s7_2_joining_takes_a_serial_comma(phrases: list[str], expected: str) -> None:
    assert and_(phrases) == expected


def test_s7_3_repeats_are_dropped_and_phrases_are_sorted() -> None:
    twice = clause(library(), "read/response-body/loanId", "read/response-body/loanId")
    assert twice == clause(library(), "read/response-body/loanId")
    alone = put("/interactionPlan/1/after", None)
    found = clause(library(alone), "lend/response-status", "read/exit-code")
    assert found == (
        "its exit code from the get loan endpoint (with the supplied path id) and "
        "its transport status from the lend book endpoint (with the supplied body copyId)"
    )
    assert clause(library(alone), "read/exit-code", "lend/response-status") == found


def test_s7_3_an_unresolvable_target_is_a_precondition() -> None:
    with pytest.raises(PreconditionError, match="nowhere"):
        clause(library(), "nowhere/stdout")
    with pytest.raises(PreconditionError):
        clause(library(put("/interactionPlan/0/operationId", "burn-book")), "lend/response-status")


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        ({"a": (None, 1)}, [("a",)]),
        ({"b": ("a", 1), "a": (None, 1)}, [("a", "b")]),
        ({"b": ("a", 2), "a": (None, 1)}, [("a",), ("b",)]),
        ({"b": ("a", 1), "a": (None, 2)}, [("a",), ("b",)]),
        ({"b": ("elsewhere", 1), "a": (None, 1)}, [("a",), ("b",)]),
        ({"c": ("a", 1), "b": ("a", 1), "a": (None, 1)}, [("a", "b"), ("c",)]),
        ({"z": (None, 1), "b": ("z", 1)}, [("z", "b")]),
        ({"a": (None, 1), "b": ("a", 1), "c": ("b", 1)}, [("a", "b"), ("c",)]),
        ({"a": (None, 1), "b": ("a", 1), "c": ("b", 1), "d": ("c", 1)}, [("a", "b"), ("c", "d")]),
        ({"a": ("b", 1), "b": ("a", 1)}, [("a",), ("b",)]),
        ({"a": ("a", 1)}, [("a",)]),
        ({"m": (None, 1), "a": ("m", 1), "k": (None, 1)}, [("k",), ("m", "a")]),
    ],
)
def test_s7_4_grouping(steps: dict[str, tuple[str | None, int]], expected: list[tuple[str, ...]]) -> None:
    assert group_steps(steps) == expected


@pytest.mark.parametrize(
    ("pointer", "phrase"),
    [
        ("response-body", "the response body you obtained"),
        ("response-body/", "the response body you obtained"),
        ("response-body/a//b~1c", "its a.b/c field"),
        ("response-headers", "the response headers you obtained"),
        ("response-headers/etag", "its etag header"),
        ("response-status", "its transport status"),
        ("exit-code", "its exit code"),
        ("stdout", "the standard output you obtained"),
        ("stdout/a", "the a field of its standard output"),
        ("stderr", "the standard error you obtained"),
        ("stderr/a/0", "the a.0 field of its standard error"),
        ("artifact/report", "the report it wrote"),
        ("artifact/report/findings/0", "the findings.0 field of the report it wrote"),
        ("call-inputs/body", "the body you sent"),
        ("call-inputs/body/copyId", "the body copyId value you sent"),
        ("response-body/{input}", "its {input} field"),
    ],
)
def test_s7_5_target_phrases(pointer: str, phrase: str) -> None:
    assert target_phrase(parse_pointer(f"/interactions/s/{pointer}")) == phrase


def test_s7_5_to_what_was_sent_and_from_what_was_obtained() -> None:
    assert clause(library(), "lend/call-inputs/body/copyId") == (
        "the body copyId value you sent to the lend book endpoint (with the supplied body copyId)"
    )
    assert clause(library(), "lend/response-body") == (
        "the response body you obtained from the lend book endpoint (with the supplied body copyId)"
    )


def test_s7_5_several_targets_of_one_step_are_sorted_behind_its_name() -> None:
    found = clause(library(), "read/response-status", "read/response-body/items", "read/response-body/loanId")
    assert found == (
        "the get loan endpoint (with the supplied path id): its items field, its loanId field, and its transport status"
    )


@pytest.mark.parametrize(
    ("targets", "first"),
    [
        (("lend/response-body/loanId", "read/call-inputs/path/id"), "the path id value you sent to"),
        (("read/response-status", "lend/response-body/loanId"), "its loanId field from"),
        (("lend/response-status", "read/response-body/loanId"), "its loanId field from"),
        (("lend/response-body/status", "read/response-body/loanId"), "its loanId field from"),
        (("lend/call-inputs/body/copyId", "read/call-inputs/path/id"), "the body copyId value you sent to"),
        (("lend/response-body/loanId", "read/response-body/loanId"), "its loanId field from the get loan"),
    ],
)
def test_s7_5_a_pair_is_ordered_by_side_signature_and_name(targets: tuple[str, str], first: str) -> None:
    found = clause(library(), *targets)
    assert found.startswith(first)
    assert ", compared with " in found
    assert clause(library(), *reversed(targets)) == found


def test_s7_6_nouns_names_and_interfaces() -> None:
    assert clause(command_contract(), "run/exit-code") == "its exit code from the lint command"
    assert clause(tool_contract(), "ask/response-status") == "its transport status from the search tool"
    shared = library(
        add(
            "/permittedInterfaces/-",
            {"logicalId": "archive", "kind": "web", "operations": [api_operation("get-loan", "GET", "/archive")]},
        ),
        add("/interactionPlan/-", step("old", "get-loan", interface_id="archive")),
    )
    assert clause(shared, "old/response-status") == (
        'its transport status from the get loan endpoint of interface "archive"'
    )
    assert clause(shared, "lend/response-status").endswith(
        "from the lend book endpoint (with the supplied body copyId)"
    )


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


def example(*clauses: Any, **over: Any) -> Any:
    """The plan of spec 04 §11.2."""
    base = library(
        put("/permittedInterfaces/0/operations/0/requestShape/body", keys({"copyId": "number", "borrower": "string"})),
        put(
            "/permittedInterfaces/0/operations/1/responseDescriptor/permittedKeys",
            ["items", "borrower", "status", "loanId"],
        ),
        put("/interactionPlan/0/inputBinding/body", {"copyId": lit(7), "borrower": {"principal": "alice"}}),
        put("/interactionPlan/1/stepId", "check"),
    )
    return apply(base, clauses)


def test_s11_2_example_1_a_pair_with_scope_and_negative_domain() -> None:
    text = said(
        example(),
        "check/response-body/borrower",
        "lend/call-inputs/body/borrower",
        scope="the loan just created",
        negativeDomain="A loan recorded for someone else.",
    )
    assert text == (
        "The body borrower value you sent to the lend book endpoint (with the supplied body borrower and the supplied "
        "body copyId), compared with its borrower field from the get loan endpoint (with the supplied path id) is "
        "asserted to be equal. The declared polarity expects this relation to hold. The loan just created. A loan "
        "recorded for someone else is treated as a defect."
    )


def test_s11_2_example_2_several_targets() -> None:
    text = said(example(), "check/response-body/status", "check/response-status", relation="all", negativeDomain="")
    assert text == (
        "The get loan endpoint (with the supplied path id): its status field and its transport status is asserted to "
        "satisfy every declared condition together. The declared polarity expects this relation to hold."
    )


def test_s11_2_example_3_a_quantifier() -> None:
    text = said(example(), "check/response-body", relation="for-all", polarity="expects-violation")
    assert text == (
        "Every element reachable through the response body you obtained from the get loan endpoint (with the supplied "
        "path id) is asserted to meet the declared condition. The declared polarity expects this relation to be a "
        "violation."
    )


def reads(*bindings: Any) -> Any:
    return library(
        put(
            "/interactionPlan",
            [
                *(step(name, "get-loan", inputBinding=each) for name, each in zip("ab", bindings, strict=False)),
                *(step(f"l{n}", "lend-book", inputBinding=api_binding(body={"copyId": lit(n)})) for n in (7, 8)),
            ],
        ),
        put("/permittedInterfaces/0/operations/1/responseDescriptor/permittedKeys", ["status"]),
    )


def test_s11_2_example_4_literals_separate() -> None:
    found = clause(
        reads(api_binding(path={"id": lit("x1")}), api_binding(path={"id": lit("x2")})),
        "a/response-body/status",
        "b/response-body/status",
    )
    assert found == (
        'its status field from the get loan endpoint (with the path id "x1") and '
        'its status field from the get loan endpoint (with the path id "x2")'
    )


def test_s11_2_example_5_principals_separate() -> None:
    found = clause(
        reads(api_binding(path={"id": {"principal": "alice"}}), api_binding(path={"id": {"principal": "bob"}})),
        "a/response-body/status",
        "b/response-body/status",
    )
    assert "(with the path id of the alice account)" in found
    assert "(with the path id of the bob account)" in found


def test_s11_2_example_7_captured_sources_separate() -> None:
    found = clause(
        reads(
            api_binding(path={"id": captured("l7/response-body/loanId")}),
            api_binding(path={"id": captured("l8/response-body/loanId")}),
        ),
        "a/response-body/status",
        "b/response-body/status",
    )
    assert (
        "the get loan endpoint (with the path id you obtained as its loanId field from the lend book endpoint "
        "(with the body copyId 7))"
    ) in found


def test_s11_2_example_9_a_violation_hides_the_rest() -> None:
    violating = api_binding(path={"id": {"matcher": "type-violating"}}, query={"page": lit(1)})
    assert clause(many(violating), "s1/response-status").endswith("(with a malformed path id value)")


def test_s11_2_example_10_a_field_of_an_artifact() -> None:
    document = command_contract(put("/interactionPlan/0/inputBinding", cli_binding()))
    assert clause(document, "run/artifact/report/findings/0") == (
        "the findings.0 field of the report it wrote from the lint command"
    )


def test_s7_1_the_check_is_never_read() -> None:
    for check in (
        exists("read/response-body/loanId"),
        both(exists("lend/stdout"), eq(p("lend/stdout"), lit("secret"))),
    ):
        document = library(put("/oracles", [oracle(1, check, ["read/response-body/loanId"])]))
        found = read_contract(document).oracles[0].direction
        assert found is not None
        assert "secret" not in direction_text(found, renderer(document))
