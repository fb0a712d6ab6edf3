"""What a run costs beyond its subject (spec 12 §12.23): orchestration, parallel efficiency, resuming.

    python benchmarks/run.py [--trials N] [--rounds N] [--only NAME]

| Name | Quantity | Target |
|---|---|---|
| `orchestration` | wall of the measure phase per trial, one at a time, less the bare subject's own time | <= 15 ms |
| `confined` | the same in a sandbox | <= 30 ms |
| `parallel` | (trials x bare subject / 32) / wall, 32 in flight, the subject sleeps 200 ms | >= 0.90 |
| `parallel-confined` | the same in a sandbox, the bare subject in the same sandbox | >= 0.85 |
| `resume` | reading a finished run of 10,000 trials | <= 2 s |

Both sides of every figure are measured here, in one go. The subject makes one call a trial and is a compiled-in shell
built-in where that matters, so that the interpreter's own start is no part of the figure.
"""

import argparse
import json
import shutil
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from eval_quality.app.run.driving import drive, result_of
from eval_quality.app.run.opening import OpenRun, start
from eval_quality.app.run.options import Options
from eval_quality.probe.process import Caps, Launch, run_process
from support.experiments import contract, defect_draft, write_experiment
from support.runs import rows

SHELL = """#!/bin/sh
echo '{"ok": true, "value": "'"$5"'"}'
"""
SLEEPER = """#!/bin/sh
[ "$5" = changed ] && sleep 0.2
echo '{"ok": true, "value": "'"$5"'"}'
"""


def one_call_experiment(root: Path, script: str) -> Path:
    """An experiment whose trials make one call of a shell script, judged by one clean control."""
    folder = write_experiment(root, "cli")
    (root / "subject" / "store.py").unlink()
    program = root / "subject" / "store.sh"
    program.write_text(script)
    program.chmod(0o755)
    shutil.rmtree(folder / "mutations")
    (folder / "probes" / "p-001.json").unlink()
    value: dict[str, Any] = contract("cli")
    value["behaviors"] = value["behaviors"][1:]
    value["oracles"] = value["oracles"][1:]
    value["interactionPlan"] = value["interactionPlan"][:1]
    value["permittedInterfaces"][0]["operations"] = value["permittedInterfaces"][0]["operations"][:1]
    value["budgets"]["maxToolCalls"] = 5
    (folder / "contract.json").write_text(json.dumps(value))
    draft = json.loads((folder / "probes" / "p-002.json").read_text())
    (folder / "probes" / "p-002.json").write_text(json.dumps({**draft, "behavior_id": "B-002"}))
    text = (folder / "experiment.toml").read_text()
    text = text.replace('target = "python3"\ntarget_args = ["-B", "store.py"]', 'target = "./store.sh"')
    (folder / "experiment.toml").write_text(text)
    return folder


def opened(folder: Path, directory: Path, **options: Any) -> OpenRun:
    """A run that is planned and not yet driven."""
    return start(str(folder), Options(run_dir=str(directory), **options))


def measured(folder: Path, directory: Path, **options: Any) -> tuple[float, float]:
    """Seconds of the measure phase, and of scoring, of one whole run."""
    marks: dict[str, float] = {}

    def notify(event: str, body: Any) -> None:
        if event.startswith("phase."):
            marks[f"{event}/{body['phase']}"] = time.monotonic()
        if event == "run.finished":
            marks[event] = time.monotonic()

    drive(opened(folder, directory, **options), notify)
    return (
        marks["phase.finished/measure"] - marks["phase.started/measure"],
        marks["run.finished"] - marks["phase.finished/measure"],
    )


