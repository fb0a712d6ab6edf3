"""The scoring entry point: order of faults, trial sets, private references, streaming (spec 10 §7.6, 08 §7)."""

import gc
from collections.abc import Iterator
from typing import Any

import pytest

from eval_quality.core.score.entry import RunScoreResult
from eval_quality.core.score.stage import score
from eval_quality.errors import DesignatedOracleRefusal, Problem, RuntimeFault, SchemaIssues
from eval_quality.model.contract import EvalContract
from eval_quality.model.decode import decode, to_value
from eval_quality.model.policy import ScoringPolicy
from eval_quality.model.preflight import PreflightVerdict
from eval_quality.model.probe import Probe
from eval_quality.value.digest import digest_bytes, digest_value
from support import judgment as j
from support.judgment import digest, finding, literal, observation, step


def fault(**over: Any) -> RuntimeFault:
    with pytest.raises(RuntimeFault) as raised:
        j.run(**over)
    return raised.value


def locations(found: RuntimeFault) -> list[tuple[str | int, ...]]:
    assert isinstance(found.cause, SchemaIssues)
    return [problem.path for problem in found.cause.issues]


def states(result: RunScoreResult) -> list[str]:
    assert result.artifact is not None
    return [outcome.state for outcome in result.artifact.outcomes]


def test_s7_6_a_caught_defect_passes_and_leaves_an_artifact() -> None:
    result = j.run()
    assert result.artifact is not None
    assert (result.ladder.verdict, result.ladder.exit_code, result.ladder.basis) == ("PASS", 0, ())
    assert (result.qualification.qualified, result.qualification.declaration_checks_ran) == (True, True)
    assert states(result) == ["confirmed", "caught"]
    assert to_value(result.artifact)["strength"]["vector"]["defect"] == {"caught": 1, "exercised": 1, "rate": 1}


# --- step 1: records -----------------------------------------------------------------------------------------------


def test_s7_6_stamps_of_all_records_come_before_the_shape_of_any() -> None:
    found = fault(record=[{"schemaVersion": 8}, j.record(schemaVersion=6), j.record(schemaVersion=5)], contract={})
    assert (found.code, found.artifact_path) == (
        "schema-version-mismatch",
        "SealedRunRecord[trialIndex=1].schemaVersion",
    )
    assert 'carries "schemaVersion" 6 where this build reads 7 or 8' in found.detail
    found = fault(record=[j.record(), {"schemaVersion": 9, "trialIndex": "x"}])
    assert found.artifact_path == "SealedRunRecord[index=1].schemaVersion"


@pytest.mark.parametrize("streamed", [False, True])
def test_s7_6_the_shape_of_all_records_is_one_fault(streamed: bool) -> None:
    bad = [j.record(runId=""), j.record(), {**j.record(), "extra": 1}, {}]
    found = fault(record=iter(bad) if streamed else bad, manifest=None, contract={}, probe=17)
    assert (found.code, found.artifact_path) == ("schema-parse-failure", "SealedRunRecord[]")
    assert [path[0] for path in locations(found)][:2] == [0, 2]
    assert locations(found)[0] == (0, "runId")
    assert {path[0] for path in locations(found)} == {0, 2, 3}


def test_s7_6_a_single_record_fails_at_its_own_path() -> None:
    found = fault(record=j.record(runId=""))
    assert (found.artifact_path, locations(found)) == ("SealedRunRecord", [("runId",)])
    assert fault(record=17, manifest=None).artifact_path == "SealedRunRecord"


@pytest.mark.parametrize("records", [[], (), iter(())])
def test_s7_6_an_empty_list_has_no_record(records: Any) -> None:
    found = fault(record=records, manifest=None)
    assert (found.code, found.artifact_path) == ("schema-parse-failure", "SealedRunRecord[]")
    assert isinstance(found.cause, SchemaIssues)
    assert found.cause.issues == (Problem((), "too_small", "must hold at least one record"),)


def deep() -> Any:
    value: Any = 0
    for _ in range(1100):
        value = [value]
    return value


