"""MCP over streamable HTTP, through the official SDK, against the official SDK's server (spec 12 §12.8.3)."""

import json
import socket
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

from eval_quality.errors import RuntimeFault
from eval_quality.model.decode import to_value
from eval_quality.probe.http_exchange import Endpoint
from eval_quality.probe.mcp_http import McpHttpAdapter, create_mcp_http_adapter, parse_mcp_http_target_policy
from eval_quality.probe.mcp_protocol import SessionFacts
from eval_quality.probe.signals import AbortController, AbortSignal
from support.hostile import eventually
from support.http_service import Service, serve
from support.mcp_http_service import application
from support.raw_http import RawServer, raw_server
from support.subjects import command_request, tool_request

HANDSHAKES = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"]
STATELESS = "2026-07-28"


@pytest.fixture(scope="module", params=[{}, {"json_response": True}, {"stateless_http": True}], ids=str)
def service(request: pytest.FixtureRequest) -> Iterator[Service]:
    with serve(application(**request.param)) as running:
        yield running


def policy(port: int, **changes: Any) -> Any:
    entry = {
        "interfaceId": "server",
        "url": f"http://mcp.test:{port}/mcp",
        "addresses": ["127.0.0.1"],
        "tools": ["add", "fail", "say", "missing"],
        "headers": {},
        "maxElapsedMs": 10_000,
        "maxOutputBytes": 65536,
    }
    return parse_mcp_http_target_policy({"authorizations": [{**entry, **changes}]})


def loopback(host: str, port: int) -> list[Endpoint]:
    return [Endpoint("127.0.0.1", 2, ("127.0.0.1", port))]


def adapter(port: int, revision: str = "auto", facts: list[SessionFacts] | None = None, **changes: Any) -> Any:
    # The SDK's server answers no other host than loopback.
    changes = {"url": f"http://127.0.0.1:{port}/mcp", **changes}
    observer = None if facts is None else facts.append
    return McpHttpAdapter(policy(port, **changes), revision=revision, observer=observer, resolver=loopback)


def observe(subject: McpHttpAdapter, tool: str, **arguments: Any) -> Any:
    seen = to_value(subject.probe(tool_request(tool, **arguments), AbortSignal()))
    return seen["isError"], seen["result"]


def fault(subject: McpHttpAdapter, tool: str = "add") -> RuntimeFault:
    with pytest.raises(RuntimeFault) as caught:
        subject.probe(tool_request(tool), AbortSignal())
    return caught.value


@pytest.mark.parametrize("revision", [*HANDSHAKES, STATELESS, "auto"])
def test_s12_8_3_every_revision_answers_alike_and_is_recorded(revision: str, service: Service) -> None:
    facts: list[SessionFacts] = []
    subject = adapter(service.port, revision, facts)
    assert observe(subject, "add", left=1, right=2) == (False, {"kind": "json", "value": {"sum": 3}})
    assert facts[0].requested == revision
    assert facts[0].negotiated == (STATELESS if revision == "auto" else revision)
    assert facts[0].server is not None
    assert (facts[0].server["name"], facts[0].server["version"]) == ("adder", "1.2.3")


@pytest.mark.parametrize("revision", ["2025-06-18", STATELESS])
def test_s7_5_3_answers_map_as_on_stdio(revision: str, service: Service) -> None:
    subject = adapter(service.port, revision)
    assert observe(subject, "say", text="hello") == (False, {"kind": "absent"})
    assert observe(subject, "fail") == (True, {"kind": "absent"})
    is_error, _ = observe(subject, "missing")
    assert is_error is True


def test_s12_8_3_a_session_is_opened_and_closed() -> None:
    with serve(application()) as running:
        observe(adapter(running.port, "2025-06-18"), "add", left=1, right=2)
        assert eventually(lambda: ("DELETE", "/mcp") in running.seen, 5)
        assert running.seen[0] == ("POST", "/mcp")


