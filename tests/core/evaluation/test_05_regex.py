"""The `regex` operator (spec 05 §5.7.6): gates, ECMA-262 meaning, code units."""

import json
import random
import shutil
import subprocess
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval_quality.core.evaluation import code_units, regex
from eval_quality.errors import RuntimeFault
from support.evaluation import answer, evaluate, literal
from support.patterns import GRIN, TEXTS, random_pattern

PATH = "Evidence"
BUDGET = 1_000_000


def matches(pattern: str, text: str, budget: int = BUDGET) -> bool:
    return regex.matches(pattern, text, budget, PATH)


def code(pattern: str, text: str = "a", budget: int = BUDGET) -> str:
    with pytest.raises(RuntimeFault) as caught:
        matches(pattern, text, budget)
    assert caught.value.artifact_path == PATH
    assert regex.quoted(pattern) in caught.value.detail
    return caught.value.code


def check(value: Any, pattern: str) -> dict[str, Any]:
    return {"op": "regex", "operands": [literal(value)], "pattern": pattern}


# Step 1


@pytest.mark.parametrize("value", [None, True, 1, {"k": "a"}, [1]])
@pytest.mark.parametrize("pattern", ["^($", "^(?:a+)+$"])
def test_s5_7_6_step_1_a_value_that_is_no_string_is_false_before_the_pattern_is_read(value: Any, pattern: str) -> None:
    assert answer(check(value, pattern)) == "false"


def test_s5_7_6_step_1_an_absent_value_is_false() -> None:
    operand = {"pointer": "/interactions/q/stdout"}
    assert answer({"op": "regex", "operands": [operand], "pattern": "^($"}) == "false"


# Step 2


@pytest.mark.parametrize(
    "pattern", ["^($", "^[z-a]$", "^a{2,1}$", "^*$", "^(?<n>a)(?<n>b)$", "^\\", r"^\b*$", r"^a\B{2}$"]
)
def test_s5_7_6_step_2_a_bad_pattern_is_a_fault(pattern: str) -> None:
    assert code(pattern) == "operator-cannot-accept-operand"


def test_s5_7_6_step_2_the_detail_says_what_is_wrong() -> None:
    with pytest.raises(RuntimeFault, match=r'pattern "\^\(\$" is not valid ECMA-262') as caught:
        evaluate(check("a", "^($"), path="Somewhere")
    assert caught.value.artifact_path == "Somewhere"
    assert caught.value.__cause__ is not None


# Step 4

NESTED = [
    "^(?:a+)+$",
    "^(a*)*$",
    "^(a?)*$",
    "^(?:a{2})+$",
    "^(?=a+)*$",
    "^(?!a+)*$",
    "^(?<name>a+)+$",
    "^((a)|(b+))+$",
    "^(?:a+){2}$",
    "^(?:a+){2,}$",
    "^(?:a+){2,3}$",
    "^(?:a+)?$",
    "^(((a+)))*$",
    "^(?:(?:a|b)*c)*$",
    "^(a+)+",
    r"^(?:\(a+)+$",
]
NOT_NESTED = [
    "^(?:a)+$",
    "^(?:a|b)+$",
    "^(a+)$",
    "^(a+)b+$",
    r"^(\+)+$",
    "^([*+?])+$",
    r"^([^\]]b)*$",
    "^(?:ab)*(?:cd)*$",
    "^(?<name>a)+$",
    "^(?:a+){x}$",
]


@pytest.mark.parametrize("pattern", NESTED)
@pytest.mark.parametrize("text", ["", "a", "b"])
def test_s5_7_6_step_4_a_quantified_group_that_holds_a_quantifier(pattern: str, text: str) -> None:
    assert code(pattern, text, 10**15) == "budget-exhausted"


@pytest.mark.parametrize("pattern", NOT_NESTED)
def test_s5_7_6_step_4_other_groups_pass(pattern: str) -> None:
    assert matches(pattern, "") in (True, False)


# Step 5


@pytest.mark.parametrize(
    ("pattern", "text", "estimate"),
    [
        ("^a$", "aaaa", 4),
        ("^a+$", "aaaa", 8),
        ("^a+?$", "aaaa", 12),
        ("^(?:a)$", "aaaa", 8),
        ("^a{2}b{3,}c{4,5}$", "aaaa", 16),
        ("^a{x}$", "aaaa", 4),
        (r"^\+\*\?$", "aaaa", 4),
        ("^[+*?{2}]$", "aaaa", 4),
        ("^.*$", "\U0001f600a", 6),
        ("^.*$", "", 0),
    ],
)
def test_s5_7_6_step_5_the_estimate_is_quantifiers_and_code_units(pattern: str, text: str, estimate: int) -> None:
    assert matches(pattern, text, estimate) in (True, False)
    if estimate:
        with pytest.raises(RuntimeFault, match=f"estimated {estimate} steps .* budget is {estimate - 1}") as caught:
            matches(pattern, text, estimate - 1)
        assert caught.value.code == "budget-exhausted"


