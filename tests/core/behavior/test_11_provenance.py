"""Receipt, sidecar, signature, ledger, repeats, suspicion (spec 11 §16 W14, §17.6, §17.7, §17.10)."""

import json
from pathlib import Path
from typing import Any

import pytest

from eval_quality.core.behavior.digests import sha256_hex
from eval_quality.core.behavior.plan import SkillText, build_plan, bundle_of
from eval_quality.core.behavior.provenance import (
    GENESIS,
    attempts,
    ledger_heads,
    ledger_line,
    receipt,
    receipt_problem,
    sidecar,
    sidecar_problem,
    signature_problem,
    signed,
)
from eval_quality.core.behavior.repeats import least_repeats, majority, merged, recorded, violations
from eval_quality.core.behavior.scenario import read_scenarios
from eval_quality.core.behavior.score import Verdict
from eval_quality.core.behavior.suspicion import (
    audit_evidence,
    canary_counts,
    canary_suspicion,
    demanded,
    recorded_canary_suspicion,
    underivable,
    underivable_suspicion,
)
from support.skills_corpus import config, corpus, plan_of, scenario

AT = "2026-05-01T00:00:00.000Z"
HASH = "a" * 64
REFERENCE = Path(__file__).resolve().parents[4] / "shared" / "reference" / "get-fable"
PLAN = plan_of(2, 2)


def made(**changes: Any) -> dict[str, Any]:
    facts: dict[str, Any] = {
        "evidence_sha256": HASH,
        "responses_sha256": [HASH],
        "receipt_sha256": None,
        "per_skill": PLAN.per_skill,
        "malformed_forbidden": {},
        "counts": {},
        "config_sha256": HASH,
        "thresholds": {},
        "repository": (None, None),
        "packages": {},
        "ledger_head": GENESIS,
        "suspicion": [],
    }
    return sidecar(**{**facts, **changes})


def test_s17_7_a_receipt_vouches_for_the_oracle() -> None:
    value = receipt(PLAN, bundle_of(PLAN), HASH, AT, HASH)
    assert receipt_problem(value, PLAN.whole) is None
    assert set(value["perSkill"]) == {"skill-0", "skill-1"}
    assert "open" not in value
    changed = {**value, "oracleSha256": "b" * 64}
    assert str(receipt_problem(changed, PLAN.whole)).startswith("oracle-changed-since-export")
    assert "another corpus" in str(receipt_problem({**value, "corpusSha256": "b" * 64}, PLAN.whole))
    assert "not readable" in str(receipt_problem({}, PLAN.whole))


def test_s17_6_a_receipt_of_a_sealed_export_has_all_three_pairs() -> None:
    texts, scenarios = corpus(1, 2)
    sealed, _ = read_scenarios([scenario(1, id="sealed")], "skill-0", "x", sealed=True)
    plan, _ = build_plan(texts, [*scenarios, *sealed], config())
    value = receipt(plan, bundle_of(plan), HASH, AT, HASH)
    assert value["open"]["total"] + value["sealed"]["total"] == value["total"]
    assert receipt_problem(value, plan.whole) is None


def test_s17_7_a_sidecar_belongs_to_one_file() -> None:
    value = made(malformed_forbidden={"skill-0": 2}, run={"model": "m"}, canaries={"total": 0, "right": 0})
    assert sidecar_problem(value, HASH) is None
    assert value["perSkill"]["skill-0"]["malformedForbidden"] == 2
    assert value["evidenceKind"] == "stated"
    assert (value["run"], value["canaries"]) == ({"model": "m"}, {"total": 0, "right": 0})
    repeated = made(responses_sha256=[HASH, "c" * 64], repeats=[{"caseId": "x"}])
    assert repeated["repeatResponsesSha256"] == ["c" * 64]
    assert repeated["repeats"] == [{"caseId": "x"}]
    assert "not the one" in str(sidecar_problem(value, "b" * 64))
    assert "not readable" in str(sidecar_problem([], HASH))


