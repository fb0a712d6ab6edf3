"""Target policies and targets from files: YAML 1.2 or JSON (spec 07 §7.3).

Each file is one mapping `{authorizations: [...]}`. Which of the four kinds it is shows in the members of its
authorizations, in this order: `executable` commands, `scheme` HTTP, `url` MCP over HTTP, `target` MCP over stdio. A
file named `*.json` is read strictly as JSON, any other as YAML without aliases, tags or repeated keys.

A targets file maps an interface to `{url, headers}`; `${NAME}` in a header value stands for an environment variable, so
that no credential has to be written down.
"""

import os
import re
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from msgspec import UNSET, UnsetType

from eval_quality.app.behavior.yaml_source import SourceRefused, read_yaml
from eval_quality.app.files import read_bytes
from eval_quality.errors import RuntimeFault
from eval_quality.model.decode import decode
from eval_quality.model.primitives import KeyName, Text
from eval_quality.model.record import Record
from eval_quality.model.target import (
    CommandTargetPolicy,
    McpTargetPolicy,
    ProbeTargetPolicy,
    parse_command_target_policy,
    parse_mcp_target_policy,
    parse_probe_target_policy,
)
from eval_quality.probe.http_request import parse_origin
from eval_quality.value.kind import is_array, is_object
from eval_quality.value.scan import scan

UNKNOWN_POLICY: Final = "TargetPolicy"
"""Artifact path of a policy file whose kind cannot be told."""
TARGETS: Final = "Targets"
"""Artifact path of a targets file."""

_VARIABLE: Final = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")


class Policies(NamedTuple):
    """The policies of one call, at most one of each kind. `mcp_http` is an `McpHttpTargetPolicy`."""

    command: CommandTargetPolicy | None = None
    mcp: McpTargetPolicy | None = None
    http: ProbeTargetPolicy | None = None
    mcp_http: Any = None


def _parse_mcp_http(value: Any) -> Any:
    from eval_quality.probe.mcp_http import parse_mcp_http_target_policy

    return parse_mcp_http_target_policy(value)


_KINDS: Final[tuple[tuple[str, str, Callable[[Any], Any]], ...]] = (
    ("executable", "command", parse_command_target_policy),
    ("scheme", "http", parse_probe_target_policy),
    ("url", "mcp_http", _parse_mcp_http),
    ("target", "mcp", parse_mcp_target_policy),
)
"""The telling member, the field of `Policies`, the parser."""


def read_policies(paths: list[str]) -> Policies:
    """The policies of these files; raises `RuntimeFault schema-parse-failure`, or `PathError`."""
    found: dict[str, Any] = {}
    for path in paths:
        value = _read(path, "--policy", UNKNOWN_POLICY)
        kind, parse = _kind_of(value, path)
        if kind in found:
            raise RuntimeFault("schema-parse-failure", UNKNOWN_POLICY, f"two {kind} policies were given")
        found[kind] = parse(value)
    return Policies(**found)


def _kind_of(value: Any, path: str) -> tuple[str, Callable[[Any], Any]]:
    entries: Any = value.get("authorizations") if is_object(value) else None
    for member, kind, parse in _KINDS:
        if is_array(entries) and any(is_object(entry) and member in entry for entry in entries):
            return kind, parse
    detail = (
        f"{path} is no target policy: expected a mapping whose authorizations have executable (commands), "
        "scheme (HTTP), url (MCP over HTTP) or target (MCP over stdio)"
    )
    raise RuntimeFault("schema-parse-failure", UNKNOWN_POLICY, detail)


class TargetEntry(Record):
    """Where an HTTP interface lives, and the headers that go with every request to it."""

    url: Text
    headers: Mapping[KeyName, str] | UnsetType = UNSET


def read_targets(path: str) -> Mapping[str, tuple[str, Mapping[str, str]]]:
    """URL and headers by interface; raises `RuntimeFault schema-parse-failure`, or `PathError`."""
    value = _read(path, "--targets", TARGETS)
    if not is_object(value):
        raise RuntimeFault("schema-parse-failure", TARGETS, "expected a mapping from interface to url and headers")
    targets: dict[str, tuple[str, Mapping[str, str]]] = {}
    for interface, entry in value.items():
        place = f"{TARGETS}[{interface}]"
        decoded = decode(TargetEntry, entry, place)
        try:
            parse_origin(decoded.url)
        except ValueError as error:
            raise RuntimeFault("schema-parse-failure", place, str(error)) from error
        headers: Mapping[str, str] = {} if isinstance(decoded.headers, UnsetType) else decoded.headers
        targets[interface] = (decoded.url, {name: _filled(text) for name, text in headers.items()})
    return targets


def _filled(text: str) -> str:
    def value(match: re.Match[str]) -> str:
        if match[1] not in os.environ:
            raise RuntimeFault("schema-parse-failure", TARGETS, f"environment variable {match[1]} is not set")
        return os.environ[match[1]]

    return _VARIABLE.sub(value, text)


def _read(path: str, flag: str, artifact_path: str) -> Any:
    source = read_bytes(path, flag, artifact_path)
    if path.lower().endswith(".json"):
        return scan(source, artifact_path)
    try:
        return read_yaml(source.decode())
    except UnicodeDecodeError as error:
        raise RuntimeFault("schema-parse-failure", artifact_path, f"{flag}: {path} is not UTF-8") from error
    except SourceRefused as error:
        raise RuntimeFault("schema-parse-failure", artifact_path, f"{flag}: {path}: {error}") from error