def test_s7_6_nesting_beyond_the_bound_is_its_own_fault() -> None:
    too_deep = j.record(observations=[observation(1, responseBody=deep())])
    found = fault(record=[{}, too_deep, too_deep], manifest=None)
    assert (found.code, found.artifact_path) == ("non-canonicalizable-value", "SealedRunRecord[]")


def test_s7_6_one_list_may_mix_both_stamps() -> None:
    older = j.record(schemaVersion=7, trialIndex=2)
    for seen in older["observations"]:
        del seen["callInputs"]["bodyEncoding"]
    result = j.run(record=[older, j.record()])
    assert result.artifact is not None
    assert result.artifact.trials.completed_attempts == (1, 2)


# --- step 2: the other inputs -------------------------------------------------------------------------------------

STAMPS = [
    ("manifest", "IsolationManifest"),
    ("configuration", "EvaluatorConfiguration"),
    ("contract", "EvalContract"),
    ("probe", "Probe[probeId=P-001]"),
    ("preflight_verdict", "PreflightVerdict"),
    ("policy", "ScoringPolicy"),
    ("private_manifest", "PrivateArtifactManifest"),
]
NAMES = {"probe": "Probe"}
PRIVATE_MANIFEST: dict[str, Any] = {"schemaVersion": 1, **j.LINEAGE, "entries": []}


def broken(stamped: bool, names: list[str]) -> dict[str, Any]:
    """Arguments in which each named input is wrong in its stamp, or in its shape."""
    sound = j.inputs(private_manifest=PRIVATE_MANIFEST)
    wrong = {"schemaVersion": 99} if stamped else {"unknown": 1}
    return {name: {**sound[name], **wrong} for name in names}


@pytest.mark.parametrize("position", range(len(STAMPS)))
def test_s7_6_each_input_is_stamped_then_parsed_and_the_first_decides(position: int) -> None:
    later = [name for name, _ in STAMPS[position:]]
    name, path = STAMPS[position]
    found = fault(**broken(True, later))
    assert (found.code, found.artifact_path) == ("schema-version-mismatch", f"{path}.schemaVersion")
    found = fault(**broken(False, later))
    assert (found.code, found.artifact_path) == ("schema-parse-failure", NAMES.get(name, path))


def test_s7_6_a_probe_without_an_identifier() -> None:
    found = fault(probe={"schemaVersion": 5})
    assert found.artifact_path == "Probe.schemaVersion"
    assert "migrate" in found.detail


@pytest.mark.parametrize("value", ["", "sha256:xyz", None, 17, digest(1) + "\n"])
def test_s7_6_the_corpus_digest_is_parsed_last(value: Any) -> None:
    found = fault(corpus_digest=value, designated_oracle_id="bad")
    assert (found.code, found.artifact_path) == ("schema-parse-failure", "ScoringVersionInputs.corpusDigest")
    assert fault(corpus_digest=value, private_manifest={}).artifact_path == "PrivateArtifactManifest"


def test_s7_6_own_records_are_accepted_as_they_are() -> None:
    plain = j.inputs()
    decoded = {
        **plain,
        "contract": decode(EvalContract, plain["contract"], "x"),
        "probe": decode(Probe, plain["probe"], "x"),
        "policy": decode(ScoringPolicy, plain["policy"], "x"),
    }
    assert to_value(j.run(**decoded)) == to_value(j.run())


def test_s7_6_inputs_are_never_changed() -> None:
    given = j.inputs()
    before = digest_value({name: value for name, value in given.items() if value is not None}, "x")
    j.run(**given)
    assert digest_value({name: value for name, value in given.items() if value is not None}, "x") == before


# --- steps 3 to 5 ---------------------------------------------------------------------------------------------------


def test_s7_6_3_a_refused_designation_comes_before_any_port_call() -> None:
    def resolve(_: str) -> bytes:
        raise AssertionError("no port call before a refusal")

    entry = {
        "privateRef": "x",
        "digest": digest(1),
        "artifactKind": "other",
        "publicSafeRunId": None,
        "sanitizationPolicy": None,
    }
    with pytest.raises(DesignatedOracleRefusal):
        j.run(
            designated_oracle_id="O-001",
            private_manifest={**PRIVATE_MANIFEST, "entries": [entry]},
            resolve_private=resolve,
        )


