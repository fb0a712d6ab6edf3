"""Answers against oracles, bundle frames, evidence and its recomputation (spec 11 §6 to §9)."""

import copy
from datetime import UTC, datetime, timedelta
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eval_quality.core.behavior.documents import EVIDENCE, REQUEST_BUNDLE, RESPONSE_BUNDLE
from eval_quality.core.behavior.draft7 import problems
from eval_quality.core.behavior.evidence import (
    Loaded,
    counts_of,
    evidence_document,
    evidence_rows,
    header,
    judge_all,
    load_evidence,
    rate_of,
)
from eval_quality.core.behavior.frame import BundleRefused, read_request_bundle, read_response_bundle, response_bundle
from eval_quality.core.behavior.plan import Plan, build_plan, bundle_of
from eval_quality.core.behavior.score import MALFORMED, MISSING, judge, matches, normalised, recomputed, violates
from support.skills_corpus import config, corpus, perfect, plan_of

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)
CAPTURED = "2026-05-01T11:00:00.000Z"
PLAN = plan_of(2, 2)


def scored(plan: Plan, answers: dict[str, Any], timeouts: dict[str, int] | None = None) -> dict[str, Any]:
    bundle = read_response_bundle(response_bundle("model", answers), {case.opaque_id for case in plan.cases})
    verdicts = judge_all(plan.cases, plan, bundle, timeouts or {})
    return evidence_document(evidence_rows(plan.cases, verdicts), plan.open, "model", CAPTURED)


def load(document: Any, plan: Plan = PLAN, now: datetime = NOW) -> Loaded:
    return load_evidence(document, plan.open_cases, plan.open, now)


ORACLE = {"action": "act", "produces": "p", "gates": ["a", "b", "b"]}


@pytest.mark.parametrize(
    ("changes", "passes"),
    [
        ({}, True),
        ({"gates": ["b", "a", "b"]}, True),
        ({"gates": ["a", "b"]}, False),
        ({"gates": ["a", "b", "b", "b"]}, False),
        ({"gates": 3}, False),
        ({"gates": None}, False),
        ({"gates": [1, 2, 3]}, False),
        ({"structure": ["x"], "selectedSkill": "y"}, True),
        ({"action": "Act"}, False),
        ({"action": " act"}, False),
        ({"produces": None}, False),
    ],
)
def test_s7_3_matching(changes: dict[str, Any], passes: bool) -> None:
    assert matches({**ORACLE, **changes}, ORACLE) is passes


def test_s7_3_an_empty_list_asks_for_an_empty_list() -> None:
    oracle = {"action": "act", "gates": []}
    assert matches({"action": "act", "gates": []}, oracle)
    assert not matches({"action": "act"}, oracle)
    assert not matches({"action": "act", "gates": ["g"]}, oracle)


@pytest.mark.parametrize("text", ["Do It", "do_it", " DO  it ", "ｄｏ-ｉｔ", "do\tit"])
def test_s7_3_spelling_variants_are_violations_and_no_passes(text: str) -> None:
    assert normalised(text) == "do-it"
    assert violates({"action": text}, {"action": "do-it"})
    assert not matches({"action": text}, {"action": "do-it"})


@pytest.mark.parametrize(
    ("response", "forbidden", "hit"),
    [
        ({"action": "x"}, None, False),
        ({"action": "x"}, {}, False),
        ({"action": "x", "gates": ["G_1", "g2"]}, {"gates": ["g2", "g-1"]}, True),
        ({"action": "x", "gates": ["g2"]}, {"gates": ["g2", "g-1"]}, False),
        ({"action": "x"}, {"gates": ["g2"]}, False),
        ({"action": "x", "gates": [1]}, {"gates": ["g2"]}, False),
        ({"action": 4}, {"action": "4"}, False),
        ({"action": "x", "produces": "P"}, {"action": "x", "produces": "p"}, True),
        ({"action": "x", "produces": "q"}, {"action": "x", "produces": "p"}, False),
    ],
)
def test_s7_3_violations_are_partial(response: Any, forbidden: Any, hit: bool) -> None:
    assert violates(response, forbidden) is hit


