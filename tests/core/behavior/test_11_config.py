"""Configuration and published schemas (spec 11 §5.1, §6, §8, §17.3)."""

import json
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eval_quality.core.behavior.config import read_config
from eval_quality.core.behavior.documents import PUBLISHED, SKILL_PACKAGE
from eval_quality.core.behavior.draft7 import MAX_PROBLEMS, explained, holds, parse_date_time, problems, summary
from eval_quality.core.behavior.findings import WARN, Finding
from eval_quality.core.behavior.jsonish import as_integer, as_text, texts, walk
from eval_quality.core.behavior.package import (
    CATEGORIES,
)

REFERENCE = Path(__file__).resolve().parents[4] / "shared" / "reference" / "get-fable"


def manifest(**changes: Any) -> dict[str, Any]:
    value: dict[str, Any] = {"schemaVersion": 2, "id": "s", "entry": "SKILL.md", "scriptPolicy": "data-only"}
    return {**value, **{name: [] for name in CATEGORIES}, **changes}


# -- configuration --


def wrong(value: Any) -> list[tuple[str | int, ...]]:
    return [problem.path for problem in read_config(value)[1]]


def test_s17_3_defaults_and_strict() -> None:
    plain, problems_found = read_config({})
    assert not problems_found
    assert (plain.thresholds["negative"], plain.min_cases, plain.repeats, plain.confidence) == (95, 1, 1, None)
    assert plain.deterministic is None
    strict, _ = read_config({"profile": "strict", "minCasesPerCategory": 2})
    assert (strict.strict, strict.min_cases, strict.repeats, strict.confidence) == (True, 2, 3, 0.95)
    assert (strict.require_receipt, strict.holdout_policy, strict.max_age_days) == (True, "sealed", 90)
    assert plain.digest != strict.digest


@pytest.mark.parametrize(
    ("value", "path"),
    [
        ([], ()),
        ({"nonsense": 1}, ("nonsense",)),
        ({"schemaVersion": 2}, ("schemaVersion",)),
        ({"profile": "lenient"}, ("profile",)),
        ({"skillRoots": []}, ("skillRoots",)),
        ({"skillRoots": ["../elsewhere"]}, ("skillRoots",)),
        ({"skillRoots": ["/abs"]}, ("skillRoots",)),
        ({"skillRoots": "skills"}, ("skillRoots",)),
        ({"entrySkill": ""}, ("entrySkill",)),
        ({"deterministic": []}, ("deterministic",)),
        ({"deterministic": {"s": {"kind": "magic"}}}, ("deterministic", "s")),
        ({"deterministic": {"s": None}}, ("deterministic", "s")),
        ({"thresholds": []}, ("thresholds",)),
        ({"thresholds": {"known": 89}}, ("thresholds", "known")),
        ({"thresholds": {"known": 101}}, ("thresholds", "known")),
        ({"thresholds": {"known": True}}, ("thresholds", "known")),
        ({"thresholds": {"seldom": 99}}, ("thresholds", "seldom")),
        ({"minCasesPerCategory": 0}, ("minCasesPerCategory",)),
        ({"blindingSeed": 3}, ("blindingSeed",)),
        ({"maxMissingShare": 1.5}, ("maxMissingShare",)),
        ({"maxMissingShare": True}, ("maxMissingShare",)),
        ({"confidence": 1}, ("confidence",)),
        ({"requireReceipt": "yes"}, ("requireReceipt",)),
        ({"enterpriseGates": {}}, ("enterpriseGates",)),
        ({"enterpriseGates": [{}]}, ("enterpriseGates", 0)),
    ],
)
def test_s17_3_configuration_problems(value: Any, path: tuple[Any, ...]) -> None:
    assert wrong(value) == [path]


def test_s17_3_every_problem_at_once() -> None:
    assert len(wrong({"a": 1, "profile": 3, "thresholds": {"known": 1, "holdout": 1}})) == 4


BINDING = {"kind": "command", "benchmark": "b.json", "holdout": "h.json", "result": "r.json", "argv": ["x"]}
GATE = {"id": "g", "evidence": "e.json", "maxAgeDays": 3, "revisionBound": True}


def test_s17_3_evaluators_and_gates() -> None:
    read_value, found = read_config(
        {"deterministic": {"s": BINDING}, "enterpriseGates": [GATE], "thresholds": {"known": 97}, "maxMissingShare": 1}
    )
    assert not found
    assert read_value.deterministic is not None
    assert read_value.deterministic["s"].argv == ("x",)
    assert read_value.gates[0].gate_id == "g"
    assert read_value.thresholds["known"] == 97
    assert wrong({"enterpriseGates": [GATE, GATE]}) == [("enterpriseGates",)]
    for change in (
        {"argv": []},
        {"kind": "policy"},
        {"subjects": ["../x"]},
        {"argv": [""]},
        {"x": 1},
        {"result": "/r"},
    ):
        assert wrong({"deterministic": {"s": {**BINDING, **change}}}) == [("deterministic", "s")]


# -- schemas --


