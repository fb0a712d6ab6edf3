"""Reduction (spec 06 §6.6): binding, the six checks with their exact notes, and the verdict."""

import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eval_quality.core.preflight.evidence import build_evidence
from eval_quality.core.preflight.projection import project
from eval_quality.core.preflight.session import Answer, answered_alike
from eval_quality.errors import RuntimeFault
from eval_quality.model.decode import decode
from eval_quality.model.ports import ProbeObservation
from support.preflight import (
    ABSENT_BODY,
    NO_INPUTS,
    api,
    api_answer,
    body_of,
    cli,
    cli_answer,
    contract,
    interface,
    manifestation,
    mcp,
    mcp_answer,
    plan_of,
    probe,
    required,
    results,
    verdict_of,
    witness,
)
from support.shop import BROKEN, ONE, TWO, shop, shop_answers, shop_probe

FIRST, LAST = "preflight-control-observe", "preflight-control-observe-2"
SATISFIED = [("satisfied", None)]


def json_body(value: Any) -> dict[str, Any]:
    return {"kind": "json", "value": value}


def ping(**members: Any) -> dict[str, Any]:
    """A contract with one readable HTTP operation without inputs."""
    return contract(interface("api", "shop", api("get-item", **members)))


def observes(first: Any, last: Any, **members: Any) -> list[dict[str, Any]]:
    """The answers of the two observe legs."""
    return [api_answer(FIRST, first, **members), api_answer(LAST, last, **members)]


def fault(value: Any, probes: list[Any], observations: list[Any], run_id: str = "run-1") -> RuntimeFault:
    with pytest.raises(RuntimeFault) as caught:
        verdict_of(value, probes, observations, run_id)
    assert caught.value.artifact_path == "PreflightVerdict"
    return caught.value


# §6.6.1


@pytest.mark.parametrize("leg", [FIRST, "nobody-planned-this"])
def test_s6_6_1_step_1_two_observations_for_one_id(leg: str) -> None:
    raised = fault(ping(), [], [*observes(1, 1), api_answer(leg, 1), api_answer(leg, 1)])
    assert raised.code == "port-contract-violation"
    assert f'"{leg}"' in raised.detail


def test_s6_6_1_step_2_an_answer_of_another_kind() -> None:
    raised = fault(ping(), [], [api_answer(FIRST, 1), cli_answer(LAST, "get-item")])
    assert raised.code == "port-contract-violation"
    assert f'leg "{LAST}" asked for a "api"' in raised.detail
    assert '"cli"' in raised.detail


def test_s6_6_1_step_3_observations_of_no_leg_are_ignored() -> None:
    plain = verdict_of(ping(), [], observes(1, 1))
    assert verdict_of(ping(), [], [*observes(1, 1), cli_answer("stray", "other")]) == plain


@pytest.mark.parametrize("observations", [[], [api_answer("stray", 1)]])
def test_s6_6_1_step_4_no_answer_at_all(observations: list[Any]) -> None:
    raised = fault(ping(), [], observations)
    assert raised.code == "port-contract-violation"
    assert "2 planned leg(s)" in raised.detail


def test_s6_6_1_the_order_of_the_observations_never_matters() -> None:
    answers = shop_answers({"broken": True}, {"broken": False})
    expected = verdict_of(shop(), [shop_probe()], answers)
    for seed in range(10):
        shuffled = list(answers)
        random.Random(seed).shuffle(shuffled)
        assert verdict_of(shop(), [shop_probe()], shuffled) == expected


# §6.6.2 interface-present


@pytest.mark.parametrize("changes", [{"interfaceId": "other"}, {"operationId": "other"}])
def test_s6_6_2_interface_present_an_echo_of_another_identifier_fails_only_that_check(changes: Any) -> None:
    answers = [api_answer(FIRST, 1, **changes), api_answer(LAST, 1, **changes)]
    verdict = verdict_of(ping(), [], answers)
    note = f'leg "{FIRST}" echoed an identifier the request did not carry'
    assert results(verdict, "interface-present") == [("failed", note)]
    assert results(verdict, "state-reset") == SATISFIED
    assert results(verdict, "clean-control") == SATISFIED


