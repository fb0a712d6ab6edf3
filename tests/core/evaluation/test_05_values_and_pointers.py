"""Values, operands, pointers and channel roots (spec 05 §5.1 to §5.4)."""

from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval_quality.core.contract.plan import PlanIndex
from eval_quality.core.evaluation import (
    make_operation_denotes_collection,
    make_pointer_denotes_collection,
    make_resolve_operand,
    reference_set_keys_of,
    reference_set_members_of,
)
from eval_quality.core.evaluation.structure import same_number, structural_key, structurally_equal
from eval_quality.errors import RuntimeFault
from eval_quality.model.contract import EvalContract
from eval_quality.model.decode import decode
from eval_quality.model.expression import Operand
from eval_quality.value.digest import digest_value
from support.documents import minimal
from support.evaluation import ABSENT, answer, body, expression, literal, observation, pointer

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.sampled_from([0.5, -0.0, 1.0, 1e-7]) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner, max_size=3),
    max_leaves=8,
)


def operand(text: str) -> Operand:
    return Operand(pointer=text)


def resolved(text: str, seen: Any = None, bound: Any = ABSENT) -> Any:
    return make_resolve_operand({} if seen is None else {"s": seen}, {})(operand(text), bound)


# §5.1


@given(JSON, JSON)
def test_s5_1_3_structural_equality_is_digest_equality(left: Any, right: Any) -> None:
    same = digest_value(left, "x") == digest_value(right, "x")
    assert structurally_equal(left, right, "x") is same


@given(JSON, JSON)
def test_s5_1_3_a_structural_key_stands_for_the_digest(left: Any, right: Any) -> None:
    keys_agree = {structural_key(left, "x")} == {structural_key(right, "x")}
    assert keys_agree is (digest_value(left, "x") == digest_value(right, "x"))


@pytest.mark.parametrize(
    "value", [2**53, -(2**53), 1e300, float("inf"), float("nan"), "\ud800", ["\ud800"], {"k": 2**60}]
)
def test_s5_1_3_a_value_outside_the_domain_is_a_fault_at_the_path_given(value: Any) -> None:
    with pytest.raises(RuntimeFault) as caught:
        structural_key(value, "Somewhere")
    assert (caught.value.code, caught.value.artifact_path) == ("non-canonicalizable-value", "Somewhere")


def test_s5_1_3_the_left_value_is_digested_first() -> None:
    with pytest.raises(RuntimeFault, match="lone surrogate"):
        structurally_equal("\ud800", 2**53, "x")
    with pytest.raises(RuntimeFault, match="safe range"):
        structurally_equal(2**53, "\ud800", "x")


@pytest.mark.parametrize(
    ("left", "right", "same"),
    [
        (1, 1.0, True),
        (-0.0, 0, True),
        (1, 2, False),
        (2**53 + 1, 2**53, True),
        (2**53 + 1, float(2**53), True),
        (2**53, 2**53 + 2, False),
        (10**400, 10**401, True),
        (-(10**400), 10**400, False),
        (-(10**400), -(10**401), True),
        (10**400, 1e308, False),
    ],
)
def test_s5_1_2_numbers_are_binary64(left: float, right: float, same: bool) -> None:
    assert same_number(left, right) is same
    assert same_number(right, left) is same


# §5.3.1, §5.3.2: tokens


BODY = {"a/b": 1, "m~n": 2, "": {"": 3}, "~1": 4, "rows": [10, [20]], "n": None, "t": "text"}


@pytest.mark.parametrize(
    ("tail", "value"),
    [
        ("", BODY),
        ("/a~1b", 1),
        ("/m~0n", 2),
        ("/", {"": 3}),
        ("//", 3),
        ("/~01", 4),
        ("/rows/0", 10),
        ("/rows/1/0", 20),
        ("/constructor", ABSENT),
        ("/n", None),
        ("/n/x", ABSENT),
        ("/t/0", ABSENT),
        ("/rows/2", ABSENT),
        ("/rows/-", ABSENT),
        ("/rows/01", ABSENT),
        ("/rows/+1", ABSENT),
        ("/rows/1.0", ABSENT),
        ("/rows/ 1", ABSENT),
        ("/rows/length", ABSENT),
        ("/rows/" + "9" * 5000, ABSENT),
    ],
)
def test_s5_3_3_walking_a_tail(tail: str, value: Any) -> None:
    assert resolved(f"/interactions/s/response-body{tail}", observation(responseBody=BODY)) == value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("@/__proto__", 3),
        ("@/", {"": {"": 1}, "k": 2, "__proto__": 3}),
        ("@//", 1),
        ("@/k", 2),
        ("@/k/x", ABSENT),
        ("@/zz", ABSENT),
    ],
)
def test_s5_3_2_bound_pointers(text: str, value: Any) -> None:
    assert resolved(text, bound={"": {"": 1}, "k": 2, "__proto__": 3}) == value


