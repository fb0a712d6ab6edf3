"""From a located value to a record: every problem of one authored document, each at its line and column.

A violation found while decoding becomes an authoring code of spec 16 §13.1; `null` is the same as absence (spec 12
§12.4 point 3), except inside members that hold JSON values or pieces of artifacts, where `null` has a meaning.
"""

import json
from collections.abc import Iterator
from typing import Any, Final, TypeVar

import msgspec

from eval_quality.errors import Problem, RuntimeFault, SchemaIssues
from eval_quality.model.decode import decode
from eval_quality.run.errors import AuthoringProblem, ExperimentFailure
from eval_quality.run.source import Source, pointer

T = TypeVar("T", bound=msgspec.Struct)

VALUE_MEMBERS: Final = frozenset(("values", "signature", "manifestation_witness", "expression", "observation", "when"))
"""Members whose inside is JSON data or a part of an artifact."""

_CODES: Final = {
    "unrecognized_keys": "author-unknown-key",
    "invalid_format": "author-pattern-mismatch",
    "too_small": "author-number-out-of-domain",
    "too_big": "author-number-out-of-domain",
    "invalid_key": "author-pattern-mismatch",
}


def without_nulls(value: Any) -> Any:
    """The value without its null members, at every depth outside `VALUE_MEMBERS`."""
    if isinstance(value, dict):
        return {
            key: child if key in VALUE_MEMBERS else without_nulls(child)
            for key, child in value.items()  # pyright: ignore
            if child is not None
        }
    if isinstance(value, list):
        return [without_nulls(child) for child in value]  # pyright: ignore
    return value


def decode_authored(kind: type[T], source: Source, artifact_path: str) -> T:
    """Decode one authored document. Raises `ExperimentFailure` with every problem it has."""
    value = without_nulls(source.value)
    try:
        return decode(kind, value, artifact_path)
    except RuntimeFault as fault:
        problems = fault.cause.issues if isinstance(fault.cause, SchemaIssues) else ()
        found = [each for problem in problems for each in located(source, artifact_path, problem, value)]
        whole = [source.problem("author-type-mismatch", artifact_path, (), fault.detail)]
        raise ExperimentFailure(found or whole) from fault


def located(source: Source, artifact_path: str, problem: Problem, value: Any) -> Iterator[AuthoringProblem]:
    """One decoding problem as authoring problems of `source`; unknown keys are one problem each, at their own place."""
    code = _CODES.get(problem.kind, "author-type-mismatch")
    if code == "author-unknown-key":
        for key in json.loads(f"[{problem.message.partition(': ')[2]}]"):
            path = (*problem.path, key)
            yield source.problem(code, artifact_path + pointer(path), path, f'there is no field "{key}" here')
        return
    if code == "author-type-mismatch" and problem.path and _absent(value, problem.path):
        code = "author-missing-key"
    yield source.problem(code, artifact_path + pointer(problem.path), problem.path, problem.message)


def _absent(value: Any, path: tuple[str | int, ...]) -> bool:
    for part in path:
        if isinstance(value, dict):
            if part not in value:
                return True
            value = value[part]  # pyright: ignore
        elif isinstance(value, list) and isinstance(part, int) and part < len(value):  # pyright: ignore
            value = value[part]  # pyright: ignore
    return False
