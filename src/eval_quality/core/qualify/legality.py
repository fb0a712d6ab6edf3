"""Is a signature's predicate an expression that compile would admit? (spec 08 §1.14)

Six compile-time checks over the bare predicate, each stopping at its first violation. A failure carries the path the
check names and, as its detail, the structural failure's whole message.

    1  bound element outside every quantifier       4  quantifier inside a quantifier's predicate
    2  operand form illegal for its operator        5  quantifier over a field declared to be no array
    3  pattern not admissible                       6  pointer the operation's declarations cannot produce

The last two need a home operation, and the step they resolve is `observed` alone; that a pointer names another step is
not their business.
"""

from collections.abc import Iterator

from eval_quality.core.compile.codes import UNREACHABLE_CHECK_EVIDENCE
from eval_quality.core.compile.expression import illegal_operand, nested_quantifier, non_collection, unscoped_operand
from eval_quality.core.compile.reachability import unreachable_in
from eval_quality.core.compile.regex import refused_pattern
from eval_quality.core.contract.operation import AnyOperation
from eval_quality.core.contract.pointer import is_bound, parse_pointer
from eval_quality.core.contract.walk import Node, walk
from eval_quality.core.qualify.condition import OBSERVED_STEP, predicate_path
from eval_quality.core.qualify.result import QualificationFailure
from eval_quality.errors import StructuralFailure
from eval_quality.model.expression import Expression


def legality_failures(
    predicate: Expression, operation: AnyOperation | None, path: str
) -> Iterator[QualificationFailure]:
    """At most one failure per row, in order."""
    nodes = tuple(walk(predicate, predicate_path(path)))
    rows: list[tuple[str, StructuralFailure | None]] = [
        ("condition-bound-element-outside-quantifier", unscoped_operand(nodes)),
        ("condition-operand-illegal", illegal_operand(nodes, {})),
        ("condition-regex-illegal", refused_pattern(nodes)),
        ("condition-quantifier-nesting", nested_quantifier(nodes)),
    ]
    if operation is not None:
        observed = {OBSERVED_STEP: operation}
        rows.append(("condition-quantifier-over-non-collection", non_collection(nodes, observed.get)))
        rows.append(("condition-pointer-unwritable", _unwritable(nodes, operation)))
    for code, failure in rows:
        if failure is not None:
            yield QualificationFailure(code=code, artifact_path=failure.artifact_path, detail=str(failure))


def _unwritable(nodes: tuple[Node, ...], operation: AnyOperation) -> StructuralFailure | None:
    for site in (site for node in nodes for site in node.operands):
        pointer = site.operand.pointer
        if isinstance(pointer, str) and not is_bound(pointer):
            reason = unreachable_in(parse_pointer(pointer), operation)
            if reason is not None:
                return StructuralFailure(UNREACHABLE_CHECK_EVIDENCE, site.path, f'"{pointer}": {reason}')
    return None
