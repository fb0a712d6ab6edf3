"""The program inside a Python worker: one callable, served over a private descriptor pair (spec 12 §12.8.5).

    worker.py TARGET PATH...

One file, standard library only: it runs under the subject's interpreter, confined, without this package. A request is
one line of JSON `{"request": ...}`, its answer one line `{"observation": ...}` or `{"fault": text}`. Before anything of
the subject is imported, standard input and output are moved to private descriptors: what the callable prints goes to
standard error and cannot corrupt an answer, and what it reads is at its end.
"""

from __future__ import annotations  # the interpreter may be older than this package's

import asyncio
import importlib
import inspect
import json
import os
import sys
from collections.abc import Awaitable, Callable
from typing import Any


def load(target: str) -> Callable[[Any], Any]:
    """The callable that `module:name` names."""
    module, _, name = target.partition(":")
    found: Any = importlib.import_module(module)
    for part in name.split("."):
        found = getattr(found, part)
    return found


def tagged(value: Any) -> dict[str, Any]:
    """A body as an observation has it: text stays text, anything else is JSON."""
    if value is None:
        return {"kind": "absent"}
    return {"kind": "text", "value": value} if isinstance(value, str) else {"kind": "json", "value": value}


def printed(text: Any) -> dict[str, Any]:
    """What a command printed, as the command adapter reads it: JSON where it is JSON, else text."""
    try:
        return {"kind": "json", "value": json.loads(text)} if text else tagged(None)
    except ValueError:
        return tagged(text)


def observe(serve: Callable[[Any], Any], request: dict[str, Any]) -> dict[str, Any]:
    """Call once and turn the answer, or its shorthand, into the members of an observation."""
    kind = request["kind"]
    try:
        answer = serve(request)
        if inspect.isawaitable(answer):
            answer = asyncio.run(_wait(answer))
    except Exception as error:
        if kind != "mcp":
            raise
        body = {"type": type(error).__name__, "message": str(error)}
        return {"isError": True, "result": {"kind": "json", "value": body}}
    if kind == "cli":
        if isinstance(answer, dict):
            return {"stdout": tagged(None), "stderr": tagged(None), "artifacts": {}, **answer}
        code, stdout = answer
        return {"exitCode": code, "stdout": printed(stdout), "stderr": tagged(None), "artifacts": {}}
    if kind == "api":
        if isinstance(answer, dict):
            return {"headers": {}, "body": tagged(None), **answer}
        status, body = answer
        return {"status": status, "headers": {}, "body": tagged(body)}
    if isinstance(answer, dict) and "isError" in answer:
        return {"result": tagged(None), **answer}
    return {"isError": False, "result": {"kind": "json", "value": answer}}


async def _wait(awaitable: Awaitable[Any]) -> Any:
    return await awaitable


def main(target: str, *paths: str) -> None:
    """Serve until the request stream ends."""
    requests = os.fdopen(os.dup(0), "rb")
    answers = os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    sys.path[:0] = paths

    def answer(value: dict[str, Any]) -> None:
        answers.write(_line(value))
        answers.flush()

    try:
        serve = load(target)
    except BaseException as error:
        answer({"fault": f"{target} cannot be loaded: {type(error).__name__}: {error}"})
        raise
    answer({"ready": True})
    for line in requests:
        request = json.loads(line)["request"]
        try:
            answer({"observation": observe(serve, request)})
        except Exception as error:
            answer({"fault": f"{type(error).__name__}: {error}"})


def _line(answer: dict[str, Any]) -> bytes:
    try:
        text = json.dumps(answer, allow_nan=False)
    except (TypeError, ValueError) as error:
        text = json.dumps({"fault": f"the answer is not JSON: {error}"})
    return text.encode() + b"\n"


if __name__ == "__main__":
    main(*sys.argv[1:])
