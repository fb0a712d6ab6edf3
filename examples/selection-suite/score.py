"""Score every probe of the suite and tell its strength.

    python examples/selection-suite/score.py           # prints the table and compares it with the committed one
    python examples/selection-suite/score.py --write   # rewrites expected-strength.json

Every number comes from `eval_quality.run_score` over the committed files: pre-flight is reduced from the observations,
three trials a probe make one trial set.
"""

import argparse
import json
import sys
from pathlib import Path

import eval_quality

HERE = Path(__file__).resolve().parent
TABLE = HERE / "expected-strength.json"


def load(path):
    return json.loads(path.read_text(encoding="utf-8"))


def corpus_digest(folder):
    """The corpus of this suite is its probes."""
    probes = sorted(folder.glob("workflows/*/probes/*.json"))
    members = {path.relative_to(folder).as_posix(): eval_quality.digest_bytes(path.read_bytes()) for path in probes}
    return eval_quality.digest_directory(members, "Corpus")


def scored(folder, workflow):
    """Evidence of every probe of one workflow, by probe class."""
    home = folder / "workflows" / workflow
    contract, probes = load(home / "contract.json"), load(home / "probes.json")
    verdict = eval_quality.preflight_from_observations(
        contract=contract, probes=probes, run_id=workflow, observations=load(home / "observations.json")
    )
    for probe in probes:
        runs = home / "runs" / probe["probeId"]
        result = eval_quality.run_score(
            record=[load(path) for path in sorted(runs.glob("record-*.json"))],
            manifest=load(runs / "isolation-manifest.json"),
            configuration=load(home / "evaluator-configuration.json"),
            contract=contract,
            probe=probe,
            preflight_verdict=verdict,
            policy=load(folder / "policy.json"),
            corpus_digest=corpus_digest(folder),
        )
        yield probe, eval_quality.to_value(result)


def strengths(folder):
    """The expected-strength table: per workflow, what its two probes came to."""
    table = {}
    for home in sorted((folder / "workflows").iterdir()):
        row = {"cases": len(load(home / "contract.json")["interactionPlan"])}
        for probe, result in scored(folder, home.name):
            artifact = result["artifact"]
            entry = {
                "probeId": probe["probeId"],
                "verdict": result["ladder"]["verdict"],
                "exitCode": result["ladder"]["exitCode"],
                "basis": result["ladder"]["basis"],
                "comparable": artifact["strength"]["comparable"],
                "vector": artifact["strength"]["vector"],
                "states": sorted({outcome["state"] for outcome in artifact["outcomes"]}),
            }
            row["cleanControl" if probe["expectedClean"] else probe["probeClass"]] = entry
        table[home.name] = row
    return table


def main():
    parser = argparse.ArgumentParser(description="Score the selection suite.")
    parser.add_argument("--write", action="store_true", help="rewrite expected-strength.json")
    write = parser.parse_args().write
    table = strengths(HERE)
    text = json.dumps(table, indent=2) + "\n"
    if write:
        TABLE.write_text(text, encoding="utf-8")
    for name, row in table.items():
        strength = row["gameability"]["vector"]["gameability"]
        control = ", ".join(row["cleanControl"]["states"])
        print(
            f"{name:9} {row['cases']} cases  gameability {strength['caught']}/{strength['exercised']}  "
            f"control {control}  {row['gameability']['verdict']}: {'; '.join(row['gameability']['basis'])}"
        )
    if text != TABLE.read_text(encoding="utf-8"):
        print("the committed expected-strength.json says something else", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
