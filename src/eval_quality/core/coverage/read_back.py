"""Rule 7, `state-change-read-back` (spec 04 §3.7).

A change is proved by reading it back: one comparison relates what was sent with what a later, harmless step observed.
Two assertions side by side relate nothing.
"""

from collections.abc import Iterator

from eval_quality.core.contract.walk import Node
from eval_quality.core.coverage.site import NO_OPERATION, Site, place_of
from eval_quality.core.coverage.view import CoverageView, addresses, descriptor_root, step_root
from eval_quality.model.contract import InteractionStep


def sites(view: CoverageView) -> Iterator[Site]:
    """One site per operation marked as changing state."""
    if not view.operations:
        yield NO_OPERATION
    for declared in view.operations:
        if not declared.operation.state_change_marker:
            continue
        witness = next(
            (
                f"oracle {view.oracles[at].oracle.id} relates step {write.step_id} with step {read_step.step_id}"
                for write in view.steps(declared)
                for read_step, read_root in _read_backs(write, view)
                for at in sorted(view.in_check(_sent(write)) & view.in_check(read_root))
                if any(_relates(node, _sent(write), read_root) for node in view.oracles[at].nodes)
            ),
            None,
        )
        yield Site(
            place_of(declared),
            "it is marked as changing state",
            witness,
            "add a step after it that reads the state back, and one comparison between what was sent and what that "
            "step observed",
        )


def _sent(step: InteractionStep) -> str:
    return f"{step_root(step.step_id)}/call-inputs"


def _read_backs(write: InteractionStep, view: CoverageView) -> Iterator[tuple[InteractionStep, str]]:
    """The steps that directly follow a step and change nothing, each with the root of what it observes."""
    for step in view.contract.interaction_plan:
        if step.step_id == write.step_id or step.after != write.step_id:
            continue
        operation = view.index.operation_of(step)
        if operation is not None and not operation.state_change_marker:
            yield step, step_root(step.step_id) + descriptor_root(operation)


def _relates(node: Node, sent: str, observed: str) -> bool:
    """Whether one node's own operands read both; a quantifier's collection is no operand of it."""
    pointers = [node.pointer(place.operand) for place in node.operands if place.position is not None]
    return any(each is not None and addresses(each, sent) for each in pointers) and any(
        each is not None and addresses(each, observed) for each in pointers
    )
