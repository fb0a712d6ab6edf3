"""Telling the two JSON containers apart, in a way a type checker can follow.

`isinstance(value, dict)` alone leaves a checker with keys and members of unknown type; these say what JSON says.
"""

from typing import Any, TypeGuard


def is_object(value: object) -> TypeGuard[dict[str, Any]]:
    """Whether a JSON value is an object, plain or frozen."""
    return isinstance(value, dict)


def is_array(value: object) -> TypeGuard[list[Any]]:
    """Whether a JSON value is an array, plain or frozen."""
    return isinstance(value, list)
