"""The two public worked chains, whole, through the command line.

What the public data lacks is written here, as its own description says: an evaluator configuration, an isolation
manifest that agrees with the record, and for the notes chain a passed pre-flight verdict.
"""

import copy
import json
from pathlib import Path

import pytest

from support.program import call

ROOT = Path(__file__).resolve().parents[2]
REFERENCE = ROOT.parent / "shared" / "reference"
SKILL = REFERENCE / "worked" / "skill-defect"
NOTES = REFERENCE / "worked" / "spike-worked-example"
POLICY = REFERENCE / "derived" / "default-scoring-policy.json"
CORPUS = {SKILL: "sha256:" + "0" * 62 + "1a", NOTES: "sha256:" + "0" * 63 + "e"}
WITHHELD = (
    "original-spec",
    "source-code",
    "repository",
    "builder-transcript",
    "implementation-logs",
    "comparator-results",
    "human-labels",
)

pytestmark = pytest.mark.skipif(not REFERENCE.exists(), reason="the reference data is not beside this checkout")
chains = pytest.mark.parametrize("chain", [SKILL, NOTES], ids=lambda chain: chain.name)


def load(path: Path):
    return json.loads(path.read_text(encoding="utf-8"))


def save(path: Path, document) -> Path:
    path.write_text(json.dumps(document), encoding="utf-8")
    return path


def digest(document, folder: Path) -> str:
    from eval_quality import digest_artifact

    return digest_artifact(document, "Document")


def canonical(document) -> str:
    from eval_quality import serialize_artifact

    return serialize_artifact(document, "Document")


@chains
def test_compile_returns_the_contract(chain: Path) -> None:
    outcome = call("compile", "--in", chain / "eval-contract.json")
    assert outcome == (0, canonical(load(chain / "eval-contract.json")), "")


@chains
def test_seal_gives_the_published_brief(chain: Path) -> None:
    assert call("seal", "--in", chain / "eval-contract.json") == (0, canonical(load(chain / "brief.json")), "")


def test_preflight_gives_the_published_verdict(tmp_path: Path) -> None:
    probes = save(tmp_path / "probes.json", [load(SKILL / "probe.json")])
    outcome = call(
        "preflight",
        *("--contract", SKILL / "eval-contract.json", "--probes", probes),
        *("--observations", REFERENCE / "derived" / "skill-defect-observations.json"),
        *("--run-id", "skill-defect-run-0001"),
    )
    assert (outcome.code, outcome.out) == (0, canonical(load(SKILL / "preflight-verdict.json")))
    assert outcome.lines[0] == (f'eval-quality: preflight: skill-defect-run-0001: leg "{first_leg()}": planned')
    assert outcome.lines[-1] == "eval-quality: preflight: skill-defect-run-0001: reduced 5 leg(s): passed"


def first_leg() -> str:
    operation = load(SKILL / "eval-contract.json")["permittedInterfaces"][0]["operations"][0]
    return operation["sensitivityWitness"]["legs"][0]["legId"]


def scored(chain: Path, record, folder: Path):
    """Score one record of a chain from the command line, with the missing documents written for it."""
    contract = load(chain / "eval-contract.json")
    record = copy.deepcopy(record)
    configuration = {
        "schemaVersion": 1,
        "parentDigest": None,
        "revisionCount": 0,
        "sealedBriefDigest": record["sealedBriefDigest"],
        "evaluatorIdentity": "a test",
        "modelSnapshot": "none",
        "systemPromptDigest": "sha256:" + "0" * 64,
        "decodingParameters": {},
        "toolInventory": [],
        "permissionInventory": [],
        "budgets": contract["budgets"],
        "seed": None,
        "judgeConfiguration": None,
    }
    record["evaluatorConfigurationDigest"] = digest(configuration, folder)
    record["isolationManifestArtifact"] = {
        "storage": "public",
        "path": "isolation-manifest.json",
        "privateRef": None,
        "digest": "sha256:" + "0" * 64,
    }
    manifest = {
        "schemaVersion": 1,
        "parentDigest": None,
        "revisionCount": 0,
        "runId": record["runId"],
        "contractId": contract["contractId"],
        "conditionArm": record["conditionArm"],
        "modelSnapshot": "none",
        "systemPromptDigest": "sha256:" + "0" * 64,
        "contractDigest": record["contractDigest"],
        "evaluatorConfigurationDigest": record["evaluatorConfigurationDigest"],
        "workspaceIdentity": "a test",
        "allowedMounts": [],
        "observedMounts": [],
        "networkAllowlist": [],
        "observedNetworkTargets": [],
        "toolAllowlist": [],
        "observedToolCalls": [],
        "resourceCeilings": {
            "maxToolCalls": 1,
            "maxInputTokens": 1,
            "maxOutputTokens": 1,
            "maxWallClockMinutes": 1,
            "maxCostUsd": "1",
        },
        "actualResourceUse": record["resourceUse"],
        "forbiddenInputAccounting": {name: {"withheld": True, "note": None} for name in WITHHELD},
        "violation": None,
    }
    verdict = chain / "preflight-verdict.json"
    if not verdict.exists():
        passed = load(SKILL / "preflight-verdict.json")
        passed["fixtureDigest"] = "sha256:" + "0" * 63 + "f"
        verdict = save(folder / "verdict.json", passed)
    return call(
        "score",
        *("--record", save(folder / "record.json", record)),
        *("--isolation-manifest", save(folder / "manifest.json", manifest)),
        *("--evaluator-configuration", save(folder / "configuration.json", configuration)),
        *("--contract", chain / "eval-contract.json", "--probe", chain / "probe.json"),
        *("--preflight-verdict", verdict, "--policy", POLICY, "--corpus-digest", CORPUS[chain]),
    )


def comparable(artifact):
    """An evidence artifact without the two members that follow from the test's own configuration."""
    artifact = copy.deepcopy(artifact)
    del artifact["scoringVersion"]
    del artifact["scoringVersionInputs"]["evaluatorConfigurationDigest"]
    return artifact


@chains
def test_score_gives_the_published_evidence(chain: Path, tmp_path: Path) -> None:
    outcome = scored(chain, load(chain / "sealed-run-record.json"), tmp_path)
    assert (outcome.code, outcome.err) == (2 if chain is NOTES else 0, "")
    evidence = json.loads(outcome.out)
    assert comparable(evidence) == comparable(load(chain / "evidence-artifact.json"))
    assert outcome.out == canonical(evidence)


@chains
def test_a_migrated_record_gives_the_same_evidence(chain: Path, tmp_path: Path) -> None:
    record = load(chain / "sealed-run-record.json")
    migrated = call("migrate", "--kind", "sealed-run-record", stdin=json.dumps(record).encode())
    assert (migrated.code, migrated.err) == (0, "")
    new = json.loads(migrated.out)
    assert new["schemaVersion"] == 8
    assert (
        digest(new, tmp_path)
        == {
            SKILL: "sha256:6b91876b6218039f0d93f305d47322feee0f5e959f5583773c8ef9489d075d85",
            NOTES: "sha256:261a7e73ccafa5db1c16d7069c466b9d7cb35194b2badf9f40deb2b92667207f",
        }[chain]
    )
    assert scored(chain, new, tmp_path).out == scored(chain, record, tmp_path).out
