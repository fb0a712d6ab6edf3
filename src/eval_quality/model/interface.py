"""Interfaces and their operations (spec 02 §10, §11.1 to §11.3).

`web` parses with the shape of `api` and is refused by the compiler. Outside an interface's own list an operation is
named by the pair (interface id, operation id).
"""

from collections.abc import Mapping
from typing import ClassVar, Literal, TypeAlias

from msgspec import UNSET, UnsetType

from eval_quality.model.binding import WitnessInputs
from eval_quality.model.expression import Expression, KeyedShapeDescriptor, KeyTypeMap
from eval_quality.model.primitives import (
    Count,
    DescriptorPointer,
    HttpMethod,
    Identifier,
    KeyName,
    PathTemplate,
    ToolName,
    WitnessChannel,
)
from eval_quality.model.record import Record, freeze_maps

ChannelRole = Literal["success-indicator", "diagnostic", "payload", "collection"]


class SensitivityWitnessLeg(Record):
    """One of the two calls whose answers a witness compares; its id roots `/interactions/{legId}/...` (§11.2)."""

    leg_id: Identifier
    inputs: WitnessInputs


class SensitivityWitness(Record):
    """Two legs that differ on one channel, and the relation their answers satisfy (§11.3)."""

    witness_id: Identifier
    channel: WitnessChannel
    legs: tuple[SensitivityWitnessLeg, SensitivityWitnessLeg]
    relation: Expression


class ExactCardinality(Record, tag_field="mode", tag="exact"):
    """A collection of exactly `count` elements."""

    mode: ClassVar[Literal["exact"]] = "exact"
    count: Count


class AtMostCardinality(Record, tag_field="mode", tag="at-most"):
    """A collection of at most `max` elements."""

    mode: ClassVar[Literal["at-most"]] = "at-most"
    max: Count


class PageBoundedCardinality(Record, tag_field="mode", tag="page-bounded"):
    """A page of at most `max` elements of a larger collection."""

    mode: ClassVar[Literal["page-bounded"]] = "page-bounded"
    max: Count


ExpectedCardinality: TypeAlias = ExactCardinality | AtMostCardinality | PageBoundedCardinality


class CollectionLocation(Record):
    """Where a response holds a collection (§10.3)."""

    pointer: DescriptorPointer
    expected_cardinality: ExpectedCardinality
    reference_set: Identifier | None


class ResponseDescriptor(Record):
    """What an operation's described channel holds (§10.3). For the two nullable members, None and empty differ."""

    required_keys: tuple[KeyName, ...]
    permitted_keys: tuple[KeyName, ...]
    types: KeyTypeMap
    success_indicator: DescriptorPointer | None
    channel_roles: Mapping[DescriptorPointer, ChannelRole] | None
    collection_locations: tuple[CollectionLocation, ...] | None

    def __post_init__(self) -> None:
        freeze_maps(self, "types", "channel_roles")


class RequestShape(Record):
    """The four request channels of an HTTP operation (§10.2)."""

    path: KeyedShapeDescriptor
    query: KeyedShapeDescriptor
    header: KeyedShapeDescriptor
    body: KeyedShapeDescriptor


class Operation(Record):
    """An HTTP operation (§10.2)."""

    operation_id: Identifier
    method: HttpMethod
    path_template: PathTemplate
    state_change_marker: bool
    request_shape: RequestShape
    response_descriptor: ResponseDescriptor
    volatile_pointers: tuple[DescriptorPointer, ...]
    state_reset_pointers: tuple[DescriptorPointer, ...] | UnsetType = UNSET
    sensitivity_witness: SensitivityWitness | None


class CommandInvocation(Record):
    """A logical executable and its subcommand path, never a file path (§10.4)."""

    executable: Identifier
    subcommand_path: tuple[Identifier, ...]


class CommandRequestShape(Record):
    """The four request channels of a command (§10.4)."""

    argument: KeyedShapeDescriptor
    option: KeyedShapeDescriptor
    environment: KeyedShapeDescriptor
    stdin: KeyedShapeDescriptor


class StreamChannel(Record, tag_field="kind", tag="stream"):
    """The response descriptor describes a standard stream."""

    kind: ClassVar[Literal["stream"]] = "stream"
    channel: Literal["stdout", "stderr"]


class ArtifactChannel(Record, tag_field="kind", tag="artifact"):
    """The response descriptor describes a written file."""

    kind: ClassVar[Literal["artifact"]] = "artifact"
    artifact_id: Identifier


CommandDescriptorChannel: TypeAlias = StreamChannel | ArtifactChannel


class CommandOperation(Record):
    """A command line operation (§10.4)."""

    operation_id: Identifier
    invocation: CommandInvocation
    state_change_marker: bool
    request_shape: CommandRequestShape
    artifacts: tuple[Identifier, ...]
    descriptor_channel: CommandDescriptorChannel
    response_descriptor: ResponseDescriptor
    volatile_pointers: tuple[DescriptorPointer, ...]
    state_reset_pointers: tuple[DescriptorPointer, ...] | UnsetType = UNSET
    sensitivity_witness: SensitivityWitness | None


class McpRequestShape(Record):
    """The one request channel of a tool call (§10.5)."""

    arguments: KeyedShapeDescriptor


class McpDescriptorChannel(Record):
    """The response descriptor describes the structured result (§10.5)."""

    kind: Literal["structured-result"]


class McpOperation(Record):
    """A tool call (§10.5)."""

    operation_id: Identifier
    tool_name: ToolName
    state_change_marker: bool
    request_shape: McpRequestShape
    descriptor_channel: McpDescriptorChannel
    response_descriptor: ResponseDescriptor
    volatile_pointers: tuple[DescriptorPointer, ...]
    state_reset_pointers: tuple[DescriptorPointer, ...] | UnsetType = UNSET
    sensitivity_witness: SensitivityWitness | None


class ApiInterface(Record, tag_field="kind", tag="api"):
    """An HTTP interface; `logical_id` is never a URL, host or port (§10.1)."""

    logical_id: Identifier
    kind: ClassVar[Literal["api"]] = "api"
    operations: tuple[Operation, ...]


class WebInterface(Record, tag_field="kind", tag="web"):
    """A browser interface, with the shape of an HTTP one (§10.1)."""

    logical_id: Identifier
    kind: ClassVar[Literal["web"]] = "web"
    operations: tuple[Operation, ...]


class McpInterface(Record, tag_field="kind", tag="mcp"):
    """A tool server (§10.1)."""

    logical_id: Identifier
    kind: ClassVar[Literal["mcp"]] = "mcp"
    operations: tuple[McpOperation, ...]


class CliInterface(Record, tag_field="kind", tag="cli"):
    """A command line (§10.1)."""

    logical_id: Identifier
    kind: ClassVar[Literal["cli"]] = "cli"
    operations: tuple[CommandOperation, ...]


PermittedInterface: TypeAlias = ApiInterface | WebInterface | McpInterface | CliInterface
AnyOperation: TypeAlias = Operation | CommandOperation | McpOperation
