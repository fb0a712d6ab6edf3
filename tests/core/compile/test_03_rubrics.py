"""Spec 03 §13: rubrics."""

from typing import Any

import pytest

from eval_quality.core.explain.patch import put
from support.contracts import error_of, library, verdict

R = "EvalContract.rubrics[id=R-001]"
EVIDENCE = "/interactions/read/response-body/loanId"


def criterion(number: int = 1, text: str = "Is it there?", evidence: str = EVIDENCE) -> Any:
    return {"id": f"RC-{number:03}", "text": text, "evidence": evidence}


def rubric(number: int = 1, **over: Any) -> Any:
    return {
        "id": f"R-{number:03}",
        "scaleLevels": [{"level": 1, "anchor": "good"}],
        "failureModePenalties": [{"name": "vague", "description": ""}],
        "maxLength": 10,
        "criteria": [criterion()],
        **over,
    }


def judged(*rubrics: Any) -> str:
    return verdict(library(put("/rubrics", [*rubrics])))


def test_s13_no_rubric_passes_everything() -> None:
    assert judged() == "ok"
    assert judged(rubric()) == "ok"


def test_s13_1_rubric_ids_are_looked_at_before_any_criterion_id() -> None:
    twice = rubric(criteria=[criterion(), criterion()])
    assert judged(twice, rubric()) == "rubric-unanchored @ EvalContract.rubrics[1].id"
    assert judged(rubric(2), rubric(), rubric(3), rubric()) == "rubric-unanchored @ EvalContract.rubrics[3].id"
    assert judged(rubric(2), twice) == f"rubric-unanchored @ {R}.criteria[1].id"
    assert judged(rubric(1), rubric(2)) == "ok"


@pytest.mark.parametrize(
    "text",
    [
        "chain of thought",
        "Chains-of-Thoughts",
        "chain\u2010of\u2011thought",
        "chain - of -\tthought",
        "chain\u00a0of\ufeffthought",
        "train of thought",
        "trains of thoughts",
        "thought process",
        "thought processes",
        "Thought Processing",
        "thinking process",
        "thinking-processes",
        "internal monologue",
        "inner monologues",
        "self-explanation",
        "self explanations",
        "REASONING",
        "the reasonings.",
        "rationale",
        "(rationales)",
    ],
)
def test_s13_2_reasoning_prose_is_found(text: str) -> None:
    error = error_of(library(put("/rubrics", [rubric(criteria=[criterion(text=f"say {text}!")])])))
    assert error is not None
    assert (error.code, error.artifact_path) == ("rubric-scores-reasoning-prose", f"{R}.criteria[id=RC-001].text")
    assert f'"{text.strip("(.)").removeprefix("the ")}"' in error.detail


@pytest.mark.parametrize(
    "text",
    [
        "chainofthought",
        "chain of",
        "unreasoning",
        "reasoned",
        "rationales_",
        "irrationale",
        "thought procession",
        "thinking processing",
        "selfexplanation",
        "\u017felf explanation",
        "chain\u2013of\u2013thought",
        "strain of thought",
    ],
)
def test_s13_2_other_words_are_let_be(text: str) -> None:
    assert judged(rubric(criteria=[criterion(text=text)])) == "ok"


def test_s13_2_an_accented_letter_is_a_word_boundary() -> None:
    # Boundaries are ASCII: a letter outside ASCII ends a word.
    assert judged(rubric(criteria=[criterion(text="\u00e9rationale")])).startswith("rubric-scores-reasoning-prose")


def test_s13_2_texts_are_searched_in_their_order() -> None:
    word = "rationale"
    everything = rubric(
        criteria=[criterion(), criterion(2, word)],
        scaleLevels=[{"level": 1, "anchor": "x"}, {"level": 2, "anchor": word}],
        failureModePenalties=[
            {"name": "x", "description": word},
            {"name": word, "description": word},
        ],
    )
    code = "rubric-scores-reasoning-prose @ "
    assert judged(everything) == f"{code}{R}.criteria[id=RC-002].text"
    everything["criteria"] = [criterion()]
    assert judged(everything) == f"{code}{R}.scaleLevels[1].anchor"
    everything["scaleLevels"] = None
    assert judged(everything) == f"{code}{R}.failureModePenalties[0].description"
    everything["failureModePenalties"][0]["description"] = "y"
    assert judged(everything) == f"{code}{R}.failureModePenalties[1].name"
    everything["failureModePenalties"] = None
    assert judged(everything) == f"rubric-unanchored @ {R}.scaleLevels"


@pytest.mark.parametrize(
    ("over", "path"),
    [
        ({"scaleLevels": None}, "scaleLevels"),
        ({"scaleLevels": []}, "scaleLevels"),
        ({"scaleLevels": [{"level": n, "anchor": "a"} for n in (1, 2, 1)]}, "scaleLevels[2].level"),
        ({"scaleLevels": [{"level": 1, "anchor": " "}, {"level": 1, "anchor": "a"}]}, "scaleLevels[1].level"),
        (
            {"scaleLevels": [{"level": 1, "anchor": "a"}, {"level": 0, "anchor": " \u200b\u2029"}]},
            "scaleLevels[1].anchor",
        ),
        ({"maxLength": None}, "maxLength"),
        ({"failureModePenalties": None}, "failureModePenalties"),
        ({"failureModePenalties": []}, "failureModePenalties"),
        (
            {"failureModePenalties": [{"name": "a", "description": ""}, {"name": "\ufeff", "description": "b"}]},
            "failureModePenalties[1].name",
        ),
        ({"criteria": [criterion(), criterion(2, "\u200d\n")]}, "criteria[id=RC-002].text"),
        ({"scaleLevels": None, "maxLength": None}, "scaleLevels"),
        ({"maxLength": None, "failureModePenalties": None}, "maxLength"),
        ({"failureModePenalties": None, "criteria": [criterion(text="")]}, "failureModePenalties"),
    ],
)
def test_s13_3_a_rubric_is_anchored(over: Any, path: str) -> None:
    assert judged(rubric(**over)) == f"rubric-unanchored @ {R}.{path}"


def test_s13_3_what_may_be_thin() -> None:
    thin = rubric(
        scaleLevels=[{"level": -3, "anchor": "a"}],
        failureModePenalties=[{"name": "a", "description": " "}, {"name": "a", "description": ""}],
        criteria=[],
    )
    assert judged(thin) == "ok"
    assert judged(rubric(2), rubric(maxLength=None)) == f"rubric-unanchored @ {R}.maxLength"


@pytest.mark.parametrize(
    ("evidence", "expected"),
    [
        ("/interactions/read/response-body/items/0/x", "ok"),
        ("/interactions/read/exit-code", "ok"),
        ("/interactions/read/response-body/x", "unreachable"),
        ("/interactions/nowhere/stdout", "unreachable"),
    ],
)
def test_s13_4_criteria_are_judged_on_evidence_that_can_exist(evidence: str, expected: str) -> None:
    found = judged(rubric(2), rubric(criteria=[criterion(), criterion(2, evidence=evidence)]))
    path = f"{R}.criteria[id=RC-002].evidence"
    assert found == ("ok" if expected == "ok" else f"rubric-evidence-unreachable @ {path}")
    if expected != "ok":
        error = error_of(library(put("/rubrics", [rubric(criteria=[criterion(evidence=evidence)])])))
        assert error is not None
        assert error.detail.startswith(f'"{evidence}": ')
