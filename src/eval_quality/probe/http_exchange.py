"""One HTTP exchange with one decided address (spec 07 §7.1.3, 13 §13.10.3).

1. Names are resolved once, on a thread of its own so that a silent resolver cannot outlast the deadline; no address
   twice, more than `MAX_ADDRESSES` refuse the host.
2. The connection goes to exactly the resolved socket address. A second address is tried only when the first accepted no
   connection, so there is one request at most.
3. TLS is verified against the original host name. No proxy, cookie, netrc or environment setting is read.
4. Every read and write gets what is left of the one deadline: no dripping header, body or TLS record can stretch it.
5. Header and body bytes are counted as they arrive; an encoded body also as it is decoded, gzip and deflate only.
6. An abort shuts the socket down under the exchange.
"""

import contextlib
import socket
import ssl
import threading
import time
import zlib
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, NamedTuple, Protocol

import httpcore2

from eval_quality.errors import RuntimeFault
from eval_quality.probe.http_request import HttpRequest
from eval_quality.probe.process import MAX_DELAY_MS
from eval_quality.probe.signals import AbortSignal

CAP_PATH: Final = "ApiProbeRequest"
"""Artifact path of an exceeded cap."""
MAX_ADDRESSES: Final = 16
"""Most addresses a host may resolve to; stops a name server that answers without end."""
MAX_HEADER_BYTES: Final = 65_536
"""Longest header block of a response."""

_TOO_LONG_FOR_PARSER: Final = "Receive buffer too long"


class Endpoint(NamedTuple):
    """One resolved address: its literal, and what the socket call takes."""

    address: str
    family: int
    socket_address: tuple[Any, ...]


Resolver = Callable[[str, int], Iterable[Endpoint]]
"""Every address of a host, in the resolver's order."""


class Deadline:
    """One point in time that everything in a call shares; `what` names the cap for the fault."""

    def __init__(self, max_elapsed_ms: int, artifact_path: str = CAP_PATH) -> None:
        self._cap = max_elapsed_ms
        self._path = artifact_path
        self._end = time.monotonic() + min(max_elapsed_ms, MAX_DELAY_MS) / 1000

    def left(self) -> float:
        """Seconds left; raises `budget-exhausted` when there are none."""
        left = self._end - time.monotonic()
        if left <= 0:
            raise self.passed()
        return left

    def passed(self) -> RuntimeFault:
        """The fault of a call that took too long."""
        return RuntimeFault("budget-exhausted", self._path, f"maxElapsedMs: more than {self._cap} ms")


class HttpExchange(NamedTuple):
    """What the mechanism is to do: one hop, to one of these endpoints, within these caps."""

    request: HttpRequest
    endpoints: tuple[Endpoint, ...]
    deadline: Deadline
    max_response_bytes: int
    tls: ssl.SSLContext | None = None


class HttpMechanism(Protocol):
    """Makes one exchange. The answer is an untyped mapping with `status`, `headers` (pairs of text) and `body`."""

    def __call__(self, exchange: HttpExchange, signal: AbortSignal, /) -> Mapping[str, Any]: ...


