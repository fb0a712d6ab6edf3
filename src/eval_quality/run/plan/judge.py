"""What the contract's own oracles say about one pass of observations (spec 08 §3, §6.1; spec 12 §12.11.3).

Selection and evaluation are scoring's own; nothing is judged here in another way than `score` would judge it.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from eval_quality.core.contract.plan import PlanIndex
from eval_quality.core.evaluation import (
    make_pointer_denotes_collection,
    make_resolve_operand,
    reference_set_keys_of,
    reference_set_members_of,
    resolve_check,
)
from eval_quality.core.score.selection import SelectionPlan
from eval_quality.core.score.trial import addressed_steps
from eval_quality.model.contract import EvalContract, Oracle
from eval_quality.model.expression import Expression
from eval_quality.model.run_record import Observation


class Judgment(NamedTuple):
    """One oracle over one pass.

    resolution: `true`, `false`, `insufficient-evidence`, or empty for an oracle without a check.
    observation_ids: what the steps its check addresses selected, in plan order.
    """

    oracle: Oracle
    resolution: str
    observation_ids: tuple[str, ...]

    @property
    def satisfied(self) -> bool:
        """The check resolved to what the oracle's polarity expects."""
        return self.resolution == ("true" if self.oracle.polarity == "expects-hold" else "false")

    @property
    def violated(self) -> bool:
        """The check resolved, and to the other value."""
        return self.resolution == ("false" if self.oracle.polarity == "expects-hold" else "true")


class Judge:
    """Judges passes of one contract; what depends on the contract alone is prepared once."""

    def __init__(self, contract: EvalContract, regex_step_budget: int) -> None:
        self._contract = contract
        index = PlanIndex(contract)
        self._plan = SelectionPlan(index)
        self._denotes_collection = make_pointer_denotes_collection(contract, index)
        self._keys = reference_set_keys_of(contract)
        self._members = reference_set_members_of(contract)
        self._addressed = {oracle.id: addressed_steps(oracle.check) for oracle in contract.oracles}
        self._budget = regex_step_budget

    def oracles(self, observations: Sequence[Observation]) -> tuple[Judgment, ...]:
        """Every oracle of the contract, in its order. Raises the evaluator's runtime faults."""
        selections = self._plan.select(observations)
        singles = {entry.step_id: entry.single for entry in selections if entry.single is not None}
        found: list[Judgment] = []
        for oracle in self._contract.oracles:
            addressed = [entry for entry in selections if entry.step_id in self._addressed[oracle.id]]
            ids = dict.fromkeys(name for entry in addressed for name in entry.observation_ids)
            path = f"EvalContract.oracles[id={oracle.id}].check"
            if oracle.check is None:
                resolution = ""
            elif addressed and not ids:
                # an absent value compares as different, but where nobody answered nothing was seen to differ
                resolution = "insufficient-evidence"
            else:
                resolution = self.resolve(oracle.check, singles, path)
            found.append(Judgment(oracle, resolution, tuple(ids)))
        return tuple(found)

    def resolve(self, check: Expression, by_step: Mapping[str, Observation], path: str) -> str:
        """One expression over one observation per step or leg id."""
        resolve = make_resolve_operand(by_step, self._members)
        return resolve_check(check, resolve, self._denotes_collection, self._keys, self._budget, path).resolution

    def selected(self, observations: Sequence[Observation]) -> dict[str, Observation]:
        """The one observation of each step that has one."""
        return {entry.step_id: entry.single for entry in self._plan.select(observations) if entry.single is not None}


def covered(judgments: Iterable[Judgment], covers: Sequence[str] | None) -> tuple[Judgment, ...]:
    """The judgments a probe watches: those it names, or every oracle with a check."""
    return tuple(
        judgment
        for judgment in judgments
        if (judgment.oracle.check is not None if covers is None else judgment.oracle.id in covers)
    )
