"""Deterministic paths: policies, corpora, snapshots, routing by text (spec 11 §11, §17.9)."""

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from eval_quality.core.behavior.bm25 import Selector, sentences, tokens
from eval_quality.core.behavior.completion import completion
from eval_quality.core.behavior.evaluators import (
    BUILTIN_SUBJECTS,
    CorpusCase,
    CorpusRefused,
    confusion,
    read_corpus,
    routing_benchmark,
    run_corpus,
    run_report,
    spark_rates,
)
from eval_quality.core.behavior.next_move import next_move, well_worded
from eval_quality.core.behavior.router import CATALOGUE, ROWS, route
from eval_quality.core.behavior.snapshots import Bound, capture, good_enough, validate
from eval_quality.core.behavior.words import CONDITIONS, FAIL, NOT_CHECKED, PASS

REFERENCE = Path(__file__).resolve().parents[4] / "shared" / "reference" / "get-fable"
KINDS = {"routing": "routing", "spark": "policy", "verification": "completion"}


def reference(path: str) -> Any:
    full = REFERENCE / path
    if not full.exists():
        pytest.skip("reference data absent: ../shared/reference/get-fable")
    return json.loads(full.read_bytes())


@pytest.mark.parametrize(
    ("stem", "counts"),
    [("routing", [10, 8, 10, 10]), ("spark", [10, 8, 8, 10]), ("verification", [8, 6, 6, 8])],
)
def test_s11_every_benchmark_case_of_the_reference_passes(stem: str, counts: list[int]) -> None:
    kind = KINDS[stem]
    cases = read_corpus(reference(f"eval/benchmarks/{stem}-v1.json"), kind, holdout=False)
    outcomes = run_corpus(cases, BUILTIN_SUBJECTS[kind])
    assert [outcome.case.case_id for outcome in outcomes if not outcome.passed] == []
    assert [sum(case.category == name for case in cases) for name in CONDITIONS[:4]] == counts
    report = run_report(stem, outcomes)
    assert report["metric"] == f"enterprise-{stem}"
    assert {name: part["status"] for name, part in report["categories"].items()} == {
        **dict.fromkeys(CONDITIONS[:4], PASS),
        "holdout": NOT_CHECKED,
    }


@pytest.mark.parametrize(
    ("stem", "failed", "total"),
    [("routing", ["holdout-skill-creator"], 24), ("spark", [], 20), ("verification", [], 20)],
)
def test_s11_holdouts_of_the_reference(stem: str, failed: list[str], total: int) -> None:
    kind = KINDS[stem]
    cases = read_corpus(reference(f"evals/holdouts/{stem}-v1.json"), kind, holdout=True)
    outcomes = run_corpus(cases, BUILTIN_SUBJECTS[kind])
    assert len(outcomes) == total
    assert [outcome.case.case_id for outcome in outcomes if not outcome.passed] == failed
    # The snapshot of the reference is bound to the same holdout file.
    snapshot = reference(f"evals/results/{stem}-holdout-v1.json")
    data = (REFERENCE / f"evals/holdouts/{stem}-v1.json").read_bytes()
    assert snapshot["corpusSha256"] == hashlib.sha256(data).hexdigest()
    assert (snapshot["passed"], snapshot["total"]) == (total - len(failed), total)


def test_s11_2_the_known_miss_goes_to_the_evaluation_skill() -> None:
    cases = reference("evals/holdouts/routing-v1.json")["cases"]
    task = next(case["task"] for case in cases if case["id"] == "holdout-skill-creator")
    assert route(task).skill_id == "fable-eval"


@pytest.mark.parametrize(
    ("task", "skill"),
    [
        ("the command failed twice", "fable-recover"),
        ("it doesn’t work", "fable-recover"),
        ("we retried it", "fable-execute"),
        ("check for csrf", "fable-security"),
        ("no security boundary here, rename the file", "fable-execute"),
        ("publish the package", "fable-release"),
        ("do not publish, update the docs", "fable-execute"),
        ("web research is not needed, update it", "fable-execute"),
        ("inspect the local repository", "fable-discover"),
        ("inspect the code", "fable-discover"),
        ("write a failing test before the change", "fable-tdd"),
        ("fix the null error", "fable-tdd"),
        ("fix the null error without changing behavior", "fable-execute"),
        ("hello", "fable-execute"),
        ("handoff and retry", "fable-recover"),
    ],
)
def test_s11_2_router_rows(task: str, skill: str) -> None:
    assert route(task).skill_id == skill


