"""Scored answers as a document, and the document read back without trusting it (spec 11 §7.4, §8, §9).

Reading recomputes every verdict from the stored answers. The checks run in the order of §9 and the first failure
decides; each has a reason code. `capturedAt` and `now` are parameters: nothing here reads a clock.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

import msgspec

from eval_quality.core.behavior.documents import EVIDENCE
from eval_quality.core.behavior.draft7 import parse_date_time, problems, summary
from eval_quality.core.behavior.frame import ResponseBundle
from eval_quality.core.behavior.jsonish import JsonObject, as_object, as_text
from eval_quality.core.behavior.plan import Case, Digests, Plan
from eval_quality.core.behavior.score import MALFORMED, MISSING, OUT_OF_VOCABULARY, Verdict, judge, recomputed
from eval_quality.value.compare import json_equal

CLOCK_SKEW: Final = timedelta(minutes=5)
"""How far in the future a capture time may lie (spec 11 §9.3)."""

ABSENT: Final = "evidence-absent"
UNREADABLE: Final = "evidence-unreadable"
SCHEMA: Final = "evidence-schema"
STALE: Final = "evidence-stale"
COVERAGE: Final = "evidence-coverage"
IDENTITY: Final = "evidence-identity"
ORACLE: Final = "evidence-oracle"
VERDICT: Final = "evidence-verdict"
AGGREGATE: Final = "evidence-aggregate"
EXPIRED: Final = "evidence-expired"


class CaseResult(msgspec.Struct, frozen=True):
    """One recomputed case of fresh evidence."""

    category: str
    skill_id: str
    case_id: str
    passed: bool
    violated: bool
    answered: bool
    malformed: bool


class Counts(msgspec.Struct, frozen=True):
    """How the answers came in (spec 11 §17.7). Time-outs are absent answers that the runner explained."""

    missing: int = 0
    malformed: int = 0
    malformed_forbidden: int = 0
    timeout: int = 0
    out_of_vocabulary: int = 0

    def value(self) -> JsonObject:
        """The sidecar's `counts`."""
        return {
            "missing": self.missing,
            "malformed": self.malformed,
            "malformedForbidden": self.malformed_forbidden,
            "timeout": self.timeout,
            "outOfVocabulary": self.out_of_vocabulary,
        }


def judge_all(
    cases: Sequence[Case], plan: Plan, bundle: ResponseBundle, timeouts: Mapping[str, int]
) -> dict[str, Verdict]:
    """The verdict of every case by opaque id. `timeouts` holds the limit in ms of each call that ran into it."""
    verdicts: dict[str, Verdict] = {}
    for case in cases:
        vocabulary = plan.skills[case.skill_id].vocabulary
        verdict = judge(bundle.answers.get(case.opaque_id), case.expected, case.forbidden, vocabulary)
        if verdict.error == MISSING and case.opaque_id in timeouts:
            verdict = Verdict(False, False, error=f"timed out after {timeouts[case.opaque_id]} ms")
        verdicts[case.opaque_id] = verdict
    return verdicts


def counts_of(verdicts: Mapping[str, Verdict]) -> Counts:
    """Missing, malformed, timed-out and out-of-vocabulary answers of one run."""
    notes = [verdict.error or "" for verdict in verdicts.values()]
    timeout = sum(note.startswith("timed out") for note in notes)
    return Counts(
        missing=notes.count(MISSING) + timeout,
        malformed=notes.count(MALFORMED),
        malformed_forbidden=sum(verdict.malformed_forbidden for verdict in verdicts.values()),
        timeout=timeout,
        out_of_vocabulary=notes.count(OUT_OF_VOCABULARY),
    )


def evidence_rows(cases: Sequence[Case], verdicts: Mapping[str, Verdict]) -> list[JsonObject]:
    """The `cases` of an evidence document, in plan order."""
    rows: list[JsonObject] = []
    for case in cases:
        verdict = verdicts[case.opaque_id]
        row: JsonObject = {
            "category": case.category,
            "skillId": case.skill_id,
            "caseId": case.case_id,
            "passed": verdict.passed,
            "forbiddenViolated": verdict.violated,
            "expected": case.expected,
        }
        if case.forbidden is not None:
            row["forbidden"] = case.forbidden
        if verdict.response is not None:
            row["response"] = verdict.response
        if verdict.error is not None:
            row["error"] = verdict.error
        rows.append(row)
    return rows


def evidence_document(rows: Sequence[JsonObject], digests: Digests, provider_id: str, captured_at: str) -> JsonObject:
    """The evidence document of scored rows (spec 11 §7.4, §8)."""
    passed = sum(row["passed"] for row in rows)
    return {
        "schemaVersion": 1,
        "metric": "agent-behavior",
        "providerId": provider_id,
        "total": len(rows),
        "passed": passed,
        "passRate": rate_of(passed, len(rows)),
        "forbiddenViolations": sum(row["forbiddenViolated"] for row in rows),
        "cases": list(rows),
        "corpusSha256": digests.corpus,
        "oracleSha256": digests.oracle,
        "capturedAt": captured_at,
    }