def test_s12_8_3_authorization_headers_travel(service: Service) -> None:
    subject = adapter(service.port, "2025-06-18", headers={"Authorization": "Bearer t"})
    assert observe(subject, "add", left=1, right=2)[0] is False


# --- policy ----------------------------------------------------------------------------------------------------------


def test_s7_4_1_another_kind_is_forbidden(service: Service) -> None:
    with pytest.raises(RuntimeFault) as caught:
        adapter(service.port).probe(command_request(), AbortSignal())
    assert (caught.value.code, caught.value.reason) == ("forbidden-target", "interface-not-authorized")


@pytest.mark.parametrize(
    ("changes", "tool", "reason"),
    [
        ({"interfaceId": "other"}, "add", "interface-not-authorized"),
        ({}, "drop", "tool-not-authorized"),
        ({"addresses": ["127.0.0.2"]}, "add", "address-not-authorized"),
    ],
)
def test_s7_3_denials_reach_nothing(changes: Any, tool: str, reason: str, service: Service) -> None:
    before = len(service.seen)
    found = fault(adapter(service.port, **changes), tool)
    assert (found.code, found.artifact_path, found.reason) == ("forbidden-target", "ProbeRequest", reason)
    assert len(service.seen) == before


@pytest.mark.parametrize(
    ("changes", "pointer"),
    [
        ({"url": "ftp://x/"}, "url"),
        ({"url": ""}, "url"),
        ({"addresses": ["localhost"]}, "addresses"),
        ({"addresses": []}, "addresses"),
        ({"tools": []}, "tools"),
        ({"extra": 1}, "extra"),
    ],
)
def test_a_policy_that_cannot_be_read(changes: Any, pointer: str) -> None:
    with pytest.raises(RuntimeFault) as caught:
        policy(1, **changes)
    assert (caught.value.code, caught.value.artifact_path) == ("schema-parse-failure", "McpHttpTargetPolicy")
    issues = caught.value.cause.issues  # type: ignore[union-attr]
    assert any(pointer in issue.path or pointer in issue.message for issue in issues)


def test_s13_10_3_connections_go_to_the_decided_address_and_keep_the_host() -> None:
    answers = iter(["127.0.0.1", "127.0.0.99"])

    def rebinding(host: str, port: int) -> list[Endpoint]:
        address = next(answers)
        return [Endpoint(address, 2, (address, port))]

    with raw_server(json_answers({})) as server:
        subject = McpHttpAdapter(policy(server.port), revision="2025-06-18", resolver=rebinding)
        assert observe(subject, "add") == (False, {"kind": "json", "value": {"ok": True}})
        assert len(server.heads) >= 3  # initialize, initialized, the call; then the SDK closes the session
        for head in server.heads:
            assert f"host: mcp.test:{server.port}".encode() in head.lower()


# --- services that misbehave -----------------------------------------------------------------------------------------


def read_body(server: RawServer, connection: socket.socket) -> dict[str, Any]:
    """The JSON body of the request whose head was read last."""
    head, _, body = server.heads[-1].partition(b"\r\n\r\n")
    length = next(
        int(line.split(b":")[1]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length")
    )
    while len(body) < length:
        body += connection.recv(65536)
    return json.loads(body) if body else {}


def reply(connection: socket.socket, status: str, body: bytes, *headers: str) -> None:
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", *headers, "", ""]
    connection.sendall("\r\n".join(lines).encode() + body)


JSON = "Content-Type: application/json"


def json_answers(special: dict[str, Any]) -> Any:
    """A plain JSON server; `special` maps a method to `(status, body, *headers)` or to a function."""

    def behave(server: RawServer, connection: socket.socket) -> None:
        if not server.heads[-1].startswith(b"POST"):
            reply(connection, "405 Method Not Allowed", b"")
            return
        message = read_body(server, connection)
        answer = special.get(message["method"])
        if callable(answer):
            answer(server, connection)
        elif answer is not None:
            reply(connection, *answer)
        elif message["method"] == "initialize":
            result = {"protocolVersion": "2025-06-18", "capabilities": {}, "serverInfo": {"name": "x", "version": "1"}}
            body = json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}).encode()
            reply(connection, "200 OK", body, JSON, "Mcp-Session-Id: s-1")
        elif "id" not in message:
            reply(connection, "202 Accepted", b"")
        else:
            result = {"content": [], "structuredContent": {"ok": True}}
            body = json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}).encode()
            reply(connection, "200 OK", body, JSON)

    return behave


