"""Policies over evidence: receipts, attempts, signatures, merging, repeats, lift, holdouts, gates (spec 11 §17)."""

import copy
import json
import os
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eval_quality.app.behavior.export import build_bundle, write_bundle
from eval_quality.app.behavior.root import RepositoryRefused
from eval_quality.app.behavior.scoring import score
from eval_quality.app.behavior.sealed import COMMITMENTS_NAME
from eval_quality.app.behavior.status import look, payload, provider_matrix
from eval_quality.app.behavior.store import (
    BARE_NAME,
    EVIDENCE_NAME,
    KEY_VARIABLE,
    LEDGER_NAME,
    append_ledger,
    read_ledger,
)
from eval_quality.core.behavior.digests import sha256_hex
from eval_quality.core.behavior.frame import BundleRefused
from eval_quality.core.behavior.words import FAIL, NOT_CHECKED, PASS
from support.skills_corpus import scenario
from support.skills_repo import (
    answers_file,
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


def test_s17_7_receipts_can_be_required(tmp_path: Path) -> None:
    small_repository(tmp_path, 1, 6, requireReceipt=True)
    with pytest.raises(BundleRefused, match="no export receipt"):
        scored(tmp_path)
    configure(tmp_path)
    assert "no export receipt" in scored(tmp_path).warnings[0]
    configure(tmp_path, requireReceipt=True)
    assert reason(tmp_path).startswith("evidence-provenance: no export receipt")
    export(tmp_path)
    scored(tmp_path)
    assert statuses(tmp_path) == {"skill-0": (PASS, "M4")}
    (receipt,) = (tmp_path / ".skill-evidence/exports").iterdir()
    receipt.write_text("{")
    with pytest.raises(BundleRefused):
        scored(tmp_path)


def test_w39_a_second_attempt_is_visible_and_pooled_under_the_strict_policy(tmp_path: Path) -> None:
    small_repository(tmp_path, 1, 6)
    repository = opened(tmp_path)
    bad = wrong_answers(repository)
    scored(tmp_path, bad)
    scored(tmp_path)
    assert (seen(tmp_path).attempts, statuses(tmp_path)) == (2, {"skill-0": (PASS, "M4")})
    relaxed = {"requireReceipt": False, "requireSignature": False, "confidence": None, "repeats": 1}
    configure(tmp_path, profile="strict", holdoutPolicy="derived", **relaxed)
    (record,) = seen(tmp_path).records
    assert (record.standing.status, record.slices["known"].total, record.slices["known"].passed) == (FAIL, 12, 6)


def test_s17_7_signatures_and_a_broken_ledger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEY_VARIABLE, "the runner's key")
    small_repository(tmp_path, 1, 6, requireSignature=True)
    scored(tmp_path)
    assert statuses(tmp_path) == {"skill-0": (PASS, "M4")}
    assert "the runner's key" not in (tmp_path / "evals/results/agent-behavior-v1.provenance.json").read_text()
    ledger = tmp_path / LEDGER_NAME
    ledger.write_bytes(ledger.read_bytes() + b"garbage\n")
    assert reason(tmp_path).startswith("evidence-provenance: line 2")
    assert payload(opened(tmp_path), seen(tmp_path))["ledger"].startswith("broken")
    monkeypatch.delenv(KEY_VARIABLE)
    assert reason(tmp_path).startswith("evidence-provenance: the sidecar is signed and there is no key")


def test_s17_7_the_ledger_refuses_a_link(tmp_path: Path) -> None:
    target = tmp_path / "elsewhere"
    target.write_text("")
    (tmp_path / ".skill-evidence").mkdir()
    os.symlink(target, tmp_path / LEDGER_NAME)
    with pytest.raises(RepositoryRefused, match="is a link"):
        append_ledger(str(tmp_path), {"op": "export"})
    assert target.read_text() == ""
    assert "links" in str(read_ledger(str(tmp_path)).problem)


