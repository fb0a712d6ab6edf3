"""Skill evals in both dialects, trigger suites, comparisons and whole records (spec 11 §17.2, §17.8, §17.10)."""

from typing import Any

import pytest

from eval_quality.core.behavior.compare import diff, lift, outcomes_of, paired
from eval_quality.core.behavior.evaluators import CorpusCase, Outcome
from eval_quality.core.behavior.evidence import CaseResult, Loaded, evidence_document, evidence_rows, judge_all
from eval_quality.core.behavior.frame import BundleRefused, ResponseBundle
from eval_quality.core.behavior.freshness import Fresh
from eval_quality.core.behavior.plan import Plan, build_plan
from eval_quality.core.behavior.scenario import read_scenarios
from eval_quality.core.behavior.skill_evals import EvalsRefused, drafts, export_suite, read_suite
from eval_quality.core.behavior.snapshots import Snapshot
from eval_quality.core.behavior.standing import (
    ABSENT_EVIDENCE,
    Evidence,
    Measured,
    Structure,
    bundle_status,
    records,
    status_value,
)
from eval_quality.core.behavior.triggers import TriggersRefused, export_queries, judge_triggers, read_queries
from eval_quality.core.behavior.words import CONDITIONS, FAIL, NOT_CHECKED, PASS
from support.skills_corpus import config, corpus, perfect, plan_of, scenario

# -- evals.json --

ITEM = {"id": 1, "prompt": "Do it", "expected_output": "Done", "files": ["a.txt"], "expectations": ["It is done"]}


def suite(*items: Any, **changes: Any) -> dict[str, Any]:
    return {"skill_name": "s", "evals": list(items), **changes}


def test_s17_2_both_dialects_import_to_equal_drafts() -> None:
    other = {key: value for key, value in ITEM.items() if key != "expectations"} | {"assertions": ["It is done"]}
    both = {**ITEM, "assertions": ["It is done"]}
    found = [drafts(read_suite(suite(item))) for item in (ITEM, other, both)]
    assert found[0] == found[1] == found[2]
    assert found[0]["scenarios"] == [
        {
            "id": "s-eval-1",
            "description": "Done\n- It is done",
            "given": {"intent": "Do it", "files": ["a.txt"]},
            "expected": {"action": ""},
        }
    ]
    # No oracle is derived: such drafts leave the skill unscored.
    assert read_scenarios(found[0], "s", "x")[0] == []


@pytest.mark.parametrize(
    "value",
    [
        None,
        {},
        suite(skill_name=""),
        suite(evals=3),
        suite(*([ITEM] * 10_001)),
        suite({**ITEM, "id": True}),
        suite({**ITEM, "id": ""}),
        suite({**ITEM, "id": 1.5}),
        suite({**ITEM, "prompt": ""}),
        suite(3),
        suite(ITEM, ITEM),
        suite({**ITEM, "expectations": "x"}),
        suite({**ITEM, "expectations": [1]}),
        suite({**ITEM, "assertions": ["another"]}),
    ],
)
def test_suites_that_are_refused(value: Any) -> None:
    with pytest.raises(EvalsRefused):
        read_suite(value)


@pytest.mark.parametrize(("dialect", "member"), [("A", "expectations"), ("B", "assertions")])
def test_export_then_import_keeps_prompts_ids_and_order(dialect: str, member: str) -> None:
    rows = [
        scenario(
            0,
            description="Note",
            expected={"action": "act", "selectedSkill": "t", "produces": "p", "gates": ["g"], "structure": ["d/x"]},
        ),
        scenario(1, given={"files": ["f"], "n": 1}, forbidden={"produces": "x"}),
    ]
    scenarios, _ = read_scenarios(rows, "s", "x")
    exported = export_suite("s", scenarios, dialect)
    assert (
        exported["evals"][0][member]
        == [
            "The next action is act.",
            "The work is passed to t.",
            "The result is a p.",
            "The gate g is listed.",
            "The path d/x is listed.",
            "The next action is not measure-index-500.",
        ]
        or member in exported["evals"][0]
    )
    back = drafts(read_suite(exported))["scenarios"]
    assert [item["id"] for item in back] == ["family-000", "family-001"]
    assert back[0]["given"]["intent"] == scenarios[0].given["intent"]
    assert back[1]["given"] == {"intent": '{"files":["f"],"n":1}', "files": ["f"]}


# -- triggers --


def result(query: str, wanted: bool, triggers: int, runs: int, **more: Any) -> dict[str, Any]:
    return {"query": query, "should_trigger": wanted, "triggers": triggers, "runs": runs, **more}


