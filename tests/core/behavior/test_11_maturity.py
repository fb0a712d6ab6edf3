"""Slices, statuses, levels, intervals, freshness per skill and whole records (spec 11 §9, §10, §17.8, §17.10)."""

from datetime import UTC, datetime
from typing import Any

import pytest

from eval_quality.core.behavior.evidence import (
    STALE,
    Loaded,
    evidence_document,
    evidence_rows,
    judge_all,
    load_evidence,
)
from eval_quality.core.behavior.frame import ResponseBundle
from eval_quality.core.behavior.freshness import Fresh, malformed_forbidden, missing_share, per_skill
from eval_quality.core.behavior.intervals import (
    interval,
    lower_bound,
    mcnemar,
    rounded,
    tail_at_least,
    upper_bound,
)
from eval_quality.core.behavior.maturity import (
    Slice,
    Standard,
    Standing,
    level,
    open_slices,
    overall_status,
    skill_status,
    slice_of,
)
from eval_quality.core.behavior.plan import Plan, SkillText, build_plan
from eval_quality.core.behavior.provenance import per_skill_value
from eval_quality.core.behavior.words import CONDITIONS, DEFAULT_THRESHOLDS, FAIL, NOT_CHECKED, PASS
from support.skills_corpus import config, corpus, perfect, plan_of

NOW = datetime(2026, 5, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("passed", "total", "threshold", "status"),
    [
        (9, 10, 90, PASS),
        (18, 20, 90, PASS),
        (19, 20, 95, PASS),
        (8, 9, 90, FAIL),
        (18, 20, 95, FAIL),
        (0, 1, 90, FAIL),
        (1, 1, 95, PASS),
        (0, 0, 90, NOT_CHECKED),
    ],
)
def test_s10_1_boundary_rates(passed: int, total: int, threshold: int, status: str) -> None:
    assert slice_of(total, passed, threshold).status == status


def test_s10_1_nothing_measured_is_no_number() -> None:
    empty = slice_of(0, 0, 90, reason="evidence-absent")
    assert empty.value() == {
        "status": NOT_CHECKED,
        "total": 0,
        "passed": 0,
        "passRate": None,
        "reason": "evidence-absent",
    }
    assert slice_of(2, 1, 90).value()["interval"] == {"low": 0.0126, "high": 0.9874, "confidence": 0.95}


def test_s17_3_a_minimum_of_cases() -> None:
    assert slice_of(5, 5, 90, 6) == Slice(NOT_CHECKED, 5, 5, "fewer than 6 cases")
    assert slice_of(6, 6, 90, 6).status == PASS


@pytest.mark.parametrize(
    ("passed", "total", "status"),
    [(29, 29, PASS), (28, 28, NOT_CHECKED), (20, 29, FAIL), (27, 29, NOT_CHECKED)],
)
def test_s17_10_the_interval_rule(passed: int, total: int, status: str) -> None:
    assert slice_of(total, passed, 90, confidence=0.95).status == status


@pytest.mark.parametrize(("cases", "bound"), [(8, 0.688), (20, 0.861), (25, 0.887), (59, 0.950)])
def test_s17_10_lower_bounds_of_perfect_runs(cases: int, bound: float) -> None:
    assert round(lower_bound(cases, cases, 0.95), 3) == bound
    assert lower_bound(cases, cases, 0.95) == pytest.approx(0.05 ** (1 / cases), abs=1e-9)


@pytest.mark.parametrize(
    ("rate", "chances"),
    [(0.7, [0.06, 0.15, 0.04, 0.00]), (0.8, [0.17, 0.38, 0.21, 0.08]), (0.9, [0.43, 0.74, 0.68, 0.63])],
)
def test_s17_10_table_of_chances(rate: float, chances: list[float]) -> None:
    found: list[float] = []
    for cases in (8, 10, 20, 40):
        needed = next(count for count in range(cases + 1) if count * 100 >= 90 * cases)
        found.append(round(tail_at_least(needed, cases, rate), 2))
    assert found == chances


