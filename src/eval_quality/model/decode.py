"""From plain JSON values to records and back (spec 02 §1, spec 10 §8).

Decoding a value runs in this order:

1. A walk makes an immutable copy: `__proto__` keys are dropped (§1.6), integral numbers in the safe range become `int`
   (§1.2), anything that is not JSON (a tuple, a Decimal, a NaN, a key that is not a string, a subclass) is an issue.
   More than 1024 nested containers are `non-canonicalizable-value`, as the canonical writer would say.
2. A kind that is a union at the root of its document is narrowed by its branch key.
3. `msgspec.convert` builds the record. When it refuses, `model.explain` lists every structural problem.

The caller's value is never changed. Every problem of one document becomes one `schema-parse-failure` whose cause is
the issue list (§1.7).
"""

import math
from types import UnionType
from typing import Any, Final, TypeAlias, TypeVar

import msgspec
from msgspec import UNSET

from eval_quality.errors import Problem, RuntimeFault, SchemaIssues
from eval_quality.model.primitives import SAFE
from eval_quality.model.record import Record, wire_names
from eval_quality.value.depth import room
from eval_quality.value.frozen import FrozenDict, FrozenList
from eval_quality.value.kind import is_array, is_object

T = TypeVar("T")

MAX_NESTING_DEPTH: Final = 1024
"""Stops a value, or a cycle in one, from exhausting the stack of whoever reads it next (spec 01 §2)."""

_SCALARS: Final = frozenset({str, int, float, bool, type(None)})
_SETTLED: Final = _SCALARS - {float}


def decode(kind: type[T], value: Any, artifact_path: str) -> T:
    """The record of `kind` that `value` spells; a record of that kind is returned unchanged.

    Raises `schema-parse-failure` at `artifact_path`, caused by `SchemaIssues` with every problem in a stable order,
    or `non-canonicalizable-value` for a value nested too deep.
    """
    if _is_record_of(kind, value):
        return value
    with room():
        record, problems = _attempt(kind, value, artifact_path)
    if problems:
        issues = SchemaIssues(problems)
        raise RuntimeFault("schema-parse-failure", artifact_path, str(issues)) from issues
    return record


def decode_list(kind: type[T], value: Any, artifact_path: str) -> tuple[T, ...]:
    """The records of `kind` that a list (or a tuple of records) spells; issue paths start with the index.

    Raises as `decode` does; an empty list is no problem here.
    """
    if type(value) not in (list, tuple, FrozenList):
        issues = SchemaIssues([Problem((), "invalid_type", "must be an array")])
        raise RuntimeFault("schema-parse-failure", artifact_path, str(issues)) from issues
    records: list[T] = []
    problems: list[Problem] = []
    with room():
        for index, element in enumerate(value):
            if _is_record_of(kind, element):
                records.append(element)
                continue
            record, found = _attempt(kind, element, artifact_path)
            records.append(record)
            problems += [Problem((index, *problem.path), problem.kind, problem.message) for problem in found]
    if problems:
        issues = SchemaIssues(problems)
        raise RuntimeFault("schema-parse-failure", artifact_path, str(issues)) from issues
    return tuple(records)


def issues(kind: Any, value: Any) -> tuple[Problem, ...]:
    """Every structural problem of `value` as a document of `kind`; empty when it decodes."""
    if _is_record_of(kind, value):
        return ()
    with room():
        return _attempt(kind, value, getattr(kind, "__name__", "value"))[1]


def to_value(record: Any) -> Any:
    """The plain JSON value of a record (or of a JSON value): fresh `dict` and `list`, members in table order."""
    with room():
        return _plain(record)


