"""Spec 02 §25.4, §27.1: target policies."""

from typing import Any

import pytest

from eval_quality.errors import RuntimeFault, SchemaIssues
from eval_quality.model.target import (
    McpTargetPolicy,
    ProbeTargetPolicy,
    parse_command_target_policy,
    parse_mcp_target_policy,
    parse_probe_target_policy,
)

HTTP: dict[str, Any] = {
    "interfaceId": "svc",
    "scheme": "http",
    "host": "localhost",
    "port": 8080,
    "addresses": ["127.0.0.1"],
    "methods": ["GET"],
    "safeMethods": [],
    "maxRedirects": 0,
    "maxElapsedMs": 1,
    "maxRequestBytes": 1,
    "maxResponseBytes": 1,
}
COMMAND: dict[str, Any] = {
    "interfaceId": "svc",
    "executable": "notes",
    "target": "bin/notes",
    "permittedSubcommandPaths": [[]],
    "permittedEnvironmentKeys": ["LANG"],
    "cwd": ".",
    "artifacts": {"report": "out/report.json"},
    "maxElapsedMs": 2147483647,
    "maxOutputBytes": 1,
}
SERVER: dict[str, Any] = {
    "interfaceId": "svc",
    "target": "bin/server",
    "targetArgs": ["", "--stdio"],
    "tools": ["search"],
    "cwd": ".",
    "serverEnvironment": {"any key": ""},
    "maxElapsedMs": 1,
    "maxOutputBytes": 1,
}
POLICIES = [
    pytest.param(parse_probe_target_policy, HTTP, None, id="http"),
    pytest.param(parse_command_target_policy, COMMAND, "artifacts", id="command"),
    pytest.param(parse_mcp_target_policy, SERVER, "serverEnvironment", id="mcp"),
]


def where(parse: Any, value: Any) -> list[tuple[str, str]]:
    try:
        parse(value)
    except RuntimeFault as fault:
        cause = fault.cause
        found = cause.issues if isinstance(cause, SchemaIssues) else ()
        return [(".".join(str(token) for token in path), kind) for path, kind, _ in found] or [("", fault.code)]
    return []


@pytest.mark.parametrize(("parse", "authorization", "own"), POLICIES)
def test_s25_4_an_empty_policy_authorizes_nothing(parse: Any, authorization: Any, own: str | None) -> None:
    assert parse({"authorizations": []}).authorizations == ()
    policy = parse({"authorizations": [authorization]})
    assert policy.authorizations[0].interface_id == "svc"
    assert parse(policy) is policy


@pytest.mark.parametrize(("parse", "authorization", "own"), POLICIES)
def test_s25_4_proto_keys_are_refused_first(parse: Any, authorization: Any, own: str | None) -> None:
    held = authorization | {"__proto__": 1, "cwd" if own else "host": ""}
    expected = [("", "unrecognized_keys"), ("authorizations.0", "unrecognized_keys")]
    if own is not None:
        held |= {own: {"__proto__": "x"}}
        expected.append((f"authorizations.0.{own}", "unrecognized_keys"))
    expected.append((f"authorizations.0.{'cwd' if own else 'host'}", "too_small"))
    assert where(parse, {"__proto__": {}, "authorizations": [held]}) == expected


@pytest.mark.parametrize(("parse", "authorization", "own"), POLICIES)
@pytest.mark.parametrize("value", [None, [], {"authorizations": None}, {"authorizations": [1]}, {}])
def test_s25_4_what_is_no_policy(parse: Any, authorization: Any, own: str | None, value: Any) -> None:
    assert len(where(parse, value)) == 1


def test_s25_4_the_detail_lists_pointers_and_messages() -> None:
    with pytest.raises(RuntimeFault) as caught:
        parse_command_target_policy(
            {"__proto__": 1, "authorizations": [COMMAND | {"artifacts": {"report": "", "A/b": "x"}}]}
        )
    assert caught.value.artifact_path == "CommandTargetPolicy"
    assert caught.value.detail.startswith(
        '(root): Unrecognized key: "__proto__"; /authorizations/0/artifacts/report: must not be empty; '
        "/authorizations/0/artifacts/A~1b: the key must match "
    )


class _Hostile(dict[str, Any]):
    def get(self, *_args: Any) -> Any:
        raise OSError("gone")


def test_s25_4_a_value_whose_access_raises_is_refused_with_its_cause() -> None:
    with pytest.raises(RuntimeFault) as caught:
        parse_probe_target_policy(_Hostile())
    assert (caught.value.code, caught.value.artifact_path) == ("schema-parse-failure", "ProbeTargetPolicy")
    assert isinstance(caught.value.cause, OSError)


