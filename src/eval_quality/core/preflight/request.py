"""The request a leg issues (spec 06 §6.3.2).

It names the leg, the logical interface and operation, and the inputs unchanged; never a URL, host, port, path or
credential.
"""

from collections.abc import Callable
from typing import Final

from eval_quality.core.compile.codes import UNDECLARED_MANDATORY_INPUT
from eval_quality.core.contract.operation import family
from eval_quality.errors import StructuralFailure
from eval_quality.model.binding import WitnessInputs
from eval_quality.model.interface import AnyOperation, CommandOperation, Operation
from eval_quality.model.ports import (
    ApiChannels,
    ApiRequest,
    CommandChannels,
    CommandRequest,
    ProbeRequest,
    ToolChannels,
    ToolRequest,
)


def build_request(leg_id: str, interface_id: str, operation: AnyOperation, inputs: WitnessInputs) -> ProbeRequest:
    """The request of one leg.

    Raises `StructuralFailure undeclared-mandatory-input` when the inputs are spelled for another kind of operation.
    """
    for mismatched, reason in _MISMATCHES:
        if mismatched(operation, inputs):
            interface_place = f"EvalContract.permittedInterfaces[logicalId={interface_id}]"
            path = f"{interface_place}.operations[operationId={operation.operation_id}]"
            raise StructuralFailure(UNDECLARED_MANDATORY_INPUT, path, f'leg "{leg_id}" {reason}')
    channels = dict(inputs.channels())
    if isinstance(operation, Operation):
        return ApiRequest(
            probe_id=leg_id,
            interface_id=interface_id,
            operation_id=operation.operation_id,
            method=operation.method,
            path_template=operation.path_template,
            channels=ApiChannels(**channels),
        )
    if isinstance(operation, CommandOperation):
        return CommandRequest(
            probe_id=leg_id,
            interface_id=interface_id,
            operation_id=operation.operation_id,
            executable=operation.invocation.executable,
            subcommand_path=operation.invocation.subcommand_path,
            channels=CommandChannels(**channels),
        )
    return ToolRequest(
        probe_id=leg_id,
        interface_id=interface_id,
        operation_id=operation.operation_id,
        tool_name=operation.tool_name,
        channels=ToolChannels(**channels),
    )


_MISMATCHES: Final[tuple[tuple[Callable[[AnyOperation, WitnessInputs], bool], str], ...]] = (
    (
        lambda operation, inputs: family(operation) == "mcp" and inputs.family != "mcp",
        "supplies channels a tool call does not carry",
    ),
    (
        lambda operation, inputs: family(operation) != "mcp" and inputs.family == "mcp",
        "supplies tool-call arguments to an operation that is not a tool call",
    ),
    (
        lambda operation, inputs: family(operation) == "cli" and inputs.family != "cli",
        "supplies transport channels to a command",
    ),
    (
        lambda operation, inputs: family(operation) == "api" and inputs.family != "api",
        "supplies channels an HTTP request does not carry",
    ),
)
"""Kind mismatches, in the order they are tested."""
