"""The HTTP adapter against a real service (spec 07 §7.1.2, §7.1.3, §7.3.1; spec 13 §13.10.3)."""

import base64
import ssl
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from eval_quality._version import VERSION
from eval_quality.errors import RuntimeFault
from eval_quality.model.decode import to_value
from eval_quality.model.target import parse_probe_target_policy
from eval_quality.probe.api import ApiAdapter, ApiTarget, create_http_adapter
from eval_quality.probe.http_exchange import Endpoint
from eval_quality.probe.http_request import (
    HttpRequest,
    Origin,
    Refused,
    parse_origin,
    redirected,
)
from eval_quality.probe.signals import AbortSignal
from support.http_service import Service, serve
from support.subjects import ABSENT, api_entry, command_request


@pytest.fixture(scope="module")
def service() -> Iterator[Service]:
    with serve() as running:
        yield running


def loopback(host: str, port: int) -> list[Endpoint]:
    return [Endpoint("127.0.0.1", 2, ("127.0.0.1", port))]


def adapter(listening: int, headers: dict[str, str] | None = None, path: str = "", **changes: Any) -> ApiAdapter:
    wide = {"methods": ["GET", "HEAD", "POST", "PUT", "PATCH", "OPTIONS"], "maxElapsedMs": 5000, **changes}
    return ApiAdapter(
        parse_probe_target_policy({"authorizations": [{**api_entry(listening), **wide}]}),
        targets={"shop": ApiTarget(f"http://shop.test:{listening}{path}", headers or {})},
        resolver=loopback,
    )


def request(template: str, method: str = "GET", **channels: Any) -> Any:
    return {
        "probeId": "leg-1",
        "interfaceId": "shop",
        "operationId": "op",
        "kind": "api",
        "method": method,
        "pathTemplate": template,
        "channels": {"path": {}, "query": {}, "header": {}, "body": ABSENT, **channels},
    }


def observe(service: Service, asked: Any, **options: Any) -> Any:
    return to_value(adapter(service.port, **options).probe(asked, AbortSignal()))


def arrived(service: Service, asked: Any, **options: Any) -> Any:
    """What the echo service says it received."""
    return observe(service, asked, **options)["body"]["value"]


def fault(subject: ApiAdapter, asked: Any) -> RuntimeFault:
    with pytest.raises(RuntimeFault) as caught:
        subject.probe(asked, AbortSignal())
    return caught.value


# --- building the request --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("template", "values", "path"),
    [
        ("/notes/{id}", {"id": 7}, "/notes/7"),
        ("/notes/{id}", {"id": "a/b?c#d"}, "/notes/a%2Fb%3Fc%23d"),
        ("/notes/{id}", {"id": ".."}, "/notes/%2E%2E"),
        ("/notes/{id}/x", {"id": "."}, "/notes/%2E/x"),
        ("/notes/{id}", {"id": "..a"}, "/notes/..a"),
        ("/notes/{a}-{b}", {"a": "x", "b": True}, "/notes/x-true"),
        ("/{id}", {"id": "é ~_-"}, "/%C3%A9%20~_-"),
        ("/{id}", {"id": {"a": [1, None]}}, "/%7B%22a%22%3A%5B1%2Cnull%5D%7D"),
        ("/a/../b", {}, "/a/%2E%2E/b"),
        ("/a b?c#d%20e%zz", {}, "/a%20b%3Fc%23d%20e%25zz"),
        ("/", {}, "/"),
    ],
)
def test_s13_10_3_path_values_cannot_change_the_path(template: str, values: Any, path: str, service: Service) -> None:
    assert arrived(service, request(template, path=values))["path"] == path


def test_s13_10_3_a_path_key_without_a_value_is_refused(service: Service) -> None:
    found = fault(adapter(service.port), request("/notes/{id}"))
    assert (found.code, found.artifact_path) == ("schema-parse-failure", "ProbeRequest")
    assert "id" in found.detail


def test_s13_10_3_query(service: Service) -> None:
    query = {"q": ["a b", "ü&="], "n": None, "t": True, "10": 1, "9": 2, "o": {"a": 1}, "e": [], "k y": ""}
    assert arrived(service, request("/x", query=query))["query"] == (
        "9=2&10=1&q=a%20b&q=%C3%BC%26%3D&n=null&t=true&o=%7B%22a%22%3A1%7D&k%20y="
    )


def test_s7_1_3_default_headers(service: Service) -> None:
    assert arrived(service, request("/x"))["headers"] == {
        "host": f"shop.test:{service.port}",
        "user-agent": f"eval-quality/{VERSION}",
        "accept": "*/*",
        "accept-encoding": "identity",
        "connection": "close",
    }


