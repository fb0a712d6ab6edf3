"""What an external evaluator hands in, and the check of its form (spec 12 §12.14.5).

The check says which entry breaks which rule and never what would be right: the runner corrects form, not substance.

1. The shape.
2. Oracle and behavior ids stand in the brief; one disposition an oracle.
3. Cited observation ids were given to this evaluator.
4. Every quotation is a substring of the evidence text it names.
"""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Final, Literal, NamedTuple, TypeAlias

import msgspec

from eval_quality.errors import RuntimeFault, SchemaIssues
from eval_quality.model.decode import decode
from eval_quality.model.evidence import QuotedEvidence
from eval_quality.model.primitives import BehaviorId, Identifier, OracleId, Severity
from eval_quality.model.record import Record

MAX_ATTEMPTS: Final = 3
"""Form checks per trial; after the last the document is taken as it is, if its shape is valid."""

_Confidence = Annotated[float, msgspec.Meta(ge=0, le=1)]
_Summary = Annotated[str, msgspec.Meta(min_length=1)]


class Disposition(Record):
    """The evaluator's word on one oracle."""

    oracle_id: OracleId
    disposition: Literal["held", "violated", "not-attempted"]
    observation_ids: tuple[Identifier, ...]
    note: str | None = None


class DefectFinding(Record, tag_field="findingType", tag="defect"):
    """A claimed defect, with what it saw."""

    severity: Severity
    summary: _Summary
    confidence: _Confidence
    observation_ids: Annotated[tuple[Identifier, ...], msgspec.Meta(min_length=1)]
    quoted_evidence: Annotated[tuple[QuotedEvidence, ...], msgspec.Meta(min_length=1)]
    oracle_id: OracleId | None = None
    behavior_id: BehaviorId | None = None


class ObservationFinding(Record, tag_field="findingType", tag="observation"):
    """Something noticed that is no defect."""

    severity: Severity
    summary: _Summary
    confidence: _Confidence
    observation_ids: tuple[Identifier, ...]
    oracle_id: OracleId | None = None
    behavior_id: BehaviorId | None = None


class ConfirmationFinding(Record, tag_field="findingType", tag="confirmation"):
    """A statement that something is as it should be."""

    severity: Severity
    summary: _Summary
    confidence: _Confidence
    observation_ids: tuple[Identifier, ...]
    oracle_id: OracleId | None = None
    behavior_id: BehaviorId | None = None


SubmittedFinding: TypeAlias = DefectFinding | ObservationFinding | ConfirmationFinding


class Submission(Record):
    """The whole submission document."""

    schema_version: Literal[1]
    recommendation: Literal["PASS", "CONCERNS", "FAIL"]
    dispositions: tuple[Disposition, ...]
    findings: tuple[SubmittedFinding, ...]


class Given(NamedTuple):
    """What the evaluator was given, to hold a submission against.

    `evidence` maps an observation id to the text of each channel (`artifact/<id>` for files).
    """

    oracle_ids: tuple[str, ...]
    behavior_ids: tuple[str, ...]
    evidence: Mapping[str, Mapping[str, str]]


class FormError(NamedTuple):
    """One broken rule: where in the submission (an RFC 6901 pointer), and which rule."""

    at: str
    rule: str


def read_submission(value: Any) -> Submission | tuple[FormError, ...]:
    """The submission, or every reason why its shape is wrong."""
    try:
        return decode(Submission, value, "Submission")
    except RuntimeFault as fault:
        issues = fault.cause.issues if isinstance(fault.cause, SchemaIssues) else ()
        found = tuple(
            FormError("/" + "/".join(str(part) for part in issue.path) if issue.path else "", issue.message)
            for issue in issues
        )
        return found or (FormError("", "the document is not a submission"),)


def form_errors(submission: Submission, given: Given) -> tuple[FormError, ...]:
    """Every rule of form the submission breaks."""
    return tuple(_dispositions(submission, given)) + tuple(_findings(submission, given))


def _dispositions(submission: Submission, given: Given) -> Iterator[FormError]:
    seen: set[str] = set()
    for index, entry in enumerate(submission.dispositions):
        at = f"/dispositions/{index}"
        if entry.oracle_id not in given.oracle_ids:
            yield FormError(f"{at}/oracleId", "names no oracle of the brief")
        if entry.oracle_id in seen:
            yield FormError(f"{at}/oracleId", "repeats an oracle; one disposition an oracle")
        seen.add(entry.oracle_id)
        yield from _citations(entry.observation_ids, given, at)


def _findings(submission: Submission, given: Given) -> Iterator[FormError]:
    for index, finding in enumerate(submission.findings):
        at = f"/findings/{index}"
        if finding.oracle_id is not None and finding.oracle_id not in given.oracle_ids:
            yield FormError(f"{at}/oracleId", "names no oracle of the brief")
        if finding.behavior_id is not None and finding.behavior_id not in given.behavior_ids:
            yield FormError(f"{at}/behaviorId", "names no behavior of the brief")
        yield from _citations(finding.observation_ids, given, at)
        if not isinstance(finding, DefectFinding):
            continue
        for quote_index, quoted in enumerate(finding.quoted_evidence):
            name = f"artifact/{quoted.artifact_id}" if quoted.channel == "artifact" else quoted.channel
            texts = [given.evidence.get(cited, {}).get(name, "") for cited in finding.observation_ids]
            if not any(quoted.quote in text for text in texts):
                rule = "occurs in no cited observation; quote the evidence text character for character"
                yield FormError(f"{at}/quotedEvidence/{quote_index}/quote", rule)


def _citations(observation_ids: tuple[str, ...], given: Given, at: str) -> Iterator[FormError]:
    for index, name in enumerate(observation_ids):
        if name not in given.evidence:
            yield FormError(f"{at}/observationIds/{index}", "names no observation of this trial")


def empty_submission() -> Submission:
    """What stands in for an evaluator that submitted nothing (12.14.5)."""
    return Submission(schema_version=1, recommendation="CONCERNS", dispositions=(), findings=())
