"""The streamable HTTP session itself, on the official SDK: imported by the first probe that needs it.

The SDK turns HTTP failures into JSON-RPC errors of its own making, which would read as answers of the server. So the
transport below the SDK looks at every response first: what is no answer ends the session with its own failure.
"""

import asyncio
import contextlib
import logging
import ssl
from collections.abc import AsyncIterator, Iterable, Mapping
from typing import Any, Final, cast

import anyio
import httpcore2
import httpx2
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.inbound import encode_header_value
from mcp.shared.message import ClientMessageMetadata, SessionMessage
from mcp_types import JSONRPCNotification, JSONRPCRequest

from eval_quality.errors import RuntimeFault
from eval_quality.probe.jstext import NotJson, TooDeep, decoded, parse_json
from eval_quality.probe.mcp import CAP_PATH
from eval_quality.probe.mcp_http import HttpToolInvocation
from eval_quality.probe.mcp_protocol import AUTO, Session, SessionFailure, checked_message, not_a_message
from eval_quality.probe.signals import AbortError, AbortSignal
from eval_quality.value.kind import is_object

CLOSE_SECONDS: Final = 1.0
"""How long the end of an answered session is waited for."""
_SDK_ERRORS: Final = (
    "SSE stream ended without a response",
    "SSE stream ended and reconnection attempts were exhausted",
    "SSE stream failed: ",
    "Failed to parse SSE message: ",
    "Failed to parse JSON response: ",
    "server answered a request with 202 Accepted",
    "Redirect to ",
)
"""How the messages of errors begin that the SDK makes up where the server gave no answer."""

# The SDK logs what it swallows; without a handler of any kind Python would print that to the user's terminal.
logging.getLogger("mcp").addHandler(logging.NullHandler())


def converse(invocation: HttpToolInvocation, session: Session, signal: AbortSignal) -> bool:
    """Run the session until it has its answer; True when the server ended it after the handshake instead."""
    return anyio.run(_Conversation(invocation, session, signal).run)


class _Conversation:
    def __init__(self, invocation: HttpToolInvocation, session: Session, signal: AbortSignal) -> None:
        self._invocation = invocation
        self._session = session
        self._signal = signal
        self._transport = _CheckedTransport(invocation, session)

    async def run(self) -> bool:
        loop = asyncio.get_running_loop()
        client = httpx2.AsyncClient(
            transport=self._transport, headers=dict(self._invocation.headers), timeout=None, trust_env=False
        )
        with anyio.CancelScope(deadline=anyio.current_time() + self._invocation.deadline.left()) as scope:
            self._transport.stop = scope.cancel

            def abort() -> None:
                with contextlib.suppress(RuntimeError):  # the loop ended in the meantime
                    loop.call_soon_threadsafe(scope.cancel)

            unlisten = self._signal.listen(abort)
            try:
                async with client:
                    await self._talk(client, scope)
            except* Exception as group:
                self._transport.fail(_first(group))
            finally:
                unlisten()
        if self._session.answer is not None:
            return False
        if self._signal.aborted:
            raise AbortError(self._signal)
        if self._transport.failure is not None:
            raise self._transport.failure
        if scope.cancelled_caught and not self._transport.ended:
            raise self._invocation.deadline.passed()
        return self._transport.ended

    async def _talk(self, client: httpx2.AsyncClient, scope: anyio.CancelScope) -> None:
        url = self._invocation.url
        async with streamable_http_client(url, http_client=client, max_sse_event_size=None) as (incoming, outgoing):
            # A failure leaves by way of the transport: raised here, it would come back inside an exception group.
            try:
                await self._send(outgoing, self._session.open())
                async for item in incoming:
                    await self._send(outgoing, self._session.receive(_message(item)))
                    if self._session.answer is not None:
                        # Closing the session is a courtesy; a server that dawdles over it keeps nobody.
                        scope.deadline = min(scope.deadline, anyio.current_time() + CLOSE_SECONDS)
                        return
            except SessionFailure as failure:
                self._transport.fail(failure)

    async def _send(self, outgoing: Any, messages: Iterable[Mapping[str, Any]]) -> None:
        for message in messages:
            kind = JSONRPCRequest if "id" in message else JSONRPCNotification
            await outgoing.send(SessionMessage(kind.model_validate(message), self._metadata(message)))

    def _metadata(self, message: Mapping[str, Any]) -> ClientMessageMetadata | None:
        if message["method"] == "initialize":
            return None
        params = message.get("params", {})
        meta = params.get("_meta", {})
        stateless = meta.get("io.modelcontextprotocol/protocolVersion")
        if stateless is None:
            negotiated = self._session.facts.negotiated
            return None if negotiated is None else ClientMessageMetadata(headers={"mcp-protocol-version": negotiated})
        headers = {"mcp-protocol-version": str(stateless), "mcp-method": str(message["method"])}
        if "name" in params:
            headers["mcp-name"] = encode_header_value(params["name"])
        return ClientMessageMetadata(headers=headers)


