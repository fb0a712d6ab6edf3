"""An HTTP subject: a service started for the trial, or one that already runs (spec 12 §12.8.4).

A started service is ready when its probe says so; readiness polling makes no observation and counts no call. One that
exits first, or never becomes ready, is a launch failure. A confined service listens on the constant port 8080 of its
own network namespace and is reached through an ingress, so no two arms fight for a port and no reply differs by one.
"""

import http.client
import re
import signal as signals
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from typing import Any, Final
from urllib.parse import urlsplit

from eval_quality.core.contract.operation import AnyInterface
from eval_quality.errors import RuntimeFault
from eval_quality.model.interface import Operation
from eval_quality.model.ports import ProbeObservation, ProbeRequest
from eval_quality.model.target import ProbeTargetPolicy, parse_probe_target_policy
from eval_quality.probe.api import REDIRECT_DENIED, ApiAdapter, ApiTarget
from eval_quality.probe.http_exchange import Endpoint
from eval_quality.probe.lanes import Lane, LaneLost
from eval_quality.probe.process import Child, Launch
from eval_quality.probe.signals import AbortController, AbortSignal
from eval_quality.run.confine.ingress import Ingress
from eval_quality.run.confine.lane import ConfinedLane
from eval_quality.run.driver.setting import Setting
from eval_quality.run.errors import RunFault
from eval_quality.run.experiment.document import Interface, Ready, Start, size_in_bytes
from eval_quality.run.mutation import Launch as LaunchSpec
from eval_quality.run.session import RedirectDenied, Unavailable, Void

DEFAULT_ELAPSED_MS: Final = 30_000
INSIDE_PORT: Final = 8080
"""The port of a confined service."""
MAX_LINE_BYTES: Final = 65_536
"""Longest output line that a readiness pattern is tried on."""
SAFE_METHODS: Final = ("GET", "HEAD", "OPTIONS")
POLL_SECONDS: Final = 0.1
BEGIN_SECONDS: Final = 0.002
"""How often a launch is looked at until it runs."""
KEPT_SECONDS: Final = 0.1
"""How long a connection must stay open to count as taken."""


def service_policy(
    interface: AnyInterface, binding: Interface, scheme: str, host: str, port: int, addresses: list[str]
) -> ProbeTargetPolicy:
    """The derived policy: the contract's methods, the binding's address and caps."""
    methods = list(dict.fromkeys(op.method for op in interface.operations if isinstance(op, Operation)))
    safe = binding.safe_methods if binding.safe_methods is not None else SAFE_METHODS
    entry: dict[str, Any] = {
        "interfaceId": interface.logical_id,
        "scheme": scheme,
        "host": host,
        "port": port,
        "addresses": addresses,
        "methods": methods,
        "safeMethods": [method for method in safe if method in methods],
        "maxRedirects": binding.max_redirects,
        "maxElapsedMs": binding.max_elapsed_ms or DEFAULT_ELAPSED_MS,
        "maxRequestBytes": size_in_bytes(binding.max_request_bytes),
        "maxResponseBytes": size_in_bytes(binding.max_output_bytes),
    }
    return parse_probe_target_policy({"authorizations": [entry]})


class AddressUnit:
    """A service that already runs; nothing is started and nothing can be changed about it."""

    def __init__(self, interface: AnyInterface, binding: Interface, setting: Setting) -> None:
        address = binding.address
        assert address is not None
        parts = urlsplit(address.url)
        port = parts.port or (443 if parts.scheme == "https" else 80)
        policy = service_policy(interface, binding, parts.scheme, parts.hostname or "", port, list(address.addresses))
        self._setting = setting
        self._adapter = ApiAdapter(policy, targets=_target(interface, binding, address.url, setting))

    def send(self, request: ProbeRequest, signal: AbortSignal) -> ProbeObservation:
        """Send one request; a refused connection is tried again, since nothing was asked yet."""
        attempt = 0
        while True:
            try:
                return self._adapter.probe(request, signal)
            except RuntimeFault as fault:
                if fault.code != "port-failure":
                    raise _sorted_out(fault) from fault
                refused = isinstance(fault.cause, ConnectionRefusedError)
                if not refused or attempt >= self._setting.retry.connect:
                    raise Void("address-unreachable", fault.detail) from fault
            attempt += 1
            self._setting.pause(attempt)

    def overgrown(self) -> bool:
        """Nothing of it runs here."""
        return False

    def close(self) -> None:
        """Nothing was started."""


