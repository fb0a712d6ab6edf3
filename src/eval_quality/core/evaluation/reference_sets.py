"""Reference sets as operands (spec 05 §5.6.4).

1. Two maps are derived from a contract: identifier to members, identifier to declared keys.
2. `covers-by-key`, `containment` and quantifiers see the members whole.
3. `set-membership` sees them projected to the value of the set's single declared key. The projection comes before the
   empty-collection rule and keeps the length. A compiled contract always projects: the two refusals below are the
   caller's error, not a fault.
"""

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from eval_quality.model.contract import EvalContract
from eval_quality.value.kind import is_array

ReferenceSetMembers: TypeAlias = Mapping[str, Sequence[Any]]
ReferenceSetKeys: TypeAlias = Mapping[str, Sequence[str]]


def reference_set_members_of(contract: EvalContract) -> dict[str, Sequence[Any]]:
    """Every declared set's members by set identifier; empty when the contract declares none."""
    declared = contract.reference_sets
    return {} if declared is None else {name: declaration.members for name, declaration in declared.items()}


def reference_set_keys_of(contract: EvalContract) -> dict[str, Sequence[str]]:
    """Every declared set's keys by set identifier; empty when the contract declares none."""
    declared = contract.reference_sets
    return {} if declared is None else {name: declaration.keys for name, declaration in declared.items()}


def project(set_id: str, members: Any, keys: ReferenceSetKeys) -> Any:
    """The members reduced to the set's key values; an undeclared set passes through.

    Raises `ValueError` when the set declares several keys or a member lacks the key.
    """
    declared = keys.get(set_id)
    if declared is None or not is_array(members):
        return members
    if len(declared) != 1:
        raise ValueError(f'reference set "{set_id}" declares {len(declared)} keys; set membership reads exactly one')
    (key,) = declared
    values: list[Any] = []
    for member in members:
        if key not in member:
            raise ValueError(f'a member of reference set "{set_id}" lacks its key "{key}"')
        values.append(member[key])
    return values