def test_s6_6_2_interface_present_names_the_first_leg_that_is_wrong() -> None:
    verdict = verdict_of(ping(), [], [api_answer(FIRST, 1, operationId="other")])
    assert results(verdict, "interface-present")[0][1] == (
        f'leg "{FIRST}" echoed an identifier the request did not carry'
    )
    verdict = verdict_of(ping(), [], [api_answer(LAST, 1, operationId="other")])
    assert results(verdict, "interface-present")[0][1] == f'leg "{FIRST}" produced no observation'


# §6.6.2 input-sensitivity


def sensitive(relation: Any, **members: Any) -> dict[str, Any]:
    operation = api(
        "get-item", path_keys=required("id"), witness=witness(("a", ONE), ("b", TWO), relation=relation), **members
    )
    return contract(interface("api", "shop", operation))


DIFFER = {"op": "not", "operands": [{"op": "deep-equality", "operands": [body_of("a"), body_of("b")]}]}


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ({"k": 1}, {"k": 2}, SATISFIED),
        ({"k": 1}, {"k": 1}, [("failed", "The witness relation resolved false.")]),
        ([], [1], [("failed", "The witness relation resolved insufficient-evidence.")]),
    ],
)
def test_s6_6_2_input_sensitivity_resolves_the_relation_over_both_legs(first: Any, second: Any, expected: Any) -> None:
    answers = [api_answer("a", first), api_answer("b", second), *observes(0, 0)]
    assert results(verdict_of(sensitive(DIFFER), [], answers), "input-sensitivity") == expected


@pytest.mark.parametrize("missing", ["a", "b"])
def test_s6_6_2_input_sensitivity_the_first_unanswered_leg(missing: str) -> None:
    answers = [api_answer(leg, leg) for leg in ("a", "b") if leg != missing]
    verdict = verdict_of(sensitive(DIFFER), [], answers)
    note = f'witness leg "{missing}" produced no observation'
    assert results(verdict, "input-sensitivity") == [("failed", note)]


def test_s6_6_2_input_sensitivity_without_a_witness() -> None:
    value = contract(interface("api", "shop", api("get-item"), api("needs", path="/n", query=required("q"))))
    assert results(verdict_of(value, [], observes(1, 1)), "input-sensitivity") == [
        ("exempt", "The operation declares no inputs in any channel."),
        ("failed", "The operation declares request keys and no sensitivity witness."),
    ]


@pytest.mark.parametrize(
    "shape",
    [
        {"requiredKeys": [], "permittedKeys": ["q"], "types": {}},
        {"requiredKeys": [], "permittedKeys": [], "types": {"q": None}},
    ],
)
def test_s6_2_2_any_declared_key_ends_the_exemption(shape: Any) -> None:
    verdict = verdict_of(ping(query=shape), [], observes(1, 1))
    assert results(verdict, "input-sensitivity")[0][0] == "failed"
    assert len(results(verdict, "state-reset")) == 1


def test_s6_4_4_a_relation_uses_the_operations_own_collections() -> None:
    gone = {"op": "absence", "operands": [body_of("a", "/rows")]}
    answers = [api_answer("a", {}), api_answer("b", {}), *observes(0, 0)]
    assert results(verdict_of(sensitive(gone), [], answers), "input-sensitivity") == SATISFIED
    verdict = verdict_of(sensitive(gone, collections=["/rows"]), [], answers)
    note = "The witness relation resolved insufficient-evidence."
    assert results(verdict, "input-sensitivity") == [("failed", note)]


