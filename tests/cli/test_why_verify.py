"""`eval-quality why` and `eval-quality verify`, over the committed skill example and over edits of it."""

import json
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from eval_quality.app.score import ScoreInputs
from eval_quality.app.verify import DoesNotReproduce, verify_evidence
from eval_quality.app.why import why_report
from eval_quality.value.digest import digest_json_text
from support.program import call

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "checklist-skill"
CORPUS = f"sha256:{0:064x}"


def main(arguments: list[str]) -> int:
    """Run the program; its two streams go to this test's own."""
    outcome = call(*arguments)
    sys.stdout.write(outcome.out)
    sys.stderr.write(outcome.err)
    return outcome.code


@pytest.fixture(scope="module")
def chain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example, pre-flown and scored."""
    folder = tmp_path_factory.mktemp("chain") / "skill"
    shutil.copytree(EXAMPLE, folder)
    preflight = ["preflight", "--contract", f"{folder}/contract.json", "--probes", f"{folder}/probes.json"]
    preflight += ["--observations", f"{folder}/observations.json", "--run-id", "skill-1"]
    assert main([*preflight, "--out", f"{folder}/preflight-verdict.json"]) == 0
    assert main(["score", *scoring(folder), "--corpus-digest", CORPUS, "--out", f"{folder}/evidence.json"]) == 0
    return folder


def scoring(folder: Path, trials: int = 3) -> list[str]:
    runs = folder / "runs" / "P-001"
    flags = [word for n in range(1, trials + 1) for word in ("--record", str(runs / f"record-{n}.json"))]
    named = {
        "contract": folder / "contract.json",
        "probe": folder / "probes" / "P-001.json",
        "preflight-verdict": folder / "preflight-verdict.json",
        "policy": folder / "policy.json",
        "isolation-manifest": runs / "isolation-manifest.json",
        "evaluator-configuration": folder / "evaluator-configuration.json",
    }
    return [*flags, *(word for name, path in named.items() for word in (f"--{name}", str(path)))]


def preflight_flags(folder: Path) -> list[str]:
    return ["--probes", str(folder / "probes.json"), "--observations", str(folder / "observations.json")]


def edit(chain: Path, tmp_path: Path, **members: Any) -> str:
    """The evidence with some of its members replaced."""
    value = json.loads((chain / "evidence.json").read_text(encoding="utf-8"))
    target = tmp_path / "edited.json"
    target.write_text(json.dumps({**value, **members}), encoding="utf-8")
    return str(target)


# --- verify ------------------------------------------------------------------------------------------------------


def test_evidence_that_follows_from_its_documents(chain: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", f"{chain}/evidence.json", *scoring(chain), *preflight_flags(chain)]) == 0
    printed = capsys.readouterr()
    digest = digest_json_text((chain / "evidence.json").read_bytes(), "EvidenceArtifact")
    assert printed.out == f"reproduced {digest}: pre-flight verdict, evidence artifact\n"
    assert printed.err == ""


def test_the_attested_corpus_digest_may_be_named(chain: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", f"{chain}/evidence.json", *scoring(chain), "--corpus-digest", CORPUS]) == 0
    assert "evidence artifact" in capsys.readouterr().out
    other = f"sha256:{1:064x}"
    assert main(["verify", f"{chain}/evidence.json", *scoring(chain), "--corpus-digest", other]) == 4
    assert "does not reproduce: EvidenceArtifact/scoringVersion: recorded" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("members", "says"),
    [
        ({"exitCode": 2}, "EvidenceArtifact/exitCode: recorded 2, recomputed 0"),
        ({"contractVerdict": "PASS"}, 'EvidenceArtifact/contractVerdict: recorded "PASS", recomputed "CONCERNS"'),
        ({"verdictBasis": []}, 'EvidenceArtifact/verdictBasis/0: recorded nothing, recomputed "coverage gap'),
        ({"runId": "other"}, 'EvidenceArtifact/runId: recorded "other", recomputed "checklist-P-001"'),
    ],
)
def test_edited_evidence_is_refused_at_its_first_difference(
    chain: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], members: dict[str, Any], says: str
) -> None:
    assert main(["verify", edit(chain, tmp_path, **members), *scoring(chain)]) == 4
    assert f"eval-quality: does not reproduce: {says}" in capsys.readouterr().err


def test_evidence_of_other_trials_is_refused(chain: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", f"{chain}/evidence.json", *scoring(chain, trials=2)]) == 4
    assert "EvidenceArtifact/verdictBasis/2: recorded nothing" in capsys.readouterr().err


def test_evidence_of_a_run_that_is_invalid_is_refused(chain: Path, capsys: pytest.CaptureFixture[str]) -> None:
    flags = [word for word in scoring(chain) if "isolation-manifest" not in word]
    assert main(["verify", f"{chain}/evidence.json", *flags]) == 4
    error = capsys.readouterr().err
    assert "the run is Invalid, so no evidence artifact follows from it: isolation manifest violation" in error


def test_a_preflight_verdict_that_does_not_follow_is_refused(
    chain: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    observations = json.loads((chain / "observations.json").read_text(encoding="utf-8"))
    observations[0]["stdout"] = {"kind": "json", "value": {"selected": ["quality-rules"]}}
    target = tmp_path / "observations.json"
    target.write_text(json.dumps(observations), encoding="utf-8")
    flags = ["--probes", str(chain / "probes.json"), "--observations", str(target)]
    assert main(["verify", f"{chain}/evidence.json", *scoring(chain), *flags]) == 4
    assert "does not reproduce: PreflightVerdict/fixtureDigest" in capsys.readouterr().err


@pytest.mark.parametrize("flag", ["--probes", "--observations"])
def test_probes_and_observations_go_together(chain: Path, capsys: pytest.CaptureFixture[str], flag: str) -> None:
    assert main(["verify", f"{chain}/evidence.json", *scoring(chain), flag, f"{chain}/probes.json"]) == 64
    assert "are given together" in capsys.readouterr().err


def test_a_private_reference_needs_its_folder(chain: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    record = json.loads((chain / "runs" / "P-001" / "record-1.json").read_text(encoding="utf-8"))
    record["isolationManifestArtifact"] = {"storage": "private", "path": None, "privateRef": "m", "digest": CORPUS}
    target = tmp_path / "record.json"
    target.write_text(json.dumps(record), encoding="utf-8")
    flags = [str(target) if word.endswith("record-1.json") else word for word in scoring(chain)]
    assert main(["verify", f"{chain}/evidence.json", *flags]) == 64
    assert "--corpus-root" in capsys.readouterr().err


def test_verify_is_a_function_too(chain: Path) -> None:
    runs = chain / "runs" / "P-001"
    inputs = ScoreInputs(
        records=[str(runs / f"record-{n}.json") for n in (1, 2, 3)],
        manifest=str(runs / "isolation-manifest.json"),
        configuration=str(chain / "evaluator-configuration.json"),
        contract=str(chain / "contract.json"),
        probe=str(chain / "probes" / "P-001.json"),
        preflight_verdict=str(chain / "preflight-verdict.json"),
        policy=str(chain / "policy.json"),
        private_manifest=None,
        corpus_digest="",
        corpus_root=None,
        designated_oracle=None,
    )
    assert verify_evidence(str(chain / "evidence.json"), inputs, None, None).recomputed == ("evidence artifact",)
    fewer = inputs._replace(designated_oracle="O-002", records=inputs.records[:1])
    with pytest.raises(DoesNotReproduce, match="does not reproduce"):
        verify_evidence(str(chain / "evidence.json"), fewer, None, None)


# --- why ---------------------------------------------------------------------------------------------------------


def test_why_in_plain_words(chain: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["why", f"{chain}/evidence.json"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[:2] == [
        "CONCERNS, exit 0: contract-scoring of run checklist-P-001 against probe P-001",
        "strength: defect: 1 of 1 caught",
    ]
    assert "1. coverage gap malformed-input unsatisfied at or above the severity floor" in lines
    assert "   decided by coverage rule sibling-cross-check, severity material" in lines
    assert lines[-1] == "Next better rung: PASS, once both reasons above are gone."


def test_why_as_json(chain: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["why", f"{chain}/evidence.json", "--format", "json", "--contract", f"{chain}/contract.json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["verdict"], found["nextRung"], found["exitCode"]) == ("CONCERNS", "PASS", 0)
    assert [reason["row"] for reason in found["reasons"]] == ["coverage-gap-at-or-above-floor"] * 2


def failing(chain: Path, tmp_path: Path) -> str:
    value = json.loads((chain / "evidence.json").read_text(encoding="utf-8"))
    outcomes = [{**o, "state": "missed"} if o["oracleId"] == "O-002" else o for o in value["outcomes"]]
    basis = ["oracle O-002 resolved missed at or above the severity floor"] * 3
    return edit(chain, tmp_path, verdictBasis=basis, contractVerdict="FAIL", exitCode=2, outcomes=outcomes)


def test_why_shows_the_nodes_of_a_check_and_what_comes_next(chain: Path, tmp_path: Path) -> None:
    text = why_report(failing(chain, tmp_path), str(chain / "contract.json"), as_json=False)
    lines = text.splitlines()
    assert "2. " not in text
    assert sum(line.startswith("   decided by trial") for line in lines) == 3
    assert any("predicate[element 3]: set-membership of" in line and line.endswith("is true") for line in lines)
    assert "Next better rung: CONCERNS, once the reason above is gone." in lines
    assert lines[-2].startswith("  coverage gap malformed-input, severity material")
    found = json.loads(why_report(failing(chain, tmp_path), str(chain / "contract.json"), as_json=True))
    assert found["reasons"][0]["deciding"][0]["op"] == "set-membership"


def test_why_of_a_pass(chain: Path, tmp_path: Path) -> None:
    text = why_report(edit(chain, tmp_path, verdictBasis=[], contractVerdict="PASS"), None, as_json=False)
    assert text.splitlines()[-1] == "Nothing fired: this is the best rung."
    three = ["evidence unavailable", "evidence reported incomplete", "evaluator recommendation FAIL"]
    text = why_report(edit(chain, tmp_path, verdictBasis=three, contractVerdict="FAIL"), None, as_json=False)
    assert "once all 3 reasons above are gone" in text


def test_why_over_an_empty_collection_says_so(tmp_path: Path, chain: Path) -> None:
    value = json.loads((chain / "evidence.json").read_text(encoding="utf-8"))
    nothing = {"resolution": "insufficient-evidence", "introductionCondition": "empty-collection", "children": []}
    tree = {"resolution": "insufficient-evidence", "introductionCondition": None, "children": [nothing]}
    outcomes = [
        {**o, "state": "abstained", "checkResolution": tree} if o["oracleId"] == "O-002" else o
        for o in value["outcomes"]
    ]
    basis = ["oracle O-002 resolved abstained at or above the severity floor"]
    path = edit(chain, tmp_path, verdictBasis=basis, contractVerdict="FAIL", outcomes=outcomes)
    text = why_report(path, str(chain / "contract.json"), as_json=False)
    assert "is insufficient-evidence (empty-collection)" in text


def test_why_of_something_else_is_a_fault(capsys: pytest.CaptureFixture[str], chain: Path) -> None:
    assert main(["why", f"{chain}/policy.json"]) == 5
    assert "schema-version-mismatch: EvidenceArtifact.schemaVersion" in capsys.readouterr().err


def test_an_artifact_that_scores_no_probe_is_explained(chain: Path, tmp_path: Path) -> None:
    text = why_report(edit(chain, tmp_path, scoredProbeId=None), None, as_json=False)
    assert "against no probe" in text
