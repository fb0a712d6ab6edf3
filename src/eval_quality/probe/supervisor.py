"""The supervising process (spec 07 §7.4.8, 13 §13.9.6). Run as a script by a bare interpreter; imports no project code.

The machine:

    host ──control socket──> supervisor ──forks──> lane ──spawns──> target (leader of its own session and group)
      └────────────lane socket─────────────────────┘

1. Supervisor and lanes are child subreapers: whatever a target starts stays below its lane, whether or not it leaves
   the group or the session.
2. A lane runs one target after another, never two at once. A launch arrives over its socket with the target's
   descriptors, so no argument or environment value of a target shows on another command line.
3. The leader stays a zombie until the host releases the run: its process id cannot be reused while a kill is possible.
4. `kill` kills the group and everything that this target left below the lane, again and again until nothing lives.
   Processes that an earlier target of the lane left running are spared; `close` spares nothing.
5. End of file on the host's socket, or the death of the supervisor, makes a lane kill everything below it and leave.
6. The supervisor kills the orphans of a lane that died, and at its own end of file everything below itself.

Deliberately not done: nothing is interpreted here. Which launch is permitted, how long it may take and how much it may
print is the host's decision.
"""

import ctypes
import errno
import marshal
import mmap
import os
import select
import signal
import socket
import struct
import sys
import time
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from eval_quality.probe.process_tree import below, reap, settled, signal_group, sweep
else:
    # Run as a script in isolated mode, where not even the script's own folder is importable.
    sys.path.append(os.path.dirname(os.path.abspath(__file__)))
    from process_tree import below, reap, settled, signal_group, sweep

MAX_DESCRIPTORS = 64
"""Most descriptors one launch may carry."""

PAGE = struct.Struct("@dqq")
"""What a lane shares with its host in memory: when the target started (monotonic clock), its process id, the lane's."""

_HEADER = struct.Struct("=I")
DEFAULTED = (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGPIPE, signal.SIGXFSZ)
"""Signals that a target never inherits as ignored, as `nohup`, a shell's `&` or this interpreter leave them."""

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_KEYCTL = {"x86_64": 250, "aarch64": 219}
"""The system call's number, by machine."""
_KEYCTL_JOIN_SESSION_KEYRING = 1
_RECEIVE_BYTES = 1 << 18

_libc = ctypes.CDLL(None, use_errno=True)


class HostGone(Exception):
    """The other end of a socket was closed."""


class Channel:
    """Messages over a stream socket: a length, then marshalled data. Both ends run the same interpreter."""

    def __init__(self, sock: socket.socket) -> None:
        self.sock = sock
        self.descriptors: list[int] = []
        self._buffer = b""

    def send(self, *message: Any) -> None:
        body = marshal.dumps(message)
        try:
            self.sock.sendall(_HEADER.pack(len(body)) + body)
        except OSError as error:
            raise HostGone from error

    def receive(self) -> list[tuple[Any, ...]]:
        """Read once; every message that is complete by now. Descriptors queue up in `descriptors`."""
        try:
            data, ancillary, _, _ = self.sock.recvmsg(
                _RECEIVE_BYTES, socket.CMSG_SPACE(MAX_DESCRIPTORS * 4), socket.MSG_CMSG_CLOEXEC
            )
        except OSError as error:
            raise HostGone from error
        if not data:
            raise HostGone
        for level, kind, payload in ancillary:
            if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
                self.descriptors.extend(fd for (fd,) in struct.iter_unpack("=i", payload[: len(payload) & ~3]))
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


def _become_subreaper() -> None:
    _libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def _leave_keyring() -> None:
    """Give up the host's session keyring, which every child would inherit and could read."""
    number = _KEYCTL.get(os.uname().machine)
    if number is not None:
        _libc.syscall(number, _KEYCTL_JOIN_SESSION_KEYRING, None)


def _wake_on_child() -> int:
    """A descriptor that becomes readable when a child changes state."""
    reader, writer = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
    signal.signal(signal.SIGCHLD, lambda number, frame: None)
    signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    return reader


