"""The contract: what must hold, how it is checked, over which interfaces (spec 02 §11.5, §12, §13)."""

from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal, TypeAlias

from msgspec import Meta

from eval_quality.model.binding import InputBinding, WitnessInputs
from eval_quality.model.evidence import Budgets, ExternalLink, ScopedResource
from eval_quality.model.expression import Expression
from eval_quality.model.interface import PermittedInterface
from eval_quality.model.lineage import Artifact
from eval_quality.model.primitives import (
    BehaviorId,
    Count,
    Digest,
    ForbiddenInput,
    Identifier,
    InteractionPointer,
    JsonObject,
    KeyName,
    OracleId,
    Polarity,
    Relation,
    Rfc3339Utc,
    Severity,
    Text,
    WaiverId,
)
from eval_quality.model.record import Record, freeze_maps
from eval_quality.model.rubric import RubricBody


class Behavior(Record):
    """One behaviour of the system and the oracles it cites (§13.1)."""

    id: BehaviorId
    description: str
    severity: Severity
    observable_success_criterion: str | None
    requirement_links: tuple[ExternalLink, ...]
    risk_links: tuple[ExternalLink, ...]
    oracles: tuple[OracleId, ...]


class Direction(Record):
    """The evaluator-facing half of an oracle (§13.2)."""

    evidence_targets: tuple[InteractionPointer, ...]
    relation: Relation
    polarity: Polarity
    scope: str | None
    negative_domain: str | None


class Oracle(Record):
    """A direction for the evaluator and a check for the engine (§13.2)."""

    id: OracleId
    direction: Direction | None
    check: Expression | None
    polarity: Polarity
    commentary: str | None


class Waiver(Record):
    """An approved exception to a discipline rule (§13.3)."""

    id: WaiverId
    rule: str | None
    rationale: str | None
    condition: str | None
    approval: str | None
    expires_at: Rfc3339Utc | None


class ReferenceSetDeclaration(Record):
    """A named set of expected members (§13.4)."""

    keys: Annotated[tuple[KeyName, ...], Meta(min_length=1)]
    members: tuple[JsonObject, ...]
    commentary: str | None


class OperationReference(Record):
    """An operation by the pair that names it everywhere outside its interface (§10.1)."""

    interface_id: Identifier
    operation_id: Identifier


OperationGroup: TypeAlias = Annotated[tuple[OperationReference, ...], Meta(min_length=2)]
ParameterGroup: TypeAlias = Annotated[tuple[KeyName, ...], Meta(min_length=2)]


class SiblingGroups(Record):
    """Operations and parameters that should behave alike (§13.5); both lists empty is the explicit "none"."""

    operations: tuple[OperationGroup, ...]
    parameters: tuple[ParameterGroup, ...]


class NamedKind(Record):
    """The kind of a principal or of a test resource; valueless by design (§13.6)."""

    kind: Text


class TestData(Record):
    """Set-up, clean-up, and the principals and resources a plan may name (§13.6)."""

    __test__: ClassVar[bool] = False  # its name alone would make pytest collect it

    setup: str | None
    cleanup: str | None
    principals: Mapping[Identifier, NamedKind] | None
    resources: Mapping[Identifier, NamedKind] | None

    def __post_init__(self) -> None:
        freeze_maps(self, "principals", "resources")


class InteractionStep(Record):
    """A selector over the observations an evaluator produced, never an instruction (§12.1)."""

    step_id: Identifier
    interface_id: Identifier
    operation_id: Identifier
    input_binding: InputBinding
    after: Identifier | None
    cardinality: Literal["exactly-one", "at-most-one", "any"]


class FixtureReset(Record):
    """The operation that restores the fixture (§11.5)."""

    leg_id: Identifier
    interface_id: Identifier
    operation_id: Identifier
    inputs: WitnessInputs


class EvalContract(Artifact):
    """The whole contract (§13)."""

    contract_id: Identifier
    source_spec_digest: Digest | None
    behaviors: Annotated[tuple[Behavior, ...], Meta(min_length=1)]
    oracles: tuple[Oracle, ...]
    rubrics: tuple[RubricBody, ...]
    waivers: tuple[Waiver, ...]
    permitted_interfaces: tuple[PermittedInterface, ...]
    reference_sets: Mapping[Identifier, ReferenceSetDeclaration] | None
    sibling_groups: SiblingGroups | None
    interaction_plan: tuple[InteractionStep, ...]
    scoped_resources: tuple[ScopedResource, ...] | None
    forbidden_inputs: tuple[ForbiddenInput, ...]
    test_data: TestData
    budgets: Budgets
    safety_limits: tuple[str, ...]
    required_evidence: tuple[str, ...]
    probe_step_bound: Count | None
    fixture_reset: FixtureReset | None

    def __post_init__(self) -> None:
        freeze_maps(self, "reference_sets")
