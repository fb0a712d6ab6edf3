"""One trial's record, checked and ordered (spec 08 §2).

    1  duplicate identifiers     5, 6  isolation manifest        9, 10  evaluator configuration
    2  dangling citations        7     forbidden inputs          11     judge results without a score
    3  dangling dispositions     8     record against manifest
    4  quotations

Ingest never rejects: every problem becomes a condition, recorded in that order. Not carried on: evidence disclosure,
judge results, resource use, the brief's digest, artifact references, the arm.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from eval_quality.core.ingest.conditions import (
    Condition,
    DanglingCitation,
    DanglingDispositionCitation,
    DuplicateRecordIdentifier,
    JudgeResultUnscored,
    Quotation,
    UnwitnessedQuotation,
)
from eval_quality.core.ingest.manifest import configuration as configuration_conditions
from eval_quality.core.ingest.manifest import disagreements, isolation
from eval_quality.core.ingest.quotation import unwitnessed_quotations
from eval_quality.model.configuration import EvaluatorConfiguration
from eval_quality.model.decode import to_value
from eval_quality.model.isolation import IsolationManifest
from eval_quality.model.run_record import Finding, Observation, OracleDisposition, SealedRunRecord
from eval_quality.value.digest import digest_value


class ValidatedObservations(NamedTuple):
    """What scoring reads of one trial (spec 08 §2.1)."""

    run_id: str
    trial_index: int
    contract_digest: str
    evaluator_configuration_digest: str
    mode: str
    evaluator_recommendation: str
    observations: tuple[Observation, ...]
    """Ascending `sequence`, then `observationId`."""
    findings: tuple[Finding, ...]
    """Ascending `findingId`; equal identifiers keep presented order."""
    dispositions: tuple[OracleDisposition, ...]
    """Ascending `oracleId`; equal identifiers keep presented order."""
    conditions: tuple[Condition, ...]
    unwitnessed_quotations: tuple[Quotation, ...]
    isolation_violation: tuple[str, ...]


def configuration_digest(configuration: EvaluatorConfiguration | None) -> str | None:
    """Digest of the presented configuration, None without one. One configuration serves every trial of a set."""
    return None if configuration is None else digest_value(to_value(configuration), "EvaluatorConfiguration")


def ingest(
    record: SealedRunRecord,
    manifest: IsolationManifest | None,
    configuration: EvaluatorConfiguration | None,
) -> ValidatedObservations:
    """Validate one trial (spec 08 §2). Raises only `non-canonicalizable-value` (spec 08 §15)."""
    return ingest_trial(record, manifest, lambda: configuration_digest(configuration))


def ingest_trial(
    record: SealedRunRecord, manifest: IsolationManifest | None, computed_digest: Callable[[], str | None]
) -> ValidatedObservations:
    """`ingest` with the configuration's digest computed by the caller, who has it for every trial of a set.

    `computed_digest` is asked after the quotations were audited, so that the first fault of the chapter's order wins.
    """
    quotations = unwitnessed_quotations(record.findings, record.observations)
    manifest_conditions, violations = isolation(manifest)
    conditions = (
        *_duplicates(record),
        *_dangling(record),
        *((UnwitnessedQuotation(quotations),) if quotations else ()),
        *manifest_conditions,
        *(disagreements(record, manifest) if manifest is not None else ()),
        *configuration_conditions(record, computed_digest()),
        *_unscored(record),
    )
    return ValidatedObservations(
        run_id=record.run_id,
        trial_index=record.trial_index,
        contract_digest=record.contract_digest,
        evaluator_configuration_digest=record.evaluator_configuration_digest,
        mode=record.mode,
        evaluator_recommendation=record.evaluator_recommendation,
        observations=tuple(sorted(record.observations, key=lambda seen: (seen.sequence, seen.observation_id))),
        findings=tuple(sorted(record.findings, key=lambda finding: finding.finding_id)),
        dispositions=tuple(sorted(record.oracle_dispositions, key=lambda entry: entry.oracle_id)),
        conditions=conditions,
        unwitnessed_quotations=quotations,
        isolation_violation=violations,
    )


def _duplicates(record: SealedRunRecord) -> Iterator[Condition]:
    """spec 08 §2.3; a repeated `sequence` is a schema rule."""
    subjects = (
        ("observation", [entry.observation_id for entry in record.observations]),
        ("finding", [entry.finding_id for entry in record.findings]),
        ("oracle-disposition", [entry.oracle_id for entry in record.oracle_dispositions]),
        ("judge-result", [f"{entry.rubric_id}/{entry.criterion_id}" for entry in record.judge_results]),
    )
    for subject, identifiers in subjects:
        for identifier, occurrences in sorted(Counter(identifiers).items()):
            if occurrences > 1:
                yield DuplicateRecordIdentifier(subject, identifier, occurrences)


def _dangling(record: SealedRunRecord) -> Iterator[Condition]:
    """spec 08 §2.4; two findings that share an identifier yield two conditions."""
    declared = frozenset(entry.observation_id for entry in record.observations)

    def unresolved(cited: Iterable[str]) -> tuple[str, ...]:
        return tuple(name for name in dict.fromkeys(cited) if name not in declared)

    findings = sorted((entry.finding_id, *unresolved(entry.observation_ids)) for entry in record.findings)
    yield from (DanglingCitation(finding_id, tuple(missing)) for finding_id, *missing in findings if missing)
    entries = sorted((entry.oracle_id, *unresolved(entry.observation_ids)) for entry in record.oracle_dispositions)
    yield from (DanglingDispositionCitation(oracle_id, tuple(missing)) for oracle_id, *missing in entries if missing)


def _unscored(record: SealedRunRecord) -> Iterator[Condition]:
    """spec 08 §2.10; whether a rubric has the criterion is not checked."""
    pairs = {(entry.rubric_id, entry.criterion_id) for entry in record.judge_results if entry.score is None}
    yield from (JudgeResultUnscored(rubric_id, criterion_id) for rubric_id, criterion_id in sorted(pairs))
