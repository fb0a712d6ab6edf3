"""The eleven kinds of condition that ingest records (spec 08 §2.2).

Each kind is one immutable tuple with its payload. Every one of them reaches the Invalid rung; quotations and manifest
violations get there through their own lists on `ValidatedObservations`.
"""

from typing import NamedTuple, TypeAlias


class DuplicateRecordIdentifier(NamedTuple):
    """1. One identifier carried by several members of one list."""

    subject: str
    identifier: str
    occurrences: int


class DanglingCitation(NamedTuple):
    """2. A finding cites observations the record does not hold."""

    finding_id: str
    unresolved_observation_ids: tuple[str, ...]


class DanglingDispositionCitation(NamedTuple):
    """3. A disposition cites observations the record does not hold."""

    oracle_id: str
    unresolved_observation_ids: tuple[str, ...]


class Quotation(NamedTuple):
    """One quotation that no cited observation contains (spec 08 §2.5)."""

    finding_id: str
    quote_index: int
    channel: str
    quote: str
    cited_observation_ids: tuple[str, ...]


class UnwitnessedQuotation(NamedTuple):
    """4. The whole sorted list of unwitnessed quotations."""

    quotations: tuple[Quotation, ...]


class IsolationManifestAbsent(NamedTuple):
    """5. No manifest was presented."""


class IsolationManifestViolation(NamedTuple):
    """6. The manifest reports a violation, or observed more than its allowlists admit."""

    violation: str | None
    mounts_outside_allowlist: tuple[str, ...]
    network_targets_outside_allowlist: tuple[str, ...]
    tool_calls_outside_allowlist: tuple[str, ...]


class ForbiddenInputNotWithheld(NamedTuple):
    """7. Forbidden inputs the evaluator could see, in floor order."""

    inputs: tuple[str, ...]


class CrossArtifactDisagreement(NamedTuple):
    """8. Record and manifest name different things under one field."""

    field: str
    record_value: str
    manifest_value: str


class EvaluatorConfigurationAbsent(NamedTuple):
    """9. No evaluator configuration was presented."""


class EvaluatorConfigurationDigestMismatch(NamedTuple):
    """10. The record names another configuration than the one presented."""

    declared_digest: str
    computed_digest: str


class JudgeResultUnscored(NamedTuple):
    """11. A judge returned no score for a rubric criterion."""

    rubric_id: str
    criterion_id: str


Condition: TypeAlias = (
    DuplicateRecordIdentifier
    | DanglingCitation
    | DanglingDispositionCitation
    | UnwitnessedQuotation
    | IsolationManifestAbsent
    | IsolationManifestViolation
    | ForbiddenInputNotWithheld
    | CrossArtifactDisagreement
    | EvaluatorConfigurationAbsent
    | EvaluatorConfigurationDigestMismatch
    | JudgeResultUnscored
)

CONDITION_KINDS: dict[type[Condition], str] = {
    DuplicateRecordIdentifier: "duplicate-record-identifier",
    DanglingCitation: "dangling-citation",
    DanglingDispositionCitation: "dangling-disposition-citation",
    UnwitnessedQuotation: "unwitnessed-quotation",
    IsolationManifestAbsent: "isolation-manifest-absent",
    IsolationManifestViolation: "isolation-manifest-violation",
    ForbiddenInputNotWithheld: "forbidden-input-not-withheld",
    CrossArtifactDisagreement: "cross-artifact-disagreement",
    EvaluatorConfigurationAbsent: "evaluator-configuration-absent",
    EvaluatorConfigurationDigestMismatch: "evaluator-configuration-digest-mismatch",
    JudgeResultUnscored: "judge-result-unscored",
}
"""The kinds in recording order."""
