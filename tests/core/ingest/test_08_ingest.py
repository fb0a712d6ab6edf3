"""Ingest: every condition, in recording order (spec 08 §2)."""

from typing import Any

import pytest

from eval_quality.core.ingest import ValidatedObservations, configuration_digest, ingest
from eval_quality.core.ingest.conditions import (
    CONDITION_KINDS,
    CrossArtifactDisagreement,
    DanglingCitation,
    DanglingDispositionCitation,
    DuplicateRecordIdentifier,
    EvaluatorConfigurationAbsent,
    EvaluatorConfigurationDigestMismatch,
    ForbiddenInputNotWithheld,
    IsolationManifestAbsent,
    IsolationManifestViolation,
    JudgeResultUnscored,
    Quotation,
    UnwitnessedQuotation,
)
from eval_quality.errors import RuntimeFault
from eval_quality.model.configuration import EvaluatorConfiguration
from eval_quality.model.decode import decode
from eval_quality.model.isolation import IsolationManifest
from eval_quality.model.run_record import SealedRunRecord
from support import judgment as j
from support.judgment import digest, quote


def validated(record: dict[str, Any], **over: Any) -> ValidatedObservations:
    manifest = over.get("manifest", j.manifest(record))
    configuration = over.get("configuration", j.configuration())
    return ingest(
        decode(SealedRunRecord, record, "SealedRunRecord"),
        None if manifest is None else decode(IsolationManifest, manifest, "IsolationManifest"),
        None if configuration is None else decode(EvaluatorConfiguration, configuration, "EvaluatorConfiguration"),
    )


def test_s2_1_a_sound_record_leaves_no_condition_and_is_ordered() -> None:
    record = j.record(
        observations=[j.observation(n, sequence=s) for n, s in ((1, 9), (3, 2), (2, 5))],
        findings=[j.finding(2), j.finding(1), j.finding(3, "observation", summary="third")],
        oracleDispositions=[j.disposition(2, "violated", "obs-1"), j.disposition(1, "held", "obs-1")],
    )
    trial = validated(record)
    assert trial.conditions == ()
    assert (trial.unwitnessed_quotations, trial.isolation_violation) == ((), ())
    assert [seen.observation_id for seen in trial.observations] == ["obs-3", "obs-2", "obs-1"]
    assert [entry.finding_id for entry in trial.findings] == ["F-001", "F-002", "F-003"]
    assert [entry.oracle_id for entry in trial.dispositions] == ["O-001", "O-002"]
    assert (trial.run_id, trial.trial_index, trial.mode) == ("run-1", 1, "contract-scoring")
    assert trial.contract_digest == record["contractDigest"]
    assert trial.evaluator_configuration_digest == record["evaluatorConfigurationDigest"]
    assert trial.evaluator_recommendation == "PASS"


def test_s2_1_equal_identifiers_keep_presented_order() -> None:
    record = j.record(
        findings=[j.finding(1, summary="second"), j.finding(1, summary="first")],
        oracleDispositions=[j.disposition(1, "violated", "obs-1"), j.disposition(1, "held", "obs-1")],
    )
    trial = validated(record)
    assert [entry.summary for entry in trial.findings] == ["second", "first"]
    assert [entry.disposition for entry in trial.dispositions] == ["violated", "held"]


def test_s2_2_the_kinds_in_recording_order() -> None:
    assert list(CONDITION_KINDS.values()) == [
        "duplicate-record-identifier",
        "dangling-citation",
        "dangling-disposition-citation",
        "unwitnessed-quotation",
        "isolation-manifest-absent",
        "isolation-manifest-violation",
        "forbidden-input-not-withheld",
        "cross-artifact-disagreement",
        "evaluator-configuration-absent",
        "evaluator-configuration-digest-mismatch",
        "judge-result-unscored",
    ]


def test_s2_2_everything_at_once_is_recorded_in_order() -> None:
    record = j.record(
        observations=[j.observation(1), j.observation(2, observationId="obs-1")],
        findings=[j.finding(observationIds=["obs-9"])],
        oracleDispositions=[j.disposition(1, "held", "obs-8")],
        judgeResults=[{"rubricId": "R-001", "criterionId": "RC-001", "score": None, "note": None}],
    )
    manifest = j.manifest(record, runId="other", violation="broken", contractDigest=digest(99))
    manifest["forbiddenInputAccounting"]["repository"]["withheld"] = False
    trial = validated(record, manifest=manifest, configuration=j.configuration(seed=1))
    order = list(CONDITION_KINDS)
    ranks = [order.index(type(condition)) for condition in trial.conditions]
    assert ranks == sorted(ranks)
    assert {CONDITION_KINDS[type(condition)] for condition in trial.conditions} == set(CONDITION_KINDS.values()) - {
        "isolation-manifest-absent",
        "evaluator-configuration-absent",
    }