def test_intervals_at_the_edges() -> None:
    assert (lower_bound(0, 5, 0.95), upper_bound(5, 5, 0.95)) == (0.0, 1.0)
    assert (lower_bound(0, 0, 0.95), upper_bound(0, 0, 0.95)) == (0.0, 1.0)
    assert (tail_at_least(0, 3, 0.2), tail_at_least(1, 3, 0.0)) == (1.0, 0.0)
    assert (tail_at_least(0, 3, 0.0), tail_at_least(3, 3, 1.0)) == (1.0, 1.0)
    both = interval(8, 10)
    assert (rounded(both.low), rounded(both.high)) == (0.4439, 0.9748)
    assert tail_at_least(7, 10, 0.5) == pytest.approx(176 / 1024)


@pytest.mark.parametrize(("wins", "losses", "p"), [(0, 0, 1.0), (5, 0, 0.0625), (3, 3, 1.0), (0, 6, 0.03125)])
def test_s17_8_mcnemar(wins: int, losses: int, p: float) -> None:
    assert mcnemar(wins, losses) == pytest.approx(p)


def slices(**states: str) -> dict[str, Slice]:
    return {name: Slice(states.get(name, PASS), 1, 1) for name in CONDITIONS}


@pytest.mark.parametrize(
    ("states", "violations", "status"),
    [
        ({}, 0, PASS),
        ({"holdout": NOT_CHECKED}, 0, NOT_CHECKED),
        ({"holdout": NOT_CHECKED, "known": FAIL}, 0, FAIL),
        ({}, 1, FAIL),
        ({"holdout": NOT_CHECKED}, 1, FAIL),
    ],
)
def test_s10_4_skill_status(states: dict[str, str], violations: int, status: str) -> None:
    assert skill_status(slices(**states), violations) == status


@pytest.mark.parametrize(
    ("statuses", "status"),
    [([], NOT_CHECKED), ([PASS], PASS), ([PASS, NOT_CHECKED], NOT_CHECKED), ([NOT_CHECKED, FAIL], FAIL)],
)
def test_s9_overall_status(statuses: list[str], status: str) -> None:
    assert overall_status(statuses) == status


def standing(**changes: Any) -> Standing:
    facts: dict[str, Any] = {
        "source_available": True,
        "structured": True,
        "package_valid": True,
        "runtime_integrated": True,
        "status": PASS,
    }
    return Standing(**{**facts, **changes})


@pytest.mark.parametrize(
    ("changes", "wanted"),
    [
        ({}, "M4"),
        ({"gates_passed": True}, "M5"),
        ({"status": FAIL, "gates_passed": True}, "M3"),
        ({"status": NOT_CHECKED}, "M3"),
        ({"violations": 1}, "M3"),
        ({"degenerate": ("constant",)}, "M3"),
        ({"runtime_integrated": False}, "M2"),
        ({"package_valid": False}, "M1"),
        ({"structured": False}, "M0"),
        ({"source_available": False}, "M0"),
    ],
)
def test_s10_2_levels(changes: dict[str, Any], wanted: str) -> None:
    assert level(standing(**changes)) == wanted


def test_s10_1_the_five_slices_explain_their_empty_ones() -> None:
    found = Standard(DEFAULT_THRESHOLDS).slices([("known", True), ("negative", False)], {"holdout": "why"})
    assert [found[name].status for name in CONDITIONS] == [PASS, FAIL, NOT_CHECKED, NOT_CHECKED, NOT_CHECKED]
    assert found["holdout"].reason == "why"
    assert set(open_slices("x")) == set(CONDITIONS)


# -- freshness per skill --


def evidence_of(plan: Plan) -> dict[str, Any]:
    verdicts = judge_all(plan.cases, plan, ResponseBundle("m", perfect(plan)), {})
    return evidence_document(evidence_rows(plan.cases, verdicts), plan.open, "m", "2026-04-30T00:00:00Z")


