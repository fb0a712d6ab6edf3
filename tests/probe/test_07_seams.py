"""The caller-side and the adapter-side seam (spec 07 §7.2.1, §7.2.2; spec 10 §7.7)."""

import threading
import time
from typing import Any

import pytest

from eval_quality.errors import RuntimeFault
from eval_quality.probe.ports import PROBE, RESOLVE
from eval_quality.probe.seam import call_port, run_port_method
from eval_quality.probe.signals import AbortController, AbortSignal

REQUEST = {"privateRef": "a"}
RESPONSE = {"privateRef": "a", "bytes": b"x"}


def caught(work: Any) -> tuple[str, str]:
    with pytest.raises(RuntimeFault) as fault:
        work()
    return fault.value.code, fault.value.artifact_path


def aborted() -> AbortSignal:
    controller = AbortController()
    controller.abort("before")
    return controller.signal


def never(*_: object) -> Any:
    raise AssertionError("must not be called")


def raising(error: Exception) -> Any:
    def work(*_: object) -> Any:
        raise error

    return work


# --- the caller's side -----------------------------------------------------------------------------------------------


def test_s7_2_1_an_aborted_signal_comes_before_validation() -> None:
    assert caught(lambda: call_port(RESOLVE, never, {"nonsense": 1}, aborted())) == ("aborted", "CorpusResolveRequest")


def test_s7_2_1_an_invalid_request_never_reaches_the_port() -> None:
    found = caught(lambda: call_port(RESOLVE, never, {"privateRef": ""}, AbortSignal()))
    assert found == ("schema-parse-failure", "CorpusResolveRequest")
    assert caught(lambda: call_port(PROBE, never, {"kind": "web"}, AbortSignal()))[1] == "ProbeRequest"


def test_s7_2_1_a_fault_of_the_port_passes_unchanged() -> None:
    fault = RuntimeFault("digest-mismatch", "Somewhere", "x")
    with pytest.raises(RuntimeFault) as found:
        call_port(RESOLVE, raising(fault), REQUEST, AbortSignal())
    assert found.value is fault


def test_s7_2_1_anything_else_is_a_port_failure_with_its_cause() -> None:
    error = KeyError("x")
    with pytest.raises(RuntimeFault) as found:
        call_port(RESOLVE, raising(error), REQUEST, AbortSignal())
    assert (found.value.code, found.value.artifact_path) == ("port-failure", "CorpusResolveResponse")
    assert found.value.cause is error


def test_s7_2_1_an_error_after_an_abort_is_aborted_at_the_response_path() -> None:
    controller = AbortController()

    def port(request: object, signal: AbortSignal) -> Any:
        controller.abort()
        raise OSError("torn down")

    assert caught(lambda: call_port(RESOLVE, port, REQUEST, controller.signal)) == ("aborted", "CorpusResolveResponse")


def test_s7_2_1_an_abort_does_not_race_a_port_that_answers() -> None:
    controller = AbortController()

    def port(request: object, signal: AbortSignal) -> Any:
        controller.abort()
        return RESPONSE

    assert call_port(RESOLVE, port, REQUEST, controller.signal).bytes == b"x"


@pytest.mark.parametrize("answer", [None, {}, {"privateRef": "a"}, {**RESPONSE, "extra": 1}, {"error": "x"}])
def test_s7_2_1_an_invalid_answer_is_a_contract_violation(answer: object) -> None:
    found = caught(lambda: call_port(RESOLVE, lambda *_: answer, REQUEST, AbortSignal()))
    assert found == ("port-contract-violation", "CorpusResolveResponse")


def test_s7_2_1_a_system_exit_is_not_swallowed() -> None:
    def port(*_: object) -> Any:
        raise SystemExit(3)

    with pytest.raises(SystemExit):
        call_port(RESOLVE, port, REQUEST, AbortSignal())


# --- the adapter's side ----------------------------------------------------------------------------------------------


def method(mechanism: Any, signal: AbortSignal | None = None, **options: Any) -> Any:
    return run_port_method(
        RESOLVE,
        options.pop("request", REQUEST),
        signal or AbortSignal(),
        mechanism,
        options.pop("assemble", lambda request, data: {"privateRef": request.private_ref, "bytes": data}),
        honours_abort=options.pop("honours_abort", False),
        **options,
    )


@pytest.mark.parametrize("honours_abort", [False, True])
def test_s7_2_2_one_call_and_a_parsed_answer(honours_abort: bool) -> None:
    calls: list[object] = []

    def mechanism(request: Any) -> bytes:
        calls.append(request)
        return b"data"

    assert method(mechanism, honours_abort=honours_abort).bytes == b"data"
    assert len(calls) == 1


