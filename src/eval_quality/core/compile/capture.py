"""Bindings that capture an earlier step's output (spec 03 §12).

A capture may read only a one-token, declared-scalar field of the described channel of another step's operation,
into a parameter declared with the same type, and no capture may wait for itself.
"""

from collections.abc import Iterator

from eval_quality.core.compile.codes import BINDING_CYCLE, CAPTURED_CHANNEL_UNDECLARED, UNREACHABLE_CHECK_EVIDENCE
from eval_quality.core.compile.reachability import is_scalar_type, unreachable_in
from eval_quality.core.compile.survey import Survey
from eval_quality.core.contract.binding import BoundValue, captured_values
from eval_quality.core.contract.keys import is_array_index
from eval_quality.core.contract.operation import AnyOperation, addresses_described, declares_key, request_shape
from eval_quality.core.contract.plan import PlanIndex
from eval_quality.core.contract.pointer import ParsedPointer, parse_pointer
from eval_quality.errors import StructuralFailure


def _captures(survey: Survey) -> Iterator[tuple[BoundValue, str, ParsedPointer]]:
    for step in survey.contract.interaction_plan:
        for bound, pointer in captured_values(step):
            yield bound, pointer, parse_pointer(pointer)


def captured_evidence(survey: Survey) -> StructuralFailure | None:
    """Step 7, §12.2: what is captured can be there, and has the type of the parameter it fills."""
    for bound, pointer, parsed in _captures(survey):
        reason = _uncapturable(bound, parsed, survey.index)
        if reason is not None:
            return StructuralFailure(UNREACHABLE_CHECK_EVIDENCE, bound.path, f'"{pointer}": {reason}')
    return None


def _uncapturable(bound: BoundValue, pointer: ParsedPointer, index: PlanIndex) -> str | None:
    # 1. the step
    step = index.step(pointer.step_id)
    if step is None:
        return f'the interaction plan does not declare one step "{pointer.step_id}"'
    # 2. its operation
    operation = index.operation_of(step)
    if operation is None:
        clause = index.why_unresolved(step.interface_id, step.operation_id)
        return f'step "{step.step_id}" names operation "{step.operation_id}" {clause}'
    # 3. another channel is §12.3's to refuse
    if not addresses_described(pointer, operation):
        return None
    # 4. reachability
    reason = unreachable_in(pointer, operation)
    if reason is not None:
        return reason
    # 5. the captured type
    reason = _untyped_capture(pointer, operation)
    if reason is not None:
        return reason
    captured_type = operation.response_descriptor.types[pointer.tail[0]]
    # 6. the bound parameter's type, where the strict input check does not own the parameter
    own = index.operation_of(bound.step)
    shape = None if own is None else request_shape(own, bound.channel)
    if shape is None or not declares_key(shape, bound.key):
        return None
    bound_type = shape.types.get(bound.key)
    if bound_type is None:
        return f'{bound.channel} key "{bound.key}" states no type, so no type equality is decidable'
    # 7. the two types
    if captured_type != bound_type:
        return f'captured type {captured_type} is not the {bound_type} that {bound.channel} key "{bound.key}" takes'
    return None


def _untyped_capture(pointer: ParsedPointer, operation: AnyOperation) -> str | None:
    tail, depth = pointer.tail, len(pointer.tail)
    if depth == 0:
        return "it captures the whole channel, not one declared field"
    if depth > 1:
        return f"it captures a path {depth} segments deep, not one declared field"
    if is_array_index(tail[0]):
        return "it captures an element of a collection, not one declared field"
    types = operation.response_descriptor.types
    if tail[0] not in types:
        return f'field "{tail[0]}" has no declared type'
    declared = types[tail[0]]
    if declared is None:
        return f'field "{tail[0]}" is declared with an unstated type'
    return None if is_scalar_type(declared) else f'field "{tail[0]}" is declared {declared}, which is not a scalar'


def binding_cycle(survey: Survey) -> StructuralFailure | None:
    """Step 22, §12.1: no capture whose two ends wait for each other through captures and `after` clauses."""
    edges: dict[str, set[str]] = {step.step_id: set() for step in survey.contract.interaction_plan}
    for step in survey.contract.interaction_plan:
        if step.after in edges:
            edges[step.step_id].add(step.after)
    captures = [(bound, pointer, parsed.step_id) for bound, pointer, parsed in _captures(survey)]
    for bound, _, captured in captures:
        if captured in edges:
            edges[bound.step.step_id].add(captured)
    reached: dict[str, set[str]] = {}
    for bound, pointer, captured in captures:
        if captured in edges and bound.step.step_id in _reachable(captured, edges, reached):
            return StructuralFailure(
                BINDING_CYCLE,
                bound.path,
                f'capturing "{pointer}" makes step "{bound.step.step_id}" wait for itself',
            )
    return None


def _reachable(start: str, edges: dict[str, set[str]], known: dict[str, set[str]]) -> set[str]:
    """The nodes reachable from a start, itself included."""
    if start not in known:
        seen, pending = {start}, [start]
        while pending:
            fresh = edges[pending.pop()] - seen
            seen |= fresh
            pending.extend(fresh)
        known[start] = seen
    return known[start]


def captured_channel(survey: Survey) -> StructuralFailure | None:
    """Step 23, §12.3: a capture reads the described channel and no other."""
    for bound, pointer, parsed in _captures(survey):
        step = survey.index.step(parsed.step_id)
        operation = None if step is None else survey.index.operation_of(step)
        if operation is None:
            described = parsed.channel == "response-body"
        else:
            described = addresses_described(parsed, operation)
        if not described:
            return StructuralFailure(
                CAPTURED_CHANNEL_UNDECLARED,
                bound.path,
                f'"{pointer}" captures from {parsed.channel}, which no response descriptor describes',
            )
    return None
