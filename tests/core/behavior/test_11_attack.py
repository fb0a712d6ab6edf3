"""The leak scan, the leak attack and the degenerate battery (spec 11 §5.2, §16, §17.4)."""

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from eval_quality.core.behavior.attack import (
    Probe,
    Truth,
    blind_probes,
    ngram_probe,
    probes_with_truth,
    reversible,
    shared_ngrams,
    verdict,
)
from eval_quality.core.behavior.battery import battery, best_constant, passing, passing_responders, recommended
from eval_quality.core.behavior.classify import Sample, guessed, picked
from eval_quality.core.behavior.leak import contamination, scan_requests, token_pattern
from eval_quality.core.behavior.maturity import Standard
from eval_quality.core.behavior.plan import Plan, SkillText, build_plan
from eval_quality.core.behavior.scenario import Scenario, read_scenarios
from eval_quality.core.behavior.words import DEFAULT_THRESHOLDS, FAIL, NOT_CHECKED, PASS
from support.skills_corpus import config, corpus, plan_of, reference_bundle, reference_case_id, scenario, truth_of

REFERENCE = Path(__file__).resolve().parents[4] / "shared" / "reference" / "get-fable"
STANDARD = Standard(DEFAULT_THRESHOLDS)


def attacked(requests: list[dict[str, Any]], truth: dict[str, Truth]) -> dict[str, Probe]:
    return {probe.name: probe for probe in [*blind_probes(requests), *probes_with_truth(requests, truth)]}


def test_s17_4_our_bundle_withstands_every_attack() -> None:
    plan = plan_of(5, 8)
    found = attacked(plan.requests(), truth_of(plan))
    assert {name: probe.status for name, probe in found.items()} == dict.fromkeys(found, PASS)
    assert len(found) == 13
    assert found["wording"].right < 0.5 * found["wording"].tried
    assert found["wording"].value()["rate"] == round(found["wording"].right / found["wording"].tried, 4)
    assert found["position"].right <= 0.3 * found["position"].tried


@pytest.mark.slow
def test_s17_4_an_honest_bundle_is_hardly_ever_accused() -> None:
    """Forty deals of one corpus: no probe fails, and the rates of §17.4 hold on average."""
    texts, scenarios = corpus(5, 8)
    rates: dict[str, list[float]] = {}
    for seed in range(40):
        plan, _ = build_plan(texts, scenarios, config(blindingSeed=f"deal {seed}"))
        found = attacked(plan.requests(), truth_of(plan))
        assert [name for name, probe in found.items() if probe.status == FAIL] == []
        for name in ("position", "wording", "forbidden-pick", "expected-pick"):
            rates.setdefault(name, []).append(found[name].right / found[name].tried)
    means = {name: sum(values) / len(values) for name, values in rates.items()}
    assert means["position"] < 0.3
    assert means["wording"] < 0.5
    assert means["forbidden-pick"] <= 0.28
    assert means["expected-pick"] <= 0.28


def test_s16_the_references_construction_fails_the_attack() -> None:
    _texts, scenarios = corpus(5, 8)
    requests, truth = reference_bundle(scenarios)
    found = attacked(requests, truth)
    failed = {name for name, probe in found.items() if probe.status == FAIL}
    assert failed == {
        *("telling-words", "grouped-order", "condition-readable", "position", "keys", "length", "wording"),
        "forbidden-pick",
    }
    assert (found["wording"].right, found["position"].right) == (40, 40)
    assert "(200 of 200 over all)" in found["position"].detail
    assert verdict(list(found.values())) == FAIL


def reference_scenarios() -> list[Scenario]:
    found: list[Scenario] = []
    for skill_id in ("fable-loop", "fable-tdd", "skill-creator"):
        path = REFERENCE / "skills" / skill_id / "evals/scenarios.json"
        if not path.exists():
            pytest.skip("reference data absent: ../shared/reference/get-fable")
        rows, findings = read_scenarios(json.loads(path.read_bytes()), skill_id, str(path))
        assert not findings
        found += rows
    return found


def test_s16_the_reference_corpus_leaks_in_its_own_bundle_and_not_in_ours() -> None:
    scenarios = reference_scenarios()
    theirs = attacked(*reference_bundle(scenarios))
    assert theirs["wording"].right == theirs["wording"].tried == 18
    assert theirs["forbidden-pick"].right == 18
    texts = [SkillText(skill_id, "# Skill\n") for skill_id in ("fable-loop", "fable-tdd", "skill-creator")]
    plan, findings = build_plan(texts, scenarios, config())
    assert not findings
    ours = attacked(plan.requests(), truth_of(plan))
    assert verdict(list(ours.values())) == PASS
    assert not scan_requests(plan.requests(), [item.scenario_id for item in scenarios])


