"""`score`, `preflight`, `aggregate-strength`: messages, exit codes, what is written (spec 10 §4, §6, §7, §9)."""

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

import eval_quality
from support.program import Outcome, call

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "notes-api"
DIGEST = "sha256:" + "0" * 64


def load(name: str) -> Any:
    return json.loads((EXAMPLE / name).read_text(encoding="utf-8"))


def save(path: Path, document: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(document), encoding="utf-8")
    return path


def score(*more: str | Path, records: int = 3, **replaced: str | Path | None) -> Outcome:
    """Score the planted defect; keyword arguments replace or (None) leave out an input."""
    inputs: dict[str, str | Path | None] = {
        "isolation_manifest": "runs/P-001/isolation-manifest.json",
        "evaluator_configuration": "evaluator-configuration.json",
        "contract": "contract.json",
        "probe": "probes/P-001.json",
        "preflight_verdict": "expected/preflight-verdict.json",
        "policy": "policy.json",
        **replaced,
    }
    words: list[str | Path] = ["score", "--corpus-digest", DIGEST]
    for trial in range(1, records + 1):
        words += ["--record", EXAMPLE / f"runs/P-001/record-{trial}.json"]
    for name, path in inputs.items():
        if path is not None:
            words += [f"--{name.replace('_', '-')}", EXAMPLE / path]
    return call(*words, *more)


def test_a_caught_defect(tmp_path: Path) -> None:
    outcome = score("--out", tmp_path)
    assert outcome == (0, "", "")
    evidence = json.loads((tmp_path / "evidence-artifact.json").read_text())
    assert (evidence["contractVerdict"], evidence["exitCode"]) == ("PASS", 0)
    assert evidence["strength"]["vector"]["defect"] == {"caught": 1, "exercised": 1, "rate": 1}


def test_d6_one_record_is_a_trial_set_of_one() -> None:
    outcome = score(records=1)
    assert (outcome.code, outcome.err) == (0, "")
    assert json.loads(outcome.out)["strength"]["comparable"] is False


def test_record_order_changes_nothing() -> None:
    words: list[str | Path] = []
    for trial in (3, 1, 2):
        words += ["--record", EXAMPLE / f"runs/P-001/record-{trial}.json"]
    assert score(*words, records=0) == score()


@pytest.mark.parametrize(
    ("left_out", "reason"),
    [
        ("isolation_manifest", "isolation manifest violation: isolation manifest absent"),
        ("evaluator_configuration", None),
    ],
)
def test_s9_an_absent_manifest_or_configuration_invalidates(left_out: str, reason: str | None, tmp_path: Path) -> None:
    outcome = score("--out", tmp_path / "out", records=1, **{left_out: None})
    assert (outcome.code, outcome.out) == (3, "")
    assert all(line.startswith("eval-quality: invalid: ") for line in outcome.lines)
    if reason is not None:
        assert outcome.lines == [f"eval-quality: invalid: {reason}"]
    assert not (tmp_path / "out").exists()


def test_s9_a_probe_without_signature_is_refused_before_the_reasons(tmp_path: Path) -> None:
    probe = save(tmp_path / "p.json", {**load("probes/P-001.json"), "defectSignature": None})
    outcome = score(records=1, probe=probe)
    assert (outcome.code, outcome.out) == (3, "")
    assert outcome.lines[0].startswith("eval-quality: signature-absent: Probe[probeId=P-001].defectSignature: ")
    assert outcome.lines[1] == "eval-quality: invalid: oracle O-001 resolved infrastructure-error"


def test_a_failed_preflight_invalidates(tmp_path: Path) -> None:
    verdict = load("expected/preflight-verdict.json")
    verdict["passed"] = False
    verdict["checks"][0]["outcome"] = "failed"
    outcome = score(preflight_verdict=save(tmp_path / "v.json", verdict))
    assert (outcome.code, outcome.out) == (3, "")
    assert outcome.err.startswith("eval-quality: invalid: ")


def test_a_missed_defect_exits_2_and_is_written(tmp_path: Path) -> None:
    words: list[str | Path] = ["--record", EXAMPLE / "response-only/record-1.json"]
    outcome = score(
        *words,
        *("--out", tmp_path / "e.json"),
        records=0,
        contract="response-only/contract.json",
        isolation_manifest="response-only/isolation-manifest.json",
        evaluator_configuration="response-only/evaluator-configuration.json",
    )
    assert outcome == (2, "", "")
    assert json.loads((tmp_path / "e.json").read_text())["contractVerdict"] == "FAIL"


