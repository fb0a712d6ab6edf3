"""JSON kinds and JSON equality (spec 01 §2, 05 §5.1.3).

Python says `True == 1` and `[1] == [True]`; JSON does not. Every comparison of JSON values in this package goes through
`json_equal`, which is equality of canonical forms without writing them: key order never matters, array order always
does, `1` equals `1.0`, and `-0` equals `0`.
"""

from typing import Any, Literal

JsonType = Literal["string", "number", "boolean", "object", "array", "null"]


def json_type(value: Any) -> JsonType:
    """The JSON kind of a value. Raises `TypeError` for a Python object that is no JSON value."""
    if isinstance(value, str):
        return "string"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, (int, float)):
        return "number"
    if isinstance(value, dict):
        return "object"
    if isinstance(value, list):
        return "array"
    if value is None:
        return "null"
    raise TypeError(f"{type(value).__name__} is not a JSON value")


def json_equal(left: Any, right: Any) -> bool:
    """Whether two JSON values are the same value. Not a number equals nothing, itself included.

    Values outside the canonical domain are compared all the same; a caller that must refuse them does so first
    (`assert_hashed_artifact_value`).
    """
    pending: list[tuple[Any, Any]] = [(left, right)]
    while pending:
        one, other = pending.pop()
        kind = json_type(one)
        if kind != json_type(other):
            return False
        if kind == "object":
            if len(one) != len(other):
                return False
            for key, member in one.items():
                if key not in other:
                    return False
                pending.append((member, other[key]))
        elif kind == "array":
            if len(one) != len(other):
                return False
            pending.extend(zip(one, other, strict=True))
        elif one != other:
            return False
    return True
