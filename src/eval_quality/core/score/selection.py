"""Which observations answer which plan step (spec 08 §3).

Per trial, for every step of the plan:

1. Candidates are the observations on the step's (interface, operation) pair, in sequence order, whatever their
   provenance (§3.1).
2. Steps are placed in tiers: a step waits for its `after` anchor and for every step it captures from (§3.2).
3. A captured binding takes its value from the one observation its source step selected, the first of several where
   the source's cardinality is `any` (§3.3).
4. A candidate stays when it comes strictly after the anchor and after everything captured, and its call inputs
   satisfy the binding (§3.4, §3.5).

A step on a cycle is never placed. It selects nothing: either a capture of its own never resolved, or its anchor
selected nothing for the same reason. So the tiers alone decide, and no recursion follows an author's chain of steps.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple, TypeAlias

from eval_quality.core.contract.binding import captured_values
from eval_quality.core.contract.operation import AnyOperation
from eval_quality.core.contract.plan import PlanIndex
from eval_quality.core.contract.pointer import ParsedPointer, parse_pointer
from eval_quality.core.evaluation.operand import channel_root
from eval_quality.core.score.admit import admits
from eval_quality.model.contract import InteractionStep
from eval_quality.model.run_record import Observation
from eval_quality.value.pointer import lookup

_ByPair: TypeAlias = Mapping[tuple[str, str], Sequence[Observation]]

ANY: Final = "any"
"""The cardinality under which several observations are no ambiguity."""


class Selection(NamedTuple):
    """What one step selected: `none`, `one` or `several` observations, in sequence order."""

    step_id: str
    cardinality: str
    observations: tuple[Observation, ...] = ()

    @property
    def result(self) -> str:
        return ("none", "one", "several")[min(len(self.observations), 2)]

    @property
    def observation_ids(self) -> tuple[str, ...]:
        return tuple(observation.observation_id for observation in self.observations)

    @property
    def ambiguous(self) -> bool:
        """Several observations where the step does not admit several."""
        return len(self.observations) > 1 and self.cardinality != ANY

    @property
    def single(self) -> Observation | None:
        """The one observation a capture, an anchor or a check reads; None where there is none or no single one."""
        return self.observations[0] if self.observations and not self.ambiguous else None


class _Capture(NamedTuple):
    """A captured binding site and where its value comes from."""

    channel: str
    key: str
    source: ParsedPointer


class _PlannedStep(NamedTuple):
    step: InteractionStep
    operation: AnyOperation | None
    captures: tuple[_Capture, ...]


class SelectionPlan:
    """The plan of one contract, ordered once for every trial of a set."""

    __slots__ = ("_first", "_order", "_steps")

    def __init__(self, index: PlanIndex) -> None:
        self._steps = tuple(_planned(step, index) for step in index.contract.interaction_plan)
        self._first: dict[str, _PlannedStep] = {}
        for planned in self._steps:
            self._first.setdefault(planned.step.step_id, planned)
        self._order = self._place()

    def select(self, observations: Sequence[Observation]) -> tuple[Selection, ...]:
        """One selection per plan step, in plan order, over one trial's observations in sequence order."""
        by_pair: dict[tuple[str, str], list[Observation]] = {}
        for observation in observations:
            by_pair.setdefault((observation.interface_id, observation.operation_id), []).append(observation)
        placed: dict[str, Selection] = {}
        for step_id in self._order:
            placed[step_id] = self._select(self._first[step_id], by_pair, placed)
        return tuple(self._answer(planned, by_pair, placed) for planned in self._steps)

    def _answer(self, planned: _PlannedStep, by_pair: _ByPair, placed: Mapping[str, Selection]) -> Selection:
        step = planned.step
        if step.step_id not in placed:
            return Selection(step.step_id, step.cardinality)
        if planned is self._first[step.step_id]:
            return placed[step.step_id]
        return self._select(planned, by_pair, placed)

    def _select(self, planned: _PlannedStep, by_pair: _ByPair, placed: Mapping[str, Selection]) -> Selection:
        """Filtered selection of one step whose dependencies are placed (spec 08 §3.4)."""
        step = planned.step
        nothing = Selection(step.step_id, step.cardinality)
        floor = 0
        if step.after is not None and step.after in self._first:
            anchor = placed[step.after].single
            if anchor is None:
                return nothing
            floor = anchor.sequence
        values: dict[tuple[str, str], Any] = {}
        for capture in planned.captures:
            source = placed.get(capture.source.step_id)
            observed = None if source is None else source.single
            if observed is None:
                return nothing
            values[capture.channel, capture.key] = lookup(channel_root(observed, capture.source), capture.source.tail)
            floor = max(floor, observed.sequence)
        return nothing._replace(
            observations=tuple(
                candidate
                for candidate in by_pair.get((step.interface_id, step.operation_id), ())
                if candidate.sequence > floor
                and admits(
                    step.input_binding.channels(),
                    candidate,
                    planned.operation,
                    values,
                )
            )
        )

    def _place(self) -> tuple[str, ...]:
        """Step identifiers in tier order (spec 08 §3.2); what is on a cycle, or waits for one, is left out."""
        waits: dict[str, set[str]] = {step_id: set() for step_id in self._first}
        for planned in self._steps:
            sources = {capture.source.step_id for capture in planned.captures}
            if planned.step.after is not None:
                sources.add(planned.step.after)
            waits[planned.step.step_id] |= sources & self._first.keys()
        dependants: dict[str, list[str]] = {step_id: [] for step_id in waits}
        for step_id, sources in waits.items():
            for source in sources:
                dependants[source].append(step_id)
        order = [step_id for step_id, sources in waits.items() if not sources]
        for placed in order:
            # `order` grows while it is walked: each step joins once, when the last step it waits for is placed.
            for dependant in dependants[placed]:
                waits[dependant].discard(placed)
                if not waits[dependant]:
                    order.append(dependant)
        return tuple(order)


def _planned(step: InteractionStep, index: PlanIndex) -> _PlannedStep:
    captures = tuple(
        _Capture(value.channel, value.key, parse_pointer(pointer)) for value, pointer in captured_values(step)
    )
    return _PlannedStep(step, index.operation_of(step), captures)
