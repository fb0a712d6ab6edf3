"""A real MCP server over streamable HTTP, made with the official SDK, on a loopback port."""

from typing import Any

from mcp.server.mcpserver import MCPServer


def application(**options: Any) -> Any:
    """The ASGI application: tools `add`, `fail` and `say`. `options` go to the SDK's own application factory."""
    server = MCPServer("adder", version="1.2.3", log_level="CRITICAL")

    @server.tool()
    def add(left: int, right: int) -> dict[str, int]:
        """Add two numbers."""
        return {"sum": left + right}

    @server.tool()
    def fail() -> dict[str, int]:
        """Fail."""
        raise ValueError("on purpose")

    @server.tool(structured_output=False)
    def say(text: str) -> str:
        """Prose only."""
        return text

    return server.streamable_http_app(**options)
