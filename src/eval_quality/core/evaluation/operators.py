"""The eleven operators, each over resolved operands (spec 05 §5.7).

1. An operator answers true or false, never `insufficient-evidence`: the empty-collection rule has already run.
2. A type mismatch is false, never an error.
3. Three things are raised: `non-canonicalizable-value` by a structural comparison, the faults of `regex`, and
   `ValueError` for operands a compiled contract cannot produce.

Every function takes the resolved operands, then the node's own parameters.
"""

from itertools import islice, pairwise
from typing import Any

from eval_quality.core.evaluation.absent import ABSENT
from eval_quality.core.evaluation.structure import (
    StructuralKey,
    same_number,
    structural_key,
    structurally_equal,
)
from eval_quality.value.compare import json_type
from eval_quality.value.kind import is_array, is_object
from eval_quality.value.text import has_surrogates, utf16_key


def existence(value: Any) -> bool:
    """Whether the operand addressed anything; `null` exists (§5.7.1)."""
    return value is not ABSENT


def absence(value: Any) -> bool:
    """The exact complement of `existence` (§5.7.2)."""
    return value is ABSENT


def equality(left: Any, right: Any, artifact_path: str) -> bool:
    """One kind and one value; containers by structure, scalars without a digest (§5.7.3)."""
    if left is ABSENT or right is ABSENT:
        return False
    if left.__class__ is str and right.__class__ is str:
        return left == right
    kind = json_type(left)
    if kind != json_type(right):
        return False
    if kind == "number":
        return same_number(left, right)
    if kind == "array" or kind == "object":
        return structurally_equal(left, right, artifact_path)
    return left == right


def deep_equality(left: Any, right: Any, artifact_path: str) -> bool:
    """Structural equality, scalars included, so a scalar outside the canonical domain raises (§5.7.4)."""
    return left is not ABSENT and right is not ABSENT and structurally_equal(left, right, artifact_path)


def containment(container: Any, candidate: Any, artifact_path: str) -> bool:
    """Subset for an array candidate, else substring or member; an object key is not contained (§5.7.5)."""
    if container is ABSENT:
        return False
    if is_array(candidate):
        return is_array(container) and _subset(candidate, container, artifact_path)
    if candidate is ABSENT:
        return False
    if isinstance(container, str):
        return isinstance(candidate, str) and contains_text(container, candidate)
    return is_array(container) and _member(candidate, container, artifact_path)


def contains_text(text: str, part: str) -> bool:
    """Substring by UTF-16 code unit: half an astral character is a part of it."""
    if part in text:
        return True
    # Code points and code units find the same unless some half of an astral character stands alone.
    if not (has_surrogates(part) or has_surrogates(text)):
        return False
    whole, wanted = utf16_key(text), utf16_key(part)
    found = whole.find(wanted)
    while found % 2:
        if found < 0:
            return False
        found = whole.find(wanted, found + 1)
    return True


def set_membership(value: Any, members: Any, artifact_path: str) -> bool:
    """Whether some member is structurally equal to the value; each member is digested before it (§5.7.7).

    Raises `ValueError` when the set is not an array: only an undeclared reference set gets here.
    """
    if value is ABSENT:
        return False
    if not is_array(members):
        raise ValueError("the set of a set-membership check is not an array")
    return _member(value, members, artifact_path)


def ordering(collection: Any, key: str, order: str) -> bool:
    """Every adjacent pair in order, ties allowed; numbers, or strings by code unit (§5.7.8)."""
    if not is_array(collection):
        return False
    for left, right in pairwise(collection):
        if not (_owns(left, key) and _owns(right, key)):
            return False
        low, high = left[key], right[key]
        if order == "descending":
            low, high = high, low
        if not _at_most(low, high):
            return False
    return True


def count_tolerance(collection: Any, expected: int, tolerance: int, relative: bool) -> bool:
    """Whether the length is within the tolerance, which is a count or whole percent of `expected` (§5.7.9)."""
    if not is_array(collection):
        return False
    allowed = float(expected) * tolerance / 100 if relative else tolerance
    return abs(len(collection) - expected) <= allowed


def shape(value: Any, descriptor: Any) -> bool:
    """Required keys present, every key permitted, declared types met; one level deep (§5.7.10)."""
    if not is_object(value):
        return False
    for key in descriptor.required_keys:
        if key not in value:
            return False
    for key in value:
        if key not in descriptor.permitted_keys:
            return False
    for key, declared in descriptor.types.items():
        if declared is not None and key in value and json_type(value[key]) != declared:
            return False
    return True


def covers_by_key(expected: Any, actual: Any, expected_key: str, actual_key: str, artifact_path: str) -> bool:
    """Whether the expected key values and the actual ones are one to one (§5.7.11 step 4)."""
    if expected is ABSENT or not is_array(actual):
        return False
    unmatched: set[StructuralKey | tuple[str, int]] = set()
    for index, row in enumerate(actual):
        # A row without the key still takes a slot, which nothing can match.
        key = structural_key(row[actual_key], artifact_path) if _owns(row, actual_key) else ("keyless", index)
        if key in unmatched:
            return False
        unmatched.add(key)
    for member in expected:
        if not _owns(member, expected_key):
            return False
        key = structural_key(member[expected_key], artifact_path)
        if key not in unmatched:
            return False
        unmatched.remove(key)
    return not unmatched


def _member(value: Any, members: list[Any], artifact_path: str) -> bool:
    """Whether some member equals the value, whose key is taken once, after the first member's."""
    if not members:
        return False
    first = structural_key(members[0], artifact_path)
    wanted = structural_key(value, artifact_path)
    return first == wanted or any(
        structural_key(member, artifact_path) == wanted for member in islice(members, 1, None)
    )


def _subset(candidates: list[Any], container: list[Any], artifact_path: str) -> bool:
    """Whether every candidate equals some element, multiplicity ignored.

    Each element's key is taken once, in order, and no further than the search needs; the first element's before any
    candidate's.
    """
    seen: set[StructuralKey] = set()
    unread = iter(container)
    for element in islice(unread, 1):
        seen.add(structural_key(element, artifact_path))
    for candidate in candidates if seen else ():
        wanted = structural_key(candidate, artifact_path)
        while wanted not in seen:
            element = next(unread, ABSENT)
            if element is ABSENT:
                return False
            seen.add(structural_key(element, artifact_path))
    return bool(seen) or not candidates


def _owns(value: Any, key: str) -> bool:
    return is_object(value) and key in value


def _at_most(low: Any, high: Any) -> bool:
    """Whether both are numbers, or both strings, and `low` does not come after `high`."""
    kind = json_type(low)
    if kind != json_type(high):
        return False
    if kind == "number":
        return low <= high or same_number(low, high)
    return kind == "string" and utf16_key(low) <= utf16_key(high)
