"""A run's story as text and as HTML: spec 12 §12.26, spec 16 §26."""

import html
import re
from html.parser import HTMLParser
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eval_quality.report.html import html_page
from eval_quality.report.text import text_page

STORY: dict[str, Any] = {
    "title": "A store",
    "experimentId": "store",
    "directory": "runs/store/1",
    "exitCode": 0,
    "reasons": [],
    "probes": [
        {
            "id": "P-001",
            "class": "defect",
            "planted": "puts are lost (drop in store.py)",
            "change": {"file": "store.py", "remove": "kept = value", "add": "pass"},
            "refused": None,
            "proof": "clean before, damaged in between",
            "rationale": "it happens",
        },
        {
            "id": "P-002",
            "class": "zero-action",
            "planted": "nothing; it is sound",
            "change": None,
            "refused": "clean-arm-failed",
            "proof": "O-001 is false",
            "rationale": "control",
        },
    ],
    "evaluators": [
        {
            "name": "reviewer",
            "trials": 3,
            "cells": [
                {
                    "probe": "P-001",
                    "state": "missed",
                    "word": "MISSED",
                    "meaning": "nobody saw it",
                    "pending": True,
                    "verdict": "FAIL",
                    "basis": ["first", "second"],
                    "why": ["it shows in obs-2"],
                    "stops": {"crashed": 2, "time-cap": 1},
                }
            ],
            "strength": [
                {
                    "class": "defect",
                    "caught": 0,
                    "exercised": 1,
                    "rate": 0,
                    "low": 0.0,
                    "high": 0.79,
                    "comparable": False,
                },
                {
                    "class": "gameability",
                    "caught": 0,
                    "exercised": 0,
                    "rate": None,
                    "low": None,
                    "high": None,
                    "comparable": True,
                },
            ],
            "note": None,
            "gap": ["P-001"],
        }
    ],
    "contract": {
        "id": "store",
        "behaviors": [{"id": "B-001", "description": "kept", "severity": "low", "oracles": []}],
        "gaps": [{"rule": "whole-body", "severity": "material"}],
    },
    "confinement": {"subject": {"backend": "none"}, "evaluator": {"backend": "bwrap", "profile": "minimal"}},
    "attestations": {"repository": "I promise"},
    "digests": {"contract": "sha256:1", "corpus": None},
}


class Tags(HTMLParser):
    """Collects what a browser would see."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs


def test_s12_26_the_text_page_tells_everything_once() -> None:
    lines = text_page(STORY).splitlines()
    for line in (
        "A store: would this evaluation have caught a known bug?",
        "  P-001  defect: puts are lost (drop in store.py)",
        "         real: clean before, damaged in between",
        "         REFUSED clean-arm-failed: O-001 is false",
        "What the evaluator `reviewer` made of it (3 trials each)",
        "  P-001  MISSED        nobody saw it (known miss, does not gate)",
        "         it shows in obs-2",
        "         verdict FAIL: first (+1 more)",
        "         evaluator: crashed in 2 trials",
        "         evaluator: time-cap in 1 trial",
        "  strength defect: 0 of 1 caught, rate 0.00, Wilson 95 % 0.00 to 0.79; too few trials to compare",
        "  strength gameability: not measured, nothing was exercised",
        "  caught by `deterministic` and not by this evaluator: P-001",
        "  UNCONFINED: the subject ran without isolation (--confine none); the manifests say so.",
        "Result: exit code 0, every cell is as it should be",
        "Report: runs/store/1/report.html",
    ):
        assert lines.count(line) == 1, line


def test_s12_26_one_trial_is_singular_and_a_missing_measurement_says_why() -> None:
    evaluator = STORY["evaluators"][0] | {"trials": 1, "strength": [], "note": "no cell produced evidence", "gap": []}
    failing = STORY | {"evaluators": [evaluator], "reasons": [{"code": "c", "path": "p", "detail": "d"}], "exitCode": 3}
    lines = text_page(failing).splitlines()
    assert "What the evaluator `reviewer` made of it (1 trial each)" in lines
    assert "  strength: not measured (no cell produced evidence)" in lines
    assert "Result: exit code 3" in lines


@pytest.mark.parametrize(
    ("verdicts", "end"),
    [
        (["PASS"], "every cell is as it should be"),
        (["CONCERNS", "PASS"], "nothing failed; CONCERNS in 1 cell"),
        (["CONCERNS", "CONCERNS"], "nothing failed; CONCERNS in 2 cells"),
    ],
)
def test_s12_26_a_result_with_concerns_does_not_call_itself_flawless(verdicts: list[str], end: str) -> None:
    (evaluator,) = STORY["evaluators"]
    cells = [evaluator["cells"][0] | {"verdict": verdict} for verdict in verdicts]
    lines = text_page(STORY | {"evaluators": [evaluator | {"cells": cells}]}).splitlines()
    assert f"Result: exit code 0, {end}" in lines


def test_s16_26_the_report_is_one_file_that_loads_and_runs_nothing() -> None:
    page = html_page(STORY)
    seen = Tags(page)
    assert not {"script", "link", "img", "iframe", "object", "form", "a"} & set(seen.tags)
    assert ("content", "default-src 'none'; style-src 'unsafe-inline'") in seen.attributes
    assert not [name for name, _ in seen.attributes if name.startswith("on") or name in ("src", "href")]
    assert "http" not in page.replace("http-equiv", "")


def test_s16_26_the_report_shows_what_the_text_shows() -> None:
    page = html.unescape(re.sub(r"<[^>]+>", "", html_page(STORY)))
    for text in (
        "puts are lost",
        "- kept = value",
        "+ pass",
        "nobody saw it",
        "it shows in obs-2",
        "whole-body",
        "I promise",
    ):
        assert text in page
    assert "first; second" in page
    assert "refused: clean-arm-failed" in page


HOSTILE = "<script>alert(1)</script>\"'&\x1b[31m\u202e{{ 7*7 }}{% raw %}"


@pytest.mark.parametrize("key", ["title", "planted", "proof", "why", "detail", "statement", "add"])
def test_s16_26_hostile_text_stays_text(key: str) -> None:
    story = STORY | {"reasons": [{"code": "c", "path": "p", "detail": "d"}]}
    probe, evaluator = story["probes"][0], story["evaluators"][0]
    if key == "title":
        story = story | {"title": HOSTILE}
    elif key in ("planted", "proof"):
        story = story | {"probes": [probe | {key: HOSTILE}]}
    elif key == "add":
        story = story | {"probes": [probe | {"change": probe["change"] | {"add": HOSTILE}}]}
    elif key == "why":
        story = story | {"evaluators": [evaluator | {"cells": [evaluator["cells"][0] | {"why": [HOSTILE]}]}]}
    elif key == "detail":
        story = story | {"reasons": [{"code": "c", "path": "p", "detail": HOSTILE}]}
    else:
        story = story | {"attestations": {"repository": HOSTILE}}
    page = html_page(story)
    assert "script" not in Tags(page).tags
    assert "\x1b" not in page
    assert "\u202e" not in page
    assert "{{ 7*7 }}" in html.unescape(page)


@given(st.text(max_size=40))
@settings(max_examples=100, deadline=None)
def test_s16_26_no_text_adds_a_tag(text: str) -> None:
    assert Tags(html_page(STORY | {"title": text})).tags == Tags(html_page(STORY)).tags
