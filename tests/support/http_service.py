"""A real HTTP service (starlette under uvicorn) on a loopback port, for the length of a block."""

import asyncio
import socket
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager
from typing import NamedTuple

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route

METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]


class Service(NamedTuple):
    """Where it listens and the requests it has seen, as `(method, path)`."""

    port: int
    seen: list[tuple[str, str]]


async def echo(request: Request) -> Response:
    """What arrived, as JSON."""
    body = await request.body()
    return JSONResponse(
        {
            "method": request.method,
            "path": request.scope["raw_path"].decode(),
            "query": request.scope["query_string"].decode(),
            "headers": {name.decode(): value.decode("latin-1") for name, value in request.headers.raw},
            "body": body.decode("latin-1"),
        }
    )


async def status(request: Request) -> Response:
    """Answers with the status in the path."""
    return PlainTextResponse("status", status_code=int(request.path_params["code"]))


async def repeated(_: Request) -> Response:
    """Repeated headers and a cookie."""
    response = PlainTextResponse("x")
    response.headers.append("x-many", "one")
    response.headers.append("x-many", "two")
    response.set_cookie("secret", "value")
    return response


async def redirect(request: Request) -> Response:
    """Redirects to `to` with `code`."""
    return RedirectResponse(request.query_params["to"], status_code=int(request.query_params.get("code", "302")))


async def chain(request: Request) -> Response:
    """Redirects until the number in the path is 0."""
    left = int(request.path_params["left"])
    return PlainTextResponse("end") if left == 0 else RedirectResponse(f"/chain/{left - 1}", status_code=302)


async def body(request: Request) -> Response:
    """`size` bytes of `type`; `text` verbatim where given."""
    query = request.query_params
    content = query["text"].encode() if "text" in query else b"x" * int(query.get("size", "0"))
    headers = {"content-type": query["type"]} if "type" in query else {}
    return Response(content, headers=headers)


async def encoded(request: Request) -> Response:
    """A compressed body of `size` zero bytes, unless `text` is given."""
    import gzip
    import zlib

    plain = request.query_params.get("text", "").encode() or b"0" * int(request.query_params["size"])
    kind = request.path_params["kind"]
    data = gzip.compress(plain) if kind == "gzip" else zlib.compress(plain)
    return Response(data, headers={"content-encoding": kind, "content-type": "text/plain"})


async def slow(_: Request) -> Response:
    """Answers after one second and a half."""
    await asyncio.sleep(1.5)
    return PlainTextResponse("late")


APPLICATION = Starlette(
    routes=[
        Route("/slow", slow),
        Route("/status/{code}", status, methods=METHODS),
        Route("/repeated", repeated),
        Route("/redirect", redirect, methods=METHODS),
        Route("/chain/{left}", chain),
        Route("/body", body),
        Route("/encoded/{kind}", encoded),
        Route("/{rest:path}", echo, methods=METHODS),
    ]
)


@contextmanager
def serve(application: object = None, **tls: str) -> Generator[Service, None, None]:
    """Serve `application` (default: the echo service above) until the block ends; `keyfile` and `certfile` for TLS."""
    seen: list[tuple[str, str]] = []
    inner = application or APPLICATION

    async def noting(scope, receive, send):  # type: ignore[no-untyped-def]
        if scope["type"] == "http":
            seen.append((scope["method"], scope["path"]))
        await inner(scope, receive, send)  # type: ignore[operator]

    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    server = uvicorn.Server(
        uvicorn.Config(
            noting,
            log_level="critical",
            lifespan="auto",
            ssl_keyfile=tls.get("keyfile"),
            ssl_certfile=tls.get("certfile"),
        )
    )
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    try:
        while not server.started:
            assert thread.is_alive()
            time.sleep(0.005)
        yield Service(listener.getsockname()[1], seen)
    finally:
        server.should_exit = True
        thread.join(10)
        listener.close()
