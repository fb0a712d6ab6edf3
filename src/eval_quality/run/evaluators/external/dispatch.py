"""The bridge's operations (spec 12 §12.14.2, §12.14.3): one request in, one answer out, nothing leaked.

1. `brief`, `operations`: the two documents of the sealed view.
2. `call`: known operation, known channel, permitted keys, text on `header` and `environment`, declared principal, size
   and call caps. Required keys and types are *not* enforced: malformed calls are what an evaluator must be able to try.
3. `observations`: earlier answers of this trial.
4. `budget`: what is left.
5. `submit`: the form check, at most three times.

Every refusal and failure is one fixed sentence per code. None names a path, host, port, arm or target.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple, TypeAlias

from eval_quality.run.evaluators.external.submission import (
    MAX_ATTEMPTS,
    Given,
    Submission,
    form_errors,
    read_submission,
)
from eval_quality.run.evaluators.external.view import SealedView
from eval_quality.value.canonical import canonicalize
from eval_quality.value.compare import json_type
from eval_quality.value.kind import is_array, is_object

MAX_CALL_BYTES: Final = 1 << 20
"""Canonical size of one call's inputs; stops an evaluator that would fill memory."""

REFUSALS: Final = {
    "unknown-operation": "No such operation; ask `operations` for the list.",
    "unknown-channel": "The operation has no such input channel.",
    "key-not-permitted": "The channel does not permit this key.",
    "not-permitted": "This call is not permitted.",
    "value-not-a-string": "Values on this channel are strings.",
    "path-incomplete": "Every parameter of the path needs a value.",
    "header-not-sendable": "This header cannot be set by a call.",
    "principal-not-declared": "No such principal.",
    "call-cap": "No calls are left in this trial.",
    "time-cap": "No time is left in this trial.",
    "too-large": "The call's inputs are too large.",
    "after-submit": "The submission was accepted; the trial is over.",
    "malformed-request": "The request is not of the form the bridge reads.",
}
FAILURES: Final = {
    "subject-cap": "The subject exceeded a limit before it answered.",
    "subject-unavailable": "The subject did not answer.",
    "subject-redirect-denied": "The subject redirected to a place that may not be reached.",
    "evidence-unrepresentable": "The subject answered with a value that cannot be recorded exactly.",
    "channel-closed": "The connection to the subject is closed.",
}
_TEXT_CHANNELS: Final = ("header", "environment")


class Act(NamedTuple):
    """A call that passed the bridge's checks."""

    interface_id: str
    operation_id: str
    channels: Mapping[str, Mapping[str, Any]]
    raw_body: bool
    principal: str | None


class Answered(NamedTuple):
    """The subject answered: the observation's id and sequence, and the evidence text of each channel."""

    observation_id: str
    sequence: int
    evidence: Mapping[str, str]


class Unanswered(NamedTuple):
    """No observation: a code of `REFUSALS` or `FAILURES`."""

    code: str


Actor: TypeAlias = Callable[[Act], Answered | Unanswered]


