"""Small edits of JSON documents, for differential tests: `mutants(documents, count, seed)`."""

import copy
import random
from collections.abc import Iterator
from typing import Any

_VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, 1, -1, 2.5, 7, 1.0, 1e300, 9007199254740991, 1e21, "", "a", "x y", "\u00e9\n"),
    *("B-001", "/interactions/a/stdout", "@/id", "sha256:" + "0" * 64, "equality", "json", "api", "PASS"),
    *([], [None], ["a", "a"], {}, {"a": 1}, {"kind": "json", "value": 1}, {"literal": None}, {"pointer": "@/"}),
    {"op": "existence", "operands": [{"pointer": "@/"}]},
)
_KEYS = (
    "extra",
    "kind",
    "op",
    "mode",
    "literal",
    "artifactId",
    "expectedClean",
    "bodyEncoding",
    "",
    "a-b",
    "A_B",
    "exitCode",
)


def mutants(documents: list[Any], count: int, seed: str) -> Iterator[Any]:
    """`count` documents, each one to three edits away from one of `documents`."""
    chance = random.Random(seed)
    for _ in range(count):
        document = copy.deepcopy(chance.choice(documents))
        for _ in range(chance.choice((1, 1, 1, 2, 3))):
            document = _edit(document, chance)
        yield document


def _edit(document: Any, chance: random.Random) -> Any:
    places = list(_places(document, None, None))
    container, token, value = chance.choice(places)
    if container is None and len(places) > 1:
        container, token, value = chance.choice(places[1:])
    edit = chance.randint(0, 7)
    if container is None or edit == 0:
        replacement = copy.deepcopy(chance.choice(_VALUES))
    elif edit == 1:
        replacement = copy.deepcopy(chance.choice(places)[2])
    elif edit == 2 and isinstance(value, dict):
        replacement = {**value, chance.choice(_KEYS): copy.deepcopy(chance.choice(_VALUES))}
    elif edit == 3 and isinstance(value, list) and value:
        replacement = [*value, copy.deepcopy(chance.choice(value))]
    elif edit in (4, 5):
        del container[token]
        return document
    elif isinstance(value, str):
        replacement = chance.choice((value + "\n", value.upper(), value[:-1], value + "/x", value + "0", " " + value))
    elif isinstance(value, bool):
        replacement = not value
    elif isinstance(value, int | float):
        replacement = chance.choice((value + 1, -value, value * 1.0, value + 0.5, value * 1000))
    else:
        replacement = copy.deepcopy(chance.choice(_VALUES))
    if container is None:
        return replacement
    container[token] = replacement
    return document


def _places(value: Any, container: Any, token: Any) -> Iterator[tuple[Any, Any, Any]]:
    yield container, token, value
    if isinstance(value, dict):
        for key, member in value.items():
            yield from _places(member, value, key)
    elif isinstance(value, list):
        for index, element in enumerate(value):
            yield from _places(element, value, index)
