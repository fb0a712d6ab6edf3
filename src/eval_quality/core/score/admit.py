"""Does what was sent satisfy a binding? (spec 08 §3.5)

Rules, per bound channel (a null channel binds nothing):

1. The observed channel is not null and carries every bound key as its own.
2. `literal` and `captured` compare deeply with the observed value; an absent value equals nothing.
3. `principal` compares the observation's principal; the key's own value is not read.
4. `any` asks for the key alone; `type-violating` asks for a stated type that the observed value does not have.
5. A raw body binds one whole value and is matched only by an observation marked raw. A key map of `body` is never
   matched by one that is (spec 08 §17.1).
"""

from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

from eval_quality.core.contract.operation import AnyOperation, request_shape
from eval_quality.model.binding import RawRequestBody
from eval_quality.model.decode import to_value
from eval_quality.model.run_record import Observation
from eval_quality.value.compare import json_equal, json_type
from eval_quality.value.pointer import MISSING

CapturedValues: TypeAlias = Mapping[tuple[str, str], Any]
"""What each captured binding, by (channel, key), resolved to; `MISSING` where its pointer addressed nothing."""

Channels: TypeAlias = Iterable[tuple[str, Any]]
"""Bound channels: name, and a key map, a raw body or None."""


def admits(
    channels: Channels, observation: Observation, operation: AnyOperation | None, captured: CapturedValues
) -> bool:
    """Whether the observation's call inputs satisfy every bound channel (spec 08 §3.5)."""
    return all(
        bound is None or _channel_admits(channel, bound, observation, operation, captured)
        for channel, bound in channels
    )


def _channel_admits(
    channel: str, bound: Any, observation: Observation, operation: AnyOperation | None, captured: CapturedValues
) -> bool:
    sent: Mapping[str, Any] | None = getattr(observation.call_inputs, channel)
    if sent is None:
        return False
    raw = channel == "body" and observation.call_inputs.body_encoding == "raw"
    if isinstance(bound, RawRequestBody):
        return raw and json_equal(sent, to_value(bound))
    if raw:
        return False
    return all(
        key in sent and _value_admits(channel, key, value, sent[key], observation, operation, captured)
        for key, value in bound.items()
    )


def _value_admits(
    channel: str,
    key: str,
    value: Any,
    sent: Any,
    observation: Observation,
    operation: AnyOperation | None,
    captured: CapturedValues,
) -> bool:
    if value.form == "literal":
        return json_equal(sent, value.literal)
    if value.form == "captured":
        expected = captured.get((channel, key), MISSING)
        return expected is not MISSING and json_equal(sent, expected)
    if value.form == "principal":
        return observation.principal == value.principal
    if value.matcher == "any":
        return True
    shape = None if operation is None else request_shape(operation, channel)
    declared = None if shape is None else shape.types.get(key)
    return declared is not None and json_type(sent) != declared