def test_s17_7_signatures() -> None:
    key = b"runner"
    value = signed(made(), key, "k1")
    assert signature_problem(value, key) is None
    assert signature_problem(made(), key) == "the sidecar is not signed"
    assert "no key" in str(signature_problem(value, None))
    assert "does not hold" in str(signature_problem(value, b"other"))
    assert "does not hold" in str(signature_problem({**value, "dirty": True}, key))
    other = {**value, "signature": {**value["signature"], "alg": "none"}}
    assert "does not hold" in str(signature_problem(other, key))


def test_s17_7_the_ledger_is_a_chain() -> None:
    first = ledger_line(GENESIS, {"op": "export"})
    second = ledger_line(sha256_hex(first), {"op": "score"})
    lines = [(line, json.loads(line)) for line in (first, second)]
    assert ledger_heads(lines) == (sha256_hex(second), None)
    assert ledger_heads([]) == (GENESIS, None)
    assert ledger_heads(lines[1:])[1] == "line 1 does not follow the line before it"
    assert ledger_heads([lines[0], (b"x", None), lines[1]])[1] == "line 2 does not follow the line before it"


def test_s17_7_attempts_count_scores_of_one_corpus_and_provider() -> None:
    entry = {"op": "score", "corpusSha256": PLAN.open.corpus, "oracleSha256": PLAN.open.oracle, "providerId": "m"}
    entries = [entry, entry, {**entry, "op": "export"}, {**entry, "providerId": "n"}, {**entry, "oracleSha256": ""}, 3]
    assert attempts([*entries, {**entry, "corpusSha256": ""}], PLAN.open, "m") == 2
    assert attempts(entries, PLAN.open, None) == 3


PASSED = Verdict(True, False, {"action": "a"})
FAILED = Verdict(False, False, {"action": "b"})
BROKEN = Verdict(False, True, {"action": "z"})


def test_s17_10_the_majority_decides_and_ties_fail() -> None:
    assert majority([FAILED, PASSED, PASSED]) is PASSED
    assert majority([PASSED, FAILED]) is FAILED
    assert majority([PASSED, PASSED]) is PASSED


def test_s17_10_a_violation_in_any_repeat_counts() -> None:
    assert merged([{"c": PASSED}]) == {"c": PASSED}
    assert merged([{"c": PASSED}, {"c": PASSED}, {"c": BROKEN}]) == {"c": BROKEN}
    assert merged([{"c": PASSED}, {"c": PASSED}, {"c": FAILED}]) == {"c": PASSED}


def test_s17_10_recorded_repeats_are_recomputed() -> None:
    case = PLAN.cases[0]
    assert case.forbidden is not None
    bad = Verdict(False, True, dict(case.forbidden))
    good = Verdict(True, False, dict(case.expected))
    assert recorded([case], [{case.opaque_id: good}]) == []
    rows = recorded([case], [{case.opaque_id: good}, {case.opaque_id: bad}])
    side = {"repeats": [*rows, {"skillId": "skill-0", "caseId": "unknown", "responses": [{"action": "x"}]}, 3]}
    assert violations(side, PLAN.cases) == {"skill-0": 1}
    assert violations({"repeats": rows * 2}, PLAN.cases) == {"skill-0": 2}
    assert violations({"repeats": [{**rows[0], "responses": [case.expected]}]}, PLAN.cases) == {}
    assert violations(None, PLAN.cases) == {}
    assert least_repeats({"repeats": rows}) == 2
    assert least_repeats(side) == 0
    assert least_repeats(None) == 1


def underivable_plan(**expected: Any) -> Any:
    rows = [scenario(0, expected={"action": "act", **expected})]
    scenarios, _ = read_scenarios(rows, "s", "x")
    plan, _ = build_plan([SkillText("s", '# S \u2028 quoted "x"\n')], scenarios, config(), catalogue=["s"])
    return plan