@pytest.mark.parametrize("folder", [".skill-evidence", "evals"])
def test_nothing_is_written_through_a_folder_that_is_a_link(tmp_path: Path, folder: str) -> None:
    root = small_repository(tmp_path / "repo", 1, 2)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (root / folder).symlink_to(elsewhere)
    with pytest.raises(RepositoryRefused, match="is a link"):
        scored(root)
    if folder != "evals":
        with pytest.raises(RepositoryRefused, match="is a link"):
            export(root)
    assert list(elsewhere.iterdir()) == []
    if folder == "evals":
        assert seen(root).status == NOT_CHECKED


def test_s17_8_a_partial_run_is_merged(tmp_path: Path) -> None:
    small_repository(tmp_path, 3, 6)
    export(tmp_path)
    scored(tmp_path)
    entry = tmp_path / "skills/skill-1/SKILL.md"
    entry.write_text(entry.read_text() + "One more rule.\n")
    bundle = export(tmp_path, skills=["skill-1"])
    assert {request["skillId"] for request in bundle["requests"]} == {"skill-1"}
    repository = opened(tmp_path)
    mine = {case.opaque_id for case in repository.plan.cases if case.skill_id == "skill-1"}
    answers = {key: value for key, value in right_answers(repository).items() if key in mine}
    scored(tmp_path, answers, merge=True)
    assert {status for status, _level in statuses(tmp_path).values()} == {PASS}
    path = answers_file(tmp_path / "other.json", answers, "other")
    with pytest.raises(BundleRefused, match="another provider"):
        score(repository, [path], out=None, arm="skill", merge=True, clock=clock)
    # Two stale skills: the one that is not answered again cannot be kept.
    for name in ("skill-0", "skill-2"):
        entry = tmp_path / f"skills/{name}/SKILL.md"
        entry.write_text(entry.read_text() + "Another rule.\n")
    repository = opened(tmp_path)
    mine = {case.opaque_id for case in repository.plan.cases if case.skill_id == "skill-0"}
    answers = {key: value for key, value in right_answers(repository).items() if key in mine}
    with pytest.raises(BundleRefused, match="skill-2 would be kept but is no longer fresh"):
        scored(tmp_path, answers, merge=True)


def test_s17_8_merge_needs_something_to_merge_into(tmp_path: Path) -> None:
    small_repository(tmp_path, 1, 1)
    with pytest.raises(BundleRefused, match="no evidence"):
        scored(tmp_path, merge=True)
    with pytest.raises(RepositoryRefused, match="--merge"):
        scored(tmp_path, {}, merge=True, arm="bare")


def test_s17_8_merge_carries_violations_over(tmp_path: Path) -> None:
    small_repository(tmp_path, 2, 20)
    repository = opened(tmp_path)
    answers = right_answers(repository)
    case = repository.plan.cases[0]
    answers[case.opaque_id] = {**case.forbidden, "extra": 1}  # type: ignore[dict-item]
    scored(tmp_path, answers)
    mine = {case.opaque_id for case in repository.plan.cases if case.skill_id == "skill-1"}
    scored(tmp_path, {key: value for key, value in right_answers(repository).items() if key in mine}, merge=True)
    assert statuses(tmp_path)["skill-0"] == (FAIL, "M3")


def test_s17_10_silence_is_neither_praise_nor_blame(tmp_path: Path) -> None:
    small_repository(tmp_path, 1, 6)
    answers = right_answers(opened(tmp_path))
    answers.pop(min(answers))
    result = scored(tmp_path, answers)
    assert (result.counts.missing, result.passed) == (1, 29)
    assert reason(tmp_path) == "evidence-incomplete: 3.3% of the answers are missing"
    assert statuses(tmp_path) == {"skill-0": (NOT_CHECKED, "M3")}
    configure(tmp_path, maxMissingShare=0.05)
    assert statuses(tmp_path)["skill-0"][0] == FAIL