def _drain(descriptor: int) -> None:
    # Whatever one read leaves makes the descriptor readable again.
    os.read(descriptor, 4096)


# --- launching -------------------------------------------------------------------------------------------------------


def _candidates(program: bytes, path: bytes | None) -> list[bytes]:
    if b"/" in program:
        return [program]
    return [(folder or b".") + b"/" + program for folder in (path or b"/usr/local/bin:/usr/bin:/bin").split(b":")]


def _spawn(launch: dict[str, Any], descriptors: list[int]) -> int:
    """Start the target; its process id. Tries the folders of the target's own PATH for a bare name, as execvp does."""
    argv, environment, targets = launch["argv"], launch["environment"], launch["targets"]
    os.chdir(launch["cwd"])
    denied: OSError | None = None
    for candidate in _candidates(argv[0], environment.get(b"PATH")):
        try:
            if launch["limits"]:
                return _fork_limited(candidate, argv, environment, descriptors, targets, launch["limits"])
            return os.posix_spawn(
                candidate,
                argv,
                environment,
                file_actions=[(os.POSIX_SPAWN_DUP2, fd, to) for fd, to in zip(descriptors, targets, strict=True)],
                setsid=True,
                setsigmask=(),
                setsigdef=DEFAULTED,
            )
        except (FileNotFoundError, NotADirectoryError):
            continue
        except PermissionError as error:
            denied = error
    raise denied or FileNotFoundError(errno.ENOENT, "no such file")


def _fork_limited(
    path: bytes,
    argv: list[bytes],
    environment: dict[bytes, bytes],
    descriptors: list[int],
    targets: list[int],
    limits: list[tuple[int, int, int]],
) -> int:
    """The same with resource limits, which `posix_spawn` cannot set: fork, limit, exec; an error comes over a pipe."""
    import resource

    reader, writer = os.pipe2(os.O_CLOEXEC)
    pid = os.fork()
    if pid == 0:
        try:
            signal.set_wakeup_fd(-1)
            os.setsid()
            _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
            for number in (*DEFAULTED, signal.SIGCHLD):
                signal.signal(number, signal.SIG_DFL)
            for fd, to in zip(descriptors, targets, strict=True):
                os.dup2(fd, to, inheritable=True)
            for kind, soft, hard in limits:
                resource.setrlimit(kind, (soft, hard))
            os.execve(path, argv, environment)
        except OSError as error:
            os.write(writer, struct.pack("=i", error.errno or errno.EINVAL))
        except ValueError:
            os.write(writer, struct.pack("=i", errno.EINVAL))
        finally:
            os._exit(127)
    os.close(writer)
    with open(reader, "rb") as report:
        failure = report.read()
    if failure:
        os.waitpid(pid, 0)
        (number,) = struct.unpack("=i", failure)
        raise OSError(number, os.strerror(number))
    return pid


# --- the lane --------------------------------------------------------------------------------------------------------


