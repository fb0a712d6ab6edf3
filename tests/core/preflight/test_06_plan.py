"""Planning (spec 06 §6.2, §6.3)."""

from typing import Any

import pytest

from eval_quality.core.preflight.plan import (
    InputSensitivity,
    InterfacePresent,
    SeededFaultFired,
    SeededFaultsScoped,
    plan_preflight,
)
from eval_quality.core.preflight.request import build_request
from eval_quality.errors import RuntimeFault, StructuralFailure
from eval_quality.model.binding import WitnessInputs
from eval_quality.model.contract import EvalContract
from eval_quality.model.decode import decode, decode_list, to_value
from eval_quality.model.probe import Probe
from support.preflight import (
    ABSENT_BODY,
    NO_CLI_INPUTS,
    NO_INPUTS,
    api,
    bodies_differ,
    body_of,
    clean_probe,
    cli,
    contract,
    interface,
    manifestation,
    mcp,
    plan_of,
    probe,
    required,
    step,
    witness,
)
from support.shop import ONE, RESET, shop, shop_probe

ONE_OF_TWO = witness(("a", {**NO_INPUTS, "path": {"id": "1"}}), ("b", {**NO_INPUTS, "path": {"id": "2"}}))


def refused(value: Any, *probes: Any) -> tuple[str, str, str]:
    with pytest.raises(StructuralFailure) as caught:
        plan_of(value, *probes)
    return caught.value.code, caught.value.artifact_path, caught.value.detail


def leg_ids(value: Any, *probes: Any) -> list[str]:
    return [leg.leg_id for leg in plan_of(value, *probes).legs]


# §6.3.1 steps 1 to 3


def test_s6_3_1_step_1_a_probe_of_another_stamp_is_a_fault_in_list_order() -> None:
    declared = decode(EvalContract, shop(), "EvalContract")
    stale = [{**shop_probe(), "schemaVersion": 5, "probeId": "P-007"}, {**shop_probe(), "schemaVersion": 4}]
    probes = decode_list(Probe, [clean_probe(), *stale], "Probe")
    with pytest.raises(RuntimeFault, match='carries "schemaVersion" 5 where this build reads 6') as caught:
        plan_preflight(declared, probes)
    assert caught.value.code == "schema-version-mismatch"
    assert caught.value.artifact_path == "Probe[probeId=P-007].schemaVersion"


def test_s6_3_1_step_2_interface_identifiers_are_unique() -> None:
    twice = contract(interface("api", "svc", api("ping")), interface("web", "svc"))
    assert refused(twice)[:2] == (
        "duplicate-interface-identifier",
        "EvalContract.permittedInterfaces[1].logicalId",
    )


def test_s6_3_1_step_3_every_interface_kind_is_supported() -> None:
    code, path, detail = refused(contract(interface("api", "svc", api("ping")), interface("web", "page")))
    assert (code, path) == (
        "unsupported-interface-kind",
        "EvalContract.permittedInterfaces[logicalId=page].kind",
    )
    assert '"web"' in detail
    assert '"api", "cli" and "mcp"' in detail


# §6.3.1 step 4


def test_s6_3_1_step_4_every_operation_has_a_sensitivity_check_and_each_witness_two_legs() -> None:
    value = contract(
        interface("api", "svc", api("first", path_keys=required("id"), witness=ONE_OF_TWO), api("second")),
        interface("mcp", "server", mcp("third", arguments=required("q"))),
    )
    plan = plan_of(value)
    checks = [check for check in plan.checks if isinstance(check, InputSensitivity)]
    assert [(c.interface_id, c.operation.operation_id, c.witness is not None) for c in checks] == [
        ("svc", "first", True),
        ("svc", "second", False),
        ("server", "third", False),
    ]
    assert [leg.path for leg in plan.legs[:2]] == [
        "EvalContract.permittedInterfaces[0].operations[0].sensitivityWitness.legs[0].legId",
        "EvalContract.permittedInterfaces[0].operations[0].sensitivityWitness.legs[1].legId",
    ]


