"""The public skill chain's verdict, reproduced byte for byte (spec 06 §6.10)."""

from pathlib import Path
from typing import Any

import pytest

from eval_quality.core.preflight.entry import preflight_from_observations
from eval_quality.model.decode import to_value
from eval_quality.value.canonical import canonicalize
from eval_quality.value.digest import digest_value
from eval_quality.value.scan import scan

REFERENCE = Path(__file__).parents[3].parent / "shared" / "reference"

pytestmark = pytest.mark.skipif(not REFERENCE.is_dir(), reason="the public reference data is not beside the checkout")


def read(name: str) -> Any:
    return scan((REFERENCE / name).read_bytes(), name)


def test_s6_10_the_skill_chains_verdict() -> None:
    verdict = preflight_from_observations(
        contract=read("worked/skill-defect/eval-contract.json"),
        probes=[read("worked/skill-defect/probe.json")],
        run_id="skill-defect-run-0001",
        observations=read("derived/skill-defect-observations.json"),
    )
    published = read("worked/skill-defect/preflight-verdict.json")
    assert canonicalize(to_value(verdict), "x") == canonicalize(published, "x")
    assert digest_value(to_value(verdict), "x") == (
        "sha256:5107cccb89c368ad2c6870ad7f289fe9707c778dcc494df08a9480d5db9b0095"
    )
