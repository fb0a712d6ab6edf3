"""One tool call over MCP as a machine without I/O (spec 07 §7.5.2, §7.5.3, 12 §12.8.3).

Handshake revisions, one call: `initialize` (id 1), its answer, `notifications/initialized`, `tools/call` (id 2), its
answer. The server's protocol version and capabilities are recorded, never checked; `tools/list` is not called.

Revision 2026-07-28 has no handshake: `tools/call` carries the version and the client facts itself. `auto` asks
`server/discover` (id 0) first and falls back to the newest handshake for every server that does not name a stateless
revision.

An incoming message must be a JSON object whose `jsonrpc` is exactly "2.0". It is an answer only if it has a string or
number `id` and no `method`; ids are compared as text. Everything else that is valid is ignored.
"""

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from eval_quality._version import VERSION
from eval_quality.probe.jstext import compact_json
from eval_quality.value.kind import is_object
from eval_quality.value.text import js_number

DEFAULT_REVISION: Final = "2025-06-18"
"""What the stdio adapter asks for (§7.5.2)."""
NEWEST_HANDSHAKE: Final = "2025-11-25"
STATELESS_REVISIONS: Final = ("2026-07-28",)
"""Revisions without a handshake."""
AUTO: Final = "auto"
"""Ask the server which era it is of."""
UNSUPPORTED_VERSION: Final = -32022
"""The error code by which a stateless server refuses a revision."""

_DISCOVER_ID: Final = 0
_INITIALIZE_ID: Final = 1
_CALL_ID: Final = 2
_QUOTED: Final = 200
"""Most characters of a stray line that a message quotes."""


class SessionFailure(Exception):
    """The session cannot go on; the message says why."""


class SessionFacts(NamedTuple):
    """What a session settled on. `negotiated` is the server's word, or None when it never gave one."""

    requested: str
    negotiated: str | None
    server: Mapping[str, Any] | None


class ToolCall(NamedTuple):
    """The one call of a session. `arguments` travel verbatim."""

    tool_name: str
    arguments: Mapping[str, Any]


class Answer(NamedTuple):
    """A tool answer as an observation has it: `result` is a tagged body."""

    is_error: bool
    result: dict[str, Any]


