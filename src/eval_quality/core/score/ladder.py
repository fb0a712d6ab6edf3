"""The two verdict ladders (spec 09 §2).

1. Rungs are tried in order Invalid, FAIL, CONCERNS, WAIVED. Each row of a rung gives zero or more basis strings.
2. The first rung with a string wins, and its strings, row by row, are the basis. Lower rungs contribute nothing.
3. When no rung fires the verdict is PASS with an empty basis.

`production` and `contract-scoring` share every row but the two that read the evaluator's recommendation: a contract is
judged by what its oracles did, a system also by what its evaluator recommends. No row reads `caught`.

Basis strings are members of the artifact and of its digest.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Final, NamedTuple, TypeAlias, TypeVar

from eval_quality.core.ingest.conditions import (
    Condition,
    CrossArtifactDisagreement,
    DanglingCitation,
    DanglingDispositionCitation,
    DuplicateRecordIdentifier,
    EvaluatorConfigurationAbsent,
    EvaluatorConfigurationDigestMismatch,
    ForbiddenInputNotWithheld,
    JudgeResultUnscored,
)
from eval_quality.core.score.assessment import Assessment, ScoredOutcome
from eval_quality.core.score.outcome import AMBIGUOUS_SELECTOR, NO_DISPOSITION, UNWITNESSED_CLAIM
from eval_quality.core.score.reduction import INVALIDATING_STATES
from eval_quality.core.severity import at_or_above
from eval_quality.model.record import Record
from eval_quality.value.text import js_number

BOTH: Final = ("production", "contract-scoring")
PRODUCTION: Final = ("production",)

FAILURE_STATES: Final = ("missed", "abstained", "bypassed", "false-positive")
"""States that fail at or above the severity floor and raise concerns below it (spec 09 §2.5)."""


BasisOf: TypeAlias = Callable[[Assessment], Iterable[str]]
"""What a row has to say about a run; nothing when it does not fire."""


class LadderRow(NamedTuple):
    """One row: its name, the modes it is read in, what fires it in words, and the basis strings it gives.

    `evidence` marks a row about how much was measured rather than what: concerns from such rows alone are never
    promoted by `--strict`.
    """

    name: str
    fires: str
    basis: BasisOf
    modes: tuple[str, ...] = BOTH
    evidence: bool = False


class Rung(NamedTuple):
    """One rung: its verdict (None on the Invalid rung), its exit code and its rows in order."""

    name: str
    verdict: str | None
    exit_code: int
    rows: tuple[LadderRow, ...]


class LadderResolution(Record):
    """The verdict of one run. `verdict` is None on the Invalid rung, where no artifact is minted."""

    verdict: str | None
    exit_code: int
    strict_promotable: bool
    basis: tuple[str, ...]


Kind = TypeVar("Kind", bound=Condition)


def _conditions(run: Assessment, kind: type[Kind]) -> Iterator[Kind]:
    return (condition for condition in run.conditions if isinstance(condition, kind))


def _with_condition(run: Assessment, name: str) -> Iterator[ScoredOutcome]:
    return (entry for entry in run.outcomes if name in entry.outcome.invalidating_conditions)


def _in_state(run: Assessment, states: tuple[str, ...]) -> Iterator[ScoredOutcome]:
    return (entry for entry in run.outcomes if entry.outcome.state in states)


def _once(fires: bool, text: str) -> tuple[str, ...]:
    return (text,) if fires else ()


def _row(name: str, fires: str, basis: BasisOf, modes: tuple[str, ...] = BOTH, evidence: bool = False) -> LadderRow:
    """A row; a plain function, so that a checker knows what the lambdas take."""
    return LadderRow(name, fires, basis, modes, evidence)


# spec 09 §2.1
INVALID_ROWS: Final[tuple[LadderRow, ...]] = (
    _row(
        "invalidating-state",
        "outcome in state `oracle-error`, `judge-error` or `infrastructure-error`",
        lambda run: (
            f"oracle {entry.oracle_id} resolved {entry.outcome.state}" for entry in _in_state(run, INVALIDATING_STATES)
        ),
    ),
    _row(
        "failed-preflight",
        "pre-flight did not pass",
        lambda run: _once(not run.preflight_passed, "pre-flight verdict did not pass"),
    ),
    _row(
        "isolation-manifest-violation",
        "isolation violation",
        lambda run: (f"isolation manifest violation: {violation}" for violation in run.isolation_violations),
    ),
    _row(
        "re-execution-cap-breach",
        "more invalidated attempts than the re-execution cap",
        lambda run: _once(
            len(run.trials.invalidated_attempts) > run.re_execution_cap,
            f"{len(run.trials.invalidated_attempts)} invalidated attempts exceeded the re-execution cap of "
            f"{run.re_execution_cap}",
        ),
    ),
    _row(
        "disposition-missing",
        "outcome without a disposition",
        lambda run: (
            f"oracle {entry.oracle_id} is required and carries no disposition"
            for entry in _with_condition(run, NO_DISPOSITION)
        ),
    ),
    _row(
        "required-check-unresolved",
        "outcome whose oracle has no check",
        lambda run: (
            f"oracle {entry.oracle_id} is required and its check never resolved"
            for entry in run.outcomes
            if entry.required and not entry.check_resolved
        ),
    ),
    _row(
        "selector-ambiguity",
        "outcome with an ambiguous step",
        lambda run: (
            f"oracle {entry.oracle_id}: selector ambiguity" for entry in _with_condition(run, AMBIGUOUS_SELECTOR)
        ),
    ),
    _row(
        "unwitnessed-claim",
        "outcome with an unwitnessed detection claim",
        lambda run: (
            f"oracle {entry.oracle_id}: unwitnessed detection claim"
            for entry in _with_condition(run, UNWITNESSED_CLAIM)
        ),
    ),
    _row(
        "unwitnessed-quotation",
        "quotation that no cited observation contains",
        lambda run: (
            f"finding {entry.finding_id}: unwitnessed quotation on channel {entry.channel}"
            for entry in run.unwitnessed_quotations
        ),
    ),
    _row(
        "duplicate-record-identifier",
        "identifier carried twice within a record",
        lambda run: (
            f'duplicate {entry.subject} identifier "{entry.identifier}" ({entry.occurrences} occurrences)'
            for entry in _conditions(run, DuplicateRecordIdentifier)
        ),
    ),
    _row(
        "dangling-citation",
        "finding citing an observation the record lacks",
        lambda run: (
            f"finding {entry.finding_id} cites unresolved observation(s): {', '.join(entry.unresolved_observation_ids)}"
            for entry in _conditions(run, DanglingCitation)
        ),
    ),
    _row(
        "dangling-disposition-citation",
        "disposition citing an observation the record lacks",
        lambda run: (
            f"oracle {entry.oracle_id} disposition cites unresolved observation(s): "
            f"{', '.join(entry.unresolved_observation_ids)}"
            for entry in _conditions(run, DanglingDispositionCitation)
        ),
    ),
    _row(
        "forbidden-input-not-withheld",
        "forbidden input the evaluator could see",
        lambda run: (
            f"forbidden input admitted rather than withheld: {name}"
            for entry in _conditions(run, ForbiddenInputNotWithheld)
            for name in entry.inputs
        ),
    ),
    _row(
        "cross-artifact-disagreement",
        "field on which record and manifest differ",
        lambda run: (
            f'record and manifest disagree on {entry.field}: record "{entry.record_value}", '
            f'manifest "{entry.manifest_value}"'
            for entry in _conditions(run, CrossArtifactDisagreement)
        ),
    ),
    _row(
        "evaluator-configuration-absent",
        "trial without an evaluator configuration",
        lambda run: ("evaluator configuration absent" for _ in _conditions(run, EvaluatorConfigurationAbsent)),
    ),
    _row(
        "evaluator-configuration-digest-mismatch",
        "record that names another configuration",
        lambda run: (
            f'evaluator configuration digest mismatch: declared "{entry.declared_digest}", '
            f'computed "{entry.computed_digest}"'
            for entry in _conditions(run, EvaluatorConfigurationDigestMismatch)
        ),
    ),
    _row(
        "judge-result-unscored",
        "judge result without a score",
        lambda run: (
            f"judge result unscored: rubric {entry.rubric_id} criterion {entry.criterion_id}"
            for entry in _conditions(run, JudgeResultUnscored)
        ),
    ),
    _row(
        "trial-set-field-disagreement",
        "disagreement within the trial set, or with the supplied contract",
        lambda run: (f"trial-set field disagreement: {text}" for text in run.disagreements),
    ),
)

# spec 09 §2.2
FAIL_ROWS: Final[tuple[LadderRow, ...]] = (
    _row(
        "behavioural-failure-at-or-above-floor",
        "outcome in a failure state, severity at or above the floor",
        lambda run: (
            f"oracle {entry.oracle_id} resolved {entry.outcome.state} at or above the severity floor"
            for entry in _in_state(run, FAILURE_STATES)
            if at_or_above(entry.severity, run.severity_floor)
        ),
    ),
    _row(
        "evidence-incomplete",
        "evidence reported incomplete",
        lambda run: _once(run.evidence.reported_incomplete, "evidence reported incomplete"),
    ),
    _row(
        "evidence-over-truncated",
        "evidence truncated past its bound",
        lambda run: _once(run.evidence.over_truncated, "evidence truncated past its disclosed bound"),
    ),
    _row(
        "evidence-unavailable",
        "evidence unavailable",
        lambda run: _once(run.evidence.unavailable, "evidence unavailable"),
    ),
    _row(
        "evidence-internally-inconsistent",
        "evidence inconsistent with itself",
        lambda run: _once(run.evidence.internally_inconsistent, "evidence internally inconsistent"),
    ),
    _row(
        "lineage-chain-inconsistent",
        "presented lineage chain broken",
        lambda run: _once(not all(run.remediation), "presented lineage chain is internally inconsistent"),
    ),
    _row(
        "evaluator-recommendation-fail",
        "recommendation `FAIL`",
        lambda run: _once(run.evaluator_recommendation == "FAIL", "evaluator recommendation FAIL"),
        modes=PRODUCTION,
    ),
)

# spec 09 §2.3
CONCERNS_ROWS: Final[tuple[LadderRow, ...]] = (
    _row(
        "behavioural-failure-below-floor",
        "outcome in a failure state, severity below the floor",
        lambda run: (
            f"oracle {entry.oracle_id} resolved {entry.outcome.state} below the severity floor"
            for entry in _in_state(run, FAILURE_STATES)
            if not at_or_above(entry.severity, run.severity_floor)
        ),
    ),
    _row(
        "coverage-gap-at-or-above-floor",
        "unsatisfied coverage gap, severity at or above the floor",
        lambda run: (
            f"coverage gap {gap.rule} unsatisfied at or above the severity floor"
            for gap in run.coverage_gaps
            if not gap.satisfied and at_or_above(gap.severity, run.severity_floor)
        ),
    ),
    _row(
        "finding-confidence-below-threshold",
        "finding less confident than the policy asks",
        lambda run: (
            f"finding {entry.finding_id} confidence {js_number(entry.confidence)} below the policy threshold"
            for entry in run.confidences
            if entry.confidence < run.confidence_threshold
        ),
    ),
    _row(
        "uncited-defect-finding",
        "defect finding that names no oracle",
        lambda run: (
            f"finding {entry.finding_id}: defect finding citing no oracle" for entry in run.uncited_defect_findings
        ),
    ),
    _row(
        "below-minimum-trial-count",
        "fewer completed trials than the policy asks",
        lambda run: _once(
            run.trials.completed < run.trials.declared_minimum,
            f"{run.trials.completed} completed trials below the declared minimum of {run.trials.declared_minimum}",
        ),
        evidence=True,
    ),
    _row(
        "oracle-unreached",
        "outcome in state `unreached`",
        lambda run: (f"oracle {entry.oracle_id} resolved unreached" for entry in _in_state(run, ("unreached",))),
        evidence=True,
    ),
    _row(
        "evaluator-recommendation-concerns",
        "recommendation `CONCERNS`",
        lambda run: _once(run.evaluator_recommendation == "CONCERNS", "evaluator recommendation CONCERNS"),
        modes=PRODUCTION,
    ),
)

# spec 09 §2.4
WAIVED_ROWS: Final[tuple[LadderRow, ...]] = (
    _row(
        "waiver-honoured",
        "outcome whose waiver was honoured",
        lambda run: (
            f"oracle {entry.oracle_id} waived (not-applicable)"
            for entry in run.outcomes
            if entry.outcome.waiver_rule == "waiver-honoured"
        ),
    ),
)

RUNGS: Final = (
    Rung("Invalid", None, 3, INVALID_ROWS),
    Rung("FAIL", "FAIL", 2, FAIL_ROWS),
    Rung("CONCERNS", "CONCERNS", 0, CONCERNS_ROWS),
    Rung("WAIVED", "WAIVED", 0, WAIVED_ROWS),
)
"""The rungs in precedence order; below the last there is PASS."""

PASSED: Final = LadderResolution(verdict="PASS", exit_code=0, strict_promotable=True, basis=())


def fired(run: Assessment, rung: Rung) -> tuple[tuple[LadderRow, tuple[str, ...]], ...]:
    """The rows of a rung that fire in the run's mode, each with its basis strings, in order."""
    rows = ((row, tuple(row.basis(run))) for row in rung.rows if run.mode in row.modes)
    return tuple((row, basis) for row, basis in rows if basis)


def resolve_ladder(run: Assessment) -> LadderResolution:
    """The verdict of one run (spec 09 §2)."""
    for rung in RUNGS:
        rows = fired(run, rung)
        if rows:
            return LadderResolution(
                verdict=rung.verdict,
                exit_code=rung.exit_code,
                strict_promotable=any(not row.evidence for row, _ in rows),
                basis=tuple(text for _, basis in rows for text in basis),
            )
    return PASSED
