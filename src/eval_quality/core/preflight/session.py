"""The answers to a plan's legs, and the two questions asked of them (spec 06 §6.4.4, §6.6.3).

Not here: what the checks conclude (`checks`).
"""

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from eval_quality.core.evaluation import make_operation_denotes_collection, make_resolve_operand, resolve_check
from eval_quality.core.preflight.plan import Leg, PreflightPlan
from eval_quality.core.preflight.projection import ARTIFACT_PATH, Projection
from eval_quality.errors import RuntimeFault
from eval_quality.model.decode import to_value
from eval_quality.model.interface import AnyOperation
from eval_quality.model.ports import ProbeObservation
from eval_quality.model.run_record import Observation
from eval_quality.value.digest import digest_value

REGEX_STEP_BUDGET: Final = 1_000_000
"""Steps a witness relation may spend on one match (spec 06 §6.4.4)."""


class Answer(NamedTuple):
    """One answered leg in its three forms: as observed, as projected, and as a relation reads it."""

    leg: Leg
    observation: ProbeObservation
    projection: Projection
    evidence: Observation


class Session(NamedTuple):
    """A plan with the answer of every leg, in plan order; None for an unanswered one."""

    plan: PreflightPlan
    answers: Mapping[str, Answer | None]

    def answered(self) -> tuple[Answer, ...]:
        """The answered legs, in plan order."""
        return tuple(answer for answer in self.answers.values() if answer is not None)

    def resolve(self, relation: Any, operation: AnyOperation, evidence: Mapping[str, Observation]) -> str:
        """What a witness relation resolves to over evidence by leg id. Raises the faults of spec 05 §5.8."""
        resolution = resolve_check(
            relation,
            make_resolve_operand(evidence, self.plan.reference_set_members),
            make_operation_denotes_collection(operation),
            self.plan.reference_set_keys,
            REGEX_STEP_BUDGET,
            ARTIFACT_PATH,
        )
        return resolution.resolution


def answered_alike(one: Answer, other: Answer) -> bool:
    """Whether two answers are one probe under two labels: the same request, and the same evidence.

    A value without a canonical form is unlike everything: this is the one place where that fault is not raised.
    """
    try:
        same_request = _without(one.leg.request, "probeId") == _without(other.leg.request, "probeId")
        same_evidence = _without(one.evidence, "observationId") == _without(other.evidence, "observationId")
    except RuntimeFault:
        return False
    return same_request and same_evidence


def _without(record: Any, label: str) -> str:
    """The digest of a record whose own label is blank."""
    return digest_value({**to_value(record), label: ""}, ARTIFACT_PATH)
