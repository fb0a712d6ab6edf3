"""Port messages: what the engine sends through a port and gets back (spec 02 §25.1 to §25.3).

None of them is a published artifact and none carries a stamp. A request or observation is one of three shapes told
apart by `kind`; decode through the common base (`ProbeRequest`, `ProbeObservation`).
"""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal, TypeAlias

from msgspec import UNSET, Meta, UnsetType

from eval_quality.errors import Problem
from eval_quality.model.binding import AbsentBody, ProbeObservedBody, ProbeRequestBody, ProbeRequestStdin
from eval_quality.model.primitives import (
    Count,
    EnvironmentKeyName,
    HttpMethod,
    Identifier,
    Int,
    JsonValue,
    KeyName,
    PathTemplate,
    Rfc3339Utc,
    Text,
    ToolName,
)
from eval_quality.model.record import Record, freeze_maps

Buffer: TypeAlias = bytes
ProbeKind = Literal["api", "cli", "mcp"]


class CorpusResolveRequest(Record):
    """Ask for the bytes behind an opaque handle."""

    private_ref: Text


class CorpusResolveResponse(Record):
    """The handle echoed, and the raw bytes; the engine takes the digest itself."""

    CARRIES_BYTES: ClassVar[bool] = True

    private_ref: Text
    bytes: Buffer


class ClockReadRequest(Record):
    """Ask for the time."""


class ClockReadResponse(Record):
    """The time."""

    now: Rfc3339Utc


class FileReadRequest(Record):
    """Ask for a file."""

    path: Text


class FileReadResponse(Record):
    """A file's bytes."""

    CARRIES_BYTES: ClassVar[bool] = True

    path: Text
    bytes: Buffer


class FileWriteRequest(Record):
    """Write a file."""

    CARRIES_BYTES: ClassVar[bool] = True

    path: Text
    bytes: Buffer


class FileWriteResponse(Record):
    """How much was written."""

    path: Text
    byte_length: Count


class ApiChannels(Record):
    """What an HTTP request sends."""

    path: Mapping[KeyName, JsonValue]
    query: Mapping[KeyName, JsonValue]
    header: Mapping[KeyName, str]
    body: ProbeRequestBody

    def __post_init__(self) -> None:
        freeze_maps(self, "path", "query", "header")


class CommandChannels(Record):
    """What a command is given."""

    argument: Mapping[KeyName, JsonValue]
    option: Mapping[KeyName, JsonValue]
    environment: Mapping[EnvironmentKeyName, str]
    stdin: ProbeRequestStdin

    def __post_init__(self) -> None:
        freeze_maps(self, "argument", "option", "environment")


class ToolChannels(Record):
    """What a tool is called with."""

    arguments: Mapping[KeyName, JsonValue]

    def __post_init__(self) -> None:
        freeze_maps(self, "arguments")


class ProbeRequest(Record):
    """What every request names. `probe_id` is the plan's correlation label, not a corpus probe (§25.2)."""

    BRANCH_KEY: ClassVar[str | None] = "kind"

    probe_id: Identifier
    interface_id: Identifier
    operation_id: Identifier
    kind: ClassVar[ProbeKind]

    @classmethod
    def branches(cls) -> Mapping[Any, type[Record]]:
        """The shape for each kind; there is no `web` request."""
        return {"api": ApiRequest, "cli": CommandRequest, "mcp": ToolRequest}


class ApiRequest(ProbeRequest, tag_field="kind", tag="api"):
    """One HTTP request."""

    BRANCH_KEY: ClassVar[str | None] = None

    kind: ClassVar[ProbeKind] = "api"
    method: HttpMethod
    path_template: PathTemplate
    channels: ApiChannels


class CommandRequest(ProbeRequest, tag_field="kind", tag="cli"):
    """One command."""

    BRANCH_KEY: ClassVar[str | None] = None

    kind: ClassVar[ProbeKind] = "cli"
    executable: Identifier
    subcommand_path: tuple[Identifier, ...]
    channels: CommandChannels


class ToolRequest(ProbeRequest, tag_field="kind", tag="mcp"):
    """One tool call."""

    BRANCH_KEY: ClassVar[str | None] = None

    kind: ClassVar[ProbeKind] = "mcp"
    tool_name: ToolName
    channels: ToolChannels


class ProbeObservation(Record):
    """What every observation echoes from its request (§25.3)."""

    BRANCH_KEY: ClassVar[str | None] = "kind"

    probe_id: Identifier
    interface_id: Identifier
    operation_id: Identifier
    kind: ClassVar[ProbeKind]

    @classmethod
    def branches(cls) -> Mapping[Any, type[Record]]:
        """The shape for each kind."""
        return {"api": ApiObservation, "cli": CommandObservation, "mcp": ToolObservation}


class ApiObservation(ProbeObservation, tag_field="kind", tag="api"):
    """An HTTP answer, whatever its status."""

    BRANCH_KEY: ClassVar[str | None] = None

    kind: ClassVar[ProbeKind] = "api"
    status: Annotated[int, Meta(ge=100, le=599)]
    headers: Mapping[KeyName, str]
    body: ProbeObservedBody

    def __post_init__(self) -> None:
        freeze_maps(self, "headers")


class CommandObservation(ProbeObservation, tag_field="kind", tag="cli"):
    """A command's end, whatever its exit code."""

    BRANCH_KEY: ClassVar[str | None] = None

    kind: ClassVar[ProbeKind] = "cli"
    exit_code: Int
    stdout: ProbeObservedBody
    stderr: ProbeObservedBody
    artifacts: Mapping[Identifier, ProbeObservedBody]

    def __post_init__(self) -> None:
        freeze_maps(self, "artifacts")


MISPLACED_EXIT_CODE = "exitCode belongs only to a tool error with an absent result"


class ToolObservation(ProbeObservation, tag_field="kind", tag="mcp"):
    """A tool's answer; `exit_code` tells how a server that ended the session exited."""

    BRANCH_KEY: ClassVar[str | None] = None
    REFINED: ClassVar[tuple[str, ...]] = ("isError", "result", "exitCode")

    kind: ClassVar[ProbeKind] = "mcp"
    is_error: bool
    result: ProbeObservedBody
    exit_code: Int | UnsetType = UNSET

    def __post_init__(self) -> None:
        if self.exit_code is not UNSET and not (self.is_error and isinstance(self.result, AbsentBody)):
            raise ValueError(MISPLACED_EXIT_CODE)

    @classmethod
    def refine(cls, value: Mapping[str, Any]) -> tuple[Problem, ...]:
        """An exit code goes with `isError: true` and an absent result, and with nothing else (§27.1)."""
        if "exitCode" in value and not (value["isError"] and value["result"]["kind"] == "absent"):
            return (Problem(("exitCode",), "custom", MISPLACED_EXIT_CODE),)
        return ()
