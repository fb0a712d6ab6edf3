"""The first place at which two JSON documents differ.

Objects are compared member by member in the left document's own order, then members that only the right one has; arrays
element by element, then by length. Scalars are the same when JSON says so: `1` is `1.0` and never `true`.
"""

from typing import Any, Final, NamedTuple

from eval_quality.core.contract.text import display
from eval_quality.value.compare import json_equal
from eval_quality.value.kind import is_array, is_object
from eval_quality.value.pointer import MISSING, escape

LONGEST_SHOWN: Final = 200
"""Characters shown of a differing value. Stops a large member from drowning the one line that names it."""


class Difference(NamedTuple):
    """Where (an RFC 6901 pointer), and what each side has there."""

    path: str
    left: str
    right: str


def first_difference(left: Any, right: Any) -> Difference | None:
    """The first difference between two plain JSON values, or None."""
    pending: list[tuple[Any, Any, str]] = [(left, right, "")]
    while pending:
        one, other, path = pending.pop()
        if is_object(one) and is_object(other):
            names = [*one, *(name for name in other if name not in one)]
            parts = [(one.get(name, MISSING), other.get(name, MISSING), f"{path}/{escape(name)}") for name in names]
        elif is_array(one) and is_array(other):
            longer = max(len(one), len(other))
            parts = [
                (
                    one[index] if index < len(one) else MISSING,
                    other[index] if index < len(other) else MISSING,
                    f"{path}/{index}",
                )
                for index in range(longer)
            ]
        elif one is MISSING or other is MISSING or not json_equal(one, other):
            return Difference(path, _shown(one), _shown(other))
        else:
            continue
        pending.extend(reversed(parts))
    return None


def _shown(value: Any) -> str:
    text = "nothing" if value is MISSING else display(value)
    return text if len(text) <= LONGEST_SHOWN else text[:LONGEST_SHOWN] + "..."
