"""The six checks, each reduced to one result (spec 06 §6.6.2).

The notes are part of the verdict's bytes: every literal here is exact.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from eval_quality.core.contract.operation import declares_no_request_keys
from eval_quality.core.preflight.plan import (
    CleanControl,
    InputSensitivity,
    InterfacePresent,
    PlannedCheck,
    SeededFaultFired,
    SeededFaultsScoped,
    StateReset,
)
from eval_quality.core.preflight.projection import exit_code_of
from eval_quality.core.preflight.session import Answer, Session, answered_alike
from eval_quality.core.preflight.state import same_state
from eval_quality.model.ports import ApiObservation, CommandObservation, ProbeObservation, ToolObservation
from eval_quality.model.run_record import Observation

FIRST_ANOMALOUS_STATUS: Final = 400

_NO_PAIR: Final[tuple[None, None]] = (None, None)
"""The identifiers of a check that is about the whole fixture."""


class CheckResult(NamedTuple):
    """One line of the verdict."""

    kind: str
    interface_id: str | None
    operation_id: str | None
    outcome: str
    note: str | None

    def value(self) -> dict[str, Any]:
        """The result in the wire's own names."""
        return {
            "kind": self.kind,
            "interfaceId": self.interface_id,
            "operationId": self.operation_id,
            "outcome": self.outcome,
            "note": self.note,
        }


def check(planned: PlannedCheck, session: Session) -> CheckResult:
    """Reduce one planned check. Raises the faults of spec 06 §6.6.4."""
    return _REDUCERS[type(planned)](planned, session)


def _interface_present(planned: InterfacePresent, session: Session) -> CheckResult:
    pair = (planned.interface_id, planned.operation_id)
    for leg_id in planned.leg_ids:
        answer = session.answers[leg_id]
        if answer is None:
            return _failed("interface-present", pair, f'leg "{leg_id}" produced no observation')
        # The observation's own leg id is the request's: it was found by it.
        if (answer.observation.interface_id, answer.observation.operation_id) != pair:
            note = f'leg "{leg_id}" echoed an identifier the request did not carry'
            return _failed("interface-present", pair, note)
    return _satisfied("interface-present", pair)


def _input_sensitivity(planned: InputSensitivity, session: Session) -> CheckResult:
    operation, witness = planned.operation, planned.witness
    pair = (planned.interface_id, operation.operation_id)
    if witness is None:
        if declares_no_request_keys(operation):
            note = "The operation declares no inputs in any channel."
            return CheckResult("input-sensitivity", *pair, "exempt", note)
        note = "The operation declares request keys and no sensitivity witness."
        return _failed("input-sensitivity", pair, note)
    evidence: dict[str, Observation] = {}
    for leg in witness.legs:
        answer = session.answers[leg.leg_id]
        if answer is None:
            return _failed("input-sensitivity", pair, f'witness leg "{leg.leg_id}" produced no observation')
        evidence[leg.leg_id] = answer.evidence
    resolution = session.resolve(witness.relation, operation, evidence)
    if resolution == "true":
        return _satisfied("input-sensitivity", pair)
    return _failed("input-sensitivity", pair, f"The witness relation resolved {resolution}.")


def _state_reset(planned: StateReset, session: Session) -> CheckResult:
    first, last = session.answers[planned.first], session.answers[planned.last]
    if first is None or last is None:
        return _failed("state-reset", _NO_PAIR, "a control-observe leg produced no observation")
    if same_state(first.projection, last.projection, planned.operation):
        return _satisfied("state-reset", _NO_PAIR)
    return _failed("state-reset", _NO_PAIR, f'the projections of "{planned.first}" and "{planned.last}" differ')


def _clean_control(planned: CleanControl, session: Session) -> CheckResult:
    for leg_id in planned.leg_ids:
        answer = session.answers[leg_id]
        if answer is None:
            return _failed("clean-control", _NO_PAIR, f'control leg "{leg_id}" produced no observation')
        anomaly = _anomaly(answer.observation)
        if anomaly is not None:
            return _failed("clean-control", _NO_PAIR, f'control leg "{leg_id}" observed {anomaly}')
    return _satisfied("clean-control", _NO_PAIR)