def hostile(special: dict[str, Any], revision: str = "2025-06-18", **changes: Any) -> Any:
    """The adapter's answer, or fault, with a server that misbehaves."""
    with raw_server(json_answers(special)) as server:
        subject = McpHttpAdapter(policy(server.port, **changes), revision=revision, resolver=loopback)
        try:
            return observe(subject, "add")
        except RuntimeFault as caught:
            return caught


def stream_without_answer(server: RawServer, connection: socket.socket) -> None:
    reply(connection, "200 OK", b": nothing\n\n", "Content-Type: text/event-stream")


def stray_event(server: RawServer, connection: socket.socket) -> None:
    reply(connection, "200 OK", b"data: not json\n\n", "Content-Type: text/event-stream")


def hang_up(server: RawServer, connection: socket.socket) -> None:
    connection.close()


@pytest.mark.parametrize(
    "special",
    [
        {"initialize": ("500 Oops", b"no", "Content-Type: text/plain")},
        {"initialize": ("404 Not Found", b"no", "Content-Type: text/plain")},
        {"initialize": ("200 OK", b"<html>", "Content-Type: text/html")},
        {"initialize": ("200 OK", b"not json", JSON)},
        {"initialize": ("200 OK", b"")},
        {"initialize": ("302 Found", b"", "Location: http://10.0.0.1/")},
        {"initialize": ("307 Temporary Redirect", b"", "Location: http://10.0.0.1/")},
        {"initialize": ("202 Accepted", b"")},
        {"initialize": hang_up},
        {"initialize": ("400 Bad Request", b'{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"no"}}', JSON)},
        {"tools/call": ("500 Oops", b"{}", JSON)},
        {"tools/call": ("503 Busy", b"busy", "Content-Type: text/plain")},
        {"tools/call": stream_without_answer},
        {"tools/call": stray_event},
        {"tools/call": hang_up},
        {"tools/call": ("202 Accepted", b"")},
        {"notifications/initialized": ("500 Oops", b"")},
    ],
)
def test_s12_8_3_what_is_no_answer_is_a_port_failure(special: dict[str, Any]) -> None:
    found = hostile(special)
    assert isinstance(found, RuntimeFault), found
    assert (found.code, found.artifact_path) == ("port-failure", "ProbeObservation")


def test_s12_8_3_a_json_rpc_error_is_an_answer_whatever_its_status() -> None:
    error = {"code": -32602, "message": "bad"}
    body = json.dumps({"jsonrpc": "2.0", "id": 2, "error": error}).encode()
    assert hostile({"tools/call": ("400 Bad Request", body, JSON)}) == (True, {"kind": "json", "value": error})
    assert hostile({"tools/call": ("200 OK", body, JSON)}) == (True, {"kind": "json", "value": error})


def test_s12_8_3_a_session_that_is_gone_is_an_ended_session() -> None:
    found = hostile({"tools/call": ("404 Not Found", b"gone", "Content-Type: text/plain")})
    assert found == (True, {"kind": "absent"})


def test_s12_8_3_auto_falls_back_to_the_handshake() -> None:
    for refusal in (
        ("400 Bad Request", b"unknown", "Content-Type: text/plain"),
        ("404 Not Found", b"", "Content-Type: text/plain"),
        ("200 OK", b'{"jsonrpc":"2.0","id":0,"error":{"code":-32601,"message":"no such method"}}', JSON),
    ):
        assert hostile({"server/discover": refusal}, "auto") == (False, {"kind": "json", "value": {"ok": True}})


