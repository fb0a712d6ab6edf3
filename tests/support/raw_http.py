"""HTTP servers that speak raw bytes: what no framework would send."""

import contextlib
import socket
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager

Behaviour = Callable[[socket.socket], None]


class RawServer:
    """Accepts connections, reads each request head, and lets `behave` answer on the socket."""

    def __init__(self, behave: Behaviour) -> None:
        self._behave = behave
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self.heads: list[bytes] = []
        self.stop = threading.Event()
        self._open: list[socket.socket] = []
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self._open.append(connection)
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        with contextlib.suppress(OSError), connection:
            head = b""
            while b"\r\n\r\n" not in head:
                more = connection.recv(65536)
                if not more:
                    return
                head += more
            self.heads.append(head)
            self._behave(connection)

    def close(self) -> None:
        self.stop.set()
        self._listener.close()
        for connection in self._open:
            with contextlib.suppress(OSError):
                connection.close()


@contextmanager
def raw_server(behave: Callable[[RawServer, socket.socket], None]) -> Generator[RawServer, None, None]:
    """A server for the length of the block; `behave(server, socket)` answers each request."""
    server = RawServer(lambda connection: behave(server, connection))
    try:
        yield server
    finally:
        server.close()
