"""The forwarder of `ingress.py`, run as a script by a bare interpreter; imports no project code.

    forwarder.py <listening descriptor> <process id> <port>

The listening socket was made in the host's network and stays there. The process then enters the user and network
namespaces of the sandbox, so that its own connections are made inside. End of file on standard input ends it.
"""

import contextlib
import ctypes
import fcntl
import os
import socket
import sys
import threading

_CLONE_NEWUSER = 0x10000000
_CLONE_NEWNET = 0x40000000
_NS_GET_USERNS = 0xB701
_CHUNK = 65536
CONNECT_SECONDS = 10.0


def enter(pid: int) -> None:
    """Join the namespaces of a process. As root the network alone; otherwise its user namespace first."""
    libc = ctypes.CDLL(None, use_errno=True)
    network = os.open(f"/proc/{pid}/ns/net", os.O_RDONLY | os.O_CLOEXEC)
    wanted = [(network, _CLONE_NEWNET)]
    if os.geteuid() != 0:
        # The network belongs to the sandbox's outer user namespace, which is not the one its processes end up in.
        wanted.insert(0, (fcntl.ioctl(network, _NS_GET_USERNS), _CLONE_NEWUSER))
    for descriptor, kind in wanted:
        if libc.setns(descriptor, kind) != 0:
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number))


def pump(source: socket.socket, target: socket.socket) -> None:
    """Pass bytes one way until their end, and then say so."""
    with contextlib.suppress(OSError):
        while data := source.recv(_CHUNK):
            target.sendall(data)
    with contextlib.suppress(OSError):
        target.shutdown(socket.SHUT_WR)


def serve(client: socket.socket, port: int) -> None:
    """One connection. A server that does not listen shows as a refused connection: the client's is reset."""
    with client:
        try:
            server = socket.create_connection(("127.0.0.1", port), CONNECT_SECONDS)
        except OSError:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\0\0\0\0\0\0\0")
            return
        with server:
            server.settimeout(None)
            back = threading.Thread(target=pump, args=(server, client), daemon=True)
            back.start()
            pump(client, server)
            back.join()


def accept(listener: socket.socket, port: int) -> None:
    """Serve every client in a thread of its own."""
    while True:
        client, _ = listener.accept()
        threading.Thread(target=serve, args=(client, port), daemon=True).start()


def main() -> None:
    """Enter, say that it worked, and forward until standard input ends."""
    listener = socket.socket(fileno=int(sys.argv[1]))
    enter(int(sys.argv[2]))
    print("ready", flush=True)
    threading.Thread(target=accept, args=(listener, int(sys.argv[3])), daemon=True).start()
    sys.stdin.buffer.read()


if __name__ == "__main__":
    main()
