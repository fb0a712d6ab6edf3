"""The pre-order walk over a check or a relation (spec 03 §5.5, §5.6).

    not             .operands[0]
    all, any        .operands[i]
    for-all/-any    .collection (an operand, visited first), then .predicate
    every other     .operands[i], all of them operands

The walk keeps its own stack: an expression may nest as deep as a document may.
"""

from collections.abc import Iterator
from typing import Final, NamedTuple, TypeAlias

from eval_quality.core.contract.pointer import substitute
from eval_quality.model.expression import All, Any_, Expression, ForAll, ForAny, Not, Operand, SetOperand

QUANTIFIERS: Final = ("for-all", "for-any")
CONNECTIVES: Final = ("all", "any", "not")


class OperandSite(NamedTuple):
    """An operand where it stands: `position` is its index, None for a quantifier's collection."""

    path: str
    position: int | None
    operand: Operand | SetOperand

    @property
    def pointer(self) -> str | None:
        """The operand's pointer as written, or None for another form."""
        return self.operand.pointer if isinstance(self.operand.pointer, str) else None

    @property
    def reference_set(self) -> str | None:
        """The reference set the operand names, or None for another form."""
        return self.operand.reference_set if isinstance(self.operand.reference_set, str) else None


class Node(NamedTuple):
    """One expression of a tree.

    `path` is spelled from the root the walk was given. `inside` says whether the node stands in some quantifier's
    predicate; `root` is the pointer its bound elements are rooted in, None outside and where the innermost
    collection is not a pointer. `operands` are the node's own operands; a connective has none.
    """

    expression: Expression
    path: str
    inside: bool
    root: str | None
    operands: tuple[OperandSite, ...]

    def pointer(self, operand: Operand | SetOperand) -> str | None:
        """An operand's pointer with its bound element rooted, or None where it is not a pointer."""
        return substitute(operand.pointer, self.root) if isinstance(operand.pointer, str) else None

    def pointers(self) -> Iterator[str]:
        """The pointers of the node's own operands, bound elements rooted."""
        return (pointer for place in self.operands if (pointer := self.pointer(place.operand)) is not None)


_Pending: TypeAlias = tuple[Expression, str, bool, str | None]


def walk(expression: Expression, path: str) -> Iterator[Node]:
    """Every node of a tree in pre-order, operands by index."""
    pending: list[_Pending] = [(expression, path, False, None)]
    while pending:
        current, at, inside, root = pending.pop()
        if isinstance(current, ForAll | ForAny):
            node = Node(current, at, inside, root, (OperandSite(f"{at}.collection", None, current.collection),))
            pending.append((current.predicate, f"{at}.predicate", True, node.pointer(current.collection)))
        elif isinstance(current, All | Any_ | Not):
            node = Node(current, at, inside, root, ())
            children = [(child, f"{at}.operands[{i}]", inside, root) for i, child in enumerate(current.operands)]
            pending.extend(reversed(children))
        else:
            sites = (OperandSite(f"{at}.operands[{i}]", i, operand) for i, operand in enumerate(current.operands))
            node = Node(current, at, inside, root, tuple(sites))
        yield node
