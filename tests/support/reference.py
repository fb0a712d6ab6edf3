"""The public reference data beside the checkout (never copied into it). Tests that need it skip, loudly, without it."""

import json
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[3] / "shared" / "reference"

present = pytest.mark.skipif(not ROOT.is_dir(), reason=f"REFERENCE DATA ABSENT: {ROOT} is not there")


def load(name: str) -> Any:
    """One reference document, by its path below the reference directory."""
    return json.loads((ROOT / name).read_text(encoding="utf-8"))


def documents() -> dict[str, str]:
    """Path below the reference directory -> registry key, of every artifact there; empty where it is absent."""
    kinds = {
        "eval-contract.json": "eval-contract",
        "contract.json": "eval-contract",
        "brief.json": "sealed-evaluator-brief",
        "probe.json": "probe",
        "sealed-run-record.json": "sealed-run-record",
        "evidence-artifact.json": "evidence-artifact",
        "preflight-verdict.json": "preflight-verdict",
        "default-scoring-policy.json": "scoring-policy",
    }
    paths = [
        *sorted(ROOT.glob("worked/*/*.json")),
        *sorted(ROOT.glob("corpus-dev/**/*.json")),
        *sorted(ROOT.glob("derived/*.json")),
    ]
    found: dict[str, str] = {}
    for path in paths:
        kind = "eval-contract" if path.parent.name == "contracts" else kinds.get(path.name)
        if kind is not None:
            found[path.relative_to(ROOT).as_posix()] = kind
    return found
