"""Spec 04 §3.1: success-indicator-separation."""

from typing import Any

import pytest

from eval_quality.core.explain.patch import add, put
from support.contracts import (
    Edit,
    api_binding,
    api_operation,
    both,
    command_contract,
    desk,
    eq,
    every,
    exists,
    library,
    lit,
    negated,
    oracle,
    p,
    response,
    step,
    tool_contract,
)
from support.coverage_rules import (
    DESCRIPTOR,
    LOAN,
    OPERATION,
    STATUS,
    open_rules,
)

# --- rule 1 -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("edits", "expected"),
    [
        ((), []),
        ((put("/behaviors/0/oracles", []),), [1]),
        ((put("/behaviors/0/oracles", ["O-999", "O-001"]),), []),
        ((put(f"{DESCRIPTOR}/channelRoles", {}),), []),
        ((put(f"{DESCRIPTOR}/channelRoles", {"/status": "success-indicator"}),), []),
        ((put(f"{DESCRIPTOR}/channelRoles", None),), [1]),
        ((put(f"{DESCRIPTOR}/successIndicator", None),), [1]),
        ((put(f"{DESCRIPTOR}/successIndicator", None), put(f"{DESCRIPTOR}/channelRoles", {})), [1]),
        ((put(f"{DESCRIPTOR}/channelRoles", {"/loanId": "success-indicator"}),), [1]),
        ((put(f"{DESCRIPTOR}/channelRoles", {"/status": "payload", "/loanId": "diagnostic"}),), []),
        ((put(f"{DESCRIPTOR}/channelRoles", {"/items": "collection"}),), [1]),
        ((put(f"{DESCRIPTOR}/channelRoles", {"/items": "collection", "/loanId": "payload"}),), []),
        ((put(f"{DESCRIPTOR}/successIndicator", ""),), []),
    ],
)
def test_s3_1_the_indicator_is_read_with_another_channel(edits: tuple[Edit, ...], expected: list[int]) -> None:
    assert open_rules(desk(), *edits) == expected


def test_s3_1_both_are_read_at_one_step_by_one_oracle() -> None:
    again = step("again", "get-loan", inputBinding=api_binding(path={"id": lit("l-2")}))
    split = both(exists(STATUS), exists("again/response-body/loanId"))
    assert 1 in open_rules(desk(), add("/interactionPlan/-", again), put("/oracles/0", oracle(1, split)))
    whole = both(exists("again/response-body/status"), exists("again/response-body/loanId"))
    assert open_rules(desk(), add("/interactionPlan/-", again), put("/oracles/0", oracle(1, whole))) == []
    apart = [oracle(1, exists(STATUS)), oracle(3, exists(LOAN))]
    edits = (put("/oracles/0", apart[0]), add("/oracles/-", apart[1]), put("/behaviors/0/oracles", ["O-001", "O-003"]))
    assert open_rules(desk(), *edits) == [1, 2]


def test_s3_1_every_operation_is_a_site_of_its_own() -> None:
    other = api_operation("other", "GET", "/other", responseDescriptor=response(channelRoles={"/x": "payload"}))
    assert open_rules(desk(), add("/permittedInterfaces/0/operations/-", other)) == [1]
    quiet = api_operation("other", "GET", "/other")
    assert open_rules(desk(), add("/permittedInterfaces/0/operations/-", quiet)) == []


EXIT, OUT = "run/exit-code", "run/stdout"


def scalar(check: Any, *edits: Edit, targets: Any = (OUT, EXIT), **over: Any) -> list[int]:
    """A command that prints one plain text; one listed oracle."""
    described = response(successIndicator=None, channelRoles=None)
    base = command_contract(
        put(DESCRIPTOR, described),
        put("/oracles", [oracle(1, check, [*targets], **over)]),
    )
    return open_rules(base, *edits)


SAID = both(eq(p(EXIT), lit(0)), eq(p(OUT), lit("42\n")))


@pytest.mark.parametrize(
    "check",
    [
        SAID,
        both(eq(lit(0), p(EXIT)), eq(lit("42"), p(OUT))),
        both(eq(p(EXIT), lit(0.0)), eq(p(OUT), lit(42))),
        both(eq(p(EXIT), lit(0)), eq(p(OUT), lit(True))),
        both(both(eq(p(EXIT), lit(0)), exists(OUT)), both(exists(EXIT), eq(p(OUT), lit("")))),
        {"op": "all", "operands": [{**eq(p(EXIT), lit(0)), "op": "deep-equality"}, eq(p(OUT), lit("x"))]},
    ],
)
def test_s3_1_a_scalar_command_asserts_exit_and_exact_text(check: Any) -> None:
    assert scalar(check) == []


