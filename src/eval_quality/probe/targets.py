"""The three target decisions: default deny (spec 07 §7.3).

Each decision reads a typed policy and a target, and answers `Allowed` with the authorization that admits it or `Denied`
with the reason. Nothing is opened, resolved or started here; caps are the adapter's to enforce.

HTTP (§7.3.1), for each authorization of the interface in declaration order, the first failing test denies: scheme,
host, port, address readable, address listed, method. The first authorization that passes all allows. None allowed:
the denial of the first one tried. None names the interface: `interface-not-authorized`.
"""

from typing import Final, Generic, NamedTuple, TypeVar

from eval_quality.model.address import AddressClass, classify_address, parse_address
from eval_quality.model.target import (
    CommandTargetAuthorization,
    CommandTargetPolicy,
    McpTargetAuthorization,
    McpTargetPolicy,
    ProbeTargetAuthorization,
    ProbeTargetPolicy,
)

DENIAL_REASONS: Final = (
    "interface-not-authorized",
    "scheme-not-authorized",
    "host-not-authorized",
    "port-not-authorized",
    "address-not-authorized",
    "address-unparseable",
    "method-not-authorized",
)
"""The reasons an HTTP decision can give (spec 10 §8.7)."""

Authorization = TypeVar("Authorization")


class HttpTarget(NamedTuple):
    """One resolved hop: what would be connected to and asked for. `address` is an address literal."""

    interface_id: str
    scheme: str
    host: str
    port: int
    address: str
    method: str


class Allowed(NamedTuple, Generic[Authorization]):
    """The authorization that admits the target. HTTP adds the address's class and canonical spelling."""

    authorization: Authorization
    address_class: AddressClass | None = None
    canonical_address: str | None = None


class Denied(NamedTuple):
    """Why no authorization admits the target. `address_class` only where an HTTP address was given."""

    reason: str
    detail: str
    address_class: AddressClass | None = None


def evaluate_target(policy: ProbeTargetPolicy, target: HttpTarget) -> Allowed[ProbeTargetAuthorization] | Denied:
    """The decision for one HTTP target; ask it for every resolved address and every redirect hop (§7.3.1)."""
    first: Denied | None = None
    address_class = classify_address(target.address)
    for authorization in policy.authorizations:
        if authorization.interface_id != target.interface_id:
            continue
        denial = _first_failing(authorization, target)
        if denial is None:
            parsed = parse_address(target.address)
            assert parsed is not None
            return Allowed(authorization, parsed.address_class, parsed.canonical)
        first = first or Denied(*denial, address_class)
    return first or Denied(
        "interface-not-authorized", f"no authorization names interface {target.interface_id}", address_class
    )


def _first_failing(authorization: ProbeTargetAuthorization, target: HttpTarget) -> tuple[str, str] | None:
    """The first of the six tests that fails, as reason and detail."""
    if authorization.scheme != target.scheme:
        return "scheme-not-authorized", f"scheme {target.scheme} is not authorized"
    if _host(authorization.host) != _host(target.host):
        return "host-not-authorized", f"host {target.host} is not authorized"
    if authorization.port != target.port:
        return "port-not-authorized", f"port {target.port} is not authorized"
    parsed = parse_address(target.address)
    if parsed is None:
        return "address-unparseable", f"{target.address} is not an address"
    listed = (parse_address(address) for address in authorization.addresses)
    if all(address is None or address.canonical != parsed.canonical for address in listed):
        return "address-not-authorized", f"address {parsed.canonical} ({parsed.address_class}) is not authorized"
    if target.method not in authorization.methods:
        return "method-not-authorized", f"method {target.method} is not authorized"
    return None


def _host(host: str) -> str:
    return host.lower().removesuffix(".")


def is_safe_method(authorization: ProbeTargetAuthorization, method: str) -> bool:
    """Whether the method is authorized and declared safe (§7.3.1)."""
    return method in authorization.methods and method in authorization.safe_methods


def evaluate_command_target(
    policy: CommandTargetPolicy, interface_id: str, executable: str, subcommand_path: tuple[str, ...]
) -> Allowed[CommandTargetAuthorization] | Denied:
    """The decision for one invocation; a permitted path must be equal segment by segment (§7.3.3)."""
    entries = [entry for entry in policy.authorizations if entry.interface_id == interface_id]
    if not entries:
        return Denied("interface-not-authorized", f"no authorization names interface {interface_id}")
    pairs = [entry for entry in entries if entry.executable == executable]
    if not pairs:
        return Denied("executable-not-authorized", f"executable {executable} of {interface_id} is not authorized")
    for entry in pairs:
        if any(tuple(path) == tuple(subcommand_path) for path in entry.permitted_subcommand_paths):
            return Allowed(entry)
    spelled = " ".join(subcommand_path) or "(none)"
    return Denied("subcommand-not-authorized", f"subcommand {spelled} of {executable} is not authorized")


def evaluate_mcp_target(
    policy: McpTargetPolicy, interface_id: str, tool_name: str
) -> Allowed[McpTargetAuthorization] | Denied:
    """The decision for one tool call (§7.3.4)."""
    entries = [entry for entry in policy.authorizations if entry.interface_id == interface_id]
    if not entries:
        return Denied("interface-not-authorized", f"no authorization names interface {interface_id}")
    for entry in entries:
        if tool_name in entry.tools:
            return Allowed(entry)
    return Denied("tool-not-authorized", f"tool {tool_name} of {interface_id} is not authorized")
