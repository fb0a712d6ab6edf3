"""The interaction plan as a graph of `after` clauses (spec 03 §11).

A plan selects observations; it never scripts a conversation. Hence one level of `after`, and few of them.
"""

from collections import Counter
from typing import Final

from eval_quality.core.compile.codes import NESTED_TEMPORAL_CLAUSE, PLAN_EXCEEDS_SCRIPTING_BOUND
from eval_quality.core.compile.survey import Survey
from eval_quality.core.contract.plan import PlanIndex
from eval_quality.errors import StructuralFailure
from eval_quality.model.contract import InteractionStep

MAX_WIDTH: Final = 2
"""Children of one step."""
MAX_SHARED_ANCHORS: Final = 2
"""Steps with two children or more."""
MAX_DISJOINT_PAIRS: Final = 4
"""Connected components of exactly two steps."""
MAX_STEPS: Final = 16
"""Steps of a plan."""


def _parent(step: InteractionStep, index: PlanIndex) -> InteractionStep | None:
    """The step `after` names; a dangling or ambiguous `after` counts as none."""
    return None if step.after is None else index.step(step.after)


def _has_grandparent(step: InteractionStep, index: PlanIndex) -> bool:
    parent = _parent(step, index)
    return parent is not None and _parent(parent, index) is not None


def temporal_clauses(survey: Survey) -> StructuralFailure | None:
    """Step 20, §11.1: no step comes after a step that itself comes after one; every cycle ends here too."""
    for step in survey.contract.interaction_plan:
        if _has_grandparent(step, survey.index):
            return StructuralFailure(
                NESTED_TEMPORAL_CLAUSE,
                f"EvalContract.interactionPlan[stepId={step.step_id}].after",
                f'step "{step.after}" itself comes after another step',
            )
    return None


def scripting_bound(survey: Survey) -> StructuralFailure | None:
    """Step 21, §11.2: the first metric over its bound; a metric equal to its bound passes."""
    plan, index = survey.contract.interaction_plan, survey.index
    position = {step.step_id: at for at, step in enumerate(plan)}
    edges = [(at, position[parent.step_id]) for at, step in enumerate(plan) if (parent := _parent(step, index))]
    children = Counter(parent for _, parent in edges)
    # 1. depth: the check before this one already refuses it
    if any(_has_grandparent(step, index) for step in plan):
        return _exceeded("depth of after clauses", 2, 1)
    # 2. to 5.
    metrics = (
        ("width, the steps after one step,", max(children.values(), default=0), MAX_WIDTH),
        ("number of shared anchors", sum(count > 1 for count in children.values()), MAX_SHARED_ANCHORS),
        ("number of disjoint pairs", _disjoint_pairs(edges), MAX_DISJOINT_PAIRS),
        ("number of steps", len(plan), MAX_STEPS),
    )
    return next((_exceeded(name, value, bound) for name, value, bound in metrics if value > bound), None)


def _exceeded(metric: str, value: int, bound: int) -> StructuralFailure:
    return StructuralFailure(
        PLAN_EXCEEDS_SCRIPTING_BOUND, "EvalContract.interactionPlan", f"the {metric} is {value}; the bound is {bound}"
    )


def _disjoint_pairs(edges: list[tuple[int, int]]) -> int:
    # No step has a grandparent here, so a component is one parent with its children: a pair is an only child.
    children = Counter(parent for _, parent in edges)
    return sum(count == 1 for count in children.values())
