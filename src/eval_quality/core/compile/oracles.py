"""The two halves of an oracle (spec 03 §10)."""

from collections.abc import Iterable

from eval_quality.core.compile.codes import DIRECTION_CHECK_MISALIGNED, ORACLE_MISSING_CHANNEL
from eval_quality.core.compile.survey import OracleSite, Survey, oracle_path
from eval_quality.core.contract.walk import Node
from eval_quality.errors import StructuralFailure


def oracle_channels(survey: Survey) -> StructuralFailure | None:
    """Step 17, §10.1: an oracle has a direction to seal and a check to enforce."""
    for oracle in survey.contract.oracles:
        missing = "direction" if oracle.direction is None else "check" if oracle.check is None else None
        if missing is not None:
            return StructuralFailure(
                ORACLE_MISSING_CHANNEL, f"{oracle_path(oracle)}.{missing}", f"the oracle declares no {missing}"
            )
    return None


def oracle_alignment(survey: Survey) -> StructuralFailure | None:
    """Step 18, §10.2: whatever the direction announces, the check enforces."""
    for site in survey.oracle_sites:
        failure = _misaligned(site)
        if failure is not None:
            return failure
    return None


def _misaligned(site: OracleSite) -> StructuralFailure | None:
    oracle, direction = site.oracle, site.oracle.direction
    if direction is None:
        return None
    path = f"{oracle_path(oracle)}.direction"
    # 1. what the check reads and does, with bound elements rooted
    pointers = pointers_of(site.nodes)
    # 2. every evidence target, exactly as written
    for target in direction.evidence_targets:
        if target not in pointers:
            return StructuralFailure(
                DIRECTION_CHECK_MISALIGNED, f"{path}.evidenceTargets", f'the check never reads "{target}"'
            )
    # 3. the relation
    if all(node.expression.op != direction.relation for node in site.nodes):
        return StructuralFailure(
            DIRECTION_CHECK_MISALIGNED, f"{path}.relation", f'the check carries no "{direction.relation}"'
        )
    # 4. the polarity
    if direction.polarity != oracle.polarity:
        return StructuralFailure(
            DIRECTION_CHECK_MISALIGNED,
            f"{path}.polarity",
            f'the direction says "{direction.polarity}" and the oracle says "{oracle.polarity}"',
        )
    return None


def pointers_of(nodes: Iterable[Node]) -> frozenset[str]:
    """Every pointer a tree reads, operands and quantifier collections, with bound elements rooted."""
    return frozenset(pointer for node in nodes for pointer in node.pointers())
