"""`behavior-eval audit`: the leak attack on a bundle, or the tell-tale counts of an evidence file (spec 11 §16)."""

from collections.abc import Mapping
from typing import Any

from eval_quality.app.behavior.repository import Repository
from eval_quality.app.files import read_bytes
from eval_quality.core.behavior.attack import (
    Probe,
    Truth,
    blind_probes,
    ngram_probe,
    probes_with_truth,
    reversible,
    verdict,
)
from eval_quality.core.behavior.documents import EVIDENCE
from eval_quality.core.behavior.draft7 import problems, summary
from eval_quality.core.behavior.evidence import SCHEMA
from eval_quality.core.behavior.findings import WARN
from eval_quality.core.behavior.frame import BundleRefused, read_request_bundle
from eval_quality.core.behavior.jsonish import JsonObject, as_object, as_text
from eval_quality.core.behavior.plan import Plan
from eval_quality.core.behavior.suspicion import audit_evidence
from eval_quality.core.behavior.words import CONDITIONS, FAIL, NOT_CHECKED, PASS
from eval_quality.errors import RuntimeFault
from eval_quality.value.scan import scan


def plan_truth(plan: Plan) -> dict[str, Truth]:
    """The private half of every request of a plan, by opaque id."""
    return {
        case.opaque_id: Truth(
            case.category,
            f"{case.skill_id}/{case.case_id.rpartition('::')[0]}",
            case.expected["action"],
            (case.forbidden or {}).get("action"),
        )
        for case in plan.cases
        if not case.canary
    }


def read_labels(value: Any) -> dict[str, Truth]:
    """The private half of somebody else's bundle: `{caseId: {category, family, expected, forbidden?}}`."""
    labels: dict[str, Truth] = {}
    for case_id, raw in (as_object(value) or {}).items():
        entry = as_object(raw) or {}
        category, family, expected = (as_text(entry.get(name)) for name in ("category", "family", "expected"))
        if category not in CONDITIONS or family is None or expected is None:
            raise BundleRefused(f"--labels: {case_id}: expected {{category, family, expected, forbidden?}}")
        labels[case_id] = Truth(category, family, expected, as_text(entry.get("forbidden")))
    return labels


def _document(path: str, flag: str) -> Any:
    try:
        return scan(read_bytes(path, flag, "Bundle"), "Bundle")
    except RuntimeFault as fault:
        raise BundleRefused(f"{path}: not JSON: {fault.detail}") from fault


def audit_bundle(requests: list[JsonObject], truth: Mapping[str, Truth], repository: Repository | None) -> list[Probe]:
    """Every attack that can be tried on some requests."""
    probes = [*blind_probes(requests), *probes_with_truth(requests, truth)]
    if repository is not None and repository.scenarios:
        ids: dict[str, list[str]] = {}
        notes: dict[str, list[str]] = {}
        for scenario in repository.scenarios:
            ids.setdefault(scenario.skill_id, []).append(scenario.family)
            notes.setdefault(scenario.skill_id, []).append(scenario.description)
        probes += [reversible(requests, ids), ngram_probe(notes, requests)]
    return probes


def audit(path: str, labels_path: str | None, repository: Repository | None) -> JsonObject:
    """The report on one file: a request bundle is attacked, an evidence file is counted. Raises `BundleRefused`."""
    value = _document(path, "BUNDLE")
    if (as_object(value) or {}).get("metric") == "agent-behavior":
        return _evidence_report(value)
    bundle = read_request_bundle(value)
    truth: dict[str, Truth] = {}
    source = "none"
    if labels_path is not None:
        truth, source = read_labels(_document(labels_path, "--labels")), "labels"
    elif repository is not None:
        truth = {**plan_truth(repository.plan), **plan_truth(repository.bare_plan)}
        source = "plan" if any(request["caseId"] in truth for request in bundle.requests) else "none"
    probes = audit_bundle(list(bundle.requests), truth, repository)
    return {
        "kind": "requests",
        "status": verdict(probes),
        "total": len(bundle.requests),
        "truth": source,
        "probes": [probe.value() for probe in probes],
    }


def _evidence_report(value: Any) -> JsonObject:
    if found := problems(EVIDENCE, value):
        raise BundleRefused(f"{SCHEMA}: {summary(found)}")
    counts = audit_evidence(value)

    def probe(name: str, bad: bool, detail: str, failed: str) -> JsonObject:
        state = NOT_CHECKED if counts.cases == 0 else failed if bad else PASS
        return {"name": name, "status": state, "detail": detail}

    probes = [
        probe(
            "oracle-in-evidence",
            counts.fabricated,
            f"{counts.echoes} of {counts.cases} answers have exactly the members of their oracle",
            FAIL,
        ),
        probe(
            "undiscriminating-families",
            counts.undiscriminating_suite,
            f"{counts.undiscriminating} of {counts.families} families have one answer for every condition; "
            f"one constant per family passes {counts.constant_per_family} of {counts.cases}",
            WARN,
        ),
        probe(
            "constant-per-skill",
            counts.constant_per_skill == counts.cases,
            f"one constant per skill passes {counts.constant_per_skill} of {counts.cases}",
            FAIL,
        ),
    ]
    states = [item["status"] for item in probes]
    status = FAIL if FAIL in states else NOT_CHECKED if counts.cases == 0 else PASS
    return {"kind": "evidence", "status": status, "counts": counts.value(), "probes": probes}
