"""Real, published MCP servers, each in every revision it may speak (spec 07 §7.5; network: installed by the set-up)."""

import subprocess
from pathlib import Path
from typing import Any

import pytest

from eval_quality.errors import RuntimeFault
from eval_quality.model.decode import to_value
from eval_quality.model.target import parse_mcp_target_policy
from eval_quality.probe.mcp import McpAdapter
from eval_quality.probe.mcp_protocol import SessionFacts
from eval_quality.probe.signals import AbortSignal
from support.published import published
from support.subjects import tool_request

pytestmark = pytest.mark.network

REVISIONS = ["2025-06-18", "auto"]


class Session:
    """One adapter for one server, and what its sessions settled on."""

    def __init__(self, server: str, *arguments: str, revision: str = "2025-06-18", **environment: str) -> None:
        self.facts: list[SessionFacts] = []
        entry = {
            "interfaceId": "server",
            "target": published(server),
            "targetArgs": list(arguments),
            "tools": list(TOOLS),
            "cwd": "/",
            "serverEnvironment": environment,
            "maxElapsedMs": 60_000,
            "maxOutputBytes": 1_000_000,
        }
        policy = parse_mcp_target_policy({"authorizations": [entry]})
        self._adapter = McpAdapter(policy, revision=revision, observer=self.facts.append)

    def call(self, tool: str, **arguments: Any) -> Any:
        seen = to_value(self._adapter.probe(tool_request(tool, **arguments), AbortSignal()))
        assert "exitCode" not in seen
        return seen["isError"], seen["result"]


TOOLS = (
    "get_current_time",
    "convert_time",
    "git_status",
    "git_log",
    "create_table",
    "list_tables",
    "echo",
    "get-structured-content",
    "read_text_file",
    "write_file",
    "create_entities",
    "read_graph",
    "no_such_tool",
)


@pytest.mark.parametrize("revision", [*REVISIONS, "2026-07-28"])
def test_time(revision: str) -> None:
    session = Session("mcp-server-time", revision=revision)
    is_error, result = session.call("convert_time", source_timezone="UTC", time="12:00", target_timezone="Asia/Kolkata")
    assert is_error is False
    assert result["kind"] == "json"
    assert result["value"]["time_difference"] == "+5.5h"
    expected = "2025-06-18" if revision == "2025-06-18" else "2026-07-28"
    assert session.facts[0].negotiated == expected
    assert session.facts[0].server is not None
    assert session.facts[0].server["name"] == "mcp-time"
    assert session.call("get_current_time", timezone="Nowhere/Land")[0] is True


@pytest.mark.parametrize("revision", REVISIONS)
def test_git(revision: str, tmp_path: Path) -> None:
    for arguments in (["init", "-q"], ["config", "user.email", "a@b.test"], ["config", "user.name", "A"]):
        subprocess.run(["git", *arguments], cwd=tmp_path, check=True)
    (tmp_path / "file").write_text("x")
    subprocess.run(["git", "add", "file"], cwd=tmp_path, check=True)
    subprocess.run(["git", "commit", "-q", "-m", "first"], cwd=tmp_path, check=True)
    session = Session("mcp-server-git", "--repository", str(tmp_path), revision=revision)
    assert session.call("git_status", repo_path=str(tmp_path))[0] is False
    assert session.call("git_log", repo_path=str(tmp_path), max_count=1)[0] is False
    assert session.call("git_status", repo_path="/")[0] is True


@pytest.mark.parametrize("revision", REVISIONS)
def test_sqlite_keeps_its_file_between_sessions(revision: str, tmp_path: Path) -> None:
    session = Session("mcp-server-sqlite", "--db-path", str(tmp_path / "x.db"), revision=revision)
    assert session.call("create_table", query="CREATE TABLE t (a INTEGER)") == (False, {"kind": "absent"})
    assert session.call("list_tables") == (False, {"kind": "absent"})
    assert (tmp_path / "x.db").stat().st_size > 0
    # This server is of the handshake era, whatever it is asked for.
    assert session.facts[0].negotiated == ("2025-06-18" if revision == "2025-06-18" else "2025-11-25")


@pytest.mark.parametrize("revision", REVISIONS)
def test_everything(revision: str) -> None:
    session = Session("server-everything", revision=revision)
    is_error, result = session.call("get-structured-content", location="New York")
    assert is_error is False
    assert set(result["value"]) == {"temperature", "conditions", "humidity"}
    assert session.call("echo", message="hello") == (False, {"kind": "absent"})
    assert session.call("no_such_tool")[0] is True


@pytest.mark.parametrize("revision", REVISIONS)
def test_filesystem(revision: str, tmp_path: Path) -> None:
    session = Session("server-filesystem", str(tmp_path), revision=revision)
    assert session.call("write_file", path=str(tmp_path / "a.txt"), content="é\n")[0] is False
    assert (tmp_path / "a.txt").read_text() == "é\n"
    is_error, result = session.call("read_text_file", path=str(tmp_path / "a.txt"))
    assert is_error is False
    assert result["value"]["content"] == "é\n"
    assert session.call("read_text_file", path="/etc/passwd")[0] is True


@pytest.mark.parametrize("revision", REVISIONS)
def test_memory(revision: str, tmp_path: Path) -> None:
    session = Session("server-memory", revision=revision, MEMORY_FILE_PATH=str(tmp_path / "memory.jsonl"))
    entity = {"name": "Ada", "entityType": "person", "observations": ["writes notes"]}
    assert session.call("create_entities", entities=[entity])[0] is False
    is_error, result = session.call("read_graph")
    assert is_error is False
    assert [found["name"] for found in result["value"]["entities"]] == ["Ada"]


def test_s7_5_4_a_real_server_that_needs_longer_than_its_cap() -> None:
    session = Session("mcp-server-time")
    entry = session._adapter._policy.authorizations[0]
    import msgspec

    policy = msgspec.structs.replace(
        session._adapter._policy, authorizations=(msgspec.structs.replace(entry, max_elapsed_ms=30),)
    )
    with pytest.raises(RuntimeFault) as caught:
        McpAdapter(policy).probe(tool_request("get_current_time", timezone="UTC"), AbortSignal())
    assert caught.value.code == "budget-exhausted"
