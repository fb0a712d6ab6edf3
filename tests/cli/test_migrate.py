"""`eval-quality migrate` and `eval-quality schema` (spec 10 §7.8, spec 02 §28, §29.3)."""

import json
from pathlib import Path
from typing import Any

import pytest

import eval_quality
from eval_quality import schemas
from support.program import call

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "notes-api"


def load(name: str) -> Any:
    return json.loads((EXAMPLE / name).read_text(encoding="utf-8"))


def save(path: Path, document: Any) -> Path:
    path.write_text(json.dumps(document), encoding="utf-8")
    return path


def digest(document: Any) -> str:
    return eval_quality.digest_artifact(document, "X")


def test_one_document_from_a_file_or_standard_input(tmp_path: Path) -> None:
    contract = load("contract.json")
    old = save(tmp_path / "old.json", {**contract, "schemaVersion": 6})
    expected = eval_quality.serialize_artifact(contract, "X")
    assert call("migrate", "--in", old, "--kind", "eval-contract") == (0, expected, "")
    assert call("migrate", "--kind", "eval-contract", stdin=old.read_bytes()) == (0, expected, "")
    assert call("migrate", "--in", old, "--kind", "eval-contract", "--out", tmp_path / "new") == (0, "", "")
    assert (tmp_path / "new" / "eval-contract.json").read_text() == expected


def test_a_record_of_stamp_6_finds_its_interfaces_in_the_contract(tmp_path: Path) -> None:
    record = load("runs/P-001/record-1.json")
    old = {**record, "schemaVersion": 6, "observations": []}
    for observation in record["observations"]:
        sent = {name: value for name, value in observation["callInputs"].items() if name != "bodyEncoding"}
        bare = {name: value for name, value in observation.items() if name != "interfaceId"}
        old["observations"].append({**bare, "callInputs": sent})
    path = save(tmp_path / "old.json", old)
    outcome = call("migrate", "--in", path, "--kind", "sealed-run-record", "--contract", EXAMPLE / "contract.json")
    assert (outcome.code, outcome.err) == (0, "")
    assert json.loads(outcome.out) == record
    without = call("migrate", "--in", path, "--kind", "sealed-run-record")
    assert (without.code, without.out) == (5, "")
    assert without.err.startswith("eval-quality: schema-version-mismatch: SealedRunRecord[trialIndex=1]")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--in", "x"], "migrate requires --kind for one document"),
        ([], "migrate requires --contract, --out for a chain, or --kind for one document"),
        (["--contract", "c"], "migrate requires --out for a chain, or --kind for one document"),
        (
            ["--kind=probe", "--brief=b", "--record=r"],
            "--brief, --record belong to a chain, which takes neither --in nor --kind",
        ),
        (
            ["--kind=probe", "--contract=-"],
            'only one input may read standard input, but --in and --contract are both "-"',
        ),
    ],
)
def test_s7_8_the_two_forms_are_told_apart(words: list[str], message: str) -> None:
    assert call("migrate", *words) == (64, "", f"eval-quality: usage: {message}\n")


def test_an_unknown_kind_lists_the_kinds() -> None:
    outcome = call("migrate", "--kind", "nope")
    assert (outcome.code, outcome.out) == (64, "")
    assert '--kind "nope" is none of eval-contract, rubric, ' in outcome.err


def chain(folder: Path) -> tuple[list[str | Path], dict[str, Any]]:
    """An old chain: a contract stamped 6 and what was made from it. The words that migrate it, and its contract."""
    contract = {**load("contract.json"), "schemaVersion": 6}
    brief = {**load("expected/sealed-evaluator-brief.json"), "contractDigest": digest(contract)}
    configuration = {**load("evaluator-configuration.json"), "sealedBriefDigest": digest(brief)}
    links = {"contractDigest": digest(contract), "evaluatorConfigurationDigest": digest(configuration)}
    manifest = {**load("runs/P-001/isolation-manifest.json"), **links}
    records = [
        {**load(f"runs/P-001/record-{trial}.json"), **links, "sealedBriefDigest": digest(brief)} for trial in (1, 2)
    ]
    words: list[str | Path] = ["migrate", "--contract", save(folder / "c.json", contract)]
    words += ["--brief", save(folder / "b.json", brief)]
    words += ["--evaluator-configuration", save(folder / "e.json", configuration)]
    words += ["--isolation-manifest", save(folder / "m.json", manifest)]
    words += ["--probe", save(folder / "p.json", {**load("probes/P-001.json"), "schemaVersion": 5})]
    for index, record in enumerate(records):
        words += ["--record", save(folder / f"r{index}.json", record)]
    return words, contract


