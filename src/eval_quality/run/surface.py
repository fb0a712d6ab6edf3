"""Making the sealed view from a contract and its brief (spec 12 §12.14.1).

The call surface is the smallest statement of what may be called: the request side only. Response descriptors, roles,
cardinalities, pointers, witnesses, plan, checks, state-change marks and artifact names are not in it.
"""

from typing import Any

from eval_quality.core.contract.operation import AnyOperation, input_channels, request_shape
from eval_quality.model.brief import SealedEvaluatorBrief
from eval_quality.model.contract import EvalContract
from eval_quality.model.decode import to_value
from eval_quality.model.interface import CommandOperation, Operation
from eval_quality.run.evaluators.external.view import SealedView
from eval_quality.value.text import utf16_key


def sealed_view(contract: EvalContract, brief: SealedEvaluatorBrief) -> SealedView:
    """The two documents an external evaluator gets."""
    interfaces = sorted(contract.permitted_interfaces, key=lambda interface: utf16_key(interface.logical_id))
    surface: dict[str, Any] = {
        "protocol": "eval-quality/call-surface/v1",
        "interfaces": [
            {
                "interfaceId": interface.logical_id,
                "kind": interface.kind,
                "operations": [
                    {
                        "operationId": operation.operation_id,
                        "identity": _identity(operation),
                        "channels": {name: _channel(operation, name) for name in input_channels(operation)},
                    }
                    for operation in interface.operations
                ],
            }
            for interface in interfaces
        ],
        "principals": sorted(contract.test_data.principals or {}, key=utf16_key),
    }
    return SealedView(to_value(brief), surface)  # pyright: ignore


def _identity(operation: AnyOperation) -> dict[str, Any]:
    if isinstance(operation, Operation):
        return {"method": operation.method, "pathTemplate": operation.path_template}
    if isinstance(operation, CommandOperation):
        return to_value(operation.invocation)  # pyright: ignore
    return {"toolName": operation.tool_name}


def _channel(operation: AnyOperation, name: str) -> dict[str, Any]:
    shape = request_shape(operation, name)
    assert shape is not None
    return {
        "permittedKeys": sorted(shape.permitted_keys, key=utf16_key),
        "requiredKeys": sorted(shape.required_keys, key=utf16_key),
        "types": dict(shape.types),
    }
