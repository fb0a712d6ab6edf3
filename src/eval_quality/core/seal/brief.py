"""Assembling a brief (spec 04 §6, §8).

1. Compile the contract in full; whatever compile raises propagates unchanged.
2. Refuse an ambiguous plan: a step id used twice, an operation declared twice by one interface.
3. Render the directions, in contract order.
4. Take the contract's digest.
5. Sort what is listed. `behaviors` alone keep the contract's order.
6. Validate the whole brief against its strict schema.

What the evaluator must not learn is not removed: it is never copied. The brief starts a lineage of its own.
"""

from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import Any, Final, TypeVar

from eval_quality.core.compile.sequence import compile_contract
from eval_quality.core.contract.keys import utf16_order
from eval_quality.core.contract.plan import PlanIndex
from eval_quality.core.direction.evidence import EvidenceRenderer
from eval_quality.core.direction.precondition import PreconditionError
from eval_quality.core.direction.text import direction_text
from eval_quality.errors import Problem, RuntimeFault
from eval_quality.model.brief import SealedEvaluatorBrief
from eval_quality.model.contract import EvalContract, Oracle
from eval_quality.model.decode import decode, issues, to_value
from eval_quality.model.stamp import SEALED_EVALUATOR_BRIEF_SCHEMA_VERSION
from eval_quality.value.depth import room
from eval_quality.value.digest import digest_value
from eval_quality.value.text import utf16_key

_Item = TypeVar("_Item")


def seal_contract(contract: EvalContract, strict: bool = True) -> SealedEvaluatorBrief:
    """Compile a contract and assemble its brief.

    Raises what compile raises; `RuntimeFault("schema-parse-failure")` at `EvalContract` for a contract that compiles
    but cannot be sealed, with the reason as its cause; and the canonicalizer's own fault.
    """
    with room():
        compiled = compile_contract(contract, strict)
        try:
            return assemble_brief(compiled)
        except PreconditionError as reason:
            detail = f"the contract compiles but cannot be sealed: {reason}"
            raise RuntimeFault("schema-parse-failure", "EvalContract", detail) from reason


def assemble_brief(contract: EvalContract) -> SealedEvaluatorBrief:
    """Assemble the brief of a compiled contract; raises `PreconditionError` where there is none (§8.4)."""
    # 1. the plan is unambiguous
    index = PlanIndex(contract)
    duplicate = index.first_duplicate()
    if duplicate is not None:
        raise PreconditionError(duplicate)
    # 2. directions, in contract order
    renderer = EvidenceRenderer(index)
    directions = [(oracle.id, _direction(oracle, renderer)) for oracle in contract.oracles]
    # 3. the contract's digest
    value: Any = to_value(contract)
    contract_digest = digest_value(value, "EvalContract")
    # 4. sorted lists
    directions = _sorted_unique(directions, lambda item: item[0], "oracle")
    interfaces = _sorted_unique(contract.permitted_interfaces, lambda item: item.logical_id, "interface")
    resources = _sorted_unique(contract.scoped_resources or (), lambda item: item.reference, "scoped resource")
    brief = {
        "schemaVersion": SEALED_EVALUATOR_BRIEF_SCHEMA_VERSION,
        "parentDigest": None,
        "revisionCount": 0,
        "contractDigest": contract_digest,
        "behaviors": value["behaviors"],
        "directions": [{"oracleId": oracle_id, "text": text} for oracle_id, text in directions],
        "permittedInterfaces": [{"logicalId": each.logical_id, "kind": each.kind} for each in interfaces],
        "scopedResources": [{"reference": each.reference, "kind": each.kind} for each in resources],
        "principals": utf16_order(contract.test_data.principals or ()),
        "budgets": value["budgets"],
        "safetyLimits": utf16_order(contract.safety_limits),
        "probeStepBound": contract.probe_step_bound,
    }
    # 5. the whole brief against its schema; 6. the record is immutable and shares nothing with the contract
    found = issues(SealedEvaluatorBrief, brief)
    if found:
        raise PreconditionError(
            f"the assembled brief has {len(found)} schema issue(s), the first at {_dotted(found[0])}"
        )
    return decode(SealedEvaluatorBrief, brief, "SealedEvaluatorBrief")


def _direction(oracle: Oracle, renderer: EvidenceRenderer) -> str:
    if oracle.direction is None:
        raise PreconditionError(f'oracle "{oracle.id}" declares no direction')
    return direction_text(oracle.direction, renderer)


def _sorted_unique(items: Iterable[_Item], name: Callable[[_Item], str], what: str) -> list[_Item]:
    """Items by UTF-16 order of their name; a name that occurs twice has no one place."""
    ordered = sorted(items, key=lambda item: utf16_key(name(item)))
    for earlier, later in pairwise(ordered):
        if name(earlier) == name(later):
            raise PreconditionError(f'{what} "{name(later)}" is declared more than once')
    return ordered


def _dotted(problem: Problem) -> str:
    """An issue's path, dotted, array positions in brackets."""
    spelled = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in problem.path)
    return spelled.removeprefix(".") or _ROOT


_ROOT: Final = "(root)"
