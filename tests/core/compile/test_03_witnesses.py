"""Spec 03 §14 and §15: witnesses, the fixture reset, and steps that can be told apart."""

from typing import Any

import pytest

from eval_quality.core.explain.patch import add, put
from support.contracts import (
    Edit,
    api_binding,
    api_inputs,
    api_operation,
    apply,
    both,
    cli_inputs,
    command_contract,
    eq,
    error_of,
    exists,
    json_body,
    keys,
    library,
    lit,
    negated,
    oracle,
    p,
    raw_body,
    shape,
    step,
    tool_contract,
    verdict,
    witness,
)

OPERATION = "/permittedInterfaces/0/operations/0"
W = "EvalContract.permittedInterfaces[0].operations[0]"
UNDECLARED = "undeclared-mandatory-input"
MALFORMED = "malformed-operator-expression"
UNREACHABLE = "unreachable-check-evidence"


def legs(*inputs: Any) -> tuple[Edit, ...]:
    return tuple(put(f"{OPERATION}/sensitivityWitness/legs/{at}/inputs", each) for at, each in enumerate(inputs))


def test_s14_1_only_an_operation_without_inputs_may_go_without_a_witness() -> None:
    none = put(f"{OPERATION}/sensitivityWitness", None)
    error = error_of(library(none))
    assert error is not None
    assert f"{error.code} @ {error.artifact_path}" == f"{UNDECLARED} @ {W}"
    assert "lend-book" in error.detail
    assert "author's choice" in error.detail
    assert verdict(library(none), strict=False) == "ok"
    keyless = put(f"{OPERATION}/requestShape", shape())
    unbound = put("/interactionPlan/0/inputBinding", api_binding())
    assert verdict(library(none, keyless, unbound)) == "ok"
    typed = put(f"{OPERATION}/requestShape", shape(header=keys(types={"x": None})))
    assert verdict(library(none, typed, unbound)) == f"{UNDECLARED} @ {W}"


BODY = put(f"{OPERATION}/requestShape/body", keys({"b": "number", "a": "number"}, {"note": "string"}))
UNBOUND = put("/interactionPlan/0/inputBinding", api_binding())
FULL = {"a": 1, "b": 2}


@pytest.mark.parametrize(
    ("inputs", "detail"),
    [
        (api_inputs(body=json_body(FULL)), None),
        (api_inputs(body=json_body({**FULL, "note": "x"})), None),
        (api_inputs(body=json_body({"a": 1})), 'does not supply the body key "b"'),
        (api_inputs(body=json_body({})), 'does not supply the body key "b"'),
        (api_inputs(body=json_body([1])), 'does not supply the body key "b"'),
        (api_inputs(), 'does not supply the body key "b"'),
        (api_inputs(body=json_body({**FULL, "z": 1, "0": 1})), 'supplies the body key "0"'),
        (api_inputs(body=json_body({**FULL, "z": 1, "y": 1})), 'supplies the body key "z"'),
        (api_inputs(query={"x": 1}, body=json_body({})), 'supplies the query key "x"'),
        (api_inputs(header={"x": "1"}, body=json_body(FULL)), 'supplies the header key "x"'),
        (api_inputs(body=raw_body()), None),
        (api_inputs(header={"Content-Type": "a/b"}, body=raw_body()), 'supplies the header key "Content-Type"'),
        (cli_inputs(), 'spells command inputs, and operation "lend-book" takes transport inputs'),
        ({"arguments": {}}, 'spells tool-call inputs, and operation "lend-book" takes transport inputs'),
    ],
)
def test_s14_1_a_leg_sends_what_the_operation_declares(inputs: Any, detail: str | None) -> None:
    other = api_inputs(body=json_body({"a": 5, "b": 6}))
    document = library(BODY, UNBOUND, *legs(other, inputs))
    error = error_of(document)
    if detail is None:
        assert error is None
    else:
        assert error is not None
        assert f"{error.code} @ {error.artifact_path}" == f"{UNDECLARED} @ {W}.sensitivityWitness.legs[1]"
        assert error.detail.startswith('leg "leg-b" ')
        assert detail in error.detail
        relaxed = verdict(document, strict=False)
        assert not relaxed.startswith(UNDECLARED)


