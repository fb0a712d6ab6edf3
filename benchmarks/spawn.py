"""Children per second of the process runner against a C posix_spawn loop of the same child.

    python benchmarks/spawn.py [rounds]

Both are measured in turn, five times each, and the medians compared; the ratio is what counts, not the numbers. The
runner does more: it feeds standard input, collects two streams and supervises the child.
"""

import os
import statistics
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from eval_quality.probe.process import Caps, Launch, run_process

CHILDREN = {
    "true": ("/bin/true",),
    "shell": ("/bin/sh", "-c", ":"),
    "python": (sys.executable, "-I", "-S", "-c", "pass"),
}
REPEATS = 5


def runner(child: tuple[str, ...], rounds: int, width: int) -> float:
    launch = Launch(child, "/", {"PATH": os.defpath})

    def batch(count: int) -> None:
        for _ in range(count):
            run_process(launch, b"", Caps(60_000, 1 << 20))

    begin = time.perf_counter()
    with ThreadPoolExecutor(width) as pool:
        list(pool.map(batch, [rounds // width] * width))
    return rounds / (time.perf_counter() - begin)


def floor(program: Path, child: tuple[str, ...], rounds: int, width: int) -> float:
    return float(subprocess.check_output([program, str(rounds), str(width), *child], env={"PATH": os.defpath}))


def main() -> None:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 300
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder, "spawn")
        subprocess.check_call(["cc", "-O2", "-o", program, Path(__file__).with_suffix(".c")])
        runner(CHILDREN["true"], 8, 4)
        for name, child in CHILDREN.items():
            count = rounds if name != "python" else max(rounds // 10, 8)
            for width in (1, 2):
                pairs = [(runner(child, count, width), floor(program, child, count, width)) for _ in range(REPEATS)]
                ours, theirs = (statistics.median(side) for side in zip(*pairs, strict=True))
                print(f"{name:7} x{width}: {ours:8.0f}/s of {theirs:8.0f}/s in C = {ours / theirs:.2f}")


if __name__ == "__main__":
    main()