def test_s7_1_2_authorization_material_comes_from_the_mapping(service: Service) -> None:
    seen = arrived(service, request("/x", header={"X-Mine": "1"}), headers={"Authorization": "Bearer t"})
    assert (seen["headers"]["authorization"], seen["headers"]["x-mine"]) == ("Bearer t", "1")


def test_s12_8_4_the_base_path_goes_first(service: Service) -> None:
    assert arrived(service, request("/x"), path="/v1/")["path"] == "/v1/x"


@pytest.mark.parametrize(
    "header",
    [
        {"Host": "x"},
        {"content-length": "0"},
        {"Transfer-Encoding": "chunked"},
        {"Connection": "x"},
        {"Upgrade": "x"},
        {"Expect": "x"},
        {"TE": "x"},
        {"Trailer": "x"},
        {"Keep-Alive": "x"},
        {"Proxy-Authorization": "x"},
        {"Bad Name": "x"},
        {"Bad:": "x"},
        {"X": "a\r\nB: c"},
        {"X": "a\x00"},
        {"X": "a\nb"},
    ],
)
def test_s13_10_3_headers_that_cannot_be_sent(header: dict[str, str], service: Service) -> None:
    before = len(service.seen)
    found = fault(adapter(service.port), request("/x", header=header))
    assert (found.code, found.artifact_path) == ("schema-parse-failure", "ProbeRequest")
    assert len(service.seen) == before


@pytest.mark.parametrize(
    ("body", "content", "content_type"),
    [
        ({"kind": "json", "value": {"b": 1.0, "a": "é"}}, '{"b":1,"a":"é"}', "application/json"),
        ({"kind": "json", "value": None}, "null", "application/json"),
        ({"kind": "raw", "base64": "AAH/", "contentType": "application/x; a=b"}, "\x00\x01\xff", "application/x; a=b"),
        ({"kind": "raw", "base64": "", "contentType": "text/plain"}, "", "text/plain"),
        (ABSENT, "", None),
    ],
)
def test_s7_1_2_bodies(body: Any, content: str, content_type: str | None, service: Service) -> None:
    seen = arrived(service, request("/x", "POST", body=body))
    sent = content.encode("latin-1") if body["kind"] == "raw" else content.encode()
    assert seen["body"].encode("latin-1") == sent
    assert seen["headers"].get("content-type") == content_type
    assert seen["headers"]["content-length"] == str(len(sent))


def test_s7_1_2_a_declared_content_type_is_kept_for_json_and_not_for_raw(service: Service) -> None:
    header = {"Content-Type": "application/merge-patch+json"}
    json_body = arrived(service, request("/x", "PATCH", header=header, body={"kind": "json", "value": 1}))
    assert json_body["headers"]["content-type"] == "application/merge-patch+json"
    raw = {"kind": "raw", "base64": base64.b64encode(b"x").decode(), "contentType": "text/x"}
    assert arrived(service, request("/x", "PUT", header=header, body=raw))["headers"]["content-type"] == "text/x"


@pytest.mark.parametrize("text", ["QUI", "QUI==", "QR==", "QUJ=", "a b=", "====", "QUJD\n"])
def test_s7_1_2_base64_that_is_not_canonical_is_refused(text: str, service: Service) -> None:
    found = fault(
        adapter(service.port),
        request("/x", "POST", body={"kind": "raw", "base64": text, "contentType": "text/plain"}),
    )
    assert (found.code, found.artifact_path) == ("schema-parse-failure", "ProbeRequest")


def test_s7_3_1_request_bytes_are_capped(service: Service) -> None:
    before = len(service.seen)
    asked = request("/x", "POST", body={"kind": "json", "value": "y" * 5000})
    found = fault(adapter(service.port, maxRequestBytes=4096), asked)
    assert (found.code, found.artifact_path) == ("budget-exhausted", "ApiProbeRequest")
    assert "maxRequestBytes" in found.detail
    assert len(service.seen) == before


# --- the observation -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", [200, 204, 304, 400, 404, 418, 500, 503, 599])
def test_s7_1_3_any_status_is_an_observation(status: int, service: Service) -> None:
    assert observe(service, request(f"/status/{status}"))["status"] == status


def test_s7_1_2_repeated_headers_are_joined_and_cookies_dropped(service: Service) -> None:
    headers = observe(service, request("/repeated"))["headers"]
    assert headers["x-many"] == "one, two"
    assert "set-cookie" not in headers
    assert all(name == name.lower() for name in headers)


