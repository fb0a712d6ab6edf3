"""The HTTP adapter: an environment-probe port for `api` requests only (spec 07 §7.1.3, §7.3.1, 13 §13.10.3).

For the request and for every redirect, in this order:

1. Boundary steps of §7.2.2. 2. Another kind of request is `forbidden-target`. 3. The interface's target comes from
   configuration outside the contract; without one it is `interface-not-authorized`.
4. The policy decides about scheme, host, port and method before anything is resolved.
5. The host is resolved once and the policy decides about every address: one denial denies the hop.
6. One exchange with an address of step 5; nothing is resolved again.
7. A redirect is followed up to `maxRedirects`; one more is `budget-exhausted`. Every hop starts over at step 4.
8. The answer of the last hop is the observation, whatever its status.

The caps of the first hop's authorization hold for the whole call; its deadline covers all hops.
"""

import ssl
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from eval_quality.errors import RuntimeFault
from eval_quality.model.ports import ApiRequest, ProbeObservation, ProbeRequest
from eval_quality.model.target import ProbeTargetAuthorization, ProbeTargetPolicy
from eval_quality.probe.command import wrong_kind
from eval_quality.probe.http_exchange import (
    CAP_PATH,
    Deadline,
    Endpoint,
    HttpExchange,
    HttpMechanism,
    Resolver,
    exchange_http,
    resolve,
    system_resolver,
)
from eval_quality.probe.http_request import (
    REDIRECT_STATUSES,
    HttpRequest,
    Origin,
    Refused,
    build_request,
    parse_origin,
    redirected,
)
from eval_quality.probe.jstext import NotJson, decoded, parse_json
from eval_quality.probe.ports import PROBE
from eval_quality.probe.seam import run_port_method
from eval_quality.probe.signals import AbortError, AbortSignal
from eval_quality.probe.targets import Denied, HttpTarget, evaluate_target

_DROPPED: Final = "set-cookie"


class ApiTarget(NamedTuple):
    """Where an interface lives. `url` may have a path, which is put before every path template.

    `headers` are sent with every request of this interface (authorization material lives here) and dropped when a
    redirect leaves the origin.
    """

    url: str
    headers: Mapping[str, str] = {}


