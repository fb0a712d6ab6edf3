"""Legality of checks and relations (spec 03 §9.1 to §9.3, §9.5 to §9.7).

Arity and field shapes are the schema's. Here: which operand forms an operator takes, what a reference set must
hold, where a bound element means anything, and what a quantifier may run over and contain.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Final, TypeAlias

from eval_quality.core.compile.codes import (
    MALFORMED_OPERATOR_EXPRESSION,
    QUANTIFIER_NESTING_EXCEEDED,
    QUANTIFIER_OVER_NON_COLLECTION,
    UNRESOLVED_REFERENCE_SET,
)
from eval_quality.core.compile.survey import Survey
from eval_quality.core.contract.keys import member_key
from eval_quality.core.contract.operation import AnyOperation, addresses_described
from eval_quality.core.contract.pointer import is_bound, parse_pointer
from eval_quality.core.contract.walk import QUANTIFIERS, Node, OperandSite
from eval_quality.errors import StructuralFailure
from eval_quality.model.contract import ReferenceSetDeclaration
from eval_quality.model.expression import CoversByKey
from eval_quality.value.digest import digest_value

ReferenceSets: TypeAlias = Mapping[str, ReferenceSetDeclaration]

_POINTER: Final = ("pointer",)
_VALUE: Final = ("pointer", "literal")

LEGAL_FORMS: Final[dict[str, tuple[tuple[str, ...], ...]]] = {
    "equality": (_VALUE, _VALUE),
    "deep-equality": (_VALUE, _VALUE),
    "containment": (_POINTER, ("pointer", "literal", "reference-set")),
    "existence": (_POINTER,),
    "absence": (_POINTER,),
    "regex": (_POINTER,),
    "set-membership": (_POINTER, ("literal", "reference-set")),
    "ordering": (_POINTER,),
    "count-tolerance": (_POINTER,),
    "shape": (_POINTER,),
    "covers-by-key": (("reference-set",), _POINTER),
    "for-all": (_POINTER,),
    "for-any": (_POINTER,),
}
"""The operand forms each operator takes, by position (spec 03 §9.1); a quantifier's one operand is its collection."""

_NESTING_REFUSED: Final = (*QUANTIFIERS, "covers-by-key")


def bound_element_scope(survey: Survey) -> StructuralFailure | None:
    """Step 8, §9.5: `@/...` means something only inside a quantifier's predicate."""
    return next(filter(None, (unscoped_operand(site.nodes) for site in survey.oracle_sites)), None)


def unscoped_operand(nodes: Iterable[Node]) -> StructuralFailure | None:
    """§9.5 over one expression: the first bound element outside every quantifier's predicate."""
    for node in nodes:
        for place in node.operands:
            if place.pointer is not None and is_bound(place.pointer) and not node.inside:
                return StructuralFailure(
                    MALFORMED_OPERATOR_EXPRESSION,
                    place.path,
                    f'"{place.pointer}" stands outside every quantifier, so it is bound to no element',
                )
    return None


def operand_legality(survey: Survey) -> StructuralFailure | None:
    """Step 9, §9.2 and §9.3: operand forms, what ordering may read, and the content of reference sets."""
    sets = survey.contract.reference_sets or {}
    return next(filter(None, (illegal_operand(site.nodes, sets) for site in survey.sites)), None)


def illegal_operand(nodes: Iterable[Node], sets: ReferenceSets) -> StructuralFailure | None:
    """§9.2 and §9.3 over one expression, against the declared reference sets."""
    return next(filter(None, (_illegal_node(node, sets) for node in nodes)), None)


def _illegal_node(node: Node, sets: ReferenceSets) -> StructuralFailure | None:
    operator = node.expression.op
    # covers-by-key reads its reference set before its operands, set-membership after them.
    if isinstance(node.expression, CoversByKey):
        failure = _unfit_expected_set(node, node.expression.expected_key, sets)
        if failure is not None:
            return failure
    for place, forms in zip(node.operands, LEGAL_FORMS.get(operator, ()), strict=True):
        if (failure := _illegal_operand(operator, place, forms)) is not None:
            return failure
    return _unfit_member_set(node, sets) if operator == "set-membership" else None


def _illegal_operand(operator: str, place: OperandSite, forms: tuple[str, ...]) -> StructuralFailure | None:
    where = "its collection" if place.position is None else f"operand {place.position}"
    if place.operand.form not in forms:
        return StructuralFailure(
            MALFORMED_OPERATOR_EXPRESSION,
            place.path,
            f"{operator} takes no {place.operand.form} as {where}; it takes {' or '.join(forms)}",
        )
    if operator == "ordering" and place.pointer is not None and _is_sent(place.pointer):
        return StructuralFailure(
            MALFORMED_OPERATOR_EXPRESSION,
            place.path,
            f'ordering reads observed output only, and "{place.pointer}" is what was sent',
        )
    return None