def test_s5_3_4_nothing_bound_is_absent_and_a_bound_null_is_an_element() -> None:
    assert resolved("@/") is ABSENT
    assert resolved("@/", bound=None) is None
    assert resolved("@/x", bound=None) is ABSENT


def test_s5_3_1_a_pointer_outside_the_grammar_is_the_callers_mistake() -> None:
    with pytest.raises(ValueError, match="interaction-rooted"):
        resolved("/interactions/s/body", observation())


# §5.3.4


def test_s5_3_4_literals_and_reference_sets() -> None:
    resolve = make_resolve_operand({}, {"rs": ({"id": 1},)})
    assert resolve(Operand(literal=None), ABSENT) is None
    assert resolve(Operand(literal=[]), ABSENT) == []
    assert resolve(Operand(reference_set="rs"), ABSENT) == [{"id": 1}]
    assert resolve(Operand(reference_set="other"), ABSENT) is ABSENT
    assert resolve(Operand(reference_set="constructor"), ABSENT) is ABSENT


def test_s5_3_4_evidence_is_read_as_it_was_given() -> None:
    seen = {"s": observation(responseBody=1)}
    resolve = make_resolve_operand(seen, {})
    seen["s"] = observation(responseBody=2)
    assert resolve(operand("/interactions/s/response-body"), ABSENT) == 1
    assert resolve(operand("/interactions/s/response-body"), ABSENT) == 1


def test_s5_3_4_an_unknown_step_is_absent() -> None:
    assert resolved("/interactions/q/response-status", observation()) is ABSENT


# §5.3.5

JSON_BODY = {"kind": "json", "value": {"k": [7]}}
TEXT_BODY = {"kind": "text", "value": "out"}


@pytest.mark.parametrize(
    ("members", "channel", "value"),
    [
        ({"responseBody": None}, "response-body", None),
        ({"responseHeaders": {"x": "1"}}, "response-headers/x", "1"),
        ({}, "response-headers", None),
        ({}, "response-headers/x", ABSENT),
        ({"responseStatus": 404}, "response-status", 404),
        ({}, "response-status", None),
        ({"stdout": JSON_BODY}, "stdout/k/0", 7),
        ({"stdout": TEXT_BODY}, "stdout", "out"),
        ({"stdout": TEXT_BODY}, "stdout/k", ABSENT),
        ({}, "stdout", None),
        ({}, "stdout/k", ABSENT),
        ({"stderr": JSON_BODY}, "stderr/k/0", 7),
        ({"stderr": TEXT_BODY}, "stderr", "out"),
        ({}, "stderr", None),
        ({"exitCode": -9}, "exit-code", -9),
        ({}, "exit-code", None),
        ({"callInputs": {"body": {"id": 1}}}, "call-inputs/body/id", 1),
        ({}, "call-inputs/body", None),
        ({}, "call-inputs/arguments/x", ABSENT),
        ({"artifacts": {"notes": JSON_BODY}}, "artifact/notes/k/0", 7),
        ({"artifacts": {"notes": TEXT_BODY}}, "artifact/notes", "out"),
        ({"artifacts": {"notes": {"kind": "absent"}}}, "artifact/notes", ABSENT),
        ({}, "artifact/notes", ABSENT),
        ({}, "artifact/notes/k", ABSENT),
    ],
)
def test_s5_3_5_channel_roots(members: Any, channel: str, value: Any) -> None:
    assert resolved(f"/interactions/s/{channel}", observation(**members)) == value


def test_s5_3_5_a_call_inputs_channel_the_record_does_not_carry_is_absent() -> None:
    old = SimpleNamespace(call_inputs=SimpleNamespace(path={"id": 1}))
    assert resolved("/interactions/s/call-inputs/path/id", old) == 1
    assert resolved("/interactions/s/call-inputs/arguments", old) is ABSENT


def test_s5_3_5_unwritten_artifacts_decide_existence_and_absence() -> None:
    where = pointer("/interactions/s/artifact/notes")
    unwritten = {"s": observation()}
    assert answer({"op": "existence", "operands": [where]}, unwritten) == "false"
    assert answer({"op": "absence", "operands": [where]}, unwritten) == "true"


# §5.4


def contract(locations: list[str] | None, **changes: Any) -> EvalContract:
    value = minimal("eval-contract")
    shape: dict[str, Any] = {"requiredKeys": [], "permittedKeys": [], "types": {}}
    places = [
        {"pointer": place, "expectedCardinality": {"mode": "exact", "count": 1}, "referenceSet": None}
        for place in locations or ()
    ]
    operation: dict[str, Any] = {
        "operationId": "read",
        "toolName": "read",
        "stateChangeMarker": False,
        "requestShape": {"arguments": shape},
        "descriptorChannel": {"kind": "structured-result"},
        "responseDescriptor": {
            **shape,
            "successIndicator": None,
            "channelRoles": None,
            "collectionLocations": None if locations is None else places,
        },
        "volatilePointers": [],
        "sensitivityWitness": None,
    }
    step: dict[str, Any] = {
        "stepId": "s",
        "interfaceId": "api",
        "operationId": "read",
        "inputBinding": {"arguments": None},
        "after": None,
        "cardinality": "any",
    }
    value |= {
        "permittedInterfaces": [{"logicalId": "api", "kind": "mcp", "operations": [operation]}],
        "interactionPlan": [step, {**step, "stepId": "lost", "operationId": "gone"}],
        **changes,
    }
    return decode(EvalContract, value, "EvalContract")