@pytest.mark.parametrize(
    ("query", "body"),
    [
        ({}, ABSENT),
        ({"text": "7"}, {"kind": "json", "value": 7}),
        ({"text": "007"}, {"kind": "text", "value": "007"}),
        ({"text": "[1]", "type": "application/json; charset=utf-8"}, {"kind": "json", "value": [1]}),
        ({"text": "[1]", "type": "application/problem+json"}, {"kind": "json", "value": [1]}),
        ({"text": "[1", "type": "application/json"}, {"kind": "text", "value": "[1"}),
        ({"text": "[1]", "type": "text/plain"}, {"kind": "text", "value": "[1]"}),
    ],
)
def test_s12_8_4_bodies_are_tagged_by_content_type(query: Any, body: Any, service: Service) -> None:
    assert observe(service, request("/body", query=query))["body"] == body


@pytest.mark.parametrize("encoding", ["gzip", "deflate"])
def test_s13_10_3_encoded_bodies_are_decoded(encoding: str, service: Service) -> None:
    seen = observe(service, request(f"/encoded/{encoding}", query={"text": "hello"}))
    assert seen["body"] == {"kind": "text", "value": "hello"}


def test_s7_1_3_a_head_request_has_no_body(service: Service) -> None:
    seen = observe(service, request("/x", "HEAD"))
    assert (seen["status"], seen["body"]) == (200, ABSENT)


def test_s7_3_1_a_body_of_exactly_the_cap_is_kept(service: Service) -> None:
    assert len(observe(service, request("/body", query={"size": 4096}))["body"]["value"]) == 4096
    found = fault(adapter(service.port), request("/body", query={"size": 4097}))
    assert found.code == "budget-exhausted"


# --- policy ----------------------------------------------------------------------------------------------------------


def test_s7_4_1_another_kind_is_forbidden(service: Service) -> None:
    found = fault(adapter(service.port), command_request())
    assert (found.code, found.reason) == ("forbidden-target", "interface-not-authorized")
    assert "no cli target is ever authorized" in found.detail


@pytest.mark.parametrize(
    ("changes", "asked", "reason"),
    [
        ({}, request("/x", "DELETE"), "method-not-authorized"),
        ({"scheme": "https"}, request("/x"), "scheme-not-authorized"),
        ({"host": "other.test"}, request("/x"), "host-not-authorized"),
        ({"port": 1}, request("/x"), "port-not-authorized"),
        ({"interfaceId": "other"}, request("/x"), "interface-not-authorized"),
        ({"addresses": ["127.0.0.9"]}, request("/x"), "address-not-authorized"),
    ],
)
def test_s7_1_3_denials_reach_nothing(changes: Any, asked: Any, reason: str, service: Service) -> None:
    before = len(service.seen)
    found = fault(adapter(service.port, **changes), asked)
    assert (found.code, found.artifact_path, found.reason) == ("forbidden-target", "ProbeRequest", reason)
    assert len(service.seen) == before


def test_s7_1_3_an_interface_without_a_target_is_not_authorized(service: Service) -> None:
    asked = {**request("/x"), "interfaceId": "elsewhere"}
    found = fault(adapter(service.port), asked)
    assert (found.code, found.reason) == ("forbidden-target", "interface-not-authorized")
    bare = create_http_adapter(parse_probe_target_policy({"authorizations": []}))
    assert fault(bare, asked).reason == "interface-not-authorized"


def test_an_interface_lives_at_its_first_authorization_unless_told_otherwise(service: Service) -> None:
    entry = api_entry(service.port, host="localhost", addresses=["127.0.0.1", "::1"])
    bare = create_http_adapter(parse_probe_target_policy({"authorizations": [entry]}))
    assert to_value(bare.probe(request("/x"), AbortSignal()))["status"] == 200


# --- redirects -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "code", "follows_with", "body"),
    [
        ("POST", 301, "GET", ""),
        ("POST", 302, "GET", ""),
        ("POST", 303, "GET", ""),
        ("PUT", 303, "GET", ""),
        ("POST", 307, "POST", "1"),
        ("POST", 308, "POST", "1"),
        ("PUT", 302, "PUT", "1"),
    ],
)
def test_s13_10_3_how_a_redirect_repeats(
    method: str, code: int, follows_with: str, body: str, service: Service
) -> None:
    asked = request("/redirect", method, query={"to": "/y?a=b", "code": code}, body={"kind": "json", "value": 1})
    seen = arrived(service, asked)
    assert (seen["method"], seen["path"], seen["query"], seen["body"]) == (follows_with, "/y", "a=b", body)
    assert ("content-type" in seen["headers"]) is bool(body)


