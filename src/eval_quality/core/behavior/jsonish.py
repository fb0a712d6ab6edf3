"""Small views on JSON values whose shape is not yet known: the wanted kind, or None."""

from collections.abc import Iterator
from typing import Any, cast

JsonObject = dict[str, Any]


def as_object(value: object) -> JsonObject | None:
    """The value when it is a JSON object."""
    return cast(JsonObject, value) if isinstance(value, dict) else None


def as_list(value: object) -> list[Any] | None:
    """The value when it is a JSON array."""
    return cast(list[Any], value) if isinstance(value, list) else None


def as_text(value: object) -> str | None:
    """The value when it is a string with something other than white space in it."""
    return value if isinstance(value, str) and value.strip() else None


def as_integer(value: object) -> int | None:
    """The value when it is a whole number; a truth value is none."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def texts(value: object) -> list[str]:
    """The strings of a JSON array, in order; nothing when it is no array."""
    return [item for item in as_list(value) or [] if isinstance(item, str)]


def walk(value: object) -> Iterator[tuple[tuple[str | int, ...], object]]:
    """Every value below `value` with its path, parents first; `value` itself has the empty path.

    The stack is ours, so depth costs memory and never a recursion error.
    """
    stack: list[tuple[tuple[str | int, ...], object]] = [((), value)]
    while stack:
        path, current = stack.pop()
        yield path, current
        children: list[tuple[str | int, object]] = []
        if (members := as_object(current)) is not None:
            children = list(members.items())
        elif (items := as_list(current)) is not None:
            children = list(enumerate(items))
        stack.extend(((*path, key), child) for key, child in reversed(children))