def test_s7_2_time_outs_of_the_runner_are_told_apart(tmp_path: Path) -> None:
    small_repository(tmp_path, 1, 6)
    answers = right_answers(opened(tmp_path))
    late = min(answers)
    answers.pop(late)
    log = [
        {"op": "run", "provider": "m", "startedAt": "x"},
        {"caseId": late, "outcome": "timeout", "limitMs": 50},
        {"caseId": max(answers), "outcome": "answered"},
    ]
    (tmp_path / "responses.json.log.jsonl").write_text("\n".join(map(json.dumps, log)) + "\n{torn")
    result = scored(tmp_path, answers)
    assert (result.counts.timeout, result.counts.missing) == (1, 1)
    counts = payload(opened(tmp_path), seen(tmp_path))["counts"]
    assert (counts["missing"], counts["timeout"], counts["malformed"]) == (1, 1, 0)
    assert "timed out after 50 ms" in (tmp_path / EVIDENCE_NAME).read_text()
    sidecar = json.loads((tmp_path / "evals/results/agent-behavior-v1.provenance.json").read_text())
    assert sidecar["run"] == {"provider": "m", "startedAt": "x"}


def test_s17_10_repeats_majority_and_violations(tmp_path: Path) -> None:
    small_repository(tmp_path, 1, 20, repeats=3)
    repository = opened(tmp_path)
    good, bad = right_answers(repository), right_answers(repository)
    case = repository.plan.cases[0]
    bad[case.opaque_id] = {"action": "elsewhere"}
    paths = [answers_file(tmp_path / f"r{n}.json", answers, "m") for n, answers in enumerate((good, bad))]
    fine = {**good, repository.plan.cases[1].opaque_id: {**good[repository.plan.cases[1].opaque_id], "produces": "x"}}
    paths.append(answers_file(tmp_path / "r2.json", fine, "m"))
    options: dict[str, Any] = {"out": None, "arm": "skill", "merge": False, "clock": clock}
    assert score(repository, paths, **options).passed == 100
    assert statuses(tmp_path) == {"skill-0": (PASS, "M4")}
    assert "1 of 3 configured repeats" in score(repository, paths[:1], **options).warnings[-1]
    assert reason(tmp_path) == "evidence-incomplete: 1 of 3 repeats"
    bad[case.opaque_id] = dict(case.forbidden or {})
    answers_file(tmp_path / "r1.json", bad, "m")
    score(repository, paths, **options)
    assert statuses(tmp_path) == {"skill-0": (FAIL, "M3")}
    with pytest.raises(BundleRefused, match="one file's content"):
        score(repository, [paths[0], paths[0]], **options)
    answers_file(tmp_path / "r1.json", bad, "another")
    with pytest.raises(BundleRefused, match="different providers"):
        score(repository, paths, **options)


def test_s17_10_lift_over_the_bare_arm(tmp_path: Path) -> None:
    small_repository(tmp_path, 1, 6)
    scored(tmp_path)
    repository = opened(tmp_path)
    bare = wrong_answers(repository, bare=True)
    result = scored(tmp_path, bare, arm="bare")
    assert result.path == str(tmp_path / BARE_NAME)
    (record,) = seen(tmp_path).records
    assert record.lift is not None
    assert (record.lift["lift"], record.lift["wins"]) == (1.0, 30)
    scored(tmp_path, right_answers(repository, bare=True), arm="bare")
    assert seen(tmp_path).records[0].warnings == ("no-measured-effect",)
    (tmp_path / BARE_NAME).write_text("{}")
    assert seen(tmp_path).records[0].lift is None


def test_s17_10_every_provider_has_a_file_of_its_own(tmp_path: Path) -> None:
    small_repository(tmp_path, 1, 6)
    scored(tmp_path)
    scored(tmp_path, {}, out=str(tmp_path / "evals/results/other.json"))
    (tmp_path / "evals/results/unrelated.json").write_text("{}")
    rows = provider_matrix(opened(tmp_path), clock)
    assert [(row["path"], row["status"]) for row in rows] == [
        ("evals/results/agent-behavior-v1.json", PASS),
        ("evals/results/other.json", NOT_CHECKED),
    ]


def test_w37_resources_are_bound_when_wanted(tmp_path: Path) -> None:
    small_repository(tmp_path, 1, 6)
    reference = tmp_path / "skills/skill-0/references/a.md"
    reference.parent.mkdir()
    reference.write_text("one")
    scored(tmp_path)
    reference.write_text("two")
    assert seen(tmp_path).records[0].warnings == ("resources-changed",)
    configure(tmp_path, bindResources=True)
    assert seen(tmp_path).records[0].reason == "resources-changed"


