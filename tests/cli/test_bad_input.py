"""Every malformed input, at every flag that reads one: one located line, the documented code, nothing written.

(spec 10 §2.4, §3, §5, §6)
"""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from support.program import Outcome, call, spawn

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "notes-api"
DIGEST = "sha256:" + "0" * 64

COMPILE = {"--in": "contract.json"}
PREFLIGHT = {"--contract": "contract.json", "--probes": "probes.json", "--observations": "observations.json"}
SCORE = {
    "--record": "runs/P-001/record-1.json",
    "--isolation-manifest": "runs/P-001/isolation-manifest.json",
    "--evaluator-configuration": "evaluator-configuration.json",
    "--contract": "contract.json",
    "--probe": "probes/P-001.json",
    "--preflight-verdict": "expected/preflight-verdict.json",
    "--policy": "policy.json",
}
AGGREGATE = {"--evidence": "expected/P-001.json", "--floors": "floors.json", "--policy": "policy.json"}
COMMANDS: dict[str, tuple[dict[str, str], list[str]]] = {
    "compile": (COMPILE, []),
    "seal": (COMPILE, []),
    "preflight": (PREFLIGHT, ["--run-id", "r"]),
    "score": (SCORE, ["--corpus-digest", DIGEST]),
    "aggregate-strength": (AGGREGATE, []),
}
PATHS = {
    "--in": "EvalContract",
    "--contract": "EvalContract",
    "--probes": "Probe",
    "--probe": "Probe",
    "--observations": "ProbeObservation",
    "--record": "SealedRunRecord",
    "--isolation-manifest": "IsolationManifest",
    "--evaluator-configuration": "EvaluatorConfiguration",
    "--preflight-verdict": "PreflightVerdict",
    "--policy": "ScoringPolicy",
    "--evidence": "EvidenceArtifact",
    "--floors": "StrengthFloors",
}
EVERY = [(command, flag) for command, (inputs, _) in COMMANDS.items() for flag in inputs]
inputs = pytest.mark.parametrize(("command", "flag"), EVERY, ids=[f"{command}{flag}" for command, flag in EVERY])


def run(command: str, flag: str, path: Path | str, folder: Path, how: Callable[..., Outcome] = call) -> Outcome:
    """Run `command` on the example with the input of one flag replaced."""
    files, more = COMMANDS[command]
    words = [word for name, file in files.items() for word in (name, path if name == flag else EXAMPLE / file)]
    return how(command, *words, *more, "--out", folder / "out")


def assert_refused(outcome: Outcome, code: int, start: str, folder: Path) -> None:
    assert (outcome.code, outcome.out) == (code, "")
    lines = [line for line in outcome.lines if not line.startswith("eval-quality: preflight: ")]
    assert lines[0].startswith(f"eval-quality: {start}")
    assert all(line.startswith("  ") for line in lines[1:])
    assert "Traceback" not in outcome.err
    assert not (folder / "out").exists()


@inputs
def test_the_unchanged_example_is_accepted(command: str, flag: str, tmp_path: Path) -> None:
    outcome = run(command, flag, EXAMPLE / COMMANDS[command][0][flag], tmp_path)
    assert outcome.code == 0
    assert (tmp_path / "out").is_dir()


LEXICAL = [
    ("empty", b"", "schema-parse-failure"),
    ("truncated", b'{"schemaVersion": 7, "beh', "schema-parse-failure"),
    ("two-values", b"{} {}", "schema-parse-failure"),
    ("byte-order-mark", b"\xef\xbb\xbf{}", "schema-parse-failure"),
    ("not-utf8", b'{"a": "\xff\xfe"}', "schema-parse-failure"),
    ("utf16", '{"a": 1}'.encode("utf-16"), "schema-parse-failure"),
    ("nan", b'{"a": NaN}', "schema-parse-failure"),
    ("comment", b"{} // no", "schema-parse-failure"),
    ("trailing-comma", b'{"a": 1,}', "schema-parse-failure"),
    ("control-character", b'{"a": "\x01"}', "schema-parse-failure"),
    ("repeated-key", b'{"a": 1, "b": {"c": 1, "c": 2}}', "non-canonicalizable-value"),
    ("too-large", b'{"a": 1e400}', "non-canonicalizable-value"),
    ("unsafe-integer", b'{"a": 9007199254740993}', "non-canonicalizable-value"),
    ("lone-surrogate", b'{"a": "\\udc00"}', "non-canonicalizable-value"),
    ("lone-surrogate-key", b'{"\\ud800": 1}', "non-canonicalizable-value"),
    ("too-deep", b"[" * 100_000 + b"]" * 100_000, "non-canonicalizable-value"),
]


