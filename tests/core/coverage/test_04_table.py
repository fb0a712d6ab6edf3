"""Spec 04 §4: the generated reference, and the grid of declaration states."""

import runpy
from pathlib import Path

import pytest

from eval_quality.core.explain import coverage_table
from eval_quality.core.explain.corpus import STATE_CONTRACTS, CorpusContract
from eval_quality.core.explain.coverage_table import ASSERTED, build
from eval_quality.core.explain.discipline import RULE_STATES, STATES, StateExample
from eval_quality.core.explain.patch import put

PAGE = Path(__file__).resolve().parents[3] / "docs" / "reference" / "coverage.md"


def test_s4_the_page_is_what_the_rules_say() -> None:
    assert PAGE.read_text(encoding="utf-8") == build()


def test_s4_the_module_prints_the_page(capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(coverage_table.__file__), run_name="__main__")
    printed = capsys.readouterr().out
    assert printed == PAGE.read_text(encoding="utf-8")
    assert printed.endswith("|\n")


def test_s4_the_four_states_assert_what_the_specification_tables() -> None:
    assert {state: ASSERTED[state] for state in STATES} == {
        "absent": (True, False),
        "explicitly-empty": (False, True),
        "witnessed": (True, True),
        "unwitnessed": (True, False),
    }
    assert all(set(states) == set(STATES) for states in RULE_STATES.values())


def test_s4_two_contracts_of_one_name_fail_the_build() -> None:
    with pytest.raises(ValueError, match="two example contracts are called satisfied-declarations"):
        build((*STATE_CONTRACTS, CorpusContract("satisfied-declarations", (), ())))


def test_s4_a_cell_without_a_contract_fails_the_build() -> None:
    fewer = tuple(each for each in STATE_CONTRACTS if each.name != "no-sibling")
    with pytest.raises(ValueError, match="no example contract is in state explicitly-empty of sibling-cross-check"):
        build(fewer)
    with pytest.raises(ValueError, match="state absent of success-indicator-separation"):
        build(STATE_CONTRACTS, {})


def test_s4_a_verdict_that_differs_fails_the_build() -> None:
    wrong = {**RULE_STATES, "whole-body": {**RULE_STATES["whole-body"], "unwitnessed": StateExample("no-sibling", ())}}
    with pytest.raises(ValueError, match="no-sibling is not in state unwitnessed of whole-body"):
        build(STATE_CONTRACTS, wrong)


def test_s4_cells_escape_the_bar() -> None:
    barred = put("/permittedInterfaces/0/operations/1/responseDescriptor/collectionLocations/0/pointer", "/a|b")
    page = build((*STATE_CONTRACTS, CorpusContract("barred", (barred,), ())))
    assert '"/a\\|b"' in page
