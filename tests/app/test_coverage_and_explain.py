"""`coverage` and `explain`, from the command line to the core and back."""

import json
from pathlib import Path
from typing import Any

import pytest

from eval_quality.core.coverage.rules import DISCIPLINE_RULE_IDS
from eval_quality.core.explain.catalogue import CATALOGUE
from eval_quality.core.explain.patch import put
from eval_quality.core.explain.render import catalogue_text, explanation_text
from support.contracts import desk, library
from support.program import call


def saved(folder: Path, document: Any) -> Path:
    path = folder / "contract.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    return path


def test_coverage_says_per_rule_why_it_is_relevant_and_what_satisfies_it(tmp_path: Path) -> None:
    code, out, err = call("coverage", saved(tmp_path, desk(put("/siblingGroups", None))))
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[0] == "loans: 1 of 7 rules open, each at severity material"
    assert [line.split(":")[0] for line in lines if line.startswith(DISCIPLINE_RULE_IDS)] == list(DISCIPLINE_RULE_IDS)
    assert "success-indicator-separation: satisfied" in lines
    assert "    satisfied by oracle O-001 at step read" in lines
    assert "per-record: not relevant" in lines
    assert (
        "  nothing makes it relevant; it would be relevant when an operation declares a collection in its answer"
        in lines
    )
    gap = lines.index("sibling-cross-check: gap")
    assert lines[gap + 1] == "  contract"
    assert lines[gap + 2].startswith("    relevant because siblingGroups is null")
    assert lines[gap + 3].startswith("    close it: declare siblingGroups")


def test_coverage_as_json_is_canonical_and_carries_the_published_records(tmp_path: Path) -> None:
    code, out, err = call("coverage", saved(tmp_path, desk(put("/siblingGroups", None))), "--format", "json")
    assert (code, err) == (0, "")
    report = json.loads(out)
    assert out == json.dumps(report, separators=(",", ":"), sort_keys=True, ensure_ascii=False) + "\n"
    assert report["contractId"] == "loans"
    assert report["severity"] == "material"
    assert [each["rule"] for each in report["rules"]] == list(DISCIPLINE_RULE_IDS)
    assert [gap["rule"] for gap in report["coverageGaps"]] == ["sibling-cross-check"]
    (site,) = report["rules"][4]["sites"]
    assert site["witness"] is None
    assert set(site) == {"place", "because", "witness", "close"}
    assert [each["satisfied"] for each in report["rules"]] == [True] * 4 + [False] + [True] * 2


def test_coverage_reads_standard_input_and_contracts_that_do_not_compile() -> None:
    document = json.dumps(library(put("/oracles/0/check", None))).encode()
    for arguments in ((), ("-",)):
        code, out, _ = call("coverage", *arguments, stdin=document)
        assert code == 0
        assert out.startswith("loans: ")


@pytest.mark.parametrize(
    ("document", "code"),
    [({"schemaVersion": 6}, "schema-version-mismatch"), ({}, "schema-parse-failure")],
)
def test_coverage_of_what_is_no_contract_is_a_fault(document: Any, code: str, tmp_path: Path) -> None:
    outcome = call("coverage", saved(tmp_path, document))
    assert outcome[0] == 5
    assert outcome[1] == ""
    assert outcome[2].startswith(f"eval-quality: {code}: EvalContract")


def test_coverage_shows_author_text_without_terminal_sequences(tmp_path: Path) -> None:
    roles = put(
        "/permittedInterfaces/0/operations/0/responseDescriptor/collectionLocations",
        [
            {
                "pointer": "/it\u001b[31mems",
                "expectedCardinality": {"mode": "at-most", "max": 1},
                "referenceSet": None,
            }
        ],
    )
    code, out, _ = call("coverage", saved(tmp_path, desk(roles)))
    assert code == 0
    assert "\u001b" not in out
    assert "ems" in out


def test_coverage_refuses_another_format(tmp_path: Path) -> None:
    code, _, err = call("coverage", saved(tmp_path, desk()), "--format", "yaml")
    assert code == 64
    assert "yaml" in err


@pytest.mark.parametrize("code", CATALOGUE)
def test_explain_prints_every_entry(code: str) -> None:
    assert call("explain", code) == (0, explanation_text(CATALOGUE[code]), "")


def test_explain_lists_the_codes_and_suggests_for_an_unknown_one() -> None:
    assert call("explain") == (0, catalogue_text(), "")
    code, out, err = call("explain", "waiver-complete")
    assert (code, out) == (64, "")
    assert err.startswith('eval-quality: usage: no code is called "waiver-complete"; did you mean waiver-incomplete')
    assert call("explain", "qqq")[2] == 'eval-quality: usage: no code is called "qqq"\n'
