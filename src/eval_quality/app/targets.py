"""Target policy decisions over plain values (spec 10 §8.5, spec 07 §7.3.1)."""

from typing import Any

from eval_quality.model.address import parse_address
from eval_quality.model.decode import decode
from eval_quality.model.target import ProbeTargetAuthorization, parse_probe_target_policy
from eval_quality.probe import targets
from eval_quality.probe.targets import Allowed, Denied, HttpTarget
from eval_quality.value.kind import is_object

_MEMBERS = {
    "interfaceId": "interface_id",
    "scheme": "scheme",
    "host": "host",
    "port": "port",
    "address": "address",
    "method": "method",
}


def evaluate_target(policy: Any, target: Any) -> Allowed[ProbeTargetAuthorization] | Denied:
    """Whether a policy allows one resolved hop.

    `target` is an `HttpTarget` or an object with its members `interfaceId`, `scheme`, `host`, `port`, `address` and
    `method`. Raises `schema-parse-failure` for a policy that does not parse, `TypeError` for a target that is neither.
    """
    if is_object(target):
        if set(target) != set(_MEMBERS):
            raise TypeError(f"a target has exactly the members {', '.join(_MEMBERS)}")
        target = HttpTarget(**{_MEMBERS[name]: value for name, value in target.items()})
    if not isinstance(target, HttpTarget):
        raise TypeError("a target is an HttpTarget or an object with its members")
    return targets.evaluate_target(parse_probe_target_policy(policy), target)


def is_safe_method(authorization: Any, method: str) -> bool:
    """Whether an authorization lists a method and declares it safe."""
    parsed = decode(ProbeTargetAuthorization, authorization, "ProbeTargetAuthorization")
    return targets.is_safe_method(parsed, method)


def stays_on_host(text: str) -> bool:
    """Whether an address literal reaches this host and no other: 127/8 (also mapped), 0.0.0.0, `::1` and `::`."""
    address = parse_address(text)
    if address is None:
        return False
    if address.family == 6:
        return int(address.canonical.replace(":", ""), 16) in (0, 1)
    is_mapped = ":" in text
    return address.canonical.startswith("127.") or (address.canonical == "0.0.0.0" and not is_mapped)
