"""The control block: what shows that the fixture resets and that the system is healthy (spec 06 §6.3.3).

1. Inputs: the first sensitivity leg's, where the operation has a witness; the empty inputs of its kind, where it
   requires no key; else none.
2. Observed: the first operation that changes no state and has inputs. Without one there is no control block.
3. Mutating: only where the contract declares a fixture reset, the first operation of the reset's interface that
   changes state and has inputs.
4. Legs: observe, observe; or, with a mutating operation, observe, mutate, reset, observe.
5. Minted ids avoid every id of the plan and of the witnesses, and one another.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, Literal, NamedTuple, TypeAlias

from eval_quality.core.compile.codes import UNREACHABLE_CHECK_EVIDENCE
from eval_quality.core.contract.operation import (
    DeclaredOperation,
    family,
    input_channels,
    operations_of,
    request_shape,
)
from eval_quality.errors import StructuralFailure
from eval_quality.model.binding import AbsentBody, WitnessInputs
from eval_quality.model.contract import EvalContract, FixtureReset
from eval_quality.model.interface import AnyOperation
from eval_quality.model.probe import Probe
from eval_quality.value.frozen import FrozenDict

OBSERVE_BASE: Final = "preflight-control-observe"
MUTATE_BASE: Final = "preflight-control-mutate"

ControlPurpose: TypeAlias = Literal["control-observe", "control-mutate", "control-reset"]

_EMPTY_INPUTS: Final = {
    "api": WitnessInputs(path=FrozenDict(), query=FrozenDict(), header=FrozenDict(), body=AbsentBody()),
    "cli": WitnessInputs(argument=FrozenDict(), option=FrozenDict(), environment=FrozenDict(), stdin=AbsentBody()),
    "mcp": WitnessInputs(arguments=FrozenDict()),
}


class ControlLeg(NamedTuple):
    """One leg of the control block, not yet a request."""

    leg_id: str
    purpose: ControlPurpose
    interface_id: str
    operation: AnyOperation
    inputs: WitnessInputs
    path: str


class _Candidate(NamedTuple):
    """An operation a control leg can call, with what it would send."""

    interface_id: str
    operation: AnyOperation
    inputs: WitnessInputs


def control_legs(contract: EvalContract, probes: Iterable[Probe]) -> tuple[ControlLeg, ...]:
    """The control block in order: the first and the last leg observe; empty when nothing can be observed.

    Raises `StructuralFailure unreachable-check-evidence` when the fixture reset names an undeclared operation.
    """
    declared = tuple(operations_of(contract))
    observed = next(_candidates(declared, changes_state=False), None)
    if observed is None:
        return ()
    taken = _taken(contract, declared, probes)
    first = _minted("control-observe", OBSERVE_BASE, observed, taken)
    between = _mutate_and_reset(contract.fixture_reset, declared, taken)
    return first, *between, _minted("control-observe", OBSERVE_BASE, observed, taken)


def _mutate_and_reset(
    reset: FixtureReset | None, declared: Sequence[DeclaredOperation], taken: set[str]
) -> tuple[ControlLeg, ...]:
    """The two legs between the observes; none where there is nothing to reset or nothing to reset from."""
    if reset is None:
        return ()
    on_interface = [known for known in declared if known.interface.logical_id == reset.interface_id]
    mutating = next(_candidates(on_interface, changes_state=True), None)
    if mutating is None:
        return ()
    for known in on_interface:
        if known.operation.operation_id == reset.operation_id:
            mutate = _minted("control-mutate", MUTATE_BASE, mutating, taken)
            path = "EvalContract.fixtureReset.legId"
            return mutate, ControlLeg(
                reset.leg_id, "control-reset", reset.interface_id, known.operation, reset.inputs, path
            )
    raise StructuralFailure(
        UNREACHABLE_CHECK_EVIDENCE,
        "EvalContract.fixtureReset",
        f'the fixture reset names operation "{reset.operation_id}" on interface "{reset.interface_id}", '
        "which the contract does not declare",
    )


def _candidates(declared: Iterable[DeclaredOperation], changes_state: bool) -> Iterator[_Candidate]:
    """The operations with that state-change marker that a control leg has inputs for, in declaration order."""
    for known in declared:
        operation = known.operation
        inputs = _inputs(operation) if operation.state_change_marker is changes_state else None
        if inputs is not None:
            yield _Candidate(known.interface.logical_id, operation, inputs)


def _inputs(operation: AnyOperation) -> WitnessInputs | None:
    witness = operation.sensitivity_witness
    if witness is not None:
        return witness.legs[0].inputs
    for channel in input_channels(operation):
        shape = request_shape(operation, channel)
        if shape is not None and shape.required_keys:
            return None
    return _EMPTY_INPUTS[family(operation)]


def _taken(contract: EvalContract, declared: Iterable[DeclaredOperation], probes: Iterable[Probe]) -> set[str]:
    """Every id a minted one must avoid."""
    taken = {step.step_id for step in contract.interaction_plan}
    for probe in probes:
        if not probe.expected_clean:
            taken.update(d.manifestation_witness.leg_id for d in probe.defects if d.manifestation_witness is not None)
    for known in declared:
        if known.operation.sensitivity_witness is not None:
            taken.update(leg.leg_id for leg in known.operation.sensitivity_witness.legs)
    if contract.fixture_reset is not None:
        taken.add(contract.fixture_reset.leg_id)
    return taken


def _minted(purpose: ControlPurpose, base: str, candidate: _Candidate, taken: set[str]) -> ControlLeg:
    """A leg with an id of our own: the base, else the base and the first free number from 2."""
    leg_id, number = base, 2
    while leg_id in taken:
        leg_id, number = f"{base}-{number}", number + 1
    taken.add(leg_id)
    path = f'the minted {purpose} leg against "{candidate.operation.operation_id}"'
    return ControlLeg(leg_id, purpose, candidate.interface_id, candidate.operation, candidate.inputs, path)
