"""How often does a hostile child get away? Every round must end with the exact outcome, in time, and with nothing left.

    python benchmarks/reliability.py [rounds of each child] [rounds of killed hosts] [part of a child's name]

Defaults: 500 and 200. For each hostile child of tests/hostile: wrong outcomes, rounds that took longer than the cap and
one second, and processes alive afterwards (found in /proc by a marker in their environment). Then a host is killed with
SIGKILL while a target runs, and what is alive two seconds later is counted. Exit 1 when any count is not 0.
"""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

TESTS = str(Path(__file__).resolve().parents[1] / "tests")
sys.path.insert(0, TESTS)

from support.hostile import CASES, eventually, new_marker, run, survivors  # noqa: E402

HOST = """
import sys, time
sys.path.insert(0, sys.argv[1])
from support.hostile import launch
from eval_quality.probe.process import Caps, run_process
run_process(launch(tuple(sys.argv[3:]), sys.argv[2]), b"", Caps(60_000, 1000))
time.sleep(600)
"""
TARGETS = (("fork_bomb",), ("fork_bomb", "escape"), ("daemon",), ("daemon", "wait"), ("stubborn",))


def children(rounds: int, wanted: str) -> int:
    bad = 0
    print(f"{'child':46} {'rounds':>6} {'wrong':>6} {'late':>6} {'left':>6} {'slowest':>8}")
    for name, case in CASES.items():
        if wanted not in name:
            continue
        wrong = late = left = 0
        slowest = 0.0
        for _ in range(rounds):
            marker = new_marker()
            begin = time.monotonic()
            done = run(case, marker)
            took = time.monotonic() - begin
            slowest = max(slowest, took)
            if done.ended != case.ended or case.exit_code not in (None, done.exit_code):
                wrong += 1
                print(f"    {name}: ended {done.ended} with {done.exit_code} after {done.elapsed_ms:.0f} ms")
            late += took > case.max_elapsed_ms / 1000 + 1
            left += not eventually(lambda marker=marker: not survivors(marker), 2)
        print(f"{name:46} {rounds:6} {wrong:6} {late:6} {left:6} {slowest:7.2f}s", flush=True)
        bad += wrong + late + left
    return bad


def hosts(rounds: int) -> int:
    left = 0
    for number in range(rounds):
        marker = new_marker()
        argv = TARGETS[number % len(TARGETS)]
        host = subprocess.Popen([sys.executable, "-c", HOST, TESTS, marker, *argv])
        assert eventually(lambda marker=marker: bool(survivors(marker)), 30)
        time.sleep(0.01 * (number % 7))
        os.kill(host.pid, signal.SIGKILL)
        host.wait()
        left += not eventually(lambda marker=marker: not survivors(marker), 2)
    print(f"host killed during a run: {rounds} rounds, {left} with a target alive after 2 s", flush=True)
    return left


def main() -> int:
    counts = [int(argument) for argument in sys.argv[1:3]]
    bad = children(counts[0] if counts else 500, sys.argv[3] if len(sys.argv) > 3 else "")
    return 1 if bad + hosts(counts[1] if len(counts) > 1 else 200) else 0


if __name__ == "__main__":
    sys.exit(main())
