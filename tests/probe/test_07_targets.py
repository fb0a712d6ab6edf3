"""Target decisions: default deny, every reason, in the chapter's order (spec 07 §7.3)."""

from typing import Any

import pytest

from eval_quality.errors import FORBIDDEN_TARGET_REASONS
from eval_quality.model.target import (
    parse_command_target_policy,
    parse_mcp_target_policy,
    parse_probe_target_policy,
)
from eval_quality.probe.targets import (
    DENIAL_REASONS,
    Allowed,
    Denied,
    HttpTarget,
    evaluate_command_target,
    evaluate_mcp_target,
    evaluate_target,
    is_safe_method,
)


def authorization(**changes: Any) -> Any:
    return {
        "interfaceId": "api",
        "scheme": "https",
        "host": "Shop.test.",
        "port": 443,
        "addresses": ["203.0.113.7"],
        "methods": ["GET"],
        "safeMethods": [],
        "maxRedirects": 0,
        "maxElapsedMs": 1,
        "maxRequestBytes": 1,
        "maxResponseBytes": 1,
        **changes,
    }


def decide(*entries: Any, **changes: Any) -> Allowed[Any] | Denied:
    target = HttpTarget("api", "https", "shop.test", 443, "203.0.113.7", "GET")._replace(**changes)
    return evaluate_target(parse_probe_target_policy({"authorizations": list(entries) or [authorization()]}), target)


def test_s7_3_1_the_worked_example_is_allowed() -> None:
    decision = decide()
    assert isinstance(decision, Allowed)
    assert (decision.authorization.host, decision.address_class, decision.canonical_address) == (
        "Shop.test.",
        "public",
        "203.0.113.7",
    )


@pytest.mark.parametrize(
    ("changes", "reason", "address_class"),
    [
        ({"scheme": "http"}, "scheme-not-authorized", "public"),
        ({"scheme": "HTTPS"}, "scheme-not-authorized", "public"),
        ({"host": "other.test"}, "host-not-authorized", "public"),
        ({"host": "shop.test.."}, "host-not-authorized", "public"),
        ({"port": 444}, "port-not-authorized", "public"),
        ({"address": "203.0.113.8"}, "address-not-authorized", "public"),
        ({"address": "127.0.0.1"}, "address-not-authorized", "loopback"),
        ({"address": "10.1.2.3"}, "address-not-authorized", "private"),
        ({"address": "169.254.1.1"}, "address-not-authorized", "link-local"),
        ({"address": "169.254.169.254"}, "address-not-authorized", "metadata"),
        ({"address": "0313.0.113.7"}, "address-unparseable", "unparseable"),
        ({"method": "POST"}, "method-not-authorized", "public"),
        ({"method": "get"}, "method-not-authorized", "public"),
        ({"interface_id": "other"}, "interface-not-authorized", "public"),
        # Several are wrong: the earlier test decides.
        ({"scheme": "http", "host": "x"}, "scheme-not-authorized", "public"),
        ({"host": "x", "port": 1}, "host-not-authorized", "public"),
        ({"port": 1, "address": "?"}, "port-not-authorized", "unparseable"),
        ({"address": "?", "method": "POST"}, "address-unparseable", "unparseable"),
        ({"address": "203.0.113.8", "method": "POST"}, "address-not-authorized", "public"),
    ],
)
def test_s7_3_1_denials(changes: dict[str, Any], reason: str, address_class: str) -> None:
    decision = decide(**changes)
    assert isinstance(decision, Denied)
    assert (decision.reason, decision.address_class) == (reason, address_class)
    assert decision.detail


@pytest.mark.parametrize("host", ["SHOP.TEST", "shop.test.", "Shop.Test"])
def test_s7_3_1_hosts_compare_without_case_and_one_trailing_dot(host: str) -> None:
    assert isinstance(decide(host=host), Allowed)


@pytest.mark.parametrize("address", ["::ffff:203.0.113.7", "[::ffff:cb00:7107]"])
def test_s7_3_1_addresses_compare_by_canonical_form(address: str) -> None:
    assert isinstance(decide(address=address), Allowed)


def test_s7_3_2_an_authorization_of_loopback_does_not_permit_a_compatible_spelling() -> None:
    decision = decide(authorization(addresses=["127.0.0.1"]), address="::127.0.0.1")
    assert isinstance(decision, Denied)
    assert (decision.reason, decision.address_class) == ("address-not-authorized", "loopback")


