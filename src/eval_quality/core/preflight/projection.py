"""What pre-flight keeps of one answered leg (spec 06 §6.4.2, §6.4.3).

Seven members, no more: response headers, the other command stream and un-nominated artifacts are not in the projection.
The fixture digest covers the projections of every answered planned leg.
"""

from collections.abc import Iterable
from typing import Any, NamedTuple

from eval_quality.core.contract.operation import described_artifact, described_channel
from eval_quality.core.preflight.volatile import prune
from eval_quality.model.binding import AbsentBody, ProbeObservedBody
from eval_quality.model.decode import to_value
from eval_quality.model.interface import AnyOperation
from eval_quality.model.ports import ApiObservation, CommandObservation, ProbeObservation, ToolObservation
from eval_quality.value.digest import digest_composite

ARTIFACT_PATH = "PreflightVerdict"
"""Where every fault of a reduction is reported (spec 06 §6.6)."""


class Projection(NamedTuple):
    """One answered leg: ids as observed, the pruned body of the described channel, and the fields of its kind."""

    leg_id: str
    interface_id: str
    operation_id: str
    status: int | None
    exit_code: int | None
    tool_error: bool | None
    body: ProbeObservedBody

    def value(self) -> dict[str, Any]:
        """The projection in the wire's own names."""
        return {
            "legId": self.leg_id,
            "interfaceId": self.interface_id,
            "operationId": self.operation_id,
            "status": self.status,
            "exitCode": self.exit_code,
            "toolError": self.tool_error,
            "body": to_value(self.body),
        }


def project(observation: ProbeObservation, operation: AnyOperation) -> Projection:
    """The projection of an observation whose kind is the operation's."""
    return Projection(
        leg_id=observation.probe_id,
        interface_id=observation.interface_id,
        operation_id=observation.operation_id,
        status=observation.status if isinstance(observation, ApiObservation) else None,
        exit_code=exit_code_of(observation),
        tool_error=observation.is_error if isinstance(observation, ToolObservation) else None,
        body=prune(_described_body(observation, operation), operation.volatile_pointers),
    )


def exit_code_of(observation: ProbeObservation) -> int | None:
    """A command's exit code, or that of a tool server that ended the session."""
    if isinstance(observation, CommandObservation):
        return observation.exit_code
    if isinstance(observation, ToolObservation) and isinstance(observation.exit_code, int):
        return observation.exit_code
    return None


def fixture_digest(projections: Iterable[Projection]) -> str:
    """The digest of the fixture as the answered legs showed it, whatever order they were observed in.

    Raises `RuntimeFault non-canonicalizable-value`.
    """
    # Leg ids are ASCII slugs, so the order of code points is that of code units.
    ordered = sorted(projections, key=lambda projection: projection.leg_id)
    return digest_composite({"observations": [projection.value() for projection in ordered]}, ARTIFACT_PATH)


def _described_body(observation: ProbeObservation, operation: AnyOperation) -> ProbeObservedBody:
    if isinstance(observation, ApiObservation):
        return observation.body
    if isinstance(observation, CommandObservation):
        artifact = described_artifact(operation)
        if artifact is not None:
            return observation.artifacts.get(artifact, AbsentBody())
        return observation.stderr if described_channel(operation) == "stderr" else observation.stdout
    assert isinstance(observation, ToolObservation), "there are three kinds of observation"
    return observation.result