def test_w14_answers_that_nobody_could_derive_are_suspect(tmp_path: Path) -> None:
    rows = [scenario(n, expected={**scenario(n)["expected"], "selectedSkill": "not-here"}) for n in range(6)]
    write_skill(tmp_path, "s", rows)
    scored(tmp_path)
    assert reason(tmp_path).startswith("suspect-oracle-leak: 30 of 30")
    assert statuses(tmp_path) == {"s": (NOT_CHECKED, "M3")}


def test_a_constant_answer_holds_the_level_down(tmp_path: Path) -> None:
    write_skill(tmp_path, "s", [scenario(n, expected={"action": "always"}) for n in range(6)])
    scored(tmp_path)
    (record,) = seen(tmp_path).records
    assert (record.standing.status, record.maturity, record.standing.degenerate) == (PASS, "M3", ("constant",))


def sealed_repository(root: Path) -> Path:
    small_repository(root, 2, 6, holdoutRoot="../sealed")
    folder = root.parent / "sealed"
    folder.mkdir()
    rows = [
        scenario(n, id=f"sealed-{n}", given={"intent": f"A case number {n} that nobody of the authors has seen"})
        for n in range(3)
    ]
    data = json.dumps(rows).encode()
    (folder / "skill-0.json").write_bytes(data)
    commitments = root / COMMITMENTS_NAME
    commitments.parent.mkdir(parents=True)
    entry = {"skillId": "skill-0", "sha256": sha256_hex(data), "families": 3, "sealedAt": "2026-05-01T00:00:00Z"}
    commitments.write_text(json.dumps({"schemaVersion": 1, "files": [entry]}))
    return folder


def test_s17_6_sealed_holdouts(tmp_path: Path) -> None:
    root = tmp_path / "repo"
    folder = sealed_repository(root)
    bundle = export(root)
    result = scored(root)
    assert result.sealed_path == str(folder / "agent-behavior-holdout-v1.json")
    assert result.total + 3 == bundle["total"]
    assert "sealed-" not in (root / EVIDENCE_NAME).read_text()
    assert statuses(root) == {"skill-0": (PASS, "M4"), "skill-1": (PASS, "M4")}
    # Without the root the holdout of that skill is open, and nothing else changes.
    folder.rename(tmp_path / "away")
    found = seen(root)
    assert [(record.standing.status, record.reason) for record in found.records] == [
        (NOT_CHECKED, "holdout-sealed"),
        (PASS, ""),
    ]
    assert found.evidence.loaded.code is None


def test_s17_6_canaries_give_away_who_saw_the_answers(tmp_path: Path) -> None:
    root = tmp_path / "repo"
    small_repository(root, 2, 6, canaries=4)
    with pytest.raises(RepositoryRefused, match="holdoutRoot"):
        export(root)
    configure(root, canaries=4, holdoutRoot="../sealed")
    (tmp_path / "sealed").mkdir()
    bundle = export(root)
    assert bundle["total"] == 68
    first = (root / "requests.json").read_bytes()
    export(root)
    assert (root / "requests.json").read_bytes() == first
    # Somebody who saw the oracle is right every time; a blind provider answers something it was offered.
    scored(root)
    assert reason(root).startswith("suspect-oracle-leak: 8 of 8 canaries")
    assert {status for status, _level in statuses(root).values()} == {NOT_CHECKED}
    repository = opened(root)
    answers = right_answers(repository)
    for case in repository.plan.canaries[2:]:
        answers[case.opaque_id] = {"action": "another"}
    assert scored(root, answers).total == 60
    assert {status for status, _level in statuses(root).values()} == {PASS}
    assert "canary" not in (root / EVIDENCE_NAME).read_text()
    (tmp_path / "sealed/canaries.json").write_text('{"answers": {"skill-0": [7], "skill-1": "x"}}')
    assert opened(root).canaries == {"skill-1": ()}


