"""Can a signature's selector match anything at all? (spec 08 §1.13)

Only with a home operation. For each bound input channel in channel order, for each key in the binding's own order:

1. The key is required or permitted on that channel. An operation without the channel declares no key on it.
2. A `type-violating` matcher needs a declared, stated type to violate.

A raw body binds no key and is skipped.
"""

from collections.abc import Iterator, Mapping

from eval_quality.core.contract.keys import js_order
from eval_quality.core.contract.operation import AnyOperation, declares_key, request_shape
from eval_quality.core.qualify.result import QualificationFailure
from eval_quality.model.binding import ProbeBindingValue, RawRequestBody
from eval_quality.model.expression import KeyedShapeDescriptor
from eval_quality.model.probe import DefectSignature
from eval_quality.value.text import quoted


def selector_failures(signature: DefectSignature, operation: AnyOperation, path: str) -> Iterator[QualificationFailure]:
    """Every key of the selector that `operation` cannot be sent, in order."""
    for channel, bound in signature.condition.selector.input_binding.channels():
        if bound is None or isinstance(bound, RawRequestBody):
            continue
        shape = request_shape(operation, channel)
        for key in js_order(bound):
            detail = _undeclared(channel, key, shape, operation) or _untyped(channel, key, bound[key], shape, operation)
            if detail is not None:
                yield QualificationFailure(
                    code="condition-selector-key-undeclared",
                    artifact_path=f"{path}.defectSignature.condition.selector.inputBinding.{channel}[{quoted(key)}]",
                    detail=detail,
                )


def _undeclared(channel: str, key: str, shape: KeyedShapeDescriptor | None, operation: AnyOperation) -> str | None:
    if declares_key(shape, key):
        return None
    # The words are quoted by the product documents (spec 08 §17.3).
    return (
        f'operation "{operation.operation_id}" declares "{key}" in neither requiredKeys nor permittedKeys of its '
        f"{channel} channel, so this selector matches no observation and the probe can never be triggered (AD-4, AD-40)"
    )


def _untyped(
    channel: str,
    key: str,
    value: ProbeBindingValue,
    shape: KeyedShapeDescriptor | None,
    operation: AnyOperation,
) -> str | None:
    types: Mapping[str, str | None] = {} if shape is None else shape.types
    if value.form != "matcher" or value.matcher != "type-violating" or types.get(key) is not None:
        return None
    stated = "declares the type as indeterminate" if key in types else "declares no type for it"
    return (
        f"operation {quoted(operation.operation_id)} {stated}, so no value of {quoted(key)} on its {channel} channel "
        "can violate one"
    )
