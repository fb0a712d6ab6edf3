"""The public example checks do what the product documents say of them."""

from pathlib import Path
from typing import Any

import pytest

from eval_quality.value.scan import scan
from support.evaluation import answer, observation

EXAMPLES = Path(__file__).parents[3].parent / "shared" / "reference" / "product-examples"

pytestmark = pytest.mark.skipif(not EXAMPLES.is_dir(), reason="the public reference data is not beside the checkout")


def read(name: str) -> Any:
    return scan((EXAMPLES / name).read_bytes(), name)


def notes(entries: Any) -> Any:
    return observation(artifacts={"notes": {"kind": "json", "value": {"summary": "", "entries": entries}}})


def test_the_witness_fires_on_an_empty_list_and_not_on_another() -> None:
    witness = read("manifest-empty-on-malformed.witness.json")
    assert answer(witness["relation"], {witness["legId"]: notes([])}) == "true"
    assert answer(witness["relation"], {witness["legId"]: notes([{"id": 1}])}) == "false"
    assert answer(witness["relation"], {witness["legId"]: observation()}) == "false"


def selected(*names: str) -> Any:
    return {"frontend-case": observation(stdout={"kind": "json", "value": {"selected": list(names)}})}


RIGHT = ("selector-resilience.md", "timing-debugging.md", "test-quality.md")


@pytest.mark.parametrize(
    ("names", "inclusion", "exclusion"),
    [
        (RIGHT, "true", "true"),
        ((*RIGHT, "mobile-flows.md"), "true", "false"),
        (RIGHT[:2], "false", "true"),
        ((), "insufficient-evidence", "insufficient-evidence"),
    ],
)
def test_containment_alone_is_satisfied_by_a_reply_that_names_everything(
    names: tuple[str, ...], inclusion: str, exclusion: str
) -> None:
    assert answer(read("inclusion.check.json"), selected(*names)) == inclusion
    assert answer(read("exclusion.oracle.json")["check"], selected(*names)) == exclusion


def test_the_signature_fires_on_a_clean_exit() -> None:
    predicate = read("exit-code.signature.json")["condition"]["predicate"]
    assert answer(predicate, {"observed": observation(exitCode=0)}) == "true"
    assert answer(predicate, {"observed": observation(exitCode=2)}) == "false"
    assert answer(predicate, {"observed": observation()}) == "false"
