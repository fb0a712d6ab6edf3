"""Short ways to write expressions, observations and evaluations in tests."""

from collections.abc import Callable, Mapping
from typing import Any

from eval_quality.core.evaluation import ABSENT, make_resolve_operand, resolve_check
from eval_quality.model.decode import decode, to_value
from eval_quality.model.expression import CheckResolution, Expression
from eval_quality.model.run_record import Observation

ABSENT_BODY = {"kind": "absent"}
CALL_INPUTS: dict[str, Any] = dict.fromkeys(
    ("path", "query", "header", "body", "bodyEncoding", "argument", "option", "environment", "stdin", "arguments")
)


def observation(**members: Any) -> Observation:
    """One observation of which only the members under test are given, in the wire's names."""
    value: dict[str, Any] = {
        "observationId": "observation",
        "sequence": 1,
        "interfaceId": "api",
        "operationId": "read",
        "provenance": "evaluator-chosen",
        "principal": None,
        "callInputs": {**CALL_INPUTS, **members.pop("callInputs", {})},
        "responseBody": None,
        "responseHeaders": None,
        "responseStatus": None,
        "stdout": ABSENT_BODY,
        "stderr": ABSENT_BODY,
        "exitCode": None,
        "artifacts": {},
        **members,
    }
    return decode(Observation, value, "Observation")


def expression(value: Any) -> Any:
    """A plain expression as a record."""
    return decode(Expression, value, "Expression")


def pointer(text: str) -> dict[str, Any]:
    return {"pointer": text}


def literal(value: Any) -> dict[str, Any]:
    return {"literal": value}


def body(tail: str = "", step: str = "s") -> dict[str, Any]:
    """A pointer operand into a step's response body."""
    return {"pointer": f"/interactions/{step}/response-body{tail}"}


def evaluate(
    value: Any,
    observations: Mapping[str, Observation] | None = None,
    *,
    collections: tuple[str, ...] = (),
    members: Mapping[str, Any] | None = None,
    keys: Mapping[str, Any] | None = None,
    budget: int = 1_000_000,
    path: str = "Evidence",
    denotes_collection: Callable[[str], bool] | None = None,
) -> CheckResolution:
    """Evaluate a plain expression; `collections` lists the pointers that denote collections."""
    return resolve_check(
        expression(value),
        make_resolve_operand(observations or {}, members or {}),
        denotes_collection or (lambda text: text in collections),
        keys or {},
        budget,
        path,
    )


def answer(value: Any, *args: Any, **named: Any) -> str:
    """Only the resolution of `evaluate`."""
    return evaluate(value, *args, **named).resolution


def tree(resolution: CheckResolution) -> Any:
    """A result tree as plain JSON."""
    return to_value(resolution)


__all__ = [
    "ABSENT",
    "answer",
    "body",
    "evaluate",
    "expression",
    "literal",
    "observation",
    "pointer",
    "tree",
]
