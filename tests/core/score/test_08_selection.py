"""Step selection and bindings (spec 08 §3)."""

from typing import Any

import pytest

from eval_quality.core.contract.plan import PlanIndex
from eval_quality.core.score.selection import Selection, SelectionPlan
from eval_quality.model.contract import EvalContract
from eval_quality.model.decode import decode
from eval_quality.model.run_record import SealedRunRecord
from support import judgment as j
from support.judgment import cli_binding, literal, observation, step


def select(steps: list[dict[str, Any]], observations: list[dict[str, Any]], **over: Any) -> dict[str, tuple[str, ...]]:
    """Observation ids by step id (the last step of a repeated id)."""
    return {entry.step_id: entry.observation_ids for entry in selections(steps, observations, **over)}


def selections(steps: list[dict[str, Any]], observations: list[dict[str, Any]], **over: Any) -> tuple[Selection, ...]:
    contract = decode(EvalContract, j.contract(interactionPlan=steps, **over), "EvalContract")
    record = decode(SealedRunRecord, j.record(observations=observations), "SealedRunRecord")
    ordered = sorted(record.observations, key=lambda seen: (seen.sequence, seen.observation_id))
    return SelectionPlan(PlanIndex(contract)).select(ordered)


def sent(number: int, channel: str = "option", value: Any = None, **over: Any) -> dict[str, Any]:
    """Observation `number` that sent `value` on one channel."""
    return observation(number, callInputs=j.call_inputs(**{channel: value}), **over)


def captured(pointer: str) -> dict[str, Any]:
    return {"captured": pointer}


def test_s3_1_candidates_are_the_pair_in_sequence_order_whatever_their_provenance() -> None:
    seen = [
        observation(1, sequence=9),
        observation(2, sequence=5, provenance="baseline"),
        observation(3, operationId="other"),
        observation(4, interfaceId="other"),
    ]
    assert select([step("a")], seen) == {"a": ("obs-2", "obs-1")}


@pytest.mark.parametrize(("count", "result"), [(0, "none"), (1, "one"), (2, "several"), (3, "several")])
@pytest.mark.parametrize("cardinality", ["any", "at-most-one", "exactly-one"])
def test_s3_1_result_and_ambiguity_follow_the_count(count: int, result: str, cardinality: str) -> None:
    (found,) = selections([step("a", cardinality=cardinality)], [observation(n) for n in range(1, count + 1)])
    assert found.result == result
    assert found.ambiguous == (count > 1 and cardinality != "any")
    assert (found.single is None) == (count == 0 or found.ambiguous)
    if found.single is not None:
        assert found.single.observation_id == "obs-1"


# --- bindings (§3.5) ------------------------------------------------------------------------------------------------

RAW = {"kind": "raw", "base64": "AA==", "contentType": "text/plain"}


@pytest.mark.parametrize(
    ("bound", "given", "admitted"),
    [
        ({"k": literal(1)}, {"k": 1}, True),
        ({"k": literal(1)}, {"k": 1.0, "more": True}, True),
        ({"k": literal(1)}, {"k": True}, False),
        ({"k": literal(None)}, {"k": None}, True),
        ({"k": literal(None)}, {}, False),
        ({"k": literal({"a": [1], "b": 2})}, {"k": {"b": 2, "a": [1]}}, True),
        ({"k": literal([1, 2])}, {"k": [2, 1]}, False),
        ({"k": {"matcher": "any"}}, {"k": None}, True),
        ({"k": {"matcher": "any"}}, {"other": 1}, False),
        ({"k": {"matcher": "any"}}, None, False),
        ({"case": {"matcher": "type-violating"}}, {"case": 1}, True),
        ({"case": {"matcher": "type-violating"}}, {"case": "text"}, False),
        ({"level": {"matcher": "type-violating"}}, {"level": 1}, False),
        ({"undeclared": {"matcher": "type-violating"}}, {"undeclared": 1}, False),
        ({"k": literal(1), "l": literal(2)}, {"k": 1, "l": 3}, False),
    ],
)
def test_s3_5_binding_satisfaction(bound: dict[str, Any], given: Any, admitted: bool) -> None:
    found = select([step("a", cli_binding(option=bound))], [sent(1, value=given)])
    assert found == {"a": ("obs-1",) if admitted else ()}


def test_s3_5_every_bound_channel_counts() -> None:
    binding = cli_binding(option={"k": literal(1)}, stdin={"prompt": literal("x")})
    seen = [
        observation(1, callInputs=j.call_inputs(option={"k": 1}, stdin={"prompt": "x"})),
        observation(2, callInputs=j.call_inputs(option={"k": 1})),
    ]
    assert select([step("a", binding)], seen) == {"a": ("obs-1",)}


