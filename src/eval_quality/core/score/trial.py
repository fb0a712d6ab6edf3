"""One trial read to the end (spec 08 §7 step 5), in the form that outlives its record.

1. Select every plan step, and give each its one observation where it has one.
2. Match the witness on the designated oracle, and place every defect finding.
3. Per oracle, in contract order: resolve its check, and collect the facts its outcome follows from.

What a trial leaves behind is a `TrialReading`: facts, identifiers and result trees, none of its evidence. One fact is
missing until every trial was read, the judge's conduct, so outcomes are decided in `score/assess.py`.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

from eval_quality.core.contract.plan import PlanIndex
from eval_quality.core.contract.pointer import is_bound, parse_pointer
from eval_quality.core.contract.walk import walk
from eval_quality.core.evaluation import (
    make_pointer_denotes_collection,
    make_resolve_operand,
    reference_set_keys_of,
    reference_set_members_of,
    resolve_check,
)
from eval_quality.core.evaluation.operand import ResolveOperand
from eval_quality.core.ingest import ValidatedObservations
from eval_quality.core.ingest.conditions import Condition, Quotation
from eval_quality.core.qualify import HomeOperation, QualificationResult
from eval_quality.core.qualify.home import signature_of
from eval_quality.core.score.assessment import Confidence
from eval_quality.core.score.outcome import Facts
from eval_quality.core.score.selection import Selection, SelectionPlan
from eval_quality.core.score.witness import WitnessMatch, bucket_findings, match_witness
from eval_quality.core.severity import highest
from eval_quality.errors import RuntimeFault
from eval_quality.model.artifact import UncitedFindingGap
from eval_quality.model.contract import EvalContract, Oracle
from eval_quality.model.expression import CheckResolution, Expression
from eval_quality.model.policy import ScoringPolicy
from eval_quality.model.primitives import OracleVerdict, Severity
from eval_quality.model.probe import Probe
from eval_quality.model.run_record import DefectFinding

Shared = TypeVar("Shared")


class OracleReading(NamedTuple):
    """What one trial says about one oracle."""

    oracle_id: str
    facts: Facts
    cited_finding_id: str | None
    cited_severity: Severity | None
    """Severity of the one finding of the trial that carries the cited identifier; None when it is not one."""
    disposition: OracleVerdict
    """The single disposition, `not-attempted` when there is none or more than one (spec 09 §3.5)."""
    selected_observation_ids: tuple[str, ...]
    check_resolution: CheckResolution | None


class TrialReading(NamedTuple):
    """One trial reduced to what a verdict and an artifact need of it."""

    run_id: str
    trial_index: int
    contract_digest: str
    evaluator_configuration_digest: str
    mode: str
    evaluator_recommendation: str
    conditions: tuple[Condition, ...]
    unwitnessed_quotations: tuple[Quotation, ...]
    isolation_violation: tuple[str, ...]
    oracles: tuple[OracleReading, ...]
    confidences: tuple[Confidence, ...]
    uncited_finding_ids: tuple[str, ...]
    uncited_defect_findings: tuple[UncitedFindingGap, ...]


class TrialReader:
    """Reads trials of one run: everything that depends on the contract, the probe and the policy is done once."""

    def __init__(
        self,
        contract: EvalContract,
        probe: Probe,
        policy: ScoringPolicy,
        qualification: QualificationResult,
        home: HomeOperation | None,
        designated_oracle_id: str | None,
    ) -> None:
        index = PlanIndex(contract)
        self._probe = probe
        self._policy = policy
        self._qualified = qualification.qualified
        self._signature = signature_of(probe)
        self._home = home
        self._designated = designated_oracle_id
        self._plan = SelectionPlan(index)
        self._denotes_collection = make_pointer_denotes_collection(contract, index)
        self._members = reference_set_members_of(contract)
        self._keys = reference_set_keys_of(contract)
        self._oracles = tuple((oracle, addressed_steps(oracle.check)) for oracle in contract.oracles)
        self._shared: dict[Any, Any] = {}

    def read(self, trial: ValidatedObservations) -> TrialReading:
        """Read one trial (spec 08 §7). Raises the evaluator's runtime faults (spec 08 §15)."""
        selections = self._plan.select(trial.observations)
        witness = self._witness(trial)
        buckets = bucket_findings(
            self._probe.probe_id, self._signature is not None, self._home, trial.observations, trial.findings
        )
        resolve = make_resolve_operand(
            {selection.step_id: selection.single for selection in selections if selection.single is not None},
            self._members,
        )
        cited = _cited_by_oracle(trial)
        dispositions = _dispositions(trial)
        severities = _severities(trial)

        def reading(oracle: Oracle, steps: frozenset[str]) -> OracleReading:
            finding_id = cited.get(oracle.id)
            addressed = [entry for entry in selections if entry.step_id in steps]
            resolution = self._check(oracle, resolve)
            own_witness = witness if oracle.id == self._designated else None
            disposition, supported = dispositions.get(oracle.id, (None, True))
            observation_ids = [name for entry in addressed for name in entry.observation_ids]
            if own_witness is not None:
                observation_ids.extend(own_witness.observation_ids)
            facts = Facts(
                probe_class=self._probe.probe_class,
                expected_clean=self._probe.expected_clean,
                qualified=self._qualified,
                bucket=None if finding_id is None else buckets.bucket_of(finding_id),
                witness=None if own_witness is None else own_witness.result,
                ambiguous=any(entry.ambiguous for entry in addressed),
                selections=_selections(addressed),
                check=None if resolution is None else resolution.resolution,
                holds_expected=oracle.polarity == "expects-hold",
                disposition=disposition,
                supported=supported,
            )
            return OracleReading(
                oracle_id=oracle.id,
                facts=self._share(facts),
                cited_finding_id=finding_id,
                cited_severity=None if finding_id is None else severities.get(finding_id),
                disposition=disposition or "not-attempted",
                selected_observation_ids=self._share(tuple(dict.fromkeys(observation_ids))),
                check_resolution=self._share(resolution),
            )

        uncited = [finding for finding in trial.findings if finding.oracle_id is None]
        return TrialReading(
            run_id=trial.run_id,
            trial_index=trial.trial_index,
            contract_digest=trial.contract_digest,
            evaluator_configuration_digest=trial.evaluator_configuration_digest,
            mode=trial.mode,
            evaluator_recommendation=trial.evaluator_recommendation,
            conditions=trial.conditions,
            unwitnessed_quotations=trial.unwitnessed_quotations,
            isolation_violation=trial.isolation_violation,
            oracles=tuple(reading(oracle, steps) for oracle, steps in self._oracles),
            confidences=tuple(Confidence(finding.finding_id, finding.confidence) for finding in trial.findings),
            uncited_finding_ids=tuple(finding.finding_id for finding in uncited),
            uncited_defect_findings=tuple(
                UncitedFindingGap(
                    finding_id=finding.finding_id,
                    observation_ids=finding.observation_ids,
                    quoted_evidence=finding.quoted_evidence,
                    severity=finding.severity,
                )
                for finding in uncited
                if isinstance(finding, DefectFinding)
            ),
        )

    def _share(self, value: Shared) -> Shared:
        """One object for equal values: trials of a set differ little, and what they leave behind is kept."""
        return self._shared.setdefault(value, value)

    def _witness(self, trial: ValidatedObservations) -> WitnessMatch | None:
        if self._signature is None or self._designated is None:
            return None
        return match_witness(self._probe.probe_id, self._signature, self._home, trial.observations, trial.findings)

    def _check(self, oracle: Oracle, resolve: ResolveOperand) -> CheckResolution | None:
        """The oracle's check over the step observations; None without a check (spec 08 §7 step 5.4)."""
        if oracle.check is None:
            return None
        path = f"EvalContract.oracles[id={oracle.id}].check"
        try:
            return resolve_check(
                oracle.check, resolve, self._denotes_collection, self._keys, self._policy.regex_match_step_budget, path
            )
        except ValueError as refused:
            # Only a contract that compile refuses holds such a check, and scoring takes uncompiled contracts.
            raise RuntimeFault("operator-cannot-accept-operand", path, str(refused)) from refused


