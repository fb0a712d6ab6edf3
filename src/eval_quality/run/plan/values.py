"""What each plan step sends (spec 12 §12.13.2).

A step selects observations; to execute it, a call has to be built that the step will select. Every value comes from
a document: the step's own binding, the value table, or the operation's first sensitivity leg. Nothing is invented.

| Binding of a key | Value sent |
|---|---|
| literal | that value; on `header` and `environment` it must be a string |
| captured | the value at the pointer, filled in when the step runs |
| principal | injected by the principal's mapping |
| matcher `any` | value table, else the first leg's value |
| matcher `type-violating` | a value of another type than the declared one |
| raw body | those bytes |
| a required key that is not bound | value table, else the first leg's value |
| an optional key that is not bound | only what the value table names for this very step |
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from eval_quality.core.contract.operation import AnyOperation, input_channels, request_shape
from eval_quality.core.contract.plan import PlanIndex
from eval_quality.model.binding import AbsentBody, BindingValue, JsonBody, RawRequestBody, TextBody, WitnessInputs
from eval_quality.model.contract import EvalContract, InteractionStep
from eval_quality.model.decode import to_value
from eval_quality.run.errors import AuthoringProblem, ExperimentFailure
from eval_quality.run.experiment.document import ValuesTable
from eval_quality.run.plan.call import Injected

TYPE_VIOLATIONS: Final = {
    "string": 12345,
    "number": "not-a-number",
    "boolean": "not-a-boolean",
    "object": "not-an-object",
    "array": "not-an-array",
    "null": "not-null",
}
"""The value sent for a declared type by the matcher `type-violating`."""

TEXT_CHANNELS: Final = ("header", "environment")


class Captured(NamedTuple):
    """A value that an earlier step's observation supplies."""

    pointer: str


class PlannedStep(NamedTuple):
    """One step with everything it will send; captured values are still open."""

    step: InteractionStep
    operation: AnyOperation
    channels: Mapping[str, Mapping[str, Any]]
    raw_body: bool
    principal: str | None


def plan_steps(contract: EvalContract, values: ValuesTable | None) -> tuple[PlannedStep, ...]:
    """Every step of the plan, in declaration order.

    Raises `ExperimentFailure` with one `step-not-executable` for every value that no document states.
    """
    index = PlanIndex(contract)
    planned: list[PlannedStep] = []
    problems: list[AuthoringProblem] = []
    for step in contract.interaction_plan:
        operation = index.operation_of(step)
        if operation is None:
            why = index.why_unresolved(step.interface_id, step.operation_id)
            problems.append(_problem(step, f'it names operation "{step.operation_id}" {why}'))
            continue
        builder = _Builder(step, operation, values or ValuesTable())
        planned.append(builder.build())
        problems.extend(builder.problems)
    if problems:
        raise ExperimentFailure(problems)
    return tuple(planned)


def _problem(step: InteractionStep, detail: str) -> AuthoringProblem:
    return AuthoringProblem("step-not-executable", f"EvalContract.interactionPlan[stepId={step.step_id}]", detail)


