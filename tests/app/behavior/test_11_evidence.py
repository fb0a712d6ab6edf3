"""Export, score, read back: whole flows over files (spec 11 §5, §7 to §10, §17.6 to §17.10)."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from eval_quality.app.behavior.export import build_bundle, write_bundle
from eval_quality.app.behavior.root import RepositoryRefused
from eval_quality.app.behavior.scoring import score
from eval_quality.app.behavior.status import look, payload
from eval_quality.app.behavior.store import (
    EVIDENCE_NAME,
    read_ledger,
    replace_file,
)
from eval_quality.app.files import PathError
from eval_quality.core.behavior.frame import BundleRefused
from eval_quality.core.behavior.words import FAIL, NOT_CHECKED, PASS
from support.skills_corpus import scenario
from support.skills_repo import (
    clock,
    configure,
    opened,
    right_answers,
    scored,
    seen,
    small_repository,
    statuses,
    write_skill,
    wrong_answers,
)


def export(root: Path, **options: Any) -> dict[str, Any]:
    repository = opened(root)
    bundle = build_bundle(repository, options.get("skills", ()), options.get("arm", "skill"))
    write_bundle(repository, bundle, str(root / "requests.json"), options.get("arm", "skill"), clock)
    return bundle.bundle


def evidence(root: Path) -> dict[str, Any]:
    return json.loads((root / EVIDENCE_NAME).read_text())


def rewrite(root: Path, change: Any) -> None:
    value = evidence(root)
    change(value)
    (root / EVIDENCE_NAME).write_text(json.dumps(value))


def reason(root: Path) -> str:
    repository = opened(root)
    return payload(repository, look(repository, clock))["reason"]


def test_s5_3_two_exports_of_one_tree_are_byte_identical(tmp_path: Path) -> None:
    small_repository(tmp_path)
    export(tmp_path)
    first = (tmp_path / "requests.json").read_bytes()
    export(tmp_path)
    assert (tmp_path / "requests.json").read_bytes() == first
    assert first.endswith(b"}\n")
    assert b'\n  "schemaVersion": 1,' in first
    for private in (b"family-0", b"::", b"expected", b"forbidden", b"known", b"scenarios"):
        assert private not in first


def test_s5_1_an_empty_plan_writes_nothing(tmp_path: Path) -> None:
    write_skill(tmp_path, "silent", None)
    with pytest.raises(RepositoryRefused, match="no skill has a scenario"):
        export(tmp_path)
    assert not (tmp_path / "requests.json").exists()
    small_repository(tmp_path / "other")
    write_skill(tmp_path / "other", "silent", None)
    with pytest.raises(RepositoryRefused, match="no case"):
        export(tmp_path / "other", skills=["silent"])
    with pytest.raises(RepositoryRefused, match="no skill gone"):
        export(tmp_path / "other", skills=["gone"])


def test_s5_2_a_leak_stops_the_export(tmp_path: Path) -> None:
    write_skill(tmp_path, "s", [scenario(0, id="telling-id", given={"intent": "as in telling-id"})])
    with pytest.raises(RepositoryRefused, match="leak-scenario-id"):
        export(tmp_path)
    assert not (tmp_path / "requests.json").exists()


def test_perfect_answers_are_m4_and_the_files_say_so(tmp_path: Path) -> None:
    small_repository(tmp_path, 2, 6)
    bundle = export(tmp_path)
    result = scored(tmp_path)
    assert (result.passed, result.total, result.violations, result.warnings) == (60, 60, 0, ())
    document = evidence(tmp_path)
    assert (document["corpusSha256"], document["oracleSha256"]) == (bundle["corpusSha256"], bundle["oracleSha256"])
    assert document["capturedAt"].endswith("Z")
    assert statuses(tmp_path) == {"skill-0": (PASS, "M4"), "skill-1": (PASS, "M4")}
    look_now = seen(tmp_path)
    assert (look_now.status, look_now.attempts, look_now.sidecar.problem) == (PASS, 1, None)
    assert look_now.ledger.problem is None
    assert [entry["op"] for entry in look_now.ledger.entries] == ["export", "score"]


def test_all_wrong_answers_are_fresh_and_fail(tmp_path: Path) -> None:
    small_repository(tmp_path)
    repository = opened(tmp_path)
    scored(tmp_path, wrong_answers(repository))
    assert statuses(tmp_path) == {"skill-0": (FAIL, "M3"), "skill-1": (FAIL, "M3")}
    value = payload(opened(tmp_path), seen(tmp_path))
    assert (value["status"], value["fresh"]) == (FAIL, True)


def test_one_violation_among_many_disqualifies(tmp_path: Path) -> None:
    small_repository(tmp_path, 1, 20)
    repository = opened(tmp_path)
    answers = right_answers(repository)
    case = repository.plan.cases[0]
    answers[case.opaque_id] = {"action": f" {case.forbidden['action'].upper()} "}  # type: ignore[index]
    result = scored(tmp_path, answers)
    assert (result.passed, result.violations) == (99, 1)
    assert statuses(tmp_path) == {"skill-0": (FAIL, "M3")}


def test_a_malformed_answer_that_names_the_forbidden_action_disqualifies(tmp_path: Path) -> None:
    small_repository(tmp_path, 1, 20)
    repository = opened(tmp_path)
    answers = right_answers(repository)
    case = repository.plan.cases[0]
    answers[case.opaque_id] = {**case.forbidden, "extra": 1}  # type: ignore[dict-item]
    scored(tmp_path, answers)
    assert evidence(tmp_path)["forbiddenViolations"] == 0
    (record,) = seen(tmp_path).records
    assert (record.standing.status, record.standing.violations) == (FAIL, 1)


def test_s17_8_editing_one_skill_makes_only_that_one_not_checked(tmp_path: Path) -> None:
    small_repository(tmp_path, 3, 6)
    export(tmp_path)
    scored(tmp_path)
    entry = tmp_path / "skills/skill-1/SKILL.md"
    entry.write_text(entry.read_text() + "One more rule.\n")
    assert statuses(tmp_path) == {
        "skill-0": (PASS, "M4"),
        "skill-1": (NOT_CHECKED, "M3"),
        "skill-2": (PASS, "M4"),
    }
    assert seen(tmp_path).records[1].reason == "evidence-stale"
    value = payload(opened(tmp_path), seen(tmp_path))
    assert (value["status"], value["fresh"], value["reason"]) == (
        NOT_CHECKED,
        False,
        "evidence-stale: corpusSha256 differs",
    )
    assert "snapshot" not in value
    configure(tmp_path, freshnessScope="corpus")
    assert {status for status, _level in statuses(tmp_path).values()} == {NOT_CHECKED}


@pytest.mark.parametrize(
    "edit",
    [
        lambda rows: rows[0]["given"].update(intent="Please inspect another ledger"),
        lambda rows: rows[0]["expected"].update(action="inspect-something-else"),
        lambda rows: rows[0]["forbidden"].update(action="touch-something-else"),
        lambda rows: rows.pop(),
        lambda rows: rows.append(scenario(40)),
        lambda rows: rows[0].update(id="renamed"),
    ],
    ids=["fact", "expected", "forbidden", "dropped", "added", "renamed"],
)
def test_s9_any_edit_of_a_skills_corpus_makes_that_skill_stale(tmp_path: Path, edit: Any) -> None:
    small_repository(tmp_path, 2, 6)
    scored(tmp_path)
    path = tmp_path / "skills/skill-0/evals/scenarios.json"
    rows = json.loads(path.read_text())
    edit(rows)
    path.write_text(json.dumps(rows))
    found = statuses(tmp_path)
    assert (found["skill-0"][0], found["skill-1"][0]) == (NOT_CHECKED, PASS)


def test_a_note_is_not_part_of_the_question_or_the_answer(tmp_path: Path) -> None:
    small_repository(tmp_path, 1, 6)
    scored(tmp_path)
    path = tmp_path / "skills/skill-0/evals/scenarios.json"
    rows = json.loads(path.read_text())
    rows[0]["description"] = "A new note."
    path.write_text(json.dumps({"scenarios": rows}))
    assert statuses(tmp_path) == {"skill-0": (PASS, "M4")}


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (lambda d: d["cases"][0].update(passed=False), "evidence-verdict"),
        (lambda d: d.update(passed=1), "evidence-aggregate"),
        (lambda d: d["cases"][0].update(response={"action": "x"}), "evidence-verdict"),
        (lambda d: d.update(capturedAt="2999-01-01T00:00:00Z"), "evidence-schema"),
    ],
)
def test_a_fabricated_file_is_refused(tmp_path: Path, change: Any, code: str) -> None:
    small_repository(tmp_path, 2, 6)
    scored(tmp_path)
    rewrite(tmp_path, change)
    assert reason(tmp_path).startswith(code)
    assert {status for status, _level in statuses(tmp_path).values()} == {NOT_CHECKED}


def test_what_carries_no_verdict_is_covered_by_the_sidecar(tmp_path: Path) -> None:
    small_repository(tmp_path, 1, 6)
    scored(tmp_path)
    rewrite(tmp_path, lambda d: d.update(providerId="somebody-better"))
    found = seen(tmp_path)
    assert found.status == PASS
    assert found.sidecar.problem == "the evidence file is not the one the sidecar was written for"
    configure(tmp_path, requireSignature=True)
    assert reason(tmp_path).startswith("evidence-provenance: the evidence file is not the one")


@pytest.mark.parametrize(
    ("data", "code"), [(b"", "evidence-unreadable"), (b"[]", "evidence-unreadable"), (b"{}", "evidence-schema")]
)
def test_s9_unreadable_files(tmp_path: Path, data: bytes, code: str) -> None:
    small_repository(tmp_path, 1, 1)
    assert reason(tmp_path).startswith("evidence-absent")
    (tmp_path / "evals/results").mkdir(parents=True)
    (tmp_path / EVIDENCE_NAME).write_bytes(data)
    assert reason(tmp_path).startswith(code)
    (tmp_path / EVIDENCE_NAME).unlink()
    (tmp_path / EVIDENCE_NAME).mkdir()
    assert reason(tmp_path).startswith("evidence-unreadable")


def test_s9_a_broken_corpus_leaves_nothing_fresh(tmp_path: Path) -> None:
    small_repository(tmp_path, 2, 6)
    scored(tmp_path)
    (tmp_path / "skills/skill-0/evals/new.scenarios.json").write_text("[")
    assert reason(tmp_path).startswith("corpus-integrity")
    assert {status for status, _level in statuses(tmp_path).values()} == {NOT_CHECKED}


@pytest.mark.parametrize(
    ("bundle", "words"),
    [
        ("{", "not JSON"),
        ("{}", "invalid response bundle"),
        ('{"schemaVersion":1,"metric":"agent-behavior-responses","providerId":"m","responses":[null]}', "/responses/0"),
    ],
)
def test_s7_1_a_refused_bundle_leaves_the_evidence_untouched(tmp_path: Path, bundle: str, words: str) -> None:
    small_repository(tmp_path, 1, 6)
    scored(tmp_path)
    before = (tmp_path / EVIDENCE_NAME).read_bytes()
    path = tmp_path / "bad.json"
    path.write_text(bundle)
    with pytest.raises(BundleRefused, match=words):
        score(opened(tmp_path), [str(path)], out=None, arm="skill", merge=False, clock=clock)
    with pytest.raises(PathError):
        score(opened(tmp_path), [str(tmp_path / "none")], out=None, arm="skill", merge=False, clock=clock)
    assert (tmp_path / EVIDENCE_NAME).read_bytes() == before
    assert read_ledger(str(tmp_path)).entries[-1]["op"] == "score"


def test_s8_the_file_before_stays_beside_it(tmp_path: Path) -> None:
    small_repository(tmp_path, 1, 2)
    scored(tmp_path)
    first = (tmp_path / EVIDENCE_NAME).read_bytes()
    scored(tmp_path, {})
    assert (tmp_path / "evals/results/agent-behavior-v1.previous.json").read_bytes() == first
    assert not [name for name in os.listdir(tmp_path / "evals/results") if name.endswith(".tmp")]


def test_s8_the_file_before_stays_without_hard_links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(_source: str, _target: str) -> None:
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr("eval_quality.app.behavior.store.os.link", refused)
    path = tmp_path / "x.json"
    for text in (b"one", b"two"):
        replace_file(str(path), text, keep_previous=True)
    assert (path.read_bytes(), (tmp_path / "x.previous.json").read_bytes()) == (b"two", b"one")
    assert sorted(os.listdir(tmp_path)) == ["x.json", "x.previous.json"]


def test_s8_a_write_that_fails_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x.json"
    replace_file(str(path), b"old")

    def broken(_source: str, _target: str) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("eval_quality.app.behavior.store.os.replace", broken)
    with pytest.raises(PathError):
        replace_file(str(path), b"new")
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["x.json"]


def test_w23_an_oracle_edited_after_the_export_is_refused(tmp_path: Path) -> None:
    rows = [scenario(n, expected={**scenario(n)["expected"], "gates": [f"g{n % 2}"]}) for n in range(4)]
    write_skill(tmp_path, "s", rows)
    export(tmp_path)
    answers = right_answers(opened(tmp_path))
    # Two families swap what they ask for: the requests stay the same to the byte, and so does the corpus hash.
    rows[0]["expected"]["gates"], rows[1]["expected"]["gates"] = ["g1"], ["g0"]
    (tmp_path / "skills/s/evals/scenarios.json").write_text(json.dumps(rows))
    with pytest.raises(BundleRefused, match="oracle-changed-since-export"):
        scored(tmp_path, answers)
    # An edit of the action changes the requests themselves: the answers belong to another corpus.
    rows[0]["expected"]["action"] = "another-action"
    (tmp_path / "skills/s/evals/scenarios.json").write_text(json.dumps(rows))
    with pytest.raises(BundleRefused, match="unknown case"):
        scored(tmp_path, answers)
