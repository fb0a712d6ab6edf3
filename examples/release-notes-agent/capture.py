"""Run the release-notes agent, sound and damaged, and write down what was observed.

    python examples/release-notes-agent/capture.py            # rewrites the captured documents of this folder
    python examples/release-notes-agent/capture.py --out DIR  # writes them somewhere else

Authored are the agent, its fixtures, the planted defect under `mutations/`, `contract.py`, `policy.json` and
`floors.json`. Everything else is written here, from running the agent:

| File | Content |
|---|---|
| `contract.json` | the contract of `contract.py` |
| `captures/<arm>.json` | the plan's three calls on one arm, as observations |
| `probes/P-00n.json`, `probes.json` | the probes, whose evidence names those captures by digest |
| `observations.json` | what every pre-flight leg observed: clean legs on the sound agent, fault legs on the other |
| `evaluator-configuration.json` | who evaluated |
| `runs/P-00n/` | three trials a probe, and what the evaluator was kept from |
"""

import argparse
import sys
import tomllib
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from command_chain import (  # noqa: E402
    Agent,
    Writer,
    configuration,
    defect_finding,
    observe,
    planted,
    preflight_observations,
    write_trials,
)
from contract import AGENT, OPERATION, contract, options, probes  # noqa: E402


def agent(source):
    return Agent(source, ["summarize"], HERE / "fixtures", {"notes": "notes.json"})


def follow_plan(subject):
    """The three calls of the interaction plan, in order."""
    asked = (options("alpha"), options("malformed"), {**options("alpha"), "input": 17})
    return [observe(number, AGENT, OPERATION, subject, option) for number, option in enumerate(asked, 1)]


def judge(seen, probe_id):
    """What the evaluator says about each oracle, and the defects it reports."""
    alpha, malformed, number = seen
    notes = alpha["artifacts"]["notes"]
    files = [entry["file"] for entry in notes["value"]["entries"]] if notes["kind"] == "json" else []
    refused = malformed["exitCode"] != 0
    verdicts = (
        ("O-001", files == ["app.py", "README.md"], [alpha]),
        ("O-002", refused, [malformed]),
        ("O-003", number["exitCode"] != 0, [number]),
    )
    findings = []
    if not refused:
        findings.append(
            defect_finding(
                1,
                "O-002",
                "B-002",
                probe_id,
                "material",
                "A diff that cannot be read was accepted: the agent exits 0 and the notes hold no entry.",
                malformed,
                [("exit-code", "0"), ("call-inputs", '"input":"fixtures/malformed.diff"')],
            )
        )
    return verdicts, findings


def main():
    parser = argparse.ArgumentParser(description="Capture the release-notes example from running the agent.")
    parser.add_argument("--out", type=Path, default=HERE, help="folder to write to")
    writer = Writer(parser.parse_args().out)

    mutation_text = (HERE / "mutations" / "empty-on-malformed.toml").read_bytes()
    source = (HERE / "agent" / "release_notes.py").read_text(encoding="utf-8")
    damaged = planted(source, tomllib.loads(mutation_text.decode()))
    arms = {"clean": agent(source), "empty-on-malformed": agent(damaged)}

    the_contract = contract()
    writer.write("contract.json", the_contract)
    captures = {name: writer.write(f"captures/{name}.json", follow_plan(arm)) for name, arm in arms.items()}
    documents = probes(source, damaged, mutation_text, captures)
    for document in documents:
        writer.write(f"probes/{document['probeId']}.json", document)
    used = [document for document in documents if document["probeId"] != "P-002"]
    writer.write("probes.json", used)
    faulty = {"manifest-empty-notes": arms["empty-on-malformed"]}
    writer.write("observations.json", preflight_observations(the_contract, used, arms["clean"], faulty))

    settings = configuration(the_contract, "capture.py", [OPERATION])
    writer.write("evaluator-configuration.json", settings)
    for probe_id, arm in (("P-001", "empty-on-malformed"), ("P-003", "clean")):

        def trial(probe_id=probe_id, arm=arm):
            seen = follow_plan(arms[arm])
            return (seen, *judge(seen, probe_id))

        write_trials(writer, f"runs/{probe_id}", the_contract, settings, f"release-notes-{probe_id}", trial)


if __name__ == "__main__":
    main()