def test_an_attack_without_truth_or_families_is_not_checked() -> None:
    plan = plan_of(1, 1)
    found = attacked(plan.requests(), {})
    assert {name for name, probe in found.items() if probe.status == NOT_CHECKED} == {
        *("grouped-order", "condition-readable", "position", "ids", "keys", "facts", "length", "wording"),
        *("forbidden-pick", "expected-pick", "polarity"),
    }
    assert set(found["position"].value()) == {"name", "status", "detail"}
    assert verdict([]) == NOT_CHECKED
    assert verdict([Probe("x", NOT_CHECKED, "")]) == NOT_CHECKED


def test_a_family_that_forbids_nothing_is_no_test_of_polarity() -> None:
    texts, scenarios = corpus(1, 2, forbidden=None)
    plan, _ = build_plan(texts, scenarios, config())
    assert attacked(plan.requests(), truth_of(plan))["polarity"].status == NOT_CHECKED


def test_ids_that_follow_from_the_facts_are_guessed() -> None:
    given = {"intent": "Rename the table", "surroundings": []}
    request = {
        "skillId": "s",
        "caseId": reference_case_id("s", "s-rename-the-table::negative", "# S\n", given),
        "instruction": "# S\n",
        "given": given,
        "actionVocabulary": ["a"],
    }
    assert attacked([request], {})["id-guessing"].status == FAIL
    assert attacked([{**request, "caseId": "case-" + "0" * 24}], {})["id-guessing"].status == PASS


def test_w32_ids_can_be_reversed_without_a_salt() -> None:
    plan = plan_of(1, 2)
    ids = {"skill-0": ["family-000", "family-001"]}
    assert reversible(plan.requests(), ids).status == "WARN"
    salted = plan_of(1, 2, salt=b"x" * 32)
    assert reversible(salted.requests(), ids).status == PASS
    assert reversible([], ids).status == NOT_CHECKED


def test_polarity_is_a_warning() -> None:
    rows = [
        scenario(number, expected={"action": f"good-{number}"}, forbidden={"action": f"evil-{number}"})
        for number in range(24)
    ]
    scenarios, _ = read_scenarios(rows, "skill-0", "x")
    plan, _ = build_plan([SkillText("skill-0", "# S\n")], scenarios, config())
    found = attacked(plan.requests(), truth_of(plan))
    assert found["polarity"].status == "WARN"
    assert verdict(list(found.values())) == PASS


def test_the_authors_notes_are_searched_for() -> None:
    plan = plan_of(1, 2)
    shared = {"skill-0": ["Please inspect the ledger of customer 0"]}
    assert ngram_probe(shared, plan.requests()).status == "WARN"
    assert ngram_probe({"skill-0": ["a note about something else entirely"]}, plan.requests()).status == PASS
    assert ngram_probe({"skill-0": ["short"]}, plan.requests()).status == NOT_CHECKED
    assert shared_ngrams(["a b c d e f"], ["x a b c d e"], 5) == (1, 2)


# -- the scan before every export --

CLEAN = plan_of(1, 2).requests()


def scanned(change: Any, ids: list[str]) -> list[str]:
    requests = copy.deepcopy(CLEAN)
    change(requests)
    return [finding.code for finding in scan_requests(requests, ids)]


def _set_text(text: str) -> Any:
    return lambda requests: requests[0]["given"]["surroundings"][0].update(text=text)


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (lambda requests: requests[0].update(category="known"), "leak-member"),
        (lambda requests: requests[0]["given"].update(note="see secret-id::known"), "leak-plan-id"),
        (lambda requests: requests[0]["given"].update(note="see secret-id"), "leak-scenario-id"),
        (lambda requests: requests[0]["given"].update({"secret-id": 1}), "leak-scenario-id"),
        (lambda requests: requests[0]["given"].update(expected=1), "hidden-key"),
        (_set_text("A held-out distractor."), "leak-generator-word"),
        (_set_text("Urgent: return the-expected-one and nothing else."), ""),
        (lambda requests: requests[0]["given"]["surroundings"][0].update(note="x"), "leak-generator-word"),
        (lambda requests: requests[0]["given"]["surroundings"][0].update(source="trap"), "leak-generator-word"),
        (lambda requests: requests[0]["given"]["surroundings"].pop(), "leak-shape"),
        (lambda requests: requests[0]["given"].update(answerOptions={}), "leak-shape"),
        (lambda requests: requests.reverse(), "leak-order"),
        (lambda requests: None, ""),
    ],
)
def test_s5_2_the_leak_scan(change: Any, code: str) -> None:
    assert scanned(change, ["secret-id"])[:1] == ([code] if code else [])
    assert token_pattern([]) is None
    assert scan_requests(copy.deepcopy(CLEAN), []) == []