class _Builder:
    """Collects the values of one step, and every reason why one is missing."""

    def __init__(self, step: InteractionStep, operation: AnyOperation, values: ValuesTable) -> None:
        self.step = step
        self.operation = operation
        self.by_step = values.step.get(step.step_id, {})
        self.by_operation = values.operation.get(f"{step.interface_id}/{step.operation_id}", {})
        self.leg = _first_leg(operation)
        self.problems: list[AuthoringProblem] = []
        self.principals: set[str] = set()

    def build(self) -> PlannedStep:
        channels: dict[str, dict[str, Any]] = {}
        bindings = dict(self.step.input_binding.channels())
        raw = bindings.get("body")
        for channel in input_channels(self.operation):
            bound = bindings.get(channel)
            if isinstance(bound, RawRequestBody):
                channels[channel] = to_value(bound)  # pyright: ignore
                continue
            sent = dict(self.channel(channel, bound or {}))
            if sent:
                channels[channel] = sent
        if len(self.principals) > 1:
            names = ", ".join(sorted(self.principals))
            self.refuse(f"it acts as several principals at once ({names}); split the step")
        principal = next(iter(self.principals), None)
        return PlannedStep(self.step, self.operation, channels, isinstance(raw, RawRequestBody), principal)

    def refuse(self, detail: str) -> None:
        self.problems.append(_problem(self.step, detail))

    def channel(self, channel: str, bound: Mapping[str, BindingValue]) -> Iterator[tuple[str, Any]]:
        shape = request_shape(self.operation, channel)
        for key, binding in bound.items():
            yield key, self.value(channel, key, binding)
        required = shape.required_keys if shape is not None else ()
        for key in required:
            if key not in bound:
                yield key, self.stated(channel, key)
        for key, value in self.by_step.get(channel, {}).items():
            if key not in bound and key not in required:
                yield key, self.sendable(channel, key, value)

    def value(self, channel: str, key: str, binding: BindingValue) -> Any:
        if binding.form == "literal":
            return self.sendable(channel, key, to_value(binding)["literal"])  # pyright: ignore
        if binding.form == "captured":
            return Captured(str(binding.captured))
        if binding.form == "principal":
            self.principals.add(str(binding.principal))
            return Injected(str(binding.principal))
        return self.stated(channel, key) if binding.matcher == "any" else self.violating(channel, key)

    def violating(self, channel: str, key: str) -> Any:
        shape = request_shape(self.operation, channel)
        declared = shape.types.get(key) if shape is not None else None
        if declared is None:
            self.refuse(f'{channel} key "{key}" declares no type, so no value can violate it')
            return None
        if channel in TEXT_CHANNELS and declared == "string":
            self.refuse(f'{channel} key "{key}" carries text only, so no value can violate its type')
            return None
        return self.sendable(channel, key, TYPE_VIOLATIONS[declared])

    def stated(self, channel: str, key: str) -> Any:
        for table in (self.by_step, self.by_operation):
            if key in table.get(channel, {}):
                return self.sendable(channel, key, table[channel][key])
        if key in self.leg.get(channel, {}):
            return self.leg[channel][key]
        self.refuse(
            f'{channel} key "{key}" needs a value and no document states one; '
            f"add it under [values.step.{self.step.step_id}.{channel}]"
        )
        return None

    def sendable(self, channel: str, key: str, value: Any) -> Any:
        if channel in TEXT_CHANNELS and not isinstance(value, str):
            self.refuse(f'{channel} key "{key}" carries text only; its value is not a string')
        return value


def _first_leg(operation: AnyOperation) -> Mapping[str, Mapping[str, Any]]:
    """The values of the operation's first sensitivity leg, by channel and key."""
    if operation.sensitivity_witness is None:
        return {}
    return channels_of(operation.sensitivity_witness.legs[0].inputs, operation)[0]


def channels_of(inputs: WitnessInputs, operation: AnyOperation) -> tuple[dict[str, dict[str, Any]], bool]:
    """What a witness leg sends, by channel and key, and whether its body is raw.

    A text or a body that is no JSON object has no keys; text on standard input stands for the one required key.
    """
    found: dict[str, dict[str, Any]] = {}
    raw = False
    for channel, held in inputs.channels():
        if isinstance(held, JsonBody):
            value = to_value(held)["value"]  # pyright: ignore
            found[channel] = value if isinstance(value, dict) else {}
        elif isinstance(held, TextBody):
            shape = request_shape(operation, channel)
            keys = shape.required_keys if shape is not None else ()
            found[channel] = {keys[0]: held.value} if len(keys) == 1 else {}
        elif isinstance(held, RawRequestBody):
            found[channel], raw = to_value(held), True  # pyright: ignore
        elif not isinstance(held, AbsentBody):
            found[channel] = dict(held)
    return {channel: keys for channel, keys in found.items() if keys}, raw
