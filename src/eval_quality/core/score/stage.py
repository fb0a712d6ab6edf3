"""The pure scoring stage: validated trials in, a judged run out (spec 08 §7)."""

from collections.abc import Iterable

from eval_quality.core.ingest import ValidatedObservations
from eval_quality.core.qualify import HomeOperation, QualificationResult, resolve_home_operation, seal_probes
from eval_quality.core.qualify.home import signature_of
from eval_quality.core.score.assess import ScoredRun, assess
from eval_quality.core.score.designate import designated_oracle
from eval_quality.core.score.trial import TrialReader, TrialReading
from eval_quality.errors import DesignatedOracleRefusal
from eval_quality.model.contract import EvalContract
from eval_quality.model.policy import ScoringPolicy
from eval_quality.model.preflight import PreflightVerdict
from eval_quality.model.probe import Probe


class Scoring:
    """One run being scored: read each trial as it comes, then judge them all.

    `designated_oracle_id` is the caller's designation or None. Raises `DesignatedOracleRefusal` for one the contract
    does not admit.
    """

    def __init__(
        self, contract: EvalContract, probe: Probe, policy: ScoringPolicy, designated_oracle_id: str | None = None
    ) -> None:
        self._contract = contract
        self._probe = probe
        self._policy = policy
        self._designated = designated_oracle(contract, probe, designated_oracle_id)
        home = home_operation(contract, probe)
        self.qualification = qualification_of(probe, home)
        self._reader = TrialReader(contract, probe, policy, self.qualification, home, self._designated)

    def read(self, trial: ValidatedObservations) -> TrialReading:
        """Read one trial; its evidence may be forgotten afterwards."""
        return self._reader.read(trial)

    def judge(
        self,
        readings: Iterable[TrialReading],
        preflight: PreflightVerdict,
        waiver: str = "none",
        evaluation_fault: bool = False,
    ) -> ScoredRun:
        """Judge the trials read, in ascending trial order whatever order they were read in; stable."""
        ordered = sorted(readings, key=lambda trial: trial.trial_index)
        return assess(
            self._contract,
            ordered,
            self._probe,
            preflight,
            self._policy,
            self.qualification,
            self._designated,
            waiver,
            evaluation_fault,
        )


def score(
    contract: EvalContract,
    trials: Iterable[ValidatedObservations],
    probe: Probe,
    preflight: PreflightVerdict,
    policy: ScoringPolicy,
    designated_oracle_id: str | None = None,
    waiver: str = "none",
    evaluation_fault: bool = False,
) -> ScoredRun:
    """Score a non-empty trial set (spec 08 §7).

    Raises the runtime faults of spec 08 §15, and `TypeError` for a designation the contract does not admit: the entry
    point has refused it before this stage runs.
    """
    try:
        scoring = Scoring(contract, probe, policy, designated_oracle_id)
    except DesignatedOracleRefusal as refusal:
        raise TypeError(str(refusal)) from refusal
    readings = [scoring.read(trial) for trial in trials]
    return scoring.judge(readings, preflight, waiver, evaluation_fault)


def home_operation(contract: EvalContract, probe: Probe) -> HomeOperation | None:
    """The home operation scoring qualifies against; None without a signature or where none matches (spec 08 §1.4)."""
    signature = signature_of(probe)
    return None if signature is None else resolve_home_operation(signature, contract.permitted_interfaces)


def qualification_of(probe: Probe, home: HomeOperation | None) -> QualificationResult:
    """The gate's answer for the one probe of a run: scoring seals a set of exactly one (spec 08 §1.15)."""
    sealed = seal_probes((probe,), lambda _: None if home is None else home.operation)
    return (*sealed.admitted, *sealed.rejected)[0].result