def test_s14_1_a_raw_body_beside_a_content_type_header_is_refused_even_if_declared() -> None:
    declared = put(f"{OPERATION}/requestShape/header", keys({}, {"content-type": "string"}))
    first = api_inputs(body=json_body(FULL))
    both_types = api_inputs(header={"content-TYPE": "a/b"}, body=raw_body())
    late = put(f"{OPERATION}/requestShape/header", keys({}, {"content-TYPE": "string"}))
    document = library(BODY, UNBOUND, declared, late, *legs(first, both_types))
    error = error_of(document)
    assert error is not None
    assert "already declares its content type" in error.detail
    assert verdict(library(BODY, UNBOUND, late, *legs(first, api_inputs(body=raw_body())))) == "ok"


@pytest.mark.parametrize(
    ("stdin", "required", "expected"),
    [
        ({"kind": "text", "value": "x"}, {"a": "string"}, "ok"),
        ({"kind": "text", "value": "x"}, {}, "requires 0 keys there"),
        ({"kind": "text", "value": "x"}, {"a": "string", "b": "string"}, "requires 2 keys there"),
        ({"kind": "json", "value": {"a": 1}}, {"a": "string"}, "ok"),
        ({"kind": "json", "value": "x"}, {"a": "string"}, 'does not supply the stdin key "a"'),
        ({"kind": "absent"}, {"a": "string"}, 'does not supply the stdin key "a"'),
        ({"kind": "absent"}, {}, "ok"),
    ],
)
def test_s14_1_text_on_standard_input_fills_exactly_one_key(stdin: Any, required: Any, expected: str) -> None:
    first, second = cli_inputs(option={"o": "a"}, stdin=stdin), cli_inputs(option={"o": "b"}, stdin=stdin)
    document = command_contract(
        put(f"{OPERATION}/requestShape/option", keys({"o": "string"})),
        put(f"{OPERATION}/requestShape/stdin", keys(required)),
        put(f"{OPERATION}/sensitivityWitness", witness("option", first, second, "stdout/count")),
    )
    error = error_of(document)
    if expected == "ok":
        assert error is None
    else:
        assert error is not None
        assert error.artifact_path == f"{W}.sensitivityWitness.legs[0]"
        assert expected in error.detail


def named(*ids: str) -> tuple[Edit, ...]:
    """Other leg ids for both witnesses, their relations following."""
    edits: list[Edit] = []
    for at in range(2):
        first, second = ids[2 * at : 2 * at + 2]
        base = f"/permittedInterfaces/0/operations/{at}/sensitivityWitness"
        edits += [put(f"{base}/legs/0/legId", first), put(f"{base}/legs/1/legId", second)]
        relation = negated(eq(p(f"{first}/response-body/loanId"), p(f"{second}/response-body/loanId")))
        edits.append(put(f"{base}/relation", relation))
    return tuple(edits)


@pytest.mark.parametrize(
    ("ids", "expected"),
    [
        (("a", "b", "c", "d"), "ok"),
        (("a", "a", "c", "d"), f"{MALFORMED} @ {W}.sensitivityWitness.legs"),
        (("lend", "lend", "c", "d"), f"{MALFORMED} @ {W}.sensitivityWitness.legs"),
        (("lend", "b", "c", "d"), f"{MALFORMED} @ {W}.sensitivityWitness.legs[0].legId"),
        (("a", "read", "c", "d"), f"{MALFORMED} @ {W}.sensitivityWitness.legs[1].legId"),
        (
            ("a", "b", "c", "a"),
            f"{MALFORMED} @ EvalContract.permittedInterfaces[0].operations[1].sensitivityWitness.legs[1].legId",
        ),
    ],
)
def test_s14_2_steps_and_legs_share_one_namespace(ids: tuple[str, ...], expected: str) -> None:
    assert verdict(library(*named(*ids))) == expected


def reset(
    leg_id: str = "reset", operation_id: str = "lend-book", inputs: Any = None, interface_id: str = "library"
) -> Edit:
    sent = api_inputs(body=json_body({"copyId": 0})) if inputs is None else inputs
    return put(
        "/fixtureReset",
        {"legId": leg_id, "interfaceId": interface_id, "operationId": operation_id, "inputs": sent},
    )


