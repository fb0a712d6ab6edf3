"""`examples/corpus`: what its script writes is what is there, and it shows every code and every declaration state."""

import json
import runpy
from pathlib import Path
from typing import Any

import pytest

from eval_quality.core.compile.codes import FAILURE_CODES
from eval_quality.core.coverage.rules import DISCIPLINE_RULE_IDS
from eval_quality.core.explain.corpus import CORPUS, CorpusContract, index_entry
from eval_quality.core.explain.discipline import STATES
from eval_quality.core.explain.patch import put

FOLDER = Path(__file__).resolve().parents[3] / "examples" / "corpus"
SCRIPT: dict[str, Any] = runpy.run_path(str(FOLDER / "generate.py"), run_name="generate")


def index() -> list[dict[str, Any]]:
    return json.loads((FOLDER / "index.json").read_bytes())["contracts"]


def test_every_file_is_what_the_script_writes() -> None:
    expected = dict(SCRIPT["files"]())
    there = {path.relative_to(FOLDER).as_posix(): path.read_bytes() for path in FOLDER.rglob("*.json")}
    assert there == expected


def test_the_script_writes_a_whole_corpus_anywhere(tmp_path: Path) -> None:
    SCRIPT["main"](tmp_path)
    assert sorted(path.name for path in tmp_path.rglob("*.json")) == sorted(
        path.name for path in FOLDER.rglob("*.json")
    )


def test_every_code_and_every_state_is_shown() -> None:
    shown = {what for entry in index() for what in entry["shows"]}
    assert shown == {*FAILURE_CODES, *(f"{rule}: {state}" for rule in DISCIPLINE_RULE_IDS for state in STATES)}


@pytest.mark.parametrize("entry", index(), ids=lambda entry: entry["name"])
def test_an_entry_says_what_becomes_of_its_contract(entry: dict[str, Any]) -> None:
    for what in entry["shows"]:
        if what == "brief-exceeds-scripting-bound":
            assert entry["audit"]["code"] == what
        elif what in FAILURE_CODES:
            assert entry["compile"]["code"] == what
        else:
            rule, state = what.split(": ")
            assert (rule in entry["coverageGaps"]) is (state in ("absent", "unwitnessed"))
    assert (entry["briefDigest"] is None) is (entry["compile"] is not None or entry["name"] == "no-operation-declared")


def test_the_base_shows_no_gap_and_is_the_smallest_edit_of_itself() -> None:
    (base,) = [each for each in CORPUS if each.name == "satisfied-declarations"]
    assert base.edits == ()
    assert index_entry(base)["coverageGaps"] == []
    assert all(len(each.edits) <= 5 for each in CORPUS)


def test_a_contract_that_compiles_may_not_seal() -> None:
    entry = index_entry(CorpusContract("silent", (put("/oracles", []),), ()))
    assert (entry["compile"], entry["briefDigest"], entry["audit"]) == (None, None, None)
