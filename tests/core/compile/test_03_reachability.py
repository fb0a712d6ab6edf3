"""Spec 03 §8: which evidence can exist, for each kind of interface and each channel."""

import pytest

from eval_quality.core.compile.entry import read_contract
from eval_quality.core.compile.reachability import covers, is_scalar_type, unreachable_in
from eval_quality.core.contract.operation import operations_of
from eval_quality.core.contract.pointer import parse_pointer
from eval_quality.core.explain.patch import Edit, add, put
from support.contracts import (
    both,
    command_contract,
    eq,
    error_of,
    every,
    exists,
    library,
    lit,
    negated,
    oracle,
    p,
    response,
    tool_contract,
    verdict,
)

OPERATION = "/permittedInterfaces/0/operations/0"
UNREACHABLE = "unreachable-check-evidence"
UNDECLARED = "unresolved-artifact-reference"


def reads(pointer: str) -> tuple[Edit, ...]:
    """One oracle that reads one pointer, in both channels."""
    return (put("/oracles", [oracle(1, exists(pointer))]),)


def reached(document: object) -> str:
    """`ok`, or the code alone."""
    return verdict(document).split(" @ ")[0]


MATRIX: dict[str, tuple[str, str, str]] = {
    # channel                (api, cli, mcp)
    "response-body": ("ok", UNREACHABLE, "ok"),
    "response-headers": ("ok", UNREACHABLE, UNREACHABLE),
    "response-headers/etag/x": ("ok", UNREACHABLE, UNREACHABLE),
    "response-status": ("ok", UNREACHABLE, "ok"),
    "exit-code": ("ok", "ok", "ok"),
    "stdout": ("ok", "ok", UNREACHABLE),
    "stderr": ("ok", "ok", UNREACHABLE),
    "stdout/nowhere": (UNREACHABLE, UNREACHABLE, UNREACHABLE),
    "stderr/x": (UNREACHABLE, UNREACHABLE, UNREACHABLE),
    "artifact/report": (UNDECLARED, "ok", UNDECLARED),
    "artifact/report/x": (UNDECLARED, UNREACHABLE, UNDECLARED),
    "artifact/other": (UNDECLARED, UNDECLARED, UNDECLARED),
    **{f"call-inputs/{name}": ("ok", UNREACHABLE, UNREACHABLE) for name in ("path", "query", "header", "body")},
    **{
        f"call-inputs/{name}": (UNREACHABLE, "ok", UNREACHABLE)
        for name in ("argument", "option", "environment", "stdin")
    },
    "call-inputs/arguments": (UNREACHABLE, UNREACHABLE, "ok"),
}


@pytest.mark.parametrize("channel", MATRIX)
def test_s8_3_the_matrix_of_channels_and_kinds(channel: str) -> None:
    api = reached(library(*reads(f"lend/{channel}")))
    cli = reached(command_contract(*reads(f"run/{channel}")))
    mcp = reached(tool_contract(*reads(f"ask/{channel}")))
    assert (api, cli, mcp) == MATRIX[channel]


def test_s8_1_every_operand_of_every_check_is_walked() -> None:
    deep = both(exists("lend/response-body"), eq(lit(1), p("lend/response-body/x")))
    assert verdict(library(put("/oracles", [oracle(1, deep)]))) == (
        f"{UNREACHABLE} @ EvalContract.oracles[id=O-001].check.operands[1].operands[1]"
    )
    collection = every("read/response-body/x", exists("@/a"))
    assert verdict(library(put("/oracles", [oracle(1, collection)]))) == (
        f"{UNREACHABLE} @ EvalContract.oracles[id=O-001].check.collection"
    )


def test_s8_1_the_detail_quotes_the_pointer_first() -> None:
    error = error_of(library(*reads("lend/response-body/x")))
    assert error is not None
    assert error.detail.startswith('"/interactions/lend/response-body/x": ')


