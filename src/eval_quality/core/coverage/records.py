"""Rules 4 and 6: what is asked of the collections an answer holds (spec 04 §3.4, §3.6).

`per-record`: some quantifier runs over the collection itself, so that every element is looked at.
`omission-and-completeness`: where the collection is reconciled with a reference set, the form of the check fits how
much of the collection an answer holds. Neither consults a direction.
"""

from collections.abc import Callable, Iterator
from typing import TypeAlias

from eval_quality.core.contract.operation import DeclaredOperation
from eval_quality.core.contract.walk import Node
from eval_quality.core.coverage.site import NO_OPERATION, Site, place_of
from eval_quality.core.coverage.view import CoverageView, descriptor_pointer
from eval_quality.model.expression import CoversByKey, ForAll, ForAny, SetMembership
from eval_quality.model.interface import CollectionLocation

_Proves: TypeAlias = Callable[[Node, str], bool]


def per_record(view: CoverageView) -> Iterator[Site]:
    """One site per declared collection, or per operation that does not say whether it has any."""
    for declared, location in _locations(view):
        if location is None:
            yield _undeclared(declared)
        else:
            yield Site(
                _place(declared, location),
                "the answer holds a collection there",
                _witness(view, declared, location, _runs_over),
                "let some check run for-all or for-any over exactly that collection",
            )
    if not view.operations:
        yield NO_OPERATION


def completeness(view: CoverageView) -> Iterator[Site]:
    """One site per collection that names a reference set, or per operation that does not say whether it has any."""
    for declared, location in _locations(view):
        if location is None:
            yield _undeclared(declared)
        elif location.reference_set is not None:
            mode = location.expected_cardinality.mode
            form = (
                "covers-by-key with that set and that collection"
                if mode == "exact"
                else ("for-all over that collection whose predicate is set-membership in that set")
            )
            yield Site(
                _place(declared, location),
                f'the {mode} collection is reconciled with reference set "{location.reference_set}"',
                _witness(view, declared, location, _reconciles(location.reference_set, mode == "exact")),
                f"let some check be {form}",
            )
    if not view.operations:
        yield NO_OPERATION


def _locations(view: CoverageView) -> Iterator[tuple[DeclaredOperation, CollectionLocation | None]]:
    for declared in view.operations:
        locations = declared.operation.response_descriptor.collection_locations
        if locations is None:
            yield declared, None
        else:
            yield from ((declared, location) for location in locations)


def _undeclared(declared: DeclaredOperation) -> Site:
    return Site(
        place_of(declared),
        "collectionLocations is null, so nothing says whether the answer holds a collection",
        None,
        "declare collectionLocations; [] says that the answer holds none",
    )


def _place(declared: DeclaredOperation, location: CollectionLocation) -> str:
    return f'{place_of(declared)}, collection "{location.pointer}"'


def _witness(
    view: CoverageView, declared: DeclaredOperation, location: CollectionLocation, proves: _Proves
) -> str | None:
    for step in view.steps(declared):
        collection = descriptor_pointer(step.step_id, declared.operation, location.pointer)
        for at in sorted(view.in_check(collection)):
            oracle = view.oracles[at]
            if any(proves(node, collection) for node in oracle.nodes):
                return f"oracle {oracle.oracle.id} at step {step.step_id}"
    return None


def _runs_over(node: Node, collection: str) -> bool:
    return isinstance(node.expression, ForAll | ForAny) and node.pointer(node.expression.collection) == collection


def _reconciles(set_id: str, exact: bool) -> _Proves:
    def covers(node: Node, collection: str) -> bool:
        if not isinstance(node.expression, CoversByKey):
            return False
        expected, actual = node.expression.operands
        return expected.reference_set == set_id and node.pointer(actual) == collection

    def admits(node: Node, collection: str) -> bool:
        predicate = node.expression.predicate if isinstance(node.expression, ForAll) else None
        return (
            isinstance(predicate, SetMembership)
            and predicate.operands[1].reference_set == set_id
            and _runs_over(node, collection)
        )

    return covers if exact else admits