def test_s6_4_4_a_relation_sees_reference_sets_headers_status_and_what_was_sent() -> None:
    member = {"op": "set-membership", "operands": [body_of("a"), {"referenceSet": "ids"}]}
    header = {"op": "equality", "operands": [{"pointer": "/interactions/a/response-headers/x"}, {"literal": "y"}]}
    status = {"op": "equality", "operands": [{"pointer": "/interactions/b/response-status"}, {"literal": 201}]}
    sent = {"op": "equality", "operands": [{"pointer": "/interactions/b/call-inputs/path/id"}, {"literal": "2"}]}
    value = {
        **sensitive({"op": "all", "operands": [member, header, status, sent]}),
        "referenceSets": {"ids": {"keys": ["id"], "members": [{"id": 7}], "commentary": None}},
    }
    answers = [api_answer("a", 7, headers={"x": "y"}), api_answer("b", 8, status=201), *observes(0, 0)]
    assert results(verdict_of(value, [], answers), "input-sensitivity") == SATISFIED


def test_s6_4_4_a_relation_has_a_million_regex_steps() -> None:
    long = {"op": "regex", "operands": [body_of("a")], "pattern": "^a*$"}
    answers = [api_answer("a", "a" * 500_000), api_answer("b", 1), *observes(0, 0)]
    assert results(verdict_of(sensitive(long), [], answers), "input-sensitivity") == SATISFIED
    answers[0] = api_answer("a", "a" * 500_001)
    assert fault(sensitive(long), [], answers).code == "budget-exhausted"


# §6.6.2 state-reset


@pytest.mark.parametrize(
    ("first", "last", "same"),
    [
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, True),
        ({"a": 1}, {"a": 1.0}, True),
        ({"a": 1}, {"a": 2}, False),
        ([1, 2], [2, 1], False),
    ],
)
def test_s6_6_2_state_reset_compares_projections(first: Any, last: Any, same: bool) -> None:
    verdict = verdict_of(ping(), [], observes(first, last))
    expected = SATISFIED if same else [("failed", f'the projections of "{FIRST}" and "{LAST}" differ')]
    assert results(verdict, "state-reset") == expected


@pytest.mark.parametrize(("changes", "same"), [({"status": 201}, False), ({"headers": {"date": "now"}}, True)])
def test_s6_6_2_state_reset_the_status_counts_and_headers_do_not(changes: Any, same: bool) -> None:
    verdict = verdict_of(ping(), [], [api_answer(FIRST, 1), api_answer(LAST, 1, **changes)])
    assert (results(verdict, "state-reset") == SATISFIED) is same


@pytest.mark.parametrize("missing", [FIRST, LAST])
def test_s6_6_2_state_reset_an_unanswered_leg(missing: str) -> None:
    answers = [answer for answer in observes(1, 1) if answer["probeId"] != missing]
    note = "a control-observe leg produced no observation"
    assert results(verdict_of(ping(), [], answers), "state-reset") == [("failed", note)]


def test_s6_6_2_state_reset_a_value_without_a_canonical_form_is_a_fault() -> None:
    assert fault(ping(), [], observes(2**53, 1)).code == "non-canonicalizable-value"
    assert fault(ping(), [], observes(1, 2**53)).code == "non-canonicalizable-value"


BIG_ELSEWHERE = {"id": 1, "noise": 1}


