"""Scenario files: what is kept, what is a finding (spec 11 §2, §5.2.2)."""

from typing import Any

import pytest

from eval_quality.core.behavior.findings import ERROR, WARN, Finding, errors
from eval_quality.core.behavior.scenario import MAX_SCENARIOS, read_scenarios, repeated_ids
from support.skills_corpus import scenario


def codes(rows: Any, **options: bool) -> list[tuple[str, str]]:
    _scenarios, findings = read_scenarios(rows, "s", "f.json", **options)
    return [(finding.level, finding.code) for finding in findings]


def test_s2_1_both_shapes_are_read() -> None:
    one, _ = read_scenarios([scenario(0)], "s", "f.json")
    other, _ = read_scenarios({"scenarios": [scenario(0)]}, "s", "f.json")
    assert one == other
    assert one[0].family == one[0].scenario_id == "family-000"


@pytest.mark.parametrize("rows", [None, 3, {"scenarios": 1}, {}, [], {"scenarios": []}])
def test_s2_2_a_file_without_scenarios_is_an_error(rows: Any) -> None:
    assert codes(rows) == [(ERROR, "scenario-shape")]


def test_s2_2_too_many_scenarios_are_refused_at_once() -> None:
    assert codes([scenario(0)] * (MAX_SCENARIOS + 1)) == [(ERROR, "scenario-count")]


@pytest.mark.parametrize("item", [None, "x", {}, {"id": 3}, {"id": "  "}])
def test_s2_2_an_item_without_an_id_is_an_error(item: Any) -> None:
    assert codes([item]) == [(ERROR, "scenario-shape")]


@pytest.mark.parametrize(
    "changes",
    [
        {"expected": {}},
        {"expected": None},
        {"expected": "act"},
        {"expected": {"action": ""}},
        {"expected": {"action": 3}},
        {"expected": {"action": "a", "gates": "g"}},
        {"expected": {"action": "a", "gates": [""]}},
        {"expected": {"action": "a", "structure": [1]}},
        {"expected": {"action": "a", "produces": ""}},
        {"expected": {"action": "a", "selectedSkill": []}},
        {"expected": {"action": "a", "colour": "red"}},
        {"forbidden": {"action": 4}},
        {"forbidden": []},
        {"condition": "sometimes"},
        {"family": ""},
        {"extra": 1},
    ],
)
def test_s2_2_nothing_is_dropped_silently(changes: dict[str, Any]) -> None:
    scenarios, findings = read_scenarios([scenario(0, **changes)], "s", "f.json")
    assert not scenarios
    assert {finding.code for finding in findings} == {"oracle"}


def test_s2_2_every_problem_of_a_scenario_is_reported() -> None:
    row = scenario(0, expected={"action": "", "gates": 1}, condition="never", extra=1)
    assert len(codes([row])) == 5


@pytest.mark.parametrize("forbidden", [None, {}])
def test_s2_2_an_empty_forbidden_oracle_counts_as_absent(forbidden: Any) -> None:
    scenarios, findings = read_scenarios([scenario(0, forbidden=forbidden)], "s", "f.json")
    assert not findings
    assert scenarios[0].forbidden is None


def test_s2_1_given_that_is_no_object_counts_as_empty() -> None:
    scenarios, findings = read_scenarios([scenario(0, given=["x"])], "s", "f.json")
    assert not findings
    assert scenarios[0].given == {}


@pytest.mark.parametrize("spelling", ["Act-A", " act_a ", "ACT A", "ａｃｔ-a"])
def test_s7_3_expected_and_forbidden_must_differ_beyond_spelling(spelling: str) -> None:
    row = scenario(0, expected={"action": "act-a"}, forbidden={"action": spelling})
    assert codes([row]) == [(ERROR, "oracle")]


@pytest.mark.parametrize("key", ["surroundings", "answerOptions"])
def test_s17_4_6_the_generators_keys_are_reserved(key: str) -> None:
    assert codes([scenario(0, given={key: 1})]) == [(ERROR, "reserved-key")]


@pytest.mark.parametrize("key", ["expected", "Forbidden", "CATEGORY", "hold_out", "held-out", "scenario_id", "caseId"])
def test_s5_2_2_keys_that_name_the_answer_side_are_errors_at_any_depth(key: str) -> None:
    assert codes([scenario(0, given={"deep": [{"er": {key: 1}}]})]) == [(ERROR, "hidden-key")]


@pytest.mark.parametrize("key", ["oracle", "Condition", "answer", "verdict"])
def test_s5_2_2_honest_subject_matter_is_a_warning(key: str) -> None:
    scenarios, findings = read_scenarios([scenario(0, given={key: 1})], "s", "f.json")
    assert [(finding.level, finding.code) for finding in findings] == [(WARN, "suspect-key")]
    assert len(scenarios) == 1
    assert not errors(findings)


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ({"expected": {"suggestion": None}}, []),
        ({"expected": {"silent": True, "pack": "x"}}, []),
        ({"expected": {"selectedSkill": "other"}, "given": {"intent": "do it"}}, []),
        ({"expected": {"selectedSkill": "other"}, "given": {}}, [(ERROR, "oracle")]),
        ({"expected": {"pack": "x"}}, [(ERROR, "oracle")]),
        ({"expected": {"action": "act"}}, [(WARN, "not-executed")]),
    ],
)
def test_s2_2_a_deterministic_skill_needs_what_its_evaluator_checks(row: Any, expected: Any) -> None:
    assert codes([{"id": "d", **row}], deterministic=True) == expected


def test_s17_6_sealed_scenarios_are_holdouts_and_burned_ones_are_gone() -> None:
    scenarios, findings = read_scenarios([scenario(0), scenario(1, burned=True)], "s", "f.json", sealed=True)
    assert not findings
    assert [(item.scenario_id, item.condition, item.sealed) for item in scenarios] == [("family-000", "holdout", True)]
    assert codes([scenario(0, condition="known")], sealed=True) == [(ERROR, "oracle")]


def test_w34_an_id_is_used_once_in_a_repository() -> None:
    one, _ = read_scenarios([scenario(0)], "first", "a.json")
    other, _ = read_scenarios([scenario(0), scenario(1)], "second", "b.json")
    found = repeated_ids([*one, *other])
    assert [(finding.skill_id, finding.where) for finding in found] == [("second", "family-000")]
    assert "a.json of first" in found[0].message


def test_a_finding_prints_and_serialises() -> None:
    finding = Finding(ERROR, "code", "skill", "file", "say")
    assert finding.line() == "ERROR code: skill: file: say"
    assert finding._replace(where="").line() == "ERROR code: skill: say"
    assert finding.value() == {"level": "ERROR", "code": "code", "skillId": "skill", "where": "file", "message": "say"}