class Corpus:
    """Bytes by reference, remembering what was asked."""

    def __init__(self, **held: bytes) -> None:
        self.held = held
        self.asked: list[str] = []

    def __call__(self, ref: str) -> bytes | None:
        self.asked.append(ref)
        return self.held.get(ref)


def private_manifest(**entries: bytes) -> dict[str, Any]:
    return {
        **PRIVATE_MANIFEST,
        "entries": [
            {
                "privateRef": ref,
                "digest": digest_bytes(data),
                "artifactKind": "other",
                "publicSafeRunId": None,
                "sanitizationPolicy": None,
            }
            for ref, data in entries.items()
        ],
    }


def test_s7_6_4_every_entry_is_resolved_before_any_is_compared() -> None:
    corpus = Corpus(a=b"1", b=b"2")
    assert j.run(private_manifest=private_manifest(a=b"1", b=b"2"), resolve_private=corpus).artifact is not None
    assert corpus.asked == ["a", "b"]
    wrong = Corpus(a=b"1", b=b"other", c=b"3")
    found = fault(private_manifest=private_manifest(a=b"1", b=b"2", c=b"3"), resolve_private=wrong)
    assert (found.code, found.artifact_path) == ("digest-mismatch", "PrivateArtifactManifest.entries[1]")
    assert wrong.asked == ["a", "b", "c"]
    missing = fault(private_manifest=private_manifest(a=b"1"), resolve_private=Corpus())
    assert (missing.code, missing.artifact_path) == ("digest-mismatch", "PrivateArtifactManifest.entries[0]")
    assert missing.detail == f"declared {digest_bytes(b'1')}, and no bytes were resolved"
    assert found.detail == f"declared {digest_bytes(b'2')}, and the resolved bytes have digest {digest_bytes(b'other')}"


def test_s7_6_4_entries_need_a_port_and_an_empty_manifest_does_not() -> None:
    with pytest.raises(TypeError, match="corpus port"):
        j.run(private_manifest=private_manifest(a=b"1"))
    assert j.run(private_manifest=PRIVATE_MANIFEST).artifact is not None


def hidden(ref: str, data: bytes, **over: Any) -> dict[str, Any]:
    return j.record(isolationManifestArtifact=j.private(ref, digest_bytes(data)), **over)


def test_s7_6_5_private_isolation_manifests_in_trial_order() -> None:
    corpus = Corpus(m=b"1", n=b"2")
    assert j.run(record=hidden("m", b"1"), resolve_private=corpus).artifact is not None
    pair = [hidden("n", b"2", trialIndex=3), j.record(trialIndex=2), hidden("m", b"1", trialIndex=1)]
    assert j.run(record=pair, resolve_private=corpus).artifact is not None
    assert corpus.asked == ["m", "m", "n"]
    twins = [hidden("n", b"2", trialIndex=3), hidden("m", b"1", trialIndex=3)]
    assert j.run(record=twins, resolve_private=corpus).ladder.verdict is None
    assert corpus.asked[3:] == ["n", "m"]


@pytest.mark.parametrize(
    ("records", "path"),
    [
        (hidden("m", b"x"), "SealedRunRecord.isolationManifestArtifact"),
        ([hidden("m", b"x")], "SealedRunRecord.isolationManifestArtifact"),
        (
            [hidden("m", b"x", trialIndex=4), j.record()],
            "SealedRunRecord[trialIndex=4].isolationManifestArtifact",
        ),
    ],
)
def test_s7_6_5_a_differing_manifest_and_a_missing_port_name_the_record(records: Any, path: str) -> None:
    found = fault(record=records, manifest=None, resolve_private=Corpus(m=b"1"))
    assert (found.code, found.artifact_path) == ("digest-mismatch", path)
    with pytest.raises(TypeError) as raised:
        j.run(record=records, manifest=None)
    assert path in str(raised.value)


def test_s7_6_5_what_a_port_raises_passes() -> None:
    def resolve(_: str) -> bytes:
        raise RuntimeFault("port-failure", "CorpusResolveResponse", "gone")

    assert fault(record=hidden("m", b"1"), resolve_private=resolve).code == "port-failure"