class Dispatcher:
    """One trial's bridge. Not thread-safe: requests are served one at a time, in arrival order.

    view: what the evaluator may know. act: carries a checked call to the subject. max_calls: calls in this trial.
    seconds_left: time left, from the runner's clock.
    """

    def __init__(self, view: SealedView, act: Actor, max_calls: int, seconds_left: Callable[[], float]) -> None:
        self.view = view
        self._act = act
        self._seconds_left = seconds_left
        self.calls_left = max_calls
        self.calls = 0
        self.refusals: list[dict[str, Any]] = []
        self.attempts_left = MAX_ATTEMPTS
        self.accepted: Submission | None = None
        self.last_readable: Submission | None = None
        self._answers: dict[str, dict[str, Any]] = {}

    @property
    def given(self) -> Given:
        """What this evaluator was given so far."""
        evidence = {name: answer["evidence"] for name, answer in self._answers.items()}
        return Given(self.view.oracle_ids, self.view.behavior_ids, evidence)

    def handle(self, request: Any) -> dict[str, Any]:
        """Answer one request. Never raises for anything the evaluator sent."""
        if not is_object(request):
            return self._refuse("malformed-request", {})
        operation = request.get("op")
        if operation == "brief":
            return {"brief": self.view.brief}
        if operation == "operations":
            return {"operations": self.view.surface}
        if operation == "budget":
            return {"callsLeft": self.calls_left, "secondsLeft": max(0, int(self._seconds_left()))}
        if operation == "observations":
            return self._observations(request.get("ids"))
        if operation == "call":
            return self._call(request)
        if operation == "submit":
            return self.submit(request.get("submission"))
        return self._refuse("malformed-request", request)

    def _observations(self, names: Any) -> dict[str, Any]:
        wanted = names if is_array(names) else list(self._answers)
        found = [self._answers[name] for name in wanted if isinstance(name, str) and name in self._answers]
        return {"observations": found}

    def _refuse(self, code: str, request: Mapping[str, Any]) -> dict[str, Any]:
        self.refusals.append(
            {
                "code": code,
                "interfaceId": _short(request.get("interfaceId")),
                "operationId": _short(request.get("operationId")),
            }
        )
        return {"status": "refused", "code": code, "message": REFUSALS[code]}

    def _call(self, request: dict[str, Any]) -> dict[str, Any]:
        checked = self._check(request)
        if isinstance(checked, str):
            return self._refuse(checked, request)
        self.calls_left -= 1
        self.calls += 1
        answer = self._act(checked)
        if isinstance(answer, Unanswered):
            if answer.code in REFUSALS:
                self.calls_left += 1
                self.calls -= 1
                return self._refuse(answer.code, request)
            return {"status": "failed", "code": answer.code, "message": FAILURES[answer.code]}
        shown = {
            "observationId": answer.observation_id,
            "sequence": answer.sequence,
            "status": "observed",
            "evidence": dict(answer.evidence),
        }
        self._answers[answer.observation_id] = shown
        return {**shown, "callsLeft": self.calls_left}

    def _check(self, request: dict[str, Any]) -> Act | str:
        """The call to make, or the code of the refusal."""
        if self.accepted is not None:
            return "after-submit"
        interface_id, operation_id = request.get("interfaceId"), request.get("operationId")
        inputs, principal = request.get("inputs", {}), request.get("principal")
        if not is_object(inputs) or not isinstance(interface_id, str) or not isinstance(operation_id, str):
            return "malformed-request"
        channels = self.view.channels(interface_id, operation_id)
        if channels is None:
            return "unknown-operation"
        problem = _inputs_problem(inputs, channels)
        if problem:
            return problem
        if principal is not None and principal not in self.view.surface["principals"]:
            return "principal-not-declared"
        if len(canonicalize(inputs, "CallInputs")) > MAX_CALL_BYTES:
            return "too-large"
        if self._seconds_left() <= 0:
            return "time-cap"
        if self.calls_left <= 0:
            return "call-cap"
        sent = {name: keys for name, keys in inputs.items() if keys}
        return Act(interface_id, operation_id, sent, _is_raw(inputs.get("body")), principal)

    def submit(self, document: Any) -> dict[str, Any]:
        """Take a submission: accepted, or refused with the rules of form it breaks."""
        if self.accepted is not None:
            return self._refuse("after-submit", {})
        if self.attempts_left == 0:
            return {"accepted": False, "errors": [], "attemptsLeft": 0}
        self.attempts_left -= 1
        read = read_submission(document)
        errors = read if isinstance(read, tuple) else form_errors(read, self.given)
        if isinstance(read, Submission):
            self.last_readable = read
            if not errors:
                self.accepted = read
        shown = [{"at": error.at, "rule": error.rule} for error in errors]
        return {"accepted": self.accepted is not None, "errors": shown, "attemptsLeft": self.attempts_left}


def _inputs_problem(inputs: dict[str, Any], channels: dict[str, Any]) -> str:
    for channel, keys in inputs.items():
        if channel not in channels:
            return "unknown-channel"
        if channel == "body" and _is_raw(keys):
            continue
        if not is_object(keys):
            return "malformed-request"
        permitted = {*channels[channel]["permittedKeys"], *channels[channel]["requiredKeys"]}
        for key, value in keys.items():
            if key not in permitted:
                return "key-not-permitted"
            if channel in _TEXT_CHANNELS and json_type(value) != "string":
                return "value-not-a-string"
    return ""


def _is_raw(body: Any) -> bool:
    return (
        is_object(body)
        and set(body) == {"kind", "base64", "contentType"}
        and body["kind"] == "raw"
        and all(isinstance(part, str) for part in body.values())
    )


def _short(value: Any) -> str | None:
    """A name an evaluator sent, as far as the record of a refusal needs it."""
    return value[:100] if isinstance(value, str) else None
