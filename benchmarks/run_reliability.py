"""What a run survives (spec 13 §13.6.3), counted. Run by hand; root is needed for the figures about disks.

    python benchmarks/run_reliability.py [--kills N] [--seed N] [--confine none|bwrap] [--only NAME]

| Name | What is done | What must come out |
|---|---|---|
| `kills` | SIGKILL of the group at a random instant, then a resume, killed again | same bytes, one capture an item |
| `together` | two runs at once on one store | both complete, same bytes |
| `full` | a file system that is too small, then enlarged | `store-full` (5), nothing lost after space returns |
| `read-only` | the store turned read-only in between | a store fault (5), nothing lost afterwards |
| `daemons` | a subject that leaves two daemons behind at every call | the run completes, no process is left |
"""

import argparse
import collections
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from support.experiments import write_experiment
from support.reviewers import ATTESTED, honest, write_reviewed
from support.runs import artifacts, command, edit, eval_quality, rows

KINDS = ("reproducible", "measured")
MAX_ROUND_KILLS = 6
"""Kills of one run before it is let finish."""


def flags(directory: Path, confine: str) -> list[str]:
    """The flags of a run whose bytes can be compared."""
    attested = ATTESTED if confine == "none" else []
    return ["--run-dir", str(directory), "--reproducible", "--progress", "none", "--confine", confine, *attested]


