"""An MCP server over HTTP without the SDK: the tools of `programs/server.py`, as JSON answers."""

import asyncio
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route


async def message(request: Request) -> Response:
    """One JSON-RPC message."""
    asked: dict[str, Any] = await request.json()
    if "id" not in asked:
        return Response(status_code=202)
    if asked["method"] == "initialize":
        version = asked["params"]["protocolVersion"]
        server = {"name": "plain", "version": "1"}
        result: dict[str, Any] = {"protocolVersion": version, "capabilities": {}, "serverInfo": server}
    elif asked["method"] != "tools/call":
        return JSONResponse({"jsonrpc": "2.0", "id": asked["id"], "error": {"code": -32601, "message": "no"}})
    else:
        result = await tool(asked["params"]["name"], asked["params"]["arguments"])
    return JSONResponse({"jsonrpc": "2.0", "id": asked["id"], "result": result})


async def tool(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """The result of one tool."""
    if name == "hang":
        await asyncio.sleep(3)
    if name == "flood":
        return {"structuredContent": {"x": "y" * 100_000}}
    if name == "refuse":
        return {"structuredContent": {"why": "no"}, "isError": True}
    return {"content": [], "structuredContent": arguments}


APPLICATION = Starlette(routes=[Route("/mcp", message, methods=["POST"])])
