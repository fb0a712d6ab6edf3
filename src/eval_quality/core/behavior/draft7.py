"""A reader of the small part of JSON Schema draft-07 that our published behaviour schemas use.

The published document *is* the check: nothing describes a bundle twice. Supported: `type`, `const`, `enum`,
`required`, `properties`, `additionalProperties: false`, `items`, `minItems`, `uniqueItems`, `minLength`, `pattern`,
`minimum`, `maximum`, `format: date-time` and local `$ref`. Every problem is reported, in document order.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from functools import lru_cache
from typing import Any, Final

from eval_quality.core.behavior.jsonish import as_list, as_object
from eval_quality.errors import Problem
from eval_quality.value.compare import json_equal

MAX_PROBLEMS: Final = 200
"""Problems reported for one document: a list of a million wrong items would otherwise print a million lines."""

_DATE_TIME: Final = re.compile(
    r"([0-9]{4}-[0-9]{2}-[0-9]{2})[Tt]([0-9]{2}:[0-9]{2}:[0-9]{2})(\.[0-9]+)?([Zz]|[+-][0-9]{2}:[0-9]{2})"
)

_Path = tuple[str | int, ...]


def parse_date_time(text: str) -> datetime | None:
    """An RFC 3339 instant, or None. The fraction is kept to microseconds."""
    found = _DATE_TIME.fullmatch(text)
    if found is None:
        return None
    day, clock, fraction, zone = found.groups()
    offset = "+00:00" if zone in "Zz" else zone
    try:
        return datetime.fromisoformat(f"{day}T{clock}.{(fraction or '.0')[1:7]:0<6}{offset}")
    except ValueError:
        return None


@lru_cache(maxsize=64)
def _whole(pattern: str) -> re.Pattern[str]:
    # JSON Schema's `$` is the end of the text; Python's also accepts a final newline.
    return re.compile(pattern.replace("$", r"\Z"))


def _has_type(value: Any, name: str) -> bool:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return {
        "object": as_object(value) is not None,
        "array": as_list(value) is not None,
        "string": isinstance(value, str),
        "boolean": isinstance(value, bool),
        "number": number,
        "integer": number and float(value).is_integer(),
    }[name]


def _scalar_problems(schema: Mapping[str, Any], value: Any) -> Iterator[tuple[str, str]]:
    if "const" in schema and not json_equal(value, schema["const"]):
        yield "const", f"expected {schema['const']!r}"
    if "enum" in schema and not any(json_equal(value, member) for member in schema["enum"]):
        yield "enum", "expected one of " + ", ".join(str(member) for member in schema["enum"])
    if isinstance(value, str):
        if len(value) < schema.get("minLength", 0):
            yield "minLength", f"expected at least {schema['minLength']} character(s)"
        if "pattern" in schema and _whole(schema["pattern"]).search(value) is None:
            yield "pattern", f"expected text matching {schema['pattern']}"
        if schema.get("format") == "date-time" and parse_date_time(value) is None:
            yield "format", "expected an RFC 3339 date and time"
    elif isinstance(value, int | float):
        if "minimum" in schema and value < schema["minimum"]:
            yield "minimum", f"expected at least {schema['minimum']}"
        if "maximum" in schema and value > schema["maximum"]:
            yield "maximum", f"expected at most {schema['maximum']}"


def _walk(schema: Mapping[str, Any], value: Any, path: _Path, root: Mapping[str, Any]) -> Iterator[Problem]:
    while "$ref" in schema:
        schema = root["definitions"][schema["$ref"].removeprefix("#/definitions/")]
    if "type" in schema and not _has_type(value, schema["type"]):
        yield Problem(path, "type", f"expected {schema['type']}")
        return
    for kind, message in _scalar_problems(schema, value):
        yield Problem(path, kind, message)
    if (members := as_object(value)) is not None:
        known: Mapping[str, Any] = schema.get("properties", {})
        for key in schema.get("required", ()):
            if key not in members:
                yield Problem((*path, key), "required", "expected to be present")
        for key, item in members.items():
            if key in known:
                yield from _walk(known[key], item, (*path, key), root)
            elif schema.get("additionalProperties") is False:
                yield Problem((*path, key), "additionalProperties", "expected no such member")
    elif (items := as_list(value)) is not None:
        if len(items) < schema.get("minItems", 0):
            yield Problem(path, "minItems", f"expected at least {schema['minItems']} item(s)")
        if schema.get("uniqueItems") and len({str(item) for item in items}) != len(items):
            yield Problem(path, "uniqueItems", "expected distinct items")
        for index, item in enumerate(items):
            yield from _walk(schema.get("items", {}), item, (*path, index), root)


_Check = Callable[[Any], bool]


def _list_check(schema: Mapping[str, Any], root: Mapping[str, Any]) -> _Check:
    least, distinct, check = schema.get("minItems", 0), schema.get("uniqueItems"), _check(schema.get("items", {}), root)

    def holds(value: Any) -> bool:
        items = as_list(value)
        if items is None or len(items) < least or (distinct and len({str(item) for item in items}) != len(items)):
            return False
        return all(map(check, items))

    return holds


def _object_check(schema: Mapping[str, Any], root: Mapping[str, Any]) -> _Check:
    required = frozenset(schema.get("required", ()))
    checks = {key: _check(item, root) for key, item in schema.get("properties", {}).items()}
    closed = schema.get("additionalProperties") is False

    def holds(value: Any) -> bool:
        members = as_object(value)
        if members is None or not required <= members.keys():
            return False
        for key, item in members.items():
            check = checks.get(key)
            if check is None:
                if closed:
                    return False
            elif not check(item):
                return False
        return True

    return holds


def _check(schema: Mapping[str, Any], root: Mapping[str, Any]) -> _Check:
    while "$ref" in schema:
        schema = root["definitions"][schema["$ref"].removeprefix("#/definitions/")]
    kind = schema.get("type")
    if kind == "object":
        return _object_check(schema, root)
    if kind == "array":
        return _list_check(schema, root)
    if kind == "string" and set(schema) <= {"type", "minLength"}:
        least = schema.get("minLength", 0)
        return lambda value: isinstance(value, str) and len(value) >= least
    if set(schema) == {"type"} and kind == "boolean":
        return lambda value: isinstance(value, bool)
    if set(schema) == {"enum"} and all(isinstance(member, str) for member in schema["enum"]):
        names = frozenset[str](schema["enum"])
        return lambda value: isinstance(value, str) and value in names
    # Anything else is rare or decides little of the time: the definition itself answers.
    return lambda value: next(_walk(schema, value, (), root), None) is None


_CHECKS: Final[dict[int, tuple[Mapping[str, Any], _Check]]] = {}


def holds(schema: Mapping[str, Any], value: Any) -> bool:
    """Whether `problems` would find nothing, several times faster. A property test holds the two together."""
    known = _CHECKS.get(id(schema))
    if known is None or known[0] is not schema:
        known = _CHECKS[id(schema)] = (schema, _check(schema, schema))
    return known[1](value)


def problems(schema: Mapping[str, Any], value: Any) -> tuple[Problem, ...]:
    """Everything about `value` that the schema document refuses, at most `MAX_PROBLEMS` of it."""
    if holds(schema, value):
        return ()
    return explained(schema, value)


def explained(schema: Mapping[str, Any], value: Any) -> tuple[Problem, ...]:
    """The same from the definition alone: the slow walk that knows where and why."""
    found: list[Problem] = []
    for problem in _walk(schema, value, (), schema):
        found.append(problem)
        if len(found) == MAX_PROBLEMS:
            break
    return tuple(found)


def summary(found: tuple[Problem, ...]) -> str:
    """The first problem in one line, and how many more there are."""
    first = found[0]
    place = "/" + "/".join(str(step) for step in first.path) if first.path else "(root)"
    more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
    return f"{place}: {first.message}{more}"
