"""What a plan step sends, in which order, and what becomes of captures: spec 12 §12.13.1, §12.13.2."""

import json
from typing import Any

import pytest

from eval_quality.model.contract import EvalContract
from eval_quality.model.decode import decode
from eval_quality.model.ports import ProbeObservation
from eval_quality.model.run_record import Observation
from eval_quality.run.errors import ExperimentFailure
from eval_quality.run.experiment.document import ValuesTable
from eval_quality.run.plan.call import Call, Injected, record_of
from eval_quality.run.plan.execute import execute, execution_order
from eval_quality.run.plan.record import NoObservation
from eval_quality.run.plan.values import TYPE_VIOLATIONS, plan_steps
from support.experiments import binding, contract


def with_plan(change: Any = None, kind: str = "cli") -> EvalContract:
    value = json.loads(json.dumps(contract(kind)))
    if change is not None:
        change(value)
    return decode(EvalContract, value, "EvalContract")


def option(**keys: Any) -> Any:
    """A change of what the first step binds."""

    def change(value: Any) -> None:
        value["interactionPlan"][0]["inputBinding"] = binding("cli", **keys)

    return change


def typed(**types: str) -> Any:
    def change(value: Any) -> None:
        shape = value["permittedInterfaces"][0]["operations"][0]["requestShape"]["option"]
        shape["types"] = {"key": "string", "value": "string", **types}

    return change


def both(*changes: Any) -> Any:
    return lambda value: [change(value) for change in changes]


LITERAL = {"literal": "x"}
ROWS: dict[str, tuple[Any, ValuesTable, dict[str, Any]]] = {
    "literal": (option(key=LITERAL, value={"literal": "y"}), ValuesTable(), {"key": "x", "value": "y"}),
    "any, from the step's table": (
        option(key={"matcher": "any"}, value=LITERAL),
        ValuesTable(step={"write": {"option": {"key": "s"}}}, operation={"store/put": {"option": {"key": "o"}}}),
        {"key": "s", "value": "x"},
    ),
    "any, from the operation's table": (
        option(key={"matcher": "any"}, value=LITERAL),
        ValuesTable(operation={"store/put": {"option": {"key": "o"}}}),
        {"key": "o", "value": "x"},
    ),
    "any, from the first leg": (
        option(key={"matcher": "any"}, value=LITERAL),
        ValuesTable(),
        {"key": "a", "value": "x"},
    ),
    "required and not bound, from the table": (
        option(value=LITERAL),
        ValuesTable(step={"write": {"option": {"key": "s"}}}),
        {"key": "s", "value": "x"},
    ),
    "required and not bound, from the first leg": (option(value=LITERAL), ValuesTable(), {"key": "a", "value": "x"}),
    "principal": (
        option(key={"principal": "root"}, value=LITERAL),
        ValuesTable(),
        {"key": Injected("root"), "value": "x"},
    ),
    **{
        f"type-violating {name}": (
            both(option(key=LITERAL, value={"matcher": "type-violating"}), typed(value=name)),
            ValuesTable(),
            {"key": "x", "value": sent},
        )
        for name, sent in TYPE_VIOLATIONS.items()
    },
    "optional and not bound, only by name": (
        both(
            option(key=LITERAL, value=LITERAL),
            lambda value: value["permittedInterfaces"][0]["operations"][0]["requestShape"]["option"].update(
                permittedKeys=["key", "value", "extra", "other"]
            ),
        ),
        ValuesTable(
            step={"write": {"option": {"extra": 1}}}, operation={"store/put": {"option": {"extra": 2, "other": 3}}}
        ),
        {"key": "x", "value": "x", "extra": 1},
    ),
}


@pytest.mark.parametrize("name", ROWS)
def test_s12_13_2_the_value_sent(name: str) -> None:
    change, values, expected = ROWS[name]
    step = plan_steps(with_plan(change), values)[0]
    assert step.channels == {"option": expected}
    assert step.principal == ("root" if name == "principal" else None)


@pytest.mark.parametrize(
    ("change", "detail"),
    [
        (
            both(
                option(key=LITERAL),
                lambda value: value["permittedInterfaces"][0]["operations"][0].update(sensitivityWitness=None),
            ),
            'option key "value" needs a value and no document states one; add it under [values.step.write.option]',
        ),
        (
            option(key={"principal": "root"}, value={"principal": "ada"}),
            "it acts as several principals at once (ada, root); split the step",
        ),
        (
            lambda value: value["interactionPlan"][0].update(operationId="nope"),
            'it names operation "nope" ',
        ),
    ],
)
def test_s12_13_2_what_cannot_be_sent(change: Any, detail: str) -> None:
    with pytest.raises(ExperimentFailure) as caught:
        plan_steps(with_plan(change), None)
    (problem,) = caught.value.problems
    assert (problem.code, problem.artifact_path) == (
        "step-not-executable",
        "EvalContract.interactionPlan[stepId=write]",
    )
    assert problem.detail.startswith(detail)


def observed(call: Call, value: Any, number: int) -> Observation:
    answer = {
        "probeId": "p",
        "interfaceId": call.interface_id,
        "operationId": call.operation_id,
        "kind": "cli",
        "exitCode": 0,
        "stdout": {"kind": "json", "value": value},
        "stderr": {"kind": "absent"},
        "artifacts": {},
    }
    port = decode(ProbeObservation, answer, "ProbeObservation")
    return decode(Observation, record_of(call, port, f"obs-{number}", number, "evaluator-chosen"), "Observation")


def two_levels(value: Any) -> None:
    """read-1 captures from write, read-2 from read-1; declared in the opposite order."""
    steps = [
        {
            "stepId": name,
            "interfaceId": "store",
            "operationId": operation,
            "inputBinding": bound,
            "after": None,
            "cardinality": "any",
        }
        for name, operation, bound in (
            ("read-2", "get", binding("cli", key={"captured": "/interactions/read-1/stdout/value"})),
            ("read-1", "get", binding("cli", key={"captured": "/interactions/write/stdout/value"})),
            ("write", "put", binding("cli", key=LITERAL, value=LITERAL)),
        )
    ]
    value["interactionPlan"] = steps


def test_s12_13_1_captures_order_the_steps_and_are_filled_in() -> None:
    order = execution_order(plan_steps(with_plan(two_levels), None))
    assert [planned.step.step_id for planned in order] == ["write", "read-1", "read-2"]
    sent: list[dict[str, Any]] = []

    def act(call: Call) -> Observation:
        sent.append(dict(call.channels["option"]))
        return observed(call, {"ok": True, "value": f"answer-{len(sent)}"}, len(sent))

    outcomes = list(execute(order, act))
    assert sent == [{"key": "x", "value": "x"}, {"key": "answer-1"}, {"key": "answer-2"}]
    assert [outcome.observation.sequence for outcome in outcomes if outcome.observation] == [1, 2, 3]


def test_s12_13_2_a_capture_of_nothing_leaves_every_later_step_without_an_observation() -> None:
    order = execution_order(plan_steps(with_plan(two_levels), None))
    calls: list[Call] = []

    def act(call: Call) -> Observation | NoObservation:
        calls.append(call)
        return observed(call, {"ok": True}, 1)

    outcomes = {outcome.step_id: outcome for outcome in execute(order, act)}
    assert len(calls) == 1
    for name in ("read-1", "read-2"):
        assert outcomes[name].observation is None
        assert outcomes[name].missing is not None
        assert outcomes[name].missing.code == "capture-unresolved"