# --- steps 6, 7 -----------------------------------------------------------------------------------------------------

BIG = j.json_body(2**60)


def test_s7_6_6_ingest_of_every_record_comes_before_scoring_of_any() -> None:
    pattern = {"op": "regex", "operands": [j.pointer("/interactions/front-case/stderr")], "pattern": "^a*$"}
    contract = j.contract(oracles=[j.oracle(1, pattern), j.oracle(2, pattern)])
    long = observation(1, stderr={"kind": "text", "value": "a" * 9000})
    over_budget = j.record(contract, trialIndex=1, observations=[long])
    uncanonical = j.record(contract, trialIndex=2, observations=[observation(1, stdout=BIG)])
    worse = j.record(contract, trialIndex=3, observations=[observation(1, stdout=BIG)], findings=[finding(2)])
    found = fault(contract=contract, record=[worse, over_budget, uncanonical])
    assert (found.code, found.artifact_path) == (
        "non-canonicalizable-value",
        "SealedRunRecord.findings[findingId=F-001]",
    )
    later = j.record(contract, trialIndex=2, observations=[long])
    found = fault(contract=contract, record=[later, over_budget])
    assert (found.code, found.artifact_path) == ("budget-exhausted", "EvalContract.oracles[id=O-001].check")


def test_s15_a_check_that_only_an_uncompiled_contract_holds_is_a_fault() -> None:
    check = {"op": "containment", "operands": [j.pointer(j.FRONT), {"referenceSet": "ghost"}]}
    found = fault(contract=j.contract(oracles=[j.oracle(1, check), j.oracle(2, check)]))
    assert (found.code, found.artifact_path) == (
        "operator-cannot-accept-operand",
        "EvalContract.oracles[id=O-001].check",
    )
    assert 'reference set "ghost"' in found.detail


def test_s7_6_6_of_faults_in_trials_of_one_index_the_first_presented_is_raised() -> None:
    first = j.record(observations=[observation(1, stdout=BIG)], findings=[finding(7)])
    second = j.record(observations=[observation(1, stdout=BIG)], findings=[finding(3)])
    assert fault(record=[first, second]).artifact_path == "SealedRunRecord.findings[findingId=F-007]"


def test_s6_2_a_disposition_that_cites_nothing_only_disagrees() -> None:
    words = [j.disposition(1, "held"), j.disposition(2, "violated", "obs-1")]
    result = j.run(record=j.record(oracleDispositions=words))
    assert result.artifact is not None
    assert [outcome.corroboration for outcome in result.artifact.outcomes] == ["disagrees", "agrees"]
    assert result.ladder.verdict == "PASS"


def test_s7_7_every_finding_is_held_against_the_confidence_threshold() -> None:
    unsure = j.record(findings=[finding(1), finding(4, "observation", oracleId=None, confidence=0.25)])
    assert j.run(record=unsure).ladder.basis == ("finding F-004 confidence 0.25 below the policy threshold",)


def test_s4_a_probe_without_a_signature_has_no_witness() -> None:
    """A clean control whose steps were never taken is unreached, not passed."""
    elsewhere = observation(1, ["front"], callInputs=j.call_inputs(option={"case": "back"}))
    result = j.run(record=j.quiet_record(observations=[elsewhere]), probe=j.clean_probe())
    assert states(result) == ["unreached", "unreached"]


def test_s9_rejected_inputs_leave_the_reasons() -> None:
    result = j.run(manifest=None, configuration=None)
    assert (result.artifact, result.ladder.verdict, result.ladder.exit_code) == (None, None, 3)
    assert result.ladder.basis == (
        "isolation manifest violation: isolation manifest absent",
        "evaluator configuration absent",
    )
    assert result.qualification.qualified


def test_s7_7_three_trials_without_a_manifest() -> None:
    result = j.run(record=[j.record(trialIndex=n) for n in (3, 1, 2)], manifest=None)
    assert result.ladder.basis == ("isolation manifest violation: isolation manifest absent",) * 3


