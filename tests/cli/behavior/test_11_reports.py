"""Audit, lint, init, diff, suites, doctor, skills as typed, and what is published (spec 11 §14, §17.12)."""

import json
from pathlib import Path

import jsonschema_rs
import pytest

from eval_quality.app.behavior.publish import schema_text, write
from eval_quality.core.behavior.documents import PUBLISHED
from support.program import call
from support.skills_corpus import scenario
from support.skills_repo import (
    EXAMPLE,
    REFERENCE,
    ROOT,
    configure,
    opened,
    scored,
    small_repository,
    write_skill,
    wrong_answers,
)


@pytest.fixture
def repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = small_repository(tmp_path / "repo", 2, 6)
    monkeypatch.chdir(root)
    return root


# -- audit --


def test_audit_of_our_bundle_and_of_a_leaky_one(repo: Path) -> None:
    call("behavior-eval", "export", "--out", "requests.json")
    outcome = call("behavior-eval", "audit", "requests.json")
    assert outcome.code == 0
    assert outcome.out.splitlines()[-1] == "PASS"
    assert "WARN id-reversal" in outcome.out
    value = json.loads(call("behavior-eval", "audit", "requests.json", "--blind", "--json").out)
    assert (value["status"], value["truth"]) == ("PASS", "none")
    assert json.loads(call("behavior-eval", "audit", "requests.json", "--json").out)["truth"] == "plan"


def test_audit_of_a_bundle_with_labels(repo: Path) -> None:
    from support.skills_corpus import corpus, reference_bundle

    _texts, scenarios = corpus(5, 8)
    requests, truth = reference_bundle(scenarios)
    bundle = {
        "schemaVersion": 1,
        "metric": "agent-behavior-requests",
        "corpusSha256": "0" * 64,
        "oracleSha256": "0" * 64,
        "total": len(requests),
        "requests": requests,
    }
    labels = {
        key: {"category": item.category, "family": item.family, "expected": item.expected, "forbidden": item.forbidden}
        for key, item in truth.items()
    }
    (repo / "theirs.json").write_text(json.dumps(bundle))
    (repo / "labels.json").write_text(json.dumps(labels))
    outcome = call("behavior-eval", "audit", "theirs.json", "--labels", "labels.json", "--json")
    assert outcome.code == 1
    value = json.loads(outcome.out)
    assert (value["status"], value["truth"]) == ("FAIL", "labels")
    assert call("behavior-eval", "audit", "theirs.json", "--blind").code == 1
    (repo / "labels.json").write_text('{"case-x": {"category": "seldom"}}')
    assert call("behavior-eval", "audit", "theirs.json", "--labels", "labels.json").code == 1


def test_audit_of_the_references_evidence_file(repo: Path) -> None:
    path = REFERENCE / "evals/results/agent-behavior-v1.json"
    if not path.exists():
        pytest.skip("reference data absent: ../shared/reference/get-fable")
    outcome = call("behavior-eval", "audit", str(path), "--json")
    assert outcome.code == 1
    value = json.loads(outcome.out)
    assert value["counts"]["oracleInEvidence"] == 115
    assert value["counts"]["constantPerSkillPasses"] == 110
    assert {probe["name"]: probe["status"] for probe in value["probes"]}["oracle-in-evidence"] == "FAIL"
    scored(repo)
    (repo / "broken.json").write_text('{"metric": "agent-behavior"}')
    assert call("behavior-eval", "audit", "broken.json").code == 1


# -- lint, init, diff, suites --


def test_lint_and_suggest(repo: Path) -> None:
    (repo / "skills/skill-0/evals/evals.json").write_text(
        json.dumps({"skill_name": "skill-0", "evals": [{"id": 1, "prompt": "Do it"}]})
    )
    outcome = call("behavior-eval", "lint", "--suggest")
    assert outcome.code == 0
    assert "0 errors" in outcome.out
    assert '"intent": "Do it"' in outcome.out
    write_skill(repo, "broken", [scenario(0)])
    outcome = call("behavior-eval", "lint", "--json")
    assert outcome.code == 1
    assert json.loads(outcome.out)["findings"][0]["code"] == "scenario-id"


def test_init_drafts_and_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_skill(tmp_path, "new-skill", None)
    (path / "SKILL.md").write_text(
        (path / "SKILL.md").read_text() + "\n## When NOT to Use\n\n- Somebody only reads data\n"
    )
    monkeypatch.chdir(tmp_path)
    outcome = call("behavior-eval", "init", "--salt")
    assert outcome.out.splitlines() == [
        "wrote .skill-evidence.json",
        "wrote .skill-evidence/.gitignore",
        "wrote .skill-evidence/salt",
        "wrote .skill-evidence/drafts/new-skill.json",
    ]
    assert opened(tmp_path).salt is not None
    drafts = json.loads((tmp_path / ".skill-evidence/drafts/new-skill.json").read_text())["scenarios"]
    assert drafts[0]["description"] == "When NOT to Use: Somebody only reads data"
    assert call("behavior-eval", "init").out == "nothing to write: everything is there\n"
    assert call("behavior-eval").out == "NOT_CHECKED no-provider-cases\n"


def test_diff(repo: Path) -> None:
    scored(repo, wrong_answers(opened(repo)), out=str(repo / "a.json"))
    scored(repo, out=str(repo / "b.json"))
    outcome = call("behavior-eval", "diff", "a.json", "b.json")
    assert (outcome.code, outcome.out.splitlines()[0]) == (0, "60 wins, 0 losses, 0 ties, McNemar p 0.0")
    (repo / "a.json").write_text("{}")
    assert call("behavior-eval", "diff", "a.json", "b.json").code == 1