def judged(rows: list[Any], control: list[Any]) -> Any:
    return judge_triggers(read_queries(rows, results=True), read_queries({"results": control}, results=True))


FIRES = [result("always", True, 3, 3)]


def test_a_suite_that_behaves_has_rates_with_intervals() -> None:
    found = judged([result("a", True, 3, 3), result("b", False, 0, 3)], FIRES)
    assert (found["status"], found["passed"], found["total"]) == (PASS, 2, 2)
    assert found["recall"]["rate"] == 1.0
    assert found["falseTriggers"]["interval"]["low"] == 0.0
    found = judged([result("a", True, 1, 3)], FIRES)
    assert (found["status"], found["falseTriggers"]) == (FAIL, None)


@pytest.mark.parametrize("control", [[result("c", True, 0, 3)], [result("c", True, 0, 0)]])
def test_r4_an_instrument_that_cannot_fire_has_no_rate(control: list[Any]) -> None:
    found = judged([result("b", False, 0, 3)], control)
    assert found["status"] == NOT_CHECKED
    assert found["reason"].startswith("instrument-cannot-fire")
    assert "recall" not in found


@pytest.mark.parametrize(
    "row", [result("b", False, 0, 0), result("b", False, 0, 3, crashed=3), result("b", False, 0, 3, errors=1)]
)
def test_r4_a_crash_is_no_passed_negative(row: Any) -> None:
    found = judged([result("a", True, 3, 3), row], FIRES)
    assert (found["status"], found["missing"]) == (NOT_CHECKED, ["b"])
    assert found["reason"].startswith("missing-as-pass")


@pytest.mark.parametrize(
    ("value", "results"),
    [
        (None, False),
        ([], False),
        ({"queries": []}, False),
        ([{"query": "a"}], False),
        ([{"query": "", "should_trigger": True}], False),
        ([result("a", True, 4, 3)], True),
        ([result("a", True, -1, 3)], True),
        ([{"query": "a", "should_trigger": True}], True),
        ([result("a", True, 1, 3, crashed=-1)], True),
    ],
)
def test_trigger_files_that_are_refused(value: Any, results: bool) -> None:
    with pytest.raises(TriggersRefused):
        read_queries(value, results=results)


def test_a_trigger_suite_of_our_own_scenarios() -> None:
    mine, _ = read_scenarios(
        [scenario(0), scenario(1, expected={"action": "a", "selectedSkill": "other"}), scenario(2, given={})], "s", "x"
    )
    theirs, _ = read_scenarios([scenario(3), scenario(4, family="family-003", condition="known")], "other", "y")
    queries = export_queries("s", [*mine, *theirs])
    assert [query["should_trigger"] for query in queries] == [True, False, False]
    assert [query.text for query in read_queries(queries, results=False)] == [query["query"] for query in queries]


# -- comparisons --


def document(plan: Plan, wrong: int = 0) -> dict[str, Any]:
    answers = perfect(plan)
    for case in plan.cases[:wrong]:
        answers[case.opaque_id] = {"action": "elsewhere"}
    verdicts = judge_all(plan.cases, plan, ResponseBundle("m", answers), {})
    return evidence_document(evidence_rows(plan.cases, verdicts), plan.open, "m", "2026-05-01T00:00:00Z")


def test_s17_8_diff() -> None:
    plan = plan_of(2, 1)
    found = diff(document(plan, 6), document(plan))
    assert (found["wins"], found["losses"], found["ties"]) == (6, 0, 4)
    assert found["mcnemarP"] == pytest.approx(0.03125, abs=1e-4)
    assert found["skills"]["skill-0"]["wins"] == 5
    assert found["categories"]["known"]["wins"] == 2
    assert paired({("s", "a"): ("known", True)}, {("s", "b"): ("known", True)})["cases"] == 0
    other = {**document(plan), "oracleSha256": "0" * 64}
    with pytest.raises(BundleRefused, match="oracleSha256"):
        diff(document(plan), other)
    with pytest.raises(BundleRefused, match="corpusSha256"):
        diff(document(plan), document(plan_of(1, 1)))


def test_s17_10_lift() -> None:
    plan = plan_of(2, 1)
    bare, skilled = outcomes_of(document(plan, 5)), outcomes_of(document(plan))
    found = lift(bare, skilled, "skill-0")
    assert found is not None
    assert (found["lift"], found["withSkill"], found["bare"], found["cases"]) == (1.0, 1.0, 0.0, 5)
    assert lift(bare, skilled, "nobody") is None


