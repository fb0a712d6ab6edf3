"""What is sent on each input channel: bodies, witness inputs, and the bindings that select observations
(spec 02 §9, §11.1, §12.2 to §12.4, §15.3).

A body selector is a channel of keyed values or one raw body compared as a whole; the two are told apart by `kind`,
which is a string only in the raw body (§12.2).
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, TypeAlias

import msgspec
from msgspec import UNSET, Meta, UnsetType
from msgspec.structs import force_setattr

from eval_quality.model.primitives import (
    INPUT_CHANNELS,
    Base64,
    ContentType,
    Identifier,
    InteractionPointer,
    JsonObject,
    JsonValue,
    KeyName,
)
from eval_quality.model.record import Choice, Record, freeze_maps


class JsonBody(Record, tag_field="kind", tag="json"):
    """A body or stream that is one JSON value."""

    kind: ClassVar[Literal["json"]] = "json"
    value: JsonValue


class TextBody(Record, tag_field="kind", tag="text"):
    """A body or stream that is text."""

    kind: ClassVar[Literal["text"]] = "text"
    value: str


class AbsentBody(Record, tag_field="kind", tag="absent"):
    """Nothing sent, or nothing observed."""

    kind: ClassVar[Literal["absent"]] = "absent"


class RawRequestBody(Record, tag_field="kind", tag="raw"):
    """Exact bytes as canonical base64, with the content type they travel under (§9.1)."""

    kind: ClassVar[Literal["raw"]] = "raw"
    base64: Base64
    content_type: ContentType


ProbeRequestBody: TypeAlias = JsonBody | RawRequestBody | AbsentBody
ProbeObservedBody: TypeAlias = JsonBody | TextBody | AbsentBody
ProbeRequestStdin: TypeAlias = JsonBody | TextBody | AbsentBody

_API: tuple[str, ...] = ("path", "query", "header", "body")
_CLI: tuple[str, ...] = ("argument", "option", "environment", "stdin")
_MCP: tuple[str, ...] = ("arguments",)


class _ByFamily(Choice):
    """A plain union of the three families of input channels, tried in the order api, cli, mcp."""

    FORMS: ClassVar[tuple[tuple[str, ...], ...]] = (_API, _CLI, _MCP)

    @property
    def family(self) -> Literal["api", "cli", "mcp"]:
        """Which family of channels is present."""
        if getattr(self, "path") is not UNSET:  # noqa: B009 - the fields belong to the subclasses
            return "api"
        return "cli" if getattr(self, "argument") is not UNSET else "mcp"  # noqa: B009

    def channels(self) -> tuple[tuple[str, Any], ...]:
        """`(channel, value)` of the channels present, in input-channel order (§6.2)."""
        return tuple((name, held) for name in INPUT_CHANNELS if (held := getattr(self, name)) is not UNSET)


class WitnessInputs(_ByFamily):
    """The values one leg sends (§11.1). Header and environment values are strings, never credentials."""

    path: JsonObject | UnsetType = UNSET
    query: JsonObject | UnsetType = UNSET
    header: Mapping[KeyName, str] | UnsetType = UNSET
    body: ProbeRequestBody | UnsetType = UNSET
    argument: JsonObject | UnsetType = UNSET
    option: JsonObject | UnsetType = UNSET
    environment: Mapping[KeyName, str] | UnsetType = UNSET
    stdin: ProbeRequestStdin | UnsetType = UNSET
    arguments: JsonObject | UnsetType = UNSET

    def __post_init__(self) -> None:
        Choice.__post_init__(self)
        freeze_maps(self, "header", "environment")


class BindingValue(Choice):
    """What a step's selector asks of one sent value (§12.4)."""

    FORMS: ClassVar[tuple[tuple[str, ...], ...]] = (("literal",), ("matcher",), ("captured",), ("principal",))

    literal: JsonValue | UnsetType = UNSET
    matcher: Literal["any", "type-violating"] | UnsetType = UNSET
    captured: InteractionPointer | UnsetType = UNSET
    principal: Identifier | UnsetType = UNSET

    @property
    def form(self) -> Literal["literal", "matcher", "captured", "principal"]:
        """Which of the four forms this value has."""
        if self.literal is not UNSET:
            return "literal"
        if self.matcher is not UNSET:
            return "matcher"
        return "captured" if self.captured is not UNSET else "principal"


