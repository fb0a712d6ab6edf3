"""What an operand denotes (spec 05 §5.3).

1. A literal denotes itself, and never resolves ABSENT.
2. A reference set denotes its members array, or ABSENT when no such set is declared.
3. A bound-element pointer (`@/...`) walks the element a quantifier bound; without one it is ABSENT.
4. An interaction-rooted pointer walks a channel of the observation that answers for its step; without one it is ABSENT.

Every miss, type mismatch and over-long tail is the same ABSENT. A channel whose root is `null` is present.

Not here: which observation answers for a step (spec 08 §3), and whether an ABSENT operand names a collection
(`collection`).
"""

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, Final, TypeAlias

from msgspec import UNSET

from eval_quality.core.contract.pointer import ParsedPointer, parse_pointer
from eval_quality.core.evaluation.absent import ABSENT
from eval_quality.core.evaluation.reference_sets import ReferenceSetMembers
from eval_quality.model.expression import Operand, SetOperand
from eval_quality.value.pointer import lookup, split

ResolveOperand: TypeAlias = Callable[[Any, Any], Any]
"""`resolve(operand, bound_element)`: a JSON value, or ABSENT; `bound_element` is ABSENT outside a quantifier."""

_BOUND_POINTERS: Final = 4096
"""Decoded bound pointers kept; a predicate decodes its pointers once, not once an element."""


def make_resolve_operand(step_observations: Mapping[str, Any], reference_sets: ReferenceSetMembers) -> ResolveOperand:
    """A resolver over one selected observation per step (or leg) id and the members of every reference set.

    Both maps are read as they are now; later changes to them are not seen. A pointer is resolved once: observations are
    immutable, so a hundred checks that read one member walk to it once.
    """
    observations = dict(step_observations)
    members = {name: list(values) for name, values in reference_sets.items()}
    resolved: dict[str, Any] = {}

    def resolve(operand: Operand | SetOperand, bound_element: Any = ABSENT) -> Any:
        pointer = operand.pointer
        if pointer is UNSET:
            literal: Any = operand.literal
            return literal if literal is not UNSET else members.get(str(operand.reference_set), ABSENT)
        if pointer[0] == "@":
            # With nothing bound the element is ABSENT, and nothing is reached from there.
            return lookup(bound_element, bound_tokens(pointer))
        if pointer not in resolved:
            resolved[pointer] = _from_interaction(observations, parse_pointer(pointer))
        return resolved[pointer]

    return resolve


@lru_cache(maxsize=_BOUND_POINTERS)
def bound_tokens(pointer: str) -> tuple[str, ...]:
    """The decoded tokens of a bound pointer; `@/` is the element itself, never its `""` key (spec 05 §5.3.2)."""
    tail = pointer[1:]
    return () if tail == "/" else split(tail)


def channel_root(observation: Any, target: ParsedPointer) -> Any:
    """The value a pointer's tail is walked from: JSON, or ABSENT (spec 05 §5.3.5)."""
    return _CHANNEL_ROOTS[target.channel](observation, target)


def _from_interaction(observations: Mapping[str, Any], target: ParsedPointer) -> Any:
    observation = observations.get(target.step_id)
    if observation is None:
        return ABSENT
    return lookup(channel_root(observation, target), target.tail)


def _call_inputs(observation: Any, target: ParsedPointer) -> Any:
    # A record of an older stamp lacks the channels its reference did not know; that is not a channel left empty.
    value = getattr(observation.call_inputs, str(target.input_channel), UNSET)
    return ABSENT if value is UNSET else value


def _artifact(observation: Any, target: ParsedPointer) -> Any:
    # Unwritten is ABSENT, not null: null would make `existence` hold on every run.
    body = observation.artifacts.get(target.artifact_id)
    return ABSENT if body is None or body.kind == "absent" else body.value


def _stream(body: Any) -> Any:
    return None if body.kind == "absent" else body.value


_CHANNEL_ROOTS: Final[Mapping[str, Callable[[Any, ParsedPointer], Any]]] = {
    "response-body": lambda observation, _: observation.response_body,
    "response-headers": lambda observation, _: observation.response_headers,
    "response-status": lambda observation, _: observation.response_status,
    "call-inputs": _call_inputs,
    "stdout": lambda observation, _: _stream(observation.stdout),
    "stderr": lambda observation, _: _stream(observation.stderr),
    "exit-code": lambda observation, _: observation.exit_code,
    "artifact": _artifact,
}