def test_s3_5_a_principal_binding_compares_the_principal_and_needs_the_key() -> None:
    binding = cli_binding(option={"user": {"principal": "ada"}})
    seen = [
        sent(1, value={"user": "whoever"}, principal="ada"),
        sent(2, value={"user": "ada"}, principal="bob"),
        sent(3, value={}, principal="ada"),
    ]
    assert select([step("a", binding)], seen) == {"a": ("obs-1",)}


def test_s3_5_a_type_violation_needs_a_resolved_operation() -> None:
    binding = cli_binding(option={"case": {"matcher": "type-violating"}})
    twice = [j.interface("cli", "agent", j.command(), j.command())]
    assert select([step("a", binding)], [sent(1, value={"case": 1})], permittedInterfaces=twice) == {"a": ()}


HTTP = [j.interface("api", "agent", j.http("run-skill", "POST", "/run"))]


@pytest.mark.parametrize(
    ("bound", "body", "encoding", "admitted"),
    [
        (RAW, RAW, "raw", True),
        (RAW, RAW, None, False),
        (RAW, {**RAW, "base64": "AB=="}, "raw", False),
        ({"kind": literal("raw")}, RAW, "raw", False),
        ({"kind": literal("raw")}, RAW, None, True),
        (RAW, None, None, False),
    ],
)
def test_s3_5_raw_bodies_match_raw_observations_alone(bound: Any, body: Any, encoding: Any, admitted: bool) -> None:
    binding = {"path": None, "query": None, "header": None, "body": bound}
    seen = [observation(1, callInputs=j.call_inputs(body=body, bodyEncoding=encoding))]
    found = select([step("a", binding)], seen, permittedInterfaces=HTTP)
    assert found == {"a": ("obs-1",) if admitted else ()}


def test_s3_5_raw_encoding_of_the_body_says_nothing_about_other_channels() -> None:
    binding = {"path": {"id": literal("n")}, "query": None, "header": None, "body": None}
    seen = [observation(1, callInputs=j.call_inputs(path={"id": "n"}, body=RAW, bodyEncoding="raw"))]
    assert select([step("a", binding)], seen, permittedInterfaces=HTTP) == {"a": ("obs-1",)}


def test_s3_5_no_observation_of_a_record_stamped_7_is_raw() -> None:
    inputs = j.call_inputs(body=RAW)
    del inputs["bodyEncoding"]
    contract = decode(
        EvalContract,
        j.contract(
            interactionPlan=[step("a", {"path": None, "query": None, "header": None, "body": RAW})],
            permittedInterfaces=HTTP,
        ),
        "EvalContract",
    )
    record = decode(
        SealedRunRecord, j.record(schemaVersion=7, observations=[observation(1, callInputs=inputs)]), "SealedRunRecord"
    )
    (found,) = SelectionPlan(PlanIndex(contract)).select(record.observations)
    assert found.result == "none"


# --- temporal and capture floors (§3.2 to §3.4) ---------------------------------------------------------------------


def by_case(step_id: str, case: str, **over: Any) -> dict[str, Any]:
    return step(step_id, cli_binding(option={"case": literal(case)}), **over)


def case(number: int, name: str, **over: Any) -> dict[str, Any]:
    return sent(number, value={"case": name}, **over)


def test_s3_4_after_is_strict_and_an_undeclared_anchor_is_no_floor() -> None:
    seen = [case(1, "a"), case(2, "b"), case(3, "a")]
    assert select([by_case("b", "b"), by_case("a", "a", after="b")], seen)["a"] == ("obs-3",)
    assert select([by_case("a", "a", after="nowhere")], seen)["a"] == ("obs-1", "obs-3")


@pytest.mark.parametrize(("cardinality", "expected"), [("any", ("obs-2", "obs-4")), ("exactly-one", ())])
def test_s3_4_an_anchor_without_a_single_observation_selects_nothing(
    cardinality: str, expected: tuple[str, ...]
) -> None:
    seen = [case(1, "b"), case(2, "a"), case(3, "b"), case(4, "a")]
    plan = [by_case("b", "b", cardinality=cardinality), by_case("a", "a", after="b")]
    assert select(plan, seen)["a"] == expected
    assert select([by_case("b", "zzz"), by_case("a", "a", after="b")], seen)["a"] == ()


def test_s3_4_a_cycle_of_anchors_selects_nothing_and_harms_no_one_else() -> None:
    seen = [case(1, "a"), case(2, "b"), case(3, "c")]
    plan = [
        by_case("a", "a", after="b"),
        by_case("b", "b", after="a"),
        by_case("waits", "c", after="a"),
        by_case("c", "c"),
        by_case("own", "c", after="own"),
    ]
    assert select(plan, seen) == {"a": (), "b": (), "waits": (), "c": ("obs-3",), "own": ()}