def test_s7_2_2_an_aborted_signal_and_an_invalid_request() -> None:
    assert caught(lambda: method(never, aborted(), request={})) == ("aborted", "CorpusResolveRequest")
    assert caught(lambda: method(never, request={})) == ("schema-parse-failure", "CorpusResolveRequest")


def test_s7_2_2_the_pre_check_comes_before_the_mechanism() -> None:
    fault = RuntimeFault("forbidden-target", "ProbeRequest", "no")
    with pytest.raises(RuntimeFault) as found:
        method(never, before=raising(fault))
    assert found.value is fault
    assert caught(lambda: method(never, before=raising(KeyError("x")))) == ("port-failure", "CorpusResolveRequest")


@pytest.mark.parametrize("honours_abort", [False, True])
def test_s7_2_2_errors_of_the_mechanism(honours_abort: bool) -> None:
    fault = RuntimeFault("budget-exhausted", "Elsewhere", "x")
    with pytest.raises(RuntimeFault) as found:
        method(raising(fault), honours_abort=honours_abort)
    assert found.value is fault
    error = FileNotFoundError(2, "gone")
    with pytest.raises(RuntimeFault) as found:
        method(raising(error), honours_abort=honours_abort)
    assert (found.value.code, found.value.artifact_path) == ("port-failure", "CorpusResolveResponse")
    assert found.value.cause is error


def test_s7_2_2_an_abort_wins_at_once_over_a_mechanism_that_never_settles() -> None:
    controller = AbortController()
    release = threading.Event()
    threading.Timer(0.05, controller.abort).start()
    begin = time.monotonic()
    found = caught(lambda: method(lambda _: release.wait(30), controller.signal))
    assert found == ("aborted", "CorpusResolveResponse")
    assert time.monotonic() - begin < 2
    assert controller.signal.listener_count == 0
    release.set()


def test_s7_2_2_an_error_after_an_abort_is_aborted() -> None:
    controller = AbortController()

    def mechanism(_: object) -> Any:
        controller.abort()
        raise OSError("torn down")

    found = caught(lambda: method(mechanism, controller.signal, honours_abort=True))
    assert found == ("aborted", "CorpusResolveResponse")


def test_s7_2_2_the_post_check_is_raced_too() -> None:
    fault = RuntimeFault("port-failure", "CorpusResolveRequest", "outside")
    with pytest.raises(RuntimeFault) as found:
        method(lambda _: b"x", after=raising(fault))
    assert found.value is fault
    assert caught(lambda: method(lambda _: b"x", after=raising(ValueError("x")))) == (
        "port-failure",
        "CorpusResolveResponse",
    )
    controller = AbortController()
    release = threading.Event()
    threading.Timer(0.05, controller.abort).start()
    found_code = caught(lambda: method(lambda _: b"x", controller.signal, after=lambda *_: release.wait(30)))
    assert found_code == ("aborted", "CorpusResolveResponse")
    release.set()


def test_s7_2_2_an_answer_that_does_not_parse_is_a_contract_violation() -> None:
    found = ("port-contract-violation", "CorpusResolveResponse")
    assert caught(lambda: method(lambda _: {"error": "x"})) == found
    assert caught(lambda: method(lambda _: b"x", assemble=raising(KeyError("stdout")))) == found


def test_s7_2_2_listeners_are_always_removed() -> None:
    controller = AbortController()
    method(lambda _: b"x", controller.signal)
    caught(lambda: method(raising(ValueError("x")), controller.signal))
    assert controller.signal.listener_count == 0


@pytest.mark.parametrize(
    ("port_method", "request_path", "response_path"),
    [
        ("PROBE", "ProbeRequest", "ProbeObservation"),
        ("RESOLVE", "CorpusResolveRequest", "CorpusResolveResponse"),
        ("READ_CLOCK", "ClockReadRequest", "ClockReadResponse"),
        ("READ_FILE", "FileReadRequest", "FileReadResponse"),
        ("WRITE_FILE", "FileWriteRequest", "FileWriteResponse"),
    ],
)
def test_s7_2_2_artifact_paths(port_method: str, request_path: str, response_path: str) -> None:
    from eval_quality.probe import ports

    found = getattr(ports, port_method)
    assert (found.request_path, found.response_path) == (request_path, response_path)
    with pytest.raises(RuntimeFault) as fault:
        found.parse_request({"unknown": 1})
    assert fault.value.artifact_path == request_path
    with pytest.raises(RuntimeFault) as fault:
        found.parse_response({"unknown": 1})
    assert fault.value.artifact_path == response_path
