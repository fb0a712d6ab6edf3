"""Recording calls: observations in order of issue, and the list of actions without times (spec 12 §12.17.1)."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeAlias

from eval_quality.model.decode import decode
from eval_quality.model.ports import ProbeObservation
from eval_quality.model.run_record import Observation
from eval_quality.run.plan.call import Call, call_inputs_of, record_of
from eval_quality.value.digest import digest_value

NOT_PERMITTED = "not-permitted"
"""A reply arm's word for a call it has no answer to; such a call is refused and never reached a subject."""


class NoObservation(NamedTuple):
    """A call that ended without one: the code of 12.14.3 or `capture-unresolved`, and private detail."""

    code: str
    detail: str = ""


Issue: TypeAlias = Callable[[Call], ProbeObservation | NoObservation]
"""Carries one call to the arm."""


class Recorder:
    """Issues calls and keeps what a record needs of each.

    observations: of the answered calls, in order. answers: the port's own answers to the same calls. actions: every
    call, refused ones included. tools: `<interface>/<operation>` of every call that reached the subject.
    """

    def __init__(self, issue: Issue) -> None:
        self._issue = issue
        self.observations: list[Observation] = []
        self.answers: list[ProbeObservation] = []
        self.actions: list[dict[str, Any]] = []
        self.tools: set[str] = set()
        self.calls = 0

    def act(self, call: Call, provenance: str = "evaluator-chosen") -> Observation | NoObservation:
        """Make one call; an answered one becomes the next observation."""
        answer = self._issue(call)
        if isinstance(answer, NoObservation) and answer.code == NOT_PERMITTED:
            return answer
        self.calls += 1
        self.tools.add(f"{call.interface_id}/{call.operation_id}")
        outcome = f"failed:{answer.code}" if isinstance(answer, NoObservation) else "observed"
        self.actions.append(_action(self.calls, call, outcome))
        if isinstance(answer, NoObservation):
            return answer
        value = record_of(call, answer, f"obs-{self.calls}", self.calls, provenance)
        observation = decode(Observation, value, "Observation")
        self.observations.append(observation)
        self.answers.append(answer)
        return observation

    def refuse(self, refusal: Mapping[str, Any]) -> None:
        """Note a call the bridge refused."""
        self.actions.append(
            {
                "sequence": None,
                "interfaceId": refusal["interfaceId"],
                "operationId": refusal["operationId"],
                "requestDigest": None,
                "outcome": f"refused:{refusal['code']}",
            }
        )


def _action(sequence: int, call: Call, outcome: str) -> dict[str, Any]:
    return {
        "sequence": sequence,
        "interfaceId": call.interface_id,
        "operationId": call.operation_id,
        "requestDigest": digest_value(call_inputs_of(call), "CallInputs"),
        "outcome": outcome,
    }
