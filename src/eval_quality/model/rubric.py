"""Rubrics: embedded in a contract, or standing alone with the lineage members last (spec 02 §24)."""

from eval_quality.model.primitives import (
    Count,
    Digest,
    Int,
    InteractionPointer,
    Positive,
    RubricCriterionId,
    RubricId,
    Text,
)
from eval_quality.model.record import Record


class ScaleLevel(Record):
    """One level of the scale and what it looks like."""

    level: Int
    anchor: str


class FailureModePenalty(Record):
    """A named failure mode that costs points."""

    name: Text
    description: str


class RubricCriterion(Record):
    """One criterion and the evidence it is judged on."""

    id: RubricCriterionId
    text: str
    evidence: InteractionPointer


class RubricBody(Record):
    """A rubric as a contract embeds it. For the two nullable lists, None and empty differ."""

    id: RubricId
    scale_levels: tuple[ScaleLevel, ...] | None
    failure_mode_penalties: tuple[FailureModePenalty, ...] | None
    max_length: Positive | None
    criteria: tuple[RubricCriterion, ...]


class Rubric(RubricBody):
    """A standalone rubric; no stage reads one."""

    schema_version: Positive
    parent_digest: Digest | None
    revision_count: Count