def test_s7_3_1_an_empty_policy_authorizes_nothing() -> None:
    decision = evaluate_target(
        parse_probe_target_policy({"authorizations": []}), HttpTarget("api", "https", "shop.test", 443, "::1", "GET")
    )
    assert isinstance(decision, Denied)
    assert (decision.reason, decision.address_class) == ("interface-not-authorized", "loopback")


def test_s7_3_1_the_first_that_allows_wins_and_the_first_denial_is_reported() -> None:
    first, second = authorization(port=1), authorization(methods=["GET", "POST"], maxRedirects=5)
    allowed = decide(authorization(interfaceId="other"), first, second)
    assert isinstance(allowed, Allowed)
    assert allowed.authorization.max_redirects == 5
    denied = decide(first, authorization(scheme="http"), method="DELETE")
    assert isinstance(denied, Denied)
    assert denied.reason == "port-not-authorized"


def test_s7_3_1_a_class_never_authorizes_or_denies() -> None:
    assert isinstance(decide(authorization(addresses=["169.254.169.254"]), address="169.254.169.254"), Allowed)


@pytest.mark.parametrize(
    ("methods", "safe", "method", "expected"),
    [
        (["GET"], ["GET"], "GET", True),
        (["GET"], [], "GET", False),
        (["GET"], ["GET", "POST"], "POST", False),
        (["GET", "POST"], ["GET"], "POST", False),
        (["GET"], ["GET"], "get", False),
    ],
)
def test_s7_3_1_safe_methods_are_authorized_and_declared(
    methods: list[str], safe: list[str], method: str, expected: bool
) -> None:
    policy = parse_probe_target_policy({"authorizations": [authorization(methods=methods, safeMethods=safe)]})
    assert is_safe_method(policy.authorizations[0], method) is expected


def command(*paths: list[str], executable: str = "git", interface: str = "cli", **changes: Any) -> Any:
    return {
        "interfaceId": interface,
        "executable": executable,
        "target": "/usr/bin/git",
        "permittedSubcommandPaths": list(paths) or [[]],
        "permittedEnvironmentKeys": [],
        "cwd": "/",
        "artifacts": {},
        "maxElapsedMs": 1,
        "maxOutputBytes": 1,
        **changes,
    }


@pytest.mark.parametrize(
    ("interface", "executable", "path", "reason"),
    [
        ("cli", "git", (), None),
        ("cli", "git", ("log", "all"), None),
        ("cli", "git", ("log",), "subcommand-not-authorized"),
        ("cli", "git", ("log", "all", "more"), "subcommand-not-authorized"),
        ("cli", "git", ("all", "log"), "subcommand-not-authorized"),
        ("cli", "hg", (), "executable-not-authorized"),
        ("web", "git", (), "interface-not-authorized"),
    ],
)
def test_s7_3_3_command_decisions(interface: str, executable: str, path: tuple[str, ...], reason: str | None) -> None:
    policy = parse_command_target_policy({"authorizations": [command([]), command(["log", "all"])]})
    decision = evaluate_command_target(policy, interface, executable, path)
    assert (decision.reason if isinstance(decision, Denied) else None) == reason


def test_s7_3_3_the_first_entry_in_declaration_order_wins() -> None:
    policy = parse_command_target_policy({"authorizations": [command(["a"]), command([], cwd="/one"), command([])]})
    decision = evaluate_command_target(policy, "cli", "git", ())
    assert isinstance(decision, Allowed)
    assert decision.authorization.cwd == "/one"


@pytest.mark.parametrize(
    ("interface", "tool", "reason"),
    [
        ("mcp", "read", None),
        ("mcp", "Read", "tool-not-authorized"),
        ("mcp", "write", "tool-not-authorized"),
        ("other", "read", "interface-not-authorized"),
    ],
)
def test_s7_3_4_tool_decisions(interface: str, tool: str, reason: str | None) -> None:
    policy = parse_mcp_target_policy(
        {
            "authorizations": [
                {
                    "interfaceId": "mcp",
                    "target": "server",
                    "targetArgs": [],
                    "tools": ["read"],
                    "cwd": "/",
                    "serverEnvironment": {},
                    "maxElapsedMs": 1,
                    "maxOutputBytes": 1,
                }
            ]
        }
    )
    decision = evaluate_mcp_target(policy, interface, tool)
    assert (decision.reason if isinstance(decision, Denied) else None) == reason


def test_s7_3_denial_reasons_of_http_are_in_the_order_of_the_registry() -> None:
    assert tuple(reason for reason in FORBIDDEN_TARGET_REASONS if reason in DENIAL_REASONS) == DENIAL_REASONS
    assert len(DENIAL_REASONS) == 7
