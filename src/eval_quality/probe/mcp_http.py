"""The MCP adapter over streamable HTTP, on the official SDK's transport (spec 12 §12.8.3, 07 §7.5.3).

The SDK moves the messages; what is sent and what an answer means is `mcp_protocol`, as on stdio. Around the SDK:

1. The host is resolved once; the policy decides about every address, and connections go to those addresses only,
   whatever the SDK asks for (`mcp_http_client`).
2. One deadline and one byte cap cover the whole session.
3. `Mcp-Session-Id` is echoed and closed with DELETE; `MCP-Protocol-Version` carries the negotiated revision; a
   stateless revision names it, the method and the tool in headers of each request.
4. A status of 400 or more counts as an answer when its body is a JSON-RPC error. 404 to an echoed session id is an
   ended session: `isError`, absent. Any other failing status, a wrong content type, a redirect and a stream that ends
   without the answer are failures.

Importing this module imports neither the SDK nor an event loop; the first probe does. Where the SDK is not installed, a
probe fails with `port-failure` and says which extra brings it.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Final, NamedTuple, Protocol

from msgspec import Meta

from eval_quality.errors import Problem, RuntimeFault
from eval_quality.model.address import parse_address
from eval_quality.model.decode import decode
from eval_quality.model.ports import ProbeObservation, ProbeRequest, ToolRequest
from eval_quality.model.primitives import Identifier, Positive, Text, ToolName
from eval_quality.model.record import Record, freeze_maps
from eval_quality.model.target import ProbeTargetAuthorization, ProbeTargetPolicy
from eval_quality.probe.command import wrong_kind
from eval_quality.probe.http_exchange import Deadline, Endpoint, Resolver, resolve, system_resolver
from eval_quality.probe.http_request import Origin, parse_origin
from eval_quality.probe.mcp import CAP_PATH, Observer, assemble_tool
from eval_quality.probe.mcp_protocol import AUTO, Session, SessionFailure, ToolCall
from eval_quality.probe.ports import PROBE
from eval_quality.probe.seam import run_port_method
from eval_quality.probe.signals import AbortError, AbortSignal
from eval_quality.probe.targets import Denied, HttpTarget, evaluate_target
from eval_quality.value.kind import is_array

if TYPE_CHECKING:
    import ssl

POLICY_PATH: Final = "McpHttpTargetPolicy"
"""Artifact path of a policy that cannot be read."""


class McpHttpAuthorization(Record):
    """One server: its endpoint, the exact addresses its host may resolve to, and the tools that may be called."""

    interface_id: Identifier
    url: Text
    addresses: Annotated[tuple[Text, ...], Meta(min_length=1)]
    tools: Annotated[tuple[ToolName, ...], Meta(min_length=1)]
    headers: Mapping[Text, str]
    max_elapsed_ms: Positive
    max_output_bytes: Positive

    def __post_init__(self) -> None:
        freeze_maps(self, "headers")
        if list(_problems(self.url, self.addresses)):
            raise ValueError("the url or an address cannot be read")

    @classmethod
    def structure(cls, value: Mapping[str, Any]) -> Iterable[Problem]:
        """An absolute http(s) URL, and address literals."""
        addresses = value.get("addresses")
        return _problems(value.get("url"), addresses if is_array(addresses) else ())


def _problems(url: object, addresses: Iterable[object]) -> Iterable[Problem]:
    if isinstance(url, str) and url:
        try:
            parse_origin(url)
        except ValueError:
            yield Problem(("url",), "custom", "must be an absolute http or https URL")
    for index, address in enumerate(addresses):
        if isinstance(address, str) and address and parse_address(address) is None:
            yield Problem(("addresses", index), "custom", "must be an IPv4 or IPv6 address literal")


class McpHttpTargetPolicy(Record):
    """Which MCP servers may be reached over HTTP."""

    REFINED: ClassVar[tuple[str, ...]] = ("authorizations",)

    authorizations: tuple[McpHttpAuthorization, ...]


def parse_mcp_http_target_policy(value: Any) -> McpHttpTargetPolicy:
    """The policy a plain value spells; raises `schema-parse-failure` at `McpHttpTargetPolicy`."""
    return decode(McpHttpTargetPolicy, value, POLICY_PATH)


class HttpToolInvocation(NamedTuple):
    """What the mechanism is to do."""

    url: str
    origin: Origin
    endpoints: tuple[Endpoint, ...]
    headers: Mapping[str, str]
    call: ToolCall
    revision: str
    deadline: Deadline
    max_output_bytes: int
    tls: "ssl.SSLContext | None" = None


class McpHttpMechanism(Protocol):
    """Runs one session. The answer is an untyped mapping with `isError` and `result`."""

    def __call__(self, invocation: HttpToolInvocation, signal: AbortSignal, /) -> Mapping[str, Any]: ...


class McpHttpAdapter:
    """The port. `revision` is a protocol revision or `auto`; `observer` hears what each answered session settled on."""

    def __init__(
        self,
        policy: McpHttpTargetPolicy,
        mechanism: McpHttpMechanism | None = None,
        *,
        revision: str = AUTO,
        observer: Observer | None = None,
        resolver: Resolver = system_resolver,
        tls: "ssl.SSLContext | None" = None,
    ) -> None:
        self._policy = policy
        self._mechanism = mechanism
        self._revision = revision
        self._observer = observer
        self._resolver = resolver
        self._tls = tls

    def probe(self, request: ProbeRequest | Mapping[str, Any], signal: AbortSignal) -> ProbeObservation:
        """Make the tool call that the request names; raises `RuntimeFault` only."""
        decided: list[tuple[ToolRequest, McpHttpAuthorization]] = []

        def before(parsed: ProbeRequest) -> None:
            if not isinstance(parsed, ToolRequest):
                raise wrong_kind(parsed.kind)
            decided.append((parsed, self._authorization(parsed)))

        def effect(_: ProbeRequest) -> Mapping[str, Any]:
            if self._mechanism is None:
                _load_sdk()  # before the deadline begins: its import is no part of the session
            invocation = self._invocation(*decided[0])
            if self._mechanism is not None:
                return self._mechanism(invocation, signal)
            return run_http_session(invocation, signal, self._observer)

        return run_port_method(PROBE, request, signal, effect, assemble_tool, honours_abort=False, before=before)

    def _authorization(self, request: ToolRequest) -> McpHttpAuthorization:
        entries = [entry for entry in self._policy.authorizations if entry.interface_id == request.interface_id]
        if not entries:
            detail = f"no authorization names interface {request.interface_id}"
            raise RuntimeFault("forbidden-target", "ProbeRequest", detail, "interface-not-authorized")
        for entry in entries:
            if request.tool_name in entry.tools:
                return entry
        detail = f"tool {request.tool_name} of {request.interface_id} is not authorized"
        raise RuntimeFault("forbidden-target", "ProbeRequest", detail, "tool-not-authorized")

    def _invocation(self, request: ToolRequest, entry: McpHttpAuthorization) -> HttpToolInvocation:
        origin, _ = parse_origin(entry.url)
        deadline = Deadline(entry.max_elapsed_ms, CAP_PATH)
        endpoints = resolve(self._resolver, origin.host, origin.port, deadline)
        policy = _as_http(entry, origin)
        for endpoint in endpoints:
            decision = evaluate_target(policy, HttpTarget(entry.interface_id, *origin, endpoint.address, "POST"))
            if isinstance(decision, Denied):
                raise RuntimeFault("forbidden-target", "ProbeRequest", decision.detail, decision.reason)
        call = ToolCall(request.tool_name, request.channels.arguments)
        return HttpToolInvocation(
            entry.url,
            origin,
            endpoints,
            entry.headers,
            call,
            self._revision,
            deadline,
            entry.max_output_bytes,
            self._tls,
        )


def create_mcp_http_adapter(policy: McpHttpTargetPolicy, mechanism: McpHttpMechanism | None = None) -> McpHttpAdapter:
    """An environment-probe port for tool calls over streamable HTTP under `policy`, which is taken as typed."""
    return McpHttpAdapter(policy, mechanism)


def _as_http(entry: McpHttpAuthorization, origin: Origin) -> ProbeTargetPolicy:
    """The authorization in the terms of the HTTP decision."""
    return ProbeTargetPolicy(
        authorizations=(
            ProbeTargetAuthorization(
                interface_id=entry.interface_id,
                scheme="https" if origin.scheme == "https" else "http",
                host=origin.host,
                port=origin.port,
                addresses=entry.addresses,
                methods=("GET", "POST", "DELETE"),
                safe_methods=(),
                max_redirects=0,
                max_elapsed_ms=entry.max_elapsed_ms,
                max_request_bytes=1,
                max_response_bytes=entry.max_output_bytes,
            ),
        )
    )


def run_http_session(
    invocation: HttpToolInvocation, signal: AbortSignal, observer: Observer | None = None
) -> Mapping[str, Any]:
    """The real mechanism: one session, one call."""
    converse = _load_sdk()
    if signal.aborted:
        raise AbortError(signal)
    session = Session(invocation.call, invocation.revision)
    ended = converse(invocation, session, signal)
    if session.answer is not None:
        if observer is not None:
            observer(session.facts)
        return {"isError": session.answer.is_error, "result": session.answer.result}
    if ended:
        return {"isError": True, "result": {"kind": "absent"}}
    raise SessionFailure(f"the server ended the connection during {session.phase}")


def _load_sdk() -> Callable[[HttpToolInvocation, Session, AbortSignal], bool]:
    try:
        from eval_quality.probe.mcp_http_client import converse
    except ImportError as error:
        detail = 'MCP over HTTP needs the official SDK: install the extra "mcp" (pip install "eval-quality[mcp]")'
        raise RuntimeFault("port-failure", "ProbeObservation", detail) from error
    return converse
