"""Which legs pre-flight issues and which checks it reduces them to (spec 06 §6.3).

1. Every probe carries this build's stamp.
2. Interface identifiers are unique, as at compile.
3. Every interface kind is supported.
4. Sensitivity: both legs of every witness; one check for every operation, witness or not.
5. Control, once per contract (`control`).
6. Seeded faults: for each defect of each probe that is not expected clean, its leg, and two checks against the legs
   the operation already has; without a witness, only the check that fails.
7. Leg ids are unique over the plan.
8. A plan without legs proves nothing.
9. One interface-present check for every operation that has a leg, in order of first use, over all its legs.
10. Checks: those of step 9 first, then the others as appended.

A plan embeds operations and witnesses: reduction sees the plan and the observations and nothing else.
"""

from collections.abc import Sequence
from typing import Literal, NamedTuple, TypeAlias

from eval_quality.core.compile.codes import MALFORMED_OPERATOR_EXPRESSION, UNREACHABLE_CHECK_EVIDENCE
from eval_quality.core.compile.inputs import inputs_against_shape
from eval_quality.core.compile.interfaces import duplicate_interface_identifier, unsupported_interface_kind
from eval_quality.core.contract.operation import operations_of
from eval_quality.core.evaluation.reference_sets import (
    ReferenceSetKeys,
    ReferenceSetMembers,
    reference_set_keys_of,
    reference_set_members_of,
)
from eval_quality.core.preflight.control import ControlPurpose, control_legs
from eval_quality.core.preflight.request import build_request
from eval_quality.errors import StructuralFailure
from eval_quality.model.binding import WitnessInputs
from eval_quality.model.contract import EvalContract
from eval_quality.model.interface import AnyOperation, SensitivityWitness
from eval_quality.model.ports import ProbeRequest
from eval_quality.model.probe import Defect, ManifestationWitness, Probe
from eval_quality.model.stamp import check_stamp

LegPurpose: TypeAlias = ControlPurpose | Literal["sensitivity", "seeded-fault"]


class Leg(NamedTuple):
    """One request to issue, and what its answer is read with; `path` locates the leg's id for refusals."""

    leg_id: str
    purpose: LegPurpose
    request: ProbeRequest
    operation: AnyOperation
    inputs: WitnessInputs
    path: str


class InterfacePresent(NamedTuple):
    """Every leg of one operation was answered, under the request's own identifiers."""

    interface_id: str
    operation_id: str
    leg_ids: tuple[str, ...]


class InputSensitivity(NamedTuple):
    """An operation's answer depends on its input as its witness relation says."""

    interface_id: str
    operation: AnyOperation
    witness: SensitivityWitness | None


class StateReset(NamedTuple):
    """The first and the last observe leg found one state."""

    operation: AnyOperation
    first: str
    last: str


class CleanControl(NamedTuple):
    """No control leg answered with an anomaly."""

    leg_ids: tuple[str, ...]


class SeededFaultsScoped(NamedTuple):
    """A defect's witness does not fire on the other legs of its operation."""

    defect_id: str
    witness: ManifestationWitness
    operation: AnyOperation
    clean_leg_ids: tuple[str, ...]


class SeededFaultFired(NamedTuple):
    """A defect's witness fires on its own leg."""

    defect_id: str
    witness: ManifestationWitness | None


PlannedCheck: TypeAlias = (
    InterfacePresent | InputSensitivity | StateReset | CleanControl | SeededFaultsScoped | SeededFaultFired
)


class PreflightPlan(NamedTuple):
    """Legs in the order they are issued, checks in the order they are reported."""

    legs: tuple[Leg, ...]
    checks: tuple[PlannedCheck, ...]
    reference_set_members: ReferenceSetMembers
    reference_set_keys: ReferenceSetKeys


class _Draft:
    """A plan under construction: legs, the pairs they belong to, and the checks of steps 4 to 6."""

    def __init__(self) -> None:
        self.legs: list[Leg] = []
        self.legs_of: dict[tuple[str, str], list[str]] = {}
        self.checks: list[PlannedCheck] = []

    def add(
        self,
        leg_id: str,
        purpose: LegPurpose,
        interface_id: str,
        operation: AnyOperation,
        inputs: WitnessInputs,
        path: str,
    ) -> None:
        request = build_request(leg_id, interface_id, operation, inputs)
        self.legs.append(Leg(leg_id, purpose, request, operation, inputs, path))
        self.legs_of.setdefault((interface_id, operation.operation_id), []).append(leg_id)


