"""One process from launch to end: argv, closed environment, standard input, caps, one deadline (spec 07 §7.4).

`run_process` in order:

1. An aborted signal starts nothing.
2. Launch below a lane: own session, own group, exactly the given environment, no shell. The launch itself has an
   allowance of 30 s; `max_elapsed_ms` counts from the target's own start (§7.4.5).
3. Write standard input and close it; a target that does not read is no failure (§7.4.4).
4. The run is over when the target has ended *and* both streams are at their end (§7.4.5).
5. More than `max_output_bytes` on either stream, the elapsed cap or an abort kills the group and whatever left it.
   Where both caps fired, elapsed is reported. Streams still open after a kill are given up after `DRAIN_SECONDS`.
6. A target that ended on its own leaves what it started running; it ends with the lane's owner or with the host.

`Child` is the same machine for callers that talk to a running target: it turns descriptors into events and never
interprets them.
"""

import errno
import os
import select
import threading
import time
from collections.abc import Callable, Mapping
from typing import Final, Literal, NamedTuple

from eval_quality.probe.lanes import LAUNCH_ALLOWANCE_SECONDS, Lane, LaneLost, borrowed
from eval_quality.probe.signals import AbortError, AbortSignal

KILL_SECONDS: Final = 0.5
"""How long a lane may take to kill a target's processes before the host kills the lane."""
DRAIN_SECONDS: Final = 0.25
"""How long the end of the streams of a killed target is awaited; an escaped process may hold them (§7.4.8)."""
MAX_DELAY_MS: Final = 2_147_483_647
"""Longer delays are clamped to this (§7.4.5)."""
LAUNCH_POLL_SECONDS: Final = 0.02
"""How often a launch that takes longer than its own cap is looked at."""
UNKNOWN_EXIT: Final = -1
"""Exit code of a target whose end nobody could see (§7.4.5)."""
LOST_EXIT: Final = -9
"""Exit code of a command whose supervisor died during the run: its group was killed (§7.4.8)."""

_READ_BYTES: Final = 1 << 16
_READABLE: Final = select.POLLIN | select.POLLHUP | select.POLLERR
_WRITABLE: Final = select.POLLOUT | select.POLLHUP | select.POLLERR

Ended = Literal["exit", "elapsed", "stdout", "stderr", "lost"]


class Launch(NamedTuple):
    """What to start.

    argv: program and arguments; a bare program name is looked up in the `PATH` of `environment`.
    environment: the whole environment of the target.
    limits: `(resource.RLIMIT_..., soft, hard)`.
    descriptors: further `(number in the target, descriptor of ours)` pairs.
    """

    argv: tuple[str, ...]
    cwd: str
    environment: Mapping[str, str]
    limits: tuple[tuple[int, int, int], ...] = ()
    descriptors: tuple[tuple[int, int], ...] = ()


class Caps(NamedTuple):
    """`max_elapsed_ms` from the target's start; `max_output_bytes` for each of the two streams."""

    max_elapsed_ms: int
    max_output_bytes: int


class Completed(NamedTuple):
    """How a run ended.

    `ended` names the cap that fired, `exit` for none, `lost` for a dead supervisor. `exit_code` is the code, or the
    negated signal number. Output of a capped run is what had arrived; it is never more than one chunk over the cap.
    """

    ended: Ended
    exit_code: int
    stdout: bytes
    stderr: bytes
    elapsed_ms: float


class Event(NamedTuple):
    """Something that happened to a child.

    kind: `stdout` and `stderr` (data; empty at the end of the stream),
    `exited` (number = exit code), `killed` (the lane is done killing), `lost` (the supervisor is gone), `aborted`.
    """

    kind: Literal["stdout", "stderr", "exited", "killed", "lost", "aborted"]
    data: bytes = b""
    number: int = 0


def utf8(text: str) -> bytes:
    """UTF-8 for the operating system; a lone surrogate becomes U+FFFD as in every conforming encoder."""
    try:
        return text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode()