def test_s11_2_state_adds_to_the_score() -> None:
    assert route("hello", {"failureStreak": 2}).skill_id == "fable-recover"
    assert route("publish it", {"phase": "recovering"}).skill_id == "fable-release"
    assert route("hello", {"phase": "verifying"}).skill_id == "fable-verify"
    assert route("hello").confidence == 0.62
    assert route("handoff").confidence == 0.99
    assert {row.skill_id for row in ROWS} == set(CATALOGUE[1:])
    with pytest.raises(ValueError, match="blank"):
        route("  ")


def state(**members: Any) -> dict[str, Any]:
    return {"state": members}


STALE = {"phase": "executing", "mutationGeneration": 2, "verifiedGeneration": 1}


@pytest.mark.parametrize(
    ("given", "suggestion", "code"),
    [
        (state(phase="complete"), None, "scope-complete-silent"),
        (state(phase="complete", currentSkill="fable-handoff"), "prepare the handoff", "continuity-handoff-ready"),
        (state(phase="recovering"), "diagnose the repeated failure", "failure-loop-diagnose-required"),
        (
            {**state(failureStreak=2), "latestError": "migration of the integration"},
            "diagnose the repeated integration failure",
            "failure-loop-diagnose-required",
        ),
        (
            {**state(failureStreak=3), "latestError": "Migration broke"},
            "diagnose the repeated migration failure",
            "failure-loop-diagnose-required",
        ),
        ({**state(**STALE), "latestMutationSource": "src/app.CSS"}, "run the build", "build-verification-stale"),
        (
            {
                **state(**STALE, currentSkill="fable-security", evidence=[{"kind": "security", "result": "pass"}]),
                "activeCardText": "repair it",
            },
            "verify the repaired behavior",
            "security-does-not-prove-functional-repair",
        ),
        (
            state(**STALE, activeCard="Refresh the token"),
            "run the affected refresh tests",
            "verification-stale-after-mutation",
        ),
        (state(**STALE), "run the affected tests", "verification-stale-after-mutation"),
        (state(**{**STALE, "phase": "idle"}), None, "idle-no-intent-silent"),
        (state(**{**STALE, "verifiedGeneration": None}), "run the affected tests", "verification-stale-after-mutation"),
        (state(phase="executing", currentSkill="fable-tdd"), "write the failing test", "tdd-missing-failing-test"),
        (
            state(phase="executing", currentSkill="fable-tdd", evidence=[{"kind": "test", "result": "fail"}, 3]),
            None,
            "silent-no-obvious-move",
        ),
        (
            {**state(phase="verifying", currentSkill="fable-review"), "activeCardText": "a Finding"},
            "fix the review finding",
            "review-finding-unaddressed",
        ),
        (state(phase="verifying", currentSkill="fable-review"), "review the diff", "diff-unreviewed"),
        (
            state(phase="verifying", currentSkill="fable-review", evidence=[{"kind": "review"}]),
            None,
            "silent-no-obvious-move",
        ),
        (
            state(phase="executing", currentSkill="fable-research"),
            "check the current official docs",
            "external-research-required",
        ),
        (
            {**state(phase="executing", currentSkill="fable-delegate"), "openCards": ["a", "b", 3]},
            "delegate the independent cards",
            "independent-cards-delegation",
        ),
        (
            {**state(phase="executing", currentSkill="fable-delegate"), "openCards": ["a"]},
            None,
            "silent-no-obvious-move",
        ),
        (
            state(phase="executing", currentSkill="fable-release"),
            "check release readiness",
            "release-verification-ready",
        ),
        ({"userIntent": "Fix it"}, "reproduce the bug", "intake-reproduce-bug"),
        ({"userIntent": "read the API"}, "check the official docs", "intake-check-docs"),
        ({"userIntent": "hello"}, "route the task", "intake-route-task"),
        ({}, None, "idle-no-intent-silent"),
        (state(phase="executing"), None, "silent-no-obvious-move"),
        ({"state": []}, None, "idle-no-intent-silent"),
        (state(evidence="x", failureStreak="y"), None, "idle-no-intent-silent"),
    ],
)
def test_s11_3_next_move_rows(given: Any, suggestion: str | None, code: str) -> None:
    move = next_move(given)
    assert (move.suggestion, move.reason_code) == (suggestion, code)