@pytest.mark.parametrize(
    ("pointers", "first", "last", "same"),
    [
        ([], {"a": 1}, {"a": 2}, True),
        ([], {"kind": "text"}, None, True),
        (["/a"], {"a": 1, "b": 1}, {"a": 1, "b": 2}, True),
        (["/a"], {"a": 1}, {"a": 2}, False),
        (["/a"], {"a": None}, {}, False),
        (["/a"], {}, {"b": 1}, True),
        (["/a/0"], {"a": [1, 2]}, {"a": [1, 3]}, True),
        ([""], {"a": 1}, {"a": 1, "b": 2}, False),
        ([""], {"a": 1, "b": 2}, {"b": 2, "a": 1}, True),
        (["/rows/*/id"], {"rows": [{"id": 1, "v": 1}]}, {"rows": [{"id": 1, "v": 2}]}, True),
        (["/rows/*/id"], {"rows": [{"id": 1}]}, {"rows": [{"id": 2}]}, False),
        (["/rows/*/id"], {"rows": [{"id": 1}]}, {"rows": [{"id": 1}, {"id": 2}]}, False),
        (["/rows/*/id"], {"rows": [{"id": 1}, {"v": 2}]}, {"rows": [{"id": 1}]}, True),
        (["/rows/*/id"], {"rows": [{"v": 1}, {"id": 1}]}, {"rows": [{"id": 1}]}, False),
        (["/rows/*/id"], {"rows": []}, {}, True),
        (["/*"], {"a": 1}, {"b": 1}, False),
        (["/a", "/b"], {"a": 1, "b": 2}, {"a": 2, "b": 1}, False),
    ],
)
def test_s6_6_2_state_reset_pointers_narrow_the_state(pointers: list[str], first: Any, last: Any, same: bool) -> None:
    verdict = verdict_of(ping(stateResetPointers=pointers), [], observes(first, last))
    expected = SATISFIED if same else [("failed", f'the projections of "{FIRST}" and "{LAST}" differ')]
    assert results(verdict, "state-reset") == expected


TEXT, OTHER_TEXT = {"kind": "text", "value": "a"}, {"kind": "text", "value": "b"}


@pytest.mark.parametrize(
    ("pointers", "first", "last", "same"),
    [
        ([], json_body(1), ABSENT_BODY, True),
        (["/a"], json_body({}), ABSENT_BODY, False),
        (["/a"], json_body({}), TEXT, False),
        (["/a"], TEXT, OTHER_TEXT, True),
        (["/*"], TEXT, OTHER_TEXT, True),
        ([""], TEXT, OTHER_TEXT, False),
        ([""], TEXT, TEXT, True),
        ([""], ABSENT_BODY, ABSENT_BODY, True),
        ([""], json_body("a"), TEXT, False),
    ],
)
def test_s6_6_2_state_reset_pointers_over_bodies_of_other_kinds(
    pointers: list[str], first: Any, last: Any, same: bool
) -> None:
    answers = [api_answer(FIRST, body=first), api_answer(LAST, body=last)]
    verdict = verdict_of(ping(stateResetPointers=pointers), [], answers)
    assert (results(verdict, "state-reset") == SATISFIED) is same


@pytest.mark.parametrize("pointers", [[], ["/a"]])
def test_s6_6_2_state_reset_pointers_always_compare_the_transport_fields(pointers: list[str]) -> None:
    for changes in ({"status": 201}, {"operationId": "other"}):
        answers = [api_answer(FIRST, {"a": 1}), api_answer(LAST, {"a": 1}, **changes)]
        verdict = verdict_of(ping(stateResetPointers=pointers), [], answers)
        assert results(verdict, "state-reset")[0][0] == "failed"


def test_s6_6_2_state_reset_pointers_read_the_pruned_body_and_leave_the_digest_whole() -> None:
    value = ping(stateResetPointers=["/a"], volatile=["/a/at"])
    one = verdict_of(value, [], observes({"a": {"at": 1}, "b": 1}, {"a": {"at": 2}, "b": 2}))
    assert results(one, "state-reset") == SATISFIED
    other = verdict_of(value, [], observes({"a": {"at": 1}, "b": 1}, {"a": {"at": 2}, "b": 3}))
    assert one["fixtureDigest"] != other["fixtureDigest"]


# §6.6.2 clean-control


@pytest.mark.parametrize(("status", "anomaly"), [(399, None), (400, "status 400"), (503, "status 503")])
def test_s6_6_2_clean_control_of_http(status: int, anomaly: str | None) -> None:
    verdict = verdict_of(ping(), [], [api_answer(FIRST, 1), api_answer(LAST, 1, status=status)])
    expected = SATISFIED if anomaly is None else [("failed", f'control leg "{LAST}" observed {anomaly}')]
    assert results(verdict, "clean-control") == expected