def _is_sent(pointer: str) -> bool:
    return not is_bound(pointer) and parse_pointer(pointer).channel == "call-inputs"


def _declared_set(place: OperandSite, sets: ReferenceSets) -> ReferenceSetDeclaration | None:
    """The declaration an operand names; an undeclared set is left to step 13."""
    return None if place.reference_set is None else sets.get(place.reference_set)


def _unfit_member_set(node: Node, sets: ReferenceSets) -> StructuralFailure | None:
    place = node.operands[1]
    set_id, declared = place.reference_set, _declared_set(place, sets)
    if declared is None:
        return None
    if len(declared.keys) != 1:
        return StructuralFailure(
            MALFORMED_OPERATOR_EXPRESSION,
            place.path,
            f'set-membership needs one key, and reference set "{set_id}" declares {len(declared.keys)}',
        )
    key = declared.keys[0]
    for position, member in enumerate(declared.members):
        if key not in member:
            return StructuralFailure(
                MALFORMED_OPERATOR_EXPRESSION,
                f"EvalContract.referenceSets[id={set_id}].members[{position}]{member_key(key)}",
                f'a member of reference set "{set_id}" lacks its key "{key}"',
            )
    return None


def _unfit_expected_set(node: Node, key: str, sets: ReferenceSets) -> StructuralFailure | None:
    set_id, declared = node.operands[0].reference_set, _declared_set(node.operands[0], sets)
    if declared is None:
        return None
    first_seen: dict[str, int] = {}
    for position, member in enumerate(declared.members):
        path = f"EvalContract.referenceSets[id={set_id}].members[{position}]{member_key(key)}"
        if key not in member:
            return StructuralFailure(
                MALFORMED_OPERATOR_EXPRESSION, path, f'a member of reference set "{set_id}" lacks key "{key}"'
            )
        earlier = first_seen.setdefault(digest_value(member[key], path), position)
        if earlier != position:
            return StructuralFailure(
                MALFORMED_OPERATOR_EXPRESSION,
                path,
                f'members {earlier} and {position} of reference set "{set_id}" have the same "{key}"',
            )
    return None


def quantifier_collections(survey: Survey) -> StructuralFailure | None:
    """Step 11, §9.5: a quantifier does not run over a field declared to be no array."""
    for site in survey.sites:
        failure = non_collection(site.nodes, lambda step_id, site=site: survey.operation_at(site, step_id))
        if failure is not None:
            return failure
    return None


def non_collection(
    nodes: Iterable[Node], operation_at: Callable[[str], AnyOperation | None]
) -> StructuralFailure | None:
    """§9.5 over one expression: the first quantifier over a field declared to be no array."""
    quantifiers = (node for node in nodes if node.expression.op in QUANTIFIERS)
    return next(filter(None, (_non_collection(node, operation_at) for node in quantifiers)), None)


def _non_collection(node: Node, operation_at: Callable[[str], AnyOperation | None]) -> StructuralFailure | None:
    place = node.operands[0]
    pointer = node.pointer(place.operand)
    if pointer is None or is_bound(pointer):
        return None
    parsed = parse_pointer(pointer)
    operation = operation_at(parsed.step_id)
    if operation is None or not addresses_described(parsed, operation) or len(parsed.tail) != 1:
        return None
    declared = operation.response_descriptor.types.get(parsed.tail[0])
    if declared is None or declared == "array":
        return None
    return StructuralFailure(
        QUANTIFIER_OVER_NON_COLLECTION,
        place.path,
        f'"{pointer}" is declared {declared} by operation "{operation.operation_id}", so it has no elements',
    )


def quantifier_nesting(survey: Survey) -> StructuralFailure | None:
    """Step 12, §9.6: no quantifier and no covers-by-key inside a quantifier's predicate."""
    return next(filter(None, (nested_quantifier(site.nodes) for site in survey.sites)), None)


def nested_quantifier(nodes: Iterable[Node]) -> StructuralFailure | None:
    """§9.6 over one expression."""
    for node in nodes:
        if node.inside and node.expression.op in _NESTING_REFUSED:
            return StructuralFailure(
                QUANTIFIER_NESTING_EXCEEDED,
                node.path,
                f"{node.expression.op} stands inside another quantifier's predicate",
            )
    return None


def reference_set_resolution(survey: Survey) -> StructuralFailure | None:
    """Step 13, §9.7: every reference set an operand names is declared."""
    declared = survey.contract.reference_sets or {}
    for site in survey.sites:
        for node in site.nodes:
            for place in node.operands:
                if place.reference_set is not None and place.reference_set not in declared:
                    return StructuralFailure(
                        UNRESOLVED_REFERENCE_SET,
                        place.path,
                        f'the contract declares no reference set "{place.reference_set}"',
                    )
    return None