class Child:
    """A target below `lane`. Use as a context manager: leaving releases the lane and closes our pipe ends.

    Raises `OSError` with the system's number when the target could not be started, `LaneLost` when the lane died first.
    The caller kills before it leaves when the target must not go on.
    """

    def __init__(self, lane: Lane, launch: Launch, signal: AbortSignal | None = None) -> None:
        self._lane = lane
        self._seen = (0.0, 0)
        self.exit_code: int | None = None
        self._poller = select.poll()
        self._outgoing = memoryview(b"")
        self._closing = False
        self._feeding = False
        self._kill_sent = False
        self._lost = False
        self._readers: dict[int, Literal["stdout", "stderr"]] = {}
        self._writer = -1
        self._wake = -1
        self._wake_lock = threading.Lock()
        self._unlisten: Callable[[], None] | None = None
        theirs: list[int] = []
        try:
            reader, self._writer = os.pipe2(os.O_CLOEXEC)
            theirs.append(reader)
            reader, writer = os.pipe2(os.O_CLOEXEC)
            self._readers[reader] = "stdout"
            theirs.append(writer)
            reader, writer = os.pipe2(os.O_CLOEXEC)
            self._readers[reader] = "stderr"
            theirs.append(writer)
            self._start(lane, launch, theirs)
            if signal is not None:
                self._wake = os.eventfd(0, os.EFD_CLOEXEC | os.EFD_NONBLOCK)
                self._poller.register(self._wake, select.POLLIN)
                self._unlisten = signal.listen(self._on_abort)
        except BaseException:
            self._close_ends()
            raise
        finally:
            for descriptor in theirs:
                os.close(descriptor)

    def _start(self, lane: Lane, launch: Launch, standard: list[int]) -> None:
        message = {
            "argv": [utf8(argument) for argument in launch.argv],
            "cwd": utf8(launch.cwd if launch.cwd.startswith("/") else os.path.abspath(launch.cwd)),
            "environment": {utf8(key): utf8(value) for key, value in launch.environment.items()},
            "targets": [0, 1, 2, *(number for number, _ in launch.descriptors)],
            "limits": list(launch.limits),
        }
        lane.send("launch", message, descriptors=(*standard, *(ours for _, ours in launch.descriptors)))
        self._poller.register(lane.fileno(), select.POLLIN)
        for descriptor in self._readers:
            self._poller.register(descriptor, select.POLLIN)

    def _on_abort(self) -> None:
        # On the aborting thread, which may be late: the descriptor can be closed by now, or be somebody else's.
        with self._wake_lock:
            if self._wake >= 0:
                os.eventfd_write(self._wake, 1)

    # -- standard input --

    def write(self, data: bytes) -> None:
        """Queue bytes for standard input."""
        if self._writer < 0 or not data:
            return
        if not self._feeding:
            self._feeding = True
            os.set_blocking(self._writer, False)
        self._outgoing = memoryview(bytes(self._outgoing) + data)
        self._flush()

    def end_input(self) -> None:
        """Close standard input once everything queued was written."""
        self._closing = True
        if not self._outgoing:
            self._close_writer()

    def _flush(self) -> None:
        try:
            while self._outgoing:
                self._outgoing = self._outgoing[os.write(self._writer, self._outgoing) :]
        except BlockingIOError:
            self._poller.register(self._writer, select.POLLOUT)
            return
        except OSError:  # EPIPE: nobody reads, which is no failure
            self._outgoing = memoryview(b"")
            self._close_writer()
            return
        if self._closing:
            self._close_writer()
        else:
            self._unpoll(self._writer)

    def _close_writer(self) -> None:
        if self._writer >= 0:
            if self._feeding:
                self._unpoll(self._writer)
            os.close(self._writer)
            self._writer = -1

    def _unpoll(self, descriptor: int) -> None:
        try:
            self._poller.unregister(descriptor)
        except KeyError:
            return

    # -- events --

    @property
    def pid(self) -> int:
        """The target's process id; 0 until the lane told, which may be a moment after the target's first output."""
        return self._start_seen()[1]

    @property
    def started_at(self) -> float:
        """When the target started, on the monotonic clock; 0 until the lane told."""
        return self._start_seen()[0]

    def _start_seen(self) -> tuple[float, int]:
        # Kept once seen: the lane shows its next target's start in the same place.
        if not self._seen[1]:
            self._seen = self._lane.started()
        return self._seen

    @property
    def streams_open(self) -> bool:
        """Whether stdout or stderr may still bring something."""
        return bool(self._readers)

    def wait(self, seconds: float) -> list[Event]:
        """What happened within `seconds`; empty when nothing did."""
        events: list[Event] = []
        for descriptor, _ in self._poller.poll(max(0.0, seconds * 1000)):
            name = self._readers.get(descriptor)
            if name is not None:
                data = os.read(descriptor, _READ_BYTES)
                if not data:
                    self._close_reader(descriptor)
                events.append(Event(name, data))
            elif descriptor == self._writer:
                self._flush()
            elif descriptor == self._wake:
                self._unpoll(descriptor)
                events.append(Event("aborted"))
            else:
                self._hear(events)
        return events

    def _hear(self, events: list[Event]) -> None:
        try:
            messages = self._lane.receive()
        except LaneLost as error:
            self._unpoll(self._lane.fileno())
            if self.pid == 0:
                raise LaneLost("the watchdog was lost before it told that the target had started") from error
            self._lost = True
            self._kill_group()
            events.append(Event("lost"))
            return
        for message in messages:
            kind = message[0]
            if kind == "failed":
                raise OSError(message[1], os.strerror(message[1]))
            if kind == "exited":
                self.exit_code = message[1]
                events.append(Event("exited", number=message[1]))
            else:
                events.append(Event(kind))

    def _close_reader(self, descriptor: int) -> None:
        self._poller.unregister(descriptor)
        del self._readers[descriptor]
        os.close(descriptor)

    # -- ending --

    def signal(self, number: int) -> None:
        """Send a signal to the target's group."""
        try:
            self._lane.send("signal", int(number))
        except LaneLost:
            return

    def kill(self) -> None:
        """Ask the lane to kill the group and whatever left it; a `killed` or `lost` event follows."""
        if not self._kill_sent:
            self._kill_sent = True
            try:
                self._lane.send("kill")
            except LaneLost:
                self._kill_group()

    def _kill_group(self) -> None:
        # The lane is dead and nothing else collects its zombie but the supervisor: a matter of microseconds.
        if self.pid:
            try:
                os.killpg(self.pid, 9)
            except OSError:
                return

    def kill_and_drain(self) -> None:
        """Kill, then wait until the lane is done and both streams ended or were given up."""
        self.kill()
        deadline = time.monotonic() + KILL_SECONDS
        done = self._lost
        while not (done and not self._readers) and (left := deadline - time.monotonic()) > 0:
            try:
                events = self.wait(left)
            except (OSError, LaneLost):  # it never started: there is nothing to kill
                return
            for event in events:
                if event.kind in ("killed", "lost") and not done:
                    done = True
                    deadline = min(deadline, time.monotonic() + DRAIN_SECONDS)
        if not done:
            # The target may have stopped its lane: kill both from here, and leave the rest to the supervisor.
            self._kill_group()
            self._lane.condemn()

    def give_up(self) -> None:
        """End a lane whose launch never happened."""
        self._lane.condemn()

    def __enter__(self) -> "Child":
        return self

    def __exit__(self, *_: object) -> None:
        if self._unlisten is not None:
            self._unlisten()
        self._close_ends()
        try:
            self._lane.send("release")
        except LaneLost:
            return

    def _close_ends(self) -> None:
        with self._wake_lock:
            for descriptor in (self._writer, self._wake, *self._readers):
                if descriptor >= 0:
                    os.close(descriptor)
            self._readers = {}
            self._writer = self._wake = -1