@pytest.mark.parametrize(
    ("leg_id", "owner"),
    [("reset", None), ("read", "a plan step"), ("leg-c", 'a leg of operation "get-loan"'), ("leg-a", "lend-book")],
)
def test_s14_2_the_resets_leg_comes_last(leg_id: str, owner: str | None) -> None:
    error = error_of(library(reset(leg_id)))
    if owner is None:
        assert error is None
    else:
        assert error is not None
        assert f"{error.code} @ {error.artifact_path}" == f"{MALFORMED} @ EvalContract.fixtureReset.legId"
        assert owner in error.detail


@pytest.mark.parametrize(
    ("channel", "marker", "expected"),
    [
        ("body", True, "ok"),
        ("path", True, "bad"),
        ("query", True, "bad"),
        ("body", False, "bad"),
        ("stdin", True, "bad"),
        ("arguments", True, "bad"),
    ],
)
def test_s14_3_1_a_write_varies_its_body(channel: str, marker: bool, expected: str) -> None:
    document = library(
        put(f"{OPERATION}/sensitivityWitness/channel", channel), put(f"{OPERATION}/stateChangeMarker", marker)
    )
    assert verdict(document) == ("ok" if expected == "ok" else f"{MALFORMED} @ {W}.sensitivityWitness")


@pytest.mark.parametrize("channel", ["path", "query"])
def test_s14_3_1_a_read_varies_path_or_query(channel: str) -> None:
    at = "/permittedInterfaces/0/operations/1"
    document = library(
        put(f"{at}/requestShape/query", keys({}, {"id": "string"})),
        put(f"{at}/sensitivityWitness/channel", channel),
        put(f"{at}/sensitivityWitness/legs/0/inputs", api_inputs(path={"id": "x"}, query={"id": "1"})),
        put(f"{at}/sensitivityWitness/legs/1/inputs", api_inputs(path={"id": "y"}, query={"id": "2"})),
    )
    assert verdict(document) == "ok"


@pytest.mark.parametrize("channel", ["argument", "option", "environment", "stdin"])
def test_s14_3_1_a_command_varies_any_of_its_channels(channel: str) -> None:
    def sent(value: str) -> Any:
        return cli_inputs(**{channel: json_body({"k": value}) if channel == "stdin" else {"k": value}})

    document = command_contract(
        put(f"{OPERATION}/requestShape/{channel}", keys({"k": "string"})),
        put(f"{OPERATION}/sensitivityWitness", witness(channel, sent("a"), sent("b"), "stdout/count")),
    )
    assert verdict(document) == "ok"
    document["permittedInterfaces"][0]["operations"][0]["stateChangeMarker"] = True
    assert verdict(document) == "ok"
    document["permittedInterfaces"][0]["operations"][0]["sensitivityWitness"]["channel"] = "body"
    assert verdict(document) == f"{MALFORMED} @ {W}.sensitivityWitness"


def test_s14_3_1_a_tool_varies_its_arguments() -> None:
    found = witness("arguments", {"arguments": {"q": "a"}}, {"arguments": {"q": "b"}}, "response-body/total")
    document = tool_contract(
        put(f"{OPERATION}/requestShape/arguments", keys({"q": "string"})), put(f"{OPERATION}/sensitivityWitness", found)
    )
    assert verdict(document) == "ok"
    assert verdict(apply(document, (put(f"{OPERATION}/sensitivityWitness/channel", "query"),))) == (
        f"{MALFORMED} @ {W}.sensitivityWitness"
    )


def test_s14_3_2_a_leg_of_another_spelling_has_no_such_channel() -> None:
    document = library(*legs(api_inputs(body=json_body({"copyId": 1})), {"arguments": {}}))
    assert verdict(document, strict=False) == f"{MALFORMED} @ {W}.sensitivityWitness.legs"
    error = error_of(document, strict=False)
    assert error is not None
    assert '"leg-b"' in error.detail


