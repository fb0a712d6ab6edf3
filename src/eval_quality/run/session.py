"""Acting on one arm: every call of a trial, a plan pass or a pre-flight goes through a session (spec 12 §12.18.2).

A session serves one workspace and the processes started for it. What a call can end in:

| Event | Class |
|---|---|
| an observation, whatever it says | behaviour |
| an elapsed or output cap | behaviour without observation: `subject-cap` |
| a value that cannot be recorded exactly | behaviour without observation: `evidence-unrepresentable` |
| a redirect the policy denies | behaviour without observation: `subject-redirect-denied` |
| a started subject that died or refuses connections | behaviour without observation: `subject-unavailable` |
| a subject that could not be started, an address that does not answer | infrastructure: `Void` |
| a program that does not exist, a denied call, exhausted run caps | the run stops |

If repeating could change what is learned about the subject or the evaluator, it is not repeated.
"""

import threading
import time
from collections.abc import Callable, Mapping
from typing import Final, Protocol, TypeAlias

from eval_quality.core.contract.operation import AnyOperation
from eval_quality.core.contract.plan import PlanIndex
from eval_quality.errors import RuntimeFault
from eval_quality.model.decode import to_value
from eval_quality.probe.signals import AbortSignal
from eval_quality.run.plan.call import Call, Expand, ProbeObservation, ProbeRequest, request_of
from eval_quality.run.plan.record import NoObservation
from eval_quality.value.canonical import canonicalize


class Void(Exception):
    """An attempt ended by infrastructure; it says nothing about the subject and may be repeated."""

    def __init__(self, code: str, detail: str) -> None:
        self.code = code
        self.detail = detail
        super().__init__(f"{code}: {detail}")


class CapReached(Exception):
    """A cap of the surrounding work (a qualification cycle, a pre-flight) was reached."""


class Unavailable(Exception):
    """A subject that was started and ready is gone or refuses connections."""


class RedirectDenied(Exception):
    """The subject redirected to a target the policy denies."""


OVERGROWN: Final = "the workspace grew beyond twice `subject.max_bytes`"


class Unit(Protocol):
    """One interface of a started arm."""

    def send(self, request: ProbeRequest, signal: AbortSignal) -> ProbeObservation:
        """Carry one request to the subject.

        Raises `RuntimeFault` as an adapter does, `Unavailable`, `RedirectDenied` or `Void`.
        """
        ...

    def overgrown(self) -> bool:
        """Whether the subject was ended because its workspace grew beyond the ceiling."""
        ...

    def close(self) -> None:
        """End everything that was started for this interface."""
        ...


class Meter:
    """Counts subject calls and time against caps; safe to share between threads.

    `outer` is charged as well: a run's meter stands behind every cycle's.
    """

    def __init__(
        self,
        max_calls: int,
        max_seconds: float,
        exceeded: Callable[[str], Exception],
        outer: "Meter | None" = None,
    ) -> None:
        self._left = max_calls
        self._deadline = time.monotonic() + max_seconds
        self._exceeded = exceeded
        self._outer = outer
        self._lock = threading.Lock()
        self.calls = 0

    def spend(self) -> None:
        """Charge one call. Raises what `exceeded` makes of the cap's name."""
        with self._lock:
            if self._left <= 0:
                raise self._exceeded("calls")
            if time.monotonic() > self._deadline:
                raise self._exceeded("time")
            self._left -= 1
            self.calls += 1
        # the narrower cap first: what it refuses was never spent on the wider one
        if self._outer is not None:
            self._outer.spend()


StdinForm: TypeAlias = Callable[[str, AnyOperation], str]
"""(interface id, operation) -> `auto`, `json` or `text`."""


class Session:
    """The started interfaces of one arm. Use as a context manager; leaving ends all processes.

    units: by interface id. stdin_form: of a logical executable (12.8.2). expand: gives a principal's value.
    """

    def __init__(
        self,
        units: Mapping[str, Unit],
        stdin_form: StdinForm,
        index: PlanIndex,
        expand: Expand,
        meter: Meter,
        signal: AbortSignal,
    ) -> None:
        self._units = units
        self._stdin_form = stdin_form
        self._index = index
        self._expand = expand
        self._meter = meter
        self._signal = signal
        self._correlation = 0

    def __enter__(self) -> "Session":
        return self

    def __exit__(self, *_: object) -> None:
        for unit in self._units.values():
            unit.close()

    def issue(self, call: Call) -> ProbeObservation | NoObservation:
        """Send one call of a plan step or an evaluator."""
        operation = self._index.operation(call.interface_id, call.operation_id)
        assert operation is not None
        self._correlation += 1
        try:
            form = self._stdin_form(call.interface_id, operation)
            request = request_of(call, operation, f"call-{self._correlation}", form, self._expand)
        except RuntimeFault as fault:
            return NoObservation("subject-unavailable", f"the call does not fit the interface: {fault.detail}")
        return self.send(request)

    def send(self, request: ProbeRequest) -> ProbeObservation | NoObservation:
        """Send one port request."""
        self._meter.spend()
        unit = self._units[request.interface_id]
        try:
            outcome = self._sent(unit, request)
        except Void:
            if not unit.overgrown():
                raise
            outcome = None
        if outcome is None or unit.overgrown():
            return NoObservation("subject-cap", OVERGROWN)
        return outcome

    def _sent(self, unit: Unit, request: ProbeRequest) -> ProbeObservation | NoObservation:
        try:
            observed = unit.send(request, self._signal)
            canonicalize(to_value(observed), "ProbeObservation")
        except Unavailable as error:
            return NoObservation("subject-unavailable", str(error))
        except RedirectDenied as error:
            return NoObservation("subject-redirect-denied", str(error))
        except RuntimeFault as fault:
            return self._classify(fault)
        return observed

    def _classify(self, fault: RuntimeFault) -> NoObservation:
        if fault.code == "budget-exhausted":
            return NoObservation("subject-cap", fault.detail)
        if fault.code in ("non-canonicalizable-value", "port-contract-violation"):
            return NoObservation("evidence-unrepresentable", fault.detail)
        if fault.code == "port-failure" and fault.reason == "launch-too-large":
            return NoObservation("subject-cap", fault.detail)
        if fault.code == "port-failure":
            raise Void("subject-launch-failed", fault.detail) from fault
        raise fault
