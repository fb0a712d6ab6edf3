"""The evaluator's side of the bridge: one file, standard library only, handed into the sandbox as `/eq/bridge.py`.

    bridge.py brief | operations | budget
    bridge.py observations [ID ...]
    bridge.py call INTERFACE OPERATION [--principal NAME] [INPUTS]
    bridge.py submit [FILE]

INPUTS is the JSON object of input channels; it and FILE are read from standard input when they are `-` or absent and
standard input is not a terminal. Each answer is printed as one line of JSON. Exit code 0; 1 when the call was refused
or failed, or the submission was not accepted; 2 for a wrong command line.

    from bridge import ask        # the same from Python
    ask("call", interfaceId="notes", operationId="read", inputs={"path": {"id": "1"}})
"""

from __future__ import annotations  # the interpreter may be older than this package's

import json
import os
import socket
import sys
from typing import Any

SOCKET = os.environ.get("EVAL_QUALITY_BRIDGE", "/eq/bridge.sock")


def ask(op: str, **members: Any) -> dict[str, Any]:
    """Send one request and return its answer."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.connect(SOCKET)
        connection.sendall(json.dumps({"id": 1, "op": op, **members}).encode() + b"\n")
        with connection.makefile("rb") as lines:
            line = lines.readline()
    if not line:
        raise ConnectionError("the bridge closed the connection; the request was not one line of JSON")
    answer: dict[str, Any] = json.loads(line)
    del answer["id"]
    return answer


def _document(given: str | None) -> Any:
    text: str = given or "-"
    if text == "-":
        text = "" if sys.stdin.isatty() else sys.stdin.read()
    return json.loads(text) if text.strip() else {}


def _request(words: list[str]) -> dict[str, Any]:
    op, rest = words[0], words[1:]
    if op in ("brief", "operations", "budget") and not rest:
        return {}
    if op == "observations":
        return {"ids": rest} if rest else {}
    if op == "submit" and len(rest) <= 1:
        if rest and rest[0] != "-":
            with open(rest[0], encoding="utf-8") as file:
                return {"submission": json.load(file)}
        return {"submission": _document(None)}
    if op == "call" and len(rest) >= 2:
        request: dict[str, Any] = {"interfaceId": rest[0], "operationId": rest[1]}
        rest = rest[2:]
        if len(rest) >= 2 and rest[0] == "--principal":
            request["principal"] = rest[1]
            rest = rest[2:]
        if len(rest) <= 1:
            request["inputs"] = _document(rest[0] if rest else None)
            return request
    raise ValueError("see the text at the top of this file for the commands")


def main(words: list[str]) -> int:
    """Run one command; returns the exit code."""
    try:
        request = _request(words) if words else _request([""])
    except (ValueError, OSError) as error:
        print(f"bridge: {error}", file=sys.stderr)
        return 2
    answer = ask(words[0], **request)
    print(json.dumps(answer, ensure_ascii=False))
    return 0 if answer.get("status", "observed") == "observed" and answer.get("accepted", True) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