@pytest.mark.parametrize("spoil", ["edited", "missing", "too few", "overlap", "burned", "uncommitted"])
def test_s17_6_sealed_files_are_held_to_their_commitment(tmp_path: Path, spoil: str) -> None:
    root = tmp_path / "repo"
    folder = sealed_repository(root)
    path = folder / "skill-0.json"
    rows = json.loads(path.read_text())
    commitments = json.loads((root / COMMITMENTS_NAME).read_text())
    if spoil == "edited":
        path.write_text(path.read_text() + " ")
    elif spoil == "missing":
        path.unlink()
    elif spoil == "uncommitted":
        commitments["files"] = []
    else:
        if spoil == "too few":
            rows.pop()
        elif spoil == "burned":
            rows[0]["burned"] = True
        else:
            rows[0]["given"] = {"intent": scenario(0)["given"]["intent"]}
        path.write_text(json.dumps(rows))
        commitments["files"][0]["sha256"] = sha256_hex(path.read_bytes())
    (root / COMMITMENTS_NAME).write_text(json.dumps(commitments))
    codes = {finding.code for finding in opened(root).corpus_errors}
    assert codes == {"holdout-overlap" if spoil == "overlap" else "holdout-commitment"}


def test_s17_6_commitments_that_cannot_be_read(tmp_path: Path) -> None:
    root = tmp_path / "repo"
    sealed_repository(root)
    for text in ("{", "{}", '{"files": [{}]}'):
        (root / COMMITMENTS_NAME).write_text(text)
        assert "holdout-commitment" in {finding.code for finding in opened(root).corpus_errors}


def test_s17_9_enterprise_gates(tmp_path: Path) -> None:
    gate = {"id": "full-check", "evidence": "gates/full.json", "maxAgeDays": 2, "revisionBound": False}
    small_repository(tmp_path, 1, 6, enterpriseGates=[gate])
    scored(tmp_path)
    assert statuses(tmp_path) == {"skill-0": (PASS, "M4")}
    (tmp_path / "gates").mkdir()
    document = {
        "schemaVersion": 1,
        "metric": "enterprise-gate",
        "id": "full-check",
        "status": "PASS",
        "capturedAt": clock().isoformat(timespec="seconds").replace("+00:00", "Z"),
        "repositoryRevision": None,
        "detail": "",
    }

    def level(**changes: Any) -> str:
        (tmp_path / "gates/full.json").write_text(json.dumps({**document, **changes}))
        later = (
            seen(tmp_path)
            if "capturedAt" in changes
            else look(opened(tmp_path), lambda: clock() + timedelta(minutes=1))
        )
        return later.records[0].maturity

    assert level() == "M5"
    assert level(status="FAIL") == "M4"
    assert level(id="other") == "M4"
    assert level(capturedAt="2020-01-01T00:00:00Z") == "M4"
    assert level(capturedAt="never") == "M4"
    configure(tmp_path, enterpriseGates=[{**gate, "revisionBound": True}])
    assert level() == "M4"


REPOSITORY_FLAGS = st.sampled_from(["passed", "forbiddenViolated"])


@settings(max_examples=15, deadline=None)
@given(st.data())
def test_law_any_byte_of_the_evidence_is_covered(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    root = tmp_path_factory.mktemp("law")
    small_repository(root, 1, 2)
    scored(root)
    document = evidence(root)
    broken = copy.deepcopy(document)
    index = data.draw(st.integers(0, 9))
    kind = data.draw(st.sampled_from(["flag", "provider", "error"]))
    if kind == "flag":
        flag = data.draw(REPOSITORY_FLAGS)
        broken["cases"][index][flag] = not broken["cases"][index][flag]
    elif kind == "provider":
        broken["providerId"] = data.draw(st.text("abc", min_size=1)) + "!"
    else:
        broken["cases"][index]["error"] = "edited"
    (root / EVIDENCE_NAME).write_text(json.dumps(broken))
    found = seen(root)
    assert found.sidecar.problem is not None
    assert (found.evidence.loaded.code is None) is (kind != "flag")