@pytest.mark.parametrize(("exit_code", "anomaly"), [(0, None), (1, "exit code 1"), (-9, "exit code -9")])
def test_s6_6_2_clean_control_of_commands(exit_code: int, anomaly: str | None) -> None:
    value = contract(interface("cli", "tool", cli("list")))
    verdict = verdict_of(value, [], [cli_answer(leg, "list", exitCode=exit_code) for leg in (FIRST, LAST)])
    expected = SATISFIED if anomaly is None else [("failed", f'control leg "{FIRST}" observed {anomaly}')]
    assert results(verdict, "clean-control") == expected


@pytest.mark.parametrize(
    ("members", "anomaly"),
    [
        ({}, None),
        ({"isError": True}, "tool error"),
        ({"isError": True, "exitCode": -15}, "tool error: the server exited with code -15 before answering"),
    ],
)
def test_s6_6_2_clean_control_of_tools(members: Any, anomaly: str | None) -> None:
    value = contract(interface("mcp", "server", mcp("list")))
    verdict = verdict_of(value, [], [mcp_answer(leg, "list", **members) for leg in (FIRST, LAST)])
    expected = SATISFIED if anomaly is None else [("failed", f'control leg "{FIRST}" observed {anomaly}')]
    assert results(verdict, "clean-control") == expected


def test_s6_6_2_clean_control_names_the_first_bad_leg() -> None:
    verdict = verdict_of(ping(), [], [api_answer(LAST, 1, status=500)])
    note = f'control leg "{FIRST}" produced no observation'
    assert results(verdict, "clean-control") == [("failed", note)]


def test_s6_6_2_clean_control_never_reads_witness_and_fault_legs() -> None:
    clean = {"broken": False}
    answers = shop_answers(
        clean, {"x": 1}, w_a=api_answer("w-a", clean, status=404), f_1=api_answer("f-1", 1, status=500)
    )
    assert results(verdict_of(shop(), [shop_probe()], answers), "clean-control") == SATISFIED


# §6.6.2 seeded-faults-scoped


def scoped(verdict: dict[str, Any]) -> list[tuple[str, str | None]]:
    return results(verdict, "seeded-faults-scoped")


def test_s6_6_2_scoped_an_operation_without_another_leg() -> None:
    value = contract(interface("api", "shop", api("write", path="/w", changes=True), api("get-item")))
    relation = {"op": "existence", "operands": [body_of("f-1")]}
    seeded = probe(manifestation("f-1", "shop", "write", NO_INPUTS, relation))
    verdict = verdict_of(value, [seeded], [*observes(1, 1), api_answer("f-1", 1, operationId="write")])
    note = (
        "D-001: the operation has no leg besides the fault leg, so nothing here establishes that the defect is "
        "scoped to it"
    )
    assert scoped(verdict) == [("failed", note)]


def test_s6_6_2_scoped_every_dropped_leg_is_named_in_order() -> None:
    relation = {"op": "existence", "operands": [body_of("f-1")]}
    seeded = probe(manifestation("f-1", "shop", "get-item", NO_INPUTS, relation))
    verdict = verdict_of(ping(), [seeded], [*observes(1, 1), api_answer("f-1", 1)])
    note = (
        "D-001: every other leg of the operation issued the fault leg's own request and received its answer "
        f'("{FIRST}", "{LAST}"), so nothing here establishes that the defect is scoped to it'
    )
    assert scoped(verdict) == [("failed", note)]


FIRES = {"op": "equality", "operands": [body_of("f-1", "/broken"), {"literal": True}]}


def quietly(one: Any, fault_answer: Any, **changes: Any) -> list[tuple[str, str | None]]:
    seeded = probe(manifestation("f-1", "shop", "get-item", NO_INPUTS, FIRES))
    answers = [*observes(one, one, **changes), api_answer("f-1", fault_answer)]
    return scoped(verdict_of(ping(volatile=["/at"]), [seeded], answers))


def test_s6_6_3_the_same_question_answered_otherwise_stays_examined() -> None:
    assert quietly({"broken": False}, {"broken": True}) == [("satisfied", "D-001")]