def plan_preflight(contract: EvalContract, probes: Sequence[Probe]) -> PreflightPlan:
    """Plan the pre-flight of a compiled contract and its probes.

    Raises `RuntimeFault schema-version-mismatch`, and `StructuralFailure` with the codes
    `duplicate-interface-identifier`, `unsupported-interface-kind`, `undeclared-mandatory-input`,
    `unreachable-check-evidence` and `malformed-operator-expression`.
    """
    # 1.
    for probe in probes:
        check_stamp("probe", probe, f"Probe[probeId={probe.probe_id}]")
    # 2., 3.
    for rule in (duplicate_interface_identifier, unsupported_interface_kind):
        failure = rule(contract.permitted_interfaces)
        if failure is not None:
            raise failure
    draft = _Draft()
    _plan_sensitivity(draft, contract)
    _plan_control(draft, contract, probes)
    _plan_seeded_faults(draft, contract, probes)
    _require_unique_legs(draft.legs)
    # 8.
    if not draft.legs:
        raise StructuralFailure(
            UNREACHABLE_CHECK_EVIDENCE,
            "EvalContract.permittedInterfaces",
            "pre-flight has no leg to issue: no operation has a witness or can be called without inputs",
        )
    # 9., 10.
    present = [InterfacePresent(*pair, leg_ids=tuple(leg_ids)) for pair, leg_ids in draft.legs_of.items()]
    return PreflightPlan(
        tuple(draft.legs),
        (*present, *draft.checks),
        reference_set_members_of(contract),
        reference_set_keys_of(contract),
    )


def _plan_sensitivity(draft: _Draft, contract: EvalContract) -> None:
    """Step 4."""
    for declared in operations_of(contract):
        interface_id, operation = declared.interface.logical_id, declared.operation
        witness = operation.sensitivity_witness
        if witness is not None:
            interface_place = f"EvalContract.permittedInterfaces[{declared.interface_index}]"
            place = f"{interface_place}.operations[{declared.operation_index}].sensitivityWitness"
            for number, leg in enumerate(witness.legs):
                path = f"{place}.legs[{number}].legId"
                draft.add(leg.leg_id, "sensitivity", interface_id, operation, leg.inputs, path)
        draft.checks.append(InputSensitivity(interface_id, operation, witness))


def _plan_control(draft: _Draft, contract: EvalContract, probes: Sequence[Probe]) -> None:
    """Step 5."""
    legs = control_legs(contract, probes)
    for leg in legs:
        draft.add(*leg)
    if legs:
        draft.checks.append(StateReset(legs[0].operation, legs[0].leg_id, legs[-1].leg_id))
        draft.checks.append(CleanControl(tuple(leg.leg_id for leg in legs)))


def _plan_seeded_faults(draft: _Draft, contract: EvalContract, probes: Sequence[Probe]) -> None:
    """Step 6."""
    for probe in probes:
        for defect in probe.defects:
            place = f"Probe[probeId={probe.probe_id}].defects[defectId={defect.defect_id}].manifestationWitness"
            if defect.manifestation_witness is None:
                draft.checks.append(SeededFaultFired(defect.defect_id, None))
            else:
                _plan_fault(draft, contract, defect, defect.manifestation_witness, place)


def _plan_fault(
    draft: _Draft, contract: EvalContract, defect: Defect, witness: ManifestationWitness, place: str
) -> None:
    """One defect's leg and its two checks; the clean legs are those its operation has by now."""
    pair = (witness.interface_id, witness.operation_id)
    operation = _declared(contract, pair, place)
    owner = f"the manifestation witness of {defect.defect_id}"
    failure = inputs_against_shape(witness.inputs, operation, owner, f"{place}.inputs")
    if failure is not None:
        raise failure
    clean = tuple(draft.legs_of.get(pair, ()))
    draft.add(witness.leg_id, "seeded-fault", witness.interface_id, operation, witness.inputs, f"{place}.legId")
    draft.checks.append(SeededFaultsScoped(defect.defect_id, witness, operation, clean))
    draft.checks.append(SeededFaultFired(defect.defect_id, witness))


def _declared(contract: EvalContract, pair: tuple[str, str], place: str) -> AnyOperation:
    """The first operation a manifestation witness's pair names."""
    for declared in operations_of(contract):
        if (declared.interface.logical_id, declared.operation.operation_id) == pair:
            return declared.operation
    interface_id, operation_id = pair
    raise StructuralFailure(
        UNREACHABLE_CHECK_EVIDENCE,
        place,
        f'the witness names operation "{operation_id}" on interface "{interface_id}", '
        "which the contract does not declare",
    )


def _require_unique_legs(legs: Sequence[Leg]) -> None:
    """Step 7."""
    seen: set[str] = set()
    for leg in legs:
        if leg.leg_id in seen:
            detail = f'leg identifier "{leg.leg_id}" is already taken in this plan'
            raise StructuralFailure(MALFORMED_OPERATOR_EXPRESSION, leg.path, detail)
        seen.add(leg.leg_id)
