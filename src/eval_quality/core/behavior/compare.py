"""Two runs over one corpus, case by case (spec 11 §17.8 `diff`, §17.10 lift)."""

from collections.abc import Mapping
from typing import Any

from eval_quality.core.behavior.frame import BundleRefused
from eval_quality.core.behavior.intervals import mcnemar, rounded
from eval_quality.core.behavior.jsonish import JsonObject
from eval_quality.core.behavior.score import recomputed
from eval_quality.core.behavior.words import CONDITIONS

Outcomes = Mapping[tuple[str, str], tuple[str, bool]]
"""(skill, plan id) to (category, passed)."""


def outcomes_of(document: Mapping[str, Any]) -> dict[tuple[str, str], tuple[str, bool]]:
    """The recomputed outcomes of an evidence document that matches its schema."""
    rows: list[JsonObject] = document["cases"]
    return {
        (row["skillId"], row["caseId"]): (
            row["category"],
            recomputed(row.get("response"), row["expected"], row.get("forbidden"))[0],
        )
        for row in rows
    }


def _tally(pairs: list[tuple[bool, bool]]) -> JsonObject:
    wins = sum(after and not before for before, after in pairs)
    losses = sum(before and not after for before, after in pairs)
    return {
        "wins": wins,
        "losses": losses,
        "ties": len(pairs) - wins - losses,
        "mcnemarP": rounded(mcnemar(wins, losses)),
    }


def paired(before: Outcomes, after: Outcomes) -> JsonObject:
    """Wins, losses and ties of `after` against `before` over their common cases: overall, by skill, by category."""
    keys = [key for key in before if key in after]
    by_skill: dict[str, list[tuple[bool, bool]]] = {}
    by_category: dict[str, list[tuple[bool, bool]]] = {name: [] for name in CONDITIONS}
    every: list[tuple[bool, bool]] = []
    for key in keys:
        pair = (before[key][1], after[key][1])
        every.append(pair)
        by_skill.setdefault(key[0], []).append(pair)
        by_category[before[key][0]].append(pair)
    return {
        "cases": len(every),
        **_tally(every),
        "skills": {skill_id: _tally(pairs) for skill_id, pairs in by_skill.items()},
        "categories": {name: _tally(pairs) for name, pairs in by_category.items()},
    }


def diff(first: Mapping[str, Any], second: Mapping[str, Any]) -> JsonObject:
    """The paired comparison of two evidence documents. Refuses documents of different corpora."""
    for name in ("corpusSha256", "oracleSha256"):
        if first[name] != second[name]:
            raise BundleRefused(f"the two files are of different corpora: {name} differs")
    return {
        "corpusSha256": first["corpusSha256"],
        "providers": [first["providerId"], second["providerId"]],
        **paired(outcomes_of(first), outcomes_of(second)),
    }


def lift(bare: Outcomes, skilled: Outcomes, skill_id: str) -> JsonObject | None:
    """What the skill adds to one skill's cases: rate with it minus rate without, paired. None without common cases."""
    keys = [key for key in skilled if key[0] == skill_id and key in bare]
    if not keys:
        return None
    pairs = [(bare[key][1], skilled[key][1]) for key in keys]
    rate_bare = sum(before for before, _after in pairs) / len(pairs)
    rate_skill = sum(after for _before, after in pairs) / len(pairs)
    return {
        "cases": len(pairs),
        "withSkill": rounded(rate_skill),
        "bare": rounded(rate_bare),
        "lift": rounded(rate_skill - rate_bare),
        **_tally(pairs),
    }
