"""Make the whole suite from `suite.toml`, by running the agents.

    python examples/selection-suite/generate.py            # rewrites the generated folders
    python examples/selection-suite/generate.py --out DIR  # writes them somewhere else

Per workflow, under `workflows/<name>/`: the skill's rules, the contract (an inclusion and an exclusion oracle for each
case), one gameability probe and one clean control, the pre-flight observations, the evaluator configuration, and three
trials of each probe. `score.py` scores it all and makes `expected-strength.json`.
"""

import argparse
import sys
import tomllib
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from command_chain import Agent, Writer, configuration, preflight_observations, write_trials  # noqa: E402
from selection_chain import (  # noqa: E402
    OPERATION,
    clean_control,
    contract,
    excluded_everywhere,
    follow_plan,
    gameability,
    judge,
    signature,
)

AGENTS = HERE.parent / "checklist-skill" / "agent"
NO_SIBLINGS = {"operations": [], "parameters": []}


def wanted(workflow):
    """What each case must name and must not, with what holds for every case folded in."""
    return {
        case: {
            "include": [*workflow["always"], *asked["include"]],
            "exclude": [*asked["exclude"], *workflow["retired"]],
        }
        for case, asked in workflow["cases"].items()
    }


def rules(name, workflow):
    """The skill's rules as the agent is handed them."""
    lines = [f"# {name}", "", "Select items for the case by these rules, in order.", ""]
    lines.append(f"- every case: {', '.join([*workflow['always'], *workflow['retired']])}")
    for case, asked in workflow["cases"].items():
        lines.append(f"- for {case}: {', '.join([*asked['include'], *asked['exclude']])}")
    for case, asked in wanted(workflow).items():
        lines.append(f"- never for {case}: {', '.join(asked['exclude'])}")
    return "\n".join(lines) + "\n"


def generate(writer, number, name, workflow):
    """One workflow: its probes are P-<number>1, the gameability probe, and P-<number>2, the clean control."""
    prompt, cases, folder = rules(name, workflow), wanted(workflow), f"workflows/{name}"
    target = writer.folder / folder / "rules.md"
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(prompt, encoding="utf-8")
    everything_source = (AGENTS / "name_everything.py").read_text(encoding="utf-8")
    arms = {
        "clean": Agent((AGENTS / "selector.py").read_text(encoding="utf-8")),
        "name-everything": Agent(everything_source),
    }

    local = Writer(writer.folder / folder)
    the_contract = contract(f"{name}-selection", name, cases, prompt, NO_SIBLINGS)
    local.write("contract.json", the_contract)
    captures = {
        arm: local.write(f"captures/{arm}.json", follow_plan(agent, name, cases, prompt)) for arm, agent in arms.items()
    }
    shown = signature(name, None, excluded_everywhere(cases))
    probes = {
        "name-everything": gameability(
            f"P-{number}01", "B-002", name, everything_source, prompt, captures["name-everything"], shown
        ),
        "clean": clean_control(f"P-{number}02", "B-002", name, prompt, captures["clean"]),
    }
    local.write("probes.json", list(probes.values()))
    local.write("observations.json", preflight_observations(the_contract, list(probes.values()), arms["clean"], {}))
    settings = configuration(the_contract, "generate.py", [OPERATION])
    local.write("evaluator-configuration.json", settings)
    for arm, probe in probes.items():
        local.write(f"probes/{probe['probeId']}.json", probe)

        def trial(arm=arm, probe=probe):
            seen = follow_plan(arms[arm], name, cases, prompt)
            return (seen, *judge(cases, seen, probe["probeId"]))

        run_id = f"{name}-{probe['probeId']}"
        write_trials(local, f"runs/{probe['probeId']}", the_contract, settings, run_id, trial)


def main():
    parser = argparse.ArgumentParser(description="Generate the selection suite from suite.toml.")
    parser.add_argument("--out", type=Path, default=HERE, help="folder to write to")
    writer = Writer(parser.parse_args().out)
    suite = tomllib.loads((HERE / "suite.toml").read_text(encoding="utf-8"))
    for number, (name, workflow) in enumerate(suite["workflows"].items(), 1):
        generate(writer, number, name, workflow)


if __name__ == "__main__":
    main()