def test_s25_4_a_policy_nested_too_deep_keeps_its_own_code() -> None:
    deep: Any = []
    for _ in range(1100):
        deep = [deep]
    with pytest.raises(RuntimeFault, match=r"^non-canonicalizable-value in ProbeTargetPolicy"):
        parse_probe_target_policy({"authorizations": deep})


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"port": 0}, [("port", "too_small")]),
        ({"port": 65536}, [("port", "too_big")]),
        ({"methods": []}, [("methods", "too_small")]),
        ({"methods": ["get"]}, [("methods.0", "invalid_value")]),
        ({"scheme": "ftp"}, [("scheme", "invalid_value")]),
        ({"addresses": []}, [("addresses", "too_small")]),
        ({"addresses": [""]}, [("addresses.0", "too_small")]),
        (
            {"addresses": ["::1", "example.test", 3, ""]},
            [("addresses.2", "invalid_type"), ("addresses.3", "too_small"), ("addresses.1", "custom")],
        ),
        ({"addresses": "::1"}, [("addresses", "invalid_type")]),
        ({"maxElapsedMs": 0, "maxRedirects": -1}, [("maxRedirects", "too_small"), ("maxElapsedMs", "too_small")]),
    ],
)
def test_s25_4_http_authorizations(change: dict[str, Any], expected: list[tuple[str, str]]) -> None:
    found = where(parse_probe_target_policy, {"authorizations": [HTTP | change]})
    assert found == [(f"authorizations.0.{path}", kind) for path, kind in expected]


def test_s25_4_http_interfaces_may_repeat() -> None:
    assert len(parse_probe_target_policy({"authorizations": [HTTP, HTTP]}).authorizations) == 2


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"permittedSubcommandPaths": []}, [("permittedSubcommandPaths", "too_small")]),
        ({"permittedEnvironmentKeys": ["LANG", "PATH"]}, [("permittedEnvironmentKeys", "custom")]),
        ({"permittedEnvironmentKeys": ["pAtH"]}, [("permittedEnvironmentKeys", "custom")]),
        ({"permittedEnvironmentKeys": ["PATH", 1]}, [("permittedEnvironmentKeys.1", "invalid_type")]),
        ({"permittedEnvironmentKeys": ["MY PATH"]}, [("permittedEnvironmentKeys.0", "invalid_format")]),
        ({"maxElapsedMs": 2147483648}, [("maxElapsedMs", "too_big")]),
        ({"artifacts": {"Report": "x"}}, [("artifacts.Report", "invalid_key")]),
    ],
)
def test_s25_4_command_authorizations(change: dict[str, Any], expected: list[tuple[str, str]]) -> None:
    found = where(parse_command_target_policy, {"authorizations": [COMMAND | change]})
    assert found == [(f"authorizations.0.{path}", kind) for path, kind in expected]


def test_s25_4_one_server_an_interface() -> None:
    assert where(parse_mcp_target_policy, {"authorizations": [SERVER, SERVER]}) == [("authorizations", "custom")]
    assert where(parse_mcp_target_policy, {"authorizations": [SERVER, SERVER | {"interfaceId": "other"}]}) == []
    assert where(parse_mcp_target_policy, {"authorizations": [SERVER, SERVER | {"tools": [], "cwd": 1}]}) == [
        ("authorizations.1.tools", "too_small"),
        ("authorizations.1.cwd", "invalid_type"),
    ]


@pytest.mark.parametrize(
    ("parse", "value", "message"),
    [
        (
            parse_command_target_policy,
            {"authorizations": [COMMAND | {"permittedEnvironmentKeys": ["PATH"]}]},
            "PATH cannot be permitted: target may name a bare command, and a declared PATH would then choose which "
            "binary runs",
        ),
        (
            parse_mcp_target_policy,
            {"authorizations": [SERVER, SERVER]},
            "two authorizations name one interfaceId, so which server the interface resolves to would depend on which "
            "tool was asked for",
        ),
        (
            parse_probe_target_policy,
            {"authorizations": [HTTP | {"addresses": ["localhost"]}]},
            "is not an IPv4 or IPv6 address literal, so it could never match a resolved address; a hostname belongs in "
            "host",
        ),
        (parse_probe_target_policy, {"authorizations": [], "__proto__": 1}, 'Unrecognized key: "__proto__"'),
    ],
)
def test_s27_1_messages_are_fixed(parse: Any, value: Any, message: str) -> None:
    with pytest.raises(RuntimeFault) as caught:
        parse(value)
    assert isinstance(caught.value.cause, SchemaIssues)
    assert [problem.message for problem in caught.value.cause.issues] == [message]


def test_s27_1_records_built_by_hand_obey_the_refinements() -> None:
    http = parse_probe_target_policy({"authorizations": [HTTP]}).authorizations[0]
    command = parse_command_target_policy({"authorizations": [COMMAND]}).authorizations[0]
    server = parse_mcp_target_policy({"authorizations": [SERVER]}).authorizations[0]
    assert ProbeTargetPolicy(authorizations=(http, http)).authorizations == (http, http)
    with pytest.raises(ValueError, match="two authorizations"):
        McpTargetPolicy(authorizations=(server, server))
    assert command.artifacts == {"report": "out/report.json"}