def run_process(
    launch: Launch, stdin: bytes, caps: Caps, signal: AbortSignal | None = None, lane: Lane | None = None
) -> Completed:
    """Run one process to its end (module docstring).

    Errors: `OSError` when it could not be started (`E2BIG`, `ENOENT`, `EACCES`, ...), `LaneLost` when the supervisor
    died before the start, `TimeoutError` when the launch never happened, `AbortError` when the signal was aborted.
    """
    # 1. Aborted before the start.
    if signal is not None and signal.aborted:
        raise AbortError(signal)
    # 2. Launch.
    with borrowed(lane) as slot, Child(slot, launch, signal) as child:
        # 3. Standard input.
        try:
            child.write(stdin)
            child.end_input()
            return _follow(child, caps, signal)
        except BaseException:  # an interrupt of the host must not leave the target running
            child.kill_and_drain()
            raise


def _follow(child: Child, caps: Caps, signal: AbortSignal | None) -> Completed:
    streams = {"stdout": bytearray(), "stderr": bytearray()}
    ended: Ended = "exit"
    now = time.monotonic()
    allowance = now + LAUNCH_ALLOWANCE_SECONDS
    elapsed_cap = min(caps.max_elapsed_ms, MAX_DELAY_MS) / 1000
    deadline = now + elapsed_cap
    # 4. Until the target ended and both streams closed, or 5. a cap or an abort.
    while child.exit_code is None or child.streams_open:
        now = time.monotonic()
        if now >= deadline:
            # The cap counts from the target's own start, which is later than the launch was asked for.
            started = child.started_at
            deadline = started + elapsed_cap if started else min(allowance, now + LAUNCH_POLL_SECONDS)
            if not started and now >= allowance:
                child.give_up()
                raise TimeoutError(errno.ETIMEDOUT, "the launch did not happen")
            if now >= deadline:
                child.kill_and_drain()
                ended = "elapsed"
                break
        over: Ended | None = None
        for event in child.wait(deadline - now):
            if event.kind == "stdout" or event.kind == "stderr":
                output = streams[event.kind]
                output += event.data
                if len(output) > caps.max_output_bytes:
                    over = over or event.kind
            elif event.kind == "aborted" and signal is not None:
                raise AbortError(signal)
            elif event.kind == "lost":
                ended = "lost"
        if ended == "lost":
            child.kill_and_drain()
            break
        if over is not None:
            child.kill_and_drain()
            ended = "elapsed" if time.monotonic() >= deadline else over
            break
    elapsed = (time.monotonic() - child.started_at) * 1000
    code = child.exit_code if child.exit_code is not None else LOST_EXIT if ended == "lost" else UNKNOWN_EXIT
    return Completed(ended, code, bytes(streams["stdout"]), bytes(streams["stderr"]), elapsed)
