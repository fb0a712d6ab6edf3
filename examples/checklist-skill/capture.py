"""Run the selection agent with the skill's rules, sound and damaged, and write down what was observed.

    python examples/checklist-skill/capture.py            # rewrites the captured documents of this folder
    python examples/checklist-skill/capture.py --out DIR  # writes them somewhere else

Authored are the skill, the two agents, the planted defect under `mutations/`, `policy.json` and `floors.json`.
Everything else is written here, from running the agents:

| File | Content |
|---|---|
| `contract.json` | two cases, each with an inclusion oracle and an exclusion oracle, one behaviour each |
| `captures/<arm>.json` | the plan's calls on one arm, as observations |
| `probes/P-00n.json`, `probes.json` | the planted defect, the reply that names everything, the clean control |
| `probes/refused/*.json` | three probes as they are easily got wrong, which the gate refuses |
| `observations.json` | what every pre-flight leg observed |
| `evaluator-configuration.json` | who evaluated |
| `runs/P-00n/` | three trials a probe, and what the evaluator was kept from |
"""

import argparse
import sys
import tomllib
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from command_chain import Agent, Writer, configuration, planted, preflight_observations, write_trials  # noqa: E402
from selection_chain import (  # noqa: E402
    INTERFACE,
    OPERATION,
    clean_control,
    contract,
    excluded_everywhere,
    follow_plan,
    gameability,
    inputs,
    judge,
    names_any,
    probe,
    reference,
    signature,
)

SKILL = "checklist-selection"
EXCLUDED = ["mobile-rules", "contract-rules"]
CASES = {
    "frontend": {"include": ["quality-rules", "interaction-rules", "timing-rules"], "exclude": EXCLUDED},
    "backend": {
        "include": ["quality-rules", "api-rules", "data-rules"],
        "exclude": ["interaction-rules", "contract-rules"],
    },
}


def planted_defect(sound, damaged, mutation, captures):
    """P-001: a run that exits 0 and names an item the rules exclude for the case."""
    leg = "names-an-excluded-item"
    shows = {
        "op": "all",
        "operands": [
            {"op": "equality", "operands": [{"pointer": "/interactions/observed/exit-code"}, {"literal": 0}]},
            names_any("observed", EXCLUDED),
        ],
    }
    return probe(
        "P-001",
        "defect",
        "B-002",
        SKILL,
        damaged,
        sound,
        "The exclusion rule for frontend cases is emptied. The inclusion half still holds over the reply, so the "
        "exclusion half is what has to catch it.",
        {
            "qualification": {
                "route": "controlled-mutation",
                "mutationSource": "skill/SKILL.md",
                "mutationOperator": "clause-deletion",
                "targetArtifact": reference("mutations/exclusion-deleted.toml", mutation),
                "expectedObservableFailure": "a frontend selection exits 0 and names an item the rules exclude",
                "baselinePassEvidence": captures["clean"],
                "mutatedFailEvidence": captures["exclusion-deleted"],
                "rollbackVerified": True,
            },
            "expectedClean": False,
            "defects": [
                {
                    "defectId": "D-001",
                    "behaviorId": "B-002",
                    "summary": "A frontend selection names an item the rules exclude, and the run exits 0.",
                    "severity": "material",
                    "oracleEvidence": [captures["exclusion-deleted"]],
                    "source": "controlled-mutation",
                    "manifestationWitness": {
                        "legId": leg,
                        "interfaceId": INTERFACE,
                        "operationId": OPERATION,
                        "inputs": inputs(SKILL, "frontend", damaged),
                        "relation": names_any(leg, EXCLUDED),
                    },
                }
            ],
            "defectSignature": signature(SKILL, "frontend", EXCLUDED, shows),
        },
    )


def refused(defect, degenerate):
    """Three probes with one mistake each."""
    typo = signature(SKILL, "frontend", EXCLUDED)
    asked = typo["condition"]["selector"]["inputBinding"]["option"]
    asked["skil"] = asked.pop("skill")
    sent = {"op": "existence", "operands": [{"pointer": "/interactions/observed/call-inputs/stdin/prompt"}]}
    return {
        "selector-typo": {**degenerate, "defectSignature": typo},
        "echo-condition": {**degenerate, "defectSignature": signature(SKILL, "frontend", EXCLUDED, sent)},
        "empty-defects": {**defect, "defects": []},
    }


def main():
    parser = argparse.ArgumentParser(description="Capture the checklist example from running its agents.")
    parser.add_argument("--out", type=Path, default=HERE, help="folder to write to")
    writer = Writer(parser.parse_args().out)

    sound = (HERE / "skill" / "SKILL.md").read_text(encoding="utf-8")
    mutation_text = (HERE / "mutations" / "exclusion-deleted.toml").read_bytes()
    damaged = planted(sound, tomllib.loads(mutation_text.decode()))
    follows = Agent((HERE / "agent" / "selector.py").read_text(encoding="utf-8"))
    everything_source = (HERE / "agent" / "name_everything.py").read_text(encoding="utf-8")
    arms = {
        "clean": (follows, sound),
        "exclusion-deleted": (follows, damaged),
        "name-everything": (Agent(everything_source), sound),
    }

    the_contract = contract("checklist-selection-example", SKILL, CASES, sound, None)
    writer.write("contract.json", the_contract)
    captures = {
        name: writer.write(f"captures/{name}.json", follow_plan(agent, SKILL, CASES, prompt))
        for name, (agent, prompt) in arms.items()
    }
    defect = planted_defect(sound, damaged, mutation_text, captures)
    degenerate = gameability(
        "P-002",
        "B-002",
        SKILL,
        everything_source,
        sound,
        captures["name-everything"],
        signature(SKILL, None, excluded_everywhere(CASES)),
    )
    control = clean_control("P-003", "B-002", SKILL, sound, captures["clean"])
    probes = [defect, degenerate, control]
    for document in probes:
        writer.write(f"probes/{document['probeId']}.json", document)
    writer.write("probes.json", probes)
    for name, document in refused(defect, degenerate).items():
        writer.write(f"probes/refused/{name}.json", document)
    writer.write("observations.json", preflight_observations(the_contract, probes, follows, {}))

    settings = configuration(the_contract, "capture.py", [OPERATION])
    writer.write("evaluator-configuration.json", settings)
    ran = {"P-001": "exclusion-deleted", "P-002": "name-everything", "P-003": "clean"}
    for probe_id, arm in ran.items():

        def trial(probe_id=probe_id, arm=arm):
            agent, prompt = arms[arm]
            seen = follow_plan(agent, SKILL, CASES, prompt)
            return (seen, *judge(CASES, seen, probe_id))

        write_trials(writer, f"runs/{probe_id}", the_contract, settings, f"checklist-{probe_id}", trial)


if __name__ == "__main__":
    main()
