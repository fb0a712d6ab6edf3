"""The seal stage's boundary (spec 04 §6): a JSON value in, a sealed brief out."""

from eval_quality.core.compile.entry import read_contract
from eval_quality.core.seal.brief import seal_contract
from eval_quality.model.brief import SealedEvaluatorBrief
from eval_quality.value.depth import room


def seal_value(value: object, strict: bool = True) -> SealedEvaluatorBrief:
    """Read, compile and seal any JSON value.

    Raises what `compile_value` raises, and `RuntimeFault("schema-parse-failure")` at `EvalContract` for a contract
    that compiles but cannot be sealed.
    """
    with room():
        return seal_contract(read_contract(value), strict)
