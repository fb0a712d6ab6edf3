"""Authored documents: spec 12 §12.4 and the source formats of spec 16 §8."""

import json
import tomllib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eval_quality.run.errors import ExperimentFailure
from eval_quality.run.source import MAX_SOURCE_BYTES, MAX_SOURCE_DEPTH, Position, pointer, read_source

DOCUMENT = {
    "id": "demo",
    "run": {"trials": 3, "seed": 0},
    "evaluator": [{"id": "a"}, {"id": "b", "rate": 0.5}],
    "on": True,
}

YAML = """\
id: demo
run:
  trials: 3
  seed: 0
evaluator:
  - id: a
  - id: b
    rate: 0.5
"on": true
"""

TOML = """\
id = "demo"
on = true

[run]
trials = 3
seed = 0

[[evaluator]]
id = "a"

[[evaluator]]
id = "b"
rate = 0.5
"""


def refusal(name: str, text: str | bytes) -> tuple[str, int, int, str]:
    with pytest.raises(ExperimentFailure) as caught:
        read_source(name, text.encode() if isinstance(text, str) else text)
    problem = caught.value.problems[0]
    assert problem.file == name
    assert problem.artifact_path.startswith(f"Source[{name}]")
    return problem.code, problem.line, problem.column, problem.detail


def test_s12_4_the_three_notations_of_one_document_have_one_value() -> None:
    assert read_source("e.yaml", YAML.encode()).value == DOCUMENT
    assert read_source("e.yml", YAML.encode()).value == DOCUMENT
    assert read_source("e.toml", TOML.encode()).value == DOCUMENT
    assert read_source("e.json", json.dumps(DOCUMENT).encode()).value == DOCUMENT


@pytest.mark.parametrize(
    ("name", "text", "path", "position"),
    [
        ("e.yaml", YAML, ("run", "trials"), Position(3, 3)),
        ("e.yaml", YAML, ("evaluator", 1, "rate"), Position(8, 5)),
        ("e.yaml", YAML, ("evaluator", 1), Position(7, 5)),
        ("e.yaml", YAML, ("run", "absent"), Position(2, 1)),
        ("e.toml", TOML, ("run", "trials"), Position(5, 1)),
        ("e.toml", TOML, ("evaluator", 1, "rate"), Position(13, 1)),
        ("e.toml", TOML, ("evaluator", 1, "absent"), Position(11, 1)),
        ("e.toml", TOML, ("nowhere",), Position(1, 1)),
        ("e.json", '{\n  "a": [1,\n   {"b": 2}],\n "c": {}}', ("a", 1, "b"), Position(3, 5)),
        ("e.json", '{\n  "a": [1,\n   {"b": 2}],\n "c": {}}', ("a", 1), Position(3, 4)),
        ("e.json", '{\n  "a": [1,\n   {"b": 2}],\n "c": {}}', ("c",), Position(4, 2)),
        ("e.json", '{\n  "a": [1,\n   {"b": 2}],\n "c": {}}', ("c", "d"), Position(4, 2)),
    ],
)
def test_s12_4_every_member_knows_its_place(
    name: str, text: str, path: tuple[str | int, ...], position: Position
) -> None:
    assert read_source(name, text.encode()).position(path) == position


def test_s8_2_only_json_spellings_are_special_in_yaml() -> None:
    text = "a: no\nb: on\nc: 012\nd: 1:30\ne: 2026-01-01\nf: True\ng: .5\nh: 0x1F\ni: 1e3\nj: -0\nk: ~\nl:\nm: 'true'\n"
    value = read_source("v.yaml", text.encode()).value
    assert [value[key] for key in "abcdefgh"] == ["no", "on", "012", "1:30", "2026-01-01", "True", ".5", "0x1F"]
    assert (value["i"], value["j"], value["k"], value["l"], value["m"]) == (1000.0, 0, None, None, "true")


