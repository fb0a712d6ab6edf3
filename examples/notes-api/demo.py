"""Would this evaluation have caught a known bug? Ask it, and see.

    python examples/notes-api/demo.py      (or `make demo` at the top of the checkout)

It plants one defect in a small notes service, captures what the sound and the damaged service answer, and sends the
captures through the commands of `eval-quality`. Everything is written to a temporary folder.
"""

import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

from chain import HERE, PROBES, load, steps

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
        for step in steps(folder, folder):
            last = step.messages[-1].removeprefix("eval-quality: ") if step.messages else ""
            say(f"    eval-quality {step.command:<18} exit {step.code}  {last}".rstrip())
        tell(folder)
        add_up(folder)
        counterexample(folder)


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


def tell(folder):
    """What each oracle said about each probe, and why."""
    contract = load(HERE / "contract.json")
    behaviors = {oracle: behavior for behavior in contract["behaviors"] for oracle in behavior["oracles"]}
    for probe in PROBES:
        evidence = load(folder / f"{probe}.json")
        say("")
        say(f"{probe}, {WHAT[probe]}: the contract's verdict is {evidence['contractVerdict']}")
        for outcome in evidence["outcomes"]:
            if outcome["trialIndex"] == 1:
                behavior = behaviors[outcome["oracleId"]]["description"]
                say(f"    {outcome['oracleId']}  {outcome['state']:<21} {behavior}")
    finding = load(folder / "runs" / "P-001" / "record-1.json")["findings"][0]
    say("")
    say(f"Why O-001 caught the defect: {finding['summary']}")
    for quote in finding["quotedEvidence"]:
        say(f"    quoted: {quote['quote']}")
    say("Why O-002 did not: it reads the answer to the change alone, and that answer was right.")


def add_up(folder):
    """The strength of the contract over the three probes."""
    say("")
    say("Strength of the contract:")
    for name, strength in load(folder / "strength-aggregate.json")["classes"].items():
        if strength is not None:
            say(f"    {name}: {strength['caught']} of {strength['exercised']} caught, rate {strength['rate']}")


def counterexample(folder):
    """The same defect under a contract that never reads back."""
    evidence = load(folder / "response-only.json")
    say("")
    say("And without the oracle that reads back? The same defect, the same evaluator, O-002 alone:")
    say(f"    verdict {evidence['contractVerdict']}: {evidence['verdictBasis'][0]}")
    for gap in evidence["coverageGaps"]:
        say(f"    and the contract itself shows the gap: {gap['rule']} ({gap['severity']})")


def say(line):
    print(line, flush=True)


if __name__ == "__main__":
    main()