def oracle_severity(contract: EvalContract, oracle_id: str) -> Severity:
    """The highest severity among the behaviours that list the oracle; `low` when none does (spec 08 §7.1)."""
    return highest(behavior.severity for behavior in contract.behaviors if oracle_id in behavior.oracles)


def addressed_steps(check: Expression | None) -> frozenset[str]:
    """The steps a check addresses, collections of quantifiers included (spec 08 §6.1)."""
    if check is None:
        return frozenset()
    pointers = (site.operand.pointer for node in walk(check, "") for site in node.operands)
    return frozenset(
        parse_pointer(pointer).step_id for pointer in pointers if isinstance(pointer, str) and not is_bound(pointer)
    )


def _selections(addressed: Sequence[Selection]) -> str:
    if not addressed:
        return "no-step"
    return "some" if any(entry.observations for entry in addressed) else "all-none"


def _cited_by_oracle(trial: ValidatedObservations) -> Mapping[str, str]:
    """The one defect finding that names each oracle; two of them count as none (spec 08 §6.1)."""
    naming: dict[str, list[str]] = {}
    for finding in trial.findings:
        if finding.finding_type == "defect" and finding.oracle_id is not None:
            naming.setdefault(finding.oracle_id, []).append(finding.finding_id)
    return {oracle_id: ids[0] for oracle_id, ids in naming.items() if len(ids) == 1}


def _dispositions(trial: ValidatedObservations) -> Mapping[str, tuple[OracleVerdict, bool]]:
    """Each oracle's single disposition and whether it cites anything; two of them count as none."""
    occurrences = Counter(entry.oracle_id for entry in trial.dispositions)
    return {
        entry.oracle_id: (entry.disposition, bool(entry.observation_ids))
        for entry in trial.dispositions
        if occurrences[entry.oracle_id] == 1
    }


def _severities(trial: ValidatedObservations) -> Mapping[str, Severity]:
    """Severity by finding id, of the identifiers that exactly one finding carries."""
    occurrences = Counter(finding.finding_id for finding in trial.findings)
    return {finding.finding_id: finding.severity for finding in trial.findings if occurrences[finding.finding_id] == 1}
