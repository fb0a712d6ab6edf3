"""The bridge as a Unix socket: newline-delimited JSON, one request at a time (spec 12 §12.14.4).

A request is `{"id", "op", ...}`, its answer `{"id", ...}`. Requests of all connections are served strictly one after
another; a line longer than `MAX_LINE_BYTES` or not JSON ends its connection.
"""

import contextlib
import os
import socket
import threading
from typing import Any, Final

from eval_quality.errors import RuntimeFault
from eval_quality.run.evaluators.external.dispatch import Dispatcher
from eval_quality.value.canonical import canonicalize
from eval_quality.value.scan import scan

MAX_LINE_BYTES: Final = 4 << 20
"""Stops a peer that never ends its line."""
MAX_CONNECTIONS: Final = 16
"""Stops a peer that opens connections without end."""


class BridgeServer:
    """Serves one trial's dispatcher on a socket at `path` (mode 0600). Use as a context manager."""

    def __init__(self, path: str, dispatcher: Dispatcher) -> None:
        self._dispatcher = dispatcher
        self._turn = threading.Lock()
        self._open: set[socket.socket] = set()
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        _bind(self._listener, path)
        self._listener.listen(MAX_CONNECTIONS)
        self._thread = threading.Thread(target=self._accept, name="eval-quality-bridge", daemon=True)

    def __enter__(self) -> "BridgeServer":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Close everything; no request is served afterwards."""
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for connection in list(self._open):
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        self._thread.join()
        with self._turn:
            pass

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            if len(self._open) >= MAX_CONNECTIONS:
                connection.close()
                continue
            self._open.add(connection)
            threading.Thread(target=self._serve, args=(connection,), name="eval-quality-bridge", daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        with contextlib.suppress(OSError), connection, connection.makefile("rb") as lines:
            while line := lines.readline(MAX_LINE_BYTES + 1):
                if len(line) > MAX_LINE_BYTES or not line.endswith(b"\n"):
                    break
                try:
                    request: Any = scan(line, "BridgeRequest")
                except RuntimeFault:
                    break
                with self._turn:
                    answer = self._dispatcher.handle(request)
                if isinstance(request, dict):
                    answer["id"] = request.get("id")  # pyright: ignore
                connection.sendall(canonicalize(answer, "BridgeAnswer") + b"\n")
        self._open.discard(connection)


def _bind(listener: socket.socket, path: str) -> None:
    """Give the socket its name, which only the owner may use.

    The name is reached through its folder's descriptor, so that the folder may lie deeper than a socket address is
    long. Nobody can connect before it listens, so the mode may follow the name; the mask of the process, which every
    thread shares, is left alone.
    """
    folder = os.open(os.path.dirname(path), os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        listener.bind(f"/proc/self/fd/{folder}/{os.path.basename(path)}")
    finally:
        os.close(folder)
    os.chmod(path, 0o600)
