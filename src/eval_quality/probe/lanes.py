"""The host's end of the supervising process: one supervisor a host process, lanes on demand (spec 07 §7.4.8).

1. The supervisor starts with the first lane and ends with the host, however the host ends.
2. A lost supervisor is replaced when the next lane is asked for.
3. A fork of the host starts from nothing: the lanes of its parent are not its own.
4. `borrowed()` lends a lane of the pool for one run. A `Lane` that its caller owns is for one trial: `close` kills
   everything its targets left running and counts it.
"""

import atexit
import errno
import marshal
import mmap
import os
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

SUPERVISOR: Final = str(Path(__file__).with_name("supervisor.py"))
LAUNCH_ALLOWANCE_SECONDS: Final = 30.0
"""Bounds a launch that never happens, on top of every elapsed cap (spec 07 §7.4.5)."""
MAX_IDLE_LANES: Final = 8
"""Most lanes the pool keeps; one that comes back beyond it is closed."""
MAX_MESSAGE_BYTES: Final = 1 << 24
"""Longest message to a lane. No kernel takes a launch of this size, so it is refused as the kernel would refuse it."""

_HEADER = struct.Struct("=I")
_PAGE = struct.Struct("@dqq")
_CLOSE_SECONDS = 3.0
_BELIEVED_SECONDS = 0.1
_DYING_SECONDS = 0.05
"""How long a supervisor that was killed may take to be seen dead."""


class LaneLost(Exception):
    """The lane, or the supervisor behind it, is gone."""


