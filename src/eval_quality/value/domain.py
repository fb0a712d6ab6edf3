"""The value domain of hashed artifacts, and the check of values already in memory (spec 01 §2, §4, §9).

Admitted: `None`, `bool`, `int` and `float` that are finite and, where integral, at most 2^53-1 in magnitude, `str`
without surrogates, `list` and `dict` with `str` keys, nested at most 1024 deep and acyclic; and the frozen twins of
the two containers. Exact types only: a subclass may print or compare differently from what it holds.

Order of checks for one value:

1. scalars: kind, then range or well-formedness;
2. anything that is neither scalar nor container is refused by the name of its type;
3. containers: depth, cycle, plainness, then keys and children.

The wording of every fault is here, shared with the serializer, which performs the same checks while it writes.
"""

from collections.abc import Iterable, Iterator
from typing import Any, Final

from eval_quality.errors import RuntimeFault
from eval_quality.value.frozen import FrozenDict, FrozenList
from eval_quality.value.text import has_surrogates, js_number

MAX_NESTING_DEPTH: Final = 1024
"""Containers inside one another. Stops documents whose only content is nesting."""

MAX_SAFE_INTEGER: Final = 9007199254740991
"""2^53-1: beyond it two different integers can be one binary64 number."""

OBJECT_TYPES: Final = frozenset({dict, FrozenDict})
ARRAY_TYPES: Final = frozenset({list, FrozenList})

Location = Iterable[str | int]


def spell(location: Location) -> str:
    """A location inside a value as fault details print it: `$.items[3].name`, keys verbatim."""
    return "$" + "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in location)


def fault(detail: str, artifact_path: str) -> RuntimeFault:
    """A `non-canonicalizable-value` fault."""
    return RuntimeFault("non-canonicalizable-value", artifact_path, detail)


def scalar_problem(value: Any, kind: type) -> str | None:
    """Why a non-container is outside the domain, as the detail's opening words, or None (spec 01 §4 steps 1-4).

    `value` is exactly of type `kind`. The location is appended by `scalar_fault`.
    """
    if kind is str:
        return "lone surrogate in string" if has_surrogates(value) else None
    if kind is int:
        return None if -MAX_SAFE_INTEGER <= value <= MAX_SAFE_INTEGER else "integer outside the safe range"
    if kind is float:
        if value - value != 0:
            return "non-finite number"
        return None if -MAX_SAFE_INTEGER <= value <= MAX_SAFE_INTEGER else "integer outside the safe range"
    if value is None or kind is bool:
        return None
    return f"{kind.__name__} is not a hashed-artifact value"


def scalar_fault(problem: str, value: Any, location: Location, artifact_path: str) -> RuntimeFault:
    """The fault for a problem that `scalar_problem` named."""
    suffix = f": {js_number(value)}" if problem == "integer outside the safe range" else ""
    return fault(f"{problem} at {spell(location)}{suffix}", artifact_path)


def container_problem(value: Any, kind: type, depth: int, ancestors: set[int]) -> str | None:
    """Why a container at `depth` (the root is 0) may not be entered, or None (spec 01 §4 step 5).

    `ancestors` holds the identities of the containers around it.
    """
    if depth >= MAX_NESTING_DEPTH:
        return f"nesting depth exceeds {MAX_NESTING_DEPTH}"
    if id(value) in ancestors:
        return "cyclic reference"
    if kind in OBJECT_TYPES or kind in ARRAY_TYPES:
        return None
    return "non-plain object" if isinstance(value, dict) else "non-plain array"


def assert_hashed_artifact_value(value: Any, artifact_path: str) -> None:
    """Refuse a value outside the domain with `non-canonicalizable-value`, naming the first violation.

    Members are visited in insertion order, each key just before its value (spec 01 §4).
    """
    location: list[str | int] = []
    ancestors: set[int] = set()
    open_containers: list[tuple[Any, Iterator[tuple[Any, Any]]]] = []
    current = value
    while True:
        kind = type(current)
        if isinstance(current, (dict, list)):
            problem = container_problem(current, kind, len(open_containers), ancestors)
            if problem is not None:
                raise fault(f"{problem} at {spell(location)}", artifact_path)
            ancestors.add(id(current))
            members = iter(current.items() if isinstance(current, dict) else enumerate(current))
            open_containers.append((current, members))
            location.append("")
        else:
            problem = scalar_problem(current, kind)
            if problem is not None:
                raise scalar_fault(problem, current, location, artifact_path)
        while open_containers:
            container, members = open_containers[-1]
            step = next(members, None)
            if step is not None:
                break
            open_containers.pop()
            location.pop()
            ancestors.discard(id(container))
        else:
            return
        key, current = step
        if isinstance(container, dict):
            _check_key(key, location[:-1], artifact_path)
        location[-1] = key


def _check_key(key: Any, location: Location, artifact_path: str) -> None:
    if type(key) is not str:
        raise key_type_fault(key, location, artifact_path)
    if has_surrogates(key):
        raise fault(f"lone surrogate in object key at {spell(location)}", artifact_path)


def key_type_fault(key: Any, location: Location, artifact_path: str) -> RuntimeFault:
    """The fault for an object key that is not exactly a `str`; the location is the object's."""
    return fault(
        f"{type(key).__name__} is not a hashed-artifact value at {spell(location)} (object key)", artifact_path
    )
