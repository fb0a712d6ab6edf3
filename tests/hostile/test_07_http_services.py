"""Hostile HTTP services, name servers and redirects (spec 07 §7.1.3, §7.3.1; spec 13 §13.10.3)."""

import gzip
import socket
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

from eval_quality.errors import RuntimeFault
from eval_quality.model.decode import to_value
from eval_quality.model.target import parse_probe_target_policy
from eval_quality.probe.api import ApiAdapter, ApiTarget
from eval_quality.probe.http_exchange import Endpoint
from eval_quality.probe.signals import AbortController, AbortSignal
from support.hostile import eventually
from support.raw_http import RawServer, raw_server
from support.subjects import api_entry, api_request

MAX_ELAPSED_MS = 500
Behaviour = Callable[[RawServer, socket.socket], None]


def loopback(host: str, port: int) -> list[Endpoint]:
    return [Endpoint("127.0.0.1", 2, ("127.0.0.1", port))]


def adapter(port: int, resolver: Any = loopback, **changes: Any) -> ApiAdapter:
    entry = api_entry(port, **{"maxElapsedMs": MAX_ELAPSED_MS, "maxResponseBytes": 20_000, **changes})
    return ApiAdapter(
        parse_probe_target_policy({"authorizations": [entry]}),
        targets={"shop": ApiTarget(f"http://shop.test:{port}")},
        resolver=resolver,
    )


def fault(behave: Behaviour, **changes: Any) -> RuntimeFault:
    with raw_server(behave) as server:
        begin = time.monotonic()
        with pytest.raises(RuntimeFault) as caught:
            adapter(server.port, **changes).probe(api_request("/"), AbortSignal())
        assert time.monotonic() - begin < MAX_ELAPSED_MS / 1000 + 1
        return caught.value


def drip(server: RawServer, connection: socket.socket, text: bytes, seconds: float = 0.05) -> None:
    for byte in text:
        connection.sendall(bytes([byte]))
        if server.stop.wait(seconds):
            return


def dripping_head(server: RawServer, connection: socket.socket) -> None:
    drip(server, connection, b"HTTP/1.1 200 OK\r\nX-Slow: " + b"x" * 1000)


def dripping_body(server: RawServer, connection: socket.socket) -> None:
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
    drip(server, connection, b"x" * 1000)


def silence(server: RawServer, connection: socket.socket) -> None:
    server.stop.wait(10)


def endless_informational(server: RawServer, connection: socket.socket) -> None:
    while not server.stop.wait(0.01):
        connection.sendall(b"HTTP/1.1 103 Early Hints\r\n\r\n")


def half_answer(server: RawServer, connection: socket.socket) -> None:
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nhalf")
    server.stop.wait(10)


@pytest.mark.parametrize("behave", [dripping_head, dripping_body, silence, endless_informational, half_answer])
def test_s7_3_1_the_deadline_covers_the_whole_exchange(behave: Behaviour) -> None:
    found = fault(behave)
    assert (found.code, found.artifact_path) == ("budget-exhausted", "ApiProbeRequest")
    assert "maxElapsedMs" in found.detail


def endless_chunks(server: RawServer, connection: socket.socket) -> None:
    connection.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
    while not server.stop.is_set():
        connection.sendall(b"400\r\n" + b"x" * 1024 + b"\r\n")


def long_body(server: RawServer, connection: socket.socket) -> None:
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 20001\r\n\r\n" + b"x" * 20_001)


def until_closed(server: RawServer, connection: socket.socket) -> None:
    connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n" + b"x" * 20_001)


def bomb(server: RawServer, connection: socket.socket) -> None:
    body = gzip.compress(b"0" * 10_000_000)
    head = f"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: {len(body)}\r\n\r\n"
    connection.sendall(head.encode() + body)


@pytest.mark.parametrize("behave", [endless_chunks, long_body, until_closed, bomb])
def test_s7_3_1_response_bytes_are_counted_as_they_arrive_and_as_they_decode(behave: Behaviour) -> None:
    found = fault(behave, maxElapsedMs=5000)
    assert (found.code, found.artifact_path) == ("budget-exhausted", "ApiProbeRequest")
    assert "maxResponseBytes" in found.detail


def endless_headers(server: RawServer, connection: socket.socket) -> None:
    connection.sendall(b"HTTP/1.1 200 OK\r\n")
    while not server.stop.is_set():
        connection.sendall(b"X-Many: " + b"y" * 1000 + b"\r\n")


