"""Skills that are code: benchmarks, holdouts and snapshots over files, and the doctor (spec 11 §11, §14, §17.9)."""

import json
import os
import shutil
import sys
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

from eval_quality.app.behavior.doctor import examine, fix
from eval_quality.app.behavior.feed import feed, inspect
from eval_quality.app.behavior.lint import lint, suggestions
from eval_quality.app.behavior.measured import Bench, capture_holdout, evaluation_report
from eval_quality.app.behavior.root import RepositoryRefused
from eval_quality.core.behavior.documents import EVAL_RESULT
from eval_quality.core.behavior.words import FAIL, NOT_CHECKED, PASS
from support.skills_corpus import scenario
from support.skills_repo import (
    REFERENCE,
    answers_file,
    clock,
    configure,
    example,
    opened,
    right_answers,
    scored,
    seen,
    small_repository,
    statuses,
    write_skill,
    wrong_answers,
)


def reference_repository(root: Path) -> Path:
    """The reference's data with skill folders of our own around it."""
    if not REFERENCE.exists():
        pytest.skip("reference data absent: ../shared/reference/get-fable")
    for name in ("get-fable", "fable-spark", "fable-verify", "fable-tdd"):
        write_skill(root, name, None)
    for folder in ("eval/benchmarks", "evals/holdouts", "evals/results"):
        shutil.copytree(REFERENCE / folder, root / folder)
    (root / "evals/results/agent-behavior-v1.json").unlink()
    for path in (root / "evals").rglob("*.json"):
        path.chmod(0o644)
    for path in [root / "evals", *(root / "evals").rglob("*"), *(root / "eval").rglob("*")]:
        path.chmod(0o755)
    return root


def test_s11_the_references_three_skills_are_measured_by_running_them(tmp_path: Path) -> None:
    root = reference_repository(tmp_path)
    repository = opened(root)
    assert set(repository.evaluators) == {"get-fable", "fable-spark", "fable-verify"}
    records = {record.skill_id: record for record in seen(root).records}
    counts = {
        key: [records[key].slices[name].passed for name in ("known", "negative", "ambiguous", "adversarial")]
        for key in repository.evaluators
    }
    assert counts == {"get-fable": [10, 8, 10, 10], "fable-spark": [10, 8, 8, 10], "fable-verify": [8, 6, 6, 8]}
    # Version 1 snapshots belong to the reference's own source files: readable, and stale for ours.
    assert all(records[key].reason.startswith("evidence-stale") for key in repository.evaluators)
    assert all(records[key].standing.status == NOT_CHECKED for key in repository.evaluators)


@pytest.mark.parametrize(
    ("kind", "skill", "passed"),
    [("routing", "get-fable", 23), ("spark", "fable-spark", 20), ("verification", "fable-verify", 20)],
)
def test_s11_5_a_captured_holdout_makes_the_skill_m4(tmp_path: Path, kind: str, skill: str, passed: int) -> None:
    root = reference_repository(tmp_path)
    value, path, good = capture_holdout(opened(root), kind, clock, allow_exec=False)
    assert (value["passed"], value["schemaVersion"], good) == (passed, 2, True)
    assert value["subjectFiles"][0]["path"].startswith("eval_quality/core/behavior/")
    assert value["subjectFiles"][1]["path"] == f"skills/{skill}/SKILL.md"
    record = next(record for record in seen(root).records if record.skill_id == skill)
    assert (record.standing.status, record.evidence, record.slices["holdout"].passed) == (PASS, "deterministic", passed)
    # Tampering is detected, a changed subject file makes it stale, the corpus too.
    snapshot = json.loads(Path(path).read_text())
    snapshot["cases"][0]["passed"] = not snapshot["cases"][0]["passed"]
    Path(path).write_text(json.dumps(snapshot))
    assert Bench(opened(root), skill).snapshot().reason.startswith("evidence-verdict")
    capture_holdout(opened(root), kind, clock, allow_exec=False)
    entry = root / "skills" / skill / "SKILL.md"
    entry.write_text(entry.read_text() + "x\n")
    assert Bench(opened(root), skill).snapshot().reason == "evidence-stale: subjectFiles differs"
    report = evaluation_report(opened(root), skill, Bench(opened(root), skill).measure().outcomes)
    assert report["metric"] == f"enterprise-{kind}"
    shown = inspect(opened(root), seen(root), str(tmp_path), skill)["evaluation"]
    assert shown["categories"]["known"]["status"] == PASS
    assert '"cases"' not in json.dumps(shown)
    if kind == "routing":
        assert shown["benchmark"]["classes"]["fable-tdd"]["recall"] == 1.0
        jsonschema_rs.validator_for(EVAL_RESULT).validate(report["benchmark"])