def edited_plan() -> Plan:
    texts, scenarios = corpus(2, 3)
    plan, _ = build_plan([SkillText("skill-0", "# Edited\n"), texts[1]], scenarios, config())
    return plan


def test_s17_8_editing_one_skill_makes_only_that_one_stale() -> None:
    before, after = plan_of(2, 3), edited_plan()
    document = evidence_of(before)
    loaded = load_evidence(document, after.open_cases, after.open, NOW)
    assert loaded.code == STALE
    sidecar = {"perSkill": per_skill_value(before.per_skill)}
    fresh = per_skill(loaded, after.open_cases, after.per_skill, sidecar)
    assert fresh.reasons == {"skill-0": STALE}
    assert len(fresh.results["skill-1"]) == 15
    # Without a sidecar one byte makes everything stale.
    assert per_skill(loaded, after.open_cases, after.per_skill, None) == Fresh({}, {"skill-0": STALE, "skill-1": STALE})


def test_s17_8_a_fresh_file_needs_no_sidecar() -> None:
    plan = plan_of(2, 3)
    loaded = load_evidence(evidence_of(plan), plan.open_cases, plan.open, NOW)
    fresh = per_skill(loaded, plan.open_cases, plan.per_skill, None)
    assert {skill_id: len(rows) for skill_id, rows in fresh.results.items()} == {"skill-0": 15, "skill-1": 15}


def test_s17_8_check_9_and_the_rows_still_decide() -> None:
    before, after = plan_of(2, 3), edited_plan()
    sidecar = {"perSkill": per_skill_value(before.per_skill)}
    document = evidence_of(before)
    document["passed"] -= 1
    loaded = load_evidence(document, after.open_cases, after.open, NOW)
    assert per_skill(loaded, after.open_cases, after.per_skill, sidecar).reasons == dict.fromkeys(
        ("skill-0", "skill-1"), "evidence-aggregate"
    )
    document = evidence_of(before)
    document["cases"] = [row for row in document["cases"] if row["skillId"] == "skill-0"]
    document |= {"passed": 15, "total": 15}
    loaded = load_evidence(document, after.open_cases, after.open, NOW)
    reasons = per_skill(loaded, after.open_cases, after.per_skill, sidecar).reasons
    assert reasons == {"skill-0": STALE, "skill-1": "evidence-coverage"}


def test_s17_8_other_reasons_are_everybodys() -> None:
    plan = plan_of(2, 3)
    loaded = Loaded("evidence-absent", "none")
    fresh = per_skill(loaded, plan.open_cases, plan.per_skill, {"perSkill": per_skill_value(plan.per_skill)})
    assert fresh.reasons == dict.fromkeys(("skill-0", "skill-1"), "evidence-absent")


@pytest.mark.parametrize(
    ("sidecar", "count"),
    [
        (None, 0),
        ({}, 0),
        ({"perSkill": {"s": {}}}, 0),
        ({"perSkill": {"s": {"malformedForbidden": 2}}}, 2),
        ({"perSkill": {"s": {"malformedForbidden": "many"}}}, 0),
    ],
)
def test_s10_4_malformed_violations_come_from_the_sidecar(sidecar: Any, count: int) -> None:
    assert malformed_forbidden(sidecar, "s") == count


def test_s17_10_the_missing_share_counts_silence_alone() -> None:
    plan = plan_of(1, 1)
    answers = perfect(plan)
    del answers[plan.cases[0].opaque_id]
    answers[plan.cases[1].opaque_id] = {"wrong": 1}
    verdicts = judge_all(plan.cases, plan, ResponseBundle("m", answers), {})
    document = evidence_document(evidence_rows(plan.cases, verdicts), plan.open, "m", "2026-04-30T00:00:00Z")
    loaded = load_evidence(document, plan.open_cases, plan.open, NOW)
    assert missing_share(loaded.results) == 0.2
    assert missing_share(()) == 0.0
