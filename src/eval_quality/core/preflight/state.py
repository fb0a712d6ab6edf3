"""Whether the fixture was back where it started (spec 06 §6.6.2, `state-reset`).

The state compared is, by default, the projection without its leg id. An operation that declares state-reset pointers
narrows it:

1. the transport fields and identifiers always count;
2. a non-empty list adds the body's tag;
3. each pointer adds the value found there, "not there" kept apart from `null`; one with wildcards adds a value for each
   of its matches, none when nothing matches;
4. a body that is not `json` answers only the empty pointer, with itself.

States are compared by canonical form, so key order is irrelevant and a value outside the domain is a fault.
"""

from collections.abc import Sequence
from typing import Any

from msgspec import UNSET

from eval_quality.core.preflight.projection import ARTIFACT_PATH, Projection
from eval_quality.core.preflight.wildcard import walk
from eval_quality.model.binding import JsonBody, ProbeObservedBody
from eval_quality.model.decode import to_value
from eval_quality.model.interface import AnyOperation
from eval_quality.value.canonical import canonicalize
from eval_quality.value.pointer import join, split


def same_state(first: Projection, last: Projection, operation: AnyOperation) -> bool:
    """Whether two observe legs of `operation` found one state. Raises `RuntimeFault non-canonicalizable-value`."""
    pointers = operation.state_reset_pointers
    declared = None if pointers is UNSET else pointers
    return canonicalize(_state(first, declared), ARTIFACT_PATH) == canonicalize(_state(last, declared), ARTIFACT_PATH)


def _state(projection: Projection, pointers: Sequence[str] | None) -> dict[str, Any]:
    state = projection.value()
    del state["legId"]
    if pointers is None:
        return state
    body = projection.body
    del state["body"]
    if pointers:
        state["tag"] = body.kind
        state["places"] = {pointer: _places(body, pointer) for pointer in pointers}
    return state


def _places(body: ProbeObservedBody, pointer: str) -> dict[str, Any]:
    """The values a pointer addresses, by concrete pointer; nothing where nothing is there."""
    if not isinstance(body, JsonBody):
        return {"": to_value(body)} if pointer == "" else {}
    return {join(place): value for place, value in walk(body.value, split(pointer)).items()}
