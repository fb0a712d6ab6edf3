"""The evidence artifact of one scored run (spec 09 §3).

1. Minted only for a run with a verdict; an Invalid run has none.
2. The scoring version is the digest of exactly six inputs; neither the contract's digest nor a model's name is one.
3. The comparability key is a digest over the policy and the admitted probe ids.
4. Before the artifact leaves, its mode, its shape and its reduction are checked once more. None of these checks can be
   failed by data; each is a `TypeError`.
"""

from collections.abc import Iterable
from typing import Any, Final

from msgspec.structs import replace

from eval_quality.core.faults import problems_of
from eval_quality.core.score.assess import ScoredRun
from eval_quality.core.score.consistency import inconsistencies
from eval_quality.errors import RuntimeFault
from eval_quality.model.artifact import EvidenceArtifact, TrialOutcome
from eval_quality.model.contract import EvalContract
from eval_quality.model.decode import decode, to_value
from eval_quality.model.policy import ScoringPolicy
from eval_quality.model.preflight import PreflightVerdict
from eval_quality.model.probe import Probe
from eval_quality.model.stamp import EVIDENCE_ARTIFACT_SCHEMA_VERSION
from eval_quality.value.digest import digest_value
from eval_quality.value.pointer import join

CALLER_ATTESTED_INPUTS: Final = ("corpusDigest", "fixtureDigest", "evaluatorConfigurationDigest", "mode")
"""Scoring-version inputs the engine takes on the caller's word, in order (spec 09 §3.1)."""


def emit(
    run: ScoredRun,
    contract: EvalContract,
    probe: Probe,
    preflight: PreflightVerdict,
    policy: ScoringPolicy,
    corpus_digest: str,
) -> EvidenceArtifact:
    """Mint the artifact of a run whose verdict is not None (spec 09 §3)."""
    assessment, ladder = run.assessment, run.ladder
    if ladder.verdict is None:
        raise TypeError("an Invalid run has no evidence artifact")
    mode = assessment.mode
    policy_digest = digest_value(to_value(policy), "ScoringPolicy")
    inputs = {
        "contractSchemaVersion": contract.schema_version,
        "corpusDigest": corpus_digest,
        "fixtureDigest": preflight.fixture_digest,
        "evaluatorConfigurationDigest": run.readings[0].evaluator_configuration_digest,
        "scoringPolicyDigest": policy_digest,
        "mode": mode,
    }
    qualified = run.qualification.qualified
    value: dict[str, Any] = {
        "schemaVersion": EVIDENCE_ARTIFACT_SCHEMA_VERSION,
        "parentDigest": None,
        "revisionCount": 0,
        "runId": assessment.run_id,
        "scoredProbeId": probe.probe_id,
        "scoringVersion": scoring_version(inputs),
        "scoringVersionInputs": inputs,
        "comparabilityKey": comparability_key(policy_digest, [probe.probe_id] if qualified else []),
        "excludedProbeIds": [] if qualified else [probe.probe_id],
        "exitCode": ladder.exit_code,
        "verdictBasis": list(ladder.basis),
        "callerAttestedInputs": list(CALLER_ATTESTED_INPUTS),
        "trials": to_value(assessment.trials),
        "outcomes": [],
        "reducedProbeOutcomes": [to_value(run.reduced)],
        "uncitedFindings": [name for trial in run.readings for name in trial.uncited_finding_ids],
        "coverageGaps": [to_value(gap) for gap in assessment.coverage_gaps],
        "strength": to_value(run.strength),
        "remediation": {
            "revisionCount": contract.revision_count,
            "cap": policy.remediation_cap,
            "capSource": "caller-attested",
            "lineageChain": {
                "lengthConsistent": assessment.remediation.length_consistent,
                "noRepeatedDigest": assessment.remediation.no_repeated_digest,
                "noGap": assessment.remediation.no_gap,
            },
        },
        "mode": mode,
    }
    if mode == "production":
        value["productionVerdict"] = ladder.verdict
    else:
        value["contractVerdict"] = ladder.verdict
        value["uncitedFindingGaps"] = [to_value(gap) for gap in assessment.uncited_defect_findings]
        value["systemRecommendationRecorded"] = assessment.evaluator_recommendation
        value["systemRecommendationNote"] = None
    return _checked(value, run)


def scoring_version(inputs: dict[str, Any]) -> str:
    """Digest of the six scoring-version inputs (spec 09 §3.2)."""
    return digest_value(inputs, "ScoringVersionInputs")


def comparability_key(scoring_policy_digest: str, probe_ids: Iterable[str]) -> str:
    """Digest over the policy and the probe ids, ascending (spec 09 §3.3)."""
    fields = {"scoringPolicyDigest": scoring_policy_digest, "probeIds": sorted(probe_ids)}
    return digest_value(fields, "ComparabilityKey")


def _checked(value: dict[str, Any], run: ScoredRun) -> EvidenceArtifact:
    """spec 09 §3.9. Outcomes are held against the schema one by one: there may be many, each is a record already."""
    try:
        for outcome in run.trial_outcomes:
            decode(TrialOutcome, to_value(outcome), "EvidenceArtifact")
        artifact = replace(decode(EvidenceArtifact, value, "EvidenceArtifact"), outcomes=run.trial_outcomes)
    except RuntimeFault as fault:
        problems = problems_of(fault)
        where = next((join(problem.path) for problem in problems), "") or "(root)"
        raise TypeError(f"the evidence artifact has {len(problems)} schema issue(s), the first at {where}") from fault
    problem = next(inconsistencies(artifact), None)
    if problem is not None:
        raise TypeError(f"the evidence artifact contradicts itself at {join(problem.path)}: {problem.message}")
    reduced, reduction = artifact.reduced_probe_outcomes[0], run.reduction
    recorded = (
        reduced.exercised,
        reduced.caught,
        reduced.valid_count,
        reduced.caught_count,
        reduced.invalidated_attempts,
    )
    if recorded != tuple(reduction):
        raise TypeError("the evidence artifact's reduced outcome is not the reduction of its votes")
    return artifact
