"""Look-ups in the interaction plan and the operation inventory (spec 03 §5.2).

An operation is named by the pair (interface, operation); two interfaces may declare one operation id. A step id
that occurs twice, and a pair that one interface declares twice, resolve to nothing. Nothing is ever raised:
sealing, which cannot live with such a duplicate, asks `first_duplicate` before it starts.
"""

from collections import Counter

from eval_quality.core.contract.operation import AnyOperation, operations_of
from eval_quality.model.contract import EvalContract, InteractionStep


class PlanIndex:
    """The plan and the inventory of one contract, indexed once."""

    __slots__ = ("_duplicated", "_holders", "_operations", "_steps", "_using", "contract")

    def __init__(self, contract: EvalContract) -> None:
        self.contract = contract
        self._steps: dict[str, InteractionStep | None] = {}
        self._using: dict[tuple[str, str], list[InteractionStep]] = {}
        for step in contract.interaction_plan:
            self._steps[step.step_id] = None if step.step_id in self._steps else step
            self._using.setdefault((step.interface_id, step.operation_id), []).append(step)
        self._operations: dict[tuple[str, str], AnyOperation] = {}
        self._duplicated: dict[tuple[str, str], None] = {}
        self._holders: Counter[str] = Counter()
        for declared in operations_of(contract):
            pair = (declared.interface.logical_id, declared.operation.operation_id)
            if pair in self._operations:
                self._duplicated[pair] = None
            else:
                self._operations[pair] = declared.operation
                self._holders[declared.operation.operation_id] += 1

    def step(self, step_id: str) -> InteractionStep | None:
        """The one step of that id; None where there is none, or more than one."""
        return self._steps.get(step_id)

    def operation(self, interface_id: str, operation_id: str) -> AnyOperation | None:
        """The operation a pair names, of whichever kind; None where it is not declared, or declared twice."""
        pair = (interface_id, operation_id)
        return None if pair in self._duplicated else self._operations.get(pair)

    def operation_of(self, step: InteractionStep) -> AnyOperation | None:
        """The operation a step names."""
        return self.operation(step.interface_id, step.operation_id)

    def steps_using(self, interface_id: str, operation_id: str) -> tuple[InteractionStep, ...]:
        """Every plan step naming a pair, in plan order, steps with a duplicated id included."""
        return tuple(self._using.get((interface_id, operation_id), ()))

    def is_operation_id_shared(self, operation_id: str) -> bool:
        """Whether more than one interface declares that operation id."""
        return self._holders[operation_id] > 1

    def is_operation_duplicated(self, interface_id: str, operation_id: str) -> bool:
        """Whether one interface declares that operation id at least twice."""
        return (interface_id, operation_id) in self._duplicated

    def why_unresolved(self, interface_id: str, operation_id: str) -> str:
        """The clause details use where `operation` answered nothing."""
        times = (
            "declares more than once"
            if self.is_operation_duplicated(interface_id, operation_id)
            else "does not declare"
        )
        return f'on interface "{interface_id}", which that interface {times}'

    def first_duplicate(self) -> str | None:
        """What makes the plan ambiguous to a sealer: the first repeated step id, else the first repeated pair."""
        for step_id, step in self._steps.items():
            if step is None:
                return f'the interaction plan declares step "{step_id}" more than once'
        for interface_id, operation_id in self._duplicated:
            return f'interface "{interface_id}" declares operation "{operation_id}" more than once'
        return None
