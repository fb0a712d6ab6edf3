"""Several runs of one case (spec 11 §17.10): the majority decides, ties fail, any violation counts."""

from collections.abc import Mapping, Sequence
from typing import Any

from eval_quality.core.behavior.jsonish import JsonObject, as_list, as_object
from eval_quality.core.behavior.plan import Case
from eval_quality.core.behavior.score import Verdict, recomputed


def majority(verdicts: Sequence[Verdict]) -> Verdict:
    """The first verdict on the majority's side; a tie is a failure."""
    passes = sum(verdict.passed for verdict in verdicts)
    side = passes * 2 > len(verdicts)
    return next((verdict for verdict in verdicts if verdict.passed is side), verdicts[0])


def merged(runs: Sequence[Mapping[str, Verdict]]) -> dict[str, Verdict]:
    """One verdict per case out of several runs. A violation in any of them stands, whatever the majority did."""
    if len(runs) == 1:
        return dict(runs[0])
    result: dict[str, Verdict] = {}
    for case_id in runs[0]:
        verdicts = [run[case_id] for run in runs]
        chosen = next((verdict for verdict in verdicts if verdict.violated), None) or majority(verdicts)
        result[case_id] = chosen
    return result


def recorded(cases: Sequence[Case], runs: Sequence[Mapping[str, Verdict]]) -> list[JsonObject]:
    """The sidecar's `repeats`: every answer of every case by plan id, null where there was none."""
    if len(runs) == 1:
        return []
    return [
        {
            "skillId": case.skill_id,
            "caseId": case.case_id,
            "responses": [run[case.opaque_id].response for run in runs],
        }
        for case in cases
    ]


def violations(sidecar: Mapping[str, Any] | None, cases: Sequence[Case]) -> dict[str, int]:
    """Per skill, cases with a violation in some recorded repeat, recomputed from the answers."""
    plan = {(case.skill_id, case.case_id): case for case in cases}
    counts: dict[str, int] = {}
    for item in as_list((sidecar or {}).get("repeats")) or []:
        row = as_object(item) or {}
        case = plan.get((str(row.get("skillId")), str(row.get("caseId"))))
        answers = as_list(row.get("responses")) or []
        if case is not None and any(recomputed(answer, case.expected, case.forbidden)[1] for answer in answers):
            counts[case.skill_id] = counts.get(case.skill_id, 0) + 1
    return counts


def least_repeats(sidecar: Mapping[str, Any] | None) -> int:
    """How many runs the evidence rests on: 1 without a sidecar that says more."""
    counts = [
        len(as_list((as_object(item) or {}).get("responses")) or [])
        for item in as_list((sidecar or {}).get("repeats")) or []
    ]
    return min(counts, default=1)
