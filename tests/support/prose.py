"""Directions said aloud: `said` and `clause` over the plan of any contract, whatever its own oracles say."""

from typing import Any

from eval_quality.core.compile.entry import read_contract
from eval_quality.core.contract.plan import PlanIndex
from eval_quality.core.direction.evidence import EvidenceRenderer
from eval_quality.core.direction.text import direction_text
from eval_quality.model.contract import Direction
from eval_quality.model.decode import decode


def renderer(document: Any) -> EvidenceRenderer:
    return EvidenceRenderer(PlanIndex(read_contract(document)))


def said(document: Any, *targets: str, **over: Any) -> str:
    """The text of a direction over some targets, whatever the contract's own oracles say."""
    direction = {
        "evidenceTargets": [f"/interactions/{target}" for target in targets],
        "relation": "equality",
        "polarity": "expects-hold",
        "scope": None,
        "negativeDomain": None,
        **over,
    }
    return direction_text(decode(Direction, direction, "Direction"), renderer(document))


def clause(document: Any, *targets: str) -> str:
    return renderer(document).clause([f"/interactions/{target}" for target in targets])