# §6.3.1 step 6


def test_s6_3_1_step_6_clean_legs_are_those_registered_so_far_for_the_pair() -> None:
    later = manifestation("f-2", "shop", "get-item", ONE, {"op": "existence", "operands": [body_of("f-2")]})
    first, second = shop_probe(), probe(later, probe_id="P-002")
    checks = [check for check in plan_of(shop(), first, second).checks if isinstance(check, SeededFaultsScoped)]
    assert checks[1].clean_leg_ids == (*checks[0].clean_leg_ids, "f-1")


def test_s6_3_1_step_6_equal_operation_ids_on_two_interfaces_share_no_leg() -> None:
    relation = {"op": "existence", "operands": [body_of("f-1")]}
    value = contract(interface("api", "one", api("ping")), interface("api", "two", api("ping", path="/two")))
    plan = plan_of(value, probe(manifestation("f-1", "two", "ping", NO_INPUTS, relation)))
    scoped = [check for check in plan.checks if isinstance(check, SeededFaultsScoped)]
    assert scoped[0].clean_leg_ids == ()
    present = [check for check in plan.checks if isinstance(check, InterfacePresent)]
    assert [(check.interface_id, len(check.leg_ids)) for check in present] == [("one", 2), ("two", 1)]


def test_s6_3_1_step_6_a_clean_probe_plans_nothing_and_a_witnessless_defect_one_check() -> None:
    plan = plan_of(shop(), clean_probe(), probe(None))
    assert [check for check in plan.checks if isinstance(check, SeededFaultsScoped)] == []
    fired = [check for check in plan.checks if isinstance(check, SeededFaultFired)]
    assert fired == [SeededFaultFired("D-001", None)]
    assert leg_ids(shop(), clean_probe(), probe(None)) == leg_ids(shop())


@pytest.mark.parametrize(("interface_id", "operation_id"), [("other", "get-item"), ("shop", "other")])
def test_s6_3_1_step_6_an_undeclared_pair(interface_id: str, operation_id: str) -> None:
    lost = manifestation("f-1", interface_id, operation_id, ONE, {"op": "existence", "operands": [body_of("f-1")]})
    code, path, detail = refused(shop(), probe(lost))
    assert code == "unreachable-check-evidence"
    assert path == "Probe[probeId=P-001].defects[defectId=D-001].manifestationWitness"
    assert f'"{interface_id}"' in detail
    assert f'"{operation_id}"' in detail


@pytest.mark.parametrize(
    ("inputs", "detail"),
    [
        (NO_INPUTS, '"id"'),
        ({**ONE, "query": {"z": 1}}, '"z"'),
        (NO_CLI_INPUTS, "command"),
        ({"arguments": {}}, "tool-call"),
    ],
)
def test_s6_2_4_a_manifestation_witness_sends_what_its_operation_declares(inputs: Any, detail: str) -> None:
    value = manifestation("f-1", "shop", "get-item", inputs, {"op": "existence", "operands": [body_of("f-1")]})
    code, path, text = refused(shop(), probe(value))
    assert code == "undeclared-mandatory-input"
    assert path == "Probe[probeId=P-001].defects[defectId=D-001].manifestationWitness.inputs"
    assert text.startswith("the manifestation witness of D-001 ")
    assert detail in text


@pytest.mark.parametrize(("keys", "count"), [((), "0"), (("a", "b"), "2")])
def test_s6_2_4_text_on_standard_input_fills_exactly_one_key(keys: tuple[str, ...], count: str) -> None:
    text = {**NO_CLI_INPUTS, "stdin": {"kind": "text", "value": "x"}}
    relation = {"op": "existence", "operands": [{"pointer": "/interactions/f-1/exit-code"}]}
    value = contract(interface("cli", "tool", cli("read", stdin=required(*keys)), cli("list")))
    code, _, detail = refused(value, probe(manifestation("f-1", "tool", "read", text, relation)))
    assert code == "undeclared-mandatory-input"
    assert f"requires {count} keys" in detail


