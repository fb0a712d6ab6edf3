"""Rule 1, `success-indicator-separation` (spec 04 §3.1).

An answer that says "ok" and an answer that is right are two things. Where an operation has an indicator and something
beside it, one oracle that a behaviour lists reads both at one step. A command whose only answer is plain text has no
indicator to nominate; there the exit code and the exact text, asserted together, are the two things.
"""

from collections.abc import Iterator, Mapping
from typing import Final

from eval_quality.core.contract.operation import DeclaredOperation, described_channel
from eval_quality.core.coverage.site import NO_OPERATION, Site, place_of
from eval_quality.core.coverage.view import CoverageView, OracleView, descriptor_pointer, step_root
from eval_quality.model.expression import All, DeepEquality, Equality, Expression
from eval_quality.model.interface import CommandOperation
from eval_quality.value.compare import json_equal

_INDICATOR: Final = "success-indicator"
_SCALAR_ROLES: Final[tuple[dict[str, str] | None, ...]] = (None, {}, {"": "payload"})
_SUCCESS: Final = 0


def sites(view: CoverageView) -> Iterator[Site]:
    """One site per operation whose answer has an indicator and more, or whose declaration is absent."""
    if not view.operations:
        yield NO_OPERATION
    for declared in view.operations:
        descriptor = declared.operation.response_descriptor
        if descriptor.success_indicator is None:
            yield _without_indicator(declared, view)
        elif descriptor.channel_roles is None:
            yield Site(
                place_of(declared),
                "channelRoles is null, so nothing says what stands beside the indicator",
                None,
                "declare channelRoles; {} says that nothing stands beside the indicator",
            )
        elif any(pointer != descriptor.success_indicator for pointer in descriptor.channel_roles):
            yield _with_roles(declared, descriptor.success_indicator, descriptor.channel_roles, view)


def _with_roles(declared: DeclaredOperation, indicator: str, roles: Mapping[str, str], view: CoverageView) -> Site:
    others = [pointer for pointer, role in roles.items() if pointer != indicator and role != _INDICATOR]
    witness = next(
        (
            f"oracle {view.oracles[at].oracle.id} at step {step.step_id}"
            for step in view.steps(declared)
            for other in others
            for at in sorted(
                view.listed
                & view.in_both(descriptor_pointer(step.step_id, declared.operation, indicator))
                & view.in_both(descriptor_pointer(step.step_id, declared.operation, other))
            )
        ),
        None,
    )
    return Site(
        place_of(declared),
        f'its success indicator "{indicator}" and another answer channel have roles',
        witness,
        "let one oracle that a behaviour lists read the indicator and one other channel, at one step, in its direction "
        "and in its check",
    )


def _without_indicator(declared: DeclaredOperation, view: CoverageView) -> Site:
    witness = None
    if _is_scalar_command(declared):
        witness = next(
            (
                f"oracle {view.oracles[at].oracle.id} at step {step.step_id}"
                for step in view.steps(declared)
                for at in sorted(view.listed)
                if _asserts_exit_and_text(view.oracles[at], step.step_id)
            ),
            None,
        )
    return Site(
        place_of(declared),
        "successIndicator is null, so nothing says where success shows",
        witness,
        'nominate a successIndicator ("" is the whole answer), or, for a command that prints one plain text, let one '
        "listed oracle assert exit code 0 and the exact text together",
    )


def _is_scalar_command(declared: DeclaredOperation) -> bool:
    """A command described by its standard output, declared without any key."""
    operation, descriptor = declared.operation, declared.operation.response_descriptor
    return (
        isinstance(operation, CommandOperation)
        and described_channel(operation) == "stdout"
        and not (descriptor.required_keys or descriptor.permitted_keys or descriptor.types)
        and any(json_equal(descriptor.channel_roles, roles) for roles in _SCALAR_ROLES)
    )


def _asserts_exit_and_text(view: OracleView, step_id: str) -> bool:
    exit_code, text = f"{step_root(step_id)}/exit-code", f"{step_root(step_id)}/stdout"
    if view.oracle.polarity != "expects-hold" or not {exit_code, text} <= set(view.targets):
        return False
    asserted = [pair for each in _conjuncts(view.oracle.check) if (pair := _literal_equality(each)) is not None]
    return any(pointer == exit_code and json_equal(literal, _SUCCESS) for pointer, literal in asserted) and any(
        # Text, number or boolean: a process that prints 42 is observed as the JSON number (spec 07 §7.4.7).
        pointer == text and isinstance(literal, str | int | float)
        for pointer, literal in asserted
    )


def _conjuncts(check: Expression | None) -> Iterator[Expression]:
    """What a check asserts outright: itself, or whatever stands under `all` and nothing but `all`."""
    pending = [] if check is None else [check]
    while pending:
        expression = pending.pop()
        if isinstance(expression, All):
            pending.extend(expression.operands)
        else:
            yield expression


def _literal_equality(expression: Expression) -> tuple[str, object] | None:
    """The pointer and the literal of an equality between the two, in either place."""
    if not isinstance(expression, Equality | DeepEquality):
        return None
    first, second = expression.operands
    if first.form == "literal":
        first, second = second, first
    if not isinstance(first.pointer, str) or second.form != "literal":
        return None
    return first.pointer, second.literal
