"""Would this evaluation have caught a known bug? Ask it, and see.

    python examples/notes-api/demo.py      (or `make demo` at the top of the checkout)

It plants one defect in a small notes service, captures what the sound and the damaged service answer, and sends the
captures through the commands of `eval-quality`. Everything is written to a temporary folder.
"""

import json
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

HERE = Path(__file__).resolve().parent
PROBES = ("P-001", "P-002", "P-003")
WHAT = {
    "P-001": "the planted defect",
    "P-002": "the sound service",
    "P-003": "a canned reply that only pleases",
}


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        plant()
        say("Capturing what the services answer (this starts each of them several times) ...")
        subprocess.run([sys.executable, HERE / "capture.py", "--out", folder], check=True)
        say("")
        prepare(folder)
        corpus = digest_of(folder / "probes.json")
        for probe in PROBES:
            score(folder, HERE / "contract.json", folder, f"runs/{probe}", probe, corpus, f"{probe}.json")
        tell(folder)
        aggregate(folder)
        counterexample(folder, corpus)


def plant():
    """Show the one line that is replaced."""
    mutation = tomllib.loads((HERE / "mutations" / "forgets-changes.toml").read_text(encoding="utf-8"))
    say("A notes service keeps changed notes. One line of it is replaced:")
    say("")
    say(f"    - {mutation['find']}")
    say(f"    + {mutation['replace']}")
    say("")
    say("The damaged service still answers every change with ok and the new title. It keeps the old one.")
    say("")


def prepare(folder):
    """Compile the contract, seal the brief, and show that the environment can be measured."""
    run("compile", "--in", HERE / "contract.json", "--out", folder)
    run("seal", "--in", HERE / "contract.json", "--out", folder)
    run(
        "preflight",
        *("--contract", folder / "eval-contract.json", "--probes", folder / "probes.json"),
        *("--observations", folder / "observations.json", "--run-id", "notes-api", "--out", folder),
    )
    say("")


def score(folder, contract, home, runs, probe, corpus, out):
    """Score three trials against one probe; answers the exit code."""
    records = [part for trial in (1, 2, 3) for part in ("--record", folder / runs / f"record-{trial}.json")]
    return run(
        "score",
        *records,
        *("--isolation-manifest", folder / runs / "isolation-manifest.json"),
        *("--evaluator-configuration", home / "evaluator-configuration.json"),
        *("--contract", contract, "--probe", folder / "probes" / f"{probe}.json"),
        *("--preflight-verdict", folder / "preflight-verdict.json", "--policy", HERE / "policy.json"),
        *("--corpus-digest", corpus, "--out", folder / out),
    )


def tell(folder):
    """What each oracle said about each probe."""
    say("")
    contract = load(HERE / "contract.json")
    behaviors = {oracle: behavior for behavior in contract["behaviors"] for oracle in behavior["oracles"]}
    for probe in PROBES:
        evidence = load(folder / f"{probe}.json")
        say(f"{probe}, {WHAT[probe]}: verdict {evidence['contractVerdict']}")
        for outcome in evidence["outcomes"]:
            if outcome["trialIndex"] == 1:
                behavior = behaviors[outcome["oracleId"]]["description"]
                say(f"    {outcome['oracleId']}  {outcome['state']:<21} {behavior}")
    record = load(folder / "runs" / "P-001" / "record-1.json")
    finding = record["findings"][0]
    say("")
    say(f"Why O-001 caught it: {finding['summary']}")
    for quote in finding["quotedEvidence"]:
        say(f"    quoted: {quote['quote']}")
    say("Why O-002 did not: it reads the answer to the change alone, and that answer was right.")
    say("")


def aggregate(folder):
    """The strength of the contract over the three probes."""
    evidence = [part for probe in PROBES for part in ("--evidence", folder / f"{probe}.json")]
    policy = ("--floors", HERE / "floors.json", "--policy", HERE / "policy.json")
    run("aggregate-strength", *evidence, *policy, "--out", folder)
    for name, strength in load(folder / "strength-aggregate.json")["classes"].items():
        if strength is not None:
            say(f"    {name}: {strength['caught']} of {strength['exercised']} caught, rate {strength['rate']}")
    say("")


def counterexample(folder, corpus):
    """The same defect under a contract that never reads back."""
    say("And without the oracle that reads back? The same defect, the same evaluator, O-002 alone:")
    weak = folder / "response-only"
    code = score(folder, weak / "contract.json", weak, "response-only", "P-001", corpus, "weak.json")
    evidence = load(folder / "weak.json")
    say(f"    verdict {evidence['contractVerdict']}, exit code {code}: {evidence['verdictBasis'][0]}")
    for gap in evidence["coverageGaps"]:
        say(f"    the contract itself shows the gap: {gap['rule']} ({gap['severity']})")


def run(command, *arguments):
    """Run one command of eval-quality, show it without its paths, and answer its exit code."""
    finished = subprocess.run(
        [sys.executable, "-m", "eval_quality", command, *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
    )
    last = finished.stderr.splitlines()[-1:] or [""]
    say(f"eval-quality {command:<18} exit {finished.returncode}  {last[0]}".rstrip())
    if finished.returncode not in (0, 2):
        sys.exit(finished.stderr)
    return finished.returncode


def digest_of(path):
    """The artifact digest of a document, which stands for the corpus here."""
    import eval_quality

    return eval_quality.digest_artifact(load(path), "Corpus")


def load(path):
    return json.loads(path.read_text(encoding="utf-8"))


def say(line):
    print(line, flush=True)


if __name__ == "__main__":
    main()
