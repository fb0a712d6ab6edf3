"""Leaving out what is expected to differ between identical calls (spec 06 §6.4.1).

1. Only a `json` body is pruned, and only where the operation declares volatile pointers.
2. The empty pointer makes the whole body `absent`.
3. Else each pointer is applied to a copy in declared order. Removing an array element shifts the later ones, so
   order matters; a pointer that resolves to nothing is no error.
"""

from collections.abc import Sequence
from typing import Any

from eval_quality.core.preflight.wildcard import WILDCARD, walk
from eval_quality.model.binding import AbsentBody, JsonBody, ProbeObservedBody
from eval_quality.value.freeze import thaw
from eval_quality.value.pointer import MISSING, lookup, split


def prune(body: ProbeObservedBody, volatile_pointers: Sequence[str]) -> ProbeObservedBody:
    """The body without its volatile parts; the body given is not changed."""
    if not isinstance(body, JsonBody) or not volatile_pointers:
        return body
    if "" in volatile_pointers:
        return AbsentBody()
    value = thaw(body.value)
    for pointer in volatile_pointers:
        _remove(value, split(pointer))
    return JsonBody(value=value)


def _remove(root: Any, tokens: tuple[str, ...]) -> None:
    """Delete every place the tokens address."""
    *parents, last = tokens
    for node in walk(root, tuple(parents)).values():
        if last == WILDCARD and isinstance(node, dict | list):
            node.clear()
        elif lookup(node, (last,)) is not MISSING:
            del node[last if isinstance(node, dict) else int(last)]
