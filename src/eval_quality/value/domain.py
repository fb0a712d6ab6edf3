"""The value domain of hashed artifacts, and the check of values already in memory (spec 01 §2, §4, §9).

Admitted: `None`, `bool`, `int` and `float` that are finite and, where integral, at most 2^53-1 in magnitude, `str`
without surrogates, `list` and `dict` with `str` keys, nested at most 1024 deep and acyclic; and the frozen twins of
the two containers. Exact types only: a subclass may print or compare differently from what it holds.

Order of checks for one value:

1. scalars: kind, then range or well-formedness;
2. anything that is neither scalar nor container is refused by the name of its type;
3. containers: depth, cycle, plainness, then keys and children.

Which fault is the first depends on who asks: the assertion takes members as they come, each key just before its
value; the serializer looks at all the keys of an object, sorts them, and then takes the members.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

from eval_quality.errors import RuntimeFault
from eval_quality.value.frozen import FrozenDict, FrozenList
from eval_quality.value.kind import is_array, is_object
from eval_quality.value.text import has_surrogates, js_number, utf16_key

MAX_NESTING_DEPTH: Final = 1024
"""Containers inside one another. Stops documents whose only content is nesting."""

MAX_SAFE_INTEGER: Final = 9007199254740991
"""2^53-1: beyond it two different integers can be one binary64 number."""

OBJECT_TYPES: Final = frozenset({dict, FrozenDict})
ARRAY_TYPES: Final = frozenset({list, FrozenList})

_Members = Iterator[tuple[Any, Any]]


class _Violation(Exception):
    """What is wrong with the value at hand, or with a key of the container at hand."""

    def __init__(self, problem: str, ending: str = "", in_key: bool = False) -> None:
        super().__init__(problem)
        self.problem = problem
        self.ending = ending
        self.in_key = in_key


def assert_hashed_artifact_value(value: Any, artifact_path: str) -> None:
    """Refuse a value outside the domain with `non-canonicalizable-value`, naming the first violation (spec 01 §4)."""
    found = _first_fault(value, artifact_path, _members_as_they_come)
    if found is not None:
        raise found


def serializer_fault(value: Any, artifact_path: str) -> RuntimeFault | None:
    """The fault that the serializer meets first, or None for a value inside the domain (spec 01 §4)."""
    return _first_fault(value, artifact_path, _members_as_written)


def _first_fault(
    value: Any, artifact_path: str, members_of: Callable[[dict[Any, Any]], _Members]
) -> RuntimeFault | None:
    # The containers that are open, innermost last, each with its members yet to come; and the key or index at hand in
    # each of them.
    frames: list[tuple[Any, _Members]] = []
    location: list[str | int] = []
    ancestors: set[int] = set()
    current: Any = value
    try:
        while True:
            if is_object(current) or is_array(current):
                _check_container(current, len(frames), ancestors)
                ancestors.add(id(current))
                members: _Members = members_of(current) if is_object(current) else iter(enumerate(current))
                frames.append((current, members))
                location.append("")
            else:
                _check_scalar(current)
            step: tuple[Any, Any] | None = None
            while frames and step is None:
                container, members = frames[-1]
                step = next(members, None)
                if step is None:
                    frames.pop()
                    location.pop()
                    ancestors.discard(id(container))
            if step is None:
                return None
            location[-1], current = step
    except _Violation as found:
        where = _spell(location[:-1] if found.in_key else location)
        detail = f"{found.problem} at {where}{found.ending}"
        return RuntimeFault("non-canonicalizable-value", artifact_path, detail)


def _spell(location: Iterable[str | int]) -> str:
    """A location inside a value as fault details print it: `$.items[3].name`, keys verbatim."""
    return "$" + "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in location)


def _check_scalar(value: object) -> None:
    if type(value) is str:
        if has_surrogates(value):
            raise _Violation("lone surrogate in string")
    elif type(value) is int or type(value) is float:
        if value - value != 0:
            raise _Violation("non-finite number")
        if not -MAX_SAFE_INTEGER <= value <= MAX_SAFE_INTEGER:
            # Every binary64 number beyond the range is an integer.
            raise _Violation("integer outside the safe range", f": {js_number(value)}")
    elif value is not None and type(value) is not bool:
        raise _Violation(f"{type(value).__name__} is not a hashed-artifact value")


def _check_container(value: Any, depth: int, ancestors: set[int]) -> None:
    if depth >= MAX_NESTING_DEPTH:
        raise _Violation(f"nesting depth exceeds {MAX_NESTING_DEPTH}")
    if id(value) in ancestors:
        raise _Violation("cyclic reference")
    if type(value) not in OBJECT_TYPES and type(value) not in ARRAY_TYPES:
        raise _Violation("non-plain object" if is_object(value) else "non-plain array")


def _members_as_they_come(container: dict[Any, Any]) -> _Members:
    for key, member in container.items():
        _check_key_type(key)
        if has_surrogates(key):
            raise _Violation("lone surrogate in object key", in_key=True)
        yield key, member


def _members_as_written(container: dict[Any, Any]) -> _Members:
    for key in container:
        _check_key_type(key)
        if has_surrogates(key):
            raise _Violation("lone surrogate in string", " (object key)", in_key=True)
    for key in sorted(container, key=utf16_key):
        yield key, container[key]


def _check_key_type(key: Any) -> None:
    if type(key) is not str:
        raise _Violation(f"{type(key).__name__} is not a hashed-artifact value", " (object key)", in_key=True)
