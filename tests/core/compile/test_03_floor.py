"""Spec 03 §16: what is withheld, what may not be carried, and waivers."""

import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eval_quality.core.compile.excluded import EXCLUDED_CONTENT_CATEGORIES, excluded_category
from eval_quality.core.compile.floor import FORBIDDEN_INPUT_FLOOR
from eval_quality.core.explain.patch import add, put
from eval_quality.model.primitives import FORBIDDEN_INPUTS
from support.contracts import error_of, library, lit, verdict


@pytest.mark.parametrize("missing", FORBIDDEN_INPUT_FLOOR)
def test_s16_1_each_floor_member_is_required(missing: str) -> None:
    kept = [each for each in FORBIDDEN_INPUT_FLOOR if each != missing]
    error = error_of(library(put("/forbiddenInputs", kept)))
    assert error is not None
    assert f"{error.code} @ {error.artifact_path}" == "forbidden-input-floor-incomplete @ EvalContract.forbiddenInputs"
    assert f'"{missing}"' in error.detail


def test_s16_1_order_and_repeats_do_not_matter_and_the_first_missing_is_named() -> None:
    assert FORBIDDEN_INPUT_FLOOR == FORBIDDEN_INPUTS
    assert verdict(library(put("/forbiddenInputs", [*reversed(FORBIDDEN_INPUT_FLOOR), "repository"]))) == "ok"
    error = error_of(library(put("/forbiddenInputs", ["human-labels", "source-code"])))
    assert error is not None
    assert '"original-spec"' in error.detail


@pytest.mark.parametrize(
    ("scoped", "resources", "expected"),
    [
        (None, None, "ok"),
        ([], {}, "ok"),
        ([{"reference": "b", "kind": "x"}, {"reference": "a", "kind": "x"}], None, "scopedResources[0].reference"),
        (None, {"b": {"kind": "x"}, "a-1": {"kind": "x"}}, 'testData.resources["a-1"]'),
        ([{"reference": "b", "kind": "x"}], {"a": {"kind": "x"}}, "scopedResources[0].reference"),
    ],
)
def test_s16_2_no_scoped_reference_is_admitted(scoped: Any, resources: Any, expected: str) -> None:
    document = library(put("/scopedResources", scoped), put("/testData/resources", resources))
    found = verdict(document)
    assert found == ("ok" if expected == "ok" else f"scoped-reference-resolves-forbidden @ EvalContract.{expected}")
    if scoped:
        error = error_of(document)
        assert error is not None
        assert '"b"' in error.detail


SELF_TEST = {
    "credentials": "-----BEGIN RSA PRIVATE KEY-----",
    "tokens": "Authorization: Bearer abcdefghijklmnopqrstuv",
    "email addresses": '{"contact":"ada@example.com"}',
    "account identifiers": "GB29NWBK60161331926819",
    "transaction content": "charged 4111 1111 1111 1111",
}


def test_s16_3_the_vocabulary_has_a_sixth_member_without_a_pattern() -> None:
    assert EXCLUDED_CONTENT_CATEGORIES == (
        "credentials",
        "tokens",
        "real names",
        "email addresses",
        "account identifiers",
        "transaction content",
    )


@pytest.mark.parametrize("category", SELF_TEST)
def test_s16_3_each_pattern_finds_its_self_test_and_never_quotes_it(category: str) -> None:
    text = SELF_TEST[category]
    assert excluded_category(text) == category
    error = error_of(library(put("/safetyLimits", ["fine", text])))
    assert error is not None
    assert f"{error.code} @ {error.artifact_path}" == "excluded-content-in-declaration @ EvalContract.safetyLimits[1]"
    assert category in error.detail
    assert "digest or an opaque reference" in error.detail
    assert text[-10:] not in error.detail