def test_s6_strict_promotes_concerns(tmp_path: Path) -> None:
    record = load("runs/P-001/record-1.json")
    record["findings"][0]["confidence"] = 0.5
    unsure = save(tmp_path / "r.json", record)
    lenient = score("--record", unsure, records=0)
    strict = score("--strict", "--record", unsure, "--strict", records=0)
    assert json.loads(lenient.out)["contractVerdict"] == "CONCERNS"
    assert (lenient.code, strict.code) == (0, 1)
    assert lenient.out == strict.out


def test_s6_strict_promotes_nothing_else() -> None:
    evidence_only = score("--strict", records=1)
    assert json.loads(evidence_only.out)["verdictBasis"] == ["1 completed trials below the declared minimum of 3"]
    assert evidence_only.code == 0
    assert score("--strict").code == 0
    assert score("--strict", records=1, isolation_manifest=None).code == 3


def test_s7_4_a_private_reference_needs_the_corpus_folder(tmp_path: Path) -> None:
    manifest = (EXAMPLE / "runs/P-001/isolation-manifest.json").read_bytes()
    (tmp_path / "private").mkdir()
    (tmp_path / "private" / "manifest.json").write_bytes(manifest)
    reference = {
        "storage": "private",
        "path": None,
        "privateRef": "manifest.json",
        "digest": "sha256:" + hashlib.sha256(manifest).hexdigest(),
    }
    record = save(tmp_path / "r.json", {**load("runs/P-001/record-1.json"), "isolationManifestArtifact": reference})
    outcome = score("--record", record, records=0)
    assert (outcome.code, outcome.out) == (64, "")
    assert outcome.err.startswith("eval-quality: usage: --corpus-root is required")
    resolved = score("--record", record, "--corpus-root", tmp_path / "private", records=0)
    assert (resolved.code, resolved.err) == (0, "")
    (tmp_path / "private" / "manifest.json").write_bytes(b"something else")
    differs = score("--record", record, "--corpus-root", tmp_path / "private", records=0)
    assert (differs.code, differs.out) == (5, "")
    assert differs.err.startswith("eval-quality: digest-mismatch: SealedRunRecord.isolationManifestArtifact: ")


def entries(*references: str) -> dict[str, Any]:
    return {
        "schemaVersion": 1,
        "parentDigest": None,
        "revisionCount": 0,
        "entries": [
            {
                "privateRef": reference,
                "digest": DIGEST,
                "artifactKind": "other",
                "publicSafeRunId": None,
                "sanitizationPolicy": None,
            }
            for reference in references
        ],
    }


@pytest.mark.parametrize(
    ("reference", "start"),
    [
        ("../secret", "port-failure: CorpusResolveRequest: "),
        ("/etc/hostname", "port-failure: CorpusResolveRequest: "),
        ("missing", "port-failure: CorpusResolveResponse: "),
        ("link", "port-failure: CorpusResolveRequest: "),
        ("a/../there", "digest-mismatch: PrivateArtifactManifest.entries[0]: "),
    ],
)
def test_s7_7_private_entries_stay_inside_the_corpus_folder(reference: str, start: str, tmp_path: Path) -> None:
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    (tmp_path / "secret").write_text("x")
    (corpus / "there").write_text("x")
    (corpus / "link").symlink_to(tmp_path / "secret")
    manifest = save(tmp_path / "pm.json", entries(reference))
    without = score("--private-manifest", manifest)
    assert (without.code, without.out) == (64, "")
    outcome = score("--private-manifest", manifest, "--corpus-root", corpus)
    assert (outcome.code, outcome.out) == (5, "")
    assert outcome.err.startswith(f"eval-quality: {start}")


def test_s7_4_a_private_manifest_without_entries_needs_nothing(tmp_path: Path) -> None:
    assert score("--private-manifest", save(tmp_path / "pm.json", entries())) == score()


def test_s2_3_the_corpus_folder_is_asked_for_after_reading_and_before_schemas(tmp_path: Path) -> None:
    manifest = save(tmp_path / "pm.json", entries("x"))
    broken = save(tmp_path / "broken.json", {})
    assert score("--private-manifest", manifest, policy=broken).code == 64
    unreadable = tmp_path / "unreadable.json"
    unreadable.write_text("{")
    assert score("--private-manifest", manifest, policy=unreadable).code == 5


@pytest.mark.parametrize("shape", [7, [], {}, {"entries": {}}, {"entries": "x"}])
def test_s7_4_a_malformed_private_manifest_is_left_to_its_schema(shape: object, tmp_path: Path) -> None:
    outcome = score("--private-manifest", save(tmp_path / "pm.json", shape))
    assert (outcome.code, outcome.out) == (5, "")
    assert outcome.err.startswith("eval-quality: schema-parse-failure: PrivateArtifactManifest: ")