def test_s6_2_4_raw_bodies_are_not_read() -> None:
    raw = {**NO_INPUTS, "body": {"kind": "raw", "base64": "", "contentType": "text/plain"}}
    relation = {"op": "existence", "operands": [body_of("f-1")]}
    value = contract(interface("api", "svc", api("read", body=required("k")), api("list")))
    assert "f-1" in leg_ids(value, probe(manifestation("f-1", "svc", "read", raw, relation)))


# §6.3.1 steps 7 to 10


def test_s6_3_1_step_7_the_first_repeated_leg_id() -> None:
    again = manifestation("w-a", "shop", "get-item", ONE, {"op": "existence", "operands": [body_of("w-a")]})
    code, path, detail = refused(shop(), probe(again))
    assert code == "malformed-operator-expression"
    assert path == "Probe[probeId=P-001].defects[defectId=D-001].manifestationWitness.legId"
    assert '"w-a"' in detail


def test_s6_3_1_step_7_a_reset_leg_and_a_sensitivity_leg_can_repeat_as_well() -> None:
    code, path, _ = refused(shop(fixtureReset={**RESET, "legId": "p-a"}))
    assert (code, path) == ("malformed-operator-expression", "EvalContract.fixtureReset.legId")
    twice = witness(("a", ONE), ("a", ONE))
    value = contract(interface("api", "svc", api("read", path_keys=required("id"), witness=twice)))
    assert refused(value)[1] == "EvalContract.permittedInterfaces[0].operations[0].sensitivityWitness.legs[1].legId"


def test_s6_3_1_step_8_a_plan_without_legs_is_refused() -> None:
    value = contract(interface("api", "svc", api("read", path_keys=required("id"))))
    assert refused(value)[:2] == ("unreachable-check-evidence", "EvalContract.permittedInterfaces")
    assert refused(contract())[0] == "unreachable-check-evidence"


def test_s6_3_1_step_9_presence_in_order_of_first_use() -> None:
    value = contract(
        interface(
            "api", "svc", api("quiet", path_keys=required("id"), changes=True), api("ping"), api("pong", path="/pong")
        )
    )
    relation = {"op": "existence", "operands": [body_of("f-1")]}
    plan = plan_of(value, probe(manifestation("f-1", "svc", "pong", NO_INPUTS, relation)))
    present = [check.operation_id for check in plan.checks if isinstance(check, InterfacePresent)]
    assert present == ["ping", "pong"]
    assert [type(check).__name__ for check in plan.checks] == [
        "InterfacePresent",
        "InterfacePresent",
        "InputSensitivity",
        "InputSensitivity",
        "InputSensitivity",
        "StateReset",
        "CleanControl",
        "SeededFaultsScoped",
        "SeededFaultFired",
    ]


# §6.3.2

RAW = {"kind": "raw", "base64": "AAA=", "contentType": "text/plain"}


@pytest.mark.parametrize(
    ("operation", "kind", "inputs", "expected"),
    [
        (
            api("read", path="/items/{id}", path_keys=required("id"), body=required("k")),
            "api",
            {"path": {"id": 1}, "query": {}, "header": {"x": "1"}, "body": RAW},
            {"method": "GET", "pathTemplate": "/items/{id}"},
        ),
        (
            cli("read", argument=required("file")),
            "cli",
            {**NO_CLI_INPUTS, "argument": {"file": "x"}, "environment": {"NOT A NAME": "y"}},
            {"executable": "tool", "subcommandPath": ["read"]},
        ),
        (mcp("read", arguments=required("q")), "mcp", {"arguments": {"q": [1]}}, {"toolName": "read"}),
    ],
)
def test_s6_3_2_requests_carry_the_inputs_unchanged(operation: Any, kind: str, inputs: Any, expected: Any) -> None:
    both = witness(("a", inputs), ("b", inputs))
    plan = plan_of(contract(interface(kind, "svc", {**operation, "sensitivityWitness": both})))
    assert to_value(plan.legs[0].request) == {
        "probeId": "a",
        "interfaceId": "svc",
        "operationId": "read",
        "kind": kind,
        "channels": inputs,
        **expected,
    }


