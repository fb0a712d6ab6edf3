"""Probes: a planted defect, or a clean control, with the proof that it is what it says (spec 02 §11.4, §15).

A document is one of two shapes told apart by `expectedClean`: a clean control seeds nothing and has no signature, a
seeded probe always has the member, `None` only for a canary (the qualification gate's business).
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, TypeAlias

from msgspec import UNSET, Meta, UnsetType

from eval_quality.model.binding import ProbeInputBinding, WitnessInputs
from eval_quality.model.evidence import ArtifactReference
from eval_quality.model.expression import Expression
from eval_quality.model.interface import CommandInvocation
from eval_quality.model.lineage import Artifact
from eval_quality.model.primitives import (
    BehaviorId,
    DefectId,
    Digest,
    EvidenceChannel,
    HttpMethod,
    Identifier,
    PathTemplate,
    ProbeId,
    Severity,
    Text,
    ToolName,
)
from eval_quality.model.record import Record

ProbeClass = Literal["defect", "gameability", "zero-action", "canary"]


class ManifestationWitness(Record):
    """One call and the relation that is true exactly when the seeded fault has fired (§11.4)."""

    leg_id: Identifier
    interface_id: Identifier
    operation_id: Identifier
    inputs: WitnessInputs
    relation: Expression


class Defect(Record):
    """One seeded defect (§15.1)."""

    defect_id: DefectId
    behavior_id: BehaviorId
    summary: Text
    severity: Severity
    oracle_evidence: tuple[ArtifactReference, ...]
    source: Literal["natural", "controlled-mutation"]
    manifestation_witness: ManifestationWitness | None


class HistoricalQualification(Record, tag_field="route", tag="historical"):
    """A real bug and the revision that fixed it (§15.2)."""

    route: ClassVar[Literal["historical"]] = "historical"
    fail_before_evidence: ArtifactReference
    pass_after_evidence: ArtifactReference
    fix_commit_digest: Digest
    oracle_stable_across_revisions: bool


class ControlledMutationQualification(Record, tag_field="route", tag="controlled-mutation"):
    """A mutant made on purpose (§15.2)."""

    route: ClassVar[Literal["controlled-mutation"]] = "controlled-mutation"
    mutation_source: Text
    mutation_operator: Text
    target_artifact: ArtifactReference
    expected_observable_failure: Text
    baseline_pass_evidence: ArtifactReference
    mutated_fail_evidence: ArtifactReference
    rollback_verified: bool


class GameabilityQualification(Record, tag_field="route", tag="gameability"):
    """A degenerate answer that a naive oracle accepts (§15.2)."""

    route: ClassVar[Literal["gameability"]] = "gameability"
    degenerate_response: Text
    naive_oracle_satisfied_evidence: ArtifactReference
    disciplined_oracle_rejected_evidence: ArtifactReference


class CanaryQualification(Record, tag_field="route", tag="canary"):
    """A probe that nothing can detect: a detection indicts the corpus or the fixture (§15.2)."""

    route: ClassVar[Literal["canary"]] = "canary"
    indicts: Literal["corpus", "fixture"]
    non_detection_evidence: ArtifactReference


class CleanControlQualification(Record, tag_field="route", tag="clean-control"):
    """A revision without a known defect (§15.2)."""

    route: ClassVar[Literal["clean-control"]] = "clean-control"
    baseline_pass_evidence: ArtifactReference
    revision_commit_digest: Digest
    no_known_defect_statement: Text


ProbeQualification: TypeAlias = (
    HistoricalQualification
    | ControlledMutationQualification
    | GameabilityQualification
    | CanaryQualification
    | CleanControlQualification
)


class SignatureSelector(Record):
    """Which calls a signature looks at."""

    input_binding: ProbeInputBinding


class DiscriminatingCondition(Record):
    """Which calls, and what their answer shows when the defect is there (§15.3)."""

    selector: SignatureSelector
    predicate: Expression


class _Signature(Record):
    PLAIN: ClassVar[bool] = True


class ApiSignature(_Signature, tag_field="interfaceKind", tag="api"):
    """Where a defect of an HTTP operation shows (§15.3)."""

    interface_kind: ClassVar[Literal["api", "web"]] = "api"
    method: HttpMethod
    path_template: PathTemplate
    observable_channel: EvidenceChannel
    condition: DiscriminatingCondition


class WebSignature(ApiSignature, tag_field="interfaceKind", tag="web"):
    """The same shape on the `web` kind (§15.3)."""

    interface_kind: ClassVar[Literal["api", "web"]] = "web"


class CommandSignature(_Signature, tag_field="interfaceKind", tag="cli"):
    """Where a defect of a command shows (§15.3)."""

    interface_kind: ClassVar[Literal["cli"]] = "cli"
    invocation: CommandInvocation
    observable_channel: EvidenceChannel
    condition: DiscriminatingCondition


class ToolSignature(_Signature, tag_field="interfaceKind", tag="mcp"):
    """Where a defect of a tool shows (§15.3)."""

    interface_kind: ClassVar[Literal["mcp"]] = "mcp"
    tool_name: ToolName
    observable_channel: EvidenceChannel
    condition: DiscriminatingCondition


DefectSignature: TypeAlias = ApiSignature | WebSignature | CommandSignature | ToolSignature


class Probe(Artifact):
    """What both shapes of a probe have (§15). Decoding gives a `CleanProbe` or a `SeededProbe`."""

    BRANCH_KEY: ClassVar[str | None] = "expectedClean"

    probe_id: ProbeId
    probe_class: ProbeClass
    behavior_id: BehaviorId
    system_id: Text
    implementation_digest: Digest
    artifact_digest: Digest
    commit_digest: Digest
    rationale: Text
    qualification: ProbeQualification
    expected_clean: bool
    defects: tuple[Defect, ...]
    if TYPE_CHECKING:

        @property
        def defect_signature(self) -> DefectSignature | UnsetType | None:
            """UNSET on a clean control; None only for a canary."""
            ...

    @classmethod
    def branches(cls) -> Mapping[Any, type[Record]]:
        """The shape for each value of `expectedClean`."""
        return {True: CleanProbe, False: SeededProbe}


class CleanProbe(Probe):
    """A control that seeds nothing."""

    BRANCH_KEY: ClassVar[str | None] = None

    defects: Annotated[tuple[Defect, ...], Meta(max_length=0)]

    @property
    def defect_signature(self) -> UnsetType:
        """A clean control has no signature."""
        return UNSET


class SeededProbe(Probe):
    """A probe expected to be caught, or a canary expected not to be."""

    BRANCH_KEY: ClassVar[str | None] = None

    defect_signature: DefectSignature | None  # pyright: ignore[reportIncompatibleMethodOverride]