@pytest.mark.parametrize(
    ("edits", "reason"),
    [
        (reads("nowhere/response-body"), 'does not declare one step "nowhere"'),
        (
            (*reads("lend/response-body"), add("/interactionPlan/-", library()["interactionPlan"][0])),
            'does not declare one step "lend"',
        ),
        (
            (*reads("lend/response-body"), put("/interactionPlan/0/operationId", "burn-book")),
            'step "lend" names operation "burn-book" on interface "library", which that interface does not declare',
        ),
        (
            (
                *reads("lend/response-body"),
                add("/permittedInterfaces/0/operations/-", library()["permittedInterfaces"][0]["operations"][0]),
            ),
            "declares more than once",
        ),
    ],
)
def test_s8_2_a_pointer_needs_one_step_and_one_operation(edits: tuple[Edit, ...], reason: str) -> None:
    error = error_of(library(*edits))
    assert error is not None
    assert (error.code, error.artifact_path) == (UNREACHABLE, "EvalContract.oracles[id=O-001].check.operands[0]")
    assert reason in error.detail


def test_s8_2_a_bound_element_is_reachable() -> None:
    document = library(put("/oracles", [oracle(1, every("read/response-body/items", exists("@/anything/at/all")))]))
    assert reached(document) == "ok"


@pytest.mark.parametrize(
    ("channel", "expected"),
    [
        ("call-inputs/body/copyId", "ok"),
        ("call-inputs/body/note", "ok"),
        ("call-inputs/body/x", UNREACHABLE),
        ("call-inputs/body/copyId/deeper", UNREACHABLE),
        ("call-inputs/body/untyped/deeper", "ok"),
        ("call-inputs/body/unstated/deeper/still", "ok"),
        ("call-inputs/body/list/0", "ok"),
        ("call-inputs/query/x", UNREACHABLE),
    ],
)
def test_s8_3_call_inputs_follow_the_request_shape(channel: str, expected: str) -> None:
    body = f"{OPERATION}/requestShape/body"
    declared = (
        put(f"{body}/permittedKeys", ["note", "untyped", "unstated", "list"]),
        add(f"{body}/types/unstated", None),
        add(f"{body}/types/list", "array"),
    )
    assert reached(library(*declared, *reads(f"lend/{channel}"))) == expected


@pytest.mark.parametrize(
    ("artifact", "expected"),
    [("report", "ok"), ("report/count", "ok"), ("report/x", UNREACHABLE), ("log", "ok"), ("log/count", UNREACHABLE)],
)
def test_s8_3_the_described_artifact_is_descended_into_and_no_other(artifact: str, expected: str) -> None:
    described = put(f"{OPERATION}/descriptorChannel", {"kind": "artifact", "artifactId": "report"})
    assert reached(command_contract(described, *reads(f"run/artifact/{artifact}"))) == expected


def test_s8_3_the_described_stream_is_descended_into_and_the_other_is_bare() -> None:
    described = put(f"{OPERATION}/descriptorChannel", {"kind": "stream", "channel": "stderr"})
    assert reached(command_contract(described, *reads("run/stderr/count"))) == "ok"
    assert reached(command_contract(described, *reads("run/stdout/count"))) == UNREACHABLE
    assert reached(command_contract(described, *reads("run/stdout"))) == "ok"


DESCRIPTOR = f"{OPERATION}/responseDescriptor"


