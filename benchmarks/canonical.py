"""Canonicalize and digest, against the `rfc8785` package; and scan, against the standard library's parser.

Prints one ratio a line, each the median of interleaved rounds in this run; above one, this package is faster.

    python benchmarks/canonical.py
"""

import hashlib
import json
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

import rfc8785

from eval_quality.value import canonical, precise
from eval_quality.value.digest import digest_value
from eval_quality.value.scan import scan

ROUNDS = 15
LEAST_SECONDS = 0.02


def contract_like(entries: int) -> dict[str, Any]:
    """A document of this product's usual shape: nested objects, identifiers, sentences, digests, a few numbers."""
    return {
        "schemaVersion": 7,
        "oracles": [
            {
                "id": f"O-{index:03d}",
                "behaviorIds": [f"B-{index:03d}", f"B-{index + 1:03d}"],
                "summary": "The note that was read back carries the title that the write was given.",
                "digest": "sha256:" + hashlib.sha256(str(index).encode()).hexdigest(),
                "weight": 0.25 * (index % 3 + 1) + 0.05,
                "required": index % 2 == 0,
                "check": {
                    "op": "equality",
                    "operands": [
                        {"pointer": f"/interactions/step-{index}/response-body/title"},
                        {"literal": {"title": "Été à Paris", "count": index, "extra": None}},
                    ],
                },
            }
            for index in range(entries)
        ],
    }


def measure(work: Callable[[], object]) -> float:
    """Seconds for one call, averaged over enough calls to be measurable."""
    calls = 0
    start = time.perf_counter()
    while True:
        work()
        calls += 1
        elapsed = time.perf_counter() - start
        if elapsed >= LEAST_SECONDS:
            return elapsed / calls


def ratio(ours: Callable[[], object], theirs: Callable[[], object]) -> float:
    """How many times faster `ours` is: the median over rounds in which both were measured one after the other."""
    return statistics.median(measure(theirs) / measure(ours) for _ in range(ROUNDS))


def documents() -> dict[str, Any]:
    """The documents measured, by name."""
    medium = contract_like(100)
    emoji = json.loads(json.dumps(medium).replace("title that", "title \\ud83d\\ude00 that"))
    whole = json.loads(json.dumps(medium).replace('"weight": 0.3', '"weight": 1.0'))
    return {
        "one operand": {"pointer": "/interactions/read/response-body/title"},
        "small, 1 entry": contract_like(1),
        "contract, 100 entries": medium,
        "the same with emoji": emoji,
        "the same with integral floats": whole,
        "numbers": [index * 1.37e-7 for index in range(1000)] + [index / 7 for index in range(1000)],
        "wide object": {f"key-{index}": index for index in range(5000)},
    }


def main() -> int:
    """Print the ratios."""
    for name, document in documents().items():

        def theirs(document: Any = document) -> str:
            return "sha256:" + hashlib.sha256(rfc8785.dumps(document)).hexdigest()

        def ours(document: Any = document) -> str:
            return digest_value(document, "Benchmark")

        def defining(document: Any = document) -> bytes:
            return canonical.write(document)

        if ours() != theirs():
            print(f"{name}: the digests differ", file=sys.stderr)
            return 1
        print(f"canonicalize + digest, {name}: {ratio(ours, theirs):.2f} x rfc8785")
        print(f"  the defining writer alone: {ratio(defining, theirs):.2f} x rfc8785")
    for name, document in documents().items():
        text = json.dumps(document, ensure_ascii=False, indent=2).encode()
        quick = ratio(lambda text=text: scan(text, "Benchmark"), lambda text=text: json.loads(text))
        slow = ratio(lambda text=text: precise.read(text.decode(), "Benchmark"), lambda text=text: json.loads(text))
        print(f"scan, {name} ({len(text)} bytes): {quick:.2f} x json.loads; the precise reader alone: {slow:.2f} x")
    return 0


if __name__ == "__main__":
    sys.exit(main())
