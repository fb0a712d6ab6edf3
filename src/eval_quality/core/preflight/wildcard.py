"""Steps of a descriptor pointer in which `*` stands for every element or member (spec 06 §6.4.1).

Any other token addresses an own key of an object, or an index of an array written without a leading zero. What is not
there is not stepped into: no token ever fails.
"""

from collections.abc import Iterator
from typing import Any, Final

from eval_quality.value.kind import is_array, is_object
from eval_quality.value.pointer import MISSING, lookup

WILDCARD: Final = "*"


def steps(node: Any, token: str) -> Iterator[tuple[str, Any]]:
    """The children of `node` that `token` addresses, each with the plain token that names it."""
    if token != WILDCARD:
        child = lookup(node, (token,))
        if child is not MISSING:
            yield token, child
    elif is_object(node):
        yield from node.items()
    elif is_array(node):
        for index, child in enumerate(node):
            yield str(index), child


def walk(root: Any, tokens: tuple[str, ...]) -> dict[tuple[str, ...], Any]:
    """Every place the tokens address, by its plain tokens."""
    places: dict[tuple[str, ...], Any] = {(): root}
    for token in tokens:
        places = {(*place, name): child for place, node in places.items() for name, child in steps(node, token)}
    return places