def many_headers(server: RawServer, connection: socket.socket) -> None:
    head = b"".join(b"X-%d: %s\r\n" % (number, b"y" * 1000) for number in range(70))
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n" + head + b"\r\n")


@pytest.mark.parametrize("behave", [endless_headers, many_headers])
def test_s7_3_1_header_bytes_are_capped(behave: Behaviour) -> None:
    found = fault(behave, maxElapsedMs=5000)
    assert (found.code, found.artifact_path) == ("budget-exhausted", "ApiProbeRequest")
    assert "response headers" in found.detail


def hangs_up(server: RawServer, connection: socket.socket) -> None:
    connection.close()


def garbage(server: RawServer, connection: socket.socket) -> None:
    connection.sendall(b"\x00\x01\x02 not http\r\n\r\n")


def cut_off(server: RawServer, connection: socket.socket) -> None:
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nshort")
    connection.close()


def broken_gzip(server: RawServer, connection: socket.socket) -> None:
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 3\r\n\r\nabc")


def impossible_location(server: RawServer, connection: socket.socket) -> None:
    connection.sendall(b"HTTP/1.1 302 Found\r\nLocation: http://[bad/\r\nContent-Length: 0\r\n\r\n")


def hostless_location(server: RawServer, connection: socket.socket) -> None:
    connection.sendall(b"HTTP/1.1 302 Found\r\nLocation: http://:80/x\r\nContent-Length: 0\r\n\r\n")


@pytest.mark.parametrize("behave", [hangs_up, garbage, cut_off, broken_gzip, impossible_location, hostless_location])
def test_s7_1_3_what_is_no_answer_is_a_port_failure(behave: Behaviour) -> None:
    found = fault(behave, maxElapsedMs=5000)
    assert (found.code, found.artifact_path) == ("port-failure", "ProbeObservation")
    assert found.cause is not None


def test_s7_1_3_nobody_listening_is_a_port_failure() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    with pytest.raises(RuntimeFault) as caught:
        adapter(port).probe(api_request("/"), AbortSignal())
    assert caught.value.code == "port-failure"
    assert isinstance(caught.value.cause, ConnectionRefusedError)


def found_redirect(location: str) -> Behaviour:
    def behave(server: RawServer, connection: socket.socket) -> None:
        place = location.replace("PORT", str(server.port))
        connection.sendall(f"HTTP/1.1 302 Found\r\nLocation: {place}\r\nContent-Length: 0\r\n\r\n".encode())

    return behave


@pytest.mark.parametrize(
    ("location", "reason"),
    [
        ("http://127.0.0.1:PORT/", "host-not-authorized"),
        ("http://10.0.0.1/", "host-not-authorized"),
        ("http://169.254.169.254/latest/meta-data/", "host-not-authorized"),
        ("http://[::1]:PORT/", "host-not-authorized"),
        ("http://[64:ff9b::a9fe:a9fe]/", "host-not-authorized"),
        ("http://shop.test:1/", "port-not-authorized"),
        ("https://shop.test:PORT/", "scheme-not-authorized"),
        ("ftp://shop.test:PORT/", "scheme-not-authorized"),
        ("file:///etc/passwd", "scheme-not-authorized"),
        ("http://user:secret@other.test:PORT/", "host-not-authorized"),
    ],
)
def test_s7_1_3_every_redirect_is_checked_before_it_is_followed(location: str, reason: str) -> None:
    with raw_server(found_redirect(location)) as server:
        asked: list[str] = []

        def resolver(host: str, port: int) -> list[Endpoint]:
            asked.append(host)
            return loopback(host, port)

        with pytest.raises(RuntimeFault) as caught:
            adapter(server.port, resolver).probe(api_request("/"), AbortSignal())
        assert (caught.value.code, caught.value.artifact_path, caught.value.reason) == (
            "forbidden-target",
            "ProbeRequest",
            reason,
        )
        assert len(server.heads) == 1
        assert asked == ["shop.test"]  # a denied host is not even resolved


def ok(server: RawServer, connection: socket.socket) -> None:
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")


