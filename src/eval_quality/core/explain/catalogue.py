"""Every code a user can meet, explained once, in the order of the registries."""

from collections.abc import Callable
from copy import deepcopy
from typing import Any, Final

from eval_quality.core.explain.base import base_contract
from eval_quality.core.explain.discipline import DISCIPLINE
from eval_quality.core.explain.failures import STRUCTURAL_FAILURES
from eval_quality.core.explain.faults import (
    AGGREGATION_REFUSALS,
    BASE_EVALUATION,
    BASE_MANIFEST,
    BASE_PORT,
    BASE_TARGET,
    BASE_TEXT,
    RUNTIME_FAULTS,
)
from eval_quality.core.explain.preflight import PREFLIGHT, base_preflight
from eval_quality.core.explain.probe import base_probe
from eval_quality.core.explain.qualification import QUALIFICATION
from eval_quality.core.explain.record import Explanation, Subject
from eval_quality.core.explain.twin_run import RUN_CODES

CATALOGUE: Final[dict[str, Explanation]] = {
    entry.code: entry
    for entry in (
        *STRUCTURAL_FAILURES,
        *RUNTIME_FAULTS,
        *AGGREGATION_REFUSALS,
        *DISCIPLINE,
        *PREFLIGHT,
        *QUALIFICATION,
    )
}
"""Code -> explanation. No code belongs to two families."""

BASES: Final[dict[Subject, Callable[[], Any]]] = {
    "contract": base_contract,
    "brief": base_contract,
    "coverage": base_contract,
    "probe": base_probe,
    "preflight": base_preflight,
    "text": lambda: deepcopy(BASE_TEXT),
    "evaluation": lambda: deepcopy(BASE_EVALUATION),
    "manifest": lambda: deepcopy(BASE_MANIFEST),
    "target": lambda: deepcopy(BASE_TARGET),
    "port": lambda: deepcopy(BASE_PORT),
}
"""The base document of each subject, fresh at every call. An aggregation example starts from a scored artifact."""


def nearest(code: str) -> tuple[str, ...]:
    """Codes that share the most words with an unknown one, best first, three at most; none where no word is shared."""
    words = set(code.lower().replace("_", "-").split("-"))
    ranked = sorted((*CATALOGUE, *RUN_CODES), key=lambda known: -len(words & set(known.split("-"))))
    return tuple(known for known in ranked[:3] if words & set(known.split("-")))