def test_s6_6_3_another_question_with_the_same_answer_stays_examined() -> None:
    missing = {"broken": True}
    verdict = verdict_of(shop(), [shop_probe(inputs=TWO)], shop_answers(missing, missing))
    assert scoped(verdict) == [("failed", 'D-001: the manifestation witness fires on clean leg "w-a"')]


def test_s6_6_3_volatile_members_are_no_difference_and_headers_are() -> None:
    note = 'D-001: the manifestation witness fires on clean leg "preflight-control-observe"'
    assert quietly({"broken": True, "at": 1}, {"broken": True, "at": 2})[0][0] == "failed"
    assert '("preflight-control-observe"' in str(quietly({"broken": True, "at": 1}, {"broken": True, "at": 2})[0][1])
    assert quietly({"broken": True}, {"broken": True}, headers={"date": "now"}) == [("failed", note)]
    assert quietly({"broken": True}, {"broken": True}, status=201) == [("failed", note)]


def test_s6_6_3_a_value_without_a_canonical_form_is_unlike_everything() -> None:
    """Both bodies are equal and outside the domain; the legs are examined, then the digest raises the fault."""
    odd = {"broken": True, "n": 2**53}
    seeded = probe(manifestation("f-1", "shop", "get-item", NO_INPUTS, FIRES))
    answers = [*observes(odd, odd), api_answer("f-1", odd)]
    raised = fault(ping(stateResetPointers=[]), [seeded], answers)
    assert raised.code == "non-canonicalizable-value"
    alike = answered_alike(*_answers_of(plan_of(ping(), seeded), answers, (FIRST, "f-1")))
    assert alike is False


def _answers_of(plan: Any, observations: list[Any], legs: tuple[str, str]) -> Any:
    found = []
    for wanted in legs:
        leg = next(each for each in plan.legs if each.leg_id == wanted)
        plain = next(each for each in observations if each["probeId"] == wanted)
        seen = decode(ProbeObservation, plain, "ProbeObservation")
        projection = project(seen, leg.operation)
        found.append(Answer(leg, seen, projection, build_evidence(leg.inputs, leg.operation, seen, projection)))
    return found


def test_s6_6_2_scoped_unanswered_legs_are_examined_and_say_nothing() -> None:
    seeded = probe(manifestation("f-1", "shop", "get-item", NO_INPUTS, FIRES))
    only_fault = verdict_of(ping(), [seeded], [api_answer("f-1", {"broken": True})])
    assert scoped(only_fault) == [("satisfied", "D-001")]
    assert results(only_fault, "interface-present")[0][0] == "failed"


def test_s6_6_2_scoped_an_unanswered_fault_leg_drops_nothing() -> None:
    seeded = probe(manifestation("f-1", "shop", "get-item", NO_INPUTS, FIRES))
    verdict = verdict_of(ping(), [seeded], observes({"broken": False}, {"broken": False}))
    assert scoped(verdict) == [("satisfied", "D-001")]
    verdict = verdict_of(ping(), [seeded], observes({"broken": True}, {"broken": True}))
    assert scoped(verdict) == [("failed", f'D-001: the manifestation witness fires on clean leg "{FIRST}"')]


@pytest.mark.parametrize("clean", [{"broken": False}, {"broken": []}, {}])
def test_s6_6_2_scoped_false_and_insufficient_evidence_are_both_fine(clean: Any) -> None:
    assert quietly(clean, {"broken": True}) == [("satisfied", "D-001")]


# §6.6.2 seeded-fault-fired


def fired(verdict: dict[str, Any]) -> list[tuple[str, str | None]]:
    return results(verdict, "seeded-fault-fired")


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ({"broken": True}, ("satisfied", "D-001")),
        ({"broken": False}, ("failed", "D-001: the manifestation witness resolved false on its own fault leg")),
        (
            {"broken": []},
            ("failed", "D-001: the manifestation witness resolved insufficient-evidence on its own fault leg"),
        ),
    ],
)
def test_s6_6_2_fired(answer: Any, expected: tuple[str, str]) -> None:
    seeded = probe(manifestation("f-1", "shop", "get-item", NO_INPUTS, FIRES))
    assert fired(verdict_of(ping(), [seeded], [*observes(1, 1), api_answer("f-1", answer)])) == [expected]


