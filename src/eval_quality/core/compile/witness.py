"""Sensitivity witnesses and the fixture reset (spec 03 §14.2 to §14.4)."""

from collections.abc import Callable

from eval_quality.core.compile.codes import MALFORMED_OPERATOR_EXPRESSION, UNREACHABLE_CHECK_EVIDENCE
from eval_quality.core.compile.inputs import inputs_against_shape
from eval_quality.core.compile.reachability import leg_channel_refusal, unreachable_in, volatile_entry_over
from eval_quality.core.compile.survey import Survey, WitnessSite
from eval_quality.core.contract.operation import (
    AnyOperation,
    addresses_described,
    family,
    first_operation,
    input_channels,
)
from eval_quality.core.contract.pointer import ParsedPointer, is_bound, parse_pointer
from eval_quality.core.contract.text import compact
from eval_quality.errors import StructuralFailure
from eval_quality.model.decode import to_value
from eval_quality.model.interface import SensitivityWitnessLeg


def leg_identifiers(survey: Survey) -> StructuralFailure | None:
    """Step 33, §14.2: plan steps, both legs of every witness and the reset's leg share one namespace."""
    owners = {step.step_id: "a plan step" for step in survey.contract.interaction_plan}
    for site in survey.witness_sites:
        first, second = site.leg_ids
        if first == second:
            return _malformed(f"{site.path}.legs", f'both legs are called "{first}"')
        for position, leg_id in enumerate(site.leg_ids):
            if leg_id in owners:
                path = f"{site.path}.legs[{position}].legId"
                return _malformed(path, f'"{leg_id}" already names {owners[leg_id]}')
        owner = f'a leg of operation "{site.declared.operation.operation_id}"'
        owners.update((leg_id, owner) for leg_id in site.leg_ids)
    reset = survey.contract.fixture_reset
    if reset is not None and reset.leg_id in owners:
        return _malformed("EvalContract.fixtureReset.legId", f'"{reset.leg_id}" already names {owners[reset.leg_id]}')
    return None


def _malformed(path: str, detail: str) -> StructuralFailure:
    return StructuralFailure(MALFORMED_OPERATOR_EXPRESSION, path, detail)


def witness_legality(survey: Survey) -> StructuralFailure | None:
    """Step 34, §14.3 then §14.4: each witness can tell a difference, and the reset can reset."""
    for site in survey.witness_sites:
        failure = _illegal_witness(site)
        if failure is not None:
            return failure
    return _illegal_reset(survey)


def _illegal_witness(site: WitnessSite) -> StructuralFailure | None:
    operation, witness = site.declared.operation, site.witness
    # 1. the channel
    legal = _differential_channels(operation)
    if witness.channel not in legal:
        return _malformed(
            site.path,
            f'a witness of operation "{operation.operation_id}" varies {" or ".join(legal)}, not {witness.channel}',
        )
    # 2. both legs have it
    for leg in witness.legs:
        if witness.channel not in dict(leg.inputs.channels()):
            return _malformed(
                f"{site.path}.legs", f'the inputs of leg "{leg.leg_id}" have no {witness.channel} channel'
            )
    # 3. and differ on it, key order included
    first, second = (_supplied_text(leg, witness.channel) for leg in witness.legs)
    if first == second:
        return _malformed(f"{site.path}.legs", f"both legs supply the same value on {witness.channel}")
    # 4. and 5. the relation is about the two legs
    return _foreign_relation(site) or _unread_evidence(site)


def _differential_channels(operation: AnyOperation) -> tuple[str, ...]:
    if family(operation) != "api":
        return input_channels(operation)
    return ("body",) if operation.state_change_marker else ("path", "query")


def _supplied_text(leg: SensitivityWitnessLeg, channel: str) -> str:
    return compact(to_value(dict(leg.inputs.channels())[channel]))


def _rooted_pointers(site: WitnessSite) -> list[tuple[str, str, ParsedPointer]]:
    """Path, text and parts of every interaction-rooted pointer of a relation, in walk order."""
    return [
        (place.path, place.pointer, parse_pointer(place.pointer))
        for node in site.nodes
        for place in node.operands
        if place.pointer is not None and not is_bound(place.pointer)
    ]


def _foreign_relation(site: WitnessSite) -> StructuralFailure | None:
    addressed = [parsed.step_id for _, _, parsed in _rooted_pointers(site)]
    for step_id in addressed:
        if step_id not in site.leg_ids:
            return StructuralFailure(
                UNREACHABLE_CHECK_EVIDENCE,
                f"{site.path}.relation",
                f'the relation addresses "{step_id}", which is neither leg of the witness',
            )
    unread = next((leg_id for leg_id in site.leg_ids if leg_id not in addressed), None)
    if unread is None:
        return None
    return _malformed(f"{site.path}.relation", f'the relation does not address leg "{unread}", so it compares nothing')


def _unread_evidence(site: WitnessSite) -> StructuralFailure | None:
    operation = site.declared.operation
    # 6. to 8.: each rule walks the whole relation before the next one starts
    rules: tuple[Callable[[ParsedPointer, AnyOperation], str | None], ...] = (
        leg_channel_refusal,
        unreachable_in,
        _volatility_refusal,
    )
    for rule in rules:
        for path, pointer, parsed in _rooted_pointers(site):
            reason = rule(parsed, operation)
            if reason is not None:
                return StructuralFailure(UNREACHABLE_CHECK_EVIDENCE, path, f'"{pointer}": {reason}')
    return None


def _volatility_refusal(pointer: ParsedPointer, operation: AnyOperation) -> str | None:
    if not addresses_described(pointer, operation):
        return None
    volatile = volatile_entry_over(operation, pointer.tail)
    return None if volatile is None else f'volatile pointer "{volatile}" covers it, so the legs may differ there anyway'


def _illegal_reset(survey: Survey) -> StructuralFailure | None:
    reset = survey.contract.fixture_reset
    if reset is None:
        return None
    # 1. it names an operation
    operation = first_operation(survey.contract, reset.interface_id, reset.operation_id)
    if operation is None:
        return StructuralFailure(
            UNREACHABLE_CHECK_EVIDENCE,
            "EvalContract.fixtureReset",
            f'interface "{reset.interface_id}" declares no operation "{reset.operation_id}"',
        )
    # 2. that changes state
    if not operation.state_change_marker:
        return _malformed("EvalContract.fixtureReset", f'operation "{reset.operation_id}" changes no state')
    # 3. with inputs it takes, whatever the mode
    return inputs_against_shape(reset.inputs, operation, "the fixture reset", "EvalContract.fixtureReset.inputs")