def bare(folder: Path, count: int, confine: str) -> float:
    """Median seconds of the subject launched alone, in the same kind of lane."""
    subject = folder.parent / "subject"
    with tempfile.TemporaryDirectory() as place:
        run = opened(folder, Path(place) / "run", confine=confine)
        with run.run:
            sandbox = run.sides.subject
            workspace = str(Path(place) / "box")
            shutil.copytree(subject, workspace)
            lane = sandbox.lane(workspace)
            seconds: list[float] = []
            try:
                for _ in range(count):
                    words = ("./store.sh", "put", "--key", "a", "--value", "changed")
                    launch = Launch(words, sandbox.seen(workspace), {"PATH": "/usr/bin:/bin"})
                    began = time.monotonic()
                    done = run_process(launch, b"", Caps(60_000, 1 << 20), None, lane)
                    seconds.append(time.monotonic() - began)
                    assert done.exit_code == 0, done.stderr
            finally:
                lane.close()
    return statistics.median(seconds)


def orchestration(confine: str, trials: int, rounds: int) -> str:
    """M1 and M2: what a trial costs beyond its subject, one at a time."""
    found: list[float] = []
    scoring: list[float] = []
    for _ in range(rounds):
        with tempfile.TemporaryDirectory() as place:
            folder = one_call_experiment(Path(place), SHELL)
            alone = bare(folder, 30, confine)
            wall, scored = measured(folder, Path(place) / "run", confine=confine, trials=trials, concurrency=1)
            found.append(wall / trials - alone)
            scoring.append(scored / trials)
    overhead, score = statistics.median(found) * 1000, statistics.median(scoring) * 1000
    return f"{overhead:.1f} ms a trial beyond the subject's {alone * 1000:.1f} ms; sealing and scoring {score:.1f} ms"


def parallel(confine: str, trials: int, rounds: int) -> str:
    """M4 and M5: how much of 32 lanes the run uses."""
    found: list[float] = []
    for _ in range(rounds):
        with tempfile.TemporaryDirectory() as place:
            folder = one_call_experiment(Path(place), SLEEPER)
            alone = bare(folder, 10, confine)
            wall, _ = measured(folder, Path(place) / "run", confine=confine, trials=trials, concurrency=32)
            found.append(trials * alone / 32 / wall)
    return f"efficiency {statistics.median(found):.3f} over {trials} trials of {alone * 1000:.0f} ms, 32 in flight"


def resume(trials: int) -> str:
    """Reading a finished run again."""
    with tempfile.TemporaryDirectory() as place:
        folder = one_call_experiment(Path(place), SHELL)
        run = opened(folder, Path(place) / "run", confine="none", trials=trials)
        # captures are what counts here: one real trial stands for all of them
        drive_one(run)
        began = time.monotonic()
        result = result_of(str(Path(place) / "run"))
        assert result is not None
        return f"{time.monotonic() - began:.2f} s for {trials} trials ({count(Path(place) / 'run')} captured)"


def drive_one(run: OpenRun) -> None:
    """Drive a run whose trials after the first are captured as copies of it."""
    from eval_quality.run import execution

    real = execution.perform
    first: list[Any] = []

    def copied(stage: Any, host: Any, item: Any, meter: Any) -> Any:
        if item.kind != "trial":
            return real(stage, host, item, meter)
        if not first:
            first.append(real(stage, host, item, meter))
        done = first[0]
        body = {**done.body, "trial": {**done.body["trial"], "trial_index": item.trial_index}}
        return done._replace(body=body)

    execution.perform = copied
    try:
        drive(run, lambda *_: None)
    finally:
        execution.perform = real


def count(directory: Path) -> int:
    """How many trials a run directory holds."""
    return rows(directory, "SELECT count(*) FROM capture WHERE item_id LIKE 'trial/%'")[0][0]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--trials", type=int, default=640)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", default="")
    wanted = parser.parse_args()
    table = {
        "orchestration": lambda: orchestration("none", 100, wanted.rounds),
        "confined": lambda: orchestration("bwrap", 100, wanted.rounds),
        "parallel": lambda: parallel("none", wanted.trials, wanted.rounds),
        "parallel-confined": lambda: parallel("bwrap", wanted.trials, wanted.rounds),
        "resume": lambda: resume(10_000),
    }
    for name, measure in table.items():
        if wanted.only in ("", name):
            print(f"{name:18} {measure()}", flush=True)


if __name__ == "__main__":
    assert defect_draft("cli")["probe_id"] == "P-001"
    main()
