"""A Python callable as a subject: a worker process of its own per trial (spec 12 §12.8.5).

It never runs inside the runner: two arms are two versions of one module name. A worker that dies is an observation only
for `mcp` (an ended session); for the other kinds the call has none.
"""

import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from eval_quality.core.contract.operation import AnyInterface
from eval_quality.errors import RuntimeFault
from eval_quality.model.decode import to_value
from eval_quality.model.ports import ProbeObservation, ProbeRequest
from eval_quality.probe.lanes import LaneLost
from eval_quality.probe.ports import PROBE
from eval_quality.probe.process import Child, Launch
from eval_quality.probe.seam import run_port_method
from eval_quality.probe.signals import AbortError, AbortSignal
from eval_quality.run.driver.setting import Setting
from eval_quality.run.errors import RunFault
from eval_quality.run.experiment.document import Interface, size_in_bytes
from eval_quality.run.mutation import Launch as LaunchSpec
from eval_quality.run.session import Unavailable, Void
from eval_quality.value.canonical import canonicalize
from eval_quality.value.kind import is_object
from eval_quality.value.scan import scan

WORKER: Final = str(Path(__file__).with_name("worker.py"))
DEFAULT_ELAPSED_MS: Final = 60_000
START_SECONDS: Final = 30.0
"""Most time an interpreter and its imports may take before the first request."""
CAP_PATH: Final = "PythonProbeRequest"
WORKER_GONE: Final = "the worker has ended"


class CallableUnit:
    """One interface served by a Python worker."""

    def __init__(self, interface: AnyInterface, binding: Interface, launch: LaunchSpec, setting: Setting) -> None:
        self._kind = interface.kind
        self._setting = setting
        self._milliseconds = binding.max_elapsed_ms or DEFAULT_ELAPSED_MS
        self._cap = size_in_bytes(binding.max_output_bytes)
        self._buffer = bytearray()
        self._over = False
        self._lane = setting.sandbox.lane(setting.workspace)
        self._child: Child | None = None
        try:
            self._start(binding, launch)
        except BaseException:
            self.close()
            raise

    def _start(self, binding: Interface, launch: LaunchSpec) -> None:
        setting = self._setting
        interpreter = binding.interpreter or sys.executable
        paths = [setting.folder(path, seen=True) for path in binding.path]
        argv = (interpreter, "-I", setting.sandbox.program(WORKER), launch.argv[0], *paths)
        cwd = setting.folder(binding.cwd, seen=True)
        try:
            self._child = Child(self._lane, Launch(argv, cwd, setting.variables(dict(launch.environment))))
            answer = self._receive(self._child, time.monotonic() + START_SECONDS, None)
        except (FileNotFoundError, PermissionError) as error:
            detail = f"{interpreter} cannot be started: {error.strerror}"
            raise RunFault.of("launch-target-missing", f"Experiment.interface.{launch.interface_id}", detail) from error
        except (OSError, LaneLost, RuntimeFault) as error:
            raise Void("subject-launch-failed", str(error)) from error
        setting.sandbox.check(self._lane)
        if answer is None or "fault" in answer:
            raise Void("subject-launch-failed", WORKER_GONE if answer is None else str(answer["fault"]))

    def send(self, request: ProbeRequest, signal: AbortSignal) -> ProbeObservation:
        """Call the callable once, under the same seam as every adapter."""
        try:
            return run_port_method(
                PROBE, request, signal, lambda parsed: self._call(parsed, signal), _assemble, honours_abort=True
            )
        except RuntimeFault as fault:
            if fault.code == "port-failure":
                raise Unavailable(fault.detail) from fault
            raise

    def _call(self, request: ProbeRequest, signal: AbortSignal) -> Mapping[str, Any]:
        child = self._child
        if self._over or child is None:
            raise RuntimeFault("port-failure", "ProbeObservation", WORKER_GONE)
        child.write(canonicalize({"request": to_value(request)}, "ProbeRequest") + b"\n")
        answer = self._receive(child, time.monotonic() + self._milliseconds / 1000, signal)
        if answer is None:
            self._over = True
            if self._kind == "mcp":
                return {"isError": True, "result": {"kind": "absent"}}
            raise RuntimeFault("port-failure", "ProbeObservation", WORKER_GONE)
        if "fault" in answer:
            raise RuntimeFault("port-failure", "ProbeObservation", str(answer["fault"]))
        return answer["observation"]

    def _receive(self, child: Child, deadline: float, signal: AbortSignal | None) -> dict[str, Any] | None:
        """One answer, or None when the worker ended."""
        while (end := self._buffer.find(b"\n")) < 0:
            if signal is not None and signal.aborted:
                raise AbortError(signal)
            left = deadline - time.monotonic()
            if left <= 0:
                self._over = True
                raise RuntimeFault("budget-exhausted", CAP_PATH, f"maxElapsedMs: more than {self._milliseconds} ms")
            for event in child.wait(min(left, 0.2)):
                if event.kind == "lost" or (event.kind == "stdout" and not event.data):
                    return None
                if event.kind == "stdout":
                    self._buffer += event.data
            if len(self._buffer) > self._cap:
                self._over = True
                raise RuntimeFault("budget-exhausted", CAP_PATH, f"maxOutputBytes: more than {self._cap} bytes")
        line = bytes(self._buffer[:end])
        del self._buffer[: end + 1]
        value = scan(line, "ProbeObservation")
        return value if is_object(value) else {"fault": "the worker answered with something else"}

    def overgrown(self) -> bool:
        """Whether the workspace grew beyond its ceiling."""
        return self._setting.sandbox.overgrown(self._lane)

    def close(self) -> None:
        """End the worker and whatever it started."""
        if self._child is not None:
            child, self._child = self._child, None
            with child:
                child.kill_and_drain()
        self._lane.close()


def _assemble(request: ProbeRequest, result: Mapping[str, Any]) -> Any:
    return {
        "probeId": request.probe_id,
        "interfaceId": request.interface_id,
        "operationId": request.operation_id,
        "kind": request.kind,
        **result,
    }
