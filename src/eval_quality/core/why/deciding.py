"""Which nodes of a check decided its answer (spec 05 §5.6, spec 16 §23.4).

    all, for-all    false          the first false child
                    otherwise      every child
    any, for-any    insufficient   the first child that examined nothing
                    otherwise      every child: one that examined nothing would have taken the answer away
    not             any answer     its child
    a leaf                         itself

A quantifier that had nothing to run over decides itself. The walk keeps its own stack.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

from eval_quality.core.contract.text import display
from eval_quality.model.decode import to_value
from eval_quality.model.expression import All, Any_, CheckResolution, Expression, ForAll, ForAny, Not

MOST_NODES: Final = 8
"""Deciding nodes shown of one check. Stops a quantifier over a long collection from drowning the page."""


class DecidingNode(NamedTuple):
    """One node: where it stands in the check, its operator, what it read and what it answered."""

    path: str
    op: str
    reads: str
    resolution: str
    introduction_condition: str | None


def deciding_nodes(check: Expression, resolution: CheckResolution) -> tuple[DecidingNode, ...]:
    """The first `MOST_NODES` nodes that decided, in reading order; none when the tree is not this check's."""
    found: list[DecidingNode] = []
    pending: list[tuple[Expression, CheckResolution, str]] = [(check, resolution, "check")]
    while pending and len(found) < MOST_NODES:
        node, answer, path = pending.pop()
        if not answer.children:
            found.append(DecidingNode(path, node.op, _reads(node), answer.resolution, answer.introduction_condition))
            continue
        parts = _parts(node, path, len(answer.children))
        if len(parts) != len(answer.children):
            return ()
        chosen = _chosen(node, answer)
        pending.extend(
            (parts[position][0], answer.children[position], parts[position][1]) for position in reversed(chosen)
        )
    return tuple(found)


def _parts(node: Expression, path: str, count: int) -> list[tuple[Expression, str]]:
    """The expression and path each child of the tree belongs to; empty where the node has no children."""
    if isinstance(node, ForAll | ForAny):
        return [(node.predicate, f"{path}.predicate[element {position}]") for position in range(count)]
    if isinstance(node, All | Any_ | Not):
        return [(operand, f"{path}.operands[{position}]") for position, operand in enumerate(node.operands)]
    return []


def _chosen(node: Expression, answer: CheckResolution) -> Sequence[int]:
    decisive = {"all": "false", "for-all": "false"}.get(node.op, "insufficient-evidence")
    if node.op == "not" or answer.resolution != decisive:
        return range(len(answer.children))
    return [position for position, child in enumerate(answer.children) if child.resolution == decisive][:1]


def _reads(node: Expression) -> str:
    """What a node read, as its author wrote it."""
    operands = (node.collection,) if isinstance(node, ForAll | ForAny) else node.operands
    return ", ".join(display(to_value(operand)) for operand in operands)
