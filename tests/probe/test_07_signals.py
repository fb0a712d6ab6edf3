"""The abort signal (spec 07 §7.1.1)."""

import threading

import pytest

from eval_quality.probe.signals import AbortController, AbortError


def test_s7_1_1_a_signal_is_aborted_once_and_keeps_its_first_reason() -> None:
    controller = AbortController()
    assert (controller.signal.aborted, controller.signal.reason) == (False, None)
    controller.abort("first")
    controller.abort("second")
    assert (controller.signal.aborted, controller.signal.reason) == (True, "first")


def test_s7_1_1_listeners_are_one_shot_and_can_be_taken_back() -> None:
    controller = AbortController()
    told: list[str] = []
    controller.signal.listen(lambda: told.append("kept"))
    forget = controller.signal.listen(lambda: told.append("forgotten"))
    forget()
    forget()
    assert controller.signal.listener_count == 1
    controller.abort()
    controller.abort()
    assert told == ["kept"]
    assert controller.signal.listener_count == 0


def test_s7_1_1_a_late_listener_is_told_at_once() -> None:
    controller = AbortController()
    controller.abort()
    told: list[str] = []
    controller.signal.listen(lambda: told.append("late"))()
    assert told == ["late"]


def test_s7_1_1_every_listener_is_told_although_one_raises() -> None:
    controller = AbortController()
    told: list[str] = []

    def bad() -> None:
        raise ZeroDivisionError

    controller.signal.listen(bad)
    controller.signal.listen(lambda: told.append("second"))
    with pytest.raises(ZeroDivisionError):
        controller.abort()
    assert told == ["second"]


def test_s7_1_1_an_abort_from_another_thread_is_seen() -> None:
    controller = AbortController()
    woken = threading.Event()
    controller.signal.listen(woken.set)
    threading.Thread(target=controller.abort).start()
    assert woken.wait(5)


def test_s7_4_5_the_error_of_a_mechanism_carries_the_reason() -> None:
    controller = AbortController()
    controller.abort(ValueError("why"))
    error = AbortError(controller.signal)
    assert (type(error).__name__, error.code) == ("AbortError", "ABORT_ERR")
    assert error.__cause__ is controller.signal.reason
    plain = AbortController()
    plain.abort("text")
    assert (AbortError(plain.signal).reason, AbortError(plain.signal).__cause__) == ("text", None)