def test_s1_16_a_failed_gate_is_an_infrastructure_error() -> None:
    result = j.run(probe=j.probe(defectSignature=None))
    assert [failure.code for failure in result.qualification.failures] == ["signature-absent"]
    assert result.ladder.basis == (
        "oracle O-001 resolved infrastructure-error",
        "oracle O-002 resolved infrastructure-error",
    )


def test_s1_16_without_any_oracle_a_rejected_probe_can_still_pass() -> None:
    contract = j.contract(oracles=[], behaviors=[j.behavior(1)])
    record = j.record(contract, findings=[], oracleDispositions=[])
    result = j.run(contract=contract, record=record, probe=j.probe(defectSignature=None, behaviorId="B-001"))
    assert result.artifact is not None
    value = to_value(result.artifact)
    assert value["excludedProbeIds"] == ["P-001"]
    assert value["strength"]["vector"] == {"defect": None, "gameability": None, "zero-action": None}
    assert value["strength"]["note"] == "0 admitted probe over 1 completed trial."
    assert (value["outcomes"], value["reducedProbeOutcomes"][0]["trialVotes"]) == ([], [])
    assert (value["trials"]["completed"], value["reducedProbeOutcomes"][0]["exercised"]) == (1, False)


# --- trial sets (08 §7) ---------------------------------------------------------------------------------------------


def test_s7_trials_are_scored_in_ascending_order_and_the_first_speaks_for_the_set() -> None:
    result = j.run(record=[j.record(trialIndex=5), j.record(trialIndex=2)])
    assert result.artifact is not None
    assert result.artifact.trials.completed_attempts == (2, 5)
    named = j.run(record=[j.record(trialIndex=5, runId="a"), j.record(trialIndex=2, runId="b")], manifest=None)
    assert 'trial-set field disagreement: runId: trial 2 = "b", trial 5 = "a"' in named.ladder.basis
    assert [(o.trial_index, o.oracle_id) for o in result.artifact.outcomes] == [
        (2, "O-001"),
        (2, "O-002"),
        (5, "O-001"),
        (5, "O-002"),
    ]


def test_s7_2_disagreements_within_the_set_and_with_the_contract() -> None:
    first = j.record(trialIndex=1)
    second = j.record(
        trialIndex=1,
        mode="production",
        evaluatorRecommendation="FAIL",
        runId="run-2",
        evaluatorConfigurationDigest=digest(40),
        contractDigest=digest(41),
    )
    third = j.record(trialIndex=1)
    result = j.run(record=[first, second, third], manifest=None, configuration=None)
    prefix = "trial-set field disagreement: "
    expected = first["contractDigest"]
    assert [line.removeprefix(prefix) for line in result.ladder.basis if line.startswith(prefix)] == [
        f'contractDigest: trial 1 = "{digest(41)}", supplied EvalContract = "{expected}"',
        f'evaluatorConfigurationDigest: trial 1 = "{first["evaluatorConfigurationDigest"]}", trial 1 = "{digest(40)}"',
        'mode: trial 1 = "contract-scoring", trial 1 = "production"',
        'evaluatorRecommendation: trial 1 = "PASS", trial 1 = "FAIL"',
        'runId: trial 1 = "run-1", trial 1 = "run-2"',
        "trialIndex: duplicate value 1",
        "trialIndex: duplicate value 1",
    ]


def test_s7_2_a_single_trial_sealed_against_another_contract_is_invalid() -> None:
    record = j.record(contractDigest=digest(41))
    result = j.run(record=record)
    assert result.ladder.verdict is None
    assert result.ladder.basis == (
        f'trial-set field disagreement: contractDigest: trial 1 = "{digest(41)}", supplied EvalContract = '
        f'"{digest_value(j.contract(), "x")}"',
    )


def missed(contract: dict[str, Any], **over: Any) -> RunScoreResult:
    record = j.record(
        contract,
        findings=[],
        oracleDispositions=[j.disposition(1, "held", "obs-1"), j.disposition(2, "held", "obs-1")],
    )
    return j.run(contract=contract, record=record, **over)


