"""A trial set judged (spec 08 §7): outcomes, votes, reduction, strength, and what the ladders read.

    1  qualification and designated oracle are given
    5  per trial and oracle: the outcome, and the trial's vote
    6  the votes reduced
    7  conditions, violations, confidences and uncited findings of every trial, in trial order
    8  coverage gaps of the contract
    9  disagreements within the set, and with the supplied contract
    10 mode, recommendation and run id of the first trial
    11 the ladder of the mode

The judge's conduct is a fact of the whole set, so outcomes are decided here and not while a trial is read.
"""

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from eval_quality.core.coverage.evaluate import coverage_gaps
from eval_quality.core.ingest.conditions import JudgeResultUnscored
from eval_quality.core.qualify import QualificationResult
from eval_quality.core.score.assessment import Assessment, ScoredOutcome
from eval_quality.core.score.ladder import LadderResolution, resolve_ladder
from eval_quality.core.score.outcome import Facts, OracleOutcome, decide
from eval_quality.core.score.reduction import INVALIDATING_STATES, Reduction, reduce_votes
from eval_quality.core.score.strength import STRENGTH_CLASSES, Caught, class_strength, strength, strength_class
from eval_quality.core.score.trial import OracleReading, TrialReading, oracle_severity
from eval_quality.core.severity import LOWEST
from eval_quality.model.artifact import ReducedProbeOutcome, Strength, TrialOutcome, Trials, TrialVote
from eval_quality.model.contract import EvalContract
from eval_quality.model.decode import to_value
from eval_quality.model.policy import ScoringPolicy
from eval_quality.model.preflight import PreflightVerdict
from eval_quality.model.primitives import OutcomeState, Severity
from eval_quality.model.probe import Probe
from eval_quality.value.digest import digest_value

SET_FIELDS: Final = (
    ("evaluatorConfigurationDigest", "evaluator_configuration_digest"),
    ("mode", "mode"),
    ("evaluatorRecommendation", "evaluator_recommendation"),
    ("runId", "run_id"),
)
"""The fields every trial shares with the first: wire name and attribute, in order (spec 08 §7.2)."""


class ScoredRun(NamedTuple):
    """Everything scoring knows about one run: the ladder's inputs and answer, and what the artifact records."""

    assessment: Assessment
    ladder: LadderResolution
    qualification: QualificationResult
    readings: tuple[TrialReading, ...]
    trial_outcomes: tuple[TrialOutcome, ...]
    reduced: ReducedProbeOutcome
    reduction: Reduction
    strength: Strength


def assess(
    contract: EvalContract,
    readings: Sequence[TrialReading],
    probe: Probe,
    preflight: PreflightVerdict,
    policy: ScoringPolicy,
    qualification: QualificationResult,
    designated_oracle_id: str | None,
    waiver: str = "none",
    evaluation_fault: bool = False,
) -> ScoredRun:
    """Judge a non-empty trial set, `readings` in ascending trial order (spec 08 §7).

    `waiver` and `evaluation_fault` are the caller's; no shipped command sets them.
    """
    of_the_set = {"judge": _judge_conduct(contract, readings), "waiver": waiver, "evaluation_fault": evaluation_fault}
    ladder_severity: dict[str, Severity] = {
        oracle.id: oracle_severity(contract, oracle.id) for oracle in contract.oracles
    }
    probe_severity = _probe_severity(contract, probe)
    # An outcome depends on nothing but its key, and a set of trials has few of them.
    decided: dict[tuple[Facts, str | None], OracleOutcome] = {}

    def outcome_of(entry: OracleReading) -> OracleOutcome:
        key = (entry.facts, entry.cited_finding_id)
        if key not in decided:
            decided[key] = decide(entry.facts._replace(**of_the_set), entry.cited_finding_id)
        return decided[key]

    scored: list[ScoredOutcome] = []
    detailed: list[TrialOutcome] = []
    votes: list[TrialVote] = []
    for trial in readings:
        outcomes = [outcome_of(entry) for entry in trial.oracles]
        for entry, outcome in zip(trial.oracles, outcomes, strict=True):
            scored.append(_scored(entry, outcome, ladder_severity[entry.oracle_id]))
            detailed.append(_detailed(entry, outcome, probe, probe_severity, trial.trial_index))
        vote = _vote(trial.oracles, outcomes, designated_oracle_id)
        if vote is not None:
            votes.append(TrialVote(trial_index=trial.trial_index, state=vote))
    reduction = reduce_votes(votes, policy.catch_threshold)
    trials = Trials(
        declared_minimum=policy.minimum_trial_count,
        completed=len(readings),
        completed_attempts=tuple(trial.trial_index for trial in readings),
        invalidated_attempts=reduction.invalidated_attempts,
    )
    first = readings[0]
    assessment = Assessment(
        mode=first.mode,
        run_id=first.run_id,
        outcomes=scored,
        unwitnessed_quotations=[entry for trial in readings for entry in trial.unwitnessed_quotations],
        trials=trials,
        re_execution_cap=policy.re_execution_cap,
        isolation_violations=[entry for trial in readings for entry in trial.isolation_violation],
        conditions=[entry for trial in readings for entry in trial.conditions],
        disagreements=tuple(set_disagreements(contract, readings)),
        evaluator_recommendation=first.evaluator_recommendation,
        coverage_gaps=coverage_gaps(contract),
        uncited_defect_findings=[entry for trial in readings for entry in trial.uncited_defect_findings],
        confidences=[entry for trial in readings for entry in trial.confidences],
        confidence_threshold=policy.confidence_threshold,
        severity_floor=policy.severity_floor,
        preflight_passed=preflight.passed,
    )
    return ScoredRun(
        assessment=assessment,
        ladder=resolve_ladder(assessment),
        qualification=qualification,
        readings=tuple(readings),
        trial_outcomes=tuple(detailed),
        reduced=ReducedProbeOutcome(
            probe_id=probe.probe_id,
            severity=probe_severity,
            exercised=reduction.exercised,
            caught=reduction.caught,
            catch_threshold=policy.catch_threshold,
            trial_votes=tuple(votes),
            valid_count=reduction.valid_count,
            caught_count=reduction.caught_count,
            invalidated_attempts=reduction.invalidated_attempts,
        ),
        reduction=reduction,
        strength=_strength(probe, qualification, reduction, trials, detailed),
    )


