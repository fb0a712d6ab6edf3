"""Matching that a pattern cannot blow up (spec 05 §5.7.6): the same answers as the engine, without backtracking."""

import random
from typing import Any

import pytest

from eval_quality.core.evaluation import bounded, code_units, regex
from eval_quality.errors import RuntimeFault
from support.patterns import TEXTS, random_pattern

BUDGET = 10**12

HOSTILE = [
    ("^(?:a|a)*$", "a" * 20_000 + "b", False),
    ("^(?:a|a)*$", "a" * 20_000, True),
    ("^(?:a|ab|b)*c$", "ab" * 20_000, False),
    (r"^(?:\w|-|_)+$", "a" + "_" * 20_000 + "!", False),
    ("^((a|b)|(b|a))*$", "ab" * 20_000 + "c", False),
    ("^(?:a|a){500}b$", "a" * 500 + "c", False),
    ("^(?:a|a){500}b$", "a" * 500 + "b", True),
    ("^a*a*a*a*b$", "a" * 20_000, False),
    ("^a*a*a*a*b$", "a" * 20_000 + "b", True),
    ("^.*x.*x.*x$", "xa" * 20_000, False),
    ("^(?:" + "|".join(["a"] * 1000) + ")*$", "a" * 20_000 + "b", False),
]


@pytest.mark.parametrize(("pattern", "text", "expected"), HOSTILE)
def test_s5_7_6_patterns_that_backtrack_without_end_are_answered(pattern: str, text: str, expected: bool) -> None:
    assert regex.matches(pattern, text, BUDGET, "Evidence") is expected


@pytest.mark.parametrize(
    ("pattern", "length", "long"),
    [
        ("^a*$", 10**9, False),
        ("^abc$", 10**9, False),
        ("^a*b*$", 10_000, False),
        ("^a*b*$", 10_001, True),
        ("^a*b*c*$", 464, False),
        ("^a*b*c*$", 465, True),
        ("^(?:a|b)*$", 0, True),
        ("^(?:a|b)$", 10**9, False),
        (r"^(?:a\|b)*$", 10, False),
        ("^(?:a[|]b)*$", 10, False),
    ],
)
def test_s5_7_6_the_engine_is_left_where_backtracking_could_take_too_long(
    pattern: str, length: int, long: bool
) -> None:
    assert regex._compile(pattern).may_backtrack_long(length) is long


def test_s5_7_6_the_gates_come_first() -> None:
    with pytest.raises(RuntimeFault, match="estimated 300 steps"):
        regex.matches("^(?:a|a)*$", "a" * 100, 299, "Evidence")


def test_s5_7_6_a_pattern_without_a_bounded_machine_is_left_to_the_engine() -> None:
    assert regex._bounded_search(r"^(?:(a)\1|b)*$") is None
    assert regex.matches(r"^(?:(a)\1|b)*$", "aab", BUDGET, "Evidence")


def build(pattern: str) -> Any:
    return bounded.build(code_units.pattern_to_units(pattern), regex._accepts)


@pytest.mark.parametrize(
    "pattern",
    [
        "^(?=a)a$",
        "^(?!a)b$",
        "^(?<=a)b$",
        "^(?<!a)b$",
        r"^(a)\1$",
        r"^(?<n>a)\k<n>$",
        r"^\9$",
        r"^\c!$",
        "^a{20000}$",
        "^(?:a{200}b{200}){60}$",
        "^a{1000000}$",
        "^a{99999999999999999999}$",
        "^a{0,9999999}$",
    ],
)
def test_s5_7_6_what_has_no_bounded_machine(pattern: str) -> None:
    with pytest.raises(bounded.Unsupported):
        build(pattern)


def test_s5_7_6_a_stray_bracket_never_reaches_the_machine_and_is_refused_if_it_does() -> None:
    with pytest.raises(bounded.Unsupported):
        bounded.build("^a)$", regex._accepts)


@pytest.mark.parametrize(
    ("pattern", "text", "expected"),
    [
        ("^$", "", True),
        ("^$", "a", False),
        ("", "anything", True),
        ("b", "abc", True),
        ("b", "ac", False),
        ("^a|b$", "xb", True),
        ("^(?:|a)b$", "b", True),
        ("^a{2}$", "aa", True),
        ("^a{2}$", "a", False),
        ("^a{2}$", "aaa", False),
        ("^a{2,}$", "aaaa", True),
        ("^a{2,}$", "a", False),
        ("^a{1,3}$", "aaa", True),
        ("^a{1,3}$", "aaaa", False),
        ("^a{0}$", "", True),
        ("^a{,2}$", "a{,2}", True),
        ("^a{x$", "a{x", True),
        ("^a??$", "a", True),
        ("^a+?b*?$", "aab", True),
        (r"^\bab\b$", "ab", True),
        (r"a\bb", "ab", False),
        (r"a\Bb", "ab", True),
        (r"\b!", "a!", True),
        (r"\b!", "!", False),
        (r"^\B!\B$", "!", True),
        (r"^(?:\b|a)*$", "aa", True),
        ("^(?:^a|b)*$", "ab", True),
        ("^(?:^a|b)*$", "ba", False),
        ("^(?:a$|b)*$", "ba", True),
        ("^(?:a$|b)*$", "ab", False),
        (r"^[\]a]$", "]", True),
        ("^[\\\n]$", "\n", True),
        (r"^\012$", "\n", True),
        (r"^\0$", "\0", True),
        (r"^\u0061\x61\cA$", "aa\x01", True),
        ("^(?<name>a)(b)$", "ab", True),
    ],
)
def test_s5_7_6_the_machine(pattern: str, text: str, expected: bool) -> None:
    assert build(pattern)(text) is expected
    assert regex._engine(pattern).find(text) is not None if expected else regex._engine(pattern).find(text) is None


def test_s5_7_6_forgetting_steps_changes_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = ("ababc", "abab", "c", "aabbc", "ababababab", "abababc")
    expected = [build("^(?:a|b|ab)*c$")(text) for text in texts]
    monkeypatch.setattr(bounded, "MAX_REMEMBERED", 6)
    search = build("^(?:a|b|ab)*c$")
    assert [search(text) for text in texts] == expected == [True, False, True, True, False, True]


def compare(seed: int, patterns: int) -> int:
    """Compare the machine with the engine on random patterns; gives how many texts were compared."""
    draw, compared = random.Random(seed), 0
    for _ in range(patterns):
        pattern = random_pattern(draw)
        try:
            compiled = regex._compile(pattern)
        except regex._Refused:
            continue
        search = regex._bounded_search(pattern)
        for _ in range(4) if search else ():
            text = "".join(draw.choice(TEXTS) for _ in range(draw.randint(0, 3)))
            assert search is not None
            assert search(code_units.text_to_units(text)) is compiled.search(text), (pattern, text)
            compared += 1
    return compared


def test_s5_7_6_the_machine_agrees_with_the_engine() -> None:
    assert compare(1, 2_000) > 3_000


@pytest.mark.slow
def test_s5_7_6_the_machine_agrees_with_the_engine_at_length() -> None:
    assert compare(2, 30_000) > 50_000