@pytest.mark.parametrize(
    ("behaviors", "verdict"),
    [
        ([j.behavior(2, "O-002", severity="low")], "CONCERNS"),
        ([j.behavior(2, "O-002", severity="low"), j.behavior(3, "O-002", severity="critical")], "FAIL"),
    ],
)
def test_s7_1_the_ladder_takes_the_highest_severity_of_the_behaviours(behaviors: Any, verdict: str) -> None:
    result = missed(j.contract(behaviors=behaviors))
    assert result.ladder.verdict == verdict
    assert result.artifact is not None
    assert {outcome.severity for outcome in result.artifact.outcomes} == {"low"}


def test_s7_1_an_oracle_no_behaviour_lists_is_low_and_a_cited_finding_decides() -> None:
    contract = j.contract(behaviors=[j.behavior(2, "O-001", severity="critical")])
    clean = j.clean_probe(behaviorId="B-002")
    low = j.record(contract, findings=[finding(severity="low")])
    assert j.run(contract=contract, record=low, probe=clean).ladder.basis == (
        "oracle O-002 resolved false-positive below the severity floor",
    )
    high = j.record(contract, findings=[finding(severity="critical")])
    assert j.run(contract=contract, record=high, probe=clean).ladder.verdict == "FAIL"
    twice = j.record(
        contract, findings=[finding(severity="critical"), finding(kind="observation", severity="low", oracleId=None)]
    )
    assert "below the severity floor" not in " ".join(j.run(contract=contract, record=twice, probe=clean).ladder.basis)


def test_s7_3_uncited_findings_and_gaps_trial_by_trial() -> None:
    def trial(index: int) -> dict[str, Any]:
        return j.record(
            trialIndex=index,
            findings=[
                finding(),
                finding(9, "observation", oracleId=None),
                finding(3, oracleId=None, severity="low", quotedEvidence=[j.quote("mobile")]),
            ],
        )

    result = j.run(record=[trial(1), trial(2)])
    value = to_value(result.artifact)
    assert value["uncitedFindings"] == ["F-003", "F-009", "F-003", "F-009"]
    assert (
        value["uncitedFindingGaps"]
        == [
            {
                "findingId": "F-003",
                "observationIds": ["obs-1"],
                "quotedEvidence": [j.quote("mobile")],
                "severity": "low",
            }
        ]
        * 2
    )
    assert result.ladder.basis == ("finding F-003: defect finding citing no oracle",) * 2


def test_s6_1_two_defect_findings_on_one_oracle_cite_nothing() -> None:
    clean = j.clean_probe()
    one = j.record(findings=[finding(1)])
    two = j.record(findings=[finding(1), finding(2)])
    assert states(j.run(record=one, probe=clean)) == ["passed-clean-control", "false-positive"]
    assert states(j.run(record=two, probe=clean)) == ["passed-clean-control", "passed-clean-control"]


def test_s6_1_two_dispositions_on_one_oracle_are_none() -> None:
    twice = j.record(
        oracleDispositions=[
            j.disposition(1, "held", "obs-1"),
            j.disposition(2, "held", "obs-1"),
            j.disposition(2, "violated", "obs-1"),
        ]
    )
    assert "oracle O-002 is required and carries no disposition" in j.run(record=twice).ladder.basis


def test_s6_1_judge_conduct_is_a_fact_of_the_whole_set() -> None:
    rubric = {
        "id": "R-001",
        "scaleLevels": None,
        "failureModePenalties": None,
        "maxLength": None,
        "criteria": [],
    }
    unscored = [{"rubricId": "R-001", "criterionId": "RC-001", "score": None, "note": None}]
    contract = j.contract(rubrics=[rubric])
    trials = [j.record(contract, trialIndex=1), j.record(contract, trialIndex=2, judgeResults=unscored)]
    basis = j.run(contract=contract, record=trials).ladder.basis
    assert basis[:4] == ("oracle O-001 resolved judge-error", "oracle O-002 resolved judge-error") * 2
    scored = [{**unscored[0], "score": 3}]
    conforming = j.record(contract, judgeResults=scored)
    assert j.run(contract=contract, record=conforming).ladder.verdict == "PASS"
    without = j.record(judgeResults=unscored)
    assert j.run(record=without).ladder.basis == ("judge result unscored: rubric R-001 criterion RC-001",)


