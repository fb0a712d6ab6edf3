"""Receipt, sidecar, run ledger and signature (spec 11 §17.7).

1. A receipt says what was exported; `score` refuses answers whose oracle changed afterwards.
2. The sidecar carries everything that the closed evidence schema has no place for, bound to the evidence bytes.
3. The ledger is a hash chain of exports and scores, so a second attempt on one corpus is visible.
4. The signature is HMAC-SHA-256 over the canonical sidecar without its `signature`; the key is the runner's.
"""

import hashlib
import hmac
from collections.abc import Mapping, Sequence
from typing import Any, Final

from eval_quality.core.behavior.digests import canonical, sha256_hex
from eval_quality.core.behavior.documents import PROVENANCE, RECEIPT
from eval_quality.core.behavior.draft7 import problems, summary
from eval_quality.core.behavior.jsonish import JsonObject, as_object
from eval_quality.core.behavior.plan import Digests, Plan
from eval_quality.core.behavior.words import GENERATOR_VERSION, SCORER_VERSION
from eval_quality.value.compare import json_equal

GENESIS: Final = "0" * 64
"""`previous` of the first ledger line."""

ORACLE_CHANGED: Final = "oracle-changed-since-export"


def digests_value(digests: Digests) -> JsonObject:
    """The JSON form of a pair of hashes with its count."""
    return {"corpusSha256": digests.corpus, "oracleSha256": digests.oracle, "total": digests.total}


def per_skill_value(per_skill: Mapping[str, Digests]) -> JsonObject:
    """The JSON form of per-skill hashes."""
    return {skill_id: digests_value(digests) for skill_id, digests in per_skill.items()}


def receipt(
    plan: Plan, bundle: Mapping[str, Any], bundle_sha256: str, exported_at: str, config_sha256: str
) -> JsonObject:
    """The export receipt. All three pairs of hashes are stored when a sealed part travelled along (§17.6)."""
    exported = {request["skillId"] for request in bundle["requests"]}
    value: JsonObject = {
        "schemaVersion": 1,
        "metric": "agent-behavior-export",
        "corpusSha256": bundle["corpusSha256"],
        "oracleSha256": bundle["oracleSha256"],
        "perSkill": per_skill_value({key: item for key, item in plan.per_skill.items() if key in exported}),
        "bundleSha256": bundle_sha256,
        "total": bundle["total"],
        "exportedAt": exported_at,
        "configSha256": config_sha256,
    }
    if plan.open != plan.whole:
        value["open"] = digests_value(plan.open)
        value["sealed"] = digests_value(plan.sealed)
    return value


def receipt_problem(value: Any, digests: Digests) -> str | None:
    """Why a receipt does not vouch for the current plan, or None (spec 11 §17.7)."""
    found = problems(RECEIPT, value)
    if found:
        return f"the export receipt is not readable: {summary(found)}"
    if value["corpusSha256"] != digests.corpus:
        return "the export receipt is of another corpus"
    if value["oracleSha256"] != digests.oracle:
        return f"{ORACLE_CHANGED}: an expected or forbidden answer was edited after the requests left"
    return None


def sidecar(
    *,
    evidence_sha256: str,
    responses_sha256: Sequence[str],
    receipt_sha256: str | None,
    per_skill: Mapping[str, Digests],
    malformed_forbidden: Mapping[str, int],
    counts: JsonObject,
    config_sha256: str,
    thresholds: Mapping[str, int],
    repository: tuple[str | None, bool | None],
    packages: Mapping[str, str],
    ledger_head: str,
    suspicion: Sequence[str],
    run: JsonObject | None = None,
    repeats: Sequence[JsonObject] = (),
    canaries: JsonObject | None = None,
) -> JsonObject:
    """The provenance sidecar of one evidence file. `repository` is (revision, dirty), each None when unknown."""
    skills = per_skill_value(per_skill)
    for skill_id, count in malformed_forbidden.items():
        skills[skill_id]["malformedForbidden"] = count
    value: JsonObject = {
        "schemaVersion": 1,
        "metric": "agent-behavior-provenance",
        "evidenceSha256": evidence_sha256,
        "responsesSha256": responses_sha256[0],
        "receiptSha256": receipt_sha256,
        "perSkill": skills,
        "scorerVersion": SCORER_VERSION,
        "generatorVersion": GENERATOR_VERSION,
        "configSha256": config_sha256,
        "thresholds": dict(thresholds),
        "repositoryRevision": repository[0],
        "dirty": repository[1],
        "counts": counts,
        "evidenceKind": "stated",
        "packages": dict(packages),
        "ledgerHead": ledger_head,
        "suspicion": list(suspicion),
    }
    if run is not None:
        value["run"] = run
    if repeats:
        value["repeats"] = list(repeats)
        value["repeatResponsesSha256"] = list(responses_sha256[1:])
    if canaries is not None:
        value["canaries"] = canaries
    return value


def signature_of(value: Mapping[str, Any], key: bytes) -> str:
    """The HMAC of a sidecar without its signature."""
    body = canonical({name: item for name, item in value.items() if name != "signature"})
    return hmac.new(key, body, hashlib.sha256).hexdigest()


def signed(value: JsonObject, key: bytes, key_id: str) -> JsonObject:
    """The sidecar with a signature."""
    return {**value, "signature": {"alg": "HMAC-SHA-256", "keyId": key_id, "value": signature_of(value, key)}}


def signature_problem(value: Mapping[str, Any], key: bytes | None) -> str | None:
    """Why the signature does not hold, or None."""
    mark = as_object(value.get("signature"))
    if mark is None:
        return "the sidecar is not signed"
    if key is None:
        return "the sidecar is signed and there is no key to check it with"
    if mark.get("alg") != "HMAC-SHA-256" or not hmac.compare_digest(str(mark.get("value")), signature_of(value, key)):
        return "the signature of the sidecar does not hold"
    return None


def sidecar_problem(value: Any, evidence_sha256: str) -> str | None:
    """Why a sidecar says nothing about an evidence file, or None."""
    found = problems(PROVENANCE, value)
    if found:
        return f"the sidecar is not readable: {summary(found)}"
    if value["evidenceSha256"] != evidence_sha256:
        return "the evidence file is not the one the sidecar was written for"
    return None


def ledger_line(previous: str, entry: Mapping[str, Any]) -> bytes:
    """One line of the ledger, without its line end."""
    return canonical({**entry, "previous": previous})


def ledger_heads(lines: Sequence[tuple[bytes, Any]]) -> tuple[str, str | None]:
    """The digest of the last line, and why the chain is broken or None.

    Each entry is a line's bytes and its parsed value.
    """
    head = GENESIS
    problem: str | None = None
    for number, (raw, value) in enumerate(lines, start=1):
        entry = as_object(value)
        if problem is None and (entry is None or not json_equal(entry.get("previous"), head)):
            problem = f"line {number} does not follow the line before it"
        head = sha256_hex(raw)
    return head, problem


def attempts(entries: Sequence[Any], digests: Digests, provider_id: str | None) -> int:
    """How many scores the ledger holds for this corpus, oracle and provider (any provider for None)."""
    return len(
        [
            entry
            for entry in map(as_object, entries)
            if entry is not None
            and entry.get("op") == "score"
            and entry.get("corpusSha256") == digests.corpus
            and entry.get("oracleSha256") == digests.oracle
            and (provider_id is None or entry.get("providerId") == provider_id)
        ]
    )