def test_s6_6_2_fired_an_unanswered_fault_leg() -> None:
    seeded = probe(manifestation("f-1", "shop", "get-item", NO_INPUTS, FIRES))
    verdict = verdict_of(ping(), [seeded], observes(1, 1))
    assert fired(verdict) == [("failed", "D-001: the fault leg produced no observation")]


def test_s6_6_2_fired_without_a_witness_there_is_nothing_to_scope() -> None:
    verdict = verdict_of(ping(), [probe(None)], observes(1, 1))
    note = "D-001: the defect declares no manifestation witness, so it cannot be observed to fire"
    assert fired(verdict) == [("failed", note)]
    assert scoped(verdict) == []
    check = verdict["checks"][-1]
    assert (check["interfaceId"], check["operationId"]) == (None, None)


def test_s6_6_2_the_two_seeded_checks_are_independent() -> None:
    verdict = verdict_of(shop(), [shop_probe()], shop_answers({"broken": False}, {"broken": True}))
    assert scoped(verdict)[0][0] == "failed"
    assert fired(verdict)[0][0] == "failed"
    assert BROKEN["op"] == "equality"


# §6.6.4


@pytest.mark.parametrize(
    ("pattern", "code"), [("^($", "operator-cannot-accept-operand"), ("^(?:a+)+$", "budget-exhausted")]
)
def test_s6_6_4_a_broken_relation_is_no_verdict(pattern: str, code: str) -> None:
    broken = {"op": "regex", "operands": [body_of("a")], "pattern": pattern}
    answers = [api_answer("a", "text"), api_answer("b", 1), *observes(1, 1)]
    assert fault(sensitive(broken), [], answers).code == code


# §6.7


LEGS = tuple(answer["probeId"] for answer in shop_answers({}, {}))


@settings(max_examples=40, deadline=None)
@given(
    st.dictionaries(st.sampled_from(LEGS), st.sampled_from([{"broken": True}, {"broken": False}, [], None])),
    st.sets(st.sampled_from(LEGS), max_size=len(LEGS) - 1),
)
def test_s6_7_laws_of_every_verdict(bodies: dict[str, Any], missing: set[str]) -> None:
    answers = [
        {**answer, "body": json_body(bodies.get(answer["probeId"], {"broken": False}))}
        for answer in shop_answers({}, {})
        if answer["probeId"] not in missing
    ]
    verdict = verdict_of(shop(), [shop_probe()], answers)
    # One result for each planned check, in plan order, and the same verdict for the same answers in any order.
    assert len(verdict["checks"]) == 10
    assert verdict == verdict_of(shop(), [shop_probe()], answers[::-1])
    # A verdict passes exactly when nothing failed, and nothing is satisfied by a leg that nobody answered.
    assert verdict["passed"] is all(check["outcome"] != "failed" for check in verdict["checks"])
    assert not (missing and verdict["passed"])
    # The fixture digest is a function of what was projected, and of nothing else.
    decorated = [{**answer, "headers": {"date": "now"}} for answer in answers]
    assert verdict_of(shop(), [shop_probe()], decorated)["fixtureDigest"] == verdict["fixtureDigest"]


def test_s6_7_a_verdict_fails_exactly_when_a_check_does() -> None:
    exempt = verdict_of(ping(), [], observes(1, 1))
    assert {check["outcome"] for check in exempt["checks"]} == {"satisfied", "exempt"}
    assert exempt["passed"] is True
    assert verdict_of(ping(), [], observes(1, 2))["passed"] is False


def test_s6_7_the_run_id_is_echoed_and_an_empty_one_does_not_parse() -> None:
    assert verdict_of(ping(), [], observes(1, 1), " run é ")["runId"] == " run é "
    assert fault(ping(), [], observes(1, 1), "").code == "schema-parse-failure"