@pytest.mark.parametrize(
    "check",
    [
        eq(p(EXIT), lit(0)),
        eq(p(OUT), lit("42")),
        both(eq(p(EXIT), lit(1)), eq(p(OUT), lit("42"))),
        both(eq(p(EXIT), lit(False)), eq(p(OUT), lit("42"))),
        both(eq(p(EXIT), lit("0")), eq(p(OUT), lit("42"))),
        both(eq(p(EXIT), lit(0)), {"op": "containment", "operands": [p(OUT), lit("42")]}),
        both(eq(p(EXIT), lit(0)), {"op": "regex", "operands": [p(OUT)], "pattern": "^42$"}),
        both(eq(p(EXIT), lit(0)), eq(p(OUT), lit(None))),
        both(eq(p(EXIT), lit(0)), eq(p(OUT), lit(["42"]))),
        both(eq(p(EXIT), lit(0)), eq(p(OUT), lit({}))),
        both(eq(p(EXIT), lit(0)), eq(p(OUT), p(EXIT))),
        both(eq(p(EXIT), p(OUT)), eq(p(OUT), lit("42"))),
        both(eq(p(EXIT), lit(0)), eq(p("run/stdout/x"), lit("42"))),
        both(eq(lit(0), lit(0)), eq(p(OUT), lit("42"))),
        negated(SAID),
        both(eq(p(EXIT), lit(0)), negated(eq(p(OUT), lit("42")))),
        {"op": "any", "operands": SAID["operands"]},
        both(eq(p(EXIT), lit(0)), every("run/stdout", eq(p(OUT), lit("42")))),
    ],
)
def test_s3_1_what_is_not_enough_for_a_scalar_command(check: Any) -> None:
    assert scalar(check) == [1]


def test_s3_1_direction_polarity_listing_and_form_of_a_scalar_command() -> None:
    assert scalar(SAID, targets=(EXIT, OUT, "run/stderr")) == []
    assert scalar(SAID, targets=(OUT,)) == [1]
    assert scalar(SAID, targets=(EXIT,)) == [1]
    assert scalar(SAID, polarity="expects-violation") == [1]
    assert scalar(SAID, put("/behaviors/0/oracles", [])) == [1]
    assert scalar(SAID, put("/oracles/0/check", None)) == [1]
    assert scalar(SAID, put("/oracles/0/direction", None)) == [1]
    assert scalar(SAID, put("/interactionPlan/0/stepId", "other")) == [1]
    for roles, expected in (
        ({}, []),
        ({"": "payload"}, []),
        ({"": "diagnostic"}, [1]),
        ({"/x": "payload"}, [1]),
        ({"": "payload", "/x": "payload"}, [1]),
    ):
        assert scalar(SAID, put(f"{DESCRIPTOR}/channelRoles", roles)) == expected
    for declared in ({"requiredKeys": ["x"]}, {"permittedKeys": ["x"]}, {"types": {"x": None}}):
        name, value = next(iter(declared.items()))
        assert scalar(SAID, put(f"{DESCRIPTOR}/{name}", value)) == [1]
    errors = put(f"{OPERATION}/descriptorChannel", {"kind": "stream", "channel": "stderr"})
    assert scalar(SAID, errors) == [1]


def test_s3_1_only_a_command_may_go_without_an_indicator() -> None:
    silent = response(successIndicator=None, channelRoles={})
    assert open_rules(tool_contract(), put(DESCRIPTOR, silent)) == [1]
    assert 1 in open_rules(library(), put(f"{DESCRIPTOR}/successIndicator", None))


COUNT, FINDINGS = "run/stdout/count", "run/stdout/findings"


def printed(*edits: Edit) -> list[int]:
    """A command whose described output has an indicator, two required keys and a collection."""
    described = response(
        {"count": "number", "findings": "array"},
        successIndicator="/count",
        channelRoles={"/findings": "collection"},
        collectionLocations=[
            {"pointer": "/findings", "expectedCardinality": {"mode": "at-most", "max": 9}, "referenceSet": None}
        ],
    )
    check = both(eq(p(COUNT), lit(0)), every(FINDINGS, exists("@/line")))
    return open_rules(command_contract(put(DESCRIPTOR, described), put("/oracles", [oracle(1, check)])), *edits)


def test_s2_1_rules_look_at_the_described_channel_whatever_the_kind() -> None:
    assert printed() == []
    errors = put(f"{OPERATION}/descriptorChannel", {"kind": "stream", "channel": "stderr"})
    assert printed(errors) == [1, 2, 4]