@inputs
@pytest.mark.parametrize(("text", "code"), [row[1:] for row in LEXICAL], ids=[row[0] for row in LEXICAL])
def test_s3_2_text_that_is_no_strict_json(command: str, flag: str, text: bytes, code: str, tmp_path: Path) -> None:
    document = tmp_path / "bad.json"
    document.write_bytes(text)
    shown = f'{flag} "{document}"' if flag in ("--record", "--evidence") else flag
    assert_refused(run(command, flag, document, tmp_path), 5, f"{code}: {PATHS[flag]}: {shown}: ", tmp_path)


MEANINGFUL = (
    ("--probes", "[]"),
    ("--observations", "[]"),
    ("--isolation-manifest", "null"),
    ("--evaluator-configuration", "null"),
)
"""An empty list is a list; a null manifest or configuration is an absent one, and invalidates the run."""

LISTED = {"--record": "SealedRunRecord[]", "--evidence": "EvidenceArtifact[]"}


WRONG = ("null", "[]", "[1]", '"text"', "7", "true", '{"a": 1}', '{"__proto__": {}}')


@pytest.mark.parametrize(
    ("command", "flag", "text"),
    [(command, flag, text) for command, flag in EVERY for text in WRONG if (flag, text) not in MEANINGFUL],
)
def test_s5_3_documents_of_the_wrong_shape(command: str, flag: str, text: str, tmp_path: Path) -> None:
    document = tmp_path / "bad.json"
    document.write_text(text)
    path = LISTED.get(flag, PATHS[flag])
    outcome = run(command, flag, document, tmp_path)
    assert_refused(outcome, 5, f"schema-parse-failure: {path}: ", tmp_path)
    assert len(outcome.lines) > 1


@inputs
def test_s5_3_another_kind_of_artifact(command: str, flag: str, tmp_path: Path) -> None:
    other = EXAMPLE / ("policy.json" if flag != "--policy" else "evaluator-configuration.json")
    outcome = run(command, flag, other, tmp_path)
    start = "schema-version-mismatch" if "schema-version-mismatch" in outcome.err else "schema-parse-failure"
    assert_refused(outcome, 5, start, tmp_path)


def load(file: str) -> Any:
    return json.loads((EXAMPLE / file).read_text(encoding="utf-8"))


STAMPED = {
    "--in": "EvalContract.schemaVersion",
    "--contract": "EvalContract.schemaVersion",
    "--probes": "Probe[probeId=P-001].schemaVersion",
    "--probe": "Probe[probeId=P-001].schemaVersion",
    "--record": "SealedRunRecord[trialIndex=1].schemaVersion",
    "--isolation-manifest": "IsolationManifest.schemaVersion",
    "--evaluator-configuration": "EvaluatorConfiguration.schemaVersion",
    "--preflight-verdict": "PreflightVerdict.schemaVersion",
    "--policy": "ScoringPolicy.schemaVersion",
    "--evidence": "EvidenceArtifact[0].schemaVersion",
}
WITH_STAMP = [(command, flag) for command, flag in EVERY if flag in STAMPED]


@pytest.mark.parametrize(("command", "flag"), WITH_STAMP, ids=[f"{command}{flag}" for command, flag in WITH_STAMP])
@pytest.mark.parametrize("stamp", [99, 3, 1.5])
def test_s8_8_another_schema_version(command: str, flag: str, stamp: float, tmp_path: Path) -> None:
    document = load(COMMANDS[command][0][flag])
    (document[0] if isinstance(document, list) else document)["schemaVersion"] = stamp
    path = tmp_path / "bad.json"
    path.write_text(json.dumps(document))
    outcome = run(command, flag, path, tmp_path)
    assert_refused(outcome, 5, f"schema-version-mismatch: {STAMPED[flag]}: ", tmp_path)
    assert f'carries "schemaVersion" {stamp} where this build reads ' in outcome.err


