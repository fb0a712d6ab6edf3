"""How a step is named: its operation, and as much of what was sent as it takes (spec 04 §7.6).

    generic   the lend book endpoint (with the supplied body copyId)
    kind      the lend book endpoint (with the stated body copyId)
    literal   the lend book endpoint (with the body copyId 7)

At the last level a captured value is explained by the step it came from, and so on. A budget of characters, fresh
for each top-level rendering, stops that: once it is used up, captures are named and no longer explained.
"""

from collections.abc import Iterator
from typing import Final, Literal, NamedTuple, TypeAlias

from eval_quality.core.contract.binding import BoundValue, bound_values
from eval_quality.core.contract.operation import family
from eval_quality.core.contract.plan import PlanIndex
from eval_quality.core.contract.pointer import ParsedPointer, parse_pointer
from eval_quality.core.contract.text import display
from eval_quality.core.direction.words import and_, target_phrase
from eval_quality.model.contract import InteractionStep
from eval_quality.model.interface import AnyOperation
from eval_quality.value.text import utf16_length

Level: TypeAlias = Literal["generic", "kind", "literal"]

LEVELS: Final[tuple[Level, ...]] = ("generic", "kind", "literal")
"""From the least said to the most."""

_NOUNS: Final = {"api": "endpoint", "cli": "command", "mcp": "tool"}


class Rendering(NamedTuple):
    """A step reference, and whether its budget ran out on the way."""

    text: str
    spent: bool


class Budget:
    """The characters one top-level rendering may still explain captures with."""

    def __init__(self, limit: int) -> None:
        self.remaining = limit
        self.spent = False

    def exhausted(self) -> bool:
        """Whether nothing is left; asking and being told so marks the budget spent."""
        if self.remaining <= 0:
            self.spent = True
            return True
        return False


class _CaptureGroup(NamedTuple):
    """The captures of one clause that read the same step."""

    step: InteractionStep
    operation: AnyOperation
    names: list[str]
    targets: list[ParsedPointer]


def operation_reference(step: InteractionStep, operation: AnyOperation, index: PlanIndex) -> str:
    """`the <name> <noun>`, with the interface exactly when the operation id is not enough."""
    name = step.operation_id.replace("-", " ")
    shared = index.is_operation_id_shared(step.operation_id)
    qualifier = f' of interface "{step.interface_id}"' if shared else ""
    return f"the {name} {_NOUNS[family(operation)]}{qualifier}"


def render_step(
    step: InteractionStep, operation: AnyOperation, level: Level, limit: int, index: PlanIndex
) -> Rendering:
    """Name a step at a level, with a fresh budget of `limit` characters."""
    budget = Budget(limit)
    return Rendering(_reference(step, operation, level, budget, (step.step_id,), index), budget.spent)


def _reference(
    step: InteractionStep,
    operation: AnyOperation,
    level: Level,
    budget: Budget,
    path: tuple[str, ...],
    index: PlanIndex,
) -> str:
    # Depth: every level of the recursion adds a step of the plan to the path, and a compiled plan has few.
    phrases = [
        slot if isinstance(slot, str) else _explain(slot, level, budget, path, index)
        for slot in _slots(step, level, budget, path, index)
    ]
    reference = operation_reference(step, operation, index)
    return f"{reference} (with {and_(phrases)})" if phrases else reference


def _slots(
    step: InteractionStep, level: Level, budget: Budget, path: tuple[str, ...], index: PlanIndex
) -> list[str | _CaptureGroup]:
    """The clause's phrases in order; captures that expand stay groups, each where its first capture stands."""
    slots: list[str | _CaptureGroup] = []
    groups: dict[str, _CaptureGroup] = {}
    for entry in _rendered_entries(step):
        pointer = entry.value.captured
        name = f"{entry.channel} {entry.key}"
        if level != "literal" or not isinstance(pointer, str):
            slots.append(_phrase(entry, name, level))
            continue
        target = parse_pointer(pointer)
        captured = None if budget.exhausted() or target.step_id in path else index.step(target.step_id)
        operation = None if captured is None else index.operation_of(captured)
        if captured is None or operation is None:
            slots.append(_phrase(entry, name, level))
            continue
        if target.step_id not in groups:
            groups[target.step_id] = _CaptureGroup(captured, operation, [], [])
            slots.append(groups[target.step_id])
        group = groups[target.step_id]
        group.names.append(name)
        group.targets.append(target)
    return slots


def _rendered_entries(step: InteractionStep) -> Iterator[BoundValue]:
    """A step's keyed bindings; where one violates its type, only those that do are worth telling."""
    entries = tuple(bound_values(step))
    violating = tuple(entry for entry in entries if entry.value.matcher == "type-violating")
    return iter(violating or entries)


def _phrase(entry: BoundValue, name: str, level: Level) -> str:
    value = entry.value
    if value.matcher == "type-violating":
        return f"a malformed {name} value"
    if level == "generic" or value.form == "matcher":
        return f"the supplied {name}"
    if value.form == "principal":
        return f"the {name} of the {value.principal} account"
    if value.form == "captured":
        return f"the {name} you obtained earlier"
    return f"the {name} {display(value.literal)}" if level == "literal" else f"the stated {name}"


def _explain(group: _CaptureGroup, level: Level, budget: Budget, path: tuple[str, ...], index: PlanIndex) -> str:
    names = and_(group.names)
    if budget.exhausted():
        return f"the {names} you obtained earlier"
    # Nested groups pay for themselves before this one pays for the whole.
    reference = _reference(group.step, group.operation, level, budget, (*path, group.step.step_id), index)
    budget.remaining -= utf16_length(reference)
    targets = and_([target_phrase(target) for target in group.targets])
    return f"the {names} you obtained as {targets} from {reference}"