TEXTS: dict[str, str | None] = {
    "-----BEGIN PRIVATE KEY-----": "credentials",
    "-----BEGIN EC2 PRIVATE KEY-----": None,
    "-----begin private key-----": None,
    "bearer 0123456789abcdef": "tokens",
    "bearer 0123456789abcde": None,
    "BEARER 0123456789abcdef": None,
    "forbearer 0123456789abcdef": None,
    "bearer\u00a0~+/-.0123456789abcdef": "tokens",
    "bearer\u200b0123456789abcdef": None,
    "eyJabcdefgh.12345678": "tokens",
    "eyJabcdefg.12345678": None,
    "eyJabcdefgh.1234567": None,
    "xeyJabcdefgh.12345678": None,
    "_eyJabcdefgh.12345678": "tokens",
    "a.eyJabcdefgh.12345678": "tokens",
    "0eyJabcdefgh-_.12345678": "tokens",
    "eyJeyJabcdefgh.12345678": "tokens",
    "-eyJ-eyJab.12345678": None,
    "zeyJ0eyJabcdefgh.12345678": "tokens",
    "eyJabcdefgh 12345678": None,
    "sk-0123456789abcdef": "tokens",
    "sk-0123456789abcde": None,
    "ask-0123456789abcdef": None,
    "ghp_0123456789abcdef": "tokens",
    "ghx_0123456789abcdef": None,
    "AKIA0123456789ABCDEF": "tokens",
    "AKIA0123456789ABCDEf": None,
    "a@b.co": "email addresses",
    "a@b.c": None,
    "a@.co": None,
    "@b.co": None,
    " @b.co": None,
    "a%+-._@b-c.d.ee": "email addresses",
    "a@b..cc": "email addresses",
    "a@b": None,
    "GB29NWBK6016133": "account identifiers",
    "GB29NWBK601613": None,
    "XGB29NWBK6016133": None,
    "GB29NWBK6016133x": None,
    "123-45-6789": "account identifiers",
    "1123-45-6789": None,
    "123-45-67890": None,
    "4111-1111-1111-1111": "transaction content",
    "4111 1111-1111 1111": "transaction content",
    "4111111111111111": None,
    "x4111 1111 1111 1111": None,
    "4111 1111 1111 11111": None,
    "\u0664111 1111 1111 1111": None,
    "-----BEGIN PRIVATE KEY----- a@b.co": "credentials",
    "a@b.co ghp_0123456789abcdef": "tokens",
    "123-45-6789 a@b.co": "email addresses",
    "4111 1111 1111 1111 123-45-6789": "account identifiers",
    "password": None,
    "": None,
}


@pytest.mark.parametrize("text", TEXTS)
def test_s16_3_the_first_category_in_table_order(text: str) -> None:
    assert excluded_category(text) == TEXTS[text]


SPACE = "[\\t-\\r \u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff]"
PUBLISHED = (
    ("credentials", r"-----BEGIN [A-Z ]*PRIVATE KEY-----"),
    (
        "tokens",
        rf"(?<![A-Za-z])(?:[Bb]earer{SPACE}+[\w.~+/-]{{16,}}|eyJ[\w-]{{8,}}\.[\w-]{{8,}}|sk-[A-Za-z0-9]{{16,}}"
        r"|gh[pousr]_[A-Za-z0-9]{16,}|AKIA[0-9A-Z]{16})",
    ),
    ("email addresses", r"[A-Za-z0-9._%+-]+@[A-Za-z0-9.-]+\.[A-Za-z]{2,}"),
    ("account identifiers", r"\b[A-Z]{2}\d{2}[A-Z0-9]{11,30}\b|\b\d{3}-\d{2}-\d{4}\b"),
    ("transaction content", r"(?<![0-9A-Za-z])\d{4}(?:[ -]\d{4}){3}(?![0-9A-Za-z])"),
)
PIECES = st.sampled_from(
    (
        "eyJ",
        "abcdefgh",
        "12345678",
        ".",
        "-",
        "_",
        "@",
        "a",
        "Z",
        "9",
        " ",
        "bearer",
        "co",
        "4111",
        "GB29",
        "\u00e9",
        "+",
    )
)