@pytest.mark.parametrize(("file", "kind", "flag"), [("contract.json", "contract", "--in")])
def test_s9_a_contract_stamped_6_is_pointed_to_migrate(file: str, kind: str, flag: str, tmp_path: Path) -> None:
    path = tmp_path / f"{kind}.json"
    path.write_text(json.dumps({**load(file), "schemaVersion": 6}))
    outcome = run("compile", flag, path, tmp_path)
    assert_refused(outcome, 5, "schema-version-mismatch: EvalContract.schemaVersion: ", tmp_path)
    assert "migrate" in outcome.err


@inputs
def test_s2_4_paths_that_cannot_be_read(command: str, flag: str, tmp_path: Path) -> None:
    missing = tmp_path / "missing.json"
    assert_refused(run(command, flag, missing, tmp_path), 64, f'usage: open "{missing}": ENOENT', tmp_path)
    assert_refused(run(command, flag, tmp_path, tmp_path), 64, f'usage: read "{tmp_path}": EISDIR', tmp_path)
    below = EXAMPLE / "contract.json" / "x"
    assert_refused(run(command, flag, below, tmp_path), 64, f'usage: open "{below}": ENOTDIR', tmp_path)


@inputs
def test_s3_3_a_document_that_is_too_long(command: str, flag: str, tmp_path: Path) -> None:
    sparse = tmp_path / "sparse.json"
    with sparse.open("wb") as file:
        file.truncate(300 << 20)
    outcome = run(command, flag, sparse, tmp_path)
    assert_refused(outcome, 5, f"schema-parse-failure: {PATHS[flag]}: {flag}", tmp_path)
    assert "longer than 256 MiB" in outcome.err