@given(st.text("ab\U0001f600", max_size=9), st.integers(0, 40))
def test_s5_7_6_step_5_a_larger_budget_never_stops_more(text: str, budget: int) -> None:
    try:
        held = matches("^a*b*$", text, budget)
    except RuntimeFault:
        return
    assert matches("^a*b*$", text, budget + 1) is held


# Order of the steps


def test_s5_7_6_a_bad_pattern_is_named_before_either_gate_and_gate_one_before_gate_two() -> None:
    assert code("^(?:a+)+($", "a", 0) == "operator-cannot-accept-operand"
    with pytest.raises(RuntimeFault, match="group that holds one"):
        matches("^(?:a+)+$", "aaaa", 0)


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        ("^(?:a+)+$", "a" * 100_000 + "b"),
        ("^(a*)*$", "a" * 100_000 + "b"),
        ("^(?:(?:a|aa)+)+$", "a" * 100_000 + "b"),
        ("^(?:a?){60}a{60}$", "a" * 60),
        ("^a*a*a*a*b$", "a" * 1_000_000),
    ],
)
def test_s5_7_6_pathological_patterns_are_stopped_before_any_match(
    pattern: str, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(value: str) -> bool:
        raise AssertionError(value[:10])

    compiled = regex._compile(pattern)
    monkeypatch.setattr(regex, "_compile", lambda _pattern: compiled._replace(search=never))
    assert code(pattern, text) == "budget-exhausted"


def test_s5_7_6_more_alternatives_than_the_engine_can_compile_safely_are_refused() -> None:
    at_the_cap = "^" + "|" * (regex.MAX_ALTERNATIVES - 1) + "$"
    assert matches(at_the_cap, "a")
    assert code("^" + "|" * regex.MAX_ALTERNATIVES + "$") == "budget-exhausted"


def test_s5_7_6_a_pattern_longer_than_compile_admits_is_refused() -> None:
    assert matches("^" + "a" * (regex.MAX_PATTERN_LENGTH - 2) + "$", "a") is False
    assert code("^" + "a" * (regex.MAX_PATTERN_LENGTH - 1) + "$") == "budget-exhausted"


@pytest.mark.parametrize(
    ("pattern", "valid"),
    [("^a$", True), ("^($", False), (r"^\b*$", False), (f"^[{GRIN}-\U0001f60e]$", False), (f"^[{GRIN}]$", True)],
)
def test_s5_7_6_what_compile_asks(pattern: str, valid: bool) -> None:
    assert regex.is_ecma_262(pattern) is valid


def test_s5_7_6_a_pattern_nested_deeper_than_the_engine_reads_is_refused() -> None:
    assert code("^" + "(" * 2000 + "a" + ")" * 2000 + "$") == "operator-cannot-accept-operand"


# Step 6: what ECMA-262 says


@pytest.mark.parametrize(
    ("pattern", "text", "expected"),
    [
        ("^a$", "a\n", False),
        ("^a$", "b\na", False),
        ("^.$", "\n", False),
        ("^.$", "\r", False),
        ("^.$", "\u2028", False),
        ("^.$", "\u2029", False),
        ("^.$", "\x85", True),
        (r"^\d$", "\u0663", False),
        (r"^\w$", "\u00e9", False),
        (r"^\s$", "\ufeff", True),
        ("^a$", "A", False),
        ("^a|b$", "xxb", True),
        ("^^a$$", "a", True),
        ("^]$", "]", True),
        ("^}$", "}", True),
        ("^{$", "{", True),
        (r"^\101$", "A", True),
        (r"^\a$", "a", True),
        (r"^\cA$", "\x01", True),
        (r"^(a)\1$", "aa", True),
        (r"^(?<=b)a$", "a", False),
        (r"^b(?<=b)a$", "ba", True),
        ("^[^]$", "\n", True),
        ("^[]$", "a", False),
        (r"^\b{x$", "{x", False),
        (r"^[\b]*\\b*$", "\b\\bb", True),
        (r"^\u0041$", "A", True),
        (r"^\x41$", "A", True),
    ],
)
def test_s5_7_6_step_6_ecma_262(pattern: str, text: str, expected: bool) -> None:
    assert matches(pattern, text) is expected


@pytest.mark.parametrize(
    ("pattern", "text", "expected"),
    [
        ("^.$", GRIN, False),
        ("^..$", GRIN, True),
        (f"^{GRIN}$", GRIN, True),
        (f"^{GRIN}{{2}}$", GRIN * 2, False),
        (f"^{GRIN}{{2}}$", GRIN + "\ude00", True),
        (f"^{GRIN}?$", "", False),
        (f"^{GRIN}?$", "\ud83d", True),
        (r"^\ud83d\ude00$", GRIN, True),
        (r"^\uD83D.$", GRIN, True),
        (r"^[\ud83d][\ude00]$", GRIN, True),
        (f"^[{GRIN}]$", GRIN, False),
        (f"^[{GRIN}]{{2}}$", GRIN, True),
        (f"^[^{GRIN}]$", "a", True),
        (f"^[^{GRIN}]+$", GRIN, False),
        (r"^[\ud800-\udbff][\udc00-\udfff]$", GRIN, True),
        (r"^[\u0000-\uffff]{2}$", GRIN, True),
        (r"^[\u0000-\uffff]$", GRIN, False),
        (r"^[^\u0000-\uffff]$", GRIN, False),
        (r"^[a-\udbff][\udc00-\uffff]$", GRIN, True),
        (r"^[\ue000-\uffff]{2}$", GRIN, False),
        (r"^[a-z]{2}$", GRIN, False),
        (r"^\W\W$", GRIN, True),
        (r"^[\W]{2}$", GRIN, True),
        (r"^[\d-z]{2}$", GRIN, False),
        (r"^[\d-z]\W\W$", "-" + GRIN, True),
        (r"^\S{2}$", GRIN, True),
        (r"^\D{2}$", GRIN, True),
        (r"^\s", GRIN, False),
        (f"^\\{GRIN}$", GRIN, True),
        (f"^[\\{GRIN}]{{2}}$", GRIN, True),
        (r"^[\x41-\u0043]..$", "B" + GRIN, True),
        (r"^[\101-\103]..$", "B" + GRIN, True),
        (r"^[\t-\r]..$", "\n" + GRIN, True),
        (r"^[\b]..$", "\b" + GRIN, True),
        (r"^[\cA-\cC]..$", "\x02" + GRIN, True),
        (r"^[\c!]..$", "\\" + GRIN, True),
        (r"^[\c!]..$", "!" + GRIN, True),
        (r"^[\-z]..$", "-" + GRIN, True),
        (r"^[a\-z]..$", "b" + GRIN, False),
        (r"^[a-]..$", "-" + GRIN, True),
        (r"^[\]]..$", "]" + GRIN, True),
        (r"^[^]{2}$", GRIN, True),
        (f"^(?<n>a)\\k<n>{GRIN}$", "aa" + GRIN, True),
        (f"^a(?<!b){GRIN}$", "a" + GRIN, True),
        ("^\U0010ffff$", "\U0010ffff", True),
        ("^.\udfff$", "\U0010ffff", True),
        ("^..$", "\U0010f800", True),
        ("^\ud800$", "\ud800", True),
        ("^.$", "\ud800", True),
        (r"^\ud800$", "a", False),
    ],
)
def test_s5_7_6_matching_is_by_utf_16_code_unit(pattern: str, text: str, expected: bool) -> None:
    assert matches(pattern, text) is expected


@pytest.mark.parametrize(
    "pattern", [f"^[{GRIN}-\U0001f60e]$", r"^[\uffff-\ud800]$", rf"^[\ue000-{GRIN}]$", f"^[{GRIN}$"]
)
def test_s5_7_6_a_range_out_of_order_by_code_unit_is_a_bad_pattern(pattern: str) -> None:
    assert code(pattern) == "operator-cannot-accept-operand"


def test_s5_7_6_a_wide_range_is_rewritten_only_for_a_text_that_needs_it() -> None:
    """The range spans the surrogates; a bad rewrite would be found by the second text."""
    assert matches(r"^[\u0000-\uffff]$", "a")
    assert matches(r"^[\u0000-\uffff]{2}$", GRIN)


@given(st.text(st.characters(codec=None), max_size=4))
def test_s5_7_6_a_text_in_units_has_one_character_a_code_unit(text: str) -> None:
    units = code_units.text_to_units(text)
    assert len(units) == regex.utf16_length(text)
    assert not code_units.text_needs_units(text) or not any(0xD800 <= ord(unit) <= 0xDFFF for unit in units)


# Against another engine

NODE_SCRIPT = """
const rows = JSON.parse(require('fs').readFileSync(0, 'utf8'));
process.stdout.write(JSON.stringify(rows.map(([pattern, text]) => {
  try { return new RegExp(pattern).test(text); } catch (error) { return 'refused'; }
})));
"""


def ours(pattern: str, text: str) -> Any:
    try:
        return matches(pattern, text)
    except RuntimeFault as fault:
        return "stopped" if fault.code == "budget-exhausted" else "refused"


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("node") is None, reason="needs Node as the second engine")
def test_s5_7_6_agrees_with_node_on_random_patterns() -> None:
    draw = random.Random(576)
    rows = [(random_pattern(draw), draw.choice(TEXTS)) for _ in range(30_000)]
    found = subprocess.run(
        ["node", "-e", NODE_SCRIPT], input=json.dumps(rows), capture_output=True, text=True, check=True
    )
    compared = 0
    for (pattern, text), theirs in zip(rows, json.loads(found.stdout), strict=True):
        result = ours(pattern, text)
        if result != "stopped":
            assert result == theirs, (pattern, text)
            compared += 1
    assert compared > 25_000