def rate_of(passed: int, total: int) -> int | float:
    """passed/total, whole numbers without a fraction; 0 for nothing (spec 11 §7.4)."""
    rate = passed / total if total else 0
    return int(rate) if rate in (0, 1) else rate


class Loaded(msgspec.Struct, frozen=True):
    """What a file of evidence is worth. `code` is None when it is fresh; `results` are recomputed."""

    code: str | None
    detail: str
    document: JsonObject | None = None
    results: tuple[CaseResult, ...] = ()

    @property
    def reason(self) -> str:
        """`code: detail` for a person and for JSON."""
        return self.detail if self.code is None else f"{self.code}: {self.detail}"


def check_document(value: Any, now: datetime, max_age_days: int | None = None) -> Loaded:
    """Checks 2 and 3: an object of the published schema with a usable capture time, and not too old (§17.3)."""
    document = as_object(value)
    if document is None:
        return Loaded(UNREADABLE, "the file is not a JSON object")
    found = problems(EVIDENCE, document)
    if found:
        return Loaded(SCHEMA, summary(found))
    if as_text(document["providerId"]) is None:
        return Loaded(SCHEMA, "/providerId: expected a non-blank string")
    captured = parse_date_time(document["capturedAt"])
    if captured is None or captured > now + CLOCK_SKEW:
        return Loaded(SCHEMA, "/capturedAt: expected a time that is not in the future")
    if max_age_days is not None and captured < now - timedelta(days=max_age_days):
        return Loaded(EXPIRED, f"captured more than {max_age_days} days ago")
    return Loaded(None, "readable", document)


def check_rows(rows: Sequence[JsonObject], cases: Sequence[Case]) -> Loaded:
    """Checks 5 to 8 over some rows and the plan cases they should be (spec 11 §9)."""
    # 5. As many as the plan has.
    if len(rows) != len(cases):
        return Loaded(COVERAGE, f"{len(rows)} cases where the plan has {len(cases)}")
    # 6. Each of them once. Ids are compared together with the skill (W34).
    plan = {(case.skill_id, case.case_id): case for case in cases}
    keys = [(row["skillId"], row["caseId"]) for row in rows]
    if len(set(keys)) != len(keys):
        return Loaded(IDENTITY, "a case occurs twice")
    if unknown := [key for key in keys if key not in plan]:
        known = {case.case_id for case in cases}
        code = ORACLE if unknown[0][1] in known else IDENTITY
        return Loaded(code, f"case {unknown[0][1]} of {unknown[0][0]} is not in the plan")
    results: list[CaseResult] = []
    for row in rows:
        case = plan[row["skillId"], row["caseId"]]
        # 7. Bound to the same condition and oracle.
        same = (
            row["category"] == case.category
            and json_equal(row["expected"], case.expected)
            and json_equal(row.get("forbidden"), case.forbidden)
        )
        if not same:
            return Loaded(ORACLE, f"case {case.case_id} differs from the plan")
        # 8. Stored flags against the stored answer.
        passed, violated = recomputed(row.get("response"), case.expected, case.forbidden)
        if passed is not row["passed"] or violated is not row["forbiddenViolated"]:
            return Loaded(VERDICT, f"case {case.case_id} does not have the verdict its answer earns")
        answered = "response" in row
        malformed = not answered and row.get("error") == MALFORMED
        results.append(CaseResult(case.category, case.skill_id, case.case_id, passed, violated, answered, malformed))
    return Loaded(None, "fresh", results=tuple(results))


def check_aggregates(document: Mapping[str, Any]) -> Loaded:
    """Check 9: the aggregates are those of the rows as stored."""
    rows: list[JsonObject] = document["cases"]
    passed = sum(row["passed"] for row in rows)
    counted = {
        "passed": passed,
        "forbiddenViolations": sum(row["forbiddenViolated"] for row in rows),
        "passRate": rate_of(passed, len(rows)),
    }
    for name, number in counted.items():
        if not json_equal(document[name], number):
            return Loaded(AGGREGATE, f"{name} is not what the cases add up to")
    return Loaded(None, "fresh")


def load_evidence(
    value: Any, cases: Sequence[Case], digests: Digests, now: datetime, max_age_days: int | None = None
) -> Loaded:
    """The checks 2 to 9 of spec 11 §9 over one parsed file; the first failure decides."""
    loaded = check_document(value, now, max_age_days)
    document = loaded.document
    if document is None:
        return loaded
    # 4. Bound to the question side and the answer side as they are now.
    for name, current in (("corpusSha256", digests.corpus), ("oracleSha256", digests.oracle)):
        if document[name] != current:
            return Loaded(STALE, f"{name} differs", document)
    rows: list[JsonObject] = document["cases"]
    if document["total"] != len(rows):
        return Loaded(COVERAGE, "total differs from the number of cases", document)
    checked = check_rows(rows, cases)
    if checked.code is None and (aggregates := check_aggregates(document)).code is not None:
        checked = aggregates
    return Loaded(checked.code, checked.detail, document, checked.results if checked.code is None else ())


def header(document: Mapping[str, Any]) -> JsonObject:
    """The evidence without its cases: what `status` may print (spec 11 §13.1, W36)."""
    return {key: value for key, value in document.items() if key != "cases"}
