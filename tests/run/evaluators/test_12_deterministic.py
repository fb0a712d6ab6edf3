"""The built-in evaluator says what scoring finds, whatever a subject answers: spec 12 §12.13.3 (T12-16, T12-17)."""

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from eval_quality.core.compile.sequence import compile_contract
from eval_quality.core.ingest.quotation import projection
from eval_quality.model.contract import EvalContract
from eval_quality.model.decode import decode
from eval_quality.model.ports import ProbeObservation
from eval_quality.model.run_record import Observation
from eval_quality.run.evaluators.deterministic import MAX_QUOTE_CHARACTERS, report
from eval_quality.run.plan.call import Call, record_of
from eval_quality.run.plan.execute import execute, execution_order
from eval_quality.run.plan.judge import Judge
from eval_quality.run.plan.record import NoObservation, Recorder
from eval_quality.run.plan.values import plan_steps
from support.experiments import contract

CONTRACTS = {
    kind: compile_contract(decode(EvalContract, json.loads(json.dumps(contract(kind))), "EvalContract"), True)
    for kind in ("cli", "mcp", "api")
}
ORDERS = {kind: execution_order(plan_steps(each, None)) for kind, each in CONTRACTS.items()}
JUDGES = {kind: Judge(each, 1_000_000) for kind, each in CONTRACTS.items()}

TEXT = st.text(max_size=12) | st.sampled_from(["changed", "one", "\U0001f600" * 600, 'a"b\\c', "\x00\u2028", ""])
ANSWERS = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | st.floats(-1e6, 1e6) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
) | st.fixed_dictionaries({"value": TEXT, "ok": st.booleans()})
SILENT = st.just(NoObservation("subject-unavailable"))


def answered(kind: str, call: Call, value: Any) -> ProbeObservation:
    body = {"kind": "json", "value": value}
    members: dict[str, Any] = {
        "cli": {"exitCode": 0, "stdout": body, "stderr": {"kind": "text", "value": "warn"}, "artifacts": {}},
        "mcp": {"isError": False, "result": body},
        "api": {"status": 200, "headers": {"x-a": "b"}, "body": body},
    }[kind]
    message = {
        "probeId": "p",
        "interfaceId": call.interface_id,
        "operationId": call.operation_id,
        "kind": kind,
        **members,
    }
    return decode(ProbeObservation, message, "ProbeObservation")


def check(kind: str, answers: list[Any]) -> None:
    waiting = list(answers)

    def issue(call: Call) -> ProbeObservation | NoObservation:
        value = waiting.pop(0)
        return value if isinstance(value, NoObservation) else answered(kind, call, value)

    recorder = Recorder(issue)
    for _ in execute(ORDERS[kind], recorder.act):
        continue
    judge = JUDGES[kind]
    said = report(CONTRACTS[kind], "P-001", recorder.observations, judge)
    seen = {observation.observation_id: observation for observation in recorder.observations}
    judgments = {judgment.oracle.id: judgment for judgment in judge.oracles(recorder.observations)}

    violated = [entry["oracleId"] for entry in said.dispositions if entry["disposition"] == "violated"]
    assert [entry["oracleId"] for entry in said.dispositions] == list(judgments)
    for entry in said.dispositions:
        judgment = judgments[entry["oracleId"]]
        expected = "held" if judgment.satisfied else "violated" if judgment.violated else "not-attempted"
        assert entry["disposition"] == (expected if judgment.observation_ids else "not-attempted")
        assert set(entry["observationIds"]) <= seen.keys()
    assert [finding["oracleId"] for finding in said.findings] == violated
    assert said.recommendation == (
        "FAIL"
        if violated
        else "CONCERNS"
        if any(e["disposition"] == "not-attempted" for e in said.dispositions)
        else "PASS"
    )
    for finding in said.findings:
        assert finding["observationIds"]
        (quoted,) = finding["quotedEvidence"]
        assert 0 < len(quoted["quote"]) <= MAX_QUOTE_CHARACTERS
        texts = [
            projection(seen[name], quoted["channel"], quoted["artifactId"], "Observation") or ""
            for name in finding["observationIds"]
        ]
        assert any(quoted["quote"] in text for text in texts)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(kind=st.sampled_from(sorted(CONTRACTS)), answers=st.lists(ANSWERS | SILENT, min_size=2, max_size=2))
def test_s12_13_3_dispositions_are_the_oracles_and_quotations_are_evidence(kind: str, answers: list[Any]) -> None:
    check(kind, answers)


@pytest.mark.slow
@settings(max_examples=2000, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(kind=st.sampled_from(sorted(CONTRACTS)), answers=st.lists(ANSWERS | SILENT, min_size=2, max_size=2))
def test_s12_13_3_the_same_over_many_subjects(kind: str, answers: list[Any]) -> None:
    check(kind, answers)


@pytest.mark.parametrize("kind", sorted(CONTRACTS))
@pytest.mark.parametrize("value", ["\U0001f600" * 300_000, "x" * 1_048_576, '\\"\n\t\u2028' * 1000])
def test_s12_13_3_long_and_odd_answers_are_quoted_in_part(kind: str, value: str) -> None:
    check(kind, [{"ok": True, "value": "changed"}, {"value": value}])


def test_s12_17_1_actions_are_every_call_without_times() -> None:
    recorder = Recorder(lambda call: NoObservation("subject-cap", "slow"))
    for _ in execute(ORDERS["cli"], recorder.act):
        continue
    recorder.refuse({"code": "unknown-operation", "interfaceId": "store", "operationId": "nope"})
    assert [(action["sequence"], action["operationId"], action["outcome"]) for action in recorder.actions] == [
        (1, "put", "failed:subject-cap"),
        (2, "get", "failed:subject-cap"),
        (None, "nope", "refused:unknown-operation"),
    ]
    assert recorder.observations == []
    assert recorder.tools == {"store/put", "store/get"}
    value = record_of(Call("store", "put", {}), answered("cli", Call("store", "put", {}), 1), "obs-1", 1, "baseline")
    assert decode(Observation, value, "Observation").provenance == "baseline"