@pytest.mark.parametrize(
    ("tail", "expected"),
    [
        ("", "ok"),
        ("/loanId", "ok"),
        ("/status", "ok"),
        ("/x", UNREACHABLE),
        ("/", UNREACHABLE),
        ("/0", UNREACHABLE),
        ("/loanId/x", UNREACHABLE),
        ("/untyped/x/y", "ok"),
        ("/unstated/x", "ok"),
        ("/object/x", "ok"),
        ("/list/0/x", "ok"),
        ("/number/x", UNREACHABLE),
        ("/boolean/x", UNREACHABLE),
        ("/nothing/x", UNREACHABLE),
        ("/nothing", "ok"),
    ],
)
def test_s8_4_descent_looks_at_two_tokens(tail: str, expected: str) -> None:
    descriptor = response(
        {"loanId": "string"},
        {
            "status": "string",
            "untyped": "",
            "object": "object",
            "list": "array",
            "number": "number",
            "boolean": "boolean",
            "nothing": "null",
        },
    )
    descriptor["permittedKeys"].append("unstated")
    descriptor["types"]["unstated"] = None
    assert reached(library(put(DESCRIPTOR, descriptor), *reads(f"lend/response-body{tail}"))) == expected


@pytest.mark.parametrize(
    ("cardinality", "index", "expected"),
    [
        ({"mode": "exact", "count": 3}, "0", "ok"),
        ({"mode": "exact", "count": 3}, "2/x/y", "ok"),
        ({"mode": "exact", "count": 3}, "3", UNREACHABLE),
        ({"mode": "exact", "count": 0}, "0", UNREACHABLE),
        ({"mode": "at-most", "max": 10}, "9", "ok"),
        ({"mode": "at-most", "max": 10}, "10", UNREACHABLE),
        ({"mode": "page-bounded", "max": 100}, "99", "ok"),
        ({"mode": "page-bounded", "max": 100}, "100", UNREACHABLE),
        ({"mode": "page-bounded", "max": 100}, "9" * 6000, UNREACHABLE),
        ({"mode": "exact", "count": 3}, "01", UNREACHABLE),
        ({"mode": "exact", "count": 3}, "loanId", "ok"),
    ],
)
def test_s8_4_a_root_collection_bounds_the_index(cardinality: object, index: str, expected: str) -> None:
    roots = put(
        f"{DESCRIPTOR}/collectionLocations",
        [
            {"pointer": "/elsewhere", "expectedCardinality": {"mode": "exact", "count": 0}, "referenceSet": None},
            {"pointer": "", "expectedCardinality": cardinality, "referenceSet": None},
            {"pointer": "", "expectedCardinality": {"mode": "exact", "count": 9999}, "referenceSet": None},
        ],
    )
    assert reached(library(roots, *reads(f"lend/response-body/{index}"))) == expected


def test_s8_4_the_reasons_name_field_index_mode_and_bound() -> None:
    error = error_of(library(*reads("lend/response-body/x")))
    assert error is not None
    assert 'the response-body of operation "lend-book" declares no field "x"' in error.detail
    roots = [{"pointer": "", "expectedCardinality": {"mode": "at-most", "max": 2}, "referenceSet": None}]
    error = error_of(library(put(f"{DESCRIPTOR}/collectionLocations", roots), *reads("lend/response-body/7")))
    assert error is not None
    assert "index 7 is outside the root collection, declared at-most 2" in error.detail


def test_s8_4_scalars_are_four_types() -> None:
    assert [is_scalar_type(name) for name in ("string", "number", "boolean", "null")] == [True] * 4
    assert [is_scalar_type(name) for name in ("object", "array", None)] == [False] * 3


def related(document: object, relation: object) -> object:
    """The contract with another relation on its first operation's witness."""
    from support.contracts import apply

    return apply(document, (put(f"{OPERATION}/sensitivityWitness/relation", relation),))


def leg_reads(channel: str) -> object:
    return {"op": "not", "operands": [eq(p(f"leg-a/{channel}"), p(f"leg-b/{channel}"))]}


def command_with_witness(*edits: Edit) -> object:
    from support.contracts import cli_inputs, keys, witness

    return command_contract(
        put(f"{OPERATION}/requestShape/option", keys({"level": "string"})),
        put(
            f"{OPERATION}/sensitivityWitness",
            witness("option", cli_inputs(option={"level": "a"}), cli_inputs(option={"level": "b"}), "stdout/count"),
        ),
        *edits,
    )