class ProbeBindingValue(Choice):
    """What a defect signature asks of one sent value: a literal or a matcher, nothing contract-local (§15.3)."""

    FORMS: ClassVar[tuple[tuple[str, ...], ...]] = (("literal",), ("matcher",))

    literal: JsonValue | UnsetType = UNSET
    matcher: Literal["any", "type-violating"] | UnsetType = UNSET

    @property
    def form(self) -> Literal["literal", "matcher"]:
        """Which of the two forms this value has."""
        return "literal" if self.literal is not UNSET else "matcher"


BindingChannel: TypeAlias = (
    Annotated[
        Mapping[KeyName, BindingValue],
        Meta(
            min_length=1,
            extra={"message": "an input-binding channel names at least one parameter; an unbound channel is null"},
        ),
    ]
    | None
)
ProbeBindingChannel: TypeAlias = (
    Annotated[
        Mapping[KeyName, ProbeBindingValue],
        Meta(
            min_length=1,
            extra={"message": "a signature selector channel names at least one parameter; an unbound channel is null"},
        ),
    ]
    | None
)

if TYPE_CHECKING:
    BodyBinding: TypeAlias = BindingChannel | RawRequestBody
    ProbeBodyBinding: TypeAlias = ProbeBindingChannel | RawRequestBody
else:
    # Decoding cannot tell a map from a record by type, so the body arrives plain and `_read_body` reads it.
    BodyBinding = Annotated[Any, Meta(extra={"any_of": (BindingChannel, RawRequestBody)})]
    ProbeBodyBinding = Annotated[Any, Meta(extra={"any_of": (ProbeBindingChannel, RawRequestBody)})]


def _read_body(record: Record, channel: Any) -> None:
    """Read the plain body of a binding record as a raw body or as a channel of keyed values."""
    held: Any = getattr(record, "body")  # noqa: B009 - the field belongs to the subclasses
    if held is UNSET or isinstance(held, RawRequestBody):
        return
    if isinstance(held, dict) and isinstance(held.get("kind"), str):  # pyright: ignore[reportUnknownMemberType]
        force_setattr(record, "body", msgspec.convert(held, RawRequestBody))
    else:
        force_setattr(record, "body", msgspec.convert(held, channel))


_CHANNEL_NAMES: tuple[str, ...] = INPUT_CHANNELS


class InputBinding(_ByFamily):
    """Which observations a step selects, by what was sent (§12.2). A channel that is `None` binds nothing."""

    path: BindingChannel | UnsetType = UNSET
    query: BindingChannel | UnsetType = UNSET
    header: BindingChannel | UnsetType = UNSET
    body: BodyBinding | UnsetType = UNSET
    argument: BindingChannel | UnsetType = UNSET
    option: BindingChannel | UnsetType = UNSET
    environment: BindingChannel | UnsetType = UNSET
    stdin: BindingChannel | UnsetType = UNSET
    arguments: BindingChannel | UnsetType = UNSET

    def __post_init__(self) -> None:
        Choice.__post_init__(self)
        _read_body(self, BindingChannel)
        freeze_maps(self, *_CHANNEL_NAMES)


class ProbeInputBinding(Record):
    """The selector of a defect signature: all nine channels, `None` where nothing is asked (§15.3)."""

    path: ProbeBindingChannel
    query: ProbeBindingChannel
    header: ProbeBindingChannel
    body: ProbeBodyBinding
    argument: ProbeBindingChannel
    option: ProbeBindingChannel
    environment: ProbeBindingChannel
    stdin: ProbeBindingChannel
    arguments: ProbeBindingChannel

    def __post_init__(self) -> None:
        _read_body(self, ProbeBindingChannel)
        freeze_maps(self, *_CHANNEL_NAMES)

    def channels(self) -> tuple[tuple[str, Any], ...]:
        """`(channel, value)` of all nine channels, in input-channel order (§6.2)."""
        return tuple((name, getattr(self, name)) for name in INPUT_CHANNELS)