TRANSPORT, COMMAND, TOOL = NO_INPUTS, NO_CLI_INPUTS, {"arguments": {}}


@pytest.mark.parametrize(
    ("kind", "operation", "inputs", "clause"),
    [
        ("mcp", mcp("read"), TRANSPORT, "channels a tool call does not carry"),
        ("mcp", mcp("read"), COMMAND, "channels a tool call does not carry"),
        ("api", api("read"), TOOL, "tool-call arguments"),
        ("cli", cli("read"), TOOL, "tool-call arguments"),
        ("cli", cli("read"), TRANSPORT, "transport channels to a command"),
        ("api", api("read"), COMMAND, "an HTTP request does not carry"),
    ],
)
def test_s6_3_2_inputs_of_another_kind(kind: str, operation: Any, inputs: Any, clause: str) -> None:
    both = witness(("a", inputs), ("b", inputs))
    code, path, detail = refused(contract(interface(kind, "svc", {**operation, "sensitivityWitness": both})))
    assert code == "undeclared-mandatory-input"
    assert path == "EvalContract.permittedInterfaces[logicalId=svc].operations[operationId=read]"
    assert detail.startswith('leg "a" ')
    assert clause in detail


def test_s6_3_2_a_request_is_of_its_own_operation() -> None:
    operation = plan_of(contract(interface("mcp", "svc", mcp("read")))).legs[0].operation
    request = build_request("x", "svc", operation, WitnessInputs(arguments={"k": 1}))
    assert to_value(request)["channels"] == {"arguments": {"k": 1}}


# §6.3.3


@pytest.mark.parametrize(
    ("operations", "observed"),
    [
        ([api("write", changes=True), api("read", path="/r")], "read"),
        ([api("needy", path_keys=required("id")), api("read", path="/r")], "read"),
        ([api("loose", query={**required(), "permittedKeys": ["q"]}), api("read", path="/r")], "loose"),
        ([api("needy", path_keys=required("id"), witness=ONE_OF_TWO), api("read", path="/r")], "needy"),
    ],
)
def test_s6_3_3_what_is_observed(operations: list[Any], observed: str) -> None:
    plan = plan_of(contract(interface("api", "svc", *operations)))
    control = [leg for leg in plan.legs if leg.purpose == "control-observe"]
    assert [(leg.leg_id, leg.operation.operation_id) for leg in control] == [
        ("preflight-control-observe", observed),
        ("preflight-control-observe-2", observed),
    ]


@pytest.mark.parametrize(
    ("kind", "operation", "empty"),
    [
        ("api", api("read"), {"path": {}, "query": {}, "header": {}, "body": ABSENT_BODY}),
        ("cli", cli("read"), {"argument": {}, "option": {}, "environment": {}, "stdin": ABSENT_BODY}),
        ("mcp", mcp("read"), {"arguments": {}}),
    ],
)
def test_s6_3_3_empty_inputs_of_the_kind(kind: str, operation: Any, empty: Any) -> None:
    plan = plan_of(contract(interface(kind, "svc", operation)))
    assert to_value(plan.legs[0].inputs) == empty


def test_s6_3_3_a_witness_lends_its_first_legs_inputs() -> None:
    value = contract(interface("api", "svc", api("read", path_keys=required("id"), witness=ONE_OF_TWO)))
    control = [leg for leg in plan_of(value).legs if leg.purpose == "control-observe"]
    assert [to_value(leg.inputs)["path"] for leg in control] == [{"id": "1"}, {"id": "1"}]


def test_s6_3_3_nothing_to_observe_means_no_control_block() -> None:
    value = contract(interface("api", "svc", api("write", changes=True)))
    relation = {"op": "existence", "operands": [body_of("f-1")]}
    plan = plan_of(value, probe(manifestation("f-1", "svc", "write", NO_INPUTS, relation)))
    assert [leg.purpose for leg in plan.legs] == ["seeded-fault"]
    names = {type(check).__name__ for check in plan.checks}
    assert names == {"InterfacePresent", "InputSensitivity", "SeededFaultsScoped", "SeededFaultFired"}