@pytest.mark.parametrize("answer", [None, False, 0, 0.0, ""])
def test_s7_2_falsy_answers_are_missing(answer: Any) -> None:
    verdict = judge(answer, {"action": "a"}, None, None)
    assert (verdict.passed, verdict.violated, verdict.response, verdict.error) == (False, False, None, MISSING)


@pytest.mark.parametrize(
    "answer",
    [
        True,
        1,
        "text",
        [],
        {},
        {"action": ""},
        {"action": "  "},
        {"action": 1},
        {"action": "a", "extra": 1},
        {"action": "a", "produces": ""},
        {"action": "a", "selectedSkill": None},
        {"action": "a", "gates": "g"},
        {"action": "a", "gates": [""]},
        {"action": "a", "structure": [2]},
    ],
)
def test_s7_2_anything_else_is_malformed(answer: Any) -> None:
    verdict = judge(answer, {"action": "a"}, {"action": "z"}, None)
    assert (verdict.passed, verdict.violated, verdict.response, verdict.error) == (False, False, None, MALFORMED)
    assert not verdict.malformed_forbidden


@pytest.mark.parametrize(
    ("answer", "forbidden", "hit"),
    [
        ({"action": "Z", "extra": 1}, {"action": "z", "produces": "p"}, True),
        ({"action": "y", "extra": 1}, {"action": "z"}, False),
        ({"action": "z", "extra": 1}, {"produces": "p"}, False),
        ({"action": "z", "extra": 1}, None, False),
        ({"extra": 1}, {"action": "z"}, False),
    ],
)
def test_s7_3_a_malformed_answer_can_name_the_forbidden_action(answer: Any, forbidden: Any, hit: bool) -> None:
    assert judge(answer, {"action": "a"}, forbidden, None).malformed_forbidden is hit


def test_s7_2_a_valid_answer_is_stored_verbatim() -> None:
    answer = {"action": "elsewhere", "structure": []}
    verdict = judge(answer, {"action": "a"}, {"action": "z"}, ["a", "z"])
    assert verdict.response == answer
    assert verdict.error == "action not in vocabulary"
    assert judge({"action": "a"}, {"action": "a"}, None, ["a"]).error is None


def test_s9_8_recomputation_needs_a_sound_answer() -> None:
    assert recomputed(None, {"action": "a"}, None) == (False, False)
    assert recomputed({"action": "a", "extra": 1}, {"action": "a"}, None) == (False, False)
    assert recomputed({"action": "a"}, {"action": "a"}, None) == (True, False)
    assert recomputed({"action": "Z"}, {"action": "a"}, {"action": "z"}) == (False, True)


def test_s5_1_the_bundle_matches_its_published_schema() -> None:
    bundle = bundle_of(PLAN)
    assert problems(REQUEST_BUNDLE, bundle) == ()
    jsonschema_rs.validator_for(REQUEST_BUNDLE).validate(bundle)
    read = read_request_bundle(bundle)
    assert (read.corpus, read.oracle) == (PLAN.whole.corpus, PLAN.whole.oracle)
    assert len(read.requests) == bundle["total"]


@pytest.mark.parametrize(
    "change",
    [
        lambda bundle: bundle.pop("total"),
        lambda bundle: bundle.update(extra=1),
        lambda bundle: bundle.update(total=3),
        lambda bundle: bundle["requests"].__setitem__(1, bundle["requests"][0]),
        lambda bundle: bundle["requests"][0].update(category="known"),
    ],
)
def test_s5_1_another_frame_is_refused(change: Any) -> None:
    bundle = copy.deepcopy(bundle_of(PLAN))
    change(bundle)
    with pytest.raises(BundleRefused):
        read_request_bundle(bundle)


