"""An answered leg as the observation a witness relation reads (spec 06 §6.4.4).

A relation sees the pruned described channel, the raw headers, the status or exit code and what the leg sent. It
cannot see the other stream or other artifacts: the compiler refuses relations that try.
"""

from typing import Any

from eval_quality.core.contract.operation import described_artifact, described_channel
from eval_quality.core.preflight.projection import Projection
from eval_quality.model.binding import AbsentBody, ProbeObservedBody, WitnessInputs
from eval_quality.model.interface import AnyOperation
from eval_quality.model.ports import ApiObservation, CommandObservation, ProbeObservation, ToolObservation
from eval_quality.model.run_record import Observation, ObservedCallInputs
from eval_quality.value.frozen import FrozenDict
from eval_quality.value.kind import is_object


def build_evidence(
    inputs: WitnessInputs, operation: AnyOperation, observation: ProbeObservation, projection: Projection
) -> Observation:
    """The evidence of one answered leg."""
    absent = AbsentBody()
    channel = described_channel(operation)
    artifact = described_artifact(operation)
    return Observation(
        observation_id=projection.leg_id,
        sequence=1,
        interface_id=projection.interface_id,
        operation_id=projection.operation_id,
        provenance="baseline",
        principal=None,
        call_inputs=_call_inputs(inputs),
        response_body=None if isinstance(observation, CommandObservation) else _body_value(projection.body),
        response_headers=FrozenDict(observation.headers) if isinstance(observation, ApiObservation) else None,
        response_status=_status(observation),
        stdout=projection.body if channel == "stdout" else absent,
        stderr=projection.body if channel == "stderr" else absent,
        exit_code=projection.exit_code,
        artifacts=FrozenDict() if artifact is None else FrozenDict({artifact: projection.body}),
    )


def _status(observation: ProbeObservation) -> int | None:
    if isinstance(observation, ApiObservation):
        return observation.status
    return int(observation.is_error) if isinstance(observation, ToolObservation) else None


def _body_value(body: ProbeObservedBody) -> Any:
    return None if isinstance(body, AbsentBody) else body.value


def _call_inputs(inputs: WitnessInputs) -> ObservedCallInputs:
    """Nine channels, null where the leg's kind has none; a body or standard input only as a JSON object."""
    sent: dict[str, Any] = dict.fromkeys(ObservedCallInputs.__struct_fields__)
    del sent["body_encoding"]
    for channel, value in inputs.channels():
        sent[channel] = _object_or_none(value) if channel in ("body", "stdin") else value
    return ObservedCallInputs(**sent)


def _object_or_none(body: Any) -> Any:
    return body.value if body.kind == "json" and is_object(body.value) else None
