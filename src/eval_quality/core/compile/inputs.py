"""Inputs nobody declared (spec 03 §7.4, §14.1, §14.4 rule 3). One code, `undeclared-mandatory-input`, for all.

Plan steps and witness legs are looked at in strict mode only; the fixture reset's inputs always are, because
pre-flight really sends them.
"""

from collections.abc import Iterable, Mapping
from typing import Final

from eval_quality.core.compile.codes import UNDECLARED_MANDATORY_INPUT
from eval_quality.core.compile.survey import Survey, operation_position
from eval_quality.core.contract.binding import KeyedBinding, binding_path, bound_channels
from eval_quality.core.contract.keys import js_order
from eval_quality.core.contract.operation import (
    AnyOperation,
    declares_key,
    declares_no_request_keys,
    family,
    input_channels,
    request_shape,
)
from eval_quality.errors import StructuralFailure
from eval_quality.model.binding import JsonBody, RawRequestBody, TextBody, WitnessInputs
from eval_quality.model.contract import EvalContract, InteractionStep
from eval_quality.value.kind import is_object

_FAMILY_NAMES: Final = {"api": "transport", "cli": "command", "mcp": "tool-call"}


def step_inputs(survey: Survey) -> StructuralFailure | None:
    """Step 15, §7.4, strict only: plan steps bind declared keys and declared principals."""
    for step in survey.contract.interaction_plan:
        operation = survey.index.operation_of(step)
        if operation is not None and (failure := _undeclared_binding(step, operation, survey.contract)):
            return failure
    return None


def _undeclared_binding(
    step: InteractionStep, operation: AnyOperation, contract: EvalContract
) -> StructuralFailure | None:
    header = step.input_binding.header
    if isinstance(step.input_binding.body, RawRequestBody) and header and _names_content_type(header):
        return StructuralFailure(
            UNDECLARED_MANDATORY_INPUT,
            f"EvalContract.interactionPlan[stepId={step.step_id}].inputBinding.header",
            "the raw body already declares its content type",
        )
    for channel, bound in bound_channels(step):
        if bound is None:
            continue
        reason = _undeclared_key(channel, bound, operation, contract)
        if reason is not None:
            key, detail = reason
            return StructuralFailure(UNDECLARED_MANDATORY_INPUT, binding_path(step, channel, key), detail)
    return None


def _undeclared_key(
    channel: str, bound: KeyedBinding, operation: AnyOperation, contract: EvalContract
) -> tuple[str, str] | None:
    shape, principals = request_shape(operation, channel), contract.test_data.principals or {}
    for key in js_order(bound):
        value = bound[key]
        if not declares_key(shape, key):
            return key, f'operation "{operation.operation_id}" declares no key "{key}" on its {channel} channel'
        if value.form == "principal" and value.principal not in principals:
            return key, f'the test data declares no principal "{value.principal}"'
    return None


def _names_content_type(keys: Iterable[str]) -> bool:
    return any(_ascii_lower(key) == "content-type" for key in keys)


def _ascii_lower(text: str) -> str:
    return text.translate(_LOWER)


_LOWER: Final = {upper: upper + 32 for upper in range(ord("A"), ord("Z") + 1)}


def witness_declarations(survey: Survey) -> StructuralFailure | None:
    """Step 16, §14.1, strict only: an operation with request keys has a witness, and its legs send a full input."""
    for declared in survey.operations:
        operation, path = declared.operation, operation_position(declared)
        witness = operation.sensitivity_witness
        if witness is None:
            if declares_no_request_keys(operation):
                continue
            return StructuralFailure(
                UNDECLARED_MANDATORY_INPUT,
                path,
                f'operation "{operation.operation_id}" takes inputs and declares no sensitivity witness; its relation '
                "is the author's choice and may assert that the answer does not depend on them",
            )
        for position, leg in enumerate(witness.legs):
            where = f"{path}.sensitivityWitness.legs[{position}]"
            failure = inputs_against_shape(leg.inputs, operation, f'leg "{leg.leg_id}"', where)
            if failure is not None:
                return failure
    return None


def inputs_against_shape(
    inputs: WitnessInputs, operation: AnyOperation, owner: str, path: str
) -> StructuralFailure | None:
    """§14.1: the values one leg sends against the keys the operation declares; the first violation, at `path`."""
    reason = _unfit_inputs(inputs, operation)
    return None if reason is None else StructuralFailure(UNDECLARED_MANDATORY_INPUT, path, f"{owner} {reason}")


def _unfit_inputs(inputs: WitnessInputs, operation: AnyOperation) -> str | None:
    name = operation.operation_id
    # 1. the spelling is the operation's kind
    if inputs.family != family(operation):
        spelt, expected = _FAMILY_NAMES[inputs.family], _FAMILY_NAMES[family(operation)]
        return f'spells {spelt} inputs, and operation "{name}" takes {expected} inputs'
    supplied = dict(inputs.channels())
    # 2. channel by channel
    for channel in input_channels(operation):
        value, shape = supplied[channel], request_shape(operation, channel)
        assert shape is not None, "the channels of an operation's own kind have shapes"
        if isinstance(value, RawRequestBody):
            if _names_content_type(supplied["header"]):
                return "sends a raw body, which already declares its content type, beside a content-type header"
            continue
        if isinstance(value, TextBody):
            if len(shape.required_keys) != 1:
                return (
                    f'sends text on standard input, and operation "{name}" requires '
                    f"{len(shape.required_keys)} keys there: text fills exactly one"
                )
            continue
        keys = _supplied_keys(value)
        missing = next((key for key in shape.required_keys if key not in keys), None)
        if missing is not None:
            return f'does not supply the {channel} key "{missing}" that operation "{name}" requires'
        extra = next((key for key in js_order(keys) if not declares_key(shape, key)), None)
        if extra is not None:
            return f'supplies the {channel} key "{extra}", which operation "{name}" does not declare'
    return None


def _supplied_keys(value: object) -> Mapping[str, object]:
    """The keys a channel's value names; a body or a stream names some only as a JSON object."""
    held = value.value if isinstance(value, JsonBody) else value
    return held if is_object(held) else {}