def left_behind(place: Path) -> list[str]:
    """Command lines of live processes that name a folder of ours, or work in it."""
    found: list[str] = []
    for name in os.listdir("/proc"):
        if not name.isdigit() or int(name) == os.getpid():
            continue
        try:
            line = Path(f"/proc/{name}/cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
            where = os.readlink(f"/proc/{name}/cwd")
            state = Path(f"/proc/{name}/stat").read_text().rpartition(") ")[2][0]
        except OSError:
            continue
        if state not in "ZX" and (str(place) in line or where.startswith(str(place))):
            found.append(line)
    return found


def settled(place: Path, seconds: float = 5.0) -> list[str]:
    """What is still alive after a while."""
    deadline = time.monotonic() + seconds
    while (alive := left_behind(place)) and time.monotonic() < deadline:
        time.sleep(0.05)
    return alive


def is_planned(directory: Path) -> bool:
    """Whether a run directory got as far as its plan; one that did not is refused when it is to be continued."""
    refused = eval_quality("run", "--resume", directory, "--until", "compile")
    return not (refused.code == 5 and "resume-refused" in refused.err)


def killed(words: list[str], delay: float) -> bool:
    """Start a command in a group of its own and kill the group; False when it ended before."""
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    try:
        process.wait(delay)
        return False
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        return True


def kills(wanted: int, seed: int, confine: str) -> str:
    """SIGKILL at random instants, each followed by a resume."""
    chance = random.Random(seed)
    tally: collections.Counter[str] = collections.Counter()
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        folder = write_reviewed(
            place / "e", "python", {"reviewer": honest("python", "stdout")}, only=False, run="trials = 2\n"
        )
        began = time.monotonic()
        whole = eval_quality("run", folder, *flags(place / "whole", confine))
        duration = time.monotonic() - began
        assert whole.code == 0, whole.err
        expected = artifacts(place / "whole", *KINDS)
        while tally["kills"] < wanted:
            tally["rounds"] += 1
            directory, planned = place / f"r{tally['rounds']}", False
            start = ["run", folder, *flags(directory, confine)]
            for _ in range(min(chance.randint(1, MAX_ROUND_KILLS), wanted - tally["kills"])):
                words = ["run", "--resume", directory, "--progress", "none"] if planned else start
                if not killed(command(*words), chance.uniform(0, duration)):
                    planned = True
                    break
                tally["kills"] += 1
                tally["processes left"] += len(settled(place))
                planned = is_planned(directory)
                if not planned:
                    # killed before it was planned: there is nothing to lose, and a new run is started
                    tally["before the plan"] += 1
                    directory = place / f"r{tally['rounds']}-{tally['kills']}"
                    start = ["run", folder, *flags(directory, confine)]
            done = eval_quality(*(["run", "--resume", directory, "--progress", "none"] if planned else start))
            if done.code != 0:
                tally["not finished"] += 1
                print(done.err, file=sys.stderr)
                continue
            tally["lost"] += rows(directory, "SELECT count(*) FROM item WHERE state != 'captured'")[0][0]
            counts = "SELECT count(*) FROM (SELECT item_id FROM capture GROUP BY item_id HAVING count(*) > 1)"
            tally["doubled"] += rows(directory, counts)[0][0]
            tally["attempts lost"] += rows(directory, "SELECT count(*) FROM attempt WHERE state = 'lost'")[0][0]
            tally["different"] += artifacts(directory, *KINDS) != expected
    return ", ".join(f"{key} {tally[key]}" for key in (*tally, *({"lost", "doubled", "different"} - tally.keys())))


def together(confine: str) -> str:
    """Two runs at once on one store."""
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        folder = write_experiment(place / "e", "python", run="trials = 4\n")
        words = [
            "run",
            folder,
            "--store",
            place / "store",
            "--reproducible",
            "--progress",
            "none",
            "--confine",
            confine,
        ]
        both = [
            subprocess.Popen(command(*words), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) for _ in range(2)
        ]
        codes = [process.wait() for process in both]
        found = [artifacts(path, *KINDS) for path in (place / "store" / "runs" / "store-python").iterdir()]
        return f"exit codes {codes}, {len(found)} runs, same bytes: {found[0] == found[1]}"


@contextmanager
def mounted(place: Path, size: str) -> Iterator[Path]:
    """A small file system in memory."""
    point = place / "small"
    point.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", point], check=True)
    try:
        yield point
    finally:
        subprocess.run(["umount", "-l", point], check=True)
        point.rmdir()


def full(confine: str) -> str:
    """Every size from too small for anything to large enough, each enlarged afterwards."""
    tally: collections.Counter[str] = collections.Counter()
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        folder = write_experiment(place / "e", "python", run="trials = 2\n")
        assert eval_quality("run", folder, *flags(place / "whole", confine)).code == 0
        expected = artifacts(place / "whole", *KINDS)
        for size in range(200, 1300, 100):
            with mounted(place, f"{size}k") as point:
                directory = point / "run"
                ended = eval_quality("run", folder, *flags(directory, confine))
                code = next((word for word in ended.err.split() if word.startswith("store-")), "").rstrip(":")
                tally[f"exit {ended.code} {code}".strip()] += 1
                subprocess.run(["mount", "-o", "remount,size=64m", point], check=True)
                again = eval_quality("run", "--resume", directory)
                if "resume-refused" in again.err:
                    tally["never planned"] += 1
                    continue
                tally["finished after space returned"] += again.code == 0 and artifacts(directory, *KINDS) == expected
                tally["lost"] += again.code != 0
        return ", ".join(f"{key}: {value}" for key, value in tally.items())


def read_only(confine: str) -> str:
    """The store turned read-only between two invocations."""
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        folder = write_experiment(place / "e", "python", run="trials = 2\n")
        with mounted(place, "64m") as point:
            directory = point / "run"
            assert eval_quality("run", folder, *flags(directory, confine), "--until", "qualify").code == 0
            subprocess.run(["mount", "-o", "remount,ro", point], check=True)
            refused = eval_quality("run", "--resume", directory)
            subprocess.run(["mount", "-o", "remount,rw", point], check=True)
            again = eval_quality("run", "--resume", directory)
            said = refused.err.strip().splitlines()[-1][:120]
            return f"exit {refused.code} ({said}), resumed with exit {again.code}"


def daemons(confine: str) -> str:
    """A subject that leaves daemons behind."""
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        folder = write_experiment(place / "e", "cli", run="trials = 2\n")
        edit(
            folder.parent / "subject" / "store.py",
            (
                "def items():\n",
                "def stay():\n    for _ in range(2):\n        if os.fork() == 0:\n            os.setsid()\n"
                "            os.closerange(0, 3)\n            if os.fork() == 0:\n"
                "                __import__('time').sleep(900)\n            os._exit(0)\n\n\n"
                "def items():\n    stay()\n",
            ),
        )
        ended = eval_quality("run", folder, *flags(place / "run", confine))
        return f"exit {ended.code}, processes left: {len(settled(place))}"


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--confine", default="none")
    parser.add_argument("--only", default="")
    wanted = parser.parse_args()
    table = {
        "kills": lambda: kills(wanted.kills, wanted.seed, wanted.confine),
        "together": lambda: together(wanted.confine),
        "full": lambda: full(wanted.confine),
        "read-only": lambda: read_only(wanted.confine),
        "daemons": lambda: daemons(wanted.confine),
    }
    for name, measure in table.items():
        if wanted.only in ("", name):
            print(f"{name:10} {measure()}", flush=True)


if __name__ == "__main__":
    main()