def test_s11_3_a_suggestion_is_short_and_opens_with_no_filler(monkeypatch: pytest.MonkeyPatch) -> None:
    assert well_worded("run the build")
    assert not well_worded("run")
    assert not well_worded(" ".join(["word"] * 13))
    assert not well_worded("Please run it")
    monkeypatch.setattr("eval_quality.core.behavior.next_move.MAX_WORDS", 2)
    assert next_move(state(**STALE)).suggestion is None


def record(**changes: Any) -> dict[str, Any]:
    return {"kind": "test", "result": "pass", "generation": 2, "detail": "seen", **changes}


DONE = {"phase": "verifying", "substantial": True, "mutationGeneration": 2, "verifiedGeneration": 2}


@pytest.mark.parametrize(
    ("members", "fresh", "allowed"),
    [
        ({"evidence": [record()]}, True, True),
        ({"evidence": []}, False, False),
        ({"evidence": None}, False, False),
        ({"evidence": [record(), record(result="fail")]}, False, False),
        ({"evidence": [record(), record(kind="research", result="fail")]}, True, True),
        ({"evidence": [record(detail=" ")]}, False, False),
        ({"evidence": [record(detail=3)]}, True, True),
        ({"evidence": [record(generation=None)]}, True, True),
        ({"evidence": [record(generation=1)]}, False, False),
        ({"evidence": [3]}, False, False),
        ({"evidence": [record()], "verifiedGeneration": 1}, False, False),
        ({"evidence": [record()], "verifiedGeneration": "x"}, False, False),
        ({"evidence": [record(kind="security")]}, False, False),
        ({"evidence": [record(kind="security")], "currentSkill": "fable-security"}, True, True),
        ({"evidence": [record(kind="security")], "lastDecision": {"skill": "fable-security"}}, True, True),
        ({"evidence": [record(kind="security")], "lastDecision": {"taskShape": "security"}}, True, True),
        ({"evidence": [], "substantial": False}, False, True),
        ({"evidence": [record()], "phase": "executing"}, True, False),
        ({"evidence": [], "phase": "complete"}, False, True),
        ({"evidence": [record()], "phase": "nowhere"}, True, False),
    ],
)
def test_s11_4_completion(members: Any, fresh: bool, allowed: bool) -> None:
    assert completion(state(**{**DONE, **members})) == (fresh, allowed)
    answer = BUILTIN_SUBJECTS["completion"](state(**{**DONE, **members}))
    assert answer == {"fresh": fresh, "completionAllowed": allowed}


def frame(*cases: dict[str, Any], **changes: Any) -> dict[str, Any]:
    return {"schemaVersion": 1, "suite": "s", "cases": list(cases), **changes}


ROUTING = {"id": "a", "category": "known", "task": "hello", "expectedSkill": "fable-execute"}


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (None, "routing"),
        (frame(ROUTING, schemaVersion=2), "routing"),
        (frame(ROUTING, suite=""), "routing"),
        ({"schemaVersion": 1, "suite": "s"}, "routing"),
        (frame({}), "routing"),
        (frame({**ROUTING, "category": "seldom"}), "routing"),
        (frame({**ROUTING, "task": 3}), "routing"),
        (frame({**ROUTING, "expectedSkill": None}), "routing"),
        (frame(ROUTING, ROUTING), "routing"),
        (frame({**ROUTING, "category": "holdout"}), "routing"),
        (frame({"id": "a", "category": "known", "expected": {}}), "policy"),
        (frame({"id": "a", "category": "known", "expected": {"fresh": True}}), "completion"),
    ],
)
def test_s11_a_corpus_that_cannot_be_run_is_refused(value: Any, kind: str) -> None:
    with pytest.raises(CorpusRefused):
        read_corpus(value, kind, holdout=False)