def normalise(value: Any, artifact_path: str, allow_bytes: bool = False) -> tuple[Any, tuple[Problem, ...]]:
    """An immutable copy of a JSON value as schemas see it, and what in it is not JSON (step 1 above)."""
    problems: list[Problem] = []
    pending: list[tuple[Any, _Place, int]] = []

    def accept(member: object, parent: _Place, token: str | int, depth: int) -> Any:
        kind = type(member)
        if isinstance(member, float) and kind is float:
            if member.is_integer() and -SAFE <= member <= SAFE:
                return int(member)
            if not math.isfinite(member):
                problems.append(Problem(_path((parent, token)), "invalid_type", "must be a finite number"))
            return member
        if kind in _SCALARS or (allow_bytes and kind is bytes):
            return member
        if is_object(member) and (kind is dict or kind is FrozenDict):
            copy: Any = FrozenDict(member)
        elif is_array(member) and (kind is list or kind is FrozenList):
            copy = FrozenList(member)
        else:
            message = f"must be a JSON value, not a Python {kind.__name__}"
            problems.append(Problem(_path((parent, token)), "invalid_type", message))
            return None
        if depth > MAX_NESTING_DEPTH:
            detail = f"nesting depth exceeds {MAX_NESTING_DEPTH}"
            raise RuntimeFault("non-canonicalizable-value", artifact_path, detail)
        pending.append((copy, (parent, token), depth))
        return copy

    root = accept(value, None, "", 1)
    # Containers were copied shallowly, so only members that are no plain scalar need a second look. A frozen container
    # refuses its own writing methods; the base classes' methods write.
    put, set_at = dict[Any, Any].__setitem__, list[Any].__setitem__
    while pending:
        container, place, depth = pending.pop()
        if is_object(container):
            if "__proto__" in container:
                dict[Any, Any].__delitem__(container, "__proto__")
            for key, member in container.items():
                if type(key) is not str:
                    problems.append(Problem(_path(place), "invalid_type", "must have strings for keys"))
                elif type(member) not in _SETTLED:
                    put(container, key, accept(member, place, key, depth + 1))
        else:
            for index, member in enumerate(container):
                if type(member) not in _SETTLED:
                    set_at(container, index, accept(member, place, index, depth + 1))
    return root, tuple(problems)


# Where a container stands: its parent's place and its own key or index. A chain instead of a tuple of tokens, so that
# many containers at the depth limit do not each hold a thousand tokens.
_Place: TypeAlias = "tuple[_Place, str | int] | None"


def _path(place: _Place) -> tuple[str | int, ...]:
    tokens: list[str | int] = []
    while place is not None:
        place, token = place
        tokens.append(token)
    return tuple(reversed(tokens[:-1]))


def record_class(kind: Any) -> type[Record] | None:
    """`kind` where it is one record class, None where it is a union."""
    return kind if isinstance(kind, type) and issubclass(kind, Record) else None


def _is_record_of(kind: Any, value: Any) -> bool:
    return isinstance(value, Record) and isinstance(kind, type | UnionType) and isinstance(value, kind)


def _attempt(kind: Any, value: Any, artifact_path: str) -> tuple[Any, tuple[Problem, ...]]:
    # 1. An immutable copy.
    record_kind = record_class(kind)
    frozen, problems = normalise(value, artifact_path, record_kind is not None and record_kind.CARRIES_BYTES)
    if problems:
        return None, problems
    # 2. The branch of a root union. A single tagged record must carry its tag, which convert takes as optional.
    narrowed: Any = kind
    if record_kind is not None:
        narrowed = branch_of(record_kind, frozen)
        tag_field = None if narrowed is None else narrowed.__struct_config__.tag_field
        if tag_field is not None and is_object(frozen) and tag_field not in frozen:
            narrowed = None
    # 3. The record, or everything that is wrong.
    if narrowed is not None:
        try:
            # Bytes are bytes: without this, msgspec reads a string in their place as base64.
            return msgspec.convert(frozen, narrowed, builtin_types=(bytes,)), ()
        except (msgspec.ValidationError, UnicodeEncodeError):
            pass
    from eval_quality.model.explain import explain

    return None, explain(kind, frozen) or (Problem((), "invalid_type", "is refused"),)


def branch_of(kind: type[Record], value: Any) -> type[Record] | None:
    """The branch of `kind` that a plain value belongs to, or None where its key names none."""
    if kind.BRANCH_KEY is None or not is_object(value):
        return kind
    key: Any = value.get(kind.BRANCH_KEY)
    for literal, branch in kind.branches().items():
        # `1 == True` in Python, so the type is part of the comparison.
        if type(key) is type(literal) and key == literal:
            return branch
    return None


def _plain(value: object) -> Any:
    kind = type(value)
    if kind in _SCALARS or kind is bytes:
        return value
    if isinstance(value, Record):
        plain: dict[str, Any] = {}
        for attribute, wire in wire_names(type(value)):
            member = getattr(value, attribute)
            if member is not UNSET:
                plain[wire] = member if type(member) is str else _plain(member)
        return plain
    if is_object(value):
        return {key: _plain(member) for key, member in value.items()}
    elements: Any = value
    return [_plain(element) for element in elements]