@pytest.mark.parametrize(
    ("locations", "text", "expected"),
    [
        (["/a"], "@/a", False),
        (["/a"], "/interactions/s/stdout/a", False),
        (["/a"], "/interactions/s/artifact/a/a", False),
        (["/a"], "/interactions/q/response-body/a", False),
        (["/a"], "/interactions/lost/response-body/a", False),
        (None, "/interactions/s/response-body/a", False),
        ([], "/interactions/s/response-body/a", False),
        (["/a"], "/interactions/s/response-body/a", True),
        (["/a"], "/interactions/s/response-body/a/0", False),
        (["/a/b"], "/interactions/s/response-body/a", False),
        (["/x", "/a~1b"], "/interactions/s/response-body/a~1b", True),
        ([""], "/interactions/s/response-body", True),
        (["/"], "/interactions/s/response-body", False),
        (["/"], "/interactions/s/response-body/", True),
    ],
)
def test_s5_4_1_over_a_contract(locations: list[str] | None, text: str, expected: bool) -> None:
    declared = contract(locations)
    assert make_pointer_denotes_collection(declared)(text) is expected
    assert make_pointer_denotes_collection(declared, PlanIndex(declared))(text) is expected


def test_s5_4_1_an_index_handed_in_is_used() -> None:
    denotes = make_pointer_denotes_collection(contract(None), PlanIndex(contract(["/a"])))
    assert denotes("/interactions/s/response-body/a") is True


def test_s5_4_1_the_index_is_built_only_when_a_pointer_needs_it() -> None:
    declared = contract(["/a"])
    step = declared.interaction_plan[0]
    ambiguous = decode(EvalContract, declared, "EvalContract")
    ambiguous = type(declared)(
        **{**{f: getattr(declared, f) for f in declared.__struct_fields__}, "interaction_plan": (step, step)}
    )
    denotes = make_pointer_denotes_collection(ambiguous)
    assert denotes("@/a") is False
    assert denotes("/interactions/s/stdout") is False
    with pytest.raises(ValueError, match='step "s" more than once'):
        denotes("/interactions/s/response-body/a")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("@/a", False),
        ("/interactions/any-leg/response-body/a", True),
        ("/interactions/any-leg/stdout/a", False),
        ("/interactions/any-leg/response-body/b", False),
    ],
)
def test_s5_4_2_over_one_operation(text: str, expected: bool) -> None:
    operation = contract(["/a"]).permitted_interfaces[0].operations[0]
    assert make_operation_denotes_collection(operation)(text) is expected


def test_s5_4_is_asked_only_about_an_absent_pointer() -> None:
    def never(text: str) -> bool:
        raise AssertionError(text)

    seen = {"s": observation(responseBody={"k": 1})}
    rows = [
        ({"op": "existence", "operands": [body("/k")]}, "true"),
        ({"op": "existence", "operands": [literal(None)]}, "true"),
        ({"op": "existence", "operands": [{"referenceSet": "gone"}]}, "false"),
        (
            {
                "op": "for-all",
                "collection": body("/gone"),
                "predicate": {"op": "existence", "operands": [pointer("@/")]},
            },
            "insufficient-evidence",
        ),
    ]
    for check, expected in rows:
        assert answer(check, seen, denotes_collection=never) == expected


# §5.6.4


def test_s5_6_4_the_two_maps_of_a_contract() -> None:
    declared = contract(
        None, referenceSets={"rs": {"keys": ["id"], "members": [{"id": 1}, {"id": 2}], "commentary": None}}
    )
    assert reference_set_keys_of(declared) == {"rs": ("id",)}
    assert [list(members) for members in reference_set_members_of(declared).values()] == [[{"id": 1}, {"id": 2}]]
    undeclared = contract(None, referenceSets=None)
    assert reference_set_keys_of(undeclared) == {}
    assert reference_set_members_of(undeclared) == {}


def test_s5_2_an_expression_of_an_unknown_kind_is_the_callers_mistake() -> None:
    from eval_quality.core.evaluation import resolve_check

    with pytest.raises(TypeError, match="not a check expression"):
        resolve_check("constructor", make_resolve_operand({}, {}), bool, {}, 1, "x")
    assert expression({"op": "existence", "operands": [literal(1)]}).op == "existence"
