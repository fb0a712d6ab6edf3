"""Whether evidence a pointer names can exist at all (spec 03 §8).

Three questions, each answered by None (reachable) or by the reason it is not:

    plan level        `unreachable_through_plan`   does the pointer's step lead to an operation (§8.2)
    operation level   `unreachable_in`             does that operation put anything on the channel (§8.3)
    descriptor level  `descent_refusal`            does the response descriptor declare the field (§8.4)
"""

from typing import Final

from eval_quality.core.compile.codes import UNREACHABLE_CHECK_EVIDENCE
from eval_quality.core.compile.survey import Survey, operation_path
from eval_quality.core.contract.keys import is_array_index
from eval_quality.core.contract.operation import (
    AnyOperation,
    addresses_described,
    declared_artifacts,
    declares_key,
    described_artifact,
    described_channel,
    family,
    request_shape,
)
from eval_quality.core.contract.plan import PlanIndex
from eval_quality.core.contract.pointer import ParsedPointer, is_bound, parse_pointer
from eval_quality.errors import StructuralFailure
from eval_quality.value.pointer import split

WILDCARD: Final = "*"
"""The token of a volatile or state-reset pointer that stands for every member (spec 02 §7.3)."""

_SCALAR_TYPES: Final = ("string", "number", "boolean", "null")
_TOOL_CALL_CHANNELS: Final = ("response-status", "exit-code", "call-inputs")
_RESPONSE_CHANNELS: Final = ("response-body", "response-headers", "response-status")


def is_scalar_type(name: str | None) -> bool:
    """Whether a declared JSON type has no members; an undeclared or unstated type may have some."""
    return name in _SCALAR_TYPES


def unreachable_through_plan(pointer: str, index: PlanIndex) -> str | None:
    """§8.2: why a pointer of a check, a capture or a criterion reaches nothing."""
    if is_bound(pointer):
        return None
    parsed = parse_pointer(pointer)
    step = index.step(parsed.step_id)
    if step is None:
        return f'the interaction plan does not declare one step "{parsed.step_id}"'
    operation = index.operation_of(step)
    if operation is None:
        clause = index.why_unresolved(step.interface_id, step.operation_id)
        return f'step "{step.step_id}" names operation "{step.operation_id}" {clause}'
    return unreachable_in(parsed, operation)


def unreachable_in(pointer: ParsedPointer, operation: AnyOperation) -> str | None:
    """§8.3: why an operation never puts anything where a pointer looks. The order of the questions is the rule."""
    name, channel, tail = operation.operation_id, pointer.channel, pointer.tail
    # 1. a written artifact
    if channel == "artifact":
        if pointer.artifact_id not in declared_artifacts(operation):
            return f'operation "{name}" does not declare artifact "{pointer.artifact_id}"'
        if pointer.artifact_id == described_artifact(operation):
            return descent_refusal(operation, tail)
        return f'operation "{name}" declares no structure for artifact "{pointer.artifact_id}"' if tail else None
    # 2. the described channel
    if channel == described_channel(operation):
        return descent_refusal(operation, tail)
    # 3. what else a tool call has
    if family(operation) == "mcp" and channel not in _TOOL_CALL_CHANNELS:
        return f'operation "{name}" is a tool call, which has no {channel}'
    # 4. an output stream that nothing describes
    if channel in ("stdout", "stderr"):
        return f'operation "{name}" declares no structure for {channel}' if tail else None
    # 5. a command answers no HTTP response
    if family(operation) == "cli" and channel in _RESPONSE_CHANNELS:
        return f'operation "{name}" is a command, which has no {channel}'
    # 6. what was sent
    if pointer.input_channel is not None:
        return _unreachable_input(pointer.input_channel, tail, operation)
    # 7. everything else
    return None


def _unreachable_input(channel: str, tail: tuple[str, ...], operation: AnyOperation) -> str | None:
    name, shape = operation.operation_id, request_shape(operation, channel)
    if shape is None:
        return f'operation "{name}" has no input channel {channel}'
    if not tail:
        return None
    if not declares_key(shape, tail[0]):
        return f'operation "{name}" declares no {channel} key "{tail[0]}"'
    if len(tail) > 1 and is_scalar_type(declared := shape.types.get(tail[0])):
        return f'operation "{name}" declares {channel} key "{tail[0]}" a {declared}, which has no members'
    return None