def test_s2_3_duplicates_per_subject_ascending_with_counts() -> None:
    judged = [{"rubricId": "R-001", "criterionId": f"RC-00{n}", "score": 1, "note": None} for n in (2, 1, 2, 1, 1)]
    record = j.record(
        observations=[j.observation(n, observationId=name) for n, name in ((1, "b"), (2, "a"), (3, "b"), (4, "a"))],
        findings=[j.finding(2, observationIds=["a"]), j.finding(2, observationIds=["a"])],
        oracleDispositions=[j.disposition(1, "held", "a"), j.disposition(1, "held", "a")],
        judgeResults=judged,
    )
    found = [entry for entry in validated(record).conditions if isinstance(entry, DuplicateRecordIdentifier)]
    assert found == [
        DuplicateRecordIdentifier("observation", "a", 2),
        DuplicateRecordIdentifier("observation", "b", 2),
        DuplicateRecordIdentifier("finding", "F-002", 2),
        DuplicateRecordIdentifier("oracle-disposition", "O-001", 2),
        DuplicateRecordIdentifier("judge-result", "R-001/RC-001", 3),
        DuplicateRecordIdentifier("judge-result", "R-001/RC-002", 2),
    ]


def test_s2_4_dangling_citations_of_every_finding_type_deduplicated_and_sorted() -> None:
    record = j.record(
        findings=[
            j.finding(2, "observation", observationIds=["x", "obs-1", "y", "x"]),
            j.finding(1, "confirmation", observationIds=["z"]),
            j.finding(2, "observation", observationIds=["b"]),
            j.finding(3),
        ],
        oracleDispositions=[
            j.disposition(2, "held", "q", "q"),
            j.disposition(1, "held", "p", "obs-1"),
        ],
    )
    conditions = validated(record).conditions
    assert [entry for entry in conditions if isinstance(entry, DanglingCitation)] == [
        DanglingCitation("F-001", ("z",)),
        DanglingCitation("F-002", ("b",)),
        DanglingCitation("F-002", ("x", "y")),
    ]
    assert [entry for entry in conditions if isinstance(entry, DanglingDispositionCitation)] == [
        DanglingDispositionCitation("O-001", ("p",)),
        DanglingDispositionCitation("O-002", ("q",)),
    ]


# --- quotations -----------------------------------------------------------------------------------------------------


def quotations(*quotes: dict[str, Any], **seen: Any) -> list[tuple[int, str, str]]:
    record = j.record(observations=[j.observation(1, **seen)], findings=[j.finding(quotedEvidence=list(quotes))])
    return [(q.quote_index, q.channel, q.quote) for q in validated(record).unwitnessed_quotations]


SELECTED = j.json_body({"selected": ["a", "b"]})