@pytest.mark.parametrize("name", sorted(PUBLISHED))
def test_every_published_schema_is_sound(name: str) -> None:
    jsonschema_rs.meta.validate(PUBLISHED[name])


@pytest.mark.parametrize(
    "name",
    [
        "agent-behavior-request-bundle",
        "agent-behavior-response-bundle",
        "agent-behavior-eval-result",
        "cli-json-envelope",
        "eval-result",
        "skill-package",
    ],
)
def test_published_schemas_keep_the_references_shape(name: str) -> None:
    path = REFERENCE / "schemas" / f"{name}.schema.json"
    if not path.exists():
        pytest.skip("reference data absent: ../shared/reference/get-fable")
    theirs = json.loads(path.read_bytes())

    def shape(schema: Any) -> Any:
        titles = {key: value for key, value in schema.items() if key not in ("title", "description", "$schema")}
        return json.dumps(titles, sort_keys=True)

    assert shape(PUBLISHED[name]) == shape(theirs)


@pytest.mark.parametrize(
    ("text", "sound"),
    [
        ("2026-05-01T10:00:00Z", True),
        ("2026-05-01t10:00:00.123456789z", True),
        ("2026-05-01T10:00:00+02:00", True),
        ("2026-02-30T10:00:00Z", False),
        ("2026-05-01 10:00:00Z", False),
        ("2026-05-01T10:00:00", False),
        ("2026-05-01T10:00:00Z\n", False),
    ],
)
def test_date_times(text: str, sound: bool) -> None:
    assert (parse_date_time(text) is not None) is sound


SCHEMA: dict[str, Any] = {
    "type": "object",
    "required": ["a"],
    "properties": {
        "a": {"type": "integer", "minimum": 1, "maximum": 3},
        "b": {"type": "array", "uniqueItems": True, "minItems": 1, "items": {"$ref": "#/definitions/t"}},
        "c": {"type": "string", "format": "date-time"},
        "d": {"enum": [1, "x"]},
        "h": {"type": "string", "enum": ["x"]},
        "i": {"enum": ["x", "ab"]},
        "e": {"type": "number"},
        "f": {"type": "boolean"},
    },
    "definitions": {"t": {"type": "string", "minLength": 1, "pattern": "^[a-z]+$"}},
}


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ({"a": 1.0}, []),
        ({"a": 2, "b": ["x"], "c": "2026-05-01T10:00:00Z", "d": "x", "e": 1.5, "f": True, "g": 1}, []),
        ({}, ["required"]),
        ({"a": True}, ["type"]),
        ({"a": 0}, ["minimum"]),
        ({"a": 4}, ["maximum"]),
        ({"a": 1.5}, ["type"]),
        ({"a": 1, "b": []}, ["minItems"]),
        ({"a": 1, "b": ["x", "x"]}, ["uniqueItems"]),
        ({"a": 1, "b": ["", "x\n"]}, ["minLength", "pattern", "pattern"]),
        ({"a": 1, "c": "no"}, ["format"]),
        ({"a": 1, "d": True}, ["enum"]),
        ({"a": 1, "e": "1", "f": 0}, ["type", "type"]),
        ([], ["type"]),
    ],
)
def test_the_draft_7_reader(value: Any, found: list[str]) -> None:
    assert [problem.kind for problem in problems(SCHEMA, value)] == found
    assert jsonschema_rs.validator_for({**SCHEMA, "$schema": "http://json-schema.org/draft-07/schema#"}).is_valid(
        value
    ) is not bool(found)


ANY = st.recursive(
    st.none() | st.booleans() | st.integers(0, 5) | st.floats(0, 4) | st.sampled_from(["", "x", "ab", "A", "x\n"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abcdefghi"), inner, max_size=5),
    max_leaves=8,
)
OPEN: dict[str, Any] = {**SCHEMA, "additionalProperties": False}


@settings(max_examples=400, deadline=None)
@given(ANY, st.sampled_from([SCHEMA, OPEN]))
def test_the_fast_check_and_the_walk_agree(value: Any, schema: dict[str, Any]) -> None:
    assert holds(schema, value) is (explained(schema, value) == ())


def test_the_fast_check_follows_the_schema_not_its_address() -> None:
    for least in range(40):
        assert holds({"type": "string", "minLength": least}, "x" * least)
        assert not holds({"type": "string", "minLength": least + 1}, "x" * least)


def test_problems_are_capped_and_summed_up() -> None:
    many = problems(SKILL_PACKAGE, manifest(evals=[1] * 1000))
    assert len(many) == MAX_PROBLEMS
    assert summary(many) == "/evals: expected distinct items (and 199 more)"
    assert summary(many[1:2]) == "/evals/0: expected string"
    assert summary(problems(SKILL_PACKAGE, 3)) == "(root): expected object"


def test_views_on_json() -> None:
    assert (as_integer(True), as_integer(3), as_text(" "), texts(None)) == (None, 3, None, [])
    assert list(walk({"a": [1]})) == [((), {"a": [1]}), (("a",), [1]), (("a", 0), 1)]
    assert isinstance(Finding(WARN, "c", "", "w", "m").line(), str)