def _target(interface: AnyInterface, binding: Interface, url: str, setting: Setting) -> dict[str, ApiTarget]:
    headers = {name: setting.expand(value) for name, value in binding.headers.items()}
    return {interface.logical_id: ApiTarget(url.rstrip("/") + binding.base_path.rstrip("/"), headers)}


def _sorted_out(fault: RuntimeFault) -> Exception:
    if fault.code == "forbidden-target" and fault.detail.startswith(REDIRECT_DENIED):
        return RedirectDenied(fault.detail)
    return fault


class ServiceUnit:
    """A service started in one workspace, for one trial."""

    def __init__(self, interface: AnyInterface, binding: Interface, launch: LaunchSpec, setting: Setting) -> None:
        assert binding.start is not None
        self._stack = ExitStack()
        self._setting = setting
        try:
            self._process, port, reach = self._started(binding.start, binding, launch)
            policy = service_policy(interface, binding, "http", "127.0.0.1", port, ["127.0.0.1"])
            targets = _target(interface, binding, f"http://127.0.0.1:{port}", setting)

            def resolver(_host: str, _port: int) -> Iterator[Endpoint]:
                yield Endpoint("127.0.0.1", int(socket.AF_INET), reach)

            self._adapter = ApiAdapter(policy, targets=targets, resolver=resolver)
        except BaseException:
            self._stack.close()
            raise

    def _started(self, start: Start, binding: Interface, launch: LaunchSpec) -> tuple["_Process", int, tuple[str, int]]:
        attempt = 0
        while True:
            try:
                return self._start(start, binding, launch)
            except Void:
                self._stack.close()
                if attempt >= self._setting.retry.launch:
                    raise
            attempt += 1
            self._setting.pause(attempt)

    def _start(self, start: Start, binding: Interface, launch: LaunchSpec) -> tuple["_Process", int, tuple[str, int]]:
        setting = self._setting
        lane = setting.sandbox.lane(setting.workspace)
        self._stack.callback(lane.close)
        port = INSIDE_PORT if setting.sandbox.confined else _free_port() if start.port == "auto" else start.port
        environment = setting.variables({**dict(launch.environment), start.port_env: str(port)}, port)
        argv = tuple(setting.expand(text, port) for text in launch.argv)
        process = _Process(lane, Launch(argv, setting.folder(binding.cwd, seen=True), environment), start)
        self._stack.callback(process.stop)
        setting.sandbox.check(lane)
        reach = ("127.0.0.1", port)
        if isinstance(lane, ConfinedLane):
            inside = lane.sandbox_pid()
            if inside is None:
                raise Void("subject-launch-failed", "the service's sandbox never came to life")
            ingress = self._stack.enter_context(Ingress(inside, port))
            reach = _host_and_port(ingress.address)
        process.wait_ready(start.ready, reach)
        return process, port, reach

    def send(self, request: ProbeRequest, signal: AbortSignal) -> ProbeObservation:
        """Send one request to the started service."""
        if self._process.exited:
            raise Unavailable("the service has ended")
        try:
            return self._adapter.probe(request, signal)
        except RuntimeFault as fault:
            if fault.code == "port-failure":
                raise Unavailable(fault.detail) from fault
            raise _sorted_out(fault) from fault

    def overgrown(self) -> bool:
        """Whether the workspace grew beyond its ceiling."""
        return self._setting.sandbox.overgrown(self._process.lane)

    def close(self) -> None:
        """Stop the service, its ingress and whatever it started."""
        self._stack.close()


def _accepts(reach: tuple[str, int], direct: bool) -> bool:
    """Whether the service takes a connection; an ingress accepts before it does, so behind one it must also be kept."""
    with suppress(OSError), socket.create_connection(reach, timeout=1) as connection:
        if direct:
            return True
        connection.settimeout(KEPT_SECONDS)
        try:
            return connection.recv(1) != b""
        except TimeoutError:
            return True
    return False


