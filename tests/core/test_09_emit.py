"""The evidence artifact (spec 09 §3) and the published chains (spec 08 §16.14)."""

from typing import Any

import pytest

from eval_quality.core.emit import comparability_key, emit, scoring_version
from eval_quality.core.ingest import ingest
from eval_quality.core.score.assess import ScoredRun
from eval_quality.core.score.stage import score
from eval_quality.model.configuration import EvaluatorConfiguration
from eval_quality.model.contract import EvalContract
from eval_quality.model.decode import decode, to_value
from eval_quality.model.isolation import IsolationManifest
from eval_quality.model.migrate import migrate_artifact
from eval_quality.model.policy import ScoringPolicy
from eval_quality.model.preflight import PreflightVerdict
from eval_quality.model.probe import Probe
from eval_quality.model.run_record import SealedRunRecord
from eval_quality.value.digest import digest_value
from support import judgment as j
from support.judgment import digest
from support.reference import load, present

CHAINS = {"skill-defect": f"sha256:{0x1A:064x}", "spike-worked-example": f"sha256:{0xE:064x}"}
DEFAULT_POLICY = "derived/default-scoring-policy.json"


def published(chain: str) -> dict[str, Any]:
    """The chain's documents, with the three that it keeps private written anew (reference README)."""
    folder = f"worked/{chain}"
    names = ("eval-contract", "probe", "sealed-run-record", "evidence-artifact")
    contract, probe, record, evidence = (load(f"{folder}/{name}.json") for name in names)
    configuration = j.configuration(sealedBriefDigest=record["sealedBriefDigest"])
    record["evaluatorConfigurationDigest"] = digest_value(configuration, "EvaluatorConfiguration")
    record["isolationManifestArtifact"] = j.public("isolation-manifest.json")
    if chain == "skill-defect":
        preflight = load(f"{folder}/preflight-verdict.json")
    else:
        preflight = j.preflight(fixtureDigest=f"sha256:{0xF:064x}")
    return {
        "contract": contract,
        "probe": probe,
        "record": record,
        "manifest": j.manifest(record),
        "configuration": configuration,
        "preflight_verdict": preflight,
        "policy": load(DEFAULT_POLICY),
        "corpus_digest": CHAINS[chain],
        "evidence": evidence,
    }


def replace_configuration(evidence: dict[str, Any], record: dict[str, Any]) -> dict[str, Any]:
    """The published evidence with the configuration's digest, the one member a test cannot know, replaced."""
    inputs = {
        **evidence["scoringVersionInputs"],
        "evaluatorConfigurationDigest": record["evaluatorConfigurationDigest"],
    }
    return {**evidence, "scoringVersionInputs": inputs, "scoringVersion": digest_value(inputs, "x")}


@present
@pytest.mark.parametrize("chain", CHAINS)
@pytest.mark.parametrize("form", ["one", "list", "migrated"])
def test_s16_14_the_published_chain_is_reproduced_whole(chain: str, form: str) -> None:
    documents = published(chain)
    evidence, record = documents.pop("evidence"), documents["record"]
    if form == "list":
        documents["record"] = [record]
    if form == "migrated":
        documents["record"] = to_value(migrate_artifact("sealed-run-record", record, to=8))
    result = j.run(**documents)
    expected = replace_configuration(evidence, record)
    assert to_value(result.artifact) == expected
    assert digest_value(to_value(result.artifact), "x") == digest_value(expected, "x")
    assert result.qualification.failures == ()
    assert result.qualification.declaration_checks_ran


@present
@pytest.mark.parametrize("chain", CHAINS)
def test_s7_3_the_published_bytes_follow_from_the_pure_stages_alone(chain: str) -> None:
    """With the published record itself: its configuration is unknown, so ingest's conditions are set aside."""
    documents = published(chain)
    record = load(f"worked/{chain}/sealed-run-record.json")
    contract = decode(EvalContract, documents["contract"], "x")
    probe = decode(Probe, documents["probe"], "x")
    policy = decode(ScoringPolicy, documents["policy"], "x")
    preflight = decode(PreflightVerdict, documents["preflight_verdict"], "x")
    trial = ingest(decode(SealedRunRecord, record, "x"), None, None)._replace(conditions=(), isolation_violation=())
    run = score(contract, [trial], probe, preflight, policy)
    artifact = emit(run, contract, probe, preflight, policy, documents["corpus_digest"])
    assert to_value(artifact) == documents["evidence"]


def scored(**over: Any) -> tuple[ScoredRun, tuple[Any, ...]]:
    given = j.inputs(**over)
    contract = decode(EvalContract, given["contract"], "x")
    probe = decode(Probe, given["probe"], "x")
    policy = decode(ScoringPolicy, given["policy"], "x")
    preflight = decode(PreflightVerdict, given["preflight_verdict"], "x")
    manifest = decode(IsolationManifest, given["manifest"], "x")
    configuration = decode(EvaluatorConfiguration, given["configuration"], "x")
    trial = ingest(decode(SealedRunRecord, given["record"], "x"), manifest, configuration)
    run = score(contract, [trial], probe, preflight, policy)
    return run, (contract, probe, preflight, policy, given["corpus_digest"])


def test_s3_1_the_constant_members() -> None:
    value = to_value(j.run().artifact)
    assert (value["schemaVersion"], value["parentDigest"], value["revisionCount"]) == (4, None, 0)
    assert value["callerAttestedInputs"] == ["corpusDigest", "fixtureDigest", "evaluatorConfigurationDigest", "mode"]
    assert (value["excludedProbeIds"], value["scoredProbeId"], value["exitCode"]) == ([], "P-001", 0)
    assert value["remediation"] == {
        "revisionCount": 0,
        "cap": 3,
        "capSource": "caller-attested",
        "lineageChain": {"lengthConsistent": True, "noRepeatedDigest": True, "noGap": True},
    }
    assert value["systemRecommendationNote"] is None
    assert value["systemRecommendationRecorded"] == "PASS"
    assert value["contractVerdict"] == "PASS"
    assert "productionVerdict" not in value