def test_s11_1_routing_cases_and_violations() -> None:
    cases = read_corpus(
        frame(
            {**ROUTING, "forbiddenSkill": "fable-plan"},
            {**ROUTING, "id": "b", "expectedSkill": "fable-plan", "forbiddenSkill": "fable-execute"},
        ),
        "routing",
        holdout=False,
    )
    outcomes = run_corpus(cases, BUILTIN_SUBJECTS["routing"])
    assert [(outcome.passed, outcome.violated) for outcome in outcomes] == [(True, False), (False, True)]
    report = routing_benchmark(outcomes)
    assert (report["accuracy"], report["forbiddenViolationRate"]) == (0.5, 0.5)
    assert report["confusionMatrix"] == {"fable-execute": {"fable-execute": 1}, "fable-plan": {"fable-execute": 1}}
    assert report["classes"]["fable-execute"] == {"precision": 0.5, "recall": 1.0, "expected": 1, "predicted": 2}
    assert report["classes"]["fable-plan"]["precision"] is None
    assert routing_benchmark(())["accuracy"] is None
    assert run_report("x", outcomes)["categories"]["known"]["status"] == FAIL


def test_s17_9_partial_oracles_of_policies() -> None:
    cases = read_corpus(
        frame(
            {
                "id": "a",
                "category": "known",
                "given": {},
                "expected": {"silent": True},
                "forbidden": {"silent": True, "suggestion": "x"},
            },
            {
                "id": "b",
                "category": "known",
                "expected": {"suggestion": "route the task"},
                "given": {"userIntent": "x"},
            },
            {"id": "c", "category": "known", "expected": {"other": 1}, "forbidden": {"silent": True}},
        ),
        "policy",
        holdout=False,
    )
    outcomes = run_corpus(cases, BUILTIN_SUBJECTS["policy"])
    assert [(outcome.passed, outcome.violated) for outcome in outcomes] == [(True, False), (True, False), (False, True)]
    assert spark_rates(outcomes) == {
        "top1Accuracy": 2 / 3,
        "silencePrecision": 0.5,
        "unsafeActionRate": 1 / 3,
    }
    assert spark_rates(()) == {"top1Accuracy": None, "silencePrecision": 1, "unsafeActionRate": None}
    assert confusion(outcomes, "suggestion")["confusionMatrix"] == {"route the task": {"route the task": 1}}
    assert confusion(outcomes, "silent")["classes"]["True"]["recall"] == 1.0


# -- snapshots --

CASES = tuple(
    CorpusCase(f"c{number}", "holdout", {"task": "hello"}, {"skill": "fable-execute"}, None) for number in range(20)
)
BOUND = Bound("routing", "routing", "a" * 64, (("router.py", "b" * 64), ("SKILL.md", "c" * 64)), CASES)
OUTCOMES = run_corpus(CASES, BUILTIN_SUBJECTS["routing"])
AT = "2026-05-01T00:00:00.000Z"


def v2(**changes: Any) -> dict[str, Any]:
    return {**capture(BOUND, OUTCOMES, AT, None, "e" * 64), **changes}


def v1(**changes: Any) -> dict[str, Any]:
    return {
        "schemaVersion": 1,
        "metric": "enterprise-routing-holdout",
        "capturedAt": AT,
        "repositoryRevision": None,
        "corpusSha256": "a" * 64,
        "routerSha256": "b" * 64,
        "runnerSha256": "d" * 64,
        "total": 20,
        "passed": 19,
        "passRate": 0.95,
        "forbiddenViolations": 0,
        **changes,
    }


def test_s11_5_a_snapshot_of_version_2_is_recomputed() -> None:
    found = validate(v2(), BOUND, OUTCOMES)
    assert (found.status, found.total, found.passed, found.recomputed) == (PASS, 20, 20, True)
    assert validate(v2(evaluatorSha256="f" * 64), BOUND).status == PASS