KNOWN = {case.opaque_id for case in PLAN.cases}
FIRST = PLAN.cases[0].opaque_id


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (None, "invalid response bundle"),
        ({}, "invalid response bundle"),
        (response_bundle(" ", {}), "non-blank"),
        ({**response_bundle("m", {}), "responses": {}}, "/responses"),
        ({**response_bundle("m", {}), "schemaVersion": 2}, "/schemaVersion"),
        ({**response_bundle("m", {}), "schemaVersion": True}, "/schemaVersion"),
        ({**response_bundle("m", {}), "metric": "other"}, "/metric"),
        ({**response_bundle("m", {}), "extra": 1}, "/extra"),
        ({**response_bundle("m", {}), "responses": [None]}, "/responses/0"),
        ({**response_bundle("m", {}), "responses": [{"caseId": FIRST}]}, "/responses/0/response"),
        ({**response_bundle("m", {}), "responses": [{"caseId": 3, "response": {}}]}, "/responses/0/caseId"),
        (response_bundle("m", {"case-" + "0" * 24: {}}), "unknown case case-000000000000000000000000"),
        (
            {**response_bundle("m", {}), "responses": [{"caseId": FIRST, "response": None}] * 2},
            f"duplicate case {FIRST}",
        ),
    ],
)
def test_s7_1_bundle_rules(value: Any, words: str) -> None:
    with pytest.raises(BundleRefused, match=words.replace("/", "/")):
        read_response_bundle(value, KNOWN)


def test_s6_an_odd_answer_does_not_refuse_the_bundle() -> None:
    read = read_response_bundle(response_bundle("m", {FIRST: [1]}), KNOWN)
    assert read.answers == {FIRST: [1]}
    assert problems(RESPONSE_BUNDLE, response_bundle("m", {FIRST: {"action": "a"}})) == ()


def test_perfect_answers_pass_and_validate() -> None:
    document = scored(PLAN, perfect(PLAN))
    jsonschema_rs.validator_for(EVIDENCE).validate(document)
    assert (document["passed"], document["total"], document["passRate"]) == (20, 20, 1)
    assert isinstance(document["passRate"], int)
    assert document["forbiddenViolations"] == 0
    assert (document["corpusSha256"], document["oracleSha256"]) == (PLAN.open.corpus, PLAN.open.oracle)
    loaded = load(document)
    assert (loaded.code, loaded.reason) == (None, "fresh")
    assert all(result.passed for result in loaded.results)
    assert "cases" not in header(document)


def test_s7_2_missing_and_timed_out_cases_fail_and_are_counted() -> None:
    answers = perfect(PLAN)
    late, malformed, odd = PLAN.cases[0].opaque_id, PLAN.cases[1].opaque_id, PLAN.cases[2].opaque_id
    gone = PLAN.cases[3].opaque_id
    del answers[late], answers[gone]
    answers[malformed] = {"action": PLAN.cases[1].forbidden["action"], "extra": 1}  # type: ignore[index]
    answers[odd] = {"action": "elsewhere"}
    bundle = read_response_bundle(response_bundle("m", answers), KNOWN)
    verdicts = judge_all(PLAN.cases, PLAN, bundle, {late: 50})
    counts = counts_of(verdicts)
    assert verdicts[late].error == "timed out after 50 ms"
    assert counts.value() == {
        "missing": 2,
        "malformed": 1,
        "malformedForbidden": 1,
        "timeout": 1,
        "outOfVocabulary": 1,
    }
    document = scored(PLAN, answers, {late: 50})
    assert document["passed"] == 16
    assert load(document).code is None
    assert [result.answered for result in load(document).results[:4]] == [False, False, True, False]


def edited(change: Any) -> dict[str, Any]:
    document = copy.deepcopy(scored(PLAN, perfect(PLAN)))
    change(document)
    return document


def _swap_answer(document: dict[str, Any]) -> None:
    document["cases"][0]["response"] = {"action": "other"}


def _move_category(document: dict[str, Any]) -> None:
    document["cases"][0]["category"] = "holdout"


def _repeat(document: dict[str, Any]) -> None:
    document["cases"][1] = document["cases"][0]


