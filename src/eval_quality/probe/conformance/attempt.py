"""One call of one fresh instance, observed from outside (spec 07 §7.7).

An attempt never raises: whatever goes wrong is a fact that the assertions look at. A call that outlives its limit is
left behind on its own thread.
"""

import threading
import time
from typing import Any, Final, NamedTuple

from eval_quality.errors import RUNTIME_FAULT_CODES
from eval_quality.probe.conformance.subject import DEFAULT_ABORT_BUDGET_MS, Scenario
from eval_quality.probe.signals import AbortController

CALL_LIMIT_SECONDS: Final = 60.0
"""Stops a port that never settles from holding the suite."""
TICK_SECONDS: Final = 0.002
"""How long after the call started the signal is aborted."""


class Attempt(NamedTuple):
    """What one call came to. `calls` is a count, or the exception that counting raised."""

    value: Any = None
    raised: BaseException | None = None
    settled: bool = False
    build_error: BaseException | None = None
    calls: int | BaseException = 0
    dispose_error: BaseException | None = None
    seconds_to_abort: float = 0.0


def attempt(subject: Any, scenario: Scenario, request: Any, *, aborting: bool = False) -> Attempt:
    """Build, call, count, dispose. With `aborting`, the signal is aborted one tick after the call started."""
    try:
        instance = subject.build(scenario)
    except Exception as error:
        return Attempt(build_error=error)
    controller = AbortController()
    started, ended = threading.Event(), threading.Event()
    values: list[Any] = []
    errors: list[BaseException] = []

    def call() -> None:
        started.set()
        try:
            values.append(instance.port(request, controller.signal))
        except BaseException as error:  # looked at by the assertions
            errors.append(error)
        ended.set()

    threading.Thread(target=call, name="conformance call", daemon=True).start()
    started.wait()
    seconds = 0.0
    if aborting:
        time.sleep(TICK_SECONDS)
        aborted_at = time.monotonic()
        controller.abort("conformance")
        ended.wait(getattr(subject, "abort_budget_ms", DEFAULT_ABORT_BUDGET_MS) / 1000)
        seconds = time.monotonic() - aborted_at
    else:
        ended.wait(CALL_LIMIT_SECONDS)
    settled = ended.is_set()
    try:
        calls: int | BaseException = instance.underlying_calls()
    except Exception as error:
        calls = error
    dispose_error = _dispose(instance)
    return Attempt(
        values[0] if settled and values else None,
        errors[0] if settled and errors else None,
        settled,
        None,
        calls,
        dispose_error,
        seconds,
    )


def _dispose(instance: Any) -> BaseException | None:
    dispose = getattr(instance, "dispose", None)
    if dispose is None:
        return None
    try:
        dispose()
    except Exception as error:
        return error
    return None


def fault_code(raised: BaseException | None) -> str | None:
    """The code of a typed fault, judged by structure: an error of any class with a known code and an artifact path."""
    code, path = getattr(raised, "code", None), getattr(raised, "artifact_path", None)
    return code if isinstance(code, str) and code in RUNTIME_FAULT_CODES and isinstance(path, str) else None
