"""Spec 04 §9 and §11.4: the scripting audit of an emitted brief."""

import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eval_quality.core.compile.codes import FAILURE_CODES
from eval_quality.core.contract.text import JS_SPACE_CLASS
from eval_quality.core.explain.patch import put
from eval_quality.core.seal.audit import audit_brief_scripting, count_markers
from eval_quality.core.seal.entry import seal_value
from eval_quality.errors import StructuralFailure
from support.contracts import library

TEXTS = {
    "Send the order, then read it back. After that, check totals.": 2,
    "1. Send it. 2) Read it.": 2,
    "a) one\n   b) two": 2,
    "The total is 12.5 and the first row matches.": 0,
    "Version 3. is current.": 0,
    "Afterwards nothing remains; subsequently it stays so.": 2,
    "": 0,
    "then before after subsequent subsequently next finally afterward afterwards": 9,
    "THEN Before": 2,
    "athen thens then_ beforehand hereafter": 0,
    "\u00e9then": 1,
    "first, second and third": 0,
    "1)": 1,
    "  12. x": 1,
    "1.5 then": 1,
    "12) 34)": 1,
    "ok! 7. x? b) y": 2,
    "ok, 7. x": 0,
    "x\n\n 1.": 1,
    "x\r1.": 0,
    "x\u20281.": 0,
    "x \t\n\u00a0 Z) y": 1,
    "e.g. this": 2,
    "see a. b.": 1,
    "123": 0,
    "1.": 1,
    "1.1. x": 1,
    "1..": 1,
    "_a) x": 0,
    "ab) x": 0,
    "x. 1)2": 1,
    "x. 1)a) y": 2,
    "\u0661) x": 0,
    "then 1. x": 1,
    ". 1. 2.": 2,
}


@pytest.mark.parametrize("text", TEXTS)
def test_s9_and_s11_4_markers(text: str) -> None:
    assert count_markers(text) == TEXTS[text] == published(text)


def published(text: str) -> int:
    """The published grammar, read literally: the list mark's look-behind is tried at every position."""
    words = re.compile(r"\b(?:then|before|after|subsequent(?:ly)?|next|finally|afterward(?:s)?)\b", re.I | re.A)
    marks = re.compile(r"(?:[0-9]+|[a-z])[.)](?![0-9])", re.I | re.A)
    allowed = re.compile(rf"(?:^[{JS_SPACE_CLASS}]*|\n[{JS_SPACE_CLASS}]*|[.!?][{JS_SPACE_CLASS}]*)\Z")
    count = position = 0
    while position < len(text):
        found = words.match(text, position)
        if found is None:
            found = marks.match(text, position)
            if found is not None and not allowed.search(text[:position]):
                found = None
        if found is None:
            position += 1
        else:
            count += 1
            position = found.end()
    return count


PIECES = st.sampled_from(
    ("then", "After", "1", "12", "a", "B", ".", ")", "!", " ", "\n", "\r", "\u2003", "x", "_", "\u00e9", "5")
)


@given(st.lists(PIECES, max_size=16).map("".join))
@settings(max_examples=400, deadline=None)
def test_s9_the_linear_count_is_the_published_grammar(text: str) -> None:
    assert count_markers(text) == published(text)


def test_s9_one_very_long_text_takes_linear_time() -> None:
    assert count_markers("1" * 1_000_000) == 0
    assert count_markers(" " * 1_000_000) == 0
    assert count_markers("x " + "1. " * 200_000) == 199_999
    assert count_markers("x" + " " * 500_000 + "1.") == 0


def brief(scope: str | None, bound: int | None) -> Any:
    return seal_value(library(put("/oracles/0/direction/scope", scope), put("/probeStepBound", bound)))


@pytest.mark.parametrize(
    ("scope", "bound", "passes"),
    [
        ("Send the order, then read it back. After that, check totals.", None, True),
        ("Send the order, then read it back. After that, check totals.", 2, True),
        ("Send the order, then read it back. After that, check totals.", 1, False),
        ("then", 0, False),
        (None, 0, True),
    ],
)
def test_s9_a_direction_is_compared_with_the_bound(scope: str | None, bound: int | None, passes: bool) -> None:
    sealed = brief(scope, bound)
    if passes:
        assert audit_brief_scripting(sealed) is None
    else:
        with pytest.raises(StructuralFailure) as caught:
            audit_brief_scripting(sealed)
        assert caught.value.code == "brief-exceeds-scripting-bound"
        assert caught.value.code in FAILURE_CODES
        assert caught.value.artifact_path == "SealedEvaluatorBrief.directions[oracleId=O-001].text"
        assert f"the bound is {bound}" in caught.value.detail
        assert f"carries {count_markers(sealed.directions[0].text)} sequence markers" in caught.value.detail


def test_s9_counts_are_per_direction_and_other_texts_are_not_audited() -> None:
    first = library()["oracles"][0]
    oracles = [
        {**first, "id": f"O-00{n}", "direction": {**first["direction"], "scope": "then it is there"}} for n in (1, 2, 3)
    ]
    document = library(
        put("/oracles", oracles),
        put("/probeStepBound", 1),
        put("/behaviors/0/description", "first this, then that, and finally the rest, after all"),
        put("/safetyLimits", ["then then then"]),
    )
    assert audit_brief_scripting(seal_value(document)) is None


def test_s9_the_first_direction_in_brief_order_is_reported() -> None:
    first = library()["oracles"][0]
    oracles = [{**first, "id": f"O-00{n}", "direction": {**first["direction"], "scope": "then"}} for n in (3, 2)]
    sealed = seal_value(library(put("/oracles", oracles), put("/probeStepBound", 0)))
    with pytest.raises(StructuralFailure) as caught:
        audit_brief_scripting(sealed)
    assert "[oracleId=O-002]" in caught.value.artifact_path


def test_s9_sealing_never_audits() -> None:
    assert brief("then, then, then and finally", 0).probe_step_bound == 0