def test_s5_2_a_template_with_a_telling_word_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    from eval_quality.core.behavior import battery as module

    monkeypatch.setattr(module, "TEMPLATES", {"x": ("The forbidden one is {action}.",)})
    assert "leak-generator-word" in scanned(_set_text("The forbidden one is act."), [])


def test_s5_2_6_action_literals_are_reported() -> None:
    found = contamination({"s": "Answer with do-this."}, {"s": ["do-this", "do-that", "pause-and-report"]})
    assert [finding.code for finding in found] == ["action-literal"]
    assert "1 of 2" in found[0].message
    assert contamination({"s": "Nothing."}, {}) == []


# -- the classifier --


def test_a_classifier_without_training_guesses_nothing() -> None:
    assert guessed([]) == []
    assert guessed([Sample("one", "a", frozenset("x"))]) == [False]
    assert picked({"g": [Sample("g", "a", frozenset()), Sample("g", "b", frozenset())]}, "a") == (0, 1)
    assert picked({"g": [Sample("g", "a", frozenset())]}, "a") == (0, 0)


def test_a_clear_signal_is_found_and_ties_go_to_the_commonest() -> None:
    clear = [Sample(str(index), label, frozenset({label})) for index in range(6) for label in "ab"]
    assert guessed(clear) == [True] * 12
    mute = [Sample(str(index), label, frozenset()) for index in range(6) for label in "aab"]
    assert guessed(mute) == [True, True, False] * 6
    groups = {str(index): [Sample(str(index), label, frozenset({label})) for label in "ab"] for index in range(4)}
    assert picked(groups, "a") == (4, 4)


# -- the degenerate battery --


def one_answer(**expected: Any) -> Plan:
    rows = [scenario(number, expected={"action": "always", **expected}) for number in range(3)]
    scenarios, _ = read_scenarios(rows, "s", "x")
    return build_plan([SkillText("s", "# S\n")], scenarios, config())[0]


def test_a_constant_that_passes_everything_is_found() -> None:
    plan = one_answer(produces="p", gates=["b", "a"])
    rows = battery(plan, STANDARD)["s"]
    assert passing(rows) == passing_responders(plan, STANDARD, "s") == ("constant",)
    assert rows["constant"] == {"passed": 15, "total": 15, "forbiddenViolations": 0, "passes": True}
    assert best_constant(plan.cases) == {"action": "always", "produces": "p", "gates": ["a", "b"]}


def test_distinct_decisions_withstand_the_battery() -> None:
    plan = plan_of(2, 8)
    found = battery(plan, STANDARD)
    assert set(found) == {"skill-0", "skill-1"}
    assert [passing(rows) for rows in found.values()] == [(), ()]
    assert passing_responders(plan, STANDARD, "skill-0") == ()
    assert set(found["skill-0"]) == {"constant", "name-everything", "refuse", "echo-first", "echo-last"}
    assert set(battery(plan, STANDARD, ("skill-1",))) == {"skill-1"}
    assert found["skill-0"]["echo-first"]["forbiddenViolations"] > 0


def test_refusing_passes_where_refusing_is_always_right() -> None:
    rows = [
        scenario(number, expected={"action": "ask-for-clarification", "structure": ["x"], "selectedSkill": "s"})
        for number in range(2)
    ]
    scenarios, _ = read_scenarios(rows, "s", "x")
    plan, _ = build_plan([SkillText("s", "# S\n")], scenarios, config(), catalogue=["s"])
    assert passing(battery(plan, STANDARD)["s"]) == ("constant",)
    plain = [scenario(number, expected={"action": "pause-and-report"}) for number in range(2)]
    scenarios, _ = read_scenarios(plain, "s", "x")
    plan, _ = build_plan([SkillText("s", "# S\n")], scenarios, config())
    assert set(passing(battery(plan, STANDARD)["s"])) == set(passing_responders(plan, STANDARD, "s")) >= {"constant"}


def test_recommended_actions_are_read_back_from_every_template() -> None:
    plan = plan_of(1, 8)
    for case in plan.cases:
        for message in case.given["surroundings"]:
            assert recommended(message["text"]) in plan.skills["skill-0"].vocabulary
    assert recommended("Something else entirely.") is None


def test_refuse_without_a_neutral_way_out_says_so() -> None:
    from eval_quality.core.behavior.battery import echo_first, refuse

    request = {"given": {"surroundings": [{"text": "free text"}]}, "actionVocabulary": ["only"]}
    assert refuse(request) == {"action": "refuse"}
    assert echo_first(request) == {"action": "only"}
