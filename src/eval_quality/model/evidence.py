"""References to evidence, and the small shapes that evidence documents share (spec 02 §5.3 to §5.6, §16.3, §18)."""

from collections.abc import Mapping
from typing import Any, ClassVar, Literal, TypeAlias

from eval_quality.errors import Problem
from eval_quality.model.lineage import Artifact
from eval_quality.model.primitives import (
    Amount,
    Count,
    Digest,
    EvidenceChannel,
    Identifier,
    Text,
    UnsignedDecimalString,
)
from eval_quality.model.record import Record


class ExternalLink(Record):
    """An opaque link to a requirement or a risk (§5.3)."""

    scheme: Text
    id: Text


class ScopedResource(Record):
    """An opaque resource a contract names (§5.4)."""

    reference: Text
    kind: Text


class Budgets(Record):
    """What an evaluator may spend (§5.5)."""

    max_tool_calls: Count
    max_wall_clock_minutes: Count
    max_cost_usd: UnsignedDecimalString


class ResourceUse(Record):
    """What a run spent (§5.6)."""

    tool_calls: Count
    input_tokens: Count
    output_tokens: Count
    wall_clock_seconds: Amount
    cost_usd: UnsignedDecimalString


class PublicReference(Record, tag_field="storage", tag="public"):
    """Evidence published under a path (§18.1)."""

    storage: ClassVar[Literal["public"]] = "public"
    path: Text
    private_ref: None
    digest: Digest


class PrivateReference(Record, tag_field="storage", tag="private"):
    """Evidence behind an opaque handle, never a path or a URL (§18.1)."""

    storage: ClassVar[Literal["private"]] = "private"
    path: None
    private_ref: Text
    digest: Digest


ArtifactReference: TypeAlias = PublicReference | PrivateReference


class QuotedEvidence(Record):
    """A quotation and the channel it was read from; `artifact_id` names the written file exactly when the channel is
    `artifact` (§16.3)."""

    PLAIN: ClassVar[bool] = True
    REFINED: ClassVar[tuple[str, ...]] = ("channel", "artifactId")

    quote: Text
    channel: EvidenceChannel
    artifact_id: Identifier | None

    def __post_init__(self) -> None:
        if (self.channel == "artifact") != (self.artifact_id is not None):
            raise ValueError("artifactId goes with the channel artifact, and with it alone")

    @classmethod
    def refine(cls, value: Mapping[str, Any]) -> tuple[Problem, ...]:
        """The rule of `__post_init__`, on a plain value."""
        if (value["channel"] == "artifact") != (value["artifactId"] is not None):
            return (Problem(("artifactId",), "custom", "goes with the channel artifact, and with it alone"),)
        return ()


class PrivateArtifactEntry(Record):
    """One private payload: its handle and the digest it is declared to have (§18.2)."""

    private_ref: Text
    digest: Digest
    artifact_kind: Literal[
        "private-input-record",
        "raw-trace",
        "raw-result",
        "human-label",
        "implementation-patch",
        "isolation-manifest",
        "scripted-baseline-output",
        "other",
    ]
    public_safe_run_id: str | None
    sanitization_policy: Text | None


class PrivateArtifactManifest(Artifact):
    """The private payloads of a run (§18.2)."""

    entries: tuple[PrivateArtifactEntry, ...]