class ApiAdapter:
    """The port. Without `targets`, an interface lives at its first authorization's scheme, host and port.

    Raises `ValueError` for a target that is no absolute http or https URL. `resolver` and `tls` replace the host's name
    resolution and trust store.
    """

    def __init__(
        self,
        policy: ProbeTargetPolicy,
        mechanism: HttpMechanism | None = None,
        *,
        targets: Mapping[str, ApiTarget] | None = None,
        resolver: Resolver = system_resolver,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self._policy = policy
        self._mechanism = mechanism or exchange_http
        self._targets = None if targets is None else {name: _placed(target) for name, target in targets.items()}
        self._resolver = resolver
        self._tls = tls

    def probe(self, request: ProbeRequest | Mapping[str, Any], signal: AbortSignal) -> ProbeObservation:
        """Send the HTTP request that the probe names; raises `RuntimeFault` only."""
        first: list[tuple[HttpRequest, ProbeTargetAuthorization]] = []

        def before(parsed: ProbeRequest) -> None:
            hop = self._first_hop(parsed)
            first.append((hop, self._decide(hop, parsed.interface_id)))

        def effect(parsed: ProbeRequest) -> Mapping[str, Any]:
            hop, authorization = first[0]
            return self._follow(parsed.interface_id, hop, authorization, signal)

        return run_port_method(PROBE, request, signal, effect, _assemble, honours_abort=False, before=before)

    def _first_hop(self, request: ProbeRequest) -> HttpRequest:
        if not isinstance(request, ApiRequest):
            raise wrong_kind(request.kind)
        target = self._target(request.interface_id)
        if target is None:
            detail = f"no target is configured for interface {request.interface_id}"
            raise RuntimeFault("forbidden-target", "ProbeRequest", detail, "interface-not-authorized")
        origin, base_path, headers = target
        return build_request(request, origin, base_path, headers)

    def _target(self, interface_id: str) -> tuple[Origin, str, Mapping[str, str]] | None:
        if self._targets is not None:
            return self._targets.get(interface_id)
        for entry in self._policy.authorizations:
            if entry.interface_id == interface_id:
                return Origin(entry.scheme, entry.host, entry.port), "", {}
        return None

    def _decide(
        self, hop: HttpRequest, interface_id: str, endpoints: tuple[Endpoint, ...] = ()
    ) -> ProbeTargetAuthorization:
        """The authorization that admits the hop at every endpoint, or, before resolution, at some address at all."""
        if endpoints:
            addresses = [endpoint.address for endpoint in endpoints]
        else:
            addresses = [
                address
                for entry in self._policy.authorizations
                if entry.interface_id == interface_id
                for address in entry.addresses
            ] or ["0.0.0.0"]
        denials: list[Denied] = []
        admitted: list[ProbeTargetAuthorization] = []
        for address in addresses:
            decision = evaluate_target(self._policy, HttpTarget(interface_id, *hop.origin, address, hop.method))
            if isinstance(decision, Denied):
                denials.append(decision)
            else:
                admitted.append(decision.authorization)
        if denials and (endpoints or not admitted):
            raise _forbidden(denials[0].reason, denials[0].detail)
        return admitted[0]

    def _follow(
        self, interface_id: str, hop: HttpRequest, authorization: ProbeTargetAuthorization, signal: AbortSignal
    ) -> Mapping[str, Any]:
        deadline = Deadline(authorization.max_elapsed_ms)
        redirects = 0
        while True:
            if hop.size > authorization.max_request_bytes:
                detail = f"maxRequestBytes: the request is longer than {authorization.max_request_bytes} bytes"
                raise RuntimeFault("budget-exhausted", CAP_PATH, detail)
            # 5. Resolve once and decide about every address.
            endpoints = resolve(self._resolver, hop.origin.host, hop.origin.port, deadline)
            try:
                self._decide(hop, interface_id, endpoints)
            except RuntimeFault as fault:
                raise (_redirect_denied(fault) if redirects else fault) from fault.cause
            # 6. One exchange.
            if signal.aborted:
                raise AbortError(signal)
            exchange = HttpExchange(hop, endpoints, deadline, authorization.max_response_bytes, self._tls)
            answer = self._mechanism(exchange, signal)
            # 7. A redirect.
            location = _location(answer)
            if location is None:
                return answer
            if redirects == authorization.max_redirects:
                detail = f"maxRedirects: more than {authorization.max_redirects} redirects"
                raise RuntimeFault("budget-exhausted", CAP_PATH, detail)
            redirects += 1
            following = redirected(hop, answer["status"], location)
            if isinstance(following, Refused):
                raise _redirect_denied(_forbidden(following.reason, following.detail))
            try:
                self._decide(following, interface_id)
            except RuntimeFault as fault:
                raise _redirect_denied(fault) from fault.cause
            hop = following


def _placed(target: ApiTarget) -> tuple[Origin, str, Mapping[str, str]]:
    origin, base_path = parse_origin(target.url)
    return origin, base_path, target.headers


def create_http_adapter(
    policy: ProbeTargetPolicy,
    mechanism: HttpMechanism | None = None,
    *,
    targets: Mapping[str, ApiTarget] | None = None,
    resolver: Resolver = system_resolver,
    tls: ssl.SSLContext | None = None,
) -> ApiAdapter:
    """An environment-probe port for HTTP under `policy`, which is taken as typed and not validated."""
    return ApiAdapter(policy, mechanism, targets=targets, resolver=resolver, tls=tls)


def _forbidden(reason: str, detail: str) -> RuntimeFault:
    return RuntimeFault("forbidden-target", "ProbeRequest", detail, reason)


REDIRECT_DENIED: Final = "the redirect is denied: "
"""How the detail of a denial begins that a redirect caused, and not the call itself."""


def _redirect_denied(fault: RuntimeFault) -> RuntimeFault:
    return RuntimeFault(fault.code, fault.artifact_path, REDIRECT_DENIED + fault.detail, fault.reason)


def _location(answer: Mapping[str, Any]) -> str | None:
    if answer["status"] not in REDIRECT_STATUSES:
        return None
    return next((value for name, value in answer["headers"] if name.lower() == "location"), None)


def _assemble(request: ProbeRequest, answer: Mapping[str, Any]) -> dict[str, Any]:
    headers: dict[str, str] = {}
    for name, value in answer["headers"]:
        key = name.lower()
        if key != _DROPPED:
            headers[key] = f"{headers[key]}, {value}" if key in headers else value
    return {
        "probeId": request.probe_id,
        "interfaceId": request.interface_id,
        "operationId": request.operation_id,
        "kind": "api",
        "status": answer["status"],
        "headers": headers,
        "body": _observed(answer["body"], headers.get("content-type")),
    }


def _observed(body: bytes, content_type: str | None) -> dict[str, Any]:
    """`absent` for no bytes, `json` for JSON-like or undeclared content that parses, `text` otherwise."""
    if not body:
        return {"kind": "absent"}
    text = decoded(body)
    media_type = (content_type or "").partition(";")[0].strip().lower()
    if not media_type or media_type == "application/json" or media_type.endswith("+json"):
        try:
            return {"kind": "json", "value": parse_json(text)}
        except NotJson:
            pass
    return {"kind": "text", "value": text}