def test_s6_6_selected_observations_are_the_steps_then_the_candidates() -> None:
    contract = j.contract(
        interactionPlan=[
            step("front-case", j.cli_binding(stdin={"prompt": literal("second")})),
            step("unused"),
            step("late", after="front-case"),
        ],
        oracles=[
            j.oracle(1, {"op": "all", "operands": [j.existence(j.FRONT), j.existence("/interactions/late/stdout")]}),
            j.oracle(2, j.existence(j.FRONT)),
        ],
    )
    seen = [
        observation(1),
        observation(2, callInputs=j.call_inputs(option={"case": "front"}, stdin={"prompt": "second"})),
        observation(3),
    ]
    record = j.record(contract, observations=seen, findings=[finding()])
    result = j.run(contract=contract, record=record)
    assert result.artifact is not None
    assert [outcome.selected_observation_ids for outcome in result.artifact.outcomes] == [
        ("obs-2", "obs-3"),
        ("obs-2", "obs-1", "obs-3"),
    ]


def test_s6_1_an_ambiguous_step_and_an_unreached_one() -> None:
    def contract(cardinality: str) -> dict[str, Any]:
        binding = j.cli_binding(option={"case": literal("front")})
        bad = step("bad-case", j.cli_binding(option={"case": {"matcher": "type-violating"}}))
        return j.contract(interactionPlan=[step("front-case", binding, cardinality=cardinality), bad])

    narrow, wide = contract("exactly-one"), contract("any")
    seen = [observation(1), observation(2)]
    ambiguous = j.run(contract=narrow, record=j.record(narrow, observations=seen))
    assert "oracle O-001: selector ambiguity" in ambiguous.ladder.basis
    assert j.run(contract=wide, record=j.record(wide, observations=seen)).ladder.verdict == "PASS"
    elsewhere = observation(1, ["front"], callInputs=j.call_inputs(option={"case": "back"}))
    unreached = j.quiet_record(observations=[elsewhere])
    result = j.run(record=unreached)
    assert states(result) == ["unreached", "unreached"]
    assert result.ladder.verdict == "CONCERNS"
    assert not result.ladder.strict_promotable


def test_s7_5_5_the_vote_without_a_designated_oracle() -> None:
    both = [j.behavior(2, "O-001", "O-002")]
    contract = j.contract(behaviors=both)
    result = j.run(contract=contract, record=j.record(contract))
    assert result.artifact is not None
    reduced = result.artifact.reduced_probe_outcomes[0]
    assert [vote.state for vote in reduced.trial_votes] == ["confirmed"]
    assert states(result) == ["confirmed", "caught"]
    named = j.run(contract=contract, record=j.record(contract), designated_oracle_id="O-002")
    assert named.artifact is not None
    assert named.artifact.reduced_probe_outcomes[0].caught


def test_s7_5_5_an_invalidating_state_votes_first_where_no_oracle_is_designated() -> None:
    contract = decode(
        EvalContract,
        j.contract(
            behaviors=[j.behavior(2, "O-001", "O-002")],
            interactionPlan=[step("front-case", cardinality="exactly-one")],
            oracles=[j.oracle(1, j.existence("/interactions/ghost/stdout")), j.oracle(2, j.existence(j.FRONT))],
        ),
        "EvalContract",
    )
    from eval_quality.core.ingest import ingest
    from eval_quality.model.run_record import SealedRunRecord

    record = decode(SealedRunRecord, j.record(observations=[observation(1), observation(2)]), "x")
    run = score(
        contract,
        [ingest(record, None, None)],
        decode(Probe, j.probe(), "Probe"),
        decode(PreflightVerdict, j.preflight(), "PreflightVerdict"),
        decode(ScoringPolicy, j.policy(), "ScoringPolicy"),
    )
    assert [outcome.state for outcome in run.trial_outcomes] == ["confirmed", "infrastructure-error"]
    assert [vote.state for vote in run.reduced.trial_votes] == ["infrastructure-error"]
    assert run.assessment.trials.invalidated_attempts[0].reason == "infrastructure-error"