@pytest.mark.parametrize(
    ("quoted", "seen", "witnessed"),
    [
        (quote('"a","b"'), {"stdout": SELECTED}, True),
        (quote('"a", "b"'), {"stdout": SELECTED}, False),
        (quote('{"selected":["a","b"]}'), {"stdout": SELECTED}, True),
        (quote('"hi"'), {"stdout": j.json_body("hi")}, True),
        (quote("hi "), {"stdout": {"kind": "text", "value": "oh hi there"}}, True),
        (quote("HI"), {"stdout": {"kind": "text", "value": "oh hi there"}}, False),
        (quote("x"), {"stdout": {"kind": "absent"}}, False),
        (quote("x", "stderr"), {"stderr": {"kind": "text", "value": "xyz"}}, True),
        (quote("0", "exit-code"), {"exitCode": 10}, True),
        (quote("-9", "exit-code"), {"exitCode": -9}, True),
        (quote("0", "exit-code"), {"exitCode": None}, False),
        (quote("None", "exit-code"), {"exitCode": None}, False),
        (quote("None", "response-status"), {"responseStatus": None}, False),
        (quote('say "hi"\n'), {"stdout": {"kind": "text", "value": 'they say "hi"\n'}}, True),
        (quote('"hi'), {"stdout": {"kind": "text", "value": "hi"}}, False),
        (quote("20", "response-status"), {"responseStatus": 200}, True),
        (quote("20", "response-status"), {"responseStatus": None}, False),
        (quote('"a":1', "response-body"), {"responseBody": {"b": 2, "a": 1}}, True),
        (quote('"a": 1', "response-body"), {"responseBody": {"a": 1}}, False),
        (quote("null", "response-body"), {"responseBody": None}, False),
        (quote("json", "response-headers"), {"responseHeaders": {"content-type": "application/json"}}, True),
        (quote("x", "response-headers"), {"responseHeaders": None}, False),
        (quote("full", "artifact", "log"), {"artifacts": {"log": {"kind": "text", "value": "fully"}}}, True),
        (quote("full", "artifact", "other"), {"artifacts": {"log": {"kind": "text", "value": "fully"}}}, False),
        (quote("x", "artifact", "log"), {"artifacts": {"log": {"kind": "absent"}}}, False),
        (quote('"option":{"case":"front"}', "call-inputs"), {}, True),
        (quote('"path":null', "call-inputs"), {}, True),
        (quote('"bodyEncoding":null', "call-inputs"), {}, True),
    ],
)
def test_s2_5_projection_of_every_channel(quoted: dict[str, Any], seen: dict[str, Any], witnessed: bool) -> None:
    expected = [] if witnessed else [(0, quoted["channel"], quoted["quote"])]
    assert quotations(quoted, **seen) == expected


def test_s2_5_call_inputs_are_printed_as_presented() -> None:
    inputs = j.call_inputs(option={"case": "front"})
    del inputs["bodyEncoding"]
    record = j.record(
        schemaVersion=7,
        observations=[j.observation(1, callInputs=inputs)],
        findings=[j.finding(quotedEvidence=[quote('"bodyEncoding"', "call-inputs"), quote('"body"', "call-inputs")])],
    )
    assert [q.quote for q in validated(record).unwitnessed_quotations] == ['"bodyEncoding"']


def test_s2_5_only_cited_observations_witness_and_every_carrier_of_an_identifier_does() -> None:
    text = {"kind": "text", "value": "needle"}
    record = j.record(
        observations=[
            j.observation(1),
            j.observation(2, observationId="obs-1", stdout=text),
            j.observation(3, stdout={"kind": "text", "value": "hay"}),
        ],
        findings=[
            j.finding(1, quotedEvidence=[quote("needle"), quote("hay")]),
            j.finding(
                2, observationIds=["obs-3", "ghost", "obs-3", "obs-1"], quotedEvidence=[quote("hay"), quote("no")]
            ),
            j.finding(3, "observation"),
        ],
    )
    assert validated(record).unwitnessed_quotations == (
        Quotation("F-001", 1, "stdout", "hay", ("obs-1",)),
        Quotation("F-002", 1, "stdout", "no", ("obs-1", "obs-3")),
    )


def test_s2_5_sorted_by_code_unit_and_recorded_once() -> None:
    first, second = "\U0001f600", "\ue000"  # the astral character sorts first by code unit
    record = j.record(
        findings=[
            j.finding(2, quotedEvidence=[quote(second)]),
            j.finding(2, quotedEvidence=[quote(first)]),
            j.finding(1, quotedEvidence=[quote("x", "stderr"), quote("x")]),
        ]
    )
    trial = validated(record)
    assert [(q.finding_id, q.quote_index, q.quote) for q in trial.unwitnessed_quotations] == [
        ("F-001", 0, "x"),
        ("F-001", 1, "x"),
        ("F-002", 0, first),
        ("F-002", 0, second),
    ]
    (condition,) = [entry for entry in trial.conditions if isinstance(entry, UnwitnessedQuotation)]
    assert condition.quotations == trial.unwitnessed_quotations


HUGE = {"n": 2**60}


@pytest.mark.parametrize(
    ("quoted", "seen"),
    [
        (quote("x"), {"stdout": j.json_body(HUGE)}),
        (quote("x", "stderr"), {"stderr": j.json_body(HUGE)}),
        (quote("x", "artifact", "log"), {"artifacts": {"log": j.json_body(HUGE)}}),
        (quote("x", "response-body"), {"responseBody": HUGE}),
        (quote("x", "response-headers"), {"responseHeaders": HUGE}),
        (quote("x", "call-inputs"), {"callInputs": j.call_inputs(option=HUGE)}),
    ],
)
def test_s2_5_a_value_outside_the_canonical_domain_is_a_fault_that_names_the_finding(
    quoted: dict[str, Any], seen: dict[str, Any]
) -> None:
    record = j.record(observations=[j.observation(1, **seen)], findings=[j.finding(quotedEvidence=[quoted])])
    with pytest.raises(RuntimeFault) as raised:
        validated(record)
    assert raised.value.code == "non-canonicalizable-value"
    assert raised.value.artifact_path == "SealedRunRecord.findings[findingId=F-001]"


