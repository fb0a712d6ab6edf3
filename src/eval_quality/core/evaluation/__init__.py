"""Three-valued evaluation of check expressions over selected evidence (spec 05)."""

from eval_quality.core.evaluation.absent import ABSENT
from eval_quality.core.evaluation.collection import make_operation_denotes_collection, make_pointer_denotes_collection
from eval_quality.core.evaluation.evaluate import resolve_check
from eval_quality.core.evaluation.operand import make_resolve_operand
from eval_quality.core.evaluation.reference_sets import reference_set_keys_of, reference_set_members_of

__all__ = [
    "ABSENT",
    "make_operation_denotes_collection",
    "make_pointer_denotes_collection",
    "make_resolve_operand",
    "reference_set_keys_of",
    "reference_set_members_of",
    "resolve_check",
]
