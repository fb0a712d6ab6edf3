"""What a plan step binds (spec 03 §5.4, §12)."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple, TypeAlias

from eval_quality.core.contract.keys import utf16_order
from eval_quality.model.binding import BindingValue, RawRequestBody
from eval_quality.model.contract import InteractionStep
from eval_quality.value.text import quoted

KeyedBinding: TypeAlias = Mapping[str, BindingValue]


class BoundValue(NamedTuple):
    """One bound parameter of a step, with the path of its binding."""

    step: InteractionStep
    channel: str
    key: str
    value: BindingValue

    @property
    def path(self) -> str:
        return binding_path(self.step, self.channel, self.key)


def binding_path(step: InteractionStep, channel: str, key: str) -> str:
    """The artifact path of one bound parameter."""
    return f"EvalContract.interactionPlan[stepId={step.step_id}].inputBinding.{channel}[{quoted(key)}]"


def bound_channels(step: InteractionStep) -> tuple[tuple[str, KeyedBinding | None], ...]:
    """The channels of a step's binding in input-channel order, each with its map or None where nothing is keyed.

    A raw body counts as None: raw bytes bypass every keyed rule.
    """
    return tuple(
        (name, None if isinstance(bound, RawRequestBody) else bound) for name, bound in step.input_binding.channels()
    )


def bound_values(step: InteractionStep) -> Iterator[BoundValue]:
    """Every keyed binding of a step: channels in order, keys in UTF-16 order."""
    for channel, bound in bound_channels(step):
        if bound is not None:
            yield from (BoundValue(step, channel, key, bound[key]) for key in utf16_order(bound))


def captured_values(step: InteractionStep) -> Iterator[tuple[BoundValue, str]]:
    """The keyed bindings that capture, each with the pointer it captures."""
    for value in bound_values(step):
        if isinstance(value.value.captured, str):
            yield value, value.value.captured