def _anomaly(observation: ProbeObservation) -> str | None:
    """What makes an answer no healthy one, in the words of the note."""
    if isinstance(observation, ApiObservation):
        return f"status {observation.status}" if observation.status >= FIRST_ANOMALOUS_STATUS else None
    if isinstance(observation, CommandObservation):
        return f"exit code {observation.exit_code}" if observation.exit_code != 0 else None
    if not (isinstance(observation, ToolObservation) and observation.is_error):
        return None
    exit_code = exit_code_of(observation)
    if exit_code is None:
        return "tool error"
    return f"tool error: the server exited with code {exit_code} before answering"


def _seeded_faults_scoped(planned: SeededFaultsScoped, session: Session) -> CheckResult:
    defect_id, witness = planned.defect_id, planned.witness
    pair = (witness.interface_id, witness.operation_id)
    # 1. A clean leg that asked the fault leg's question and got its answer is the fault leg under another label.
    fault = session.answers[witness.leg_id]
    dropped: list[str] = []
    examined: list[tuple[str, Answer | None]] = []
    for leg_id in planned.clean_leg_ids:
        answer = session.answers[leg_id]
        if answer is not None and fault is not None and answered_alike(answer, fault):
            dropped.append(f'"{leg_id}"')
        else:
            examined.append((leg_id, answer))
    # 2. Nothing left to examine establishes nothing.
    if not examined:
        reason = "the operation has no leg besides the fault leg"
        if dropped:
            others = ", ".join(dropped)
            reason = (
                "every other leg of the operation issued the fault leg's own request and received its answer "
                f"({others})"
            )
        note = f"{defect_id}: {reason}, so nothing here establishes that the defect is scoped to it"
        return _failed("seeded-faults-scoped", pair, note)
    # 3. The relation addresses the witness's own leg, so each clean leg stands in for it.
    for leg_id, answer in examined:
        if answer is None:
            continue
        if session.resolve(witness.relation, planned.operation, {witness.leg_id: answer.evidence}) == "true":
            note = f'{defect_id}: the manifestation witness fires on clean leg "{leg_id}"'
            return _failed("seeded-faults-scoped", pair, note)
    # 4.
    return _satisfied("seeded-faults-scoped", pair, defect_id)


def _seeded_fault_fired(planned: SeededFaultFired, session: Session) -> CheckResult:
    defect_id, witness = planned.defect_id, planned.witness
    if witness is None:
        note = f"{defect_id}: the defect declares no manifestation witness, so it cannot be observed to fire"
        return _failed("seeded-fault-fired", _NO_PAIR, note)
    pair = (witness.interface_id, witness.operation_id)
    answer = session.answers[witness.leg_id]
    if answer is None:
        return _failed("seeded-fault-fired", pair, f"{defect_id}: the fault leg produced no observation")
    resolution = session.resolve(witness.relation, answer.leg.operation, {witness.leg_id: answer.evidence})
    if resolution == "true":
        return _satisfied("seeded-fault-fired", pair, defect_id)
    note = f"{defect_id}: the manifestation witness resolved {resolution} on its own fault leg"
    return _failed("seeded-fault-fired", pair, note)


def _satisfied(kind: str, pair: tuple[str, str] | tuple[None, None], note: str | None = None) -> CheckResult:
    return CheckResult(kind, *pair, "satisfied", note)


def _failed(kind: str, pair: tuple[str, str] | tuple[None, None], note: str) -> CheckResult:
    return CheckResult(kind, *pair, "failed", note)


_REDUCERS: Final[Mapping[type, Callable[[Any, Session], CheckResult]]] = {
    InterfacePresent: _interface_present,
    InputSensitivity: _input_sensitivity,
    StateReset: _state_reset,
    CleanControl: _clean_control,
    SeededFaultsScoped: _seeded_faults_scoped,
    SeededFaultFired: _seeded_fault_fired,
}
