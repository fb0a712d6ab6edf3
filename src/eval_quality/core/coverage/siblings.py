"""Rule 5, `sibling-cross-check` (spec 04 §3.5).

Operations, or parameters, that should agree are compared by one oracle: two members of a group at least.
"""

from collections.abc import Iterable, Iterator
from typing import Final

from eval_quality.core.contract.pointer import INPUT_CHANNELS
from eval_quality.core.coverage.site import Site
from eval_quality.core.coverage.view import CoverageView, parameter, step_root

_NEEDED: Final = 2


def sites(view: CoverageView) -> Iterator[Site]:
    """One site per sibling group, or one for a contract that does not say whether it has any."""
    groups = view.contract.sibling_groups
    if groups is None:
        yield Site(
            "contract",
            "siblingGroups is null, so nothing says which operations or parameters should agree",
            None,
            'declare siblingGroups; {"operations": [], "parameters": []} says that none should',
        )
        return
    for position, group in enumerate(groups.operations):
        pairs = dict.fromkeys((member.interface_id, member.operation_id) for member in group)
        roots = [[step_root(step.step_id) for step in view.index.steps_using(*pair)] for pair in pairs]
        names = ", ".join(f"{interface_id}/{operation_id}" for interface_id, operation_id in pairs)
        yield _site(f"siblingGroups.operations[{position}]", names, roots, view)
    for position, group in enumerate(groups.parameters):
        names = tuple(dict.fromkeys(group))
        roots = [
            [
                parameter(step.step_id, channel, name)
                for step in view.contract.interaction_plan
                for channel in INPUT_CHANNELS
            ]
            for name in names
        ]
        yield _site(f"siblingGroups.parameters[{position}]", ", ".join(names), roots, view)


def _site(place: str, names: str, members: Iterable[Iterable[str]], view: CoverageView) -> Site:
    """A group's site; `members` gives, per distinct member, the roots that stand for it."""
    addressed: dict[int, int] = {}
    for roots in members:
        for at in frozenset[int]().union(*(view.in_both(root) for root in roots)):
            addressed[at] = addressed.get(at, 0) + 1
    witness = min((at for at, count in addressed.items() if count >= _NEEDED), default=None)
    return Site(
        place,
        f"{names} should agree",
        None if witness is None else f"oracle {view.oracles[witness].oracle.id}",
        "let one oracle read two members of the group, in its direction and in its check",
    )
