"""Decoding a contract of about 100 KB, against parsing its text with the standard library.

Prints ratios of two things measured in one run: decoding and printing back, each over `json.loads` of the same text;
and decoding over bare `msgspec.convert` of a value that is frozen and normalised already.
"""

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path

import msgspec

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from eval_quality.model.contract import EvalContract
from eval_quality.model.decode import decode, normalise, to_value
from support.documents import sample

SIZE = 100_000
ROUNDS = 30


def contract() -> dict[str, object]:
    """A contract whose JSON text is just over `SIZE` characters."""
    document = sample("eval-contract", 1)
    seed = 2
    while len(json.dumps(document)) < SIZE:
        more = sample("eval-contract", seed)
        for member in ("behaviors", "oracles", "permittedInterfaces", "interactionPlan"):
            document[member] += more[member]
        seed += 1
    return document


def best(action: Callable[[], object]) -> float:
    """The shortest of several runs, in seconds."""
    times: list[float] = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        action()
        times.append(time.perf_counter() - start)
    return min(times)


def main() -> None:
    document = contract()
    text = json.dumps(document)
    record = decode(EvalContract, document, "EvalContract")
    parse = best(lambda: json.loads(text))
    decoding = best(lambda: decode(EvalContract, document, "EvalContract"))
    printing = best(lambda: to_value(record))
    frozen = normalise(document, "EvalContract")[0]
    bare = best(lambda: msgspec.convert(frozen, EvalContract))
    print(f"contract of {len(text)} characters")
    print(f"decode / json.loads          {decoding / parse:5.2f}   ({decoding * 1000:.1f} ms)")
    print(f"to_value / json.loads        {printing / parse:5.2f}")
    print(f"decode / msgspec.convert     {decoding / bare:5.2f}")


if __name__ == "__main__":
    main()
