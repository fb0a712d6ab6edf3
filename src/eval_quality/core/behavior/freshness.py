"""Which skills a file of evidence still speaks for (spec 11 §9, §17.8).

1. With the whole plan unchanged, every check of §9 decides for all skills together.
2. Otherwise a valid sidecar lets each skill stand alone: its own two hashes must equal the current ones and checks 5
   to 8 must hold for its cases; check 9 is applied to the file as stored.
3. Without a valid sidecar, or with `freshnessScope: corpus`, one changed byte makes every skill NOT_CHECKED.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from eval_quality.core.behavior.evidence import STALE, CaseResult, Loaded, check_aggregates, check_rows
from eval_quality.core.behavior.jsonish import JsonObject, as_object
from eval_quality.core.behavior.plan import Case, Digests
from eval_quality.core.behavior.provenance import digests_value
from eval_quality.value.compare import json_equal


class Fresh(msgspec.Struct, frozen=True):
    """Results by fresh skill, and a reason code for every other one."""

    results: dict[str, tuple[CaseResult, ...]]
    reasons: dict[str, str]


def _grouped(cases: Sequence[Case]) -> dict[str, list[Case]]:
    groups: dict[str, list[Case]] = {}
    for case in cases:
        groups.setdefault(case.skill_id, []).append(case)
    return groups


def per_skill(
    loaded: Loaded,
    cases: Sequence[Case],
    current: Mapping[str, Digests],
    sidecar: Mapping[str, Any] | None,
) -> Fresh:
    """Freshness of each skill of the plan. `sidecar` is None when absent, invalid or not to be used."""
    groups = _grouped(cases)
    # 1. The whole file is fresh.
    if loaded.code is None:
        by_skill: dict[str, list[CaseResult]] = {skill_id: [] for skill_id in groups}
        for result in loaded.results:
            by_skill[result.skill_id].append(result)
        return Fresh({skill_id: tuple(results) for skill_id, results in by_skill.items()}, {})
    # 3. Nothing may stand alone: the file is not even one of this schema, or nothing vouches for its parts.
    if loaded.code != STALE or loaded.document is None or sidecar is None:
        return Fresh({}, dict.fromkeys(groups, loaded.code))
    if (aggregates := check_aggregates(loaded.document)).code is not None:
        return Fresh({}, dict.fromkeys(groups, aggregates.code))
    # 2. Skill by skill.
    recorded = as_object(sidecar.get("perSkill")) or {}
    rows: dict[str, list[JsonObject]] = {}
    for row in loaded.document["cases"]:
        rows.setdefault(row["skillId"], []).append(row)
    results: dict[str, tuple[CaseResult, ...]] = {}
    reasons: dict[str, str] = {}
    for skill_id, mine in groups.items():
        stored = as_object(recorded.get(skill_id)) or {}
        now = digests_value(current[skill_id])
        if not all(json_equal(stored.get(name), value) for name, value in now.items()):
            reasons[skill_id] = STALE
            continue
        checked = check_rows(rows.get(skill_id, []), mine)
        if checked.code is None:
            results[skill_id] = checked.results
        else:
            reasons[skill_id] = checked.code
    return Fresh(results, reasons)


def malformed_forbidden(sidecar: Mapping[str, Any] | None, skill_id: str) -> int:
    """How many malformed answers of a skill named the forbidden action (spec 11 §7.3)."""
    recorded = as_object((sidecar or {}).get("perSkill")) or {}
    count = (as_object(recorded.get(skill_id)) or {}).get("malformedForbidden", 0)
    return count if isinstance(count, int) else 0


def missing_share(results: Sequence[CaseResult]) -> float:
    """The share of cases that nobody answered; a malformed answer is an answer (spec 11 §17.10)."""
    if not results:
        return 0.0
    return sum(not result.answered and not result.malformed for result in results) / len(results)
