"""What a sandbox costs a launch, and what the journal costs a trial.

Prints ratios of two things measured in turn in this run, and the milliseconds behind them.

    python benchmarks/sandbox.py
"""

import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from eval_quality.probe.lanes import Lane
from eval_quality.probe.process import Caps, Launch, run_process
from eval_quality.run.confine.lane import ConfinedLane
from eval_quality.run.confine.specification import Grants, specify
from eval_quality.run.store.directory import Run
from eval_quality.run.store.journal import Item

ROUNDS = 60
LAUNCH = Launch(("true",), "/", {"PATH": "/usr/bin:/bin"})
CAPS = Caps(20_000, 4096)


def compare(name: str, ours: Callable[[], object], theirs: Callable[[], object], reference: str) -> None:
    """Print the median of the ratios of interleaved rounds."""
    ratios: list[float] = []
    mine: list[float] = []
    for _ in range(ROUNDS):
        began = time.perf_counter()
        theirs()
        middle = time.perf_counter()
        ours()
        end = time.perf_counter()
        ratios.append((end - middle) / (middle - began))
        mine.append(end - middle)
    milliseconds = statistics.median(mine) * 1000
    print(f"{name}: {statistics.median(ratios):.2f} x {reference} ({milliseconds:.2f} ms)")


def main() -> int:
    """Print the ratios."""
    with tempfile.TemporaryDirectory() as folder:
        specification = specify("minimal", Grants(folder))
        with Lane() as plain, ConfinedLane(specification) as confined:
            compare(
                "a launch in a sandbox",
                lambda: (run_process(LAUNCH, b"", CAPS, None, confined), confined.facts()),
                lambda: run_process(LAUNCH, b"", CAPS, None, plain),
                "an unconfined launch",
            )
        names = iter([f"trial/{number}" for number in range(ROUNDS)])
        body = {"observations": [{"id": number, "text": "x" * 100} for number in range(20)]}
        with Run.create(Path(folder, "run"), {}) as run:
            run.journal.plan([Item(f"trial/{number}", "trial") for number in range(ROUNDS)], "sha256:" + "0" * 64)

            def synced_file() -> None:
                descriptor = os.open(Path(folder, "file"), os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
                os.write(descriptor, b"x" * 4000)
                os.fsync(descriptor)
                os.close(descriptor)

            def trial() -> None:
                run.journal.capture(run.journal.begin(next(names)), body, {"wall": 1.0})

            compare("a trial's accounting", trial, synced_file, "one file written and synced")
    return 0


if __name__ == "__main__":
    sys.exit(main())
