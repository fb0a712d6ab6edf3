"""What the coverage predicates look at (spec 04 §2): operations, pointer roots and oracles.

"Oracle addresses root r" means that one of its pointers is r or starts with `r/`. Pointers are kept sorted, so the
oracles that address a root are found by two bisections however many pointers a contract has.
"""

from bisect import bisect_left
from collections.abc import Iterable
from functools import cached_property
from typing import Final, NamedTuple

from eval_quality.core.contract.operation import (
    DeclaredOperation,
    described_artifact,
    described_channel,
    operations_of,
)
from eval_quality.core.contract.plan import PlanIndex
from eval_quality.core.contract.walk import Node, walk
from eval_quality.model.contract import EvalContract, InteractionStep, Oracle
from eval_quality.model.interface import AnyOperation
from eval_quality.value.pointer import escape

_AFTER_SLASH: Final = chr(ord("/") + 1)


def step_root(step_id: str) -> str:
    """The root of everything a step observes."""
    return f"/interactions/{step_id}"


def descriptor_root(operation: AnyOperation) -> str:
    """The tail of the described channel below a step root."""
    artifact = described_artifact(operation)
    channel = described_channel(operation)
    return f"/{channel}" if artifact is None else f"/{channel}/{escape(artifact)}"


def descriptor_pointer(step_id: str, operation: AnyOperation, pointer: str) -> str:
    """A descriptor pointer at a step; the empty pointer is the whole described channel."""
    return step_root(step_id) + descriptor_root(operation) + pointer


def response_key(step_id: str, operation: AnyOperation, key: str) -> str:
    """A response key at a step."""
    return descriptor_pointer(step_id, operation, f"/{escape(key)}")


def parameter(step_id: str, channel: str, key: str) -> str:
    """A request key at a step."""
    return f"{step_root(step_id)}/call-inputs/{channel}/{escape(key)}"


def addresses(pointer: str, root: str) -> bool:
    """Whether a pointer is at or below a root."""
    return pointer == root or pointer.startswith(f"{root}/")


class OracleView(NamedTuple):
    """One oracle: the pointers its direction names, its check's nodes, and the pointers those read."""

    oracle: Oracle
    targets: tuple[str, ...]
    nodes: tuple[Node, ...]
    pointers: frozenset[str]


class _Addressing:
    """Which oracles address a root, over one set of (pointer, oracle position) mentions."""

    def __init__(self, mentions: Iterable[tuple[str, int]]) -> None:
        by_pointer: dict[str, set[int]] = {}
        for pointer, position in mentions:
            by_pointer.setdefault(pointer, set()).add(position)
        self._pointers = sorted(by_pointer)
        self._by_pointer = by_pointer
        self._known: dict[str, frozenset[int]] = {}

    def at(self, root: str) -> frozenset[int]:
        if root not in self._known:
            low = bisect_left(self._pointers, f"{root}/")
            high = bisect_left(self._pointers, root + _AFTER_SLASH)
            found = set(self._by_pointer.get(root, ()))
            for pointer in self._pointers[low:high]:
                found |= self._by_pointer[pointer]
            self._known[root] = frozenset(found)
        return self._known[root]


class CoverageView:
    """One contract as the predicates see it. Duplicated step ids and operations resolve to nothing (spec 03 §5.2)."""

    def __init__(self, contract: EvalContract) -> None:
        self.contract = contract
        self.index = PlanIndex(contract)
        self.operations: tuple[DeclaredOperation, ...] = tuple(operations_of(contract))

    @cached_property
    def oracles(self) -> tuple[OracleView, ...]:
        return tuple(_view(oracle) for oracle in self.contract.oracles)

    @cached_property
    def listed(self) -> frozenset[int]:
        """Positions of the oracles that some behaviour lists."""
        names = {name for behavior in self.contract.behaviors for name in behavior.oracles}
        return frozenset(at for at, oracle in enumerate(self.contract.oracles) if oracle.id in names)

    @cached_property
    def _directions(self) -> _Addressing:
        return _Addressing((pointer, at) for at, view in enumerate(self.oracles) for pointer in view.targets)

    @cached_property
    def _checks(self) -> _Addressing:
        return _Addressing((pointer, at) for at, view in enumerate(self.oracles) for pointer in view.pointers)

    def in_check(self, root: str) -> frozenset[int]:
        """Positions of the oracles whose check addresses a root."""
        return self._checks.at(root)

    def in_both(self, root: str) -> frozenset[int]:
        """Positions of the oracles that address a root in both channels, direction and check."""
        return self._directions.at(root) & self._checks.at(root)

    def steps(self, declared: DeclaredOperation) -> tuple[InteractionStep, ...]:
        """The plan steps that use an operation."""
        return self.index.steps_using(declared.interface.logical_id, declared.operation.operation_id)


def _view(oracle: Oracle) -> OracleView:
    nodes = () if oracle.check is None else tuple(walk(oracle.check, ""))
    targets = () if oracle.direction is None else oracle.direction.evidence_targets
    return OracleView(oracle, targets, nodes, frozenset(pointer for node in nodes for pointer in node.pointers()))