def test_s3_1_the_production_branch() -> None:
    record = j.record(mode="production", evaluatorRecommendation="CONCERNS")
    value = to_value(j.run(record=record).artifact)
    assert (value["mode"], value["productionVerdict"], value["exitCode"]) == ("production", "CONCERNS", 0)
    assert value["verdictBasis"] == ["evaluator recommendation CONCERNS"]
    assert value["scoringVersionInputs"]["mode"] == "production"
    for absent in ("contractVerdict", "uncitedFindingGaps", "systemRecommendationRecorded"):
        assert absent not in value


def test_s3_8_the_contracts_own_revision_count() -> None:
    contract = j.contract(revisionCount=2, parentDigest=digest(77))
    value = to_value(j.run(contract=contract).artifact)
    assert (value["remediation"]["revisionCount"], value["revisionCount"]) == (2, 0)


def test_s3_5_the_disposition_of_an_outcome_is_the_records_own_word() -> None:
    words = [j.disposition(1, "not-attempted"), j.disposition(2, "violated", "obs-1")]
    value = to_value(j.run(record=j.record(oracleDispositions=words)).artifact)
    assert [outcome["disposition"] for outcome in value["outcomes"]] == ["not-attempted", "violated"]


def test_s3_2_the_configuration_digest_is_the_first_trials() -> None:
    value = to_value(j.run(record=[j.record(trialIndex=2), j.record(trialIndex=1)]).artifact)
    assert value["scoringVersionInputs"] == {
        "contractSchemaVersion": 7,
        "corpusDigest": digest(8),
        "fixtureDigest": digest(7),
        "evaluatorConfigurationDigest": digest_value(j.configuration(), "x"),
        "scoringPolicyDigest": digest_value(j.policy(), "x"),
        "mode": "contract-scoring",
    }
    assert value["scoringVersion"] == digest_value(value["scoringVersionInputs"], "x")


MICRO_POLICY = j.policy(policyId="micro-policy", minimumTrialCount=3)
MICRO_DIGEST = "sha256:c520127f0a56bb506236ad6105fa1fe4f5db3ea46db493bdafc5f1450208224b"


@pytest.mark.parametrize(
    ("probes", "key"),
    [
        (["P-001"], "4e934427016b28a2bcf62114c401f41e789578e4a6a78d66bde88d30007c8d12"),
        (
            ["P-005", "P-001", "P-004", "P-002", "P-003"],
            "294644b781754f2b10c6d524063327590fda5f8514fca2cad9bb247803fc215c",
        ),
        ([], "e1208b0d90504ccb11c75ddaee2fca748687da5715f3603fc175d42ba1dfc3d6"),
    ],
)
def test_s7_1_policy_and_key(probes: list[str], key: str) -> None:
    assert digest_value(MICRO_POLICY, "ScoringPolicy") == MICRO_DIGEST
    assert comparability_key(MICRO_DIGEST, probes) == f"sha256:{key}"


@pytest.mark.parametrize(
    ("mode", "version"),
    [
        ("contract-scoring", "38262865b56b31aa59497b0edec70e9b4b6a53cd7642a786113bc6c3eaed57e2"),
        ("production", "e47384411cdb0d5a9b849d39dd996774b7b286d22d1f9df15e0f586945d67eb8"),
    ],
)
def test_s7_2_scoring_version(mode: str, version: str) -> None:
    inputs = {
        "contractSchemaVersion": 7,
        "corpusDigest": digest(1),
        "fixtureDigest": digest(2),
        "evaluatorConfigurationDigest": digest(3),
        "scoringPolicyDigest": MICRO_DIGEST,
        "mode": mode,
    }
    assert scoring_version(inputs) == f"sha256:{version}"


# --- emission checks (§3.9): programming errors only ---------------------------------------------------------------


def test_s3_9_an_invalid_run_has_no_artifact() -> None:
    run, rest = scored(preflight_verdict=j.preflight(passed=False))
    with pytest.raises(TypeError, match="Invalid run"):
        emit(run, *rest)


def test_s3_9_1_and_2_the_artifact_fits_its_schema_and_its_mode() -> None:
    run, rest = scored()
    with pytest.raises(TypeError, match=r"schema issue\(s\), the first at \(root\)|the first at /mode"):
        emit(run._replace(assessment=run.assessment._replace(mode="guessing")), *rest)
    with pytest.raises(TypeError, match=r"1 schema issue\(s\), the first at /runId"):
        emit(run._replace(assessment=run.assessment._replace(run_id="")), *rest)


def test_s3_9_3_the_reduction_follows_from_the_outcomes() -> None:
    run, rest = scored()
    trials = run.assessment.trials
    contradicting = type(trials)(
        declared_minimum=1, completed=2, completed_attempts=(1,), invalidated_attempts=trials.invalidated_attempts
    )
    with pytest.raises(TypeError, match="contradicts itself at /trials/completedAttempts"):
        emit(run._replace(assessment=run.assessment._replace(trials=contradicting)), *rest)
    with pytest.raises(TypeError, match="not the reduction of its votes"):
        emit(run._replace(reduction=run.reduction._replace(caught_count=0)), *rest)


def test_s3_9_an_emitted_artifact_is_immutable() -> None:
    artifact = j.run().artifact
    assert artifact is not None
    with pytest.raises(AttributeError):
        artifact.run_id = "other"