class _Lane:
    """One lane's state: the target it runs, if any, and what earlier targets left behind."""

    def __init__(self, channel: Channel, page: mmap.mmap) -> None:
        self.channel = channel
        self.page = page
        self.leader = 0
        self.ended = False
        self.left_behind: set[int] = set()

    def handle(self, message: tuple[Any, ...]) -> None:
        kind = message[0]
        if kind == "launch":
            self._launch(message[1])
        elif kind == "kill":
            sweep(self.leader, self.left_behind)
            self.notice()
            self.channel.send("killed")
        elif kind == "signal" and self.leader:
            signal_group(self.leader, message[1])
        elif kind == "release":
            self._release()
        elif kind == "close":
            self._release()
            self.channel.send("closed", sweep(0, ()))
            os._exit(0)

    def _launch(self, launch: dict[str, Any]) -> None:
        count = len(launch["targets"])
        descriptors, self.channel.descriptors = self.channel.descriptors[:count], self.channel.descriptors[count:]
        # A source below the highest target number could be overwritten before it is used: move such sources up.
        top = max(launch["targets"], default=0) + 1
        safe = [fd if fd >= top else _move_up(fd, top) for fd in descriptors]
        try:
            pid = _spawn(launch, safe)
        except OSError as error:
            self.channel.send("failed", error.errno or errno.EINVAL)
        except ValueError:
            self.channel.send("failed", errno.EINVAL)
        else:
            self.leader, self.ended = pid, False
            # The host reads this when it needs it: waking it for every start would cost more than the start.
            PAGE.pack_into(self.page, 0, time.monotonic(), pid, os.getpid())
        for fd in safe:
            os.close(fd)
        os.chdir("/")

    def notice(self) -> None:
        """Report the end of the target once, without collecting it; collect other dead children."""
        if self.leader and not self.ended:
            state = os.waitid(os.P_PID, self.leader, os.WEXITED | os.WNOHANG | os.WNOWAIT)
            if state is None:
                reap(self.leader)
                return
            self.ended = True
            status = state.si_status if state.si_code == os.CLD_EXITED else -state.si_status
            self.channel.send("exited", status)

    def _release(self) -> None:
        if self.leader:
            if self.ended:
                os.waitpid(self.leader, 0)
            self.leader = 0
        self.left_behind.clear()
        if not settled():
            self.left_behind.update(process.pid for process in below(os.getpid(), ()))


def _move_up(fd: int, lowest: int) -> int:
    import fcntl

    moved = fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, lowest)
    os.close(fd)
    return moved


def _run_lane(sock: socket.socket, page: int, alive: int) -> NoReturn:
    try:
        _become_subreaper()
        wake = _wake_on_child()
        lane = _Lane(Channel(sock), mmap.mmap(page, PAGE.size))
        os.close(page)
        PAGE.pack_into(lane.page, 0, 0.0, 0, os.getpid())
        poller = select.poll()
        for descriptor in (sock.fileno(), alive, wake):
            poller.register(descriptor, select.POLLIN)
        while True:
            ready = {descriptor for descriptor, _ in poller.poll()}
            if alive in ready:
                break
            if wake in ready:
                _drain(wake)
                lane.notice()
            if sock.fileno() in ready:
                for message in lane.channel.receive():
                    lane.handle(message)
    except HostGone:
        pass
    finally:
        sweep(0, ())
        os._exit(0)


# --- the supervisor --------------------------------------------------------------------------------------------------


def _bury(lanes: set[int]) -> None:
    """Collect dead children; a lane that did not end by itself condemns whatever it left to this process."""
    lane_died = False
    try:
        while True:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if not pid:
                break
            # One that left with 0 has looked: nothing was below it any more.
            lane_died = lane_died or (pid in lanes and status != 0)
            lanes.discard(pid)
    except ChildProcessError:
        pass
    if lane_died:
        sweep(0, lanes)


def main(descriptor: int) -> NoReturn:
    """Serve the host on an inherited socket until it goes away."""
    control = socket.socket(fileno=descriptor)
    control.set_inheritable(False)
    _become_subreaper()
    _leave_keyring()
    wake = _wake_on_child()
    alive, only_here = os.pipe2(os.O_CLOEXEC)
    channel = Channel(control)
    lanes: set[int] = set()
    poller = select.poll()
    poller.register(control, select.POLLIN)
    poller.register(wake, select.POLLIN)
    try:
        while True:
            ready = {fd for fd, _ in poller.poll()}
            if wake in ready:
                _drain(wake)
                _bury(lanes)
            if control.fileno() in ready:
                for _ in channel.receive():
                    lane_socket = socket.socket(fileno=channel.descriptors.pop(0))
                    page = channel.descriptors.pop(0)
                    pid = os.fork()
                    if pid == 0:
                        control.close()
                        os.close(only_here)
                        os.close(wake)
                        _run_lane(lane_socket, page, alive)
                    lanes.add(pid)
                    lane_socket.close()
                    os.close(page)
    except HostGone:
        pass
    finally:
        sweep(0, ())
        os._exit(0)


if __name__ == "__main__":
    main(int(sys.argv[1]))