def test_s7_3_1_redirects_are_counted(service: Service) -> None:
    before = len(service.seen)
    assert observe(service, request("/chain/2"))["body"] == {"kind": "text", "value": "end"}
    assert len(service.seen) == before + 3
    found = fault(adapter(service.port), request("/chain/3"))
    assert (found.code, found.artifact_path) == ("budget-exhausted", "ApiProbeRequest")
    assert "maxRedirects" in found.detail
    assert len(service.seen) == before + 6


def test_s7_3_1_without_redirects_the_first_one_is_too_many(service: Service) -> None:
    assert fault(adapter(service.port, maxRedirects=0), request("/chain/1")).code == "budget-exhausted"


def test_s7_1_3_a_redirect_without_a_location_is_an_answer(service: Service) -> None:
    assert observe(service, request("/status/302"))["status"] == 302


def hop(**changes: Any) -> HttpRequest:
    headers = (("Host", "a.test"), ("Authorization", "own"), ("Cookie", "c"), ("X-Own", "1"), ("X-Asked", "2"))
    base = HttpRequest(Origin("https", "a.test", 443), "GET", "/x/y?z=1", headers, b"", frozenset({"x-own"}))
    return base._replace(**changes)


@pytest.mark.parametrize(
    ("location", "origin", "target"),
    [
        ("/b", Origin("https", "a.test", 443), "/b"),
        ("b?c=d#e", Origin("https", "a.test", 443), "/x/b?c=d"),
        ("//b.test/c", Origin("https", "b.test", 443), "/c"),
        ("https://b.test:444", Origin("https", "b.test", 444), "/"),
        ("https://u:p@b.test/", Origin("https", "b.test", 443), "/"),
        ("https://[::1]:8443/é x", Origin("https", "::1", 8443), "/%C3%A9%20x"),
    ],
)
def test_s13_10_3_where_a_redirect_leads(location: str, origin: Origin, target: str) -> None:
    found = redirected(hop(), 307, location)
    assert isinstance(found, HttpRequest)
    assert (found.origin, found.target) == (origin, target)
    assert dict(found.headers)["Host"] == origin.authority


def test_s13_10_3_another_origin_gets_no_credentials() -> None:
    same = redirected(hop(), 307, "/elsewhere")
    other = redirected(hop(), 307, "https://a.test:444/")
    assert isinstance(same, HttpRequest)
    assert isinstance(other, HttpRequest)
    assert same.headers == hop().headers
    assert [name for name, _ in other.headers] == ["Host", "X-Asked"]
    assert other.own == frozenset()


def test_s13_10_3_no_redirect_leaves_tls() -> None:
    found = redirected(hop(), 302, "http://a.test/")
    assert isinstance(found, Refused)
    assert found.reason == "scheme-not-authorized"


@pytest.mark.parametrize("url", ["shop.test", "ftp://shop.test/", "http://", "/path", "http://shop.test:99999/"])
def test_a_target_must_be_an_absolute_http_url(url: str) -> None:
    with pytest.raises(ValueError, match=r".+"):
        parse_origin(url)


# --- TLS -------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("tls")
    key, certificate = folder / "key.pem", folder / "certificate.pem"
    subprocess.run(
        [
            *("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=shop.test"),
            *("-addext", "subjectAltName=DNS:shop.test", "-keyout", key, "-out", certificate),
        ],
        check=True,
        capture_output=True,
    )
    return key, certificate


@pytest.fixture(scope="module")
def secure(certificate: tuple[Path, Path]) -> Iterator[Service]:
    with serve(keyfile=str(certificate[0]), certfile=str(certificate[1])) as running:
        yield running


def trusting(certificate: tuple[Path, Path]) -> ssl.SSLContext:
    return ssl.create_default_context(cafile=str(certificate[1]))


def over_tls(port: int, host: str, tls: ssl.SSLContext | None) -> ApiAdapter:
    entry = api_entry(port, host=host, scheme="https", maxElapsedMs=5000)
    return ApiAdapter(parse_probe_target_policy({"authorizations": [entry]}), resolver=loopback, tls=tls)


def test_s7_1_3_tls_is_verified_against_the_original_host(secure: Service, certificate: tuple[Path, Path]) -> None:
    seen = to_value(over_tls(secure.port, "shop.test", trusting(certificate)).probe(request("/x"), AbortSignal()))
    assert seen["body"]["value"]["headers"]["host"] == f"shop.test:{secure.port}"
    wrong_name = fault(over_tls(secure.port, "other.test", trusting(certificate)), request("/x"))
    untrusted = fault(over_tls(secure.port, "shop.test", None), request("/x"))
    for found in (wrong_name, untrusted):
        assert found.code == "port-failure"
        assert isinstance(found.cause, ssl.SSLCertVerificationError)