# --- manifest and configuration -----------------------------------------------------------------------------------


def test_s16_7_everything_missing() -> None:
    trial = validated(j.record(), manifest=None, configuration=None)
    assert trial.conditions == (IsolationManifestAbsent(), EvaluatorConfigurationAbsent())
    assert trial.isolation_violation == ("isolation manifest absent",)


def test_s2_6_observed_beyond_the_allowlists() -> None:
    record = j.record()
    manifest = j.manifest(
        record,
        violation="left the box",
        observedMounts=["/etc", "/in", "/etc", "/root"],
        networkAllowlist=["a"],
        observedNetworkTargets=["a", "b"],
        toolAllowlist=["read"],
        observedToolCalls=["Read", "read"],
    )
    trial = validated(record, manifest=manifest)
    assert trial.conditions == (IsolationManifestViolation("left the box", ("/etc", "/root"), ("b",), ("Read",)),)
    assert trial.isolation_violation == (
        "manifest violation: left the box",
        "mount outside allowlist: /etc",
        "mount outside allowlist: /root",
        "network target outside allowlist: b",
        "tool call outside allowlist: Read",
    )


def test_s2_6_one_list_beyond_its_allowlist_is_enough() -> None:
    record = j.record()
    trial = validated(record, manifest=j.manifest(record, observedToolCalls=["run"]))
    assert trial.conditions == (IsolationManifestViolation(None, (), (), ("run",)),)


def test_s2_7_forbidden_inputs_in_floor_order() -> None:
    record = j.record()
    manifest = j.manifest(record)
    for name in ("human-labels", "original-spec"):
        manifest["forbiddenInputAccounting"][name]["withheld"] = False
    assert validated(record, manifest=manifest).conditions == (
        ForbiddenInputNotWithheld(("original-spec", "human-labels")),
    )


def test_s2_8_the_three_fields_in_order_and_no_other() -> None:
    record = j.record()
    manifest = j.manifest(
        record,
        runId="run-2",
        contractDigest=digest(90),
        evaluatorConfigurationDigest=digest(91),
        conditionArm="other",
        contractId="other",
    )
    assert validated(record, manifest=manifest).conditions == (
        CrossArtifactDisagreement("runId", "run-1", "run-2"),
        CrossArtifactDisagreement("contractDigest", record["contractDigest"], digest(90)),
        CrossArtifactDisagreement("evaluatorConfigurationDigest", record["evaluatorConfigurationDigest"], digest(91)),
    )


def test_s2_9_another_configuration_than_the_record_names() -> None:
    record = j.record()
    other = j.configuration(seed=7)
    computed = configuration_digest(decode(EvaluatorConfiguration, other, "EvaluatorConfiguration"))
    assert computed is not None
    assert validated(record, configuration=other).conditions == (
        EvaluatorConfigurationDigestMismatch(record["evaluatorConfigurationDigest"], computed),
    )
    assert configuration_digest(None) is None


def test_s2_9_a_configuration_outside_the_canonical_domain_is_a_fault() -> None:
    with pytest.raises(RuntimeFault) as raised:
        validated(j.record(), configuration=j.configuration(decodingParameters={"n": 2**60}))
    assert (raised.value.code, raised.value.artifact_path) == ("non-canonicalizable-value", "EvaluatorConfiguration")


def test_s2_10_unscored_judge_results_once_each_and_sorted() -> None:
    def judged(rubric: int, criterion: int, score: int | None) -> dict[str, Any]:
        return {"rubricId": f"R-00{rubric}", "criterionId": f"RC-00{criterion}", "score": score, "note": None}

    record = j.record(
        judgeResults=[judged(2, 1, None), judged(1, 2, None), judged(1, 2, None), judged(1, 1, 0), judged(1, 3, None)]
    )
    found = [entry for entry in validated(record).conditions if isinstance(entry, JudgeResultUnscored)]
    assert found == [
        JudgeResultUnscored("R-001", "RC-002"),
        JudgeResultUnscored("R-001", "RC-003"),
        JudgeResultUnscored("R-002", "RC-001"),
    ]
