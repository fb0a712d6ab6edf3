"""The evaluator against an evaluator written from the tables alone (spec 05)."""

from collections import Counter
from typing import Any

import pytest

from eval_quality.core.evaluation import (
    make_pointer_denotes_collection,
    make_resolve_operand,
    reference_set_keys_of,
    reference_set_members_of,
    resolve_check,
)
from eval_quality.errors import RuntimeFault
from eval_quality.model.contract import EvalContract
from eval_quality.model.decode import decode, to_value
from eval_quality.model.expression import Expression
from eval_quality.model.run_record import Observation
from oracle.naive_evaluator import Fault, Internal, Naive
from oracle.random_evidence import World

BUDGETS = (4, 12, 1_000_000)


def real(contract: EvalContract, observations: dict[str, Any], expression: Any, budget: int) -> Any:
    try:
        resolution = resolve_check(
            decode(Expression, expression, "Expression"),
            make_resolve_operand(observations, reference_set_members_of(contract)),
            make_pointer_denotes_collection(contract),
            reference_set_keys_of(contract),
            budget,
            "Somewhere",
        )
    except RuntimeFault as fault:
        return fault.code if fault.artifact_path == "Somewhere" else fault.artifact_path
    except ValueError:
        return "internal"
    return to_value(resolution)


def naive(contract: Any, observations: Any, expression: Any, budget: int) -> Any:
    try:
        return Naive(contract, observations, budget).node(expression)
    except Fault as fault:
        return str(fault)
    except Internal:
        return "internal"


def compare(seeds: range, trees: int) -> Counter[str]:
    """Evaluate `trees` trees over each seed's evidence with both evaluators; counts what came out."""
    outcomes: Counter[str] = Counter()
    contracts: list[tuple[Any, EvalContract]] = []
    for seed in seeds:
        world = World(seed)
        if seed % 20 == 0 or not contracts:
            plain = world.contract()
            contracts.append((plain, decode(EvalContract, plain, "EvalContract")))
        plain, contract = contracts[-1]
        evidence = world.observations()
        records = {step: decode(Observation, value, "Observation") for step, value in evidence.items()}
        for _ in range(trees):
            expression, budget = world.expression(evidence, 3), world.pick(BUDGETS)
            got, expected = real(contract, records, expression, budget), naive(plain, evidence, expression, budget)
            assert got == expected, f"seed {seed}: {expression}"
            outcomes[expected if isinstance(expected, str) else expected["resolution"]] += 1
    return outcomes


ANSWERS = {
    "true",
    "false",
    "insufficient-evidence",
    "non-canonicalizable-value",
    "operator-cannot-accept-operand",
    "budget-exhausted",
    "internal",
}


def test_s5_two_evaluators_agree() -> None:
    outcomes = compare(range(600), 4)
    assert set(outcomes) == ANSWERS
    assert min(outcomes["true"], outcomes["false"], outcomes["insufficient-evidence"]) > 150


@pytest.mark.slow
@pytest.mark.timeout(1800)  # about 65 s of one quiet core
def test_s5_two_evaluators_agree_on_200_000_trees() -> None:
    outcomes = compare(range(1000, 51_000), 4)
    assert outcomes.total() == 200_000
    assert set(outcomes) == ANSWERS
    assert min(outcomes["true"], outcomes["false"], outcomes["insufficient-evidence"]) > 20_000
