"""The strength aggregate over many evidence artifacts, and the floors it is held against (spec 02 §22)."""

from typing import Annotated, ClassVar, Literal, TypeAlias

from msgspec import UNSET, Meta, UnsetType, field

from eval_quality.model.artifact import ClassStrength
from eval_quality.model.lineage import Artifact
from eval_quality.model.primitives import (
    Basis,
    Digest,
    Fraction,
    Positive,
    ProbeId,
    RunMode,
    ScoringVersionInputName,
    Text,
)
from eval_quality.model.record import Record

StrengthClass = Literal["defect", "gameability", "zero-action"]
STRENGTH_CLASSES = ("defect", "gameability", "zero-action")


class AggregatedInput(Record):
    """One evidence artifact that was aggregated."""

    probe_id: ProbeId
    probe_class: StrengthClass | None
    run_id: Text
    artifact_digest: Digest


class AggregatedClass(ClassStrength):
    """The strength of one class over all inputs."""

    eligible: Positive
    comparable: bool


class AggregatedClasses(Record):
    """The aggregate by class; None where no eligible probe exists."""

    defect: AggregatedClass | None
    gameability: AggregatedClass | None
    zero_action: AggregatedClass | None = field(name="zero-action")


class MeetsFloor(Record, tag_field="decision", tag="meets"):
    """The declared floor is met."""

    floor: Fraction
    decision: ClassVar[Literal["meets"]] = "meets"
    basis: Literal["rate-meets-floor"]


class MissesFloor(Record, tag_field="decision", tag="does-not-meet"):
    """The declared floor is not met, and why."""

    floor: Fraction
    decision: ClassVar[Literal["does-not-meet"]] = "does-not-meet"
    basis: Literal["no-eligible-probe", "not-comparable", "no-exercised-probe", "unexercised-probe", "rate-below-floor"]


class UndeclaredFloor(Record, tag_field="decision", tag="undeclared"):
    """No floor was declared for the class."""

    floor: None
    decision: ClassVar[Literal["undeclared"]] = "undeclared"
    basis: Literal["no-floor-declared"]


FloorDecision: TypeAlias = MeetsFloor | MissesFloor | UndeclaredFloor


class FloorDecisions(Record):
    """One decision a class."""

    defect: FloorDecision
    gameability: FloorDecision
    zero_action: FloorDecision = field(name="zero-action")


class StrengthAggregate(Artifact):
    """Strength over a set of probes that share one scoring version (§22.1)."""

    engine_version: Text
    mode: RunMode
    scoring_version: Digest
    scoring_policy_digest: Digest
    comparability_key: Digest
    basis: Basis
    minimum_trial_count: Positive
    caller_attested_inputs: tuple[ScoringVersionInputName, ...]
    aggregate_attested_inputs: tuple[Literal["evidenceSetCompleteness", "probeClass"], ...]
    inputs: Annotated[tuple[AggregatedInput, ...], Meta(min_length=1)]
    classes: AggregatedClasses
    floor_decisions: FloorDecisions


class StrengthFloors(Record):
    """Declared floors by class, an input; an UNSET class has no floor (§22.2)."""

    defect: Fraction | UnsetType = UNSET
    gameability: Fraction | UnsetType = UNSET
    zero_action: Fraction | UnsetType = field(default=UNSET, name="zero-action")
