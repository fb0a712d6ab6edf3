"""The eleven operators, each over resolved operands (spec 05 §5.7).

1. An operator answers true or false, never `insufficient-evidence`: the empty-collection rule has already run.
2. A type mismatch is false, never an error.
3. Three things are raised: `non-canonicalizable-value` by a structural comparison, the faults of `regex`, and
   `ValueError` for operands a compiled contract cannot produce.

Every function takes the resolved operands, then the node's own parameters.
"""

from collections.abc import Iterator
from itertools import pairwise
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
from eval_quality.value.text import utf16_key


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
    # By code point and by code unit differ only where the part begins or ends with half a pair.
    if not part or not (_is_surrogate(part[0]) or _is_surrogate(part[-1])):
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
    allowed = (expected * tolerance) / 100 if relative else tolerance
    return abs(len(collection) - expected) <= allowed


def shape(value: Any, descriptor: Any) -> bool:
    """Required keys present, every key permitted, declared types met; one level deep (§5.7.10)."""
    if not is_object(value):
        return False
    if not all(key in value for key in descriptor.required_keys):
        return False
    permitted = descriptor.permitted_keys
    if not all(key in permitted for key in value):
        return False
    return all(
        declared is None or key not in value or json_type(value[key]) == declared
        for key, declared in descriptor.types.items()
    )


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
    """Whether some member equals the value; the value's key is taken after the first member's, then kept."""
    wanted: StructuralKey = None
    for index, member in enumerate(members):
        key = structural_key(member, artifact_path)
        if index == 0:
            wanted = structural_key(value, artifact_path)
        if key == wanted:
            return True
    return False


def _subset(candidates: list[Any], container: list[Any], artifact_path: str) -> bool:
    """Whether every candidate equals some element, multiplicity ignored; each element's key is taken once."""
    seen: set[StructuralKey] = set()
    unread: Iterator[Any] = iter(container)
    for index, candidate in enumerate(candidates):
        if index == 0 and not _first_is_member(candidate, unread, seen, artifact_path):
            return False
        if index > 0 and not _is_member(structural_key(candidate, artifact_path), unread, seen, artifact_path):
            return False
    return True


def _first_is_member(candidate: Any, unread: Iterator[Any], seen: set[StructuralKey], artifact_path: str) -> bool:
    """The first candidate: an element is digested before it, so an empty container digests nothing."""
    for element in unread:
        seen.add(structural_key(element, artifact_path))
        return _is_member(structural_key(candidate, artifact_path), unread, seen, artifact_path)
    return False


def _is_member(wanted: StructuralKey, unread: Iterator[Any], seen: set[StructuralKey], artifact_path: str) -> bool:
    """Whether a key is among those seen, or among the elements still unread, which are then seen."""
    if wanted in seen:
        return True
    for element in unread:
        key = structural_key(element, artifact_path)
        seen.add(key)
        if key == wanted:
            return True
    return False


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


def _is_surrogate(character: str) -> bool:
    return "\ud800" <= character <= "\udfff"