@pytest.mark.parametrize(
    ("first", "second", "differs"),
    [
        (json_body({"copyId": 1}), json_body({"copyId": 1}), False),
        (json_body({"copyId": 1}), json_body({"copyId": 1.0}), False),
        (json_body({"copyId": 0}), json_body({"copyId": -0.0}), False),
        (json_body({"copyId": 1}), json_body({"copyId": "1"}), True),
        (json_body({"copyId": 1}), json_body({"copyId": True}), True),
        (json_body({"copyId": {"a": 1, "b": 2}}), json_body({"copyId": {"b": 2, "a": 1}}), True),
        (json_body({"copyId": {"2": 1, "1": 2}}), json_body({"copyId": {"1": 2, "2": 1}}), False),
        ({"kind": "absent"}, {"kind": "absent"}, False),
        (json_body({"copyId": 1}), {"kind": "absent"}, True),
        (raw_body("AA=="), raw_body("AQ=="), True),
        (raw_body("AA=="), raw_body("AA==", "text/plain"), True),
    ],
)
def test_s14_3_3_the_legs_differ_key_order_included(first: Any, second: Any, differs: bool) -> None:
    document = library(*legs(api_inputs(body=first), api_inputs(body=second)))
    expected = "ok" if differs else f"{MALFORMED} @ {W}.sensitivityWitness.legs"
    assert verdict(document, strict=False) == expected


LOAN_A, LOAN_B = "leg-a/response-body/loanId", "leg-b/response-body/loanId"
RELATION = f"{W}.sensitivityWitness.relation"


@pytest.mark.parametrize(
    ("relation", "expected"),
    [
        (eq(p(LOAN_A), p(LOAN_B)), "ok"),
        (both(exists(LOAN_B), exists(LOAN_A)), "ok"),
        (exists("lend/response-body/loanId"), f"{UNREACHABLE} @ {RELATION}"),
        (both(exists(LOAN_A), exists("leg-c/response-body/loanId")), f"{UNREACHABLE} @ {RELATION}"),
        (exists(LOAN_A), f"{MALFORMED} @ {RELATION}"),
        (exists(LOAN_B), f"{MALFORMED} @ {RELATION}"),
        (eq(lit(1), lit(2)), f"{MALFORMED} @ {RELATION}"),
        (exists("@/x"), f"{MALFORMED} @ {RELATION}"),
    ],
)
def test_s14_3_4_and_5_the_relation_is_about_both_legs(relation: Any, expected: str) -> None:
    assert verdict(library(put(f"{OPERATION}/sensitivityWitness/relation", relation))) == expected


def test_s14_3_4_the_first_foreign_step_in_walk_order_is_named() -> None:
    relation = both(exists("read/stdout"), exists("lend/stdout"))
    error = error_of(library(put(f"{OPERATION}/sensitivityWitness/relation", relation)))
    assert error is not None
    assert '"read"' in error.detail


@pytest.mark.parametrize(
    ("nodes", "at"),
    [
        # rule 6 (channel), rule 7 (reachability), rule 8 (volatility): the earlier rule wins wherever it stands
        (("leg-a/response-body/x", "leg-b/exit-code"), 1),
        (("leg-a/response-body/status", "leg-b/response-body/x"), 1),
        (("leg-a/response-body/x", "leg-b/response-body/status"), 0),
        (("leg-a/response-body/loanId", "leg-b/response-body/status"), 1),
    ],
)
def test_s14_3_6_to_8_each_rule_walks_the_whole_relation(nodes: tuple[str, str], at: int) -> None:
    document = library(
        put(f"{OPERATION}/volatilePointers", ["/status"]),
        put(f"{OPERATION}/sensitivityWitness/relation", both(*(exists(node) for node in nodes))),
    )
    assert verdict(document) == f"{UNREACHABLE} @ {RELATION}.operands[{at}].operands[0]"


def test_s14_4_no_reset_is_skipped() -> None:
    assert verdict(library(put("/fixtureReset", None))) == "ok"
    assert verdict(library(reset())) == "ok"


@pytest.mark.parametrize(
    ("edit", "expected"),
    [
        (reset(interface_id="archive"), f"{UNREACHABLE} @ EvalContract.fixtureReset"),
        (reset(operation_id="burn-book"), f"{UNREACHABLE} @ EvalContract.fixtureReset"),
        (reset(operation_id="get-loan"), f"{MALFORMED} @ EvalContract.fixtureReset"),
        (reset(inputs=cli_inputs()), f"{UNDECLARED} @ EvalContract.fixtureReset.inputs"),
        (reset(inputs=api_inputs(body=json_body({"x": 1}))), f"{UNDECLARED} @ EvalContract.fixtureReset.inputs"),
        (reset(inputs=api_inputs(body=raw_body())), "ok"),
        (
            reset(inputs=api_inputs(header={"content-type": "a/b"}, body=raw_body())),
            f"{UNDECLARED} @ EvalContract.fixtureReset.inputs",
        ),
    ],
)
def test_s14_4_the_reset_names_a_write_and_sends_what_it_takes(edit: Edit, expected: str) -> None:
    assert verdict(library(edit)) == expected
    assert verdict(library(edit), strict=False) == expected