def test_s11_5_a_snapshot_of_version_1_is_readable() -> None:
    found = validate(v1(), BOUND)
    assert (found.status, found.passed, found.recomputed) == (PASS, 19, False)
    assert validate(v1(runnerSha256="f" * 64), BOUND).status == PASS
    assert validate(v1(passed=17, passRate=0.85), BOUND).status == FAIL
    assert validate(v1(forbiddenViolations=1), BOUND).status == FAIL


def _edit_case(**changes: Any) -> list[dict[str, Any]]:
    rows = [dict(row) for row in v2()["cases"]]
    rows[0] |= changes
    return rows


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (None, "evidence-schema"),
        (v1(schemaVersion=3), "evidence-schema"),
        (v1(metric="enterprise-spark-holdout"), "evidence-schema"),
        (v1(capturedAt="then"), "evidence-schema"),
        (v1(corpusSha256=None), "evidence-schema"),
        (v1(corpusSha256="0" * 64), "evidence-stale: corpusSha256"),
        (v1(routerSha256="0" * 64), "evidence-stale: routerSha256"),
        (v2(subjectFiles=[]), "evidence-stale: subjectFiles"),
        (v1(total=0, passed=0, passRate=0), "evidence-aggregate"),
        (v1(passed=21), "evidence-aggregate"),
        (v1(passed="many"), "evidence-aggregate"),
        (v1(forbiddenViolations=-1), "evidence-aggregate"),
        (v1(total=1, passed=1, passRate=1), "holdout-too-few"),
        (v1(passRate=1), "evidence-aggregate"),
        (v2(passed=19, passRate=0.95), "evidence-aggregate"),
        (v2(cases=[]), "evidence-verdict"),
        (v2(cases=_edit_case(actual={"skill": "fable-plan"})), "evidence-verdict"),
        (v2(cases=_edit_case(passed=False)), "evidence-verdict"),
        (v2(cases=_edit_case(id="other")), "evidence-verdict"),
        (v2(cases=_edit_case(inputSha256="0" * 64)), "evidence-verdict"),
    ],
)
def test_s11_5_every_doubt_is_not_checked(value: Any, reason: str) -> None:
    found = validate(value, BOUND)
    assert found.status == NOT_CHECKED
    assert found.reason.startswith(reason)
    assert found.total == 0


def test_w17_running_it_again_must_give_the_same() -> None:
    found = validate(v1(), BOUND, OUTCOMES)
    assert found.reason.startswith("evidence-verdict: running")
    assert validate(v1(passed=20, passRate=1), BOUND, OUTCOMES[:19]).status == NOT_CHECKED


def test_s11_5_without_a_subject_file_nothing_is_bound() -> None:
    assert validate(v1(), Bound("routing", "routing", "a" * 64, (), CASES)).reason.startswith("evidence-stale")
    other = Bound("command", "routing", "a" * 64, (("x", "b" * 64),), CASES)
    assert validate(v1(subjectSha256="b" * 64), other).status == PASS
    assert not good_enough({"passRate": 0.85})
    assert good_enough({"passRate": 0.9})
    assert capture(BOUND, (), AT, "r", "e")["passRate"] == 0


# -- routing by text --


def test_s17_9_bm25_selects_by_the_catalogues_own_words() -> None:
    selector = Selector(
        {
            "migrate": "Plans schema migrations of a database",
            "triage": "Decides the next step during an outage of a service",
            "reply": "Answers customers",
        }
    )
    assert selector.select("the database migration failed") == "migrate"
    assert selector.select("outages everywhere") == "triage"
    assert selector.select("xyzzy") is None
    assert Selector({}).select("anything") is None
    assert Selector({"a": "", "b": "of the"}).select("anything") is None
    assert Selector({"first": "same text", "second": "same text"}).select("same") == "first"
    assert tokens("The Files of buses") == ["file", "buse"]
    assert sentences("One. Two!  Three? ") == ["One.", "Two!", "Three?"]
    assert sentences("") == []