def test_w14_underivable_answers() -> None:
    derivable = underivable_plan(produces='a "b"', gates=["g"])
    assert underivable(derivable, derivable.cases) == []
    # A quoted name stands in the canonical text in its escaped form, and an instruction may name an artifact itself.
    assert underivable(underivable_plan(produces="quoted"), underivable_plan(produces="quoted").cases) == []
    two, _ = read_scenarios(
        [scenario(0, expected={"action": "act"}), scenario(1, expected={"action": "act"})], "s", "x"
    )
    plan, _ = build_plan([SkillText("s", "# S\n")], two, config())
    assert underivable(plan, plan.cases) == []
    unknown = underivable_plan(selectedSkill="elsewhere")
    assert len(underivable(unknown, unknown.cases)) == 5
    assert demanded(unknown.cases[0].expected) == ["act", "elsewhere"]
    assert underivable_suspicion([], 0) is None
    assert underivable_suspicion(["x"], 100) is None
    assert str(underivable_suspicion(["x", "y"], 100)).startswith("suspect-oracle-leak")


def test_s17_6_canaries() -> None:
    assert canary_suspicion(0, 0) is None
    assert canary_suspicion(4, 4) is None
    assert str(canary_suspicion(5, 5)).startswith("suspect-oracle-leak")


def test_s17_6_canaries_are_counted_over_all_runs() -> None:
    texts, scenarios = corpus(1, 2)
    plan, _ = build_plan(texts, scenarios, config(), canaries={"skill-0": (0, 1)})
    one, other = (case.opaque_id for case in plan.canaries)
    runs = [{one: PASSED, other: FAILED}, {one: PASSED, other: Verdict(False, False)}]
    assert canary_counts(plan, runs) == {"total": 3, "right": 2}
    assert canary_counts(PLAN, runs) is None
    assert recorded_canary_suspicion(None) is None
    assert recorded_canary_suspicion({"canaries": {"total": 4, "right": 5}}) is None
    assert str(recorded_canary_suspicion({"canaries": {"total": 8, "right": 8}})).startswith("suspect-oracle-leak")


def test_w14_the_reference_file_is_the_positive_fixture() -> None:
    path = REFERENCE / "evals/results/agent-behavior-v1.json"
    if not path.exists():
        pytest.skip("reference data absent: ../shared/reference/get-fable")
    report = audit_evidence(json.loads(path.read_bytes()))
    assert report.fabricated
    assert report.undiscriminating_suite
    assert report.value() == {
        "cases": 115,
        "passed": 115,
        "oracleInEvidence": 115,
        "families": 23,
        "undiscriminatingFamilies": 23,
        "constantPerFamilyPasses": 115,
        "constantPerSkillPasses": 110,
        "fabricated": True,
    }


def evidence_row(case_id: str, expected: Any, response: Any) -> dict[str, Any]:
    return {"skillId": "s", "caseId": case_id, "expected": expected, "response": response}


def test_w14_answers_that_echo_the_oracle_are_counted() -> None:
    act, block = {"action": "act"}, {"action": "block"}
    echoing = [evidence_row("a::1", act, act), evidence_row("a::2", act, act), evidence_row("b::1", block, block)]
    report = audit_evidence({"cases": echoing})
    assert report.fabricated
    assert report.undiscriminating_suite
    assert report.value() == {
        "cases": 3,
        "passed": 3,
        "oracleInEvidence": 3,
        "families": 2,
        "undiscriminatingFamilies": 2,
        "constantPerFamilyPasses": 3,
        "constantPerSkillPasses": 2,
        "fabricated": True,
    }


def test_w14_an_answer_of_its_own_and_a_family_that_discriminates() -> None:
    act, block = {"action": "act"}, {"action": "block"}
    rows = [
        evidence_row("a::1", act, {"action": "act", "selectedSkill": "s"}),
        evidence_row("a::2", block, act),
        evidence_row("a::3", block, None),
    ]
    report = audit_evidence({"cases": rows})
    assert not report.fabricated
    assert not report.undiscriminating_suite
    assert (report.passed, report.echoes, report.undiscriminating) == (1, 0, 0)
    assert (report.constant_per_family, report.constant_per_skill) == (2, 2)


def test_an_empty_evidence_file_is_neither() -> None:
    report = audit_evidence({"cases": []})
    assert not report.fabricated
    assert not report.undiscriminating_suite
