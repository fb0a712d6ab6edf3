"""The way to a server that runs in a sandbox of its own network (spec 13 §13.10.1).

A sandbox has a loopback of its own and nothing else, so a server in it is reached by nobody. `Ingress` opens a port
on the host's loopback and hands it to a small forwarder, which enters the sandbox's network (and nothing else of it)
and passes bytes to the server's port there. Inside, every server can use the same port; outside, the system picks a
free one.
"""

import socket
import subprocess
import sys
from pathlib import Path
from typing import Final

FORWARDER: Final = str(Path(__file__).with_name("forwarder.py"))
SERVER_PORT: Final = 8080
"""The port that a confined server is told to listen on."""
_END_SECONDS: Final = 3.0


class Ingress:
    """A host port that reaches a server inside a sandbox; a context manager.

    pid: a process of the sandbox, as the host numbers it. Raises `OSError` when the forwarder could not be started.
    """

    def __init__(self, pid: int, port: int = SERVER_PORT) -> None:
        listener = socket.create_server(("127.0.0.1", 0), backlog=128)
        with listener:
            self.port: int = listener.getsockname()[1]
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-S", FORWARDER, str(listener.fileno()), str(pid), str(port)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                cwd="/",
                env={},
                pass_fds=(listener.fileno(),),
                start_new_session=True,
            )
        assert self._process.stdout is not None
        if self._process.stdout.readline() != b"ready\n":
            self.close()
            raise OSError("the forwarder could not enter the sandbox's network")

    @property
    def address(self) -> str:
        """Where clients on the host connect: `127.0.0.1:<port>`."""
        return f"127.0.0.1:{self.port}"

    def close(self) -> None:
        """End the forwarder and every connection through it."""
        self._process.kill()
        self._process.communicate(timeout=_END_SECONDS)

    def __enter__(self) -> "Ingress":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
