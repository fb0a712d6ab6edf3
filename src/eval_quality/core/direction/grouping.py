"""Which steps of a direction are compared with which (spec 04 §7.4).

A *single* is a step the direction reads exactly once. A single that comes after a single may be compared with it:

1. each predecessor chooses, among its candidate successors, the one whose id sorts first;
2. each chain of choices is cut in pairs from its root: first with second, third with fourth; a last one stays alone;
3. a cycle has no root, so its steps stay alone.
"""

from collections.abc import Mapping

from eval_quality.core.contract.keys import utf16_order


def group_steps(steps: Mapping[str, tuple[str | None, int]]) -> list[tuple[str, ...]]:
    """Groups of one or two step ids, in sorted order of their first.

    `steps` gives, per step id, the id it comes after and the number of targets the direction reads there.
    """
    ordered = utf16_order(steps)
    singles = [step_id for step_id in ordered if steps[step_id][1] == 1]
    chosen: dict[str, str] = {}
    for step_id in singles:
        after = steps[step_id][0]
        if after in singles:
            chosen.setdefault(after, step_id)
    successors = set(chosen.values())
    partner: dict[str, str] = {}
    for root in (step_id for step_id in singles if step_id not in successors):
        first: str | None = root
        while first is not None and first in chosen:
            partner[first] = second = chosen[first]
            first = chosen.get(second)
    seconds = set(partner.values())
    return [
        (step_id, partner[step_id]) if step_id in partner else (step_id,)
        for step_id in ordered
        if step_id not in seconds
    ]
