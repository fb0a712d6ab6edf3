"""Evaluate checks, against the standard library's parser reading the same evidence.

    python benchmarks/evaluation.py

1. Predicate nodes: random quantified predicates over rows, microseconds a node in the median tree. Bound: 1.5.
2. Ten thousand oracles over one body of a megabyte: for each thousand, a multiple of the time to parse it. Bound: 6.

Rounds of the two things compared are interleaved; each figure is the median over rounds. Exits 1 above a bound.
"""

import json
import random
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

from eval_quality.core.evaluation import make_resolve_operand, resolve_check
from eval_quality.model.decode import decode
from eval_quality.model.expression import CheckResolution, Expression
from eval_quality.model.run_record import Observation

ROUNDS = 7
MOST_MICROSECONDS_A_NODE = 1.5
MOST_PARSES_A_THOUSAND = 6.0
ORACLES = 10_000
ROWS = 5_000
WORDS = ("alpha", "beta", "gamma", "delta")


def rows(count: int) -> list[dict[str, Any]]:
    """Records of an ordinary API: identifiers, text, numbers, a nested object, a short list."""
    return [
        {
            "id": number,
            "name": f"record number {number} of the list",
            "state": WORDS[number % 4],
            "price": number * 1.25,
            "owner": {"id": f"user-{number % 97}", "active": number % 3 == 0},
            "tags": [WORDS[number % 4], WORDS[(number + 1) % 4], f"tag-{number % 11}"],
        }
        for number in range(count)
    ]


def observation(body: Any) -> Observation:
    """An observation that carries only a response body."""
    channels = ("path", "query", "header", "body", "bodyEncoding", "argument", "option", "environment", "stdin")
    value: dict[str, Any] = {
        "observationId": "o",
        "sequence": 1,
        "interfaceId": "api",
        "operationId": "list",
        "provenance": "evaluator-chosen",
        "principal": None,
        "callInputs": dict.fromkeys((*channels, "arguments")),
        "responseBody": body,
        "responseHeaders": None,
        "responseStatus": 200,
        "stdout": {"kind": "absent"},
        "stderr": {"kind": "absent"},
        "exitCode": None,
        "artifacts": {},
    }
    return decode(Observation, value, "Observation")


def leaf(draw: random.Random, root: str, number: int) -> dict[str, Any]:
    """One operator over a row that stands at `root`."""
    keys = ["id", "name", "state", "price", "owner", "tags"]
    choices: tuple[tuple[str, list[Any], dict[str, Any]], ...] = (
        ("equality", [{"pointer": f"{root}/id"}, {"literal": number}], {}),
        ("equality", [{"pointer": f"{root}/state"}, {"literal": "alpha"}], {}),
        ("deep-equality", [{"pointer": f"{root}/owner"}, {"literal": {"id": "user-1", "active": True}}], {}),
        ("existence", [{"pointer": f"{root}/owner/id"}], {}),
        ("absence", [{"pointer": f"{root}/secret"}], {}),
        ("regex", [{"pointer": f"{root}/name"}], {"pattern": "^record number [0-9]+ of the list$"}),
        ("containment", [{"pointer": f"{root}/tags"}, {"literal": "beta"}], {}),
        ("set-membership", [{"pointer": f"{root}/state"}, {"literal": list(WORDS)}], {}),
        ("count-tolerance", [{"pointer": f"{root}/tags"}], {"expected": 3, "tolerance": 0, "relative": False}),
        (
            "shape",
            [{"pointer": f"{root}/"}] if root == "@" else [{"pointer": root}],
            {"descriptor": {"requiredKeys": ["id"], "permittedKeys": keys, "types": {"id": "number", "tags": "array"}}},
        ),
    )
    op, operands, members = draw.choice(choices)
    return {"op": op, "operands": operands, **members}


def predicate(draw: random.Random, depth: int, root: str = "@", number: int = 0) -> dict[str, Any]:
    """A random predicate over one row."""
    if depth == 0 or draw.random() < 0.5:
        return leaf(draw, root, number)
    if draw.random() < 0.3:
        return {"op": "not", "operands": [predicate(draw, depth - 1, root, number)]}
    children = [predicate(draw, depth - 1, root, number) for _ in range(draw.randint(2, 3))]
    return {"op": draw.choice(("all", "any")), "operands": children}


def oracle(draw: random.Random) -> dict[str, Any]:
    """An oracle over some row of the list; now and then one over a row's own list."""
    number = draw.randrange(ROWS)
    root = f"/interactions/list/response-body/rows/{number}"
    if draw.random() < 0.1:
        tag = {"op": "regex", "operands": [{"pointer": "@/"}], "pattern": "^[a-z0-9-]+$"}
        return {"op": "for-all", "collection": {"pointer": f"{root}/tags"}, "predicate": tag}
    return predicate(draw, 1, root, number)


def nodes(resolution: CheckResolution) -> int:
    """Nodes of a result tree."""
    return 1 + sum(nodes(child) for child in resolution.children)


def evaluator(body: Any) -> Callable[[Any], CheckResolution]:
    """Evaluate expressions over one body."""
    resolve = make_resolve_operand({"list": observation(body)}, {})

    def evaluate(expression: Any) -> CheckResolution:
        return resolve_check(expression, resolve, lambda _: False, {}, 1_000_000, "Benchmark")

    return evaluate


def seconds(work: Callable[[], object]) -> float:
    """Processor seconds for one call."""
    start = time.process_time()
    work()
    return time.process_time() - start


def microseconds_a_node() -> float:
    """The median over random predicates, each run over a thousand rows."""
    draw, evaluate = random.Random(1), evaluator({"rows": rows(1000)})
    figures: list[float] = []
    for _ in range(60):
        quantified = {
            "op": "for-all",
            "collection": {"pointer": "/interactions/list/response-body/rows"},
            "predicate": predicate(draw, 3),
        }
        expression: Any = decode(Expression, quantified, "Expression")
        count = nodes(evaluate(expression))
        best = min(seconds(lambda e=expression: evaluate(e)) for _ in range(ROUNDS))
        figures.append(best / count * 1e6)
    return statistics.median(figures)


def parses_a_thousand() -> tuple[float, int]:
    """How many times the body could be parsed while a thousand oracles are evaluated, and the body's size."""
    draw, body = random.Random(2), {"rows": rows(ROWS)}
    text = json.dumps(body)
    oracles: list[Any] = [decode(Expression, oracle(draw), "Expression") for _ in range(ORACLES)]

    def evaluate_all() -> None:
        evaluate = evaluator(body)
        for expression in oracles:
            evaluate(expression)

    ratios = [seconds(evaluate_all) / seconds(lambda: json.loads(text)) for _ in range(ROUNDS)]
    return statistics.median(ratios) / (ORACLES / 1000), len(text)


def main() -> int:
    """Print both figures."""
    node = microseconds_a_node()
    print(f"predicate node, median tree: {node:.2f} us (bound {MOST_MICROSECONDS_A_NODE})")
    parses, size = parses_a_thousand()
    print(f"1,000 of {ORACLES} oracles over {size} bytes: {parses:.2f} x json.loads (bound {MOST_PARSES_A_THOUSAND})")
    return int(node > MOST_MICROSECONDS_A_NODE or parses > MOST_PARSES_A_THOUSAND)


if __name__ == "__main__":
    sys.exit(main())
