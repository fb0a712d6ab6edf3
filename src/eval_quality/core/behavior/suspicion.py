"""Answers that know too much (spec 11 §16 W14, §17.6).

1. An underivable answer passes although its oracle demands a string that stands nowhere in the request.
2. A canary has three equally fitting answers; only somebody who saw the oracle is right much more than one time in
   three.
3. A file whose every answer has exactly the members of its oracle was written from the oracle, not by a reader.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec

from eval_quality.core.behavior.digests import canonical
from eval_quality.core.behavior.intervals import tail_at_least
from eval_quality.core.behavior.jsonish import JsonObject, as_integer, as_object
from eval_quality.core.behavior.plan import Case, Plan
from eval_quality.core.behavior.score import Verdict, recomputed
from eval_quality.core.behavior.words import LIST_FIELDS, ORACLE_FIELDS
from eval_quality.value.compare import json_equal

UNDERIVABLE_SHARE: Final = 0.01
CANARY_CHANCE: Final = 1 / 3
CANARY_TAIL: Final = 0.01
SUSPECT: Final = "suspect-oracle-leak"


def demanded(oracle: Mapping[str, Any]) -> list[str]:
    """Every string an oracle asks an answer to contain."""
    found: list[str] = []
    for field in ORACLE_FIELDS:
        if field in oracle:
            found += oracle[field] if field in LIST_FIELDS else [oracle[field]]
    return found


def underivable(plan: Plan, passed: Sequence[Case]) -> list[str]:
    """Plan ids of passed cases whose oracle demands a string that the request does not contain."""
    found: list[str] = []
    public: dict[str, str] = {}
    shared: dict[tuple[str, str], bool] = {}

    def in_shared(skill_id: str, text: str) -> bool:
        if skill_id not in public:
            part = plan.skills[skill_id]
            public[skill_id] = "\n".join((part.instruction, *part.vocabulary))
        key = (skill_id, text)
        if key not in shared:
            shared[key] = text in public[skill_id]
        return shared[key]

    for case in passed:
        wanted = [text for text in demanded(case.expected) if not in_shared(case.skill_id, text)]
        # Inside `given` a text stands in its canonical spelling.
        if any(canonical(text)[1:-1] not in case.given_text for text in wanted):
            found.append(case.case_id)
    return found


def underivable_suspicion(found: Sequence[str], passed: int) -> str | None:
    """Why a run is suspect, or None: more than one pass in a hundred is underivable."""
    if passed and len(found) > UNDERIVABLE_SHARE * passed:
        return f"{SUSPECT}: {len(found)} of {passed} passes demand a string that the request does not contain"
    return None


def canary_suspicion(right: int, total: int) -> str | None:
    """Why a run is suspect, or None: the canaries' one-sided binomial tail is below 0.01."""
    if total and tail_at_least(right, total, CANARY_CHANCE) < CANARY_TAIL:
        return f"{SUSPECT}: {right} of {total} canaries answered as only the private half says"
    return None


def canary_counts(plan: Plan, runs: Sequence[Mapping[str, Verdict]]) -> JsonObject | None:
    """The sidecar's `canaries`: answered and right ones over all runs; None for a plan without canaries."""
    verdicts = [run[case.opaque_id] for case in plan.canaries for run in runs]
    if not verdicts:
        return None
    answered = [verdict for verdict in verdicts if verdict.response is not None]
    return {"total": len(answered), "right": sum(verdict.passed for verdict in answered)}


def recorded_canary_suspicion(sidecar: Mapping[str, Any] | None) -> str | None:
    """The verdict on the canaries a sidecar records."""
    counts = as_object((sidecar or {}).get("canaries")) or {}
    right, total = as_integer(counts.get("right")) or 0, as_integer(counts.get("total")) or 0
    return canary_suspicion(right, total) if 0 <= right <= total else None


class EvidenceAudit(msgspec.Struct, frozen=True):
    """What an evidence file gives away about how it was made."""

    cases: int
    passed: int
    echoes: int
    families: int
    undiscriminating: int
    constant_per_family: int
    constant_per_skill: int

    @property
    def fabricated(self) -> bool:
        """Whether every answered case echoes its oracle, member for member."""
        return self.cases > 0 and self.echoes == self.cases

    @property
    def undiscriminating_suite(self) -> bool:
        """Whether one constant per family passes everything: the conditions of a family never differ."""
        return self.cases > 0 and self.undiscriminating == self.families

    def value(self) -> JsonObject:
        """The JSON form."""
        return {
            "cases": self.cases,
            "passed": self.passed,
            "oracleInEvidence": self.echoes,
            "families": self.families,
            "undiscriminatingFamilies": self.undiscriminating,
            "constantPerFamilyPasses": self.constant_per_family,
            "constantPerSkillPasses": self.constant_per_skill,
            "fabricated": self.fabricated,
        }


def _best(rows: Sequence[JsonObject]) -> int:
    """How many rows the best single answer among their oracles passes."""
    candidates: list[JsonObject] = []
    for row in rows:
        if not any(json_equal(row["expected"], known) for known in candidates):
            candidates.append(row["expected"])
    return max(
        sum(recomputed(answer, row["expected"], row.get("forbidden"))[0] for row in rows) for answer in candidates
    )


def audit_evidence(document: Mapping[str, Any]) -> EvidenceAudit:
    """The counts of one schema-valid evidence document; needs neither plan nor requests."""
    rows: list[JsonObject] = document["cases"]
    families: dict[tuple[str, str], list[JsonObject]] = {}
    skills: dict[str, list[JsonObject]] = {}
    for row in rows:
        families.setdefault((row["skillId"], row["caseId"].rpartition("::")[0]), []).append(row)
        skills.setdefault(row["skillId"], []).append(row)
    per_family = [_best(members) for members in families.values()]
    return EvidenceAudit(
        cases=len(rows),
        passed=sum(recomputed(row.get("response"), row["expected"], row.get("forbidden"))[0] for row in rows),
        echoes=sum(json_equal(as_object(row.get("response")), row["expected"]) for row in rows),
        families=len(families),
        undiscriminating=sum(best == len(members) for best, members in zip(per_family, families.values(), strict=True)),
        constant_per_family=sum(per_family),
        constant_per_skill=sum(_best(members) for members in skills.values()),
    )
