"""Frozen holdout snapshots (spec 11 §11.5): captured once, validated on every read.

1. Version 1 (the reference's) holds counts only. It stays readable and is shown with `recomputed: false`.
2. Version 2 holds every case with what the subject did, and the hash of every subject file.
3. Validation: frame, then hashes (stale, naming the field), then counts, then rate and violations, then for version 2
   every verdict from `actual` and the corpus. A changed evaluator file does not make a snapshot stale.
4. Fewer than twenty cases prove nothing, on capture and on load.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec

from eval_quality.core.behavior.draft7 import parse_date_time
from eval_quality.core.behavior.evaluators import HOLDOUT_RATE, MIN_HOLDOUT, CorpusCase, Outcome, judged
from eval_quality.core.behavior.jsonish import JsonObject, as_integer, as_list, as_object
from eval_quality.core.behavior.words import FAIL, NOT_CHECKED, PASS
from eval_quality.value.compare import json_equal

SUBJECT_FIELDS: Final[Mapping[str, str]] = {
    "routing": "routerSha256",
    "policy": "sparkSha256",
    "completion": "stateSha256",
}
"""Where a version 1 snapshot keeps the hash of the code under test."""

NOT_CAPTURED: Final = "holdout-not-captured"
FRAME: Final = "evidence-schema"
STALE: Final = "evidence-stale"
AGGREGATE: Final = "evidence-aggregate"
VERDICT: Final = "evidence-verdict"
TOO_FEW: Final = "holdout-too-few"


class Snapshot(msgspec.Struct, frozen=True):
    """What a snapshot is worth. Counts are 0 unless the status is PASS or FAIL."""

    status: str
    reason: str
    total: int = 0
    passed: int = 0
    violations: int = 0
    recomputed: bool = False


class Bound(msgspec.Struct, frozen=True):
    """What a snapshot must be bound to as things are now."""

    kind: str
    suite: str
    corpus_sha256: str
    subjects: tuple[tuple[str, str], ...]
    """(path, hash) of every subject file, the code under test first."""
    cases: tuple[CorpusCase, ...]


def capture(
    bound: Bound, outcomes: Sequence[Outcome], captured_at: str, revision: str | None, evaluator_sha256: str
) -> JsonObject:
    """A version 2 snapshot of an executed holdout."""
    passed = sum(outcome.passed for outcome in outcomes)
    return {
        "schemaVersion": 2,
        "metric": f"enterprise-{bound.suite}-holdout",
        "capturedAt": captured_at,
        "repositoryRevision": revision,
        "corpusSha256": bound.corpus_sha256,
        "subjectFiles": [{"path": path, "sha256": digest} for path, digest in bound.subjects],
        "evaluatorSha256": evaluator_sha256,
        "total": len(outcomes),
        "passed": passed,
        "passRate": passed / len(outcomes) if outcomes else 0,
        "forbiddenViolations": sum(outcome.violated for outcome in outcomes),
        "cases": [outcome.value() for outcome in outcomes],
    }


def good_enough(snapshot: Mapping[str, Any]) -> bool:
    """Whether a capture succeeds: at least nine in ten, and no violation."""
    return snapshot["passRate"] >= HOLDOUT_RATE and snapshot.get("forbiddenViolations", 0) == 0


def _refused(code: str, detail: str) -> Snapshot:
    return Snapshot(NOT_CHECKED, f"{code}: {detail}")


def _stale_field(document: JsonObject, bound: Bound) -> str | None:
    if document["corpusSha256"] != bound.corpus_sha256:
        return "corpusSha256"
    if json_equal(document["schemaVersion"], 1):
        field = SUBJECT_FIELDS.get(bound.kind, "subjectSha256")
        return None if bound.subjects and document.get(field) == bound.subjects[0][1] else field
    recorded = [{"path": path, "sha256": digest} for path, digest in bound.subjects]
    return None if json_equal(document.get("subjectFiles"), recorded) else "subjectFiles"


def _recomputed(document: JsonObject, bound: Bound) -> tuple[str | None, int, int]:
    """(problem, passed, violations) of a version 2 snapshot's cases against the corpus."""
    rows = [as_object(item) or {} for item in as_list(document.get("cases")) or []]
    corpus = {case.case_id: case for case in bound.cases}
    if sorted(str(row.get("id")) for row in rows) != sorted(corpus):
        return "the cases are not those of the holdout file", 0, 0
    passed = violations = 0
    for row in rows:
        fresh = judged(corpus[row["id"]], as_object(row.get("actual")) or {})
        if not json_equal(fresh.value(), row):
            return f"case {row['id']} does not have the verdict its answer earns", 0, 0
        passed += fresh.passed
        violations += fresh.violated
    return None, passed, violations


def validate(value: Any, bound: Bound, executed: Sequence[Outcome] | None = None) -> Snapshot:
    """Validate a snapshot; `executed` are the outcomes of running the same holdout now, where that is possible."""
    document = as_object(value)
    # 1. Frame.
    if document is None or not (
        json_equal(document.get("schemaVersion"), 1) or json_equal(document.get("schemaVersion"), 2)
    ):
        return _refused(FRAME, "expected a snapshot of version 1 or 2")
    if document.get("metric") != f"enterprise-{bound.suite}-holdout":
        return _refused(FRAME, "the snapshot is of another suite")
    if parse_date_time(str(document.get("capturedAt"))) is None or not isinstance(document.get("corpusSha256"), str):
        return _refused(FRAME, "expected capturedAt and corpusSha256")
    # 2. Bound to corpus and subject as they are now.
    if (field := _stale_field(document, bound)) is not None:
        return _refused(STALE, f"{field} differs")
    # 3. Counts.
    total, passed = as_integer(document.get("total")), as_integer(document.get("passed"))
    violations = as_integer(document.get("forbiddenViolations", 0))
    if total is None or passed is None or violations is None or total < 1 or not 0 <= passed <= total or violations < 0:
        return _refused(AGGREGATE, "expected 0 <= passed <= total and total > 0")
    if total < MIN_HOLDOUT:
        return _refused(TOO_FEW, f"{total} cases; a holdout needs at least {MIN_HOLDOUT}")
    if not json_equal(document.get("passRate"), passed / total):
        return _refused(AGGREGATE, "passRate is not passed/total")
    # 4. Verdicts.
    recomputed = json_equal(document["schemaVersion"], 2)
    if recomputed:
        problem, right, broken = _recomputed(document, bound)
        if problem is not None:
            return _refused(VERDICT, problem)
        if (right, broken, len(bound.cases)) != (passed, violations, total):
            return _refused(AGGREGATE, "the counts are not what the cases add up to")
    if executed is not None:
        now = (sum(outcome.passed for outcome in executed), sum(outcome.violated for outcome in executed))
        if now != (passed, violations) or len(executed) != total:
            return _refused(VERDICT, "running the holdout now gives another result")
    good = good_enough({"passRate": passed / total, "forbiddenViolations": violations})
    return Snapshot(PASS if good else FAIL, "fresh", total, passed, violations, recomputed)