def taking(step_id: str, pointer: str, **over: Any) -> dict[str, Any]:
    return step(step_id, cli_binding(option={"token": captured(pointer)}), **over)


def produced(number: int, token: Any, **over: Any) -> dict[str, Any]:
    return case(number, "make", stdout=j.json_body({"token": token}), **over)


TOKEN = "/interactions/make/stdout/token"


def test_s3_3_a_captured_value_flows_from_an_earlier_observation_alone() -> None:
    seen = [
        sent(1, value={"token": "t"}),
        produced(2, "t"),
        sent(3, value={"token": "t"}),
        sent(4, value={"token": "u"}),
    ]
    assert select([taking("use", TOKEN), by_case("make", "make")], seen)["use"] == ("obs-3",)


@pytest.mark.parametrize(
    ("plan", "seen"),
    [
        # The source is not in the plan.
        ([taking("use", "/interactions/ghost/stdout/token")], [sent(2, value={"token": "t"})]),
        # The source selected nothing.
        ([by_case("make", "make"), taking("use", TOKEN)], [sent(2, value={"token": "t"})]),
        # The source is ambiguous.
        (
            [by_case("make", "make", cardinality="at-most-one"), taking("use", TOKEN)],
            [produced(1, "t"), produced(2, "t"), sent(3, value={"token": "t"})],
        ),
        # The value is absent: it equals nothing.
        ([by_case("make", "make"), taking("use", TOKEN)], [case(1, "make"), sent(2, value={"token": None})]),
        ([by_case("make", "make"), taking("use", "/interactions/make/artifact/log/x")], [produced(1, "t"), sent(2)]),
        # The step captures from itself.
        ([taking("use", "/interactions/use/stdout/token")], [sent(1, value={"token": "t"})]),
    ],
)
def test_s3_3_an_unresolved_capture_selects_nothing(plan: list[dict[str, Any]], seen: list[dict[str, Any]]) -> None:
    assert select(plan, seen)["use"] == ()


def test_s3_3_several_sources_of_cardinality_any_give_the_first() -> None:
    seen = [produced(1, "first"), produced(2, "second"), sent(3, value={"token": "first"})]
    assert select([by_case("make", "make"), taking("use", TOKEN)], seen)["use"] == ("obs-3",)


def test_s3_4_the_capture_floor_is_the_highest_source() -> None:
    plan = [
        by_case("make", "make"),
        by_case("late", "late"),
        step(
            "use",
            cli_binding(option={"token": captured(TOKEN), "other": captured("/interactions/late/exit-code")}),
        ),
    ]
    use = {"token": "t", "other": 0}
    seen = [produced(1, "t"), sent(2, value=use), case(3, "late"), sent(4, value=use)]
    assert select(plan, seen)["use"] == ("obs-4",)


def test_s3_2_captures_chain_through_tiers_whatever_the_declaration_order() -> None:
    plan = [
        step("third", cli_binding(option={"b": captured("/interactions/second/stdout/token")})),
        taking("second", TOKEN),
        by_case("make", "make"),
    ]
    seen = [
        produced(1, "t"),
        sent(2, value={"token": "t"}, stdout=j.json_body({"token": "u"})),
        sent(3, value={"b": "u"}),
    ]
    assert select(plan, seen)["third"] == ("obs-3",)


def test_s3_2_captures_that_feed_each_other_never_resolve() -> None:
    plan = [taking("a", "/interactions/b/stdout/token"), taking("b", "/interactions/a/stdout/token")]
    assert select(plan, [sent(1, value={"token": "t"})]) == {"a": (), "b": ()}


def test_s3_2_a_repeated_step_id_is_one_node_and_each_step_selects_for_itself() -> None:
    plan = [by_case("a", "one"), by_case("a", "two"), by_case("b", "three", after="a")]
    seen = [case(1, "two"), case(2, "three"), case(3, "one"), case(4, "three")]
    found = selections(plan, seen)
    assert [entry.observation_ids for entry in found] == [("obs-3",), ("obs-1",), ("obs-4",)]


def test_s3_2_a_long_chain_of_anchors_needs_no_recursion() -> None:
    plan = [by_case("s-0", "c"), *(by_case(f"s-{n}", "c", after=f"s-{n - 1}") for n in range(1, 3000))]
    found = selections(plan, [case(n, "c") for n in range(1, 6)])
    assert [entry.result for entry in found[:6]] == ["several", "several", "several", "several", "one", "none"]
    assert found[-1].result == "none"