def test_s12_8_3_a_refused_stateless_revision_is_a_port_failure() -> None:
    body = b'{"jsonrpc":"2.0","id":2,"error":{"code":-32022,"message":"unsupported","data":{"supported":[]}}}'
    found = hostile({"tools/call": ("400 Bad Request", body, JSON)}, "2026-07-28")
    assert isinstance(found, RuntimeFault)
    assert found.code == "port-failure"
    assert "refused revision 2026-07-28" in found.detail


def silent(server: RawServer, connection: socket.socket) -> None:
    server.stop.wait(20)


def dripping(server: RawServer, connection: socket.socket) -> None:
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n")
    while not server.stop.wait(0.02):
        connection.sendall(b": ping\n\n")


@pytest.mark.parametrize("method", ["initialize", "tools/call"])
@pytest.mark.parametrize("behave", [silent, dripping])
def test_s7_5_4_the_deadline_covers_the_whole_session(method: str, behave: Any) -> None:
    begin = time.monotonic()
    found = hostile({method: behave}, maxElapsedMs=600)
    assert isinstance(found, RuntimeFault)
    assert (found.code, found.artifact_path) == ("budget-exhausted", "McpProbeRequest")
    assert time.monotonic() - begin < 2.5


def flood(server: RawServer, connection: socket.socket) -> None:
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: ")
    while not server.stop.is_set():
        connection.sendall(b"x" * 10_000)


def test_s12_8_3_a_server_that_dawdles_over_the_end_keeps_nobody() -> None:
    answers = json_answers({})

    def behave(server: RawServer, connection: socket.socket) -> None:
        if server.heads[-1].startswith(b"DELETE"):
            silent(server, connection)
        else:
            answers(server, connection)

    begin = time.monotonic()
    with raw_server(behave) as server:
        subject = McpHttpAdapter(policy(server.port), revision="2025-06-18", resolver=loopback)
        assert observe(subject, "add") == (False, {"kind": "json", "value": {"ok": True}})
    assert time.monotonic() - begin < 5


def test_s7_5_4_the_byte_cap_covers_the_whole_session() -> None:
    found = hostile({"tools/call": flood}, maxOutputBytes=100_000)
    assert isinstance(found, RuntimeFault)
    assert (found.code, found.artifact_path) == ("budget-exhausted", "McpProbeRequest")
    assert "maxOutputBytes" in found.detail


def test_s7_1_1_an_abort_ends_the_session_at_once() -> None:
    controller = AbortController()
    faults: list[RuntimeFault] = []
    with raw_server(json_answers({"tools/call": silent})) as server:
        subject = McpHttpAdapter(policy(server.port), revision="2025-06-18", resolver=loopback)

        def work() -> None:
            try:
                subject.probe(tool_request("add"), controller.signal)
            except RuntimeFault as caught:
                faults.append(caught)

        thread = threading.Thread(target=work)
        thread.start()
        assert eventually(lambda: any(b"tools/call" in head or len(server.heads) >= 3 for head in server.heads), 5)
        controller.abort()
        thread.join(2)
        assert not thread.is_alive()
        assert faults[0].code == "aborted"
        assert eventually(lambda: controller.signal.listener_count == 0, 3)


def test_s7_2_2_a_mechanism_can_be_given(service: Service) -> None:
    subject = create_mcp_http_adapter(
        policy(service.port, url=f"http://127.0.0.1:{service.port}/mcp"),
        lambda invocation, signal: {"isError": False, "result": {"kind": "json", "value": invocation.call.tool_name}},
    )
    assert observe(subject, "add") == (False, {"kind": "json", "value": "add"})


def test_s7_1_3_without_the_sdk_a_probe_says_which_extra_brings_it(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "eval_quality.probe.mcp_http_client", None)
    found = fault(adapter(1))
    assert (found.code, found.artifact_path) == ("port-failure", "ProbeObservation")
    assert "eval-quality[mcp]" in found.detail
    assert isinstance(found.cause, ImportError)