class Lane:
    """A process slot: starts one target after another and is the ancestor of everything they start."""

    def __init__(self) -> None:
        self._socket, self._page = _supervisor.new_lane()
        self._bound(LAUNCH_ALLOWANCE_SECONDS)
        self._buffer = b""
        self.lost = False
        self.used_at = 0.0
        _supervisor.lanes.add(self)

    def _bound(self, seconds: float) -> None:
        # Kernel time-outs, not Python's: those cost one more system call for each read and write.
        limit = struct.pack("@ll", int(seconds), 0)
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, limit)
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, limit)

    def is_alive(self, *, believed: bool = True) -> bool:
        """Whether a lane still has its process; one that was used a moment ago is `believed` to."""
        if believed and time.monotonic() - self.used_at < _BELIEVED_SECONDS:
            return not self.lost
        try:
            return not self.lost and self._socket.recv(1, socket.MSG_DONTWAIT | socket.MSG_PEEK) != b""
        except BlockingIOError:
            return True
        except OSError:
            return False

    def started(self) -> tuple[float, int]:
        """When the target of the latest launch started, on the monotonic clock, and its process id; zeros before."""
        return _PAGE.unpack_from(self._page)[:2]

    def condemn(self) -> None:
        """Kill a lane that does not answer, such as one its target stopped; the supervisor sweeps what it leaves."""
        lane = _PAGE.unpack_from(self._page)[2]
        if lane and self.is_alive(believed=False):
            os.kill(lane, signal.SIGKILL)
        elif not lane:
            _supervisor.kill()
        self.lost = True

    def fileno(self) -> int:
        """The descriptor to poll for messages."""
        return self._socket.fileno()

    def send(self, *message: Any, descriptors: tuple[int, ...] = ()) -> None:
        """Send one message with descriptors; raises `LaneLost`, or `OSError` (E2BIG) for one that is too long."""
        body = marshal.dumps(message)
        if len(body) > MAX_MESSAGE_BYTES:
            raise OSError(errno.E2BIG, os.strerror(errno.E2BIG))
        data = _HEADER.pack(len(body)) + body
        if message[0] == "launch":
            _PAGE.pack_into(self._page, 0, 0.0, 0, _PAGE.unpack_from(self._page)[2])
        try:
            sent = socket.send_fds(self._socket, [data], list(descriptors)) if descriptors else 0
            if sent < len(data):
                self._socket.sendall(data[sent:])
        except OSError as error:
            self.lost = True
            raise LaneLost("the watchdog's lane is gone") from error

    def receive(self) -> list[tuple[Any, ...]]:
        """Read once and give every complete message; raises `LaneLost` at end of file."""
        try:
            data = self._socket.recv(65536)
        except OSError as error:
            self.lost = True
            raise LaneLost("the watchdog's lane is gone") from error
        if not data:
            self.lost = True
            raise LaneLost("the watchdog's lane ended")
        buffer = self._buffer + data
        messages: list[tuple[Any, ...]] = []
        while len(buffer) >= _HEADER.size:
            end = _HEADER.size + _HEADER.unpack_from(buffer)[0]
            if len(buffer) < end:
                break
            messages.append(marshal.loads(buffer[_HEADER.size : end]))
            buffer = buffer[end:]
        self._buffer = buffer
        return messages

    def close(self) -> int:
        """Kill everything below the lane and end it; how many live processes its targets had left behind."""
        strays = 0
        try:
            if not self.lost:
                self._bound(_CLOSE_SECONDS)
                self.send("close")
                while True:
                    for message in self.receive():
                        if message[0] == "closed":
                            strays = message[1]
        except LaneLost:
            pass
        finally:
            self.lost = True
            self._socket.close()
        return strays

    def discard(self) -> None:
        """Close this end without a word; the lane, if it lives, kills everything below it and ends."""
        self.lost = True
        self._socket.close()

    def __enter__(self) -> "Lane":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class _Supervisor:
    """The one supervising process of this host process and its idle lanes."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._control: socket.socket | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self.idle: list[Lane] = []
        self.lanes: weakref.WeakSet[Lane] = weakref.WeakSet()

    def new_lane(self) -> tuple[socket.socket, mmap.mmap]:
        ours, theirs = socket.socketpair()
        memory = os.memfd_create("eval-quality-lane", os.MFD_CLOEXEC)
        try:
            os.ftruncate(memory, _PAGE.size)
            page = mmap.mmap(memory, _PAGE.size)
            with theirs, self._lock:
                try:
                    self._request(theirs, memory)
                except OSError:
                    self._stop()
                    try:
                        self._request(theirs, memory)
                    except OSError as error:
                        ours.close()
                        raise LaneLost("the watchdog could not be started") from error
        finally:
            os.close(memory)
        return ours, page

    def _request(self, theirs: socket.socket, memory: int) -> None:
        control = self._control or self._start()
        body = marshal.dumps(("lane",))
        socket.send_fds(control, [_HEADER.pack(len(body)) + body], [theirs.fileno(), memory])

    def _start(self) -> socket.socket:
        ours, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-S", SUPERVISOR, str(theirs.fileno())],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                cwd="/",
                env={},
                pass_fds=(theirs.fileno(),),
                start_new_session=True,
            )
        self._control = ours
        return ours

    def _stop(self) -> None:
        """Let go of a supervisor and wait for its end, which its end of file brings."""
        if self._control is not None:
            self._control.close()
            self._control = None
        if self._process is not None:
            try:
                self._process.wait(_CLOSE_SECONDS)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
            self._process = None

    def take(self) -> Lane:
        with self._lock:
            if self._process is not None and self._process.poll() is not None:
                # Its lanes are ending too, though some may not have noticed yet.
                self._discard_idle()
                self._stop()
            while self.idle:
                lane = self.idle.pop()
                if lane.is_alive():
                    return lane
                lane.discard()
        return Lane()

    def give_back(self, lane: Lane) -> None:
        with self._lock:
            if not lane.lost and len(self.idle) < MAX_IDLE_LANES:
                lane.used_at = time.monotonic()
                self.idle.append(lane)
                return
        lane.close()

    def distrust(self) -> None:
        """After a lane was lost: give up every idle lane, and the supervisor too if it is dying with them."""
        with self._lock:
            self._discard_idle()
            if self._process is not None:
                self._process.send_signal(signal.SIGCONT)  # a target that stops its lane may stop the supervisor too
                try:
                    self._process.wait(_DYING_SECONDS)
                except subprocess.TimeoutExpired:
                    return
                self._stop()

    def kill(self) -> None:
        """Kill a supervisor that makes no lanes any more; the next lane starts another one."""
        with self._lock:
            if self._process is not None:
                self._process.kill()

    def shut_down(self) -> None:
        with self._lock:
            self._discard_idle()
            self._stop()

    def _discard_idle(self) -> None:
        lanes, self.idle = self.idle, []
        for lane in lanes:
            lane.discard()

    def forget(self) -> None:
        """In a forked child: close the parent's ends and start from nothing."""
        for lane in list(self.lanes):
            lane.discard()
        if self._control is not None:
            self._control.close()
        if self._process is not None:
            self._process.returncode = 0  # the parent's child: nothing to wait for here
        self.__init__()


_supervisor = _Supervisor()
atexit.register(_supervisor.shut_down)
os.register_at_fork(after_in_child=_supervisor.forget)


@contextmanager
def borrowed(lane: Lane | None = None) -> Generator[Lane, None, None]:
    """`lane` itself, or one of the pool for as long as the block lasts."""
    if lane is not None:
        yield lane
        return
    taken = _supervisor.take()
    try:
        yield taken
    finally:
        if taken.lost:
            _supervisor.distrust()
        _supervisor.give_back(taken)
