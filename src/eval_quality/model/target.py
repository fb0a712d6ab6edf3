"""Target policies: what an operator authorizes an adapter to reach (spec 02 §25.4).

Three mappings outside any contract. Parsing one:

1. collect an own key `__proto__` on the policy, on each authorization, and on the one record an authorization
   declares; elsewhere schemas drop that key silently, here it is refused;
2. validate the shape;
3. with any issue, fail with those of step 1 first, then those of step 2.

The fault is `schema-parse-failure` at the policy's name; its detail lists each issue as an RFC 6901 pointer and a
message. A value whose access itself raises is refused under the same code with that exception as cause.
"""

from collections.abc import Iterable, Mapping
from typing import Annotated, Any, ClassVar, Final, Literal, TypeVar

from msgspec import Meta

from eval_quality.errors import Problem, RuntimeFault, SchemaIssues
from eval_quality.model.address import parse_address
from eval_quality.model.decode import decode, issues
from eval_quality.model.primitives import (
    Count,
    EnvironmentKeyName,
    HttpMethod,
    Identifier,
    KeyName,
    Positive,
    Text,
    ToolName,
)
from eval_quality.model.record import Record, freeze_maps
from eval_quality.value.kind import is_array, is_object
from eval_quality.value.pointer import join

PATH_PERMITTED: Final = (
    "PATH cannot be permitted: target may name a bare command, and a declared PATH would then choose which binary runs"
)
REPEATED_INTERFACE: Final = (
    "two authorizations name one interfaceId, so which server the interface resolves to would depend on which tool "
    "was asked for"
)
UNREADABLE_ADDRESS: Final = (
    "is not an IPv4 or IPv6 address literal, so it could never match a resolved address; a hostname belongs in host"
)

Milliseconds = Annotated[int, Meta(ge=1, le=2147483647)]


class ProbeTargetAuthorization(Record):
    """One HTTP target: where requests may go, at which addresses, how often and how much."""

    interface_id: Identifier
    scheme: Literal["http", "https"]
    host: Text
    port: Annotated[int, Meta(ge=1, le=65535)]
    addresses: Annotated[tuple[Text, ...], Meta(min_length=1)]
    methods: Annotated[tuple[HttpMethod, ...], Meta(min_length=1)]
    safe_methods: tuple[HttpMethod, ...]
    max_redirects: Count
    max_elapsed_ms: Positive
    max_request_bytes: Positive
    max_response_bytes: Positive

    def __post_init__(self) -> None:
        if any(parse_address(address) is None for address in self.addresses):
            raise ValueError(UNREADABLE_ADDRESS)

    @classmethod
    def structure(cls, value: Mapping[str, Any]) -> Iterable[Problem]:
        """Addresses that cannot be read; an empty one is reported as empty alone."""
        addresses = value.get("addresses")
        for index, address in enumerate(addresses if is_array(addresses) else ()):
            if isinstance(address, str) and address and parse_address(address) is None:
                yield Problem(("addresses", index), "custom", UNREADABLE_ADDRESS)


class ProbeTargetPolicy(Record):
    """Where HTTP probes may go. Authorizations for one interface are tried in order."""

    authorizations: tuple[ProbeTargetAuthorization, ...]


class CommandTargetAuthorization(Record):
    """One executable: the real command behind it, and what it may be given."""

    REFINED: ClassVar[tuple[str, ...]] = ("permittedEnvironmentKeys",)

    interface_id: Identifier
    executable: Identifier
    target: Text
    permitted_subcommand_paths: Annotated[tuple[tuple[Identifier, ...], ...], Meta(min_length=1)]
    permitted_environment_keys: tuple[EnvironmentKeyName, ...]
    cwd: Text
    artifacts: Mapping[Identifier, Text]
    max_elapsed_ms: Milliseconds
    max_output_bytes: Positive

    def __post_init__(self) -> None:
        freeze_maps(self, "artifacts")
        if _names_path(self.permitted_environment_keys):
            raise ValueError(PATH_PERMITTED)

    @classmethod
    def refine(cls, value: Mapping[str, Any]) -> tuple[Problem, ...]:
        """No permitted key is PATH in any letter case (§27.1)."""
        if _names_path(value["permittedEnvironmentKeys"]):
            return (Problem(("permittedEnvironmentKeys",), "custom", PATH_PERMITTED),)
        return ()