def test_skill_evals_and_triggers(repo: Path) -> None:
    exported = call("behavior-eval", "export-evals", "--skill", "skill-0", "--dialect", "B")
    suite = json.loads(exported.out)
    assert len(suite["evals"]) == 6
    assert "assertions" in suite["evals"][0]
    (repo / "evals.json").write_text(exported.out)
    assert call("behavior-eval", "import-evals", "evals.json", "--out", "drafts.json").code == 0
    drafts = json.loads((repo / "drafts.json").read_text())["scenarios"]
    assert [item["id"] for item in drafts] == [item["id"] for item in suite["evals"]]
    queries = json.loads(call("behavior-eval", "export-triggers", "--skill", "skill-1").out)
    assert sum(item["should_trigger"] for item in queries) == 6
    results = [{**item, "runs": 3, "triggers": 3 if item["should_trigger"] else 0} for item in queries]
    (repo / "results.json").write_text(json.dumps({"results": results}))
    control = [{"query": "always", "should_trigger": True, "runs": 3, "triggers": 3}]
    (repo / "control.json").write_text(json.dumps({"results": control}))
    outcome = call("behavior-eval", "triggers", "results.json", "--control", "control.json")
    assert outcome == (0, "PASS 12 of 12 queries as wanted\n", "")
    (repo / "control.json").write_text(json.dumps({"results": [{**control[0], "triggers": 0}]}))
    outcome = call("behavior-eval", "triggers", "results.json", "--control", "control.json", "--json")
    assert (outcome.code, json.loads(outcome.out)["status"]) == (1, "NOT_CHECKED")
    assert call("behavior-eval", "import-evals", "control.json").code == 1


# -- doctor and skills --


def test_s14_doctor(repo: Path) -> None:
    outcome = call("doctor", "--fix", "--json")
    assert outcome.code == 0
    assert outcome.err == "eval-quality: created .skill-evidence/.gitignore\n"
    assert outcome.out.count("\n") == 1
    value = json.loads(outcome.out)
    assert (value["schemaVersion"], value["ok"]) == (1, True)
    assert call("doctor", "--require-behavior").code == 1
    scored(repo)
    outcome = call("doctor", "--require-behavior")
    assert outcome.code == 0
    assert "PASS behavioral-maturity: " in outcome.out
    scored(repo, wrong_answers(opened(repo)))
    outcome = call("doctor")
    assert outcome.code == 1
    assert "FAIL behavioral-maturity: " in outcome.out
    assert "    next: " in outcome.out


def test_skills(repo: Path) -> None:
    outcome = call("skills", "list")
    assert outcome.code == 0
    assert outcome.out.splitlines()[0].split() == ["skill-0", "M3", "NOT_CHECKED", "6", "scenarios", "skills/skill-0"]
    outcome = call("skills", "inspect", "skill-1")
    assert outcome.out.splitlines()[0] == "skill-1  M3  NOT_CHECKED  skills/skill-1 (plain)"
    configure(repo, skillRoots=["elsewhere"])
    assert call("skills", "list").out == "no skill found\n"


def test_names_reach_the_terminal_as_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_skill(tmp_path, "evil\x1b[2J", [scenario(0, id="x\x1b]0;owned\x07")])
    (path / "SKILL.md").write_text("---\nname: evil\n---\nno description\n")
    monkeypatch.chdir(tmp_path)
    for words in (["skills", "list"], ["doctor"], ["behavior-eval", "lint"], ["behavior-eval", "--skills"]):
        outcome = call(*words)
        assert "\x1b" not in outcome.out + outcome.err
        assert "\x07" not in outcome.out + outcome.err


def test_capture_holdout(repo: Path) -> None:
    cases = [
        {"id": f"h{n}", "category": "holdout", "task": "matter skill-1", "expectedSkill": "skill-1"} for n in range(20)
    ]
    (repo / "h.json").write_text(json.dumps({"schemaVersion": 1, "suite": "s", "cases": cases}))
    binding = {"kind": "routing", "benchmark": "b.json", "holdout": "h.json", "result": "r.json"}
    configure(repo, deterministic={"skill-0": binding})
    outcome = call("capture-holdout", "skill-0")
    assert (outcome.code, outcome.out) == (0, f"20/20 {repo / 'r.json'}\n")
    assert json.loads(call("capture-holdout", "skill-0", "--json").out)["passed"] == 20
    for case in cases[:3]:
        case["forbiddenSkill"] = "skill-1"
    (repo / "h.json").write_text(json.dumps({"schemaVersion": 1, "suite": "s", "cases": cases}))
    outcome = call("capture-holdout", "skill-0")
    assert (outcome.code, outcome.out.split()[0:3]) == (1, ["17/20,", "3", "violations"])


# -- what is published --


def test_the_committed_schemas_are_the_generated_ones(tmp_path: Path) -> None:
    folder = ROOT / "schemas" / "behavior"
    assert sorted(path.name for path in folder.iterdir()) == sorted(f"{name}.schema.json" for name in PUBLISHED)
    for name in PUBLISHED:
        assert (folder / f"{name}.schema.json").read_bytes() == schema_text(name).encode()
    write(tmp_path / "again")
    assert len(list((tmp_path / "again").iterdir())) == len(PUBLISHED)


def test_the_example_is_one_that_passes_its_own_lint(monkeypatch: pytest.MonkeyPatch) -> None:
    outcome = call("behavior-eval", "lint", "--root", str(EXAMPLE))
    assert outcome == (0, "0 errors, 0 warnings\n", "")
    manifest = json.loads((EXAMPLE / "skills/dependency-upgrade/skill.package.json").read_text())
    jsonschema_rs.validator_for(PUBLISHED["skill-package"]).validate(manifest)
    assert len(opened(EXAMPLE).skills) >= 4