def _host_and_port(address: str) -> tuple[str, int]:
    host, _, port = address.rpartition(":")
    return host, int(port)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class _Process:
    """The service's process: one thread reads its output, watches its end and stops it when told."""

    def __init__(self, lane: Lane, launch: Launch, start: Start) -> None:
        self.lane = lane
        self._pattern = re.compile(start.ready.pattern) if start.ready.pattern else None
        self._stop_seconds = start.stop_ms / 1000
        self._lines = {"stdout": bytearray(), "stderr": bytearray()}
        self._tail = bytearray()
        self.said_ready = threading.Event()
        self.exited = False
        self._stopping = AbortController()
        try:
            self._child = Child(lane, launch, self._stopping.signal)
            self._begun()
        except FileNotFoundError as error:
            detail = f"{launch.argv[0]} was not found"
            raise RunFault.of("launch-target-missing", "Experiment.interface", detail) from error
        except PermissionError as error:
            detail = f"{launch.argv[0]} may not be executed"
            raise RunFault.of("launch-target-missing", "Experiment.interface", detail) from error
        except (OSError, LaneLost) as error:
            raise Void("subject-launch-failed", str(error)) from error
        self._thread = threading.Thread(target=self._watch, name="eval-quality service", daemon=True)
        self._thread.start()

    def _begun(self) -> None:
        """Wait until the process runs, so that its launch failure is reported as one."""
        deadline = time.monotonic() + 30
        while not self._child.pid and time.monotonic() < deadline:
            # a start is no event: it shows in memory that the lane shares
            for event in self._child.wait(BEGIN_SECONDS):
                self._hear(event.kind, event.data)

    def _watch(self) -> None:
        with self._child as child:
            child.end_input()
            stop_at = 0.0
            while not (self.exited and not child.streams_open):
                for event in child.wait(POLL_SECONDS):
                    self._hear(event.kind, event.data)
                if self._stopping.signal.aborted:
                    now = time.monotonic()
                    if not stop_at:
                        stop_at = now + self._stop_seconds
                        child.signal(int(signals.SIGTERM))
                    if self.exited or now >= stop_at:
                        child.kill_and_drain()
                        break
            self.exited = True

    def _hear(self, kind: str, data: bytes) -> None:
        if kind in ("exited", "lost"):
            self.exited = True
        if kind not in self._lines:
            return
        self._tail = (self._tail + data)[-2000:]
        if self._pattern is None or self.said_ready.is_set():
            return
        line = self._lines[kind]
        line += data
        while (end := line.find(b"\n")) >= 0 or len(line) > MAX_LINE_BYTES:
            text = bytes(line[:MAX_LINE_BYTES] if end < 0 else line[:end]).decode("utf-8", "replace")
            del line[: len(line) if end < 0 else end + 1]
            if self._pattern.search(text):
                self.said_ready.set()

    def wait_ready(self, ready: Ready, reach: tuple[str, int]) -> None:
        """Poll until the service is ready. Raises `Void` when it is not in time or has ended."""
        deadline = time.monotonic() + ready.timeout_ms / 1000
        while not self._is_ready(ready, reach):
            if self.exited:
                raise Void("subject-launch-failed", f"the service ended before it was ready: {self._said()}")
            if time.monotonic() >= deadline:
                detail = f"the service was not ready within {ready.timeout_ms} ms: {self._said()}"
                raise Void("subject-launch-failed", detail)
            time.sleep(ready.interval_ms / 1000)

    def _said(self) -> str:
        return self._tail.decode("utf-8", "replace").strip()[-500:] or "it printed nothing"

    def _is_ready(self, ready: Ready, reach: tuple[str, int]) -> bool:
        if ready.kind == "line":
            return self.said_ready.is_set()
        if ready.kind == "tcp":
            return _accepts(reach, not isinstance(self.lane, ConfinedLane))
        connection = http.client.HTTPConnection(*reach, timeout=1)
        try:
            connection.request("GET", ready.path)
            status = connection.getresponse().status
        except (OSError, http.client.HTTPException):
            return False
        finally:
            connection.close()
        return status in ready.status if ready.status else status < 500

    def stop(self) -> None:
        """End the process: SIGTERM to its group, then SIGKILL."""
        self._stopping.abort()
        self._thread.join()