class Session:
    """Feed it every incoming message; send what it gives back; done when `answer` is set."""

    def __init__(self, call: ToolCall, revision: str) -> None:
        self._call = call
        self._call_id = _CALL_ID
        self._revision = revision
        self._stateless: str | None = None
        self.phase = "initialize"
        self.answer: Answer | None = None
        self.facts = SessionFacts(revision, None, None)

    def open(self) -> list[dict[str, Any]]:
        """The messages to send first."""
        if self._revision == AUTO:
            return [_request(_DISCOVER_ID, "server/discover", {"_meta": _envelope(STATELESS_REVISIONS[-1])})]
        if self._revision in STATELESS_REVISIONS:
            return self._call_statelessly(self._revision)
        return [self._initialize(self._revision)]

    def receive(self, message: Mapping[str, Any]) -> list[dict[str, Any]]:
        """The messages to send next; raises `SessionFailure`."""
        if "method" in message:
            return []
        answered = _id_text(message.get("id"))
        if self.phase == "initialize" and self._revision == AUTO and answered == str(_DISCOVER_ID):
            return self._discovered(message)
        if self.phase == "initialize" and answered == str(_INITIALIZE_ID):
            return self._initialized(message)
        if self.phase == "call" and answered == str(self._call_id):
            self._called(message)
        return []

    def again(self, call: ToolCall) -> list[dict[str, Any]]:
        """The messages of one more call in an answered session; ids grow, `answer` is open again (12 §12.8.3)."""
        self._call = call
        self._call_id += 1
        self.answer = None
        return [self._tools_call({} if self._stateless is None else {"_meta": _envelope(self._stateless)})]

    def _initialize(self, revision: str) -> dict[str, Any]:
        return _request(
            _INITIALIZE_ID,
            "initialize",
            {"protocolVersion": revision, "capabilities": {}, "clientInfo": _client()},
        )

    def _initialized(self, message: Mapping[str, Any]) -> list[dict[str, Any]]:
        error = message.get("error")
        if error is not None:
            raise SessionFailure(f"the server refused the initialize handshake: {compact_json(error)}")
        if "result" not in message:
            raise SessionFailure("the handshake was answered with neither a result nor an error")
        result = message["result"]
        if is_object(result):
            version, server = result.get("protocolVersion"), result.get("serverInfo")
            self.facts = SessionFacts(
                self._revision, version if isinstance(version, str) else None, server if is_object(server) else None
            )
        self.phase = "call"
        return [{"jsonrpc": "2.0", "method": "notifications/initialized"}, self._tools_call({})]

    def _discovered(self, message: Mapping[str, Any]) -> list[dict[str, Any]]:
        result = message.get("result")
        offered = result.get("supportedVersions") if is_object(result) else None
        shared = [version for version in STATELESS_REVISIONS if isinstance(offered, list) and version in offered]
        if not shared:
            return [self._initialize(NEWEST_HANDSHAKE)]
        self.facts = SessionFacts(self._revision, shared[-1], None)
        return self._call_statelessly(shared[-1])

    def _call_statelessly(self, revision: str) -> list[dict[str, Any]]:
        self.phase = "call"
        self._stateless = revision
        return [self._tools_call({"_meta": _envelope(revision)})]

    def _tools_call(self, more: Mapping[str, Any]) -> dict[str, Any]:
        return _request(
            self._call_id, "tools/call", {"name": self._call.tool_name, "arguments": dict(self._call.arguments), **more}
        )

    def _called(self, message: Mapping[str, Any]) -> None:
        if self._stateless is not None:
            self._check_stateless(message, self._stateless)
        self.answer = tool_answer(message)

    def _check_stateless(self, message: Mapping[str, Any], revision: str) -> None:
        """Record the revision only where the answer is of its shape: an older server ignores what it does not know."""
        error, result = message.get("error"), message.get("result")
        if is_object(error) and error.get("code") == UNSUPPORTED_VERSION:
            raise SessionFailure(f"the server refused revision {revision}: {compact_json(error)}")
        if is_object(result) and "resultType" in result:
            meta = result.get("_meta")
            server = meta.get("io.modelcontextprotocol/serverInfo") if is_object(meta) else None
            self.facts = SessionFacts(self._revision, revision, server if is_object(server) else None)


def tool_answer(message: Mapping[str, Any]) -> Answer:
    """What an answer to `tools/call` is as an observation; prose content is ignored (§7.5.3)."""
    error = message.get("error")
    if error is not None:
        return Answer(True, {"kind": "json", "value": error})
    result = message.get("result")
    if not is_object(result):
        return Answer(False, {"kind": "absent"})
    is_error = result.get("isError") is True
    if "structuredContent" not in result:
        return Answer(is_error, {"kind": "absent"})
    return Answer(is_error, {"kind": "json", "value": result["structuredContent"]})


def checked_message(value: Any, source: str) -> Mapping[str, Any]:
    """`value` as a JSON-RPC message; raises `SessionFailure`, which quotes the source text (§7.5.2)."""
    if is_object(value) and value.get("jsonrpc") == "2.0":
        return value
    raise not_a_message(source)


def not_a_message(source: str) -> SessionFailure:
    """The failure of a line that is no JSON-RPC message."""
    return SessionFailure(f"not a JSON-RPC message: {source[:_QUOTED]}")


def _request(request_id: int, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": request_id, "method": method, "params": dict(params)}


def _client() -> dict[str, str]:
    return {"name": "eval-quality", "version": VERSION}


def _envelope(revision: str) -> dict[str, Any]:
    return {
        "io.modelcontextprotocol/protocolVersion": revision,
        "io.modelcontextprotocol/clientInfo": _client(),
        "io.modelcontextprotocol/clientCapabilities": {},
    }


def _id_text(value: Any) -> str | None:
    if isinstance(value, str):
        return value
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return js_number(value)
