"""Compile, seal and coverage as the number of oracles grows: time per oracle, and its ratio to the first size.

    python benchmarks/compile.py

Each figure is processor time, the best of several runs, over one contract of the parcel desk whose oracles were
multiplied; every copy has a check and a direction of its own. Linear work keeps the ratio near or below one (the first
size carries what a contract costs without any oracle); the bound is 1.5 at 4,000.
"""

import copy
import gc
import sys
import time
from collections.abc import Callable
from typing import Any

from eval_quality.core.compile.entry import read_contract
from eval_quality.core.compile.sequence import compile_contract
from eval_quality.core.coverage.evaluate import coverage_gaps
from eval_quality.core.explain.base import base_contract
from eval_quality.core.seal.brief import seal_contract
from eval_quality.model.contract import EvalContract
from eval_quality.value.canonical import canonicalize

SIZES = (10, 100, 1_000, 4_000)
RUNS = 5
BOUND = 1.5
STAGES: dict[str, Callable[[EvalContract], object]] = {
    "compile": compile_contract,
    "seal": seal_contract,
    "coverage": coverage_gaps,
}


def sized(count: int) -> dict[str, Any]:
    """The base contract with `count` oracles."""
    document = base_contract()
    originals = document["oracles"]
    document["oracles"] = [
        {**copy.deepcopy(originals[number % len(originals)]), "id": f"O-{number + 1:04}"} for number in range(count)
    ]
    document["behaviors"][0]["oracles"] = [oracle["id"] for oracle in document["oracles"]]
    return document


def best(stage: Callable[[EvalContract], object], contract: EvalContract) -> float:
    """Seconds of processor time of the fastest of `RUNS` runs, the collector kept out of them."""
    times: list[float] = []
    for _ in range(RUNS):
        gc.collect()
        started = time.process_time()
        stage(contract)
        times.append(time.process_time() - started)
    return min(times)


def main() -> int:
    """Print the table; 1 when some last ratio is over the bound."""
    documents = {size: sized(size) for size in SIZES}
    contracts = {size: read_contract(document) for size, document in documents.items()}
    lengths = {size: len(canonicalize(document, "EvalContract")) for size, document in documents.items()}
    failed = False
    for name, stage in STAGES.items():
        times = {size: best(stage, contracts[size]) / size for size in SIZES}
        for size, seconds in times.items():
            ratio = seconds / times[SIZES[0]]
            sys.stdout.write(
                f"{name:<8} {size:>5} oracles {lengths[size] / 1000:>6.0f} KB "
                f"{seconds * 1e6:>8.1f} us an oracle  ratio {ratio:.2f}\n"
            )
        failed = failed or times[SIZES[-1]] > BOUND * times[SIZES[0]]
    sys.stdout.write(f"{'over' if failed else 'within'} the bound of {BOUND}\n")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
