"""Executing the plan on one arm (spec 12 §12.13.1).

1. Repeat: among the steps not yet executed take the first in declaration order whose dependencies (the steps its
   captured pointers name, and `after`) are executed; execute it once. What is left over depends on itself and is
   `step-not-executable`, found before anything is started.
2. Sequence numbers are given in order of issue.
3. A call that ends without an observation is behaviour: the step has none, and whatever captures from it has none
   either (`capture-unresolved`).
"""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, TypeAlias

from eval_quality.core.contract.binding import captured_values
from eval_quality.core.contract.pointer import parse_pointer
from eval_quality.core.evaluation import ABSENT, make_resolve_operand
from eval_quality.model.expression import Operand
from eval_quality.model.run_record import Observation
from eval_quality.run.errors import AuthoringProblem, ExperimentFailure
from eval_quality.run.plan.call import Call
from eval_quality.run.plan.record import NoObservation
from eval_quality.run.plan.values import Captured, PlannedStep

Act: TypeAlias = Callable[[Call], Observation | NoObservation]
"""Makes and records one call."""


class StepOutcome(NamedTuple):
    """What one executed step left: an observation, or the reason why there is none."""

    step_id: str
    observation: Observation | None
    missing: NoObservation | None


def execution_order(steps: tuple[PlannedStep, ...]) -> tuple[PlannedStep, ...]:
    """The steps in the order they run. Raises `ExperimentFailure` (`step-not-executable`) for a cycle."""
    declared = {planned.step.step_id for planned in steps}
    waiting = list(steps)
    done: set[str] = set()
    ordered: list[PlannedStep] = []
    while waiting:
        ready = next((planned for planned in waiting if dependencies(planned) & declared <= done), None)
        if ready is None:
            raise ExperimentFailure(
                AuthoringProblem(
                    "step-not-executable",
                    f"EvalContract.interactionPlan[stepId={planned.step.step_id}]",
                    "it waits for a step that waits for it",
                )
                for planned in waiting
            )
        waiting.remove(ready)
        done.add(ready.step.step_id)
        ordered.append(ready)
    return tuple(ordered)


def dependencies(planned: PlannedStep) -> set[str]:
    """The steps that must run before this one."""
    named = {parse_pointer(pointer).step_id for _, pointer in captured_values(planned.step)}
    return named | ({planned.step.after} if planned.step.after is not None else set())


def execute(order: tuple[PlannedStep, ...], act: Act) -> Iterator[StepOutcome]:
    """Execute every step once, in `execution_order`, and yield what each one left."""
    observed: dict[str, Observation] = {}
    for planned in order:
        call = resolved_call(planned, observed)
        answer = call if isinstance(call, NoObservation) else act(call)
        if isinstance(answer, NoObservation):
            yield StepOutcome(planned.step.step_id, None, answer)
        else:
            observed[planned.step.step_id] = answer
            yield StepOutcome(planned.step.step_id, answer, None)


def resolved_call(planned: PlannedStep, observed: dict[str, Observation]) -> Call | NoObservation:
    """The call of a step, captured values filled in from the observations so far."""
    resolve = make_resolve_operand(observed, {})
    channels: dict[str, dict[str, Any]] = {}
    for channel, keys in planned.channels.items():
        channels[channel] = {}
        for key, value in keys.items():
            if isinstance(value, Captured):
                value = resolve(Operand(pointer=value.pointer), ABSENT)
                if value is ABSENT:
                    return NoObservation("capture-unresolved", f'nothing was captured for {channel} key "{key}"')
            channels[channel][key] = value
    step = planned.step
    return Call(step.interface_id, step.operation_id, channels, planned.raw_body, planned.principal)
