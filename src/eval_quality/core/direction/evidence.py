"""The evidence clause of a direction (spec 04 §7.3 to §7.6).

1. Drop repeated pointers.
2. Resolve each to its target, step and operation.
3. Name each step among its siblings: the steps of this direction that use the same operation. The level rises until
   all of them read differently; when none does, the steps are irreducible.
4. Group the targets and render each group.
5. Sort the phrases and join them.
"""

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from eval_quality.core.compile.codes import IRREDUCIBLE_STEP_REFERENCE
from eval_quality.core.contract.keys import utf16_order
from eval_quality.core.contract.plan import PlanIndex
from eval_quality.core.contract.pointer import ParsedPointer, parse_pointer
from eval_quality.core.contract.text import compact
from eval_quality.core.direction.grouping import group_steps
from eval_quality.core.direction.precondition import PreconditionError
from eval_quality.core.direction.reference import LEVELS, Level, Rendering, render_step
from eval_quality.core.direction.words import and_, target_phrase
from eval_quality.errors import StructuralFailure
from eval_quality.model.contract import InteractionStep
from eval_quality.model.interface import AnyOperation
from eval_quality.value.text import utf16_key

BUDGETS: Final = (100_000, 4_000_000)
"""Characters a step reference may explain captures with; the second is tried only where the first ran out."""


class _Site(NamedTuple):
    """One step of a direction with what the direction reads there."""

    step: InteractionStep
    operation: AnyOperation
    targets: list[ParsedPointer]

    @property
    def pair(self) -> tuple[str, str]:
        return self.step.interface_id, self.step.operation_id


class EvidenceRenderer:
    """Renders evidence clauses over one plan, each step reference once however many directions ask for it."""

    def __init__(self, index: PlanIndex) -> None:
        self._index = index
        self._renderings: dict[tuple[str, Level, int], Rendering] = {}
        self._named: dict[tuple[str, ...], str] = {}

    def clause(self, pointers: Iterable[str]) -> str:
        """The reference clause over some evidence targets.

        Raises `PreconditionError` for a pointer whose step or operation does not resolve, and `StructuralFailure`
        `irreducible-step-reference` for steps that cannot be told apart.
        """
        sites = self._resolve(dict.fromkeys(pointers))
        siblings: dict[tuple[str, str], list[_Site]] = {}
        for site in sites.values():
            siblings.setdefault(site.pair, []).append(site)
        names = {step_id: self._name(site, siblings[site.pair]) for step_id, site in sites.items()}
        groups = group_steps({step_id: (site.step.after, len(site.targets)) for step_id, site in sites.items()})
        return and_(utf16_order(_phrase([sites[each] for each in group], names) for group in groups))

    def _resolve(self, pointers: Iterable[str]) -> dict[str, _Site]:
        sites: dict[str, _Site] = {}
        for pointer in pointers:
            target = parse_pointer(pointer)
            step = self._index.step(target.step_id)
            operation = None if step is None else self._index.operation_of(step)
            if step is None or operation is None:
                raise PreconditionError(
                    f'evidence target "{pointer}" names a step or an operation that is not declared'
                )
            sites.setdefault(step.step_id, _Site(step, operation, [])).targets.append(target)
        return sites

    def _name(self, site: _Site, siblings: Sequence[_Site]) -> str:
        """Name a step so that no sibling of this direction shares the name (§7.6, escalation)."""
        key = (site.step.step_id, *sorted(each.step.step_id for each in siblings))
        if key not in self._named:
            self._named[key] = self._distinct_name(site, siblings)
        return self._named[key]

    def _distinct_name(self, site: _Site, siblings: Sequence[_Site]) -> str:
        for limit in BUDGETS:
            starved = False
            for level in LEVELS:
                renderings = [self._render(each, level, limit) for each in siblings]
                if len({each.text for each in renderings}) == len(siblings):
                    return self._render(site, level, limit).text
                starved = starved or any(each.spent for each in renderings)
            if not starved:
                break
        raise self._irreducible(site)

    def _render(self, site: _Site, level: Level, limit: int) -> Rendering:
        key = (site.step.step_id, level, limit)
        if key not in self._renderings:
            self._renderings[key] = render_step(site.step, site.operation, level, limit, self._index)
        return self._renderings[key]

    def _irreducible(self, site: _Site) -> StructuralFailure:
        interface_id, operation_id = site.pair
        shared = self._index.is_operation_id_shared(operation_id)
        place = f"[interfaceId={interface_id}]" if shared else ""
        owner = f' of interface "{interface_id}"' if shared else ""
        return StructuralFailure(
            IRREDUCIBLE_STEP_REFERENCE,
            f"EvalContract.interactionPlan{place}[operationId={operation_id}]",
            f'the steps of operation "{operation_id}"{owner} named by the direction bind the same values, '
            "so nothing tells them apart",
        )


def _phrase(group: Sequence[_Site], names: dict[str, str]) -> str:
    """A group's phrase (§7.5): one target, several targets of one step, or a pair of steps."""
    if len(group) == 2:
        first, second = sorted(group, key=lambda site: _pair_rank(site, names))
        return f"{_full_phrase(first, names)}, compared with {_full_phrase(second, names)}"
    site = group[0]
    if len(site.targets) == 1:
        return _full_phrase(site, names)
    return f"{names[site.step.step_id]}: {and_(utf16_order(target_phrase(target) for target in site.targets))}"


def _full_phrase(site: _Site, names: dict[str, str]) -> str:
    target = site.targets[0]
    link = "to" if target.channel == "call-inputs" else "from"
    return f"{target_phrase(target)} {link} {names[site.step.step_id]}"


def _pair_rank(site: _Site, names: dict[str, str]) -> tuple[bool, bytes, bytes]:
    """What was sent first, then by channel signature, then by name."""
    target = site.targets[0]
    signature = compact([target.channel, target.input_channel, target.artifact_id, list(target.tail)])
    return target.channel != "call-inputs", utf16_key(signature), utf16_key(names[site.step.step_id])
