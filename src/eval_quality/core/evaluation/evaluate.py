"""One check expression reduced to one three-valued answer (spec 05 §5.5, §5.6).

1. Leaf: resolve all operands left to right; if one trips the empty-collection rule the node is `insufficient-evidence`
   and the operator does not run; else the operator's answer. `covers-by-key` has its own rule.
2. `not`, `all`, `any`: evaluate every operand, left to right, then fold. Nothing short-circuits: each answer is kept.
3. `for-all`, `for-any`: the predicate once per element of the collection, then fold; no element, no answer.
4. `all` prefers false, then `insufficient-evidence`; `any` prefers `insufficient-evidence`, then true: a sibling that
   holds never rescues a child that examined nothing.

A fault of an operator escapes unchanged. Nothing here reads a clock, an environment or a file.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from msgspec import UNSET

from eval_quality.core.evaluation import operators, regex
from eval_quality.core.evaluation.absent import ABSENT
from eval_quality.core.evaluation.collection import PointerDenotesCollection
from eval_quality.core.evaluation.operand import ResolveOperand
from eval_quality.core.evaluation.reference_sets import ReferenceSetKeys, project
from eval_quality.model.expression import (
    Absence,
    All,
    Any_,
    CheckResolution,
    Containment,
    CountTolerance,
    CoversByKey,
    DeepEquality,
    Equality,
    Existence,
    ForAll,
    ForAny,
    Not,
    Ordering,
    Regex,
    SetMembership,
    Shape,
)
from eval_quality.value.depth import room
from eval_quality.value.kind import is_array

Resolution: TypeAlias = Literal["true", "false", "insufficient-evidence"]
_Order: TypeAlias = tuple[Resolution, Resolution, Resolution]

_TRUE: Final = CheckResolution(resolution="true", introduction_condition=None, children=())
_FALSE: Final = CheckResolution(resolution="false", introduction_condition=None, children=())
_EMPTY: Final = CheckResolution(
    resolution="insufficient-evidence", introduction_condition="empty-collection", children=()
)

_NEGATION: Final[Mapping[Resolution, Resolution]] = {
    "true": "false",
    "false": "true",
    "insufficient-evidence": "insufficient-evidence",
}
_ALL_ORDER: Final[_Order] = ("false", "insufficient-evidence", "true")
_ANY_ORDER: Final[_Order] = ("insufficient-evidence", "true", "false")


class _Evaluation(NamedTuple):
    """What every node of one tree is evaluated with."""

    resolve: ResolveOperand
    denotes_collection: PointerDenotesCollection
    reference_set_keys: ReferenceSetKeys
    regex_step_budget: int
    artifact_path: str


_Rule = Callable[[_Evaluation, Any, Any], CheckResolution]


def resolve_check(
    expression: Any,
    resolve_operand: ResolveOperand,
    pointer_denotes_collection: PointerDenotesCollection,
    reference_set_keys: ReferenceSetKeys,
    regex_step_budget: int,
    artifact_path: str,
) -> CheckResolution:
    """Evaluate an expression over already selected evidence; the result tree mirrors the expression.

    Raises `RuntimeFault` at `artifact_path` (spec 05 §5.8): `non-canonicalizable-value`,
    `operator-cannot-accept-operand`, `budget-exhausted`. Raises `TypeError` or `ValueError` for what a compiled
    contract cannot hold.
    """
    evaluation = _Evaluation(
        resolve_operand, pointer_denotes_collection, reference_set_keys, regex_step_budget, artifact_path
    )
    try:
        return _node(evaluation, expression, ABSENT)
    except RecursionError:
        # Few trees are deep, and making room costs as much as evaluating a small one. Nothing here has a side effect,
        # so a tree that turned out deep is evaluated again.
        with room():
            return _node(evaluation, expression, ABSENT)


def _node(evaluation: _Evaluation, expression: Any, bound: Any) -> CheckResolution:
    rule = _RULES.get(expression.__class__)
    if rule is None:
        raise TypeError(f"{type(expression).__name__} is not a check expression")
    return rule(evaluation, expression, bound)


# 1. Leaves (spec 05 §5.6.1). One rule for one operand and one for two: this is where an evaluation spends its time.


def _unary(needs_a_member: bool, holds: Callable[[_Evaluation, Any, Any], bool]) -> _Rule:
    """An operator of one operand behind the empty-collection rule."""

    def rule(evaluation: _Evaluation, expression: Any, bound: Any) -> CheckResolution:
        (operand,) = expression.operands
        value = evaluation.resolve(operand, bound)
        if value is ABSENT:
            if operand.pointer is not UNSET and evaluation.denotes_collection(operand.pointer):
                return _EMPTY
        elif needs_a_member and not value and isinstance(value, list):
            return _EMPTY
        return _TRUE if holds(evaluation, expression, value) else _FALSE

    return rule


def _binary(
    holds: Callable[[_Evaluation, Any, Any, Any], bool],
    prepare: Callable[[_Evaluation, Any, Any], Any] | None = None,
) -> _Rule:
    """An operator of two operands, all of which need a member; `prepare` changes the second before the rule."""

    def rule(evaluation: _Evaluation, expression: Any, bound: Any) -> CheckResolution:
        first, second = expression.operands
        left = evaluation.resolve(first, bound)
        right = evaluation.resolve(second, bound)
        if prepare is not None:
            right = prepare(evaluation, second, right)
        if left is ABSENT:
            if first.pointer is not UNSET and evaluation.denotes_collection(first.pointer):
                return _EMPTY
        elif not left and isinstance(left, list):
            return _EMPTY
        if right is ABSENT:
            if second.pointer is not UNSET and evaluation.denotes_collection(second.pointer):
                return _EMPTY
        elif not right and isinstance(right, list):
            return _EMPTY
        return _TRUE if holds(evaluation, second, left, right) else _FALSE

    return rule


def _equality(evaluation: _Evaluation, _: Any, left: Any, right: Any) -> bool:
    return operators.equality(left, right, evaluation.artifact_path)


def _deep_equality(evaluation: _Evaluation, _: Any, left: Any, right: Any) -> bool:
    return operators.deep_equality(left, right, evaluation.artifact_path)


def _containment(evaluation: _Evaluation, operand: Any, container: Any, candidate: Any) -> bool:
    if operand.reference_set is not UNSET and not isinstance(candidate, list):
        raise ValueError(f'reference set "{operand.reference_set}" of a containment check is not an array')
    return operators.containment(container, candidate, evaluation.artifact_path)


def _projected(evaluation: _Evaluation, operand: Any, members: Any) -> Any:
    """The set of `set-membership`; a reference set is reduced to its key values (spec 05 §5.6.4)."""
    if operand.reference_set is UNSET:
        return members
    return project(operand.reference_set, members, evaluation.reference_set_keys)


def _set_membership(evaluation: _Evaluation, _: Any, value: Any, members: Any) -> bool:
    return operators.set_membership(value, members, evaluation.artifact_path)


def _regex(evaluation: _Evaluation, node: Any, value: Any) -> bool:
    return isinstance(value, str) and regex.matches(
        node.pattern, value, evaluation.regex_step_budget, evaluation.artifact_path
    )


def _covers_by_key(evaluation: _Evaluation, node: Any, bound: Any) -> CheckResolution:
    """The node-level procedure of spec 05 §5.7.11: a missing collection is a detected defect here."""
    expected = evaluation.resolve(node.operands[0], bound)
    actual = evaluation.resolve(node.operands[1], bound)
    if expected is not ABSENT and not isinstance(expected, list):
        raise ValueError("the expected side of a covers-by-key check is not an array")
    if isinstance(expected, list) and isinstance(actual, list) and not (expected and actual):
        return _EMPTY
    holds = operators.covers_by_key(expected, actual, node.expected_key, node.actual_key, evaluation.artifact_path)
    return _TRUE if holds else _FALSE


# 2. Connectives, and the folds they share with the quantifiers (spec 05 §5.6.2).


def _fold(order: _Order, children: Sequence[CheckResolution]) -> CheckResolution:
    """The first answer of `order` that some child gives; there are three, and the last is what is left."""
    first, second, last = order
    given = {child.resolution for child in children}
    resolution = first if first in given else second if second in given else last
    return CheckResolution(resolution=resolution, introduction_condition=None, children=tuple(children))


def _not(evaluation: _Evaluation, node: Any, bound: Any) -> CheckResolution:
    child = _node(evaluation, node.operands[0], bound)
    return CheckResolution(resolution=_NEGATION[child.resolution], introduction_condition=None, children=(child,))


def _connective(order: _Order) -> _Rule:
    def rule(evaluation: _Evaluation, expression: Any, bound: Any) -> CheckResolution:
        return _fold(order, [_node(evaluation, operand, bound) for operand in expression.operands])

    return rule


# 3. Quantifiers (spec 05 §5.6.3).


def _quantifier(order: _Order) -> _Rule:
    def rule(evaluation: _Evaluation, expression: Any, bound: Any) -> CheckResolution:
        collection = evaluation.resolve(expression.collection, bound)
        if not collection or not is_array(collection):
            return _EMPTY
        predicate = expression.predicate
        return _fold(order, [_node(evaluation, predicate, element) for element in collection])

    return rule


_RULES: Final[Mapping[type, _Rule]] = {
    Equality: _binary(_equality),
    DeepEquality: _binary(_deep_equality),
    Containment: _binary(_containment),
    SetMembership: _binary(_set_membership, _projected),
    Existence: _unary(False, lambda _evaluation, _node, value: operators.existence(value)),
    Absence: _unary(False, lambda _evaluation, _node, value: operators.absence(value)),
    CountTolerance: _unary(
        False, lambda _, node, value: operators.count_tolerance(value, node.expected, node.tolerance, node.relative)
    ),
    Regex: _unary(True, _regex),
    Ordering: _unary(True, lambda _, node, value: operators.ordering(value, node.key, node.order)),
    Shape: _unary(True, lambda _, node, value: operators.shape(value, node.descriptor)),
    CoversByKey: _covers_by_key,
    Not: _not,
    All: _connective(_ALL_ORDER),
    Any_: _connective(_ANY_ORDER),
    ForAll: _quantifier(_ALL_ORDER),
    ForAny: _quantifier(_ANY_ORDER),
}
