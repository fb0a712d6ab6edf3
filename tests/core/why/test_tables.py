"""`docs/reference/decisions.md` is what the code says, byte for byte."""

import runpy
from pathlib import Path

import pytest

from eval_quality.core.aggregate import FLOOR_DECISIONS
from eval_quality.core.score.outcome import CORROBORATION, INVALIDATING, STATE_LADDER, WAIVERS
from eval_quality.core.score.witness import WITNESS_TABLE
from eval_quality.core.why import tables
from eval_quality.core.why.tables import FACTS, build

PAGE = Path(__file__).resolve().parents[3] / "docs" / "reference" / "decisions.md"


def test_the_committed_page_is_what_the_tables_say() -> None:
    assert PAGE.read_text(encoding="utf-8") == build()


def test_it_is_printed_by_its_module(capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(tables.__file__), run_name="__main__")
    assert capsys.readouterr().out == build()


def test_every_fact_of_every_guard_is_described_and_no_other() -> None:
    tables = (WITNESS_TABLE, STATE_LADDER, WAIVERS, INVALIDATING, CORROBORATION, FLOOR_DECISIONS)
    used = {name for table in tables for row in table for name, _ in row.guard}
    assert set(FACTS) == used


def test_every_table_but_the_conditions_ends_with_a_row_that_always_holds() -> None:
    for table in (WITNESS_TABLE, STATE_LADDER, WAIVERS, CORROBORATION, FLOOR_DECISIONS):
        assert table[-1].guard == ()
        assert all(row.guard for row in table[:-1])
