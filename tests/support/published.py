"""Published MCP servers, installed by `tests/support/install_servers.sh` into `.servers/`."""

from pathlib import Path

import pytest

SERVERS = Path(__file__).resolve().parents[2] / ".servers"

WHERE = {
    "mcp-server-time": "python-current/bin/mcp-server-time",
    "mcp-server-git": "python-current/bin/mcp-server-git",
    "mcp-server-sqlite": "python-classic/bin/mcp-server-sqlite",
    "server-everything": "npm/node_modules/.bin/mcp-server-everything",
    "server-filesystem": "npm/node_modules/.bin/mcp-server-filesystem",
    "server-memory": "npm/node_modules/.bin/mcp-server-memory",
}


def published(name: str) -> str:
    """The path of a server; skips the test, saying how to get it, where it is not installed."""
    path = SERVERS / WHERE[name]
    if not path.exists():
        pytest.skip(f"{name} is not installed: run tests/support/install_servers.sh")
    return str(path)
