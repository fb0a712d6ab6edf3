"""Spec 04 §7: the generated prose of a direction."""

from typing import Any

import pytest

from eval_quality.core.compile.entry import read_contract
from eval_quality.core.contract.pointer import parse_pointer
from eval_quality.core.direction.grouping import group_steps
from eval_quality.core.direction.precondition import PreconditionError
from eval_quality.core.direction.text import direction_text
from eval_quality.core.direction.words import and_, sentence, target_phrase
from eval_quality.core.explain.patch import add, put
from support.contracts import (
    api_binding,
    api_operation,
    apply,
    both,
    cli_binding,
    command_contract,
    eq,
    exists,
    keys,
    library,
    lit,
    oracle,
    p,
    step,
    tool_contract,
)
from support.prose import clause, renderer, said

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


def captured(pointer: str) -> Any:
    return {"captured": f"/interactions/{pointer}"}


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