def test_s2_3_a_designation_the_contract_does_not_admit(tmp_path: Path) -> None:
    outcome = score("--designated-oracle", "O-002")
    assert (outcome.code, outcome.out) == (64, "")
    assert outcome.err.startswith("eval-quality: usage: ")
    assert all(word in outcome.err for word in ("--designated-oracle", "O-002", "B-001", "O-001"))
    assert score("--designated-oracle", "O-001") == score()


def test_s2_2_the_library_refuses_a_malformed_designation_with_the_same_words() -> None:
    outcome = score("--designated-oracle", "O-1")
    assert (outcome.code, outcome.out) == (64, "")
    with pytest.raises(eval_quality.DesignatedOracleRefusal) as caught:
        eval_quality.run_score(
            record=load("runs/P-001/record-1.json"),
            manifest=load("runs/P-001/isolation-manifest.json"),
            configuration=load("evaluator-configuration.json"),
            contract=load("contract.json"),
            probe=load("probes/P-001.json"),
            preflight_verdict=load("expected/preflight-verdict.json"),
            policy=load("policy.json"),
            corpus_digest=DIGEST,
            designated_oracle_id="O-1",
        )
    assert outcome.err == f"eval-quality: usage: {caught.value}\n"


# Pre-flight.


def preflight(*, observations: Any, out: Path, run_id: str = "r") -> Outcome:
    return call(
        "preflight",
        *("--contract", EXAMPLE / "contract.json", "--probes", EXAMPLE / "probes.json"),
        *("--observations", save(out / "o.json", observations), "--run-id", run_id, "--out", out / "out"),
    )


def test_s6_1_4_two_lines_a_leg_and_a_closing_line(tmp_path: Path) -> None:
    outcome = preflight(observations=load("observations.json"), out=tmp_path, run_id="a run")
    assert (outcome.code, outcome.out, len(outcome.lines)) == (0, "", 15)
    assert outcome.lines[:2] == [
        'eval-quality: preflight: a run: leg "read-groceries": planned',
        'eval-quality: preflight: a run: leg "read-groceries": observed',
    ]
    assert outcome.lines[-1] == "eval-quality: preflight: a run: reduced 7 leg(s): passed"


def test_s7_3_a_failed_verdict_is_written_too(tmp_path: Path) -> None:
    outcome = preflight(observations=load("observations.json")[:-1], out=tmp_path)
    assert (outcome.code, outcome.out) == (3, "")
    assert 'eval-quality: preflight: r: leg "change-dentist": no observation' in outcome.lines
    assert outcome.lines[-1] == "eval-quality: preflight: r: reduced 7 leg(s): failed"
    assert json.loads((tmp_path / "out" / "preflight-verdict.json").read_text())["passed"] is False


def test_s6_1_3_a_fault_while_reducing_writes_nothing(tmp_path: Path) -> None:
    observations = load("observations.json")
    outcome = preflight(observations=[*observations, observations[0]], out=tmp_path)
    assert (outcome.code, outcome.out) == (5, "")
    assert outcome.lines[-1].startswith("eval-quality: port-contract-violation: PreflightVerdict: ")
    assert not any("reduced" in line for line in outcome.lines)
    assert not (tmp_path / "out").exists()


def test_s6_3_a_structural_failure_of_the_plan_exits_4(tmp_path: Path) -> None:
    probes = load("probes.json")
    probes[2]["defects"] = probes[0]["defects"]
    outcome = call(
        "preflight",
        *("--contract", EXAMPLE / "contract.json", "--probes", save(tmp_path / "p.json", probes)),
        *("--observations", EXAMPLE / "observations.json", "--run-id", "r"),
    )
    assert (outcome.code, outcome.out) == (4, "")
    assert outcome.lines[-1].startswith("eval-quality: malformed-operator-expression: Probe[probeId=P-003]")


# Aggregation.


def test_s7_5_floor_decisions_never_change_the_exit_code(tmp_path: Path) -> None:
    floors = save(tmp_path / "f.json", {"zero-action": 1, "gameability": 1})
    outcome = call(
        "aggregate-strength",
        *("--evidence", EXAMPLE / "expected/P-001.json", "--evidence", EXAMPLE / "expected/P-002.json"),
        *("--floors", floors, "--policy", EXAMPLE / "policy.json"),
    )
    assert (outcome.code, outcome.err) == (0, "")
    decisions = json.loads(outcome.out)["floorDecisions"]
    assert decisions["gameability"]["decision"] == "does-not-meet"


def test_s3_one_input_may_come_from_standard_input() -> None:
    words = ["--evidence", EXAMPLE / "expected/P-001.json", "--floors", "-", "--policy", EXAMPLE / "policy.json"]
    outcome = call("aggregate-strength", *words, stdin=b"{}")
    assert (outcome.code, outcome.err) == (0, "")
