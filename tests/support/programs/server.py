"""An MCP server over stdio without the SDK: tools `echo`, `refuse`, `hang`, `flood` and `secret`."""

import json
import sys
import time


def send(message):
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


for line in sys.stdin:
    message = json.loads(line)
    if message.get("method") == "initialize":
        result = {
            "protocolVersion": message["params"]["protocolVersion"],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "plain", "version": "1"},
        }
        send({"jsonrpc": "2.0", "id": message["id"], "result": result})
    elif message.get("method") == "tools/call":
        name, arguments = message["params"]["name"], message["params"]["arguments"]
        if name == "hang":
            time.sleep(600)
        elif name == "flood":
            send({"jsonrpc": "2.0", "id": message["id"], "result": {"structuredContent": {"x": "y" * 100_000}}})
        elif name == "refuse":
            result = {"structuredContent": {"why": "no"}, "isError": True}
            send({"jsonrpc": "2.0", "id": message["id"], "result": result})
        else:
            send({"jsonrpc": "2.0", "id": message["id"], "result": {"content": [], "structuredContent": arguments}})
