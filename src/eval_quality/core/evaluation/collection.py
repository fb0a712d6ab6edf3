"""Does a pointer denote a collection? (spec 05 §5.4)

The question is asked only about a pointer operand that resolved ABSENT. A pointer denotes a collection when it is
rooted at a step's `response-body` and its decoded tail is, token for token, the decoded pointer of a declared
collection location. No prefix matching, no array-index generalisation.

Two predicates: over a whole contract (scoring), where the step names the operation, and over one operation
(pre-flight), where the step is ignored. Neither raises for an unknown step or operation.
"""

from collections.abc import Callable
from typing import Any, TypeAlias

from eval_quality.core.contract.plan import PlanIndex
from eval_quality.core.contract.pointer import is_bound, parse_pointer
from eval_quality.model.contract import EvalContract
from eval_quality.value import pointer as json_pointer

PointerDenotesCollection: TypeAlias = Callable[[str], bool]
"""`predicate(pointer)`; the pointer is an evidence pointer as written in the contract."""


def make_pointer_denotes_collection(
    contract: EvalContract, plan_index: PlanIndex | None = None
) -> PointerDenotesCollection:
    """The contract-wide predicate (spec 05 §5.4.1).

    The plan index is built on the first call that needs it, because an ambiguous plan (a repeated step id, a repeated
    operation of one interface) raises `ValueError` then; hand one in to share it.
    """
    index = plan_index

    def denotes_collection(pointer: str) -> bool:
        nonlocal index
        if is_bound(pointer):
            return False
        target = parse_pointer(pointer)
        if target.channel != "response-body":
            return False
        if index is None:
            index = _index(contract)
        step = index.step(target.step_id)
        if step is None:
            return False
        operation = index.operation(step.interface_id, step.operation_id)
        return operation is not None and _declares_location(operation, target.tail)

    return denotes_collection


def _index(contract: EvalContract) -> PlanIndex:
    index = PlanIndex(contract)
    duplicate = index.first_duplicate()
    if duplicate is not None:
        raise ValueError(duplicate)
    return index


def make_operation_denotes_collection(operation: Any) -> PointerDenotesCollection:
    """The per-operation predicate (spec 05 §5.4.2); the pointer's step is ignored."""

    def denotes_collection(pointer: str) -> bool:
        if is_bound(pointer):
            return False
        target = parse_pointer(pointer)
        return target.channel == "response-body" and _declares_location(operation, target.tail)

    return denotes_collection


def _declares_location(operation: Any, tail: tuple[str, ...]) -> bool:
    locations = operation.response_descriptor.collection_locations
    return locations is not None and any(json_pointer.split(location.pointer) == tail for location in locations)