# -- whole records --


def structure(skill_id: str, **changes: Any) -> Structure:
    facts: dict[str, Any] = {
        "source_available": True,
        "structured": True,
        "package_valid": True,
        "runtime_integrated": True,
    }
    return Structure(skill_id, **{**facts, **changes})


def results(plan: Plan, *, wrong: int = 0, violated: int = 0) -> tuple[CaseResult, ...]:
    return tuple(
        CaseResult(case.category, case.skill_id, case.case_id, index >= wrong, index < violated, True, False)
        for index, case in enumerate(plan.cases)
    )


def evidence(plan: Plan, rows: tuple[CaseResult, ...], **changes: Any) -> Evidence:
    grouped: dict[str, tuple[CaseResult, ...]] = {
        skill_id: tuple(row for row in rows if row.skill_id == skill_id) for skill_id in plan.per_skill
    }
    facts: dict[str, Any] = {
        "loaded": Loaded(None, "fresh", {"cases": [], "providerId": "m"}),
        "fresh": Fresh(grouped, {}),
        "sealed": Fresh({}, {}),
        "violations": {},
        "pooled": {},
    }
    return Evidence(**{**facts, **changes})


def judge(plan: Plan, read: Evidence, settings: Any = None, degenerate: tuple[str, ...] = (), **options: Any) -> Any:
    return records(
        [structure(skill_id) for skill_id in (*plan.per_skill, *options.pop("more", ()))],
        plan,
        options.pop("measured", {}),
        read,
        settings or config(),
        lambda _skill: degenerate,
        **options,
    )


PLAN = plan_of(1, 20)


def test_s10_a_perfect_skill_is_m4_and_a_violation_caps_it() -> None:
    (record,) = judge(PLAN, evidence(PLAN, results(PLAN)))
    assert (record.standing.status, record.maturity, record.reason) == (PASS, "M4", "")
    value = record.value()
    assert (value["behaviorallyProven"], value["enterpriseReady"], value["evidence"]) == (True, False, "provider")
    assert (value["instructionsProven"], value["recomputed"]) == (True, None)
    assert set(value["behavior"]) == set(CONDITIONS)
    (record,) = judge(PLAN, evidence(PLAN, results(PLAN, violated=1)))
    assert (record.standing.status, record.maturity) == (FAIL, "M3")
    (record,) = judge(PLAN, evidence(PLAN, results(PLAN), violations={"skill-0": 1}))
    assert (record.standing.status, record.standing.violations) == (FAIL, 1)
    (record,) = judge(PLAN, evidence(PLAN, results(PLAN)), gates_passed=True)
    assert record.maturity == "M5"


def test_s10_a_degenerate_answer_can_only_lower() -> None:
    (record,) = judge(PLAN, evidence(PLAN, results(PLAN)), degenerate=("constant",))
    assert (record.standing.status, record.maturity) == (PASS, "M3")
    (record,) = judge(PLAN, evidence(PLAN, results(PLAN, wrong=100)), degenerate=("constant",))
    assert (record.standing.status, record.standing.degenerate) == (FAIL, ())


def test_s9_stale_absent_and_blocked_evidence_is_not_checked() -> None:
    absent = evidence(PLAN, (), loaded=ABSENT_EVIDENCE, fresh=Fresh({}, {"skill-0": "evidence-absent"}))
    found = judge(PLAN, absent)
    assert (found[0].standing.status, found[0].reason, found[0].maturity) == (NOT_CHECKED, "evidence-absent", "M3")
    assert bundle_status(found, absent) == (NOT_CHECKED, False, "evidence-absent: no evidence has been scored yet")
    assert "snapshot" not in status_value(found, PLAN, absent, config(), 0)
    blocked = evidence(PLAN, results(PLAN), blocked="evidence-incomplete: 5 %")
    found = judge(PLAN, blocked)
    assert (found[0].standing.status, found[0].reason) == (NOT_CHECKED, "evidence-incomplete: 5 %")
    assert bundle_status(found, blocked) == (NOT_CHECKED, True, "evidence-incomplete: 5 %")


def test_s13_1_the_status_payload_holds_no_oracle() -> None:
    read = evidence(PLAN, results(PLAN))
    found = judge(PLAN, read)
    value = status_value(found, PLAN, read, config(), 3)
    assert (value["status"], value["fresh"], value["attempts"]) == (PASS, True, 3)
    assert value["snapshot"] == {"providerId": "m"}
    assert value["repositoryWide"]["known"]["total"] == 20
    assert "cases" in status_value(found, PLAN, read, config(), 3, with_cases=True)["snapshot"]