def set_disagreements(contract: EvalContract, readings: Sequence[TrialReading]) -> Iterator[str]:
    """What the trials contradict: the supplied contract, the first trial, each other's index (spec 08 §7.2)."""
    expected = digest_value(to_value(contract), "EvalContract")
    first = readings[0]
    for position, trial in enumerate(readings):
        if trial.contract_digest != expected:
            yield (
                f'contractDigest: trial {trial.trial_index} = "{trial.contract_digest}", '
                f'supplied EvalContract = "{expected}"'
            )
        if position == 0:
            continue
        for field, attribute in SET_FIELDS:
            here, there = getattr(first, attribute), getattr(trial, attribute)
            if here != there:
                yield f'{field}: trial {first.trial_index} = "{here}", trial {trial.trial_index} = "{there}"'
    seen: set[int] = set()
    for trial in readings:
        if trial.trial_index in seen:
            yield f"trialIndex: duplicate value {trial.trial_index}"
        seen.add(trial.trial_index)


def _judge_conduct(contract: EvalContract, readings: Sequence[TrialReading]) -> str:
    if not contract.rubrics:
        return "absent"
    unscored = any(isinstance(entry, JudgeResultUnscored) for trial in readings for entry in trial.conditions)
    return "malformed" if unscored else "conforming"


def _probe_severity(contract: EvalContract, probe: Probe) -> Severity:
    """Severity of the first behaviour the probe names; `low` without one (spec 08 §7 step 3)."""
    named = next((entry for entry in contract.behaviors if entry.id == probe.behavior_id), None)
    return LOWEST if named is None else named.severity


def _scored(entry: OracleReading, outcome: OracleOutcome, severity: Severity) -> ScoredOutcome:
    resolved = entry.cited_severity if outcome.resolved_from is not None else None
    return ScoredOutcome(
        oracle_id=entry.oracle_id,
        required=True,
        severity=resolved or severity,
        check_resolved=entry.check_resolution is not None,
        outcome=outcome,
    )


def _detailed(
    entry: OracleReading, outcome: OracleOutcome, probe: Probe, severity: Severity, trial_index: int
) -> TrialOutcome:
    return TrialOutcome(
        oracle_id=entry.oracle_id,
        probe_id=probe.probe_id,
        state=outcome.state,
        severity=severity,
        disposition=entry.disposition,
        resolved_from=outcome.resolved_from,
        corroboration=outcome.corroboration,
        selected_observation_ids=entry.selected_observation_ids,
        check_resolution=entry.check_resolution,
        trial_index=trial_index,
    )


def _vote(
    readings: Sequence[OracleReading], outcomes: Sequence[OracleOutcome], designated_oracle_id: str | None
) -> OutcomeState | None:
    """The one state a trial contributes; None for a contract without oracles (spec 08 §7 step 5.5)."""
    states: list[OutcomeState] = [outcome.state for outcome in outcomes]
    for entry, state in zip(readings, states, strict=True):
        if entry.oracle_id == designated_oracle_id:
            return state
    for state in states:
        if state in INVALIDATING_STATES:
            return state
    return states[0] if states else None


def _strength(
    probe: Probe,
    qualification: QualificationResult,
    reduction: Reduction,
    trials: Trials,
    outcomes: Sequence[TrialOutcome],
) -> Strength:
    counted = strength_class(probe.probe_class, probe.expected_clean) if qualification.qualified else None
    reductions = {probe.probe_id: Caught(reduction.exercised, reduction.caught)}
    return strength(
        vector={
            name: class_strength((probe.probe_id,) if name == counted else (), reductions) for name in STRENGTH_CLASSES
        },
        admitted=int(qualification.qualified),
        completed=trials.completed,
        declared_minimum=trials.declared_minimum,
        outcomes=[(outcome.oracle_id, outcome.state) for outcome in outcomes],
    )
