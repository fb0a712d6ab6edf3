"""The public development corpus and the worked chains: compile, coverage and seal give what their index states."""

import hashlib
import json
from typing import Any

import pytest

from eval_quality.core.compile.entry import compile_value, read_contract
from eval_quality.core.coverage.evaluate import coverage_gaps
from eval_quality.core.seal.entry import seal_value
from eval_quality.model.decode import to_value
from eval_quality.value.canonical import canonicalize
from eval_quality.value.digest import digest_value
from support import reference
from support.contracts import error_of, gaps, verdict

pytestmark = reference.present

# Artifact path of the three refusals and open coverage rules, as the reference's own description tables them.
RESULTS: dict[str, tuple[str, list[int]]] = {
    "absent-sibling-groups": ("ok", [5]),
    "checklist-selection": ("ok", [3, 5]),
    "empty-channel-roles": ("ok", []),
    "empty-request-shapes": (
        "unreachable-check-evidence @ EvalContract.oracles[id=O-005].check.operands[0].operands[0]",
        [],
    ),
    "fragment-selection": ("ok", [3, 4, 5]),
    "no-operation-inventory": (
        "unreachable-check-evidence @ EvalContract.oracles[id=O-001].check.operands[1]",
        [1, 2, 3, 4, 6, 7],
    ),
    "no-state-change-marker": ("undeclared-mandatory-input @ EvalContract.permittedInterfaces[0].operations[0]", []),
    "notes-tool-server": ("ok", []),
    "satisfied-declarations": ("ok", []),
    "unnamed-reference-set": ("ok", []),
}
CHAINS = ("worked/skill-defect", "worked/spike-worked-example", "corpus-dev/compile-seal-example")


def chain_contract(chain: str) -> Any:
    name = "contract.json" if chain.startswith("corpus-dev") else "eval-contract.json"
    return reference.load(f"{chain}/{name}")


@pytest.mark.parametrize("name", RESULTS)
def test_s20_6_a_corpus_contract_compiles_as_published(name: str) -> None:
    document = reference.load(f"corpus-dev/contracts/{name}.json")
    expected, rules = RESULTS[name]
    assert verdict(document) == expected
    assert gaps(document) == rules
    if expected == "ok":
        assert digest_value(to_value(compile_value(document)), "x") == digest_value(document, "x")


def test_s20_6_every_corpus_contract_is_tabled_and_the_index_agrees() -> None:
    present = {path.stem for path in (reference.ROOT / "corpus-dev" / "contracts").glob("*.json")}
    assert present == set(RESULTS)
    for entry in reference.load("corpus-dev/index.json")["entries"]:
        path = reference.ROOT / "corpus-dev" / entry["path"].removeprefix("corpus/dev/")
        if path.stem not in RESULTS or not path.exists():
            continue
        assert "sha256:" + hashlib.sha256(path.read_bytes()).hexdigest() == entry["digest"]
        error = error_of(json.loads(path.read_bytes()))
        assert (None if error is None else error.code) == entry.get("structuralFailure")


def test_s20_6_a_missing_marker_compiles_without_strict_inputs() -> None:
    document = reference.load("corpus-dev/contracts/no-state-change-marker.json")
    assert verdict(document, strict=False) == "ok"


@pytest.mark.parametrize("chain", CHAINS)
def test_s12_6_the_public_briefs_are_reproduced_byte_for_byte(chain: str) -> None:
    brief = canonicalize(to_value(seal_value(chain_contract(chain))), "SealedEvaluatorBrief")
    assert brief == canonicalize(reference.load(f"{chain}/brief.json"), "SealedEvaluatorBrief")


@pytest.mark.parametrize("chain", CHAINS[:2])
def test_s12_6_the_published_coverage_gaps_are_reproduced(chain: str) -> None:
    found = [to_value(gap) for gap in coverage_gaps(read_contract(chain_contract(chain)))]
    assert found == reference.load(f"{chain}/evidence-artifact.json")["coverageGaps"]


def test_the_skill_chains_contract_is_the_corpus_contract() -> None:
    one, other = chain_contract(CHAINS[0]), reference.load("corpus-dev/contracts/checklist-selection.json")
    assert digest_value(one, "x") == digest_value(other, "x")