def test_s11_5_what_cannot_be_captured(tmp_path: Path) -> None:
    root = reference_repository(tmp_path)
    with pytest.raises(RepositoryRefused, match=r"no evaluator nothing; the repository has .*routing"):
        capture_holdout(opened(root), "nothing", clock, allow_exec=False)
    path = root / "evals/holdouts/routing-v1.json"
    corpus = json.loads(path.read_text())
    corpus["cases"] = corpus["cases"][:19]
    path.write_text(json.dumps(corpus))
    with pytest.raises(RepositoryRefused, match="19 holdout cases"):
        capture_holdout(opened(root), "routing", clock, allow_exec=False)
    path.write_text("{}")
    with pytest.raises(RepositoryRefused, match="expected"):
        capture_holdout(opened(root), "routing", clock, allow_exec=False)
    record = next(record for record in seen(root).records if record.skill_id == "get-fable")
    assert record.reason.startswith("corpus-integrity")
    path.unlink()
    with pytest.raises(RepositoryRefused, match="does not exist"):
        capture_holdout(opened(root), "routing", clock, allow_exec=False)
    assert Bench(opened(root), "get-fable").snapshot().reason.startswith("holdout-not-captured")


def command_repository(root: Path, body: str) -> Path:
    write_skill(root, "adviser", None)
    (root / "advise.py").write_text(f"import json, os, sys\ngiven = json.load(sys.stdin)\n{body}\n")

    def corpus(category: str, count: int) -> str:
        cases = [
            {
                "id": f"{category}-{number}",
                "category": category,
                "given": {"n": number},
                "expected": {"even": number % 2 == 0},
                "forbidden": {"even": number % 2 == 1},
            }
            for number in range(count)
        ]
        return json.dumps({"schemaVersion": 1, "suite": "adviser", "cases": cases})

    (root / "bench.json").write_text(corpus("known", 3))
    (root / "hold.json").write_text(corpus("holdout", 20))
    binding = {
        "kind": "command",
        "benchmark": "bench.json",
        "holdout": "hold.json",
        "result": "out.json",
        "argv": [sys.executable, "advise.py"],
    }
    configure(root, deterministic={"adviser": binding})
    return root


def test_s17_9_a_command_runs_only_when_allowed(tmp_path: Path) -> None:
    root = command_repository(tmp_path, "print(json.dumps({'even': given['n'] % 2 == 0}))")
    (record,) = seen(root).records
    assert record.reason.startswith("not-executed")
    with pytest.raises(RepositoryRefused, match="--allow-exec"):
        capture_holdout(opened(root), "adviser", clock, allow_exec=False)
    value, _path, good = capture_holdout(opened(root), "adviser", clock, allow_exec=True)
    assert (value["passed"], good, value["subjectFiles"][0]["path"]) == (20, True, "advise.py")
    measured = Bench(opened(root), "adviser", allow_exec=True).measure()
    assert [outcome.passed for outcome in measured.outcomes] == [True] * 3
    assert measured.snapshot.status == PASS
    assert evaluation_report(opened(root), "adviser", measured.outcomes)["metric"] == "enterprise-adviser"


@pytest.mark.parametrize("body", ["sys.exit(1)", "print('x')", "print([1])", "os.kill(os.getpid(), 9)"])
def test_s17_9_a_command_that_fails_is_not_checked(tmp_path: Path, body: str) -> None:
    root = command_repository(tmp_path, body)
    measured = Bench(opened(root), "adviser", allow_exec=True).measure()
    assert measured.problem.startswith("corpus-integrity: evaluator")
    assert measured.snapshot.status == NOT_CHECKED