class CommandTargetPolicy(Record):
    """Which commands may run."""

    authorizations: tuple[CommandTargetAuthorization, ...]


class McpTargetAuthorization(Record):
    """One tool server: how it is started and which tools may be called."""

    interface_id: Identifier
    target: Text
    target_args: tuple[str, ...]
    tools: Annotated[tuple[ToolName, ...], Meta(min_length=1)]
    cwd: Text
    server_environment: Mapping[KeyName, str]
    max_elapsed_ms: Milliseconds
    max_output_bytes: Positive

    def __post_init__(self) -> None:
        freeze_maps(self, "server_environment")


class McpTargetPolicy(Record):
    """Which tool servers may be started, one an interface."""

    REFINED: ClassVar[tuple[str, ...]] = ("authorizations",)

    authorizations: tuple[McpTargetAuthorization, ...]

    def __post_init__(self) -> None:
        if len({one.interface_id for one in self.authorizations}) != len(self.authorizations):
            raise ValueError(REPEATED_INTERFACE)

    @classmethod
    def refine(cls, value: Mapping[str, Any]) -> tuple[Problem, ...]:
        """Pairwise distinct interfaces (§27.1)."""
        named = [authorization["interfaceId"] for authorization in value["authorizations"]]
        return (Problem(("authorizations",), "custom", REPEATED_INTERFACE),) if len(set(named)) != len(named) else ()


P = TypeVar("P", ProbeTargetPolicy, CommandTargetPolicy, McpTargetPolicy)

_OWN_RECORD: Final = {
    ProbeTargetPolicy: None,
    CommandTargetPolicy: "artifacts",
    McpTargetPolicy: "serverEnvironment",
}


def parse_probe_target_policy(value: Any) -> ProbeTargetPolicy:
    """The HTTP target policy a plain value spells."""
    return _parse(ProbeTargetPolicy, value)


def parse_command_target_policy(value: Any) -> CommandTargetPolicy:
    """The command target policy a plain value spells."""
    return _parse(CommandTargetPolicy, value)


def parse_mcp_target_policy(value: Any) -> McpTargetPolicy:
    """The tool server target policy a plain value spells."""
    return _parse(McpTargetPolicy, value)


def _parse(kind: type[P], value: Any) -> P:
    if isinstance(value, kind):
        return value
    name = kind.__name__
    try:
        # 1. and 2.
        found = [*_prototypes(value, _OWN_RECORD[kind]), *issues(kind, value)]
    except RuntimeFault:
        raise
    except Exception as error:
        raise RuntimeFault("schema-parse-failure", name, f"reading the value raised {type(error).__name__}") from error
    # 3.
    if found:
        detail = "; ".join(
            f"{join([str(token) for token in path]) or '(root)'}: {message}" for path, _, message in found
        )
        raise RuntimeFault("schema-parse-failure", name, detail) from SchemaIssues(found)
    return decode(kind, value, name)


def _prototypes(value: Any, own_record: str | None) -> Iterable[Problem]:
    yield from _prototype(value, ())
    authorizations = value.get("authorizations") if is_object(value) else None
    for index, authorization in enumerate(authorizations if is_array(authorizations) else ()):
        yield from _prototype(authorization, ("authorizations", index))
        if own_record is not None and is_object(authorization):
            yield from _prototype(authorization.get(own_record), ("authorizations", index, own_record))


def _prototype(value: Any, path: tuple[str | int, ...]) -> Iterable[Problem]:
    if is_object(value) and "__proto__" in value:
        yield Problem(path, "unrecognized_keys", 'Unrecognized key: "__proto__"')


def _names_path(keys: Iterable[str]) -> bool:
    return any(key.upper() == "PATH" for key in keys)