def _first(group: BaseExceptionGroup[Exception]) -> Exception:
    error: Exception | BaseExceptionGroup[Exception] = group
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def _message(item: SessionMessage | Exception) -> Mapping[str, Any]:
    if isinstance(item, Exception):
        raise not_a_message(str(item)) from item
    message = item.message.model_dump(by_alias=True, mode="json", exclude_unset=True)
    error = message.get("error")
    text = error.get("message") if is_object(error) else None
    if isinstance(text, str) and text.startswith(_SDK_ERRORS):
        raise SessionFailure(text)
    return checked_message(message, str(message))


class _CheckedTransport(httpx2.AsyncBaseTransport):
    """Connects to the decided addresses only, counts what comes back, and knows an answer from a failure."""

    def __init__(self, invocation: HttpToolInvocation, session: Session) -> None:
        self._invocation = invocation
        self._session = session
        self._received = 0
        self.failure: Exception | None = None
        self.ended = False
        self.stop = lambda: None
        self._pool = httpcore2.AsyncConnectionPool(
            ssl_context=invocation.tls
            or (ssl.create_default_context() if invocation.origin.scheme == "https" else None),
            network_backend=_PinnedBackend(invocation),
            # A connection that a server closes between two messages would look like a failure of the second.
            max_keepalive_connections=0,
        )

    def fail(self, failure: Exception) -> None:
        """End the session with its first failure."""
        self.failure = self.failure or failure
        self.stop()

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        url = request.url
        asked = httpcore2.Request(
            request.method,
            httpcore2.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path),
            headers=request.headers.raw,
            content=request.stream,
        )
        try:
            answer = await self._pool.handle_async_request(asked)
        except (httpcore2.NetworkError, httpcore2.ProtocolError, OSError) as error:
            if request.method == "POST":  # the SDK would only log it
                self.fail(error)
            raise
        response = httpx2.Response(answer.status, headers=answer.headers, stream=_Counted(self, answer))
        return await self._checked(request, response) if request.method == "POST" else response

    async def _checked(self, request: httpx2.Request, response: httpx2.Response) -> httpx2.Response:
        status = response.status_code
        media_type = response.headers.get("content-type", "").partition(";")[0].strip().lower()
        asking = self._session.phase == "initialize" and self._session.facts.requested == AUTO
        if status == 404 and "mcp-session-id" in request.headers:
            self.ended = True
            self.stop()
        elif status >= 400:
            body = await response.aread()
            if not asking and not _is_rpc_error(body):
                self.fail(SessionFailure(f"the message endpoint answered with status {status}"))
        elif status == 200 and media_type not in ("application/json", "text/event-stream"):
            self.fail(SessionFailure(f"the message endpoint answered with content type {media_type or '(none)'}"))
        elif status not in (200, 202, 307, 308):
            self.fail(SessionFailure(f"the message endpoint answered with status {status}"))
        return response

    def count(self, received: int) -> None:
        """Add bytes of a body; raises when the session has brought too many."""
        self._received += received
        cap = self._invocation.max_output_bytes
        if self._received > cap:
            detail = f"maxOutputBytes: the session's responses are longer than {cap} bytes"
            fault = RuntimeFault("budget-exhausted", CAP_PATH, detail)
            self.fail(fault)
            raise httpx2.ReadError(detail)

    async def aclose(self) -> None:
        await self._pool.aclose()


def _is_rpc_error(body: bytes) -> bool:
    try:
        value = parse_json(decoded(body))
    except (NotJson, TooDeep):
        return False
    return is_object(value) and is_object(value.get("error"))


class _Counted(httpx2.AsyncByteStream):
    def __init__(self, transport: _CheckedTransport, answer: httpcore2.Response) -> None:
        self._transport = transport
        self._answer = answer

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for chunk in self._answer.aiter_stream():
            self._transport.count(len(chunk))
            yield chunk

    async def aclose(self) -> None:
        await self._answer.aclose()


class _PinnedBackend(httpcore2.AsyncNetworkBackend):
    """Opens connections to the endpoints that the policy admitted, in order, and to nothing else."""

    def __init__(self, invocation: HttpToolInvocation) -> None:
        self._invocation = invocation
        self._inner = cast(httpcore2.AsyncNetworkBackend, httpcore2.AnyIOBackend())

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Any = None,
    ) -> httpcore2.AsyncNetworkStream:
        origin = self._invocation.origin
        if (host, port) != (origin.ascii_host, origin.port) and (host, port) != (origin.host, origin.port):
            raise httpcore2.ConnectError(f"{host}:{port} is not the decided origin")
        last: Exception | None = None
        for endpoint in self._invocation.endpoints:
            try:
                return await self._inner.connect_tcp(endpoint.address, port, timeout, local_address, socket_options)
            except httpcore2.ConnectError as error:
                last = error
        raise last or httpcore2.ConnectError("no address to connect to")