def test_s17_9_routing_by_the_catalogues_text(tmp_path: Path) -> None:
    small_repository(tmp_path, 2, 1)
    case = {"id": "a", "category": "known", "task": "what happens in matter skill-1?", "expectedSkill": "skill-1"}
    (tmp_path / "bench.json").write_text(json.dumps({"schemaVersion": 1, "suite": "s", "cases": [case]}))
    binding = {"kind": "routing", "benchmark": "bench.json", "holdout": "h.json", "result": "r.json"}
    configure(tmp_path, deterministic={"skill-0": binding, "gone": binding})
    repository = opened(tmp_path)
    assert list(repository.evaluators) == ["skill-0"]
    outcomes = Bench(repository, "skill-0").measure().outcomes
    assert [outcome.actual for outcome in outcomes] == [{"skill": "skill-1"}]
    # W10: a skill with an evaluator is not in the provider plan.
    assert list(repository.plan.per_skill) == ["skill-1"]


# -- doctor --


def report(root: Path) -> dict[str, Any]:
    return {check.check_id: check for check in examine(opened(root), clock).checks}


def test_s14_doctor_over_the_life_of_a_repository(tmp_path: Path) -> None:
    root = example(tmp_path)
    found = report(root)
    assert {check.check_id for check in found.values() if check.status == "ERROR"} == set()
    assert (found["evidence-file"].status, found["behavioral-maturity"].status) == (NOT_CHECKED, NOT_CHECKED)
    assert "export" in found["behavioral-maturity"].next_step
    assert examine(opened(root), clock).ok
    scored(root)
    found = report(root)
    assert found["behavioral-maturity"].status == PASS
    assert '"M4": 4' in found["behavioral-maturity"].message
    assert found["release-runtime-evidence"].status == NOT_CHECKED
    entry = root / "skills/incident-triage/SKILL.md"
    entry.write_text(entry.read_text() + "\nAnother rule.\n")
    found = report(root)
    assert found["behavioral-maturity"].status == NOT_CHECKED
    assert "incident-triage (evidence-stale)" in found["behavioral-maturity"].message
    assert examine(opened(root), clock).ok
    scored(root, wrong_answers(opened(root)))
    whole = examine(opened(root), clock)
    assert not whole.ok
    assert {check.check_id for check in whole.checks if check.status == FAIL} == {"behavioral-maturity"}
    value = whole.value()
    assert (value["schemaVersion"], value["ok"], len(value["skills"])) == (1, False, 4)
    assert "expected" not in json.dumps(value["skills"])


def test_s14_doctor_names_what_is_wrong_and_what_to_do(tmp_path: Path) -> None:
    root = example(tmp_path)
    (root / "skills/dependency-upgrade/references/reading-release-notes.md").unlink()
    (root / "skills/support-reply/evals/scenarios.json").write_text("[")
    write_skill(root, "silent", None)
    (root / "evals/holdouts").mkdir(parents=True)
    (root / "evals/holdouts/x.json").write_text("{}")
    (root / "evals/holdouts/x.json.sha256").write_text("0" * 64 + "  evals/holdouts/x.json\n")
    (root / "skills/registry.json").write_text('{"schemaVersion": 1, "skills": [{"id": "ghost", "next": ["gone"]}]}')
    found = report(root)
    wrong = {check.check_id for check in found.values() if check.status == "ERROR"}
    assert wrong == {
        *("skill-registry", "skill-package-resources", "skill-authoring-lint", "corpus-integrity"),
        "holdout-commitments",
    }
    assert all(found[name].next_step for name in wrong)
    assert found["bundle-leak-scan"].status == NOT_CHECKED
    assert found["skill-package-evals"].status == "WARN"
    (root / "evals/holdouts/gone.sha256").write_text("0" * 64 + "  ../../etc/passwd\n")
    assert "segment" in report(root)["holdout-commitments"].message