def test_s14_4_the_owner_is_the_fixture_reset() -> None:
    error = error_of(library(reset(inputs=api_inputs())))
    assert error is not None
    assert error.detail.startswith("the fixture reset does not supply")


def twins(second: Any) -> Any:
    """Two reads of one operation, compared by one oracle; the second binds what is given."""
    return library(
        put("/interactionPlan/1/inputBinding", api_binding(path={"id": lit("x1")})),
        add("/interactionPlan/-", step("again", "get-loan", inputBinding=second)),
        put("/oracles", [oracle(1, eq(p("read/response-body/loanId"), p("again/response-body/loanId")))]),
    )


def test_s15_two_steps_that_bind_the_same_are_irreducible() -> None:
    error = error_of(twins(api_binding(path={"id": lit("x1")})))
    assert error is not None
    assert f"{error.code} @ {error.artifact_path}" == (
        "irreducible-step-reference @ EvalContract.oracles[id=O-001].direction.evidenceTargets"
    )
    assert 'operation "get-loan"' in error.detail
    assert verdict(twins(api_binding(path={"id": lit("x2")}))) == "ok"
    assert verdict(twins(api_binding(path={"id": {"matcher": "any"}}))) == "ok"
    assert verdict(twins(api_binding())) == "ok"


def test_s15_only_the_steps_of_one_direction_are_compared() -> None:
    apart = twins(api_binding(path={"id": lit("x1")}))
    apart["oracles"] = [oracle(1, exists("read/response-body/loanId")), oracle(2, exists("again/response-body/loanId"))]
    assert verdict(apart) == "ok"


def test_s15_a_direction_without_targets_is_skipped_here() -> None:
    assert verdict(library(put("/oracles/0/direction/evidenceTargets", []))) == "ok"


def test_s15_another_error_of_the_renderer_is_a_bug_and_passes_through() -> None:
    from eval_quality.core.compile.entry import read_contract
    from eval_quality.core.compile.steps import step_references
    from eval_quality.core.compile.survey import Survey
    from eval_quality.core.direction.precondition import PreconditionError

    lost = library(put("/oracles/0/direction/evidenceTargets", ["/interactions/nowhere/stdout"]))
    with pytest.raises(PreconditionError):
        step_references(Survey(read_contract(lost)))
    undirected = library(put("/oracles/0/direction", None))
    assert step_references(Survey(read_contract(undirected))) is None


def test_s15_an_oracle_without_targets_does_not_hide_the_next() -> None:
    document = twins(api_binding(path={"id": lit("x1")}))
    document["oracles"].insert(0, oracle(2, exists("read/response-body/loanId"), []))
    assert verdict(document) == (
        "irreducible-step-reference @ EvalContract.oracles[id=O-001].direction.evidenceTargets"
    )


def test_s14_3_8_volatility_is_about_the_described_channel_of_a_command() -> None:
    sent = [cli_inputs(option={"o": value}) for value in "ab"]
    document = command_contract(
        put(f"{OPERATION}/requestShape/option", keys({"o": "string"})),
        put(f"{OPERATION}/volatilePointers", ["/count"]),
        put(f"{OPERATION}/sensitivityWitness", witness("option", sent[0], sent[1], "stdout/count")),
    )
    assert verdict(document) == f"{UNREACHABLE} @ {RELATION}.operands[0].operands[0]"


def test_s14_1_an_operation_without_inputs_does_not_hide_the_next() -> None:
    quiet = api_operation("quiet", "GET", "/quiet")
    document = library(add("/permittedInterfaces/0/operations/0", quiet), put("/fixtureReset", None))
    document["permittedInterfaces"][0]["operations"][2]["sensitivityWitness"] = None
    assert verdict(document) == f"{UNDECLARED} @ EvalContract.permittedInterfaces[0].operations[2]"