def test_s7_1_3_a_name_that_changes_its_mind_is_asked_only_once() -> None:
    answers = iter(["127.0.0.1", "127.0.0.99", "127.0.0.99"])

    def rebinding(host: str, port: int) -> list[Endpoint]:
        address = next(answers)
        return [Endpoint(address, 2, (address, port))]

    with raw_server(ok) as server:
        seen = adapter(server.port, rebinding).probe(api_request("/"), AbortSignal())
        assert to_value(seen)["body"] == {"kind": "text", "value": "ok"}
        assert f"Host: shop.test:{server.port}".encode() in server.heads[0]


def test_s7_1_3_a_name_that_changes_between_hops_is_denied_at_the_second() -> None:
    answers = iter(["127.0.0.1", "127.0.0.99"])

    def rebinding(host: str, port: int) -> list[Endpoint]:
        address = next(answers)
        return [Endpoint(address, 2, (address, port))]

    with raw_server(found_redirect("/again")) as server:
        with pytest.raises(RuntimeFault) as caught:
            adapter(server.port, rebinding).probe(api_request("/"), AbortSignal())
        assert caught.value.reason == "address-not-authorized"
        assert len(server.heads) == 1


@pytest.mark.parametrize(
    "addresses",
    [
        ["127.0.0.1", "10.0.0.1"],
        ["10.0.0.1", "127.0.0.1"],
        ["::ffff:127.0.0.2"],
        ["64:ff9b::7f00:1"],
        ["::127.0.0.1"],
        ["fe80::1%lo"],
        ["not an address"],
        [f"127.0.1.{number}" for number in range(17)],
    ],
)
def test_s7_1_3_one_denied_address_denies_the_host(addresses: list[str]) -> None:
    with raw_server(ok) as server:
        with pytest.raises(RuntimeFault) as caught:
            adapter(server.port, lambda host, port: [Endpoint(a, 2, (a, port)) for a in addresses]).probe(
                api_request("/"), AbortSignal()
            )
        assert caught.value.code == "forbidden-target"
        assert server.heads == []


def test_s7_1_3_a_mapped_spelling_of_an_authorized_address_is_that_address() -> None:
    with raw_server(ok) as server:
        seen = adapter(server.port, lambda host, port: [Endpoint("::ffff:127.0.0.1", 2, ("127.0.0.1", port))]).probe(
            api_request("/"), AbortSignal()
        )
        assert to_value(seen)["status"] == 200


def test_s7_3_1_a_silent_resolver_does_not_outlast_the_deadline() -> None:
    release = threading.Event()

    def silent(host: str, port: int) -> list[Endpoint]:
        release.wait(20)
        return []

    begin = time.monotonic()
    with pytest.raises(RuntimeFault) as caught:
        adapter(1, silent).probe(api_request("/"), AbortSignal())
    release.set()
    assert caught.value.code == "budget-exhausted"
    assert time.monotonic() - begin < MAX_ELAPSED_MS / 1000 + 1


@pytest.mark.parametrize(("answer", "code"), [(OSError("no such name"), "port-failure"), ([], "port-failure")])
def test_s7_1_3_a_name_without_an_address_is_a_port_failure(answer: Any, code: str) -> None:
    def resolver(host: str, port: int) -> list[Endpoint]:
        if isinstance(answer, OSError):
            raise answer
        return answer

    with pytest.raises(RuntimeFault) as caught:
        adapter(1, resolver).probe(api_request("/"), AbortSignal())
    assert caught.value.code == code


def test_s7_1_1_an_abort_ends_the_exchange_at_once() -> None:
    controller = AbortController()
    faults: list[RuntimeFault] = []
    with raw_server(silence) as server:

        def work() -> None:
            try:
                adapter(server.port, maxElapsedMs=60_000).probe(api_request("/"), controller.signal)
            except RuntimeFault as caught:
                faults.append(caught)

        thread = threading.Thread(target=work)
        thread.start()
        assert eventually(lambda: bool(server.heads), 5)
        controller.abort("enough")
        thread.join(2)
        assert not thread.is_alive()
    assert (faults[0].code, faults[0].artifact_path) == ("aborted", "ProbeObservation")
    assert eventually(lambda: controller.signal.listener_count == 0, 2)


def test_s7_1_3_proxy_and_netrc_settings_of_the_host_are_ignored(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    with raw_server(ok) as server:
        assert to_value(adapter(server.port).probe(api_request("/"), AbortSignal()))["status"] == 200
        assert b"GET / HTTP/1.1" in server.heads[0]