def test_s7_waiver_and_evaluation_fault_belong_to_the_caller_of_the_pure_stage() -> None:
    from eval_quality.core.ingest import ingest
    from eval_quality.model.configuration import EvaluatorConfiguration
    from eval_quality.model.isolation import IsolationManifest
    from eval_quality.model.run_record import SealedRunRecord

    plain = j.record(
        findings=[], oracleDispositions=[j.disposition(1, "held", "obs-1"), j.disposition(2, "held", "obs-1")]
    )
    trial = ingest(
        decode(SealedRunRecord, plain, "x"),
        decode(IsolationManifest, j.manifest(plain), "x"),
        decode(EvaluatorConfiguration, j.configuration(), "x"),
    )
    fixed = (
        decode(EvalContract, j.contract(), "x"),
        [trial],
        decode(Probe, j.probe(), "x"),
        decode(PreflightVerdict, j.preflight(), "x"),
        decode(ScoringPolicy, j.policy(), "x"),
    )
    assert score(*fixed).ladder.verdict == "FAIL"
    waived = score(*fixed, waiver="applied-condition-met")
    assert (waived.ladder.verdict, waived.ladder.basis) == ("WAIVED", ("oracle O-002 waived (not-applicable)",))
    assert score(*fixed, waiver="applied-condition-unmet").ladder.basis == (
        "oracle O-002 resolved bypassed at or above the severity floor",
    )
    assert score(*fixed, evaluation_fault=True).ladder.verdict is None


def test_s16_1_an_oracle_without_a_check_makes_every_run_invalid() -> None:
    contract = j.contract(oracles=[j.oracle(1, None), j.oracle(2, j.negation(j.names_any(j.FRONT, ["mobile"])))])
    result = j.run(contract=contract, record=j.record(contract))
    assert result.ladder.basis == ("oracle O-001 is required and its check never resolved",)


@pytest.mark.parametrize(
    ("polarity", "corroboration"), [("expects-hold", "disagrees"), ("expects-violation", "agrees")]
)
def test_s6_1_a_check_without_pointers_addresses_no_step(polarity: str, corroboration: str) -> None:
    contract = j.contract(
        oracles=[
            j.oracle(1, j.equality(j.literal(1), j.literal(1))),
            j.oracle(2, j.names_any(j.FRONT, ["mobile"]), polarity=polarity),
        ]
    )
    result = j.run(contract=contract, record=j.record(contract))
    assert result.artifact is not None
    assert result.artifact.outcomes[0].selected_observation_ids == ()
    assert [outcome.corroboration for outcome in result.artifact.outcomes] == ["agrees", corroboration]


# --- streaming ------------------------------------------------------------------------------------------------------


def test_s7_6_an_iterator_gives_what_a_list_gives() -> None:
    trials = [j.record(trialIndex=n) for n in (3, 1, 2)]
    assert to_value(j.run(record=iter(trials), manifest=j.manifest())) == to_value(
        j.run(record=trials, manifest=j.manifest())
    )


class Marker:
    """Counts how many of it are alive at once."""

    alive = 0
    most = 0

    def __init__(self) -> None:
        Marker.alive += 1
        Marker.most = max(Marker.most, Marker.alive)

    def __del__(self) -> None:
        Marker.alive -= 1


class Marked(dict[str, Any]):
    """A record value with a marker on it. Decoding refuses a subclass, but only after it held the value."""

    def __init__(self, value: dict[str, Any]) -> None:
        super().__init__(value)
        self.marker = Marker()


def test_s7_6_a_stream_of_records_is_never_held_as_a_whole() -> None:
    found = fault(record=(Marked(j.record(trialIndex=n)) for n in range(1, 21)), manifest=None)
    gc.collect()
    assert len(locations(found)) == 20
    assert Marker.most <= 1
    assert Marker.alive == 0


def test_s7_6_an_exception_of_the_iterator_comes_before_every_other_problem() -> None:
    def stream() -> Iterator[dict[str, Any]]:
        yield {"schemaVersion": 1}
        yield {}
        raise RuntimeFault("schema-parse-failure", "SealedRunRecord", "the file is cut off")

    assert fault(record=stream(), manifest=None, contract={}).detail == "the file is cut off"
