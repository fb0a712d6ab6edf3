"""One contract laid out for the checks: its look-ups, its operations and its expression sites (spec 03 §5.5).

The checks share one survey, so that every expression is walked once however many rules read it.
"""

from functools import cached_property
from typing import NamedTuple

from eval_quality.core.contract.operation import DeclaredOperation, operations_of
from eval_quality.core.contract.plan import PlanIndex
from eval_quality.core.contract.walk import Node, walk
from eval_quality.model.contract import EvalContract, Oracle
from eval_quality.model.interface import AnyOperation, SensitivityWitness


class OracleSite(NamedTuple):
    """An oracle's check. Its pointers resolve through the plan."""

    oracle: Oracle
    nodes: tuple[Node, ...]


class WitnessSite(NamedTuple):
    """A witness's relation. Its pointers resolve to the witness's own operation, through the two leg ids."""

    declared: DeclaredOperation
    witness: SensitivityWitness
    nodes: tuple[Node, ...]

    @property
    def path(self) -> str:
        return f"{operation_position(self.declared)}.sensitivityWitness"

    @property
    def leg_ids(self) -> tuple[str, ...]:
        return tuple(leg.leg_id for leg in self.witness.legs)


def oracle_path(oracle: Oracle) -> str:
    """How an oracle is addressed."""
    return f"EvalContract.oracles[id={oracle.id}]"


def operation_position(declared: DeclaredOperation) -> str:
    """How witness rules address an operation: by position."""
    return f"EvalContract.permittedInterfaces[{declared.interface_index}].operations[{declared.operation_index}]"


def operation_path(declared: DeclaredOperation) -> str:
    """How inventory rules address an operation: by identifiers."""
    return (
        f"EvalContract.permittedInterfaces[logicalId={declared.interface.logical_id}]"
        f".operations[operationId={declared.operation.operation_id}]"
    )


class Survey:
    """A contract with everything the checks look up."""

    def __init__(self, contract: EvalContract) -> None:
        self.contract = contract
        self.index = PlanIndex(contract)

    @cached_property
    def operations(self) -> tuple[DeclaredOperation, ...]:
        """Every declared operation, duplicates included."""
        return tuple(operations_of(self.contract))

    @cached_property
    def oracle_sites(self) -> tuple[OracleSite, ...]:
        """The checks, in contract order; an oracle without one has no site."""
        return tuple(
            OracleSite(oracle, tuple(walk(oracle.check, f"{oracle_path(oracle)}.check")))
            for oracle in self.contract.oracles
            if oracle.check is not None
        )

    @cached_property
    def witness_sites(self) -> tuple[WitnessSite, ...]:
        """The witness relations, in interface and operation order."""
        return tuple(
            WitnessSite(
                declared,
                witness,
                tuple(walk(witness.relation, f"{operation_position(declared)}.sensitivityWitness.relation")),
            )
            for declared in self.operations
            if (witness := declared.operation.sensitivity_witness) is not None
        )

    @property
    def sites(self) -> tuple[OracleSite | WitnessSite, ...]:
        """Oracles first, then witnesses."""
        return (*self.oracle_sites, *self.witness_sites)

    def operation_at(self, site: OracleSite | WitnessSite, step_id: str) -> AnyOperation | None:
        """The operation a pointer of a site is about; None where nothing resolves."""
        if isinstance(site, WitnessSite):
            return site.declared.operation if step_id in site.leg_ids else None
        step = self.index.step(step_id)
        return None if step is None else self.index.operation_of(step)
