"""Facts about an operation that depend on its interface kind (spec 03 §5.3, spec 02 §10.6).

An operation is recognised by its own record: HTTP (`api` and `web`), command (`cli`) or tool call (`mcp`).
"""

import re
from collections.abc import Iterator
from typing import Final, Literal, NamedTuple, TypeAlias

from eval_quality.core.contract.pointer import ParsedPointer
from eval_quality.model.contract import EvalContract
from eval_quality.model.expression import KeyedShapeDescriptor
from eval_quality.model.interface import (
    AnyOperation,
    CommandInvocation,
    CommandOperation,
    Operation,
    PermittedInterface,
)

AnyInterface: TypeAlias = PermittedInterface
Family: TypeAlias = Literal["api", "cli", "mcp"]

_INPUT_CHANNELS: Final[dict[Family, tuple[str, ...]]] = {
    "api": ("path", "query", "header", "body"),
    "cli": ("argument", "option", "environment", "stdin"),
    "mcp": ("arguments",),
}
_PATH_PARAMETER: Final = re.compile(r"\{[A-Za-z0-9_-]+\}")


class TransportIdentity(NamedTuple):
    """What makes two operations the same one on the wire; families never collide (spec 02 §10.6)."""

    family: Family
    signature: str


class DeclaredOperation(NamedTuple):
    """One operation of the inventory with its place: both spellings of an operation's path need it."""

    interface: AnyInterface
    operation: AnyOperation
    interface_index: int
    operation_index: int


def operations_of(contract: EvalContract) -> Iterator[DeclaredOperation]:
    """Every operation of every interface, in declaration order."""
    for interface_index, interface in enumerate(contract.permitted_interfaces):
        for operation_index, operation in enumerate(interface.operations):
            yield DeclaredOperation(interface, operation, interface_index, operation_index)


def family(operation: AnyOperation) -> Family:
    """The shape family: `api` covers `web` as well."""
    if isinstance(operation, Operation):
        return "api"
    return "cli" if isinstance(operation, CommandOperation) else "mcp"


def input_channels(operation: AnyOperation) -> tuple[str, ...]:
    """The input channels of the operation's kind, in order."""
    return _INPUT_CHANNELS[family(operation)]


def request_shape(operation: AnyOperation, channel: str) -> KeyedShapeDescriptor | None:
    """The declared keys of one input channel, or None where the kind has no such channel."""
    if channel not in input_channels(operation):
        return None
    return getattr(operation.request_shape, channel)


def declares_key(shape: KeyedShapeDescriptor | None, key: str) -> bool:
    """Whether a channel declares a key at all; a channel the kind lacks declares none."""
    return shape is not None and (key in shape.required_keys or key in shape.permitted_keys)


def declares_no_request_keys(operation: AnyOperation) -> bool:
    """Whether no input channel requires, permits or types any key."""
    return not any(declares_request_keys(operation, channel) for channel in input_channels(operation))


def declares_request_keys(operation: AnyOperation, channel: str) -> bool:
    """Whether one input channel requires, permits or types any key; an untyped key counts."""
    shape = request_shape(operation, channel)
    return shape is not None and bool(shape.required_keys or shape.permitted_keys or shape.types)


def described_channel(operation: AnyOperation) -> str:
    """The evidence channel the one response descriptor describes."""
    if isinstance(operation, CommandOperation):
        described = operation.descriptor_channel
        return described.channel if described.kind == "stream" else "artifact"
    return "response-body"


def described_artifact(operation: AnyOperation) -> str | None:
    """The artifact the response descriptor describes, where it describes one."""
    if isinstance(operation, CommandOperation) and operation.descriptor_channel.kind == "artifact":
        return operation.descriptor_channel.artifact_id
    return None


def declared_artifacts(operation: AnyOperation) -> tuple[str, ...]:
    """The files the operation says it writes; only a command writes any."""
    return operation.artifacts if isinstance(operation, CommandOperation) else ()


def addresses_described(pointer: ParsedPointer, operation: AnyOperation) -> bool:
    """Whether a pointer stands on the described channel, and on the described artifact if that channel is one."""
    return pointer.channel == described_channel(operation) and pointer.artifact_id == described_artifact(operation)


def http_identity(method: str, path_template: str) -> TransportIdentity:
    """Method and template with parameter names erased."""
    return TransportIdentity("api", f"{method} {_PATH_PARAMETER.sub('{}', path_template)}")


def command_identity(invocation: CommandInvocation) -> TransportIdentity:
    """Executable and subcommand words."""
    return TransportIdentity("cli", " ".join((invocation.executable, *invocation.subcommand_path)))


def tool_identity(tool_name: str) -> TransportIdentity:
    """The published tool name."""
    return TransportIdentity("mcp", tool_name)


def transport_identity(operation: AnyOperation) -> TransportIdentity:
    """Method and erased template, invocation words, or tool name (spec 02 §10.6, spec 03 §7.3)."""
    if isinstance(operation, Operation):
        return http_identity(operation.method, operation.path_template)
    if isinstance(operation, CommandOperation):
        return command_identity(operation.invocation)
    return tool_identity(operation.tool_name)


def first_operation(contract: EvalContract, interface_id: str, operation_id: str) -> AnyOperation | None:
    """The first operation of that id in the interface of that id, as the fixture reset is read (spec 03 §14.4)."""
    return next(
        (
            each.operation
            for each in operations_of(contract)
            if (each.interface.logical_id, each.operation.operation_id) == (interface_id, operation_id)
        ),
        None,
    )
