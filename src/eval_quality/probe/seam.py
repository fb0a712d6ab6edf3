"""The two seams around every port call (spec 07 §7.2.1, §7.2.2; spec 10 §7.7).

`call_port`: the caller's side. It does not race the abort: a port that never settles makes it never settle.

1. Signal already aborted: `aborted` at the request path, before validation.
2. Request fails its schema: `schema-parse-failure` at the request path.
3. One call. A `RuntimeFault` passes unchanged; anything else is `aborted` when the signal is aborted by then, otherwise
   `port-failure`, both at the response path.
4. Response fails its schema: `port-contract-violation` at the response path.
5. The parsed response.

`run_port_method`: the adapter's side, which does race.

1. and 2. as above. 3. Synchronous pre-check, which raises its own fault. 4. The mechanism, once, against the abort.
5. Post-check, also raced. 6. The response is assembled and parsed.
"""

from collections.abc import Callable
from threading import Event, Thread
from typing import Generic, NamedTuple, NoReturn, TypeVar

from eval_quality.errors import RuntimeFault
from eval_quality.probe.signals import AbortError, AbortSignal

Request = TypeVar("Request")
Response = TypeVar("Response")
Result = TypeVar("Result")


class PortMethod(NamedTuple, Generic[Request, Response]):
    """One method of one port: its conformance name, its two artifact paths and its two parsers.

    A parser raises `RuntimeFault` for a value that does not meet its schema.
    """

    name: str
    request_path: str
    response_path: str
    parse_request: Callable[[object], Request]
    parse_response: Callable[[object], Response]


def call_port(
    method: PortMethod[Request, Response],
    port: Callable[[Request, AbortSignal], object],
    request: object,
    signal: AbortSignal,
) -> Response:
    """Call a caller-supplied port once; only `RuntimeFault` is raised."""
    # 1. and 2.
    parsed = _enter(method, request, signal)
    # 3. One call.
    try:
        answer = port(parsed, signal)
    except RuntimeFault:
        raise
    except Exception as error:
        _fail(method, error, signal)
    # 4. and 5.
    return _leave(method, answer)


def run_port_method(
    method: PortMethod[Request, Response],
    request: object,
    signal: AbortSignal,
    mechanism: Callable[[Request], Result],
    assemble: Callable[[Request, Result], object],
    *,
    honours_abort: bool,
    before: Callable[[Request], None] | None = None,
    after: Callable[[Request, Result], None] | None = None,
) -> Response:
    """Run one adapter method; only `RuntimeFault` is raised.

    `before` costs no I/O and raises its own fault. `mechanism` is the one underlying effect. `assemble` turns its
    untyped result into the response value, which is then parsed. With `honours_abort` false the mechanism runs on a
    thread of its own and is left behind when the signal is aborted first.
    """
    # 1. and 2.
    parsed = _enter(method, request, signal)
    # 3. Pre-check.
    if before is not None:
        try:
            before(parsed)
        except RuntimeFault:
            raise
        except Exception as error:
            detail = f"{type(error).__name__}: {error}"
            raise RuntimeFault("port-failure", method.request_path, detail) from error
    # 4. The mechanism against the abort.
    result = _raced(method, lambda: mechanism(parsed), signal, honours_abort)
    # 5. Post-check.
    if after is not None:
        _raced(method, lambda: after(parsed, result), signal, honours_abort)
    # 6. The response.
    try:
        answer = assemble(parsed, result)
    except RuntimeFault:
        raise
    except Exception as error:
        raise _violation(method, "the mechanism's result cannot be read") from error
    return _leave(method, answer)


def _enter(method: PortMethod[Request, Response], request: object, signal: AbortSignal) -> Request:
    if signal.aborted:
        raise RuntimeFault("aborted", method.request_path, "aborted before the call") from _cause(signal)
    return method.parse_request(request)


def _leave(method: PortMethod[Request, Response], answer: object) -> Response:
    try:
        return method.parse_response(answer)
    except Exception as error:
        raise _violation(method, "the answer does not meet its schema", error) from error


def _violation(method: PortMethod[Request, Response], detail: str, error: Exception | None = None) -> RuntimeFault:
    more = f": {error.detail}" if isinstance(error, RuntimeFault) else ""
    return RuntimeFault("port-contract-violation", method.response_path, detail + more)


def _fail(method: PortMethod[Request, Response], error: Exception, signal: AbortSignal) -> NoReturn:
    if signal.aborted:
        raise RuntimeFault("aborted", method.response_path, "aborted during the call") from error
    raise RuntimeFault("port-failure", method.response_path, f"{type(error).__name__}: {error}") from error


def _cause(signal: AbortSignal) -> BaseException:
    return signal.reason if isinstance(signal.reason, BaseException) else AbortError(signal)


def _raced(
    method: PortMethod[Request, Response], work: Callable[[], Result], signal: AbortSignal, honours_abort: bool
) -> Result:
    try:
        return work() if honours_abort else _on_thread(work, signal)
    except RuntimeFault:
        raise
    except Exception as error:
        _fail(method, error, signal)


class _Settled(Generic[Result]):
    """What a thread came back with."""

    def __init__(self) -> None:
        self.values: list[Result] = []
        self.errors: list[BaseException] = []


def _on_thread(work: Callable[[], Result], signal: AbortSignal) -> Result:
    """Do `work` on a thread of its own; `AbortError` at once when the signal is aborted first."""
    settled: _Settled[Result] = _Settled()
    woken = Event()

    def run() -> None:
        try:
            settled.values.append(work())
        except BaseException as error:  # handed to the waiting thread, which raises it again
            settled.errors.append(error)
        woken.set()

    unlisten = signal.listen(woken.set)
    try:
        Thread(target=run, name="eval-quality mechanism", daemon=True).start()
        woken.wait()
    finally:
        unlisten()
    if settled.values:
        return settled.values[0]
    if settled.errors:
        raise settled.errors[0]
    raise AbortError(signal)
