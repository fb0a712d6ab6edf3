"""The compile stage's boundary (spec 03 §1.1): a JSON value in, a compiled contract out."""

from eval_quality.core.compile.sequence import compile_contract
from eval_quality.model.contract import EvalContract
from eval_quality.model.decode import decode
from eval_quality.model.stamp import check_stamp
from eval_quality.value.depth import room


def read_contract(value: object) -> EvalContract:
    """Read any JSON value as a contract: its stamp first, on the raw value, then its shape (§1.1 steps 1 and 2)."""
    check_stamp("eval-contract", value, "EvalContract")
    return decode(EvalContract, value, "EvalContract")


def compile_value(value: object, strict: bool = True) -> EvalContract:
    """Read and compile any JSON value.

    Raises `RuntimeFault`: `schema-version-mismatch` at `EvalContract.schemaVersion` (looked at first, on the raw
    value), then `schema-parse-failure` at `EvalContract` with all issues as its cause; and `StructuralFailure`.
    The input is never changed and shares nothing with the result.
    """
    with room():
        return compile_contract(read_contract(value), strict)