def tool_with_witness(*edits: Edit) -> object:
    from support.contracts import keys, witness

    return tool_contract(
        put(f"{OPERATION}/requestShape/arguments", keys({"q": "string"})),
        put(
            f"{OPERATION}/sensitivityWitness",
            witness("arguments", {"arguments": {"q": "a"}}, {"arguments": {"q": "b"}}, "response-body/total"),
        ),
        *edits,
    )


LEGS = {
    "response-body/loanId": ("ok", None, None),
    "response-headers/etag": ("ok", None, UNREACHABLE),
    "response-status": ("ok", UNREACHABLE, "ok"),
    "call-inputs/body/copyId": ("ok", None, None),
    "call-inputs/option/level": (None, "ok", None),
    "call-inputs/arguments/q": (None, None, "ok"),
    "exit-code": (UNREACHABLE, "ok", "ok"),
    "stdout": (UNREACHABLE, "ok", UNREACHABLE),
    "stderr": (UNREACHABLE, UNREACHABLE, UNREACHABLE),
    "artifact/report": (None, UNREACHABLE, None),
}


@pytest.mark.parametrize("channel", LEGS)
def test_s8_5_a_leg_carries_fewer_channels_than_a_step(channel: str) -> None:
    documents = (library(), command_with_witness(), tool_with_witness())
    for document, expected in zip(documents, LEGS[channel], strict=True):
        if expected is not None:
            assert reached(related(document, leg_reads(channel))) == expected


def test_s8_5_the_refusal_stands_at_the_relation_node_and_lists_the_channels() -> None:
    error = error_of(related(library(), leg_reads("exit-code")))
    assert error is not None
    assert error.artifact_path == (
        "EvalContract.permittedInterfaces[0].operations[0].sensitivityWitness.relation.operands[0].operands[0]"
    )
    assert "response-body, response-headers, response-status, call-inputs" in error.detail


def test_s8_5_another_artifact_than_the_described_one_is_refused() -> None:
    document = command_with_witness(put(f"{OPERATION}/descriptorChannel", {"kind": "artifact", "artifactId": "report"}))
    narrowed = put("/oracles", [oracle(1, exists("run/artifact/report/count"))])
    from support.contracts import apply

    document = apply(document, (narrowed,))
    assert reached(related(document, leg_reads("artifact/report/count"))) == "ok"
    error = error_of(related(document, leg_reads("artifact/log")))
    assert error is not None
    assert (error.code, "carries only" in error.detail) == (UNREACHABLE, True)


@pytest.mark.parametrize(
    ("volatile", "expected"),
    [
        ([], "ok"),
        (["/other"], "ok"),
        (["/loanId/x"], "ok"),
        (["/loanId"], UNREACHABLE),
        (["/other", "/*"], UNREACHABLE),
        ([""], UNREACHABLE),
        (["/"], "ok"),
    ],
)
def test_s8_5_a_relation_may_not_read_what_is_volatile(volatile: list[str], expected: str) -> None:
    document = library(put(f"{OPERATION}/volatilePointers", volatile))
    assert reached(document) == expected


def test_s8_5_volatility_is_about_the_described_channel_and_not_about_checks() -> None:
    everything = put(f"{OPERATION}/volatilePointers", [""])
    assert reached(related(library(everything), leg_reads("response-status"))) == "ok"
    checked = both(exists("lend/response-body/loanId"), exists("lend/response-status"))
    document = related(library(everything, put("/oracles", [oracle(1, checked)])), leg_reads("response-status"))
    assert reached(document) == "ok"


@pytest.mark.parametrize(
    ("entry", "tail", "expected"),
    [
        ((), (), True),
        ((), ("a",), True),
        (("a",), (), False),
        (("a",), ("a", "b"), True),
        (("*", "b"), ("x", "b"), True),
        (("*", "b"), ("x", "c"), False),
        (("a", "*"), ("a",), False),
        (("a", "*"), ("a", "*"), True),
        (("a", "b"), ("a", "*"), False),
    ],
)
def test_s8_5_covering_is_by_token_with_a_wildcard(
    entry: tuple[str, ...], tail: tuple[str, ...], expected: bool
) -> None:
    assert covers(entry, tail) is expected


