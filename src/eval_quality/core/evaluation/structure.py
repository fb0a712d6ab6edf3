"""Equality of numbers and structural equality, as the evaluator sees them (spec 05 §5.1.2, §5.1.3).

1. Two values are structurally equal when their artifact digests are equal. `structural_key` stands for the digest:
   equal keys exactly where the canonical bytes are equal, and the same fault where there are none. A scalar's key
   costs no serialization; a container's key is its canonical bytes.
2. Two numbers are equal when they are one binary64, whatever their spelling.

Not here: which values an operator compares, and in which order (`operators`).
"""

from typing import Any, TypeAlias

from eval_quality.value.canonical import canonicalize
from eval_quality.value.domain import MAX_SAFE_INTEGER

StructuralKey: TypeAlias = str | bytes | tuple[str, bool | float] | None
"""Hashable; the Python types keep the JSON kinds apart, so `True`, `1` and `"1"` are three keys."""


def same_number(left: float, right: float) -> bool:
    """Whether two JSON numbers are one binary64 (spec 05 §5.1.2)."""
    if left == right:
        return True
    if -MAX_SAFE_INTEGER <= left <= MAX_SAFE_INTEGER:
        return False
    return _binary64(left) == _binary64(right)


def _binary64(number: float) -> float:
    """The nearest double; an integer too large for one is infinite, as ECMAScript reads such a literal."""
    try:
        return float(number)
    except OverflowError:
        return float("inf") if number > 0 else float("-inf")


def structural_key(value: Any, artifact_path: str) -> StructuralKey:
    """A hashable stand-in for `value`'s artifact digest.

    Raises `RuntimeFault non-canonicalizable-value` at `artifact_path` for a value outside the canonical domain
    (spec 01 §2).
    """
    kind: type[Any] = value.__class__
    if kind is str:
        if value.isascii():
            return value
        canonicalize(value, artifact_path)
        return value
    if kind is bool:
        return ("boolean", value)
    if kind is int or kind is float:
        # A fraction is always inside the safe range, so only the bound has to be tested; NaN fails it too.
        if -MAX_SAFE_INTEGER <= value <= MAX_SAFE_INTEGER:
            return ("number", value)
        canonicalize(value, artifact_path)
    if value is None:
        return None
    return canonicalize(value, artifact_path)


def structurally_equal(left: Any, right: Any, artifact_path: str) -> bool:
    """Whether two JSON values have one digest, taken left first, then right (spec 05 §5.1.3).

    Raises `RuntimeFault non-canonicalizable-value`.
    """
    return structural_key(left, artifact_path) == structural_key(right, artifact_path)
