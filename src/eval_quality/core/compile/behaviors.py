"""Behaviour declarations (spec 03 §6)."""

from eval_quality.core.compile.codes import MISSING_REQUIREMENT_LINKAGE, NO_OBSERVABLE_SUCCESS_CRITERION
from eval_quality.core.compile.survey import Survey
from eval_quality.errors import StructuralFailure


def requirement_linkage(survey: Survey) -> StructuralFailure | None:
    """§6.1: every behaviour links to a requirement or to a risk."""
    for behavior in survey.contract.behaviors:
        if not behavior.requirement_links and not behavior.risk_links:
            return StructuralFailure(
                MISSING_REQUIREMENT_LINKAGE,
                f"EvalContract.behaviors[id={behavior.id}]",
                "the behaviour declares neither a requirement link nor a risk link",
            )
    return None


def observable_success_criterion(survey: Survey) -> StructuralFailure | None:
    """§6.2: every behaviour says how its success shows; the empty text is an answer."""
    for behavior in survey.contract.behaviors:
        if behavior.observable_success_criterion is None:
            return StructuralFailure(
                NO_OBSERVABLE_SUCCESS_CRITERION,
                f"EvalContract.behaviors[id={behavior.id}].observableSuccessCriterion",
                "the behaviour declares no observable success criterion",
            )
    return None