def system_resolver(host: str, port: int) -> list[Endpoint]:
    """The addresses that the host's resolver gives; raises `OSError`."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [Endpoint(str(address[0]), int(family), tuple(address)) for family, _, _, _, address in found]


def resolve(resolver: Resolver, host: str, port: int, deadline: Deadline) -> tuple[Endpoint, ...]:
    """Every distinct address of `host`; raises `port-failure`, `forbidden-target` or `budget-exhausted`."""
    answers: list[list[Endpoint]] = []
    errors: list[Exception] = []

    def ask() -> None:
        try:
            answers.append(list(resolver(host, port)))
        except Exception as error:  # handed to the waiting thread
            errors.append(error)

    thread = threading.Thread(target=ask, name="eval-quality resolver", daemon=True)
    thread.start()
    thread.join(deadline.left())
    if errors:
        raise RuntimeFault("port-failure", "ProbeObservation", f"host {host} cannot be resolved") from errors[0]
    if not answers:
        raise deadline.passed()
    endpoints = tuple({endpoint.address: endpoint for endpoint in answers[0]}.values())
    if len(endpoints) > MAX_ADDRESSES:
        detail = f"host {host} resolves to {len(endpoints)} addresses, more than {MAX_ADDRESSES}"
        raise RuntimeFault("forbidden-target", "ProbeRequest", detail, "address-not-authorized")
    if not endpoints:
        raise RuntimeFault("port-failure", "ProbeObservation", f"host {host} resolves to no address")
    return endpoints


def exchange_http(exchange: HttpExchange, signal: AbortSignal) -> Mapping[str, Any]:
    """The real mechanism: one request, one response, nothing kept."""
    request = exchange.request
    origin = request.origin
    sock = _connect(exchange)
    stream = _Stream(sock, exchange.deadline)
    unlisten = signal.listen(stream.shut_down)
    try:
        if origin.scheme == "https":
            stream.secure(exchange.tls or ssl.create_default_context(), origin.ascii_host)
        connection = httpcore2.HTTP11Connection(
            httpcore2.Origin(origin.scheme.encode(), origin.ascii_host.encode(), origin.port), stream
        )
        return _converse(connection, exchange)
    except httpcore2.RemoteProtocolError as error:
        if _TOO_LONG_FOR_PARSER in str(error):
            raise _headers_too_long() from error
        raise
    finally:
        unlisten()
        stream.close()


def _connect(exchange: HttpExchange) -> socket.socket:
    last: OSError | None = None
    for endpoint in exchange.endpoints:
        sock = socket.socket(endpoint.family, socket.SOCK_STREAM)
        try:
            sock.settimeout(exchange.deadline.left())
            sock.connect(endpoint.socket_address)
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        except OSError as error:
            sock.close()
            exchange.deadline.left()
            last = error
        except BaseException:
            sock.close()
            raise
        else:
            return sock
    raise last or ConnectionError("no address to connect to")


def _converse(connection: httpcore2.HTTP11Connection, exchange: HttpExchange) -> Mapping[str, Any]:
    request = exchange.request
    url = httpcore2.URL(
        scheme=request.origin.scheme.encode(),
        host=request.origin.ascii_host.encode(),
        port=request.origin.port,
        target=request.target.encode("ascii"),
    )
    headers = [(name.encode(), value.strip(" \t").encode()) for name, value in request.headers]
    answer = connection.handle_request(
        httpcore2.Request(request.method.encode(), url, headers=headers, content=request.body)
    )
    try:
        if sum(len(name) + len(value) + 4 for name, value in answer.headers) > MAX_HEADER_BYTES:
            raise _headers_too_long()
        received = [(name.decode("latin-1").lower(), value.decode("latin-1")) for name, value in answer.headers]
        encoding = ", ".join(value for name, value in received if name == "content-encoding").strip().lower()
        body = _read_body(answer.iter_stream(), encoding, exchange.max_response_bytes)
    finally:
        answer.close()
    return {"status": answer.status, "headers": received, "body": body}


def _headers_too_long() -> RuntimeFault:
    return RuntimeFault("budget-exhausted", CAP_PATH, f"the response headers are longer than {MAX_HEADER_BYTES} bytes")


def _read_body(chunks: Iterable[bytes], encoding: str, cap: int) -> bytes:
    decode = _decoder(encoding, cap)
    body = bytearray()
    received = 0
    for chunk in chunks:
        received += len(chunk)
        body += decode(chunk)
        if received > cap or len(body) > cap:
            detail = f"maxResponseBytes: the response body is longer than {cap} bytes"
            raise RuntimeFault("budget-exhausted", CAP_PATH, detail)
    return bytes(body)


def _decoder(encoding: str, cap: int) -> Callable[[bytes], bytes]:
    """Decodes at most one byte more than the cap from each chunk: a small bomb never becomes a large buffer."""
    if encoding in ("gzip", "x-gzip"):
        inflate = zlib.decompressobj(zlib.MAX_WBITS | 16)
    elif encoding == "deflate":
        inflate = zlib.decompressobj()
    else:
        return bytes
    return lambda chunk: inflate.decompress(chunk, cap + 1)


class _Stream(httpcore2.NetworkStream):
    """A connected socket whose every operation obeys the call's deadline, whatever the client asks for."""

    def __init__(self, sock: socket.socket, deadline: Deadline) -> None:
        self._sock = sock
        self._deadline = deadline

    def secure(self, context: ssl.SSLContext, host: str) -> None:
        """Do the TLS handshake, verified against `host`."""
        self._sock.settimeout(self._deadline.left())
        try:
            self._sock = context.wrap_socket(self._sock, server_hostname=host)
        except TimeoutError as error:
            raise self._deadline.passed() from error

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        self._sock.settimeout(self._deadline.left())
        try:
            return self._sock.recv(max_bytes)
        except TimeoutError as error:
            raise self._deadline.passed() from error
        except OSError as error:
            raise httpcore2.ReadError(str(error)) from error

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._sock.settimeout(self._deadline.left())
        try:
            self._sock.sendall(buffer)
        except TimeoutError as error:
            raise self._deadline.passed() from error
        except OSError as error:
            raise httpcore2.WriteError(str(error)) from error

    def close(self) -> None:
        self._sock.close()

    def shut_down(self) -> None:
        """End a blocked read or write from another thread."""
        with contextlib.suppress(OSError):
            self._sock.shutdown(socket.SHUT_RDWR)

    def get_extra_info(self, info: str) -> Any:
        return None
