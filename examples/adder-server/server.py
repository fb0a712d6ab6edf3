#!/usr/bin/env python3
"""A tool server over stdio without any library: one tool, `add`, with a structured result.

It speaks the Model Context Protocol as far as one tool call needs it: the handshake, `tools/list` and `tools/call`.
"""

import json
import sys

NUMBER = {"type": "number"}
TOOL = {
    "name": "add",
    "description": "Add two numbers.",
    "inputSchema": {"type": "object", "properties": {"left": NUMBER, "right": NUMBER}, "required": ["left", "right"]},
    "outputSchema": {"type": "object", "properties": {"sum": NUMBER}, "required": ["sum"]},
}


def add(arguments):
    try:
        answer = {"sum": arguments["left"] + arguments["right"]}
        return {"content": [{"type": "text", "text": json.dumps(answer)}], "structuredContent": answer}
    except (KeyError, TypeError):
        return {"content": [], "structuredContent": {"error": "left and right must be numbers"}, "isError": True}


def answer(method, params):
    if method == "initialize":
        return {
            "protocolVersion": params["protocolVersion"],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "adder", "version": "1.0"},
        }
    if method == "tools/list":
        return {"tools": [TOOL]}
    if method == "tools/call" and params["name"] == "add":
        return add(params.get("arguments", {}))
    return None


for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    result = answer(message["method"], message.get("params", {}))
    reply = {"jsonrpc": "2.0", "id": message["id"]}
    if result is None:
        reply["error"] = {"code": -32601, "message": "no such method or tool"}
    else:
        reply["result"] = result
    print(json.dumps(reply), flush=True)
