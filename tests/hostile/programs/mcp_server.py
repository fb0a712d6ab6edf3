"""An MCP server over stdio that misbehaves in the way its first argument names."""

import json
import os
import signal
import sys
import time

mode = sys.argv[1]


def write(text):
    os.write(1, text.encode() if isinstance(text, str) else text)


def send(message):
    write(json.dumps(message) + "\n")


def handshake(message):
    result = {"protocolVersion": "2025-06-18", "capabilities": {}, "serverInfo": {"name": "hostile", "version": "0"}}
    if mode == "refuses":
        send({"jsonrpc": "2.0", "id": 1, "error": {"code": -1, "message": "no"}})
    elif mode == "neither":
        send({"jsonrpc": "2.0", "id": 1})
    elif mode == "null error":
        send({"jsonrpc": "2.0", "id": 1, "error": None, "result": result})
    elif mode == "silent":
        time.sleep(600)
    elif mode == "exits at handshake":
        sys.exit(4)
    elif mode == "prints log":
        write('{"level":30}\n')
        sys.exit(0)
    else:
        send({"jsonrpc": "2.0", "id": message["id"], "result": result})


def call(message):
    answer = {"jsonrpc": "2.0", "id": 2, "result": {"structuredContent": {"text": "é€𝄞"}}}
    if mode == "dies":
        sys.exit(3)
    if mode == "killed":
        os.kill(os.getpid(), signal.SIGTERM)
    elif mode == "stray line":
        write("Listening on stdio...\n")
        sys.exit(0)
    elif mode in STRAY:
        write(STRAY[mode] + "\n")
        time.sleep(600)
    elif mode == "parricide":
        os.kill(os.getppid(), signal.SIGKILL)
        time.sleep(600)
    elif mode == "wrong id":
        send({**answer, "id": 7})
        time.sleep(600)
    elif mode == "string id":
        send({**answer, "id": "2"})
    elif mode == "float id":
        write(json.dumps(answer).replace('"id": 2', '"id": 2.0') + "\n")
    elif mode == "boolean id":
        send({**answer, "id": True})
        time.sleep(600)
    elif mode == "huge frame":
        write('{"jsonrpc":"2.0","id":2,"result":{"structuredContent":"' + "x" * 1_000_000)
        time.sleep(600)
    elif mode == "stderr flood":
        while True:
            os.write(2, b"x" * 10000)
    elif mode == "noise":
        send({"jsonrpc": "2.0", "method": "notifications/message", "params": {}})
        send({"jsonrpc": "2.0", "id": 2, "method": "roots/list"})
        send({"jsonrpc": "2.0", "id": 99, "result": {}})
        write("\n  \n")
        send(answer)
    elif mode == "split":
        for byte in (json.dumps(answer, ensure_ascii=False) + "\n").encode():
            write(bytes([byte]))
    elif mode == "no newline":
        write(json.dumps(answer))
        sys.exit(5)
    elif mode == "descendant":
        if os.fork() == 0:
            time.sleep(0.3)
            send(answer)
            os._exit(0)
        os._exit(1)
    elif mode == "error":
        send({"jsonrpc": "2.0", "id": "2", "error": {"code": -32602, "message": "m"}})
    elif mode in RESULTS:
        send({"jsonrpc": "2.0", "id": 2, **RESULTS[mode]})
    elif mode == "lingers":
        for number in (signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        if os.fork() == 0:
            os.setsid()
            time.sleep(600)
        send(answer)
        time.sleep(600)
    elif mode == "closes output":
        os.close(1)
        time.sleep(600)
    else:
        send(answer)


STRAY = {
    "array line": "[]",
    "null line": "null",
    "number line": "7",
    "other version": '{"jsonrpc":"1.0","id":2,"result":{}}',
    "no version": '{"id":2,"result":{}}',
}
RESULTS = {
    "null structured": {"result": {"structuredContent": None}},
    "prose": {"result": {"content": [{"type": "text", "text": "hello"}]}},
    "prose error": {"result": {"content": [], "isError": True}},
    "truthy error": {"result": {"structuredContent": 1, "isError": "yes"}},
    "text result": {"result": "hello"},
    "no result": {},
    "null error result": {"error": None, "result": {"structuredContent": 1}},
}

if mode == "flood":
    while True:
        write(b"x" * 10000)
if mode == "exits at launch":
    sys.exit(9)
for line in sys.stdin:
    message = json.loads(line)
    if message.get("method") == "initialize":
        handshake(message)
    elif message.get("method") == "tools/call":
        call(message)
