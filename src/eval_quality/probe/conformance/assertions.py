"""The assertions as data (spec 07 §7.7.1, §7.7.3): an id, a title, and a check over an attempt.

A check answers what is wrong, or None. Two builders make most of them: `resolves` (the observation is valid and echoes
the request, and then an extra check holds) and `rejects` (exactly one code, and perhaps a count of calls).
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from eval_quality.errors import RuntimeFault
from eval_quality.model.decode import decode, to_value
from eval_quality.model.ports import ProbeObservation
from eval_quality.model.record import Record
from eval_quality.probe.conformance.attempt import Attempt, fault_code
from eval_quality.probe.conformance.subject import MISSING, Check, Scenario, member
from eval_quality.value.compare import json_equal
from eval_quality.value.kind import is_array, is_object

Extra = Callable[[Mapping[str, Any], Any], str | None]
"""Looks at a plain observation and an expectation (`MISSING` where there is none)."""
Precondition = Callable[[Mapping[str, Any], Mapping[str, Any]], str | None]
"""Looks at a plain request and a plain policy; why the request cannot test what it is for, or None."""


class Assertion(NamedTuple):
    """One row. An arm's row has a `request` key and builds its own instance; a shared row uses the sample request."""

    id: str
    title: str
    check: Check
    scenario: Scenario = "resolves"
    request: str | None = None
    precondition: Precondition | None = None


def plain(value: Any) -> Any:
    """A record, or a plain value, as a plain value."""
    return to_value(value) if isinstance(value, Record) else value


def outcome_of(attempt: Attempt) -> str:
    """What an attempt came to, in words."""
    if attempt.build_error is not None:
        return f"build raised {attempt.build_error!r}"
    if not attempt.settled:
        return "the call did not settle"
    if attempt.raised is not None:
        return f"raised {attempt.raised!r}"
    return f"returned {plain(attempt.value)!r}"[:300]


def typed_fault(attempt: Attempt, subject: Any) -> str | None:
    del subject
    if fault_code(attempt.raised) is None or not getattr(attempt.raised, "artifact_path", ""):
        return f"expected a typed fault with an artifact path, but the call {outcome_of(attempt)}"
    return None


def any_fault(attempt: Attempt, subject: Any) -> str | None:
    del subject
    if fault_code(attempt.raised) is None:
        return f"expected a typed fault, but the call {outcome_of(attempt)}"
    return None


def one_call_on_success(attempt: Attempt, subject: Any) -> str | None:
    del subject
    if not attempt.settled or attempt.raised is not None:
        return f"expected an answer, but the call {outcome_of(attempt)}"
    return counted(attempt, 1)


def one_call(attempt: Attempt, subject: Any) -> str | None:
    del subject
    return counted(attempt, 1)


def prompt_abort(attempt: Attempt, subject: Any) -> str | None:
    del subject
    if not attempt.settled:
        return f"still running {attempt.seconds_to_abort:.1f} s after the abort"
    if fault_code(attempt.raised) != "aborted":
        return f"expected aborted, but the call {outcome_of(attempt)}"
    return None


def counted(attempt: Attempt, expected: int) -> str | None:
    """What is wrong with the number of underlying calls."""
    if isinstance(attempt.calls, BaseException):
        return f"counting the underlying calls raised {attempt.calls!r}"
    return None if attempt.calls == expected else f"{attempt.calls} underlying calls instead of {expected}"


def valid_return(parse: Callable[[object], object]) -> Check:
    """The value meets the port's own response schema."""

    def check(attempt: Attempt, subject: Any) -> str | None:
        del subject
        if not attempt.settled or attempt.raised is not None:
            return f"expected an answer, but the call {outcome_of(attempt)}"
        try:
            parse(attempt.value)
        except RuntimeFault as fault:
            return f"the answer does not meet its schema: {fault.detail}"
        return None

    return check


def resolves(key: str, extra: Extra | None = None) -> Check:
    """The call answers a valid observation that echoes its request; then `extra` holds."""

    def check(attempt: Attempt, subject: Any) -> str | None:
        if not attempt.settled or attempt.raised is not None:
            return f"expected an observation, but the call {outcome_of(attempt)}"
        try:
            observation = plain(decode(ProbeObservation, attempt.value, "ProbeObservation"))
        except RuntimeFault as fault:
            return f"the observation does not meet its schema: {fault.detail}"
        request = plain(member(subject, "requests", key))
        for name in ("kind", "probeId", "interfaceId", "operationId"):
            if observation[name] != request.get(name):
                return f"{name} is {observation[name]!r} instead of {request.get(name)!r}"
        return extra(observation, member(subject, "expectations", key)) if extra else None

    return check


def rejects(code: str, calls: int | Callable[[Any], int] | None = None, reason: str | None = None) -> Check:
    """The call raises exactly `code`; `calls` pins the underlying calls, `reason` the denial's reason."""

    def check(attempt: Attempt, subject: Any) -> str | None:
        if fault_code(attempt.raised) != code:
            return f"expected {code}, but the call {outcome_of(attempt)}"
        if reason is not None and getattr(attempt.raised, "reason", None) != reason:
            return f"the reason is {getattr(attempt.raised, 'reason', None)!r} instead of {reason!r}"
        if calls is None:
            return None
        return counted(attempt, calls if isinstance(calls, int) else calls(subject))

    return check


def authorizations(policy: Mapping[str, Any], **members: Any) -> list[Mapping[str, Any]]:
    """The authorizations whose members have these values; names are in snake_case."""
    wanted = {f"{name.split('_')[0]}{''.join(map(str.title, name.split('_')[1:]))}": v for name, v in members.items()}
    return [
        entry
        for entry in policy.get("authorizations", ())
        if all(key in entry and entry[key] == value for key, value in wanted.items())
    ]


def same(left: Any, right: Any) -> bool:
    """JSON equality of plain values, tuples read as arrays."""
    return json_equal(_listed(left), _listed(right))


def _listed(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]


def json_object(body: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The object of a `json` body, or None."""
    value = body.get("value") if body.get("kind") == "json" else None
    return value if is_object(value) else None


def unspecified(expectation: Any) -> str | None:
    """What to say when a subject lacks an expectation."""
    return "the subject has no expectation for this assertion" if expectation is MISSING else None


def literal_argument(observation: Mapping[str, Any], expectation: Any) -> str | None:
    """stdout is JSON whose `argv` is exactly the one literal."""
    if (problem := unspecified(expectation)) is not None:
        return problem
    printed = json_object(observation["stdout"])
    argv = printed.get("argv") if printed is not None else None
    if not is_array(argv) or not same(argv, [expectation]):
        return f"argv is {argv!r} instead of {[expectation]!r}"
    return None