@pytest.mark.parametrize(
    ("name", "text", "code", "line", "column"),
    [
        ("s.yaml", "a: 1\na: 2\n", "author-duplicate-key", 2, 1),
        ("s.yaml", "a: {b: 1, b: 2}\n", "author-duplicate-key", 1, 11),
        ("s.yaml", "<<: {a: 1}\n", "author-yaml-feature-refused", 1, 1),
        ("s.yaml", "a: !!python/object:os.system x\n", "author-yaml-feature-refused", 1, 4),
        ("s.yaml", "a: !custom x\n", "author-yaml-feature-refused", 1, 4),
        ("s.yaml", "200: x\n", "author-yaml-feature-refused", 1, 1),
        ("s.yaml", "a: 1\n---\nb: 2\n", "author-yaml-feature-refused", 2, 1),
        ("s.yaml", "a: &x [*x]\n", "author-yaml-feature-refused", 1, 8),
        ("s.yaml", "a: 1e999\n", "author-number-out-of-domain", 1, 4),
        ("s.yaml", "a: 9007199254740993\n", "author-number-out-of-domain", 1, 4),
        ("s.yaml", "a: [1\nb: 2\n", "author-syntax", 2, 2),
        ("s.yaml", "%YAML 1.1\n---\na: 1\n", "author-yaml-feature-refused", 2, 1),
        ("s.yaml", "a:\n\t- 1\n", "author-syntax", 2, 1),
        ("s.toml", "a = 1\na = 2\n", "author-duplicate-key", 2, 6),
        ("s.toml", "a = 1979-05-27\n", "author-type-mismatch", 1, 1),
        ("s.toml", "[t]\nb = inf\n", "author-number-out-of-domain", 2, 1),
        ("s.toml", "a = [\n", "author-syntax", 2, 1),
        ("s.json", '{"a": 1,\n "a": 2}', "author-duplicate-key", 2, 5),
        ("s.json", '{"a": 1,}', "author-syntax", 1, 9),
        ("s.json", '["\U0001f600", x]', "author-syntax", 1, 7),
        ("s.json", "1e999", "author-number-out-of-domain", 1, 6),
        ("s.json", "\ufeff{}", "author-unreadable-source", 1, 1),
    ],
)
def test_s8_1_what_is_refused_and_where(name: str, text: str, code: str, line: int, column: int) -> None:
    assert refusal(name, text)[:3] == (code, line, column)


def test_s8_2_a_bound_pointer_must_be_quoted() -> None:
    code, line, _, detail = refusal("p.yaml", "a: @/id\n")
    assert (code, line) == ("author-syntax", 1)
    assert "quote" in detail


@pytest.mark.parametrize("data", [b"\xff", b"a: \x00", b"x" * (MAX_SOURCE_BYTES + 1)])
def test_s8_1_bytes_that_are_no_text(data: bytes) -> None:
    assert refusal("b.yaml", data)[0] in ("author-unreadable-source", "author-limit-exceeded")


def test_s8_1_nesting_is_bounded() -> None:
    deep = MAX_SOURCE_DEPTH + 2
    assert refusal("d.yaml", "[" * deep + "]" * deep)[0] == "author-limit-exceeded"
    assert refusal("d.toml", "a = " + "[" * deep + "]" * deep)[0] == "author-limit-exceeded"
    assert refusal("d.json", "[" * 1100 + "]" * 1100)[0] == "author-limit-exceeded"


def test_s8_1_aliases_that_double_are_stopped() -> None:
    bomb = "a0: &a0 [x, x]\n" + "".join(f"a{i}: &a{i} [*a{i - 1}, *a{i - 1}]\n" for i in range(1, 40))
    assert refusal("bomb.yaml", bomb)[0] == "author-limit-exceeded"


def test_s8_2_an_alias_repeats_its_value() -> None:
    assert read_source("a.yaml", b"a: &x {k: [1]}\nb: *x\n").value == {"a": {"k": [1]}, "b": {"k": [1]}}


def test_a_path_is_shown_as_a_pointer() -> None:
    assert pointer(()) == ""
    assert pointer(("a/b", 0, "~")) == "/a~1b/0/~0"


names = st.text(st.characters(codec="utf-8", exclude_characters="\x00", exclude_categories=("Cs",)), max_size=6)
trees = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | names,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3),
    max_leaves=12,
)


@given(trees)
@settings(max_examples=150, deadline=None)
def test_s8_4_json_positions_point_at_the_member(value: object) -> None:
    text = json.dumps(value, indent=2, ensure_ascii=False)
    source = read_source("r.json", text.encode())
    assert source.value == value
    lines = text.split("\n")
    for path, (line, column) in source.positions.items():
        if path and isinstance(path[-1], str):
            assert lines[line - 1][column - 1 :].startswith(json.dumps(path[-1], ensure_ascii=False))


@given(
    st.dictionaries(st.sampled_from("abcde"), st.dictionaries(st.sampled_from("xyz"), st.integers(0, 9)), min_size=1)
)
@settings(max_examples=100, deadline=None)
def test_s8_3_the_toml_scanner_finds_every_key(tables: dict[str, dict[str, int]]) -> None:
    text = "".join(f"[{name}]\n" + "".join(f"{k} = {v}\n" for k, v in keys.items()) for name, keys in tables.items())
    source = read_source("t.toml", text.encode())
    assert source.value == tomllib.loads(text)
    lines = text.split("\n")
    for name, keys in tables.items():
        assert lines[source.position((name,)).line - 1] == f"[{name}]"
        for key, number in keys.items():
            assert lines[source.position((name, key)).line - 1] == f"{key} = {number}"
