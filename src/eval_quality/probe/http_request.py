"""An HTTP request out of a probe request, and where a redirect leads: no I/O here (spec 13 §13.10.3, 07 §7.1.2).

1. Path values are percent-encoded but for unreserved characters, so no value can add a segment, a query or a fragment;
   `.` and `..` as a whole segment travel as `%2E` and `%2E%2E`. Query: arrays repeat the key, spaces are `%20`.
2. Header names are tokens, values have no control characters, and headers that frame the message cannot be set.
3. Bodies: `json` is compact JSON, `raw` is exactly its bytes and content type, `absent` is nothing.
4. Redirects: 303, and 301 and 302 after POST, become GET without a body; everything else repeats. A change of scheme,
   host or port drops the target's own headers and the credentials of the request. https to http is refused.
"""

import base64
import re
from collections.abc import Mapping
from typing import Any, Final, NamedTuple
from urllib.parse import quote, urljoin, urlsplit

from eval_quality._version import VERSION
from eval_quality.errors import RuntimeFault
from eval_quality.model.ports import ApiRequest
from eval_quality.probe.jstext import compact_json, property_order, text_of
from eval_quality.probe.process import utf8
from eval_quality.value.kind import is_array
from eval_quality.value.text import quoted

DEFAULT_PORTS: Final = {"http": 80, "https": 443}
REDIRECT_STATUSES: Final = (301, 302, 303, 307, 308)
UNSENDABLE_HEADERS: Final = frozenset(
    {
        "host",
        "content-length",
        "transfer-encoding",
        "connection",
        "upgrade",
        "expect",
        "te",
        "trailer",
        "keep-alive",
    }
)
"""Headers that frame the message; `proxy-*` belongs to them."""
CREDENTIAL_HEADERS: Final = frozenset({"authorization", "cookie"})

_TOKEN: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_CONTROL: Final = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
_PLACEHOLDER: Final = re.compile(r"\{([A-Za-z0-9_-]+)\}")
_ESCAPED: Final = re.compile(r"%(?![0-9A-Fa-f]{2})")
_LITERAL_SAFE: Final = "!$&'()*+,;=:@-._~%"
_LOCATION_SAFE: Final = _LITERAL_SAFE + "/?[]"


class Origin(NamedTuple):
    """Scheme, host and port: what a policy authorizes and a redirect may change."""

    scheme: str
    host: str
    port: int

    @property
    def ascii_host(self) -> str:
        """The host as DNS and TLS spell it; one that has no such spelling is left for them to refuse."""
        try:
            return self.host.encode("idna").decode().removesuffix(".")
        except UnicodeError:
            return self.host.removesuffix(".")

    @property
    def authority(self) -> str:
        """The `Host` header's value."""
        host = f"[{self.host}]" if ":" in self.host else self.ascii_host
        return host if DEFAULT_PORTS[self.scheme] == self.port else f"{host}:{self.port}"


class HttpRequest(NamedTuple):
    """One hop. `own` names the headers, in lower case, that the target's configuration added."""

    origin: Origin
    method: str
    target: str
    headers: tuple[tuple[str, str], ...]
    body: bytes
    own: frozenset[str] = frozenset()

    @property
    def size(self) -> int:
        """Bytes of the request line, the headers and the body, near enough for a cap."""
        lines = sum(len(name) + len(value) + 4 for name, value in self.headers)
        return len(self.method) + len(self.target) + 12 + lines + len(self.body)


class Refused(NamedTuple):
    """A redirect that may not be followed, as a denial reason and its detail."""

    reason: str
    detail: str


def parse_origin(url: str) -> tuple[Origin, str]:
    """The origin and path of an absolute http(s) URL; raises `ValueError`."""
    parts = urlsplit(url)
    if parts.scheme not in DEFAULT_PORTS or not parts.hostname:
        raise ValueError(f"{quoted(url)} is not an absolute http or https URL")
    return Origin(parts.scheme, parts.hostname, parts.port or DEFAULT_PORTS[parts.scheme]), parts.path.rstrip("/")