def control(value: Any) -> list[tuple[str, str, str]]:
    legs = plan_of(value).legs
    return [
        (leg.request.interface_id, leg.operation.operation_id, leg.purpose.removeprefix("control-"))
        for leg in legs
        if leg.purpose.startswith("control")
    ]


WRITES = (api("put", path="/put", changes=True), api("wipe", path="/wipe", changes=True))
WIPE = {"legId": "wipe-leg", "interfaceId": "store", "operationId": "wipe", "inputs": NO_INPUTS}


def test_s6_3_3_the_reset_branch_may_stand_on_another_interface() -> None:
    value = contract(interface("api", "svc", api("read")), interface("api", "store", *WRITES), fixtureReset=WIPE)
    assert control(value) == [
        ("svc", "read", "observe"),
        ("store", "put", "mutate"),
        ("store", "wipe", "reset"),
        ("svc", "read", "observe"),
    ]
    reset = next(leg for leg in plan_of(value).legs if leg.purpose == "control-reset")
    assert (reset.leg_id, reset.path) == ("wipe-leg", "EvalContract.fixtureReset.legId")
    minted = plan_of(value).legs[0]
    assert minted.path == 'the minted control-observe leg against "read"'


def test_s6_3_3_mutating_operations_are_those_of_the_resets_interface() -> None:
    elsewhere = contract(interface("api", "svc", api("read"), *WRITES), interface("api", "store"), fixtureReset=WIPE)
    assert [role for *_, role in control(elsewhere)] == ["observe", "observe"]
    undeclared = contract(interface("api", "svc", api("read"), *WRITES), fixtureReset=WIPE)
    assert [role for *_, role in control(undeclared)] == ["observe", "observe"]
    without_inputs = contract(
        interface("api", "svc", api("read")),
        interface("api", "store", api("wipe", changes=True, path_keys=required("id"))),
        fixtureReset=WIPE,
    )
    assert [role for *_, role in control(without_inputs)] == ["observe", "observe"]


def test_s6_3_3_a_reset_nobody_declares() -> None:
    value = contract(
        interface("api", "svc", api("read")),
        interface("api", "store", *WRITES),
        fixtureReset={**WIPE, "operationId": "gone"},
    )
    code, path, detail = refused(value)
    assert (code, path) == ("unreachable-check-evidence", "EvalContract.fixtureReset")
    assert '"gone"' in detail
    assert '"store"' in detail


def test_s6_3_3_minted_ids_avoid_every_declared_one() -> None:
    base = "preflight-control-observe"
    sensitivity = witness((f"{base}-2", ONE), (f"{base}-3", ONE), relation=bodies_differ(f"{base}-2", f"{base}-3"))
    relation = {"op": "existence", "operands": [body_of(f"{base}-4")]}
    value = contract(
        interface("api", "shop", api("get-item", path_keys=required("id"), witness=sensitivity), *WRITES),
        interactionPlan=[step(base, "shop", "get-item")],
        fixtureReset={**WIPE, "interfaceId": "shop", "legId": "preflight-control-mutate"},
    )
    seeded = probe(manifestation(f"{base}-4", "shop", "get-item", ONE, relation))
    control_ids = [leg.leg_id for leg in plan_of(value, seeded).legs if leg.purpose.startswith("control")]
    assert control_ids == [f"{base}-5", "preflight-control-mutate-2", "preflight-control-mutate", f"{base}-6"]
    assert leg_ids(value, clean_probe())[2] == f"{base}-4"


def test_s6_3_3_a_clean_probes_ids_are_not_taken() -> None:
    assert leg_ids(contract(interface("api", "svc", api("read"))), clean_probe()) == [
        "preflight-control-observe",
        "preflight-control-observe-2",
    ]
