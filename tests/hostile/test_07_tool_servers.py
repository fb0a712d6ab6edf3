"""Hostile and merely odd tool servers over stdio (spec 07 §7.5.2 - §7.5.4)."""

import sys
import threading
import time
from typing import Any

import pytest

from eval_quality.errors import RuntimeFault
from eval_quality.model.decode import to_value
from eval_quality.model.target import parse_mcp_target_policy
from eval_quality.probe.mcp import McpAdapter
from eval_quality.probe.signals import AbortController, AbortSignal
from support.hostile import MARKER, PROGRAMS, eventually, new_marker, survivors
from support.subjects import tool_request

MAX_ELAPSED_MS = 700


def adapter(mode: str, marker: str, **changes: Any) -> McpAdapter:
    entry = {
        "interfaceId": "server",
        "target": sys.executable,
        "targetArgs": ["-I", "-S", str(PROGRAMS / "mcp_server.py"), mode],
        "tools": ["echo"],
        "cwd": "/",
        "serverEnvironment": {MARKER: marker},
        "maxElapsedMs": MAX_ELAPSED_MS,
        "maxOutputBytes": 65536,
    }
    return McpAdapter(parse_mcp_target_policy({"authorizations": [{**entry, **changes}]}))


def observe(mode: str, **changes: Any) -> dict[str, Any]:
    """The observation's own members; nothing of the server is left."""
    marker = new_marker()
    seen = to_value(adapter(mode, marker, **{"maxElapsedMs": 10_000, **changes}).probe(tool_request(), AbortSignal()))
    assert eventually(lambda: not survivors(marker), 2)
    return {key: seen[key] for key in ("isError", "result", "exitCode") if key in seen}


def fault(mode: str, **changes: Any) -> RuntimeFault:
    marker = new_marker()
    begin = time.monotonic()
    with pytest.raises(RuntimeFault) as caught:
        adapter(mode, marker, **changes).probe(tool_request(), AbortSignal())
    assert time.monotonic() - begin < MAX_ELAPSED_MS / 1000 + 1
    assert eventually(lambda: not survivors(marker), 2)
    return caught.value


TEXT = {"kind": "json", "value": {"text": "é€𝄞"}}
ABSENT = {"kind": "absent"}


@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        ("well", {"isError": False, "result": TEXT}),
        ("string id", {"isError": False, "result": TEXT}),
        ("float id", {"isError": False, "result": TEXT}),
        ("noise", {"isError": False, "result": TEXT}),
        ("split", {"isError": False, "result": TEXT}),
        ("no newline", {"isError": False, "result": TEXT}),
        ("descendant", {"isError": False, "result": TEXT}),
        ("null error", {"isError": False, "result": TEXT}),
        ("lingers", {"isError": False, "result": TEXT}),
        ("error", {"isError": True, "result": {"kind": "json", "value": {"code": -32602, "message": "m"}}}),
        ("null structured", {"isError": False, "result": {"kind": "json", "value": None}}),
        ("prose", {"isError": False, "result": ABSENT}),
        ("prose error", {"isError": True, "result": ABSENT}),
        ("truthy error", {"isError": False, "result": {"kind": "json", "value": 1}}),
        ("text result", {"isError": False, "result": ABSENT}),
        ("no result", {"isError": False, "result": ABSENT}),
        ("null error result", {"isError": False, "result": {"kind": "json", "value": 1}}),
        ("dies", {"isError": True, "result": ABSENT, "exitCode": 3}),
        ("killed", {"isError": True, "result": ABSENT, "exitCode": -15}),
    ],
)
def test_s7_5_3_tool_answers(mode: str, expected: dict[str, Any]) -> None:
    assert observe(mode) == expected


@pytest.mark.parametrize(
    ("mode", "detail"),
    [
        ("exits at launch", "the server exited during initialize"),
        ("exits at handshake", "the server exited during initialize"),
        ("refuses", 'refused the initialize handshake: {"code":-1,"message":"no"}'),
        ("neither", "answered with neither"),
        ("prints log", 'not a JSON-RPC message: {"level":30}'),
        ("stray line", "not a JSON-RPC message: Listening on stdio..."),
        ("array line", "not a JSON-RPC message: []"),
        ("null line", "not a JSON-RPC message: null"),
        ("number line", "not a JSON-RPC message: 7"),
        ("other version", 'not a JSON-RPC message: {"jsonrpc":"1.0"'),
        ("no version", 'not a JSON-RPC message: {"id":2'),
        ("parricide", "the watchdog was lost"),
    ],
)
def test_s7_5_4_failures_of_the_session(mode: str, detail: str) -> None:
    found = fault(mode, maxElapsedMs=5000)
    assert (found.code, found.artifact_path) == ("port-failure", "ProbeObservation")
    assert detail in found.detail


@pytest.mark.parametrize(
    ("mode", "detail"),
    [
        ("silent", "during initialize"),
        ("wrong id", "during call"),
        ("boolean id", "during call"),
        ("closes output", "during call"),
        ("huge frame", "maxOutputBytes: stdout"),
        ("flood", "maxOutputBytes: stdout"),
        ("stderr flood", "maxOutputBytes: stderr"),
    ],
)
def test_s7_5_4_exceeded_caps(mode: str, detail: str) -> None:
    found = fault(mode)
    assert (found.code, found.artifact_path) == ("budget-exhausted", "McpProbeRequest")
    assert detail in found.detail


def test_s7_5_4_a_server_that_cannot_be_started() -> None:
    found = fault("well", target="/nonexistent/server")
    assert (found.code, found.artifact_path, found.reason) == ("port-failure", "ProbeObservation", None)
    assert isinstance(found.cause, FileNotFoundError)
    too_large = fault("well", targetArgs=["x" * 200_000])
    assert (too_large.code, too_large.port_failure_reason) == ("port-failure", "launch-too-large")


def test_s7_5_2_at_most_200_characters_of_a_stray_line_are_quoted() -> None:
    from eval_quality.probe.mcp_protocol import not_a_message

    assert str(not_a_message("y" * 500)) == "not a JSON-RPC message: " + "y" * 200


def test_s7_5_4_an_abort_ends_the_session() -> None:
    marker = new_marker()
    controller = AbortController()
    faults: list[RuntimeFault] = []

    def work() -> None:
        try:
            adapter("silent", marker, maxElapsedMs=60_000).probe(tool_request(), controller.signal)
        except RuntimeFault as caught:
            faults.append(caught)

    thread = threading.Thread(target=work)
    thread.start()
    assert eventually(lambda: bool(survivors(marker)), 10)
    controller.abort()
    thread.join(3)
    assert not thread.is_alive()
    assert (faults[0].code, faults[0].artifact_path) == ("aborted", "ProbeObservation")
    assert controller.signal.listener_count == 0
    assert eventually(lambda: not survivors(marker), 2)


def test_s7_5_2_a_declared_path_wins_and_nothing_else_is_inherited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_OF_THE_HOST", "1")
    entry = adapter("well", "m", serverEnvironment={"PATH": "/declared", "A": "b"})
    invocation = entry._decide(entry_request())
    assert invocation.environment == {"PATH": "/declared", "A": "b"}
    inherited = adapter("well", "m", serverEnvironment={})._decide(entry_request())
    assert set(inherited.environment) == {"PATH"}


def entry_request() -> Any:
    from eval_quality.model.decode import decode
    from eval_quality.model.ports import ProbeRequest

    return decode(ProbeRequest, tool_request(), "ProbeRequest")