def build_request(request: ApiRequest, origin: Origin, base_path: str, own_headers: Mapping[str, str]) -> HttpRequest:
    """The first hop of a probe; raises `schema-parse-failure` for a request that no HTTP message can carry."""
    body, content_type = _body(request)
    asked = {name.lower(): (name, value) for name, value in request.channels.header.items()}
    for name, value in (*asked.values(), *own_headers.items()):
        _check_header(name, value)
    headers = {
        "host": ("Host", origin.authority),
        "user-agent": ("User-Agent", f"eval-quality/{VERSION}"),
        "accept": ("Accept", "*/*"),
        "accept-encoding": ("Accept-Encoding", "identity"),
    }
    if content_type is not None:
        headers["content-type"] = ("Content-Type", content_type)
    headers |= asked
    if request.channels.body.kind == "raw" and content_type is not None:
        headers["content-type"] = ("Content-Type", content_type)
    own = {name.lower(): (name, value) for name, value in own_headers.items()}
    headers |= own
    if body or request.method in ("POST", "PUT", "PATCH") or request.channels.body.kind != "absent":
        headers["content-length"] = ("Content-Length", str(len(body)))
    headers["connection"] = ("Connection", "close")
    target = base_path + _path(request.path_template, request.channels.path) + _query(request.channels.query)
    return HttpRequest(origin, request.method, target, tuple(headers.values()), body, frozenset(own))


def redirected(hop: HttpRequest, status: int, location: str) -> HttpRequest | Refused:
    """The next hop of a redirect, or why it may not be followed; raises `ValueError` for an unreadable location."""
    here = f"{hop.origin.scheme}://{hop.origin.authority}{hop.target}"
    parts = urlsplit(urljoin(here, location))
    if parts.scheme not in DEFAULT_PORTS:
        return Refused("scheme-not-authorized", f"redirect to scheme {quoted(parts.scheme)}")
    if hop.origin.scheme == "https" and parts.scheme == "http":
        return Refused("scheme-not-authorized", "redirect from https to http")
    if not parts.hostname:
        raise ValueError(f"redirect to {quoted(location)}, which names no host")
    origin = Origin(parts.scheme, parts.hostname, parts.port or DEFAULT_PORTS[parts.scheme])
    target = _requoted(parts.path or "/") + (f"?{_requoted(parts.query)}" if parts.query else "")
    method, body, dropped = hop.method, hop.body, set[str]()
    if (status == 303 and method != "HEAD") or (status in (301, 302) and method == "POST"):
        method, body = "GET", b""
        dropped |= {"content-type", "content-length", "content-encoding", "content-language", "content-location"}
    if origin != hop.origin:
        dropped |= hop.own | CREDENTIAL_HEADERS
    headers = [
        (name, origin.authority if name.lower() == "host" else value)
        for name, value in hop.headers
        if name.lower() not in dropped
    ]
    return HttpRequest(origin, method, target, tuple(headers), body, hop.own - dropped)


def _body(request: ApiRequest) -> tuple[bytes, str | None]:
    body = request.channels.body
    if body.kind == "json":
        return utf8(compact_json(body.value)), "application/json"
    if body.kind == "raw":
        return base64.b64decode(body.base64), body.content_type
    return b"", None


def _check_header(name: str, value: str) -> None:
    if not _TOKEN.fullmatch(name) or _CONTROL.search(value):
        raise _unsendable(f"header {quoted(name)} cannot be sent")
    if name.lower() in UNSENDABLE_HEADERS or name.lower().startswith("proxy-"):
        raise _unsendable(f"header {quoted(name)} frames the message and cannot be set")


def _path(template: str, values: Mapping[str, Any]) -> str:
    """The template with its placeholders replaced, segment by segment."""

    def expand(segment: str) -> str:
        pieces: list[str] = []
        at = 0
        for placeholder in _PLACEHOLDER.finditer(segment):
            pieces.append(quote(_ESCAPED.sub("%25", segment[at : placeholder.start()]), safe=_LITERAL_SAFE))
            if placeholder[1] not in values:
                raise _unsendable(f"path key {quoted(placeholder[1])} has no value")
            pieces.append(quote(utf8(text_of(values[placeholder[1]])), safe="-._~"))
            at = placeholder.end()
        pieces.append(quote(_ESCAPED.sub("%25", segment[at:]), safe=_LITERAL_SAFE))
        expanded = "".join(pieces)
        return expanded.replace(".", "%2E") if expanded in (".", "..") else expanded

    return "/".join(map(expand, template.split("/")))


def _query(values: Mapping[str, Any]) -> str:
    pairs: list[str] = []
    for key, value in property_order(values):
        name = quote(utf8(key), safe="-._~")
        elements = value if is_array(value) else (value,)
        pairs += [f"{name}={quote(utf8(text_of(element)), safe='-._~')}" for element in elements]
    return f"?{'&'.join(pairs)}" if pairs else ""


def _requoted(text: str) -> str:
    """A path or query as received, with what no request line may hold percent-encoded."""
    return quote(_ESCAPED.sub("%25", text), safe=_LOCATION_SAFE)


def _unsendable(detail: str) -> RuntimeFault:
    return RuntimeFault("schema-parse-failure", "ProbeRequest", detail)