def descent_refusal(operation: AnyOperation, tail: tuple[str, ...]) -> str | None:
    """§8.4: why a tail leads nowhere in the response descriptor. Tokens beyond the second are never examined."""
    if not tail:
        return None
    descriptor, first = operation.response_descriptor, tail[0]
    root = next((each for each in descriptor.collection_locations or () if each.pointer == ""), None)
    if root is not None and is_array_index(first):
        cardinality = root.expected_cardinality
        bound = cardinality.count if cardinality.mode == "exact" else cardinality.max
        if _below(first, bound):
            return None
        return f"index {first} is outside the root collection, declared {cardinality.mode} {bound}"
    if first not in descriptor.required_keys and first not in descriptor.permitted_keys:
        return f'the {described_channel(operation)} of operation "{operation.operation_id}" declares no field "{first}"'
    if len(tail) > 1 and is_scalar_type(declared := descriptor.types.get(first)):
        return f'operation "{operation.operation_id}" declares field "{first}" a {declared}, which has no members'
    return None


def _below(index: str, bound: int) -> bool:
    # Compared as digit strings: an index may be longer than any number the interpreter agrees to parse.
    limit = str(bound)
    return (len(index), index) < (len(limit), limit)


def covers(entry: tuple[str, ...], tail: tuple[str, ...]) -> bool:
    """§8.5: whether a volatile entry covers a tail; the empty entry covers everything."""
    return len(tail) >= len(entry) and all(
        token in (WILDCARD, actual) for token, actual in zip(entry, tail, strict=False)
    )


def volatile_entry_over(operation: AnyOperation, tail: tuple[str, ...]) -> str | None:
    """The first volatile pointer of an operation that covers a tail, as written."""
    return next((entry for entry in operation.volatile_pointers if covers(split(entry), tail)), None)


def check_evidence(survey: Survey) -> StructuralFailure | None:
    """Step 6: every pointer of every oracle check."""
    for site in survey.oracle_sites:
        for node in site.nodes:
            for place in node.operands:
                if place.pointer is None:
                    continue
                reason = unreachable_through_plan(place.pointer, survey.index)
                if reason is not None:
                    return StructuralFailure(UNREACHABLE_CHECK_EVIDENCE, place.path, f'"{place.pointer}": {reason}')
    return None


def state_reset_pointers(survey: Survey) -> StructuralFailure | None:
    """Step 7b, §8.6: what pre-flight compares after a reset must be declared and must not be volatile."""
    for declared in survey.operations:
        for position, pointer in enumerate(declared.operation.state_reset_pointers or ()):
            reason = _compares_nothing(declared.operation, split(pointer))
            if reason is not None:
                return StructuralFailure(
                    UNREACHABLE_CHECK_EVIDENCE,
                    f"{operation_path(declared)}.stateResetPointers[{position}]",
                    f'"{pointer}": the pointer would compare nothing: {reason}',
                )
    return None


def _compares_nothing(operation: AnyOperation, tail: tuple[str, ...]) -> str | None:
    volatile = volatile_entry_over(operation, tail)
    if volatile is not None:
        return f'volatile pointer "{volatile}" covers it'
    if not tail or tail[0] != WILDCARD:
        return descent_refusal(operation, tail)
    # Decided in the specification: `*` first is declared as soon as the descriptor declares any member at all.
    descriptor = operation.response_descriptor
    has_root_collection = any(each.pointer == "" for each in descriptor.collection_locations or ())
    if descriptor.required_keys or descriptor.permitted_keys or has_root_collection:
        return None
    return f'operation "{operation.operation_id}" declares no member for "*" to stand for'


def leg_channel_refusal(pointer: ParsedPointer, operation: AnyOperation) -> str | None:
    """§8.5: why a witness leg carries nothing where a pointer looks; it carries less than a plan step does."""
    carried = _LEG_CHANNELS[family(operation)]
    if addresses_described(pointer, operation) or pointer.channel in carried:
        return None
    listed = ", ".join((described_channel(operation), *carried))
    return f"a witness leg carries only {listed}"


_LEG_CHANNELS: Final = {
    "api": ("response-headers", "response-status", "call-inputs"),
    "cli": ("exit-code", "call-inputs"),
    "mcp": ("response-status", "exit-code", "call-inputs"),
}