@given(st.lists(PIECES, max_size=14).map("".join))
@settings(max_examples=400, deadline=None)
def test_s16_3_the_linear_forms_find_what_the_published_patterns_find(text: str) -> None:
    expected = next((name for name, pattern in PUBLISHED if re.search(pattern, text, re.ASCII)), None)
    assert excluded_category(text) == expected


def test_s16_3_one_very_long_string_takes_linear_time() -> None:
    # A quadratic search of a megabyte would not end within the test's time limit.
    for text in ("eyJ-" * 250_000, "a" * 1_000_000 + "@", "bearer " * 150_000, "-----BEGIN " * 100_000):
        assert excluded_category(text) is None


MAIL = "ada@example.com"


def declares(members: Any, keys: Any, commentary: str | None) -> Any:
    return put("/referenceSets", {"s": {"keys": keys, "members": members, "commentary": commentary}})


@pytest.mark.parametrize(
    ("edits", "path"),
    [
        ((put("/behaviors/0/description", MAIL), put("/oracles/0/commentary", MAIL)), "behaviors[0].description"),
        ((put("/oracles/0/direction/scope", MAIL),), "oracles[0].direction.scope"),
        ((add("/interactionPlan/0/inputBinding/body/copyId/literal", [1, {"x.y": MAIL}]),), None),
        ((put("/testData/setup", MAIL), put("/safetyLimits", [MAIL])), "testData.setup"),
        ((put("/requiredEvidence", ["x", MAIL]),), "requiredEvidence[1]"),
        ((put("/safetyLimits", [MAIL]), put("/requiredEvidence", [MAIL])), "safetyLimits[0]"),
        (
            (declares([{"z": MAIL, "2": MAIL, "1": [MAIL]}], ["k"], MAIL),),
            "referenceSets.s.members[0].1[0]",
        ),
        (
            (declares([{"z": MAIL, "a b": MAIL}], ["k"], None),),
            "referenceSets.s.members[0].z",
        ),
        ((declares([{"a b": MAIL}], ["k"], None),), "referenceSets.s.members[0].a b"),
        ((declares([], [MAIL], None),), "referenceSets.s.keys[0]"),
    ],
)
def test_s16_3_the_walk_order_decides_the_path(edits: Any, path: str | None) -> None:
    found = verdict(library(*edits), strict=False)
    expected = "interactionPlan[0].inputBinding.body.copyId.literal[1].x.y" if path is None else path
    assert found == f"excluded-content-in-declaration @ EvalContract.{expected}"


def test_s16_3_keys_are_never_scanned_and_both_modes_are() -> None:
    keyed = {"s": {"keys": ["k"], "members": [{MAIL: 1, "password": "hunter2"}], "commentary": None}}
    assert verdict(library(put("/referenceSets", keyed))) == "ok"
    dirty = library(put("/safetyLimits", [MAIL]))
    assert verdict(dirty, strict=False) == verdict(dirty, strict=True) != "ok"
    assert verdict(library(put("/interactionPlan/0/inputBinding/body/copyId", lit(MAIL)))) != "ok"


WAIVER = {
    "id": "W-001",
    "rule": "whole-body",
    "rationale": "small",
    "condition": None,
    "approval": "owner",
    "expiresAt": "1999-01-01T00:00:00Z",
}
PARTS = ("rule", "rationale", "approval", "expiresAt")


@pytest.mark.parametrize("part", PARTS)
def test_s16_4_each_part_of_a_waiver_is_stated(part: str) -> None:
    later = dict.fromkeys(PARTS[PARTS.index(part) :])
    document = library(put("/waivers", [{**WAIVER, "id": "W-000"}, {**WAIVER, **later}]))
    assert verdict(document) == f"waiver-incomplete @ EvalContract.waivers[id=W-001].{part}"


def test_s16_4_a_condition_is_optional_and_no_date_is_compared() -> None:
    assert verdict(library(put("/waivers", [WAIVER, {**WAIVER, "condition": "sometimes"}]))) == "ok"
    assert verdict(library(put("/waivers", [{**WAIVER, "rule": "", "rationale": "", "approval": ""}]))) == "ok"
