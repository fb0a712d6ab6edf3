"""What starting the program costs, in multiples of starting Python (issue: speed of the foundation).

    python benchmarks/startup.py [--rounds N]

Prints three ratios, each of two things measured in one run, turn by turn, best of N. Time is processor time, so that
a busy machine gives the same answer:

    cold `--version`                                 / `python -c pass`        at most 1.6
    cold `compile` of a 100 KB contract              / `python -c pass`        at most 7
    memory of `compile` above `python -c pass`       / size of the document    at most 12

Memory is measured on a contract of 8 MB: the program itself takes about 7 MiB, whatever the document.

Exits 1 when a bound is exceeded.
"""

import argparse
import copy
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
CONTRACT = ROOT / "examples" / "notes-api" / "contract.json"
KIB = 1024
BOUNDS = {"version": 1.6, "compile": 7.0, "memory": 12.0}


def large_contract(size: int) -> bytes:
    """A contract of about `size` bytes that compiles: the example with its last behaviours and oracles repeated."""
    contract = json.loads(CONTRACT.read_text(encoding="utf-8"))
    behavior, oracles = contract["behaviors"][2], contract["oracles"][2:]
    added = len(json.dumps([behavior, behavior, *oracles]))
    for number in range(1000, 1000 + size // added):
        for oracle in oracles:
            extra = {**copy.deepcopy(oracle), "id": f"{oracle['id']}{number}"}
            text = f"{behavior['description']} ({number})"
            contract["oracles"].append(extra)
            contract["behaviors"].append(
                {**copy.deepcopy(behavior), "id": f"B-{extra['id'][2:]}", "description": text, "oracles": [extra["id"]]}
            )
    return json.dumps(contract).encode()


def cost(command: list[str]) -> float:
    """Processor seconds of one run, children included: what the wall clock shows on an idle machine."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime - before.ru_utime) + (after.ru_stime - before.ru_stime)


def peak(command: list[str]) -> int:
    """Largest resident set of a child, in bytes."""
    code = (
        "import os, sys\n"
        "pid = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ,"
        " file_actions=[(os.POSIX_SPAWN_OPEN, 1, '/dev/null', os.O_WRONLY, 0)])\n"
        "_, status, usage = os.wait4(pid, 0)\n"
        "assert status == 0\n"
        "print(usage.ru_maxrss * 1024)\n"
    )
    return int(subprocess.run([sys.executable, "-c", code, *command], capture_output=True, check=True).stdout)


def main() -> int:
    parser = argparse.ArgumentParser(description="Measure what starting eval-quality costs.")
    parser.add_argument("--rounds", type=int, default=20)
    rounds = parser.parse_args().rounds
    program = shutil.which("eval-quality", path=os.path.dirname(sys.executable))
    assert program is not None, "eval-quality is not installed beside this interpreter"
    with tempfile.TemporaryDirectory() as folder:
        document, heavy = Path(folder) / "contract.json", Path(folder) / "heavy.json"
        document.write_bytes(large_contract(100 * KIB))
        heavy.write_bytes(large_contract(8 * KIB * KIB))
        python = [sys.executable, "-c", "pass"]
        commands = {
            "python": python,
            "version": [program, "--version"],
            "compile": [program, "compile", "--in", str(document)],
        }
        best = {name: cost(command) for name, command in commands.items()}
        for _ in range(rounds):
            for name, command in commands.items():
                best[name] = min(best[name], cost(command))
        above = peak([program, "compile", "--in", str(heavy)]) - peak(python)
        size, heavy_size = document.stat().st_size, heavy.stat().st_size
    ratios = {
        "version": best["version"] / best["python"],
        "compile": best["compile"] / best["python"],
        "memory": above / heavy_size,
    }
    rows = (
        ("python -c pass", f"{best['python'] * 1000:.1f} ms", None, None),
        ("--version", f"{best['version'] * 1000:.1f} ms", "version", "of python -c pass"),
        (f"compile of {size / KIB:.0f} KiB", f"{best['compile'] * 1000:.1f} ms", "compile", "of python -c pass"),
        (f"compile of {heavy_size / KIB / KIB:.1f} MiB", f"{above / KIB / KIB:.1f} MiB", "memory", "of the document"),
    )
    for what, measured, name, base in rows:
        ratio = f"{ratios[name]:6.2f} {base} (at most {BOUNDS[name]:g})" if name else ""
        print(f"{what:<20} {measured:>10}  {ratio}".rstrip())
    return int(any(ratios[name] > bound for name, bound in BOUNDS.items()))


if __name__ == "__main__":
    sys.exit(main())
