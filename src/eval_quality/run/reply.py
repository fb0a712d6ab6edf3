"""A reply arm: a committed document answers every call, and nothing is launched (spec 12 §12.7.3).

The first answer that names the operation and whose selector admits the call's inputs wins. A call that nothing matches
is `reply-incomplete` for the plan, found before anything is started, and `not-permitted` on the bridge.
"""

from eval_quality.core.contract.plan import PlanIndex
from eval_quality.core.score.admit import admits
from eval_quality.model.decode import decode
from eval_quality.model.ports import ProbeObservation
from eval_quality.model.run_record import Observation
from eval_quality.run.errors import AuthoringProblem, ExperimentFailure
from eval_quality.run.experiment.corpus import OBSERVATIONS, observation_value
from eval_quality.run.experiment.document import Reply
from eval_quality.run.plan.call import Call, record_of
from eval_quality.run.plan.execute import execute
from eval_quality.run.plan.record import NOT_PERMITTED, NoObservation, Recorder
from eval_quality.run.plan.values import PlannedStep


class ReplyArm:
    """Answers calls from one reply document."""

    def __init__(self, reply: Reply, index: PlanIndex) -> None:
        self._index = index
        kinds = {interface.logical_id: interface.kind for interface in index.contract.permitted_interfaces}
        self._answers = [
            (
                answer,
                decode(
                    OBSERVATIONS[kinds[answer.interface_id]],
                    observation_value(answer, kinds[answer.interface_id]),
                    "ProbeObservation",
                ),
            )
            for answer in reply.answers
        ]

    def issue(self, call: Call) -> ProbeObservation | NoObservation:
        """The committed answer to a call."""
        operation = self._index.operation(call.interface_id, call.operation_id)
        for answer, observed in self._answers:
            if (answer.interface_id, answer.operation_id) != (call.interface_id, call.operation_id):
                continue
            if answer.when is None:
                return observed
            seen = decode(Observation, record_of(call, observed, "obs-1", 1, "evaluator-chosen"), "Observation")
            if admits(answer.when.channels(), seen, operation, {}):
                return observed
        return NoObservation(NOT_PERMITTED, f"{call.interface_id}/{call.operation_id}")


def check_complete(reply: Reply, index: PlanIndex, order: tuple[PlannedStep, ...]) -> None:
    """Raise `ExperimentFailure` (`reply-incomplete`) for every plan step the reply does not answer."""
    problems = [
        AuthoringProblem(
            "reply-incomplete",
            f"GameabilityReply[{reply.id}]",
            f'no answer matches step "{outcome.step_id}" ({outcome.missing.detail or outcome.missing.code})',
        )
        for outcome in execute(order, Recorder(ReplyArm(reply, index).issue).act)
        if outcome.missing is not None
    ]
    if problems:
        raise ExperimentFailure(problems)
