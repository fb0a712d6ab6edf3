"""Whether the brief can name every step it must (spec 03 §15).

The rule has no implementation of its own: the code means that the renderer of spec 04 §7 cannot tell two steps of
one operation apart. Only the path changes, from the plan to the oracle that asked.
"""

from eval_quality.core.compile.survey import Survey, oracle_path
from eval_quality.core.direction.evidence import EvidenceRenderer
from eval_quality.errors import StructuralFailure


def step_references(survey: Survey) -> StructuralFailure | None:
    """Step 32: render every direction's evidence clause."""
    renderer = EvidenceRenderer(survey.index)
    for oracle in survey.contract.oracles:
        if oracle.direction is None or not oracle.direction.evidence_targets:
            continue
        try:
            renderer.clause(oracle.direction.evidence_targets)
        except StructuralFailure as failure:
            return StructuralFailure(failure.code, f"{oracle_path(oracle)}.direction.evidenceTargets", failure.detail)
    return None