def test_s14_doctor_without_skills_and_with_a_constant(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    found = report(tmp_path / "empty")
    assert (found["skill-registry"].status, found["behavioral-maturity"].status) == ("NOT_APPLICABLE", NOT_CHECKED)
    root = tmp_path / "constant"
    write_skill(root, "s", [scenario(n, expected={"action": "always"}) for n in range(6)])
    scored(root)
    assert report(root)["degenerate-battery"].status == "WARN"


def test_s14_fix_touches_nothing_below_evals(tmp_path: Path) -> None:
    root = example(tmp_path)
    scored(root)
    before = {path: path.read_bytes() for path in (root / "evals").rglob("*") if path.is_file()}
    created = fix(str(root))
    assert created == [".skill-evidence/.gitignore"]
    assert fix(str(root)) == []
    assert {path: path.read_bytes() for path in (root / "evals").rglob("*") if path.is_file()} == before


# -- lint and feed --


def test_s17_12_lint_of_the_example_is_clean_and_of_a_weak_corpus_is_not(tmp_path: Path) -> None:
    assert lint(opened(example(tmp_path))) == []
    root = tmp_path / "weak"
    path = write_skill(
        root,
        "weak",
        [
            scenario(0, expected={"action": "always"}, forbidden={"action": "blindly-guess"}),
            scenario(1, expected={"action": "always"}, forbidden={"action": "blindly-guess"}),
        ],
    )
    (path / "SKILL.md").write_text((path / "SKILL.md").read_text() + "\nAnswer with blindly-guess never.\n")
    codes = {finding.code for finding in lint(opened(root))}
    assert {"judging-name", "one-sided-names", "action-literal", "degenerate-passes", "small-answer-space"} <= codes
    (root / "skills/weak/evals/evals.json").write_text(
        json.dumps({"skill_name": "weak", "evals": [{"id": 1, "prompt": "p"}]})
    )
    assert set(suggestions(opened(root), ())) == {"weak"}
    assert suggestions(opened(root), ["other"]) == {}
    (path / "link").symlink_to("/etc/passwd")
    assert lint(opened(root))[0].level == "ERROR"


def test_s10_5_the_feed(tmp_path: Path) -> None:
    root = example(tmp_path)
    scored(root)
    target = tmp_path / "host"
    (target / ".agents/skills/support-reply").mkdir(parents=True)
    (target / ".agents/skills/support-reply/SKILL.md").write_text("x")
    repository = opened(root)
    entries = feed(repository, seen(root), str(target))
    assert [entry["id"] for entry in entries] == repository.ids
    found = {entry["id"]: entry for entry in entries}
    assert found["support-reply"]["installedInTarget"] is True
    assert found["incident-triage"]["isInstalled"] is False
    assert found["dependency-upgrade"]["resourceCounts"] == {
        "agents": 1,
        "references": 1,
        "templates": 0,
        "examples": 0,
        "evals": 1,
        "scripts": 0,
        "total": 4,
    }
    assert found["support-reply"]["knownCases"] == {"executed": 8, "passed": 8, "passRate": 1, "status": PASS}
    assert found["support-reply"]["maturity"] == "M4"
    one = inspect(repository, seen(root), str(target), "dependency-upgrade")
    assert one["package"]["referenceCount"] == 1
    assert len(one["scenarios"]) == 8
    assert "expected" not in json.dumps(one)
    with pytest.raises(RepositoryRefused, match="no skill gone"):
        inspect(repository, seen(root), str(target), "gone")


def test_terminal_escapes_in_names_are_data(tmp_path: Path) -> None:
    path = tmp_path / "skills" / "evil"
    path.mkdir(parents=True)
    (path / "SKILL.md").write_text('---\nname: "\\x1b]0;owned\\x07"\ndescription: d\n---\n')
    (record,) = seen(tmp_path).records
    assert record.skill_id == "evil"
    assert os.path.isdir(path)
    assert statuses(tmp_path) == {"evil": (NOT_CHECKED, "M0")}
    assert answers_file(tmp_path / "a.json", right_answers(opened(tmp_path)))