def test_s7_8_a_chain_is_migrated_and_relinked(tmp_path: Path) -> None:
    words, contract = chain(tmp_path)
    out = tmp_path / "out.json"
    assert call(*words, "--out", out) == (0, "", "")
    assert sorted(path.name for path in out.iterdir()) == [
        "eval-contract.json",
        "evaluator-configuration.json",
        "isolation-manifest.json",
        "migration-log.json",
        "probe.json",
        "sealed-evaluator-brief.json",
        "sealed-run-record-1.json",
        "sealed-run-record-2.json",
    ]
    assert (out / "eval-contract.json").read_text() == (EXAMPLE / "expected" / "eval-contract.json").read_text()
    brief = (out / "sealed-evaluator-brief.json").read_text()
    assert brief == (EXAMPLE / "expected" / "sealed-evaluator-brief.json").read_text()
    assert json.loads((out / "sealed-run-record-2.json").read_text()) == load("runs/P-001/record-2.json")
    assert json.loads((out / "probe.json").read_text()) == load("probes/P-001.json")
    log = json.loads((out / "migration-log.json").read_text())
    assert [entry["kind"] for entry in log] == [
        "eval-contract",
        "sealed-evaluator-brief",
        "evaluator-configuration",
        "isolation-manifest",
        "sealed-run-record",
        "sealed-run-record",
        "probe",
    ]
    assert (log[0]["oldStamp"], log[0]["newStamp"], log[0]["oldDigest"]) == (6, 7, digest(contract))
    assert log[1]["replaced"] == ["contractDigest"]


def test_s7_8_nothing_is_written_unless_everything_fits(tmp_path: Path) -> None:
    words, _ = chain(tmp_path)
    record = json.loads((tmp_path / "r1.json").read_text())
    save(tmp_path / "r1.json", {**record, "contractDigest": "sha256:" + "0" * 64})
    outcome = call(*words, "--out", tmp_path / "out")
    assert (outcome.code, outcome.out) == (5, "")
    assert outcome.err.startswith("eval-quality: digest-mismatch: SealedRunRecord")
    assert not (tmp_path / "out").exists()


def test_s7_8_a_chain_never_overwrites_its_own_documents(tmp_path: Path) -> None:
    (tmp_path / "c.json").write_bytes((EXAMPLE / "contract.json").read_bytes())
    (tmp_path / "c.json").rename(tmp_path / "eval-contract.json")
    outcome = call("migrate", "--contract", tmp_path / "eval-contract.json", "--out", tmp_path)
    assert outcome.code == 64
    assert "would overwrite" in outcome.err
    assert call("migrate", "--contract", tmp_path / "eval-contract.json", "--out", tmp_path / "new").code == 0


def test_schema_lists_kinds_and_prints_one(tmp_path: Path) -> None:
    listed = call("schema")
    assert (listed.code, tuple(listed.out.split())) == (0, schemas.names())
    for kind in schemas.names():
        assert call("schema", kind) == (0, schemas.text(kind), "")
    assert call("schema", "probe", "--out", tmp_path / "s") == (0, "", "")
    assert (tmp_path / "s" / "probe.schema.json").read_text() == schemas.text("probe")
    refused = call("schema", "nope")
    assert (refused.code, refused.out) == (64, "")
    assert refused.err.startswith('eval-quality: usage: <kind> "nope" is none of eval-contract, ')
