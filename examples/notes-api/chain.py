"""The documents of this folder through every command of the pipeline.

    python examples/notes-api/chain.py             # rewrites `expected/`
    python examples/notes-api/chain.py --out DIR   # writes the artifacts somewhere else

| Written | By |
|---|---|
| `eval-contract.json`, `sealed-evaluator-brief.json`, `preflight-verdict.json` | compile, seal, preflight |
| `P-001.json`, `P-002.json`, `P-003.json` | score: the planted defect, the sound service, the canned reply |
| `response-only.json` | score: the planted defect under the contract without its read-back oracle |
| `strength-aggregate.json` | aggregate-strength over the three probes |
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import eval_quality

HERE = Path(__file__).resolve().parent
PROBES = ("P-001", "P-002", "P-003")


class Step(NamedTuple):
    """One finished command."""

    command: str
    code: int
    messages: list[str]


def steps(captured, out):
    """Run each command in turn over the documents in `captured`, writing to `out`; yields each as it ends."""
    yield run("compile", "--in", HERE / "contract.json", "--out", out)
    yield run("seal", "--in", HERE / "contract.json", "--out", out)
    yield run(
        "preflight",
        *("--contract", out / "eval-contract.json", "--probes", captured / "probes.json"),
        *("--observations", captured / "observations.json", "--run-id", "notes-api", "--out", out),
    )
    for probe in PROBES:
        yield score(
            captured, HERE, captured / "runs" / probe, probe, out / "preflight-verdict.json", out / f"{probe}.json"
        )
    weak = captured / "response-only"
    yield score(captured, weak, weak, "P-001", out / "preflight-verdict.json", out / "response-only.json")
    evidence = [part for probe in PROBES for part in ("--evidence", out / f"{probe}.json")]
    policy = ("--floors", HERE / "floors.json", "--policy", HERE / "policy.json")
    yield run("aggregate-strength", *evidence, *policy, "--out", out)


def score(captured, contract, runs, probe, verdict, out):
    """Score the three trials in `runs` against one probe."""
    configuration = captured / contract.relative_to(HERE) if contract.is_relative_to(HERE) else contract
    records = [part for trial in (1, 2, 3) for part in ("--record", runs / f"record-{trial}.json")]
    return run(
        "score",
        *records,
        *("--isolation-manifest", runs / "isolation-manifest.json"),
        *("--evaluator-configuration", configuration / "evaluator-configuration.json"),
        *("--contract", contract / "contract.json", "--probe", captured / "probes" / f"{probe}.json"),
        *("--preflight-verdict", verdict, "--policy", HERE / "policy.json"),
        *("--corpus-digest", corpus_digest(captured), "--out", out),
    )


def corpus_digest(captured):
    """What stands for the corpus here: the digest of the list of its probes."""
    return eval_quality.digest_artifact(load(captured / "probes.json"), "Corpus")


def run(command, *arguments):
    finished = subprocess.run(
        [sys.executable, "-m", "eval_quality", command, *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
    )
    if finished.returncode not in (0, 2):
        sys.exit(finished.stderr)
    return Step(command, finished.returncode, finished.stderr.splitlines())


def load(path):
    return json.loads(path.read_text(encoding="utf-8"))


def main():
    parser = argparse.ArgumentParser(description="Run the notes-api example through the pipeline.")
    parser.add_argument("--out", type=Path, default=HERE / "expected", help="folder to write to")
    for step in steps(HERE, parser.parse_args().out):
        print(f"eval-quality {step.command:<18} exit {step.code}")


if __name__ == "__main__":
    main()