RESET = f"{OPERATION}/stateResetPointers"
RESET_PATH = "EvalContract.permittedInterfaces[logicalId=library].operations[operationId=lend-book].stateResetPointers"


@pytest.mark.parametrize(
    ("pointers", "volatile", "expected"),
    [
        ([], [], "ok"),
        ([""], [], "ok"),
        (["/loanId"], [], "ok"),
        (["/loanId", "/x"], [], f"{UNREACHABLE} @ {RESET_PATH}[1]"),
        (["/loanId/x"], [], f"{UNREACHABLE} @ {RESET_PATH}[0]"),
        (["/*"], [], "ok"),
        (["/*/x"], [], "ok"),
        (["/status"], ["/status/*"], "ok"),
        (["/status"], ["/*"], f"{UNREACHABLE} @ {RESET_PATH}[0]"),
        (["/status"], ["/status"], f"{UNREACHABLE} @ {RESET_PATH}[0]"),
        (["/*"], ["/status"], "ok"),
        (["/*"], ["/*"], f"{UNREACHABLE} @ {RESET_PATH}[0]"),
        ([""], ["/status"], "ok"),
    ],
)
def test_s8_6_state_reset_pointers_compare_something(pointers: list[str], volatile: list[str], expected: str) -> None:
    answers = put(f"{OPERATION}/sensitivityWitness/relation", leg_reads("response-status"))
    document = library(answers, add(RESET, pointers), put(f"{OPERATION}/volatilePointers", volatile))
    assert verdict(document) == expected


@pytest.mark.parametrize(
    ("descriptor", "expected"),
    [
        (response(), UNREACHABLE),
        (response({"a": "string"}), "ok"),
        (response({}, {"a": "string"}), "ok"),
        (
            response(
                collectionLocations=[
                    {"pointer": "", "expectedCardinality": {"mode": "exact", "count": 1}, "referenceSet": None}
                ]
            ),
            "ok",
        ),
        (
            response(
                collectionLocations=[
                    {"pointer": "/a", "expectedCardinality": {"mode": "exact", "count": 1}, "referenceSet": None}
                ]
            ),
            UNREACHABLE,
        ),
        (response(collectionLocations=None), UNREACHABLE),
    ],
)
def test_s8_6_a_leading_wildcard_needs_some_declared_member(descriptor: object, expected: str) -> None:
    operation = "/permittedInterfaces/0/operations/1"
    document = library(
        put("/oracles", []),
        put(f"{operation}/responseDescriptor", descriptor),
        add(f"{operation}/stateResetPointers", ["/*"]),
        put(
            f"{operation}/sensitivityWitness/relation",
            negated(eq(p("leg-c/response-status"), p("leg-d/response-status"))),
        ),
    )
    assert reached(document) == expected


def test_s8_6_the_detail_quotes_the_volatile_pointer_as_written() -> None:
    answers = put(f"{OPERATION}/sensitivityWitness/relation", leg_reads("response-status"))
    error = error_of(library(answers, add(RESET, ["/status"]), put(f"{OPERATION}/volatilePointers", [""])))
    assert error is not None
    assert 'volatile pointer "" covers it' in error.detail
    assert "compare nothing" in error.detail
    error = error_of(library(add(RESET, ["/x"])))
    assert error is not None
    assert "compare nothing" in error.detail
    assert 'declares no field "x"' in error.detail


def test_s8_3_an_undeclared_artifact_is_unreachable_where_nothing_refused_it_before() -> None:
    operation = next(operations_of(read_contract(command_contract()))).operation
    reason = unreachable_in(parse_pointer("/interactions/run/artifact/other"), operation)
    assert reason == 'operation "lint" does not declare artifact "other"'