def test_w37_changed_resources_warn_or_bind() -> None:
    read = evidence(PLAN, results(PLAN), changed_resources=frozenset({"skill-0"}))
    (record,) = judge(PLAN, read)
    assert (record.standing.status, record.warnings) == (PASS, ("resources-changed",))
    (record,) = judge(PLAN, read, config(bindResources=True))
    assert (record.standing.status, record.reason) == (NOT_CHECKED, "resources-changed")


def test_s17_10_no_measured_effect_is_a_warning() -> None:
    read = evidence(PLAN, results(PLAN), lift={"skill-0": {"lift": 0.0}})
    assert judge(PLAN, read)[0].warnings == ("no-measured-effect",)
    read = evidence(PLAN, results(PLAN), lift={"skill-0": {"lift": 0.1}})
    assert judge(PLAN, read)[0].warnings == ()


def test_s17_7_pooled_attempts_replace_the_last_run() -> None:
    read = evidence(PLAN, results(PLAN), pooled={"skill-0": {"known": (20, 40)}})
    (record,) = judge(PLAN, read)
    assert (record.slices["known"].total, record.slices["known"].status) == (40, FAIL)
    assert record.slices["negative"].total == 20


def test_s17_6_a_sealed_holdout_without_its_root_stays_open() -> None:
    texts, scenarios = corpus(1, 3)
    plan, _ = build_plan(texts, scenarios, config(), committed=["skill-0"])
    (record,) = judge(plan, evidence(plan, results(plan)))
    assert (record.standing.status, record.reason, record.holdout_origin) == (NOT_CHECKED, "holdout-sealed", "sealed")
    rows = tuple(CaseResult("holdout", "skill-0", f"h{n}", True, False, True, False) for n in range(3))
    (record,) = judge(plan, evidence(plan, results(plan), sealed=Fresh({"skill-0": rows}, {})))
    assert (record.standing.status, record.slices["holdout"].total) == (PASS, 3)
    (record,) = judge(plan, evidence(plan, results(plan), sealed=Fresh({}, {"skill-0": "evidence-stale"})))
    assert record.reason == "evidence-stale"


def test_a_skill_without_scenarios_is_listed_and_not_checked() -> None:
    read = evidence(PLAN, results(PLAN))
    found = judge(PLAN, read, more=("bare",))
    assert (found[1].evidence, found[1].standing.status, found[1].maturity) == ("none", NOT_CHECKED, "M3")
    empty = plan_of(0, 0)
    nothing = evidence(empty, (), fresh=Fresh({}, {}))
    assert bundle_status(judge(empty, nothing), nothing) == (NOT_CHECKED, False, "no-provider-cases")


def measured(violated: int = 0, snapshot: Snapshot | None = None, problem: str = "") -> Measured:
    outcomes = tuple(
        Outcome(CorpusCase(f"{name}-{number}", name, {}, {}, None), {}, True, number < violated)
        for name in CONDITIONS[:4]
        for number in range(3)
    )
    return Measured(() if problem else outcomes, snapshot or Snapshot(PASS, "fresh", 20, 19, 0, True), problem)


def test_s10_3_a_deterministic_skill_is_judged_by_running_it() -> None:
    empty = plan_of(0, 0)
    read = evidence(empty, (), fresh=Fresh({}, {}))

    def one(result: Measured) -> Any:
        return judge(empty, read, more=("router",), measured={"router": result})[0]

    record = one(measured())
    assert (record.standing.status, record.maturity, record.evidence) == (PASS, "M4", "deterministic")
    assert len(record.warnings) == 1
    assert (record.value()["instructionsProven"], record.value()["recomputed"]) == (False, True)
    assert len(one(measured(snapshot=Snapshot(PASS, "fresh", 20, 20))).warnings) == 2
    # W7: a violation in the snapshot caps the level although 23 of 24 would do.
    record = one(measured(snapshot=Snapshot(FAIL, "fresh", 24, 23, 3, True)))
    assert (record.standing.status, record.standing.violations, record.maturity) == (FAIL, 3, "M3")
    assert one(measured(violated=1)).standing.violations == 4
    record = one(measured(snapshot=Snapshot(NOT_CHECKED, "evidence-stale: corpusSha256 differs")))
    assert (record.standing.status, record.reason) == (NOT_CHECKED, "evidence-stale: corpusSha256 differs")
    assert one(measured(problem="not-executed: x")).reason == "not-executed: x"
