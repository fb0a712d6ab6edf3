"""The command-line examples: run again, compared byte for byte, and held to what their pages promise."""

import filecmp
import json
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

import eval_quality

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"
AGENT, SKILL, SUITE = (EXAMPLES / name for name in ("release-notes-agent", "checklist-skill", "selection-suite"))
CORPUS = f"sha256:{0:064x}"

CAPTURED = ("captures", "contract.json", "evaluator-configuration.json", "observations.json", "probes", "probes.json")


def load(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def files(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def committed(folder: Path, names: tuple[str, ...]) -> list[str]:
    found: list[str] = []
    for name in names:
        path = folder / name
        found += [f"{name}/{inner}" for inner in files(path)] if path.is_dir() else [name]
    return sorted(found)


@pytest.mark.parametrize(
    ("folder", "script", "names"),
    [
        (AGENT, "capture.py", (*CAPTURED, "runs")),
        (SKILL, "capture.py", (*CAPTURED, "runs")),
        (SUITE, "generate.py", ("workflows",)),
    ],
    ids=["release-notes-agent", "checklist-skill", "selection-suite"],
)
def test_what_is_committed_is_what_the_agents_answer_today(
    folder: Path, script: str, names: tuple[str, ...], tmp_path: Path
) -> None:
    finished = subprocess.run(
        [sys.executable, folder / script, "--out", str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert finished.returncode == 0, finished.stderr
    expected = committed(folder, names)
    assert files(tmp_path) == expected
    _, different, missing = filecmp.cmpfiles(folder, tmp_path, expected, shallow=False)
    assert (different, missing) == ([], [])


@pytest.mark.parametrize(
    ("folder", "mutation"), [(AGENT, "empty-on-malformed"), (SKILL, "exclusion-deleted")], ids=["agent", "skill"]
)
def test_the_planted_defect_is_one_exact_line(folder: Path, mutation: str) -> None:
    planted = tomllib.loads((folder / "mutations" / f"{mutation}.toml").read_text(encoding="utf-8"))
    source = next(path for path in folder.rglob("*") if path.is_file() and path.as_posix().endswith(planted["file"]))
    assert source.read_text(encoding="utf-8").count(planted["find"]) == 1
    assert "\n" not in planted["find"] + planted["replace"]


def scored(folder: Path, probe: str, trials: int = 3, runs: str | None = None) -> Any:
    document = load(folder / "probes" / f"{probe}.json")
    contract, probes = load(folder / "contract.json"), load(folder / "probes.json")
    verdict = eval_quality.preflight_from_observations(
        contract=contract, probes=probes, run_id="golden", observations=load(folder / "observations.json")
    )
    assert verdict.passed
    home = folder / "runs" / (runs or probe)
    result = eval_quality.run_score(
        record=[load(home / f"record-{number}.json") for number in range(1, trials + 1)],
        manifest=load(home / "isolation-manifest.json"),
        configuration=load(folder / "evaluator-configuration.json"),
        contract=contract,
        probe=document,
        preflight_verdict=verdict,
        policy=load(folder / "policy.json"),
        corpus_digest=CORPUS,
    )
    return eval_quality.to_value(result)


CAUGHT = {"caught": 1, "exercised": 1, "rate": 1}


@pytest.mark.parametrize(
    ("folder", "probe", "vector"),
    [
        (AGENT, "P-001", {"defect": CAUGHT, "gameability": None, "zero-action": None}),
        (SKILL, "P-001", {"defect": CAUGHT, "gameability": None, "zero-action": None}),
        (SKILL, "P-002", {"defect": None, "gameability": CAUGHT, "zero-action": None}),
        (AGENT, "P-003", {"defect": None, "gameability": None, "zero-action": None}),
        (SKILL, "P-003", {"defect": None, "gameability": None, "zero-action": None}),
    ],
)
def test_the_strength_of_each_probe(folder: Path, probe: str, vector: Any) -> None:
    result = scored(folder, probe)
    assert result["artifact"]["strength"]["vector"] == vector
    assert result["artifact"]["strength"]["comparable"] is True
    assert result["qualification"] == {"qualified": True, "failures": [], "declarationChecksRan": True}


def test_a_clean_control_raises_no_alarm() -> None:
    for folder in (AGENT, SKILL):
        states = {outcome["state"] for outcome in scored(folder, "P-003")["artifact"]["outcomes"]}
        assert states == {"passed-clean-control"}


@pytest.mark.parametrize("folder", [AGENT, SKILL], ids=["agent", "skill"])
def test_one_trial_is_not_comparable_and_three_are(folder: Path) -> None:
    one, three = scored(folder, "P-001", trials=1)["artifact"], scored(folder, "P-001")["artifact"]
    assert one["strength"]["comparable"] is False
    assert one["strength"]["note"] == (
        "1 admitted probe over 1 completed trial. Below the declared minimum of 3. The vector is reported and marked "
        "non-comparable."
    )
    assert three["strength"]["comparable"] is True
    assert three["strength"]["note"] == "1 admitted probe over 3 completed trials."


def test_the_skill_chain_lands_on_concerns_on_three_bases() -> None:
    result = scored(SKILL, "P-001", trials=1)
    assert (result["ladder"]["verdict"], result["ladder"]["exitCode"]) == ("CONCERNS", 0)
    assert result["ladder"]["basis"] == [
        "coverage gap malformed-input unsatisfied at or above the severity floor",
        "coverage gap sibling-cross-check unsatisfied at or above the severity floor",
        "1 completed trials below the declared minimum of 3",
    ]
    states = {outcome["oracleId"]: outcome["state"] for outcome in result["artifact"]["outcomes"]}
    assert (states["O-001"], states["O-002"]) == ("confirmed", "caught")


@pytest.mark.parametrize(
    ("name", "code", "detail"),
    [
        (
            "selector-typo",
            "condition-selector-key-undeclared",
            'operation "run-skill" declares "skil" in neither requiredKeys nor permittedKeys of its option channel, so '
            "this selector matches no observation and the probe can never be triggered (AD-4, AD-40)",
        ),
        (
            "echo-condition",
            "condition-channels-underspecified",
            'names "call-inputs", which is neither the declared observableChannel "stdout" nor two channels with a '
            "response-side member (AD-40)",
        ),
        (
            "empty-defects",
            "qualification-route-incompatible",
            'probeClass "defect" seeds a defect and this probe\'s defects array is empty, so no AD-9 route has a '
            "seeded defect to qualify (AD-9)",
        ),
    ],
)
def test_the_three_refusals_word_for_word(name: str, code: str, detail: str) -> None:
    result = scored(SKILL, f"refused/{name}", runs="P-002")
    assert result["artifact"] is None
    assert (result["ladder"]["verdict"], result["ladder"]["exitCode"]) == (None, 3)
    assert [(failure["code"], failure["detail"]) for failure in result["qualification"]["failures"]] == [(code, detail)]


def test_a_signature_on_the_written_file_is_refused_with_its_reasons() -> None:
    result = scored(AGENT, "P-002", runs="P-001")
    assert (result["artifact"], result["ladder"]["exitCode"]) == (None, 3)
    assert [failure["code"] for failure in result["qualification"]["failures"]] == [
        "condition-artifact-channel-contract-local",
        "condition-channels-underspecified",
    ]


def test_every_contract_compiles_unchanged_and_seals() -> None:
    for path in (AGENT / "contract.json", SKILL / "contract.json", *sorted(SUITE.glob("workflows/*/contract.json"))):
        contract = load(path)
        assert eval_quality.to_value(eval_quality.compile_contract(contract)) == contract
        brief = eval_quality.to_value(eval_quality.seal_contract(contract))
        assert len(brief["directions"]) == len(contract["oracles"])


def test_the_suite_scores_what_its_table_says() -> None:
    finished = subprocess.run(
        [sys.executable, SUITE / "score.py"], capture_output=True, text=True, check=False, timeout=120
    )
    assert finished.returncode == 0, finished.stderr
    table = load(SUITE / "expected-strength.json")
    assert list(table) == sorted(tomllib.loads((SUITE / "suite.toml").read_text(encoding="utf-8"))["workflows"])
    for row in table.values():
        assert row["gameability"]["vector"] == {"defect": None, "gameability": CAUGHT, "zero-action": None}
        assert row["gameability"]["basis"] == [
            "coverage gap malformed-input unsatisfied at or above the severity floor"
        ]
        assert row["cleanControl"]["states"] == ["passed-clean-control"]
        assert row["gameability"]["comparable"] is True


def test_the_suite_asks_two_oracles_a_case_and_one_behaviour_each() -> None:
    for path in sorted(SUITE.glob("workflows/*/contract.json")):
        contract = load(path)
        cases = len(contract["interactionPlan"])
        assert len(contract["oracles"]) == len(contract["behaviors"]) == 2 * cases
        assert all(len(behavior["oracles"]) == 1 for behavior in contract["behaviors"])