def test_a_pipe_that_never_delivers(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    outcome = run("compile", "--in", pipe, tmp_path, spawn)
    assert_refused(outcome, 5, "schema-parse-failure: EvalContract: --in: ", tmp_path)


@pytest.mark.parametrize(
    ("flag", "reason"),
    [("--isolation-manifest", "isolation manifest absent"), ("--evaluator-configuration", "")],
)
def test_s9_a_null_document_counts_as_absent(flag: str, reason: str, tmp_path: Path) -> None:
    document = tmp_path / "null.json"
    document.write_text("null")
    words = [word for name, file in SCORE.items() if name != flag for word in (name, EXAMPLE / file)]
    absent = call("score", *words, "--corpus-digest", DIGEST)
    assert (absent.code, absent.out) == (3, "")
    assert absent.err.startswith("eval-quality: invalid: ")
    assert reason in absent.err
    assert run("score", flag, document, tmp_path) == absent


def test_every_independent_problem_of_a_document_is_listed_at_once(tmp_path: Path) -> None:
    contract = load("contract.json")
    contract["extra"] = 1
    del contract["budgets"]
    contract["behaviors"][1]["severity"] = "huge"
    contract["oracles"][2]["check"]["operands"][0]["op"] = "xor"
    contract["interactionPlan"][0]["inputBinding"]["path"] = {}
    path = tmp_path / "c.json"
    path.write_text(json.dumps(contract))
    outcome = run("compile", "--in", path, tmp_path)
    assert_refused(outcome, 5, "schema-parse-failure: EvalContract: ", tmp_path)
    located = [line.strip().split(": ")[0] for line in outcome.lines[1:]]
    assert {
        "/behaviors/1/severity",
        "/oracles/2/check/operands/0/op",
        "/interactionPlan/0/inputBinding",
    } <= set(located)
    assert sum("budgets" in line for line in outcome.lines) == 1
    assert sum("extra" in line for line in outcome.lines) == 1
    assert located == sorted(located)


def test_s5_3_a_long_issue_list_is_cut(tmp_path: Path) -> None:
    path = tmp_path / "c.json"
    path.write_text(json.dumps({**load("contract.json"), "behaviors": [{}] * 30}))
    outcome = run("compile", "--in", path, tmp_path)
    assert len(outcome.lines) == 22
    assert outcome.lines[-1].startswith("  ... and ")


def test_s7_6_the_second_record_of_a_list_is_located(tmp_path: Path) -> None:
    record = load("runs/P-001/record-2.json")
    del record["runId"]
    path = tmp_path / "r.json"
    path.write_text(json.dumps(record))
    words = [word for flag, file in SCORE.items() for word in (flag, EXAMPLE / file)]
    outcome = call("score", *words, "--record", path, "--corpus-digest", DIGEST)
    assert_refused(outcome, 5, "schema-parse-failure: SealedRunRecord[]: ", tmp_path)
    assert all(line.startswith("  /1") for line in outcome.lines[1:])


def test_s9_a_malformed_corpus_digest(tmp_path: Path) -> None:
    words = [word for flag, file in SCORE.items() for word in (flag, EXAMPLE / file)]
    outcome = call("score", *words, "--corpus-digest", "sha256:xyz", "--out", tmp_path / "out")
    assert_refused(outcome, 5, "schema-parse-failure: ScoringVersionInputs.corpusDigest: ", tmp_path)


@pytest.mark.parametrize(
    ("floors", "start", "more"),
    [
        ('{"defect":1.5}', "schema-parse-failure: StrengthFloors: ", "  /defect: "),
        ('{"defect":1,"defect":0}', "non-canonicalizable-value: StrengthFloors: --floors: ", ""),
        ('{"__proto__":1}', "schema-parse-failure: StrengthFloors: ", "__proto__"),
    ],
)
def test_s9_malformed_floors(floors: str, start: str, more: str, tmp_path: Path) -> None:
    path = tmp_path / "floors.json"
    path.write_text(floors)
    outcome = run("aggregate-strength", "--floors", path, tmp_path)
    assert_refused(outcome, 5, start, tmp_path)
    assert more in outcome.err


def test_s9_the_same_evidence_twice_is_refused(tmp_path: Path) -> None:
    evidence = EXAMPLE / "expected" / "P-001.json"
    outcome = run("aggregate-strength", "--evidence", evidence, tmp_path)
    again = call(
        "aggregate-strength",
        *("--evidence", evidence, "--evidence", evidence),
        *("--floors", EXAMPLE / "floors.json", "--policy", EXAMPLE / "policy.json"),
        *("--out", tmp_path / "again"),
    )
    assert outcome.code == 0
    assert (again.code, again.out, len(again.lines)) == (4, "", 1)
    assert again.err.startswith("eval-quality: strength-inputs-disagree: EvidenceArtifact[1]: ")
    assert not (tmp_path / "again").exists()


def test_read_order_several_unreadable_records_report_the_first_in_flag_order() -> None:
    words = [word for flag in list(SCORE)[1:] for word in (flag, "also-missing.json")]
    outcome = call("score", "--record", "one.json", "--record", "two.json", *words, "--corpus-digest", DIGEST)
    assert outcome == (64, "", 'eval-quality: usage: open "one.json": ENOENT\n')


def test_read_order_records_come_before_the_other_inputs(tmp_path: Path) -> None:
    bad = tmp_path / "bad.json"
    bad.write_text("{")
    words = [word for flag in list(SCORE)[1:] for word in (flag, "missing.json")]
    outcome = call("score", "--record", EXAMPLE / SCORE["--record"], "--record", bad, *words, "--corpus-digest", DIGEST)
    assert outcome.err.startswith(f'eval-quality: schema-parse-failure: SealedRunRecord: --record "{bad}": ')
    outcome = call("score", "--record", EXAMPLE / SCORE["--record"], *words, "--corpus-digest", DIGEST)
    assert outcome == (64, "", 'eval-quality: usage: open "missing.json": ENOENT\n')


def test_hostile_text_in_a_document_cannot_drive_the_terminal(tmp_path: Path) -> None:
    path = tmp_path / "c.json"
    path.write_text(json.dumps({**load("contract.json"), "\x1b[2J\u202e\n": 1}))
    outcome = run("compile", "--in", path, tmp_path)
    assert outcome.code == 5
    assert not {"\x1b", "\u202e"} & set(outcome.err)