def _drop(document: dict[str, Any]) -> None:
    document["cases"].pop()
    document["total"] -= 1


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (lambda d: d.update(schemaVersion=2), "evidence-schema"),
        (lambda d: d.update(metric="other"), "evidence-schema"),
        (lambda d: d.update(providerId=" "), "evidence-schema"),
        (lambda d: d.update(extra=1), "evidence-schema"),
        (lambda d: d.update(capturedAt="yesterday"), "evidence-schema"),
        (lambda d: d.update(capturedAt="2026-05-01T12:06:00Z"), "evidence-schema"),
        (lambda d: d.pop("capturedAt"), "evidence-schema"),
        (lambda d: d["cases"].__setitem__(0, None), "evidence-schema"),
        (lambda d: d.update(corpusSha256="0" * 64), "evidence-stale"),
        (lambda d: d.update(oracleSha256="0" * 64), "evidence-stale"),
        (lambda d: d.update(total=19), "evidence-coverage"),
        (_drop, "evidence-coverage"),
        (_repeat, "evidence-identity"),
        (lambda d: d["cases"][0].update(caseId="nobody::known"), "evidence-identity"),
        (lambda d: d["cases"][0].update(skillId="skill-1"), "evidence-oracle"),
        (_move_category, "evidence-oracle"),
        (lambda d: d["cases"][0].update(expected={"action": "x"}), "evidence-oracle"),
        (lambda d: d["cases"][0].pop("forbidden"), "evidence-oracle"),
        (lambda d: d["cases"][0].update(passed=False), "evidence-verdict"),
        (lambda d: d["cases"][0].update(forbiddenViolated=True), "evidence-verdict"),
        (_swap_answer, "evidence-verdict"),
        (lambda d: d["cases"][0].pop("response"), "evidence-verdict"),
        (lambda d: d.update(passed=19), "evidence-aggregate"),
        (lambda d: d.update(passRate=0.95), "evidence-aggregate"),
        (lambda d: d.update(forbiddenViolations=1), "evidence-aggregate"),
    ],
)
def test_s9_every_edit_has_its_reason(change: Any, code: str) -> None:
    loaded = load(edited(change))
    assert loaded.code == code
    assert loaded.reason.startswith(f"{code}: ")
    assert loaded.results == ()


@pytest.mark.parametrize("value", [None, [], "x"])
def test_s9_2_a_file_that_is_no_object(value: Any) -> None:
    assert load(value).code == "evidence-unreadable"


def test_s9_reordering_and_what_carries_no_verdict_stay_fresh() -> None:
    assert load(edited(lambda d: d["cases"].reverse())).code is None
    assert load(edited(lambda d: d.update(providerId="other"))).code is None
    assert load(edited(lambda d: d["cases"][0].update(error="note"))).code is None


def test_s17_3_old_evidence_expires() -> None:
    document = scored(PLAN, perfect(PLAN))
    later = NOW + timedelta(days=30)
    assert load_evidence(document, PLAN.open_cases, PLAN.open, later, 29).code == "evidence-expired"
    assert load_evidence(document, PLAN.open_cases, PLAN.open, later, 31).code is None


def test_an_empty_file_of_an_empty_plan_adds_up() -> None:
    assert rate_of(0, 0) == 0
    assert rate_of(1, 2) == 0.5


ANSWERS = st.dictionaries(
    st.sampled_from(sorted(KNOWN)),
    st.one_of(
        st.none(),
        st.text(max_size=3),
        st.fixed_dictionaries({"action": st.sampled_from([*PLAN.skills["skill-0"].vocabulary, "", " X "])}),
        st.fixed_dictionaries({"action": st.just("a"), "gates": st.lists(st.text(max_size=2), max_size=2)}),
    ),
)


@settings(max_examples=60, deadline=None)
@given(ANSWERS, st.integers(0, 19))
def test_law_what_was_scored_is_fresh_and_any_flipped_flag_is_not(answers: dict[str, Any], index: int) -> None:
    document = scored(PLAN, answers)
    assert load(document).code is None
    for flag in ("passed", "forbiddenViolated"):
        broken = copy.deepcopy(document)
        broken["cases"][index][flag] = not broken["cases"][index][flag]
        assert load(broken).code == "evidence-verdict"


def test_a_case_that_forbids_nothing_stores_nothing_forbidden() -> None:
    texts, scenarios = corpus(1, 1, forbidden=None)
    plan, _ = build_plan(texts, scenarios, config())
    document = scored(plan, perfect(plan))
    assert all("forbidden" not in row for row in document["cases"])
    assert load(document, plan).code is None
    # Absent and null are the same to the loader; null itself is outside of the published schema.
    document["cases"][0]["forbidden"] = None
    assert load(document, plan).code == "evidence-schema"
