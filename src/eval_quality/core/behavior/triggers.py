"""Trigger suites: does a description make an agent pick the skill up? (spec 14 §16.3, case R4)

A rate is worth nothing when the instrument cannot fire or when a crash counts as "did not trigger". So:

1. A positive control, a skill that every query of its own must trigger, is required. If it never fires, the result is
   NOT_CHECKED `instrument-cannot-fire` and no rate is printed.
2. A query without a finished run is not a passed negative: it is missing, and any of them is `missing-as-pass`.
"""

from collections.abc import Iterable, Sequence
from typing import Any, Final

import msgspec

from eval_quality.core.behavior.intervals import interval, rounded
from eval_quality.core.behavior.jsonish import JsonObject, as_integer, as_list, as_object, as_text
from eval_quality.core.behavior.scenario import Scenario
from eval_quality.core.behavior.words import FAIL, NOT_CHECKED, PASS
from eval_quality.errors import EvalQualityError

FIRE_RATE: Final = 0.5
"""Share of its runs in which a query must trigger to count as triggered."""

CONTROL_RATE: Final = 0.8
"""Share of a positive control's runs that must trigger."""

CANNOT_FIRE: Final = "instrument-cannot-fire"
MISSING_AS_PASS: Final = "missing-as-pass"


class TriggersRefused(EvalQualityError):
    """A file that is no trigger suite or result; the message names the item."""


class Query(msgspec.Struct, frozen=True):
    """One query with its finished runs. `runs` is 0 when none finished."""

    text: str
    should_trigger: bool
    triggers: int = 0
    runs: int = 0
    crashed: int = 0

    @property
    def fired(self) -> bool:
        """Whether it triggered in at least half of its runs."""
        return self.runs > 0 and self.triggers >= FIRE_RATE * self.runs


def _items(value: Any) -> list[Any]:
    members = as_object(value)
    items = as_list(value if members is None else members.get("results", members.get("queries")))
    if not items:
        raise TriggersRefused("expected a non-empty list of queries")
    return items


def read_queries(value: Any, *, results: bool) -> tuple[Query, ...]:
    """The queries of a suite, or of a result file with counts. Raises `TriggersRefused`."""
    queries: list[Query] = []
    for index, item in enumerate(_items(value)):
        entry = as_object(item) or {}
        text, wanted = as_text(entry.get("query")), entry.get("should_trigger")
        if text is None or not isinstance(wanted, bool):
            raise TriggersRefused(f"query {index + 1}: expected query and should_trigger")
        if not results:
            queries.append(Query(text, wanted))
            continue
        runs, triggers = as_integer(entry.get("runs")), as_integer(entry.get("triggers"))
        crashed = as_integer(entry.get("crashed", entry.get("errors", 0)))
        if runs is None or triggers is None or crashed is None or not 0 <= triggers <= runs or crashed < 0:
            raise TriggersRefused(f"query {index + 1}: expected 0 <= triggers <= runs, and a number of crashes")
        queries.append(Query(text, wanted, triggers, max(0, runs - crashed), crashed))
    return tuple(queries)


def judge_triggers(queries: Sequence[Query], control: Sequence[Query]) -> JsonObject:
    """The verdict on a result file, given the positive control's results."""
    runs, fired = sum(query.runs for query in control), sum(query.triggers for query in control)
    if runs == 0 or fired < CONTROL_RATE * runs:
        detail = f"the positive control triggered in {fired} of {runs} runs"
        return {"status": NOT_CHECKED, "reason": f"{CANNOT_FIRE}: {detail}"}
    missing = [query.text for query in queries if query.runs == 0 or query.crashed > 0]
    if missing:
        detail = f"{len(missing)} queries have runs that did not finish"
        return {"status": NOT_CHECKED, "reason": f"{MISSING_AS_PASS}: {detail}", "missing": missing}
    right = [query.fired is query.should_trigger for query in queries]
    positives = [query for query in queries if query.should_trigger]
    negatives = [query for query in queries if not query.should_trigger]
    return {
        "status": PASS if all(right) else FAIL,
        "reason": f"{sum(right)} of {len(right)} queries as wanted",
        "total": len(right),
        "passed": sum(right),
        "recall": _rate([query.fired for query in positives]),
        "falseTriggers": _rate([query.fired for query in negatives]),
    }


def _rate(hits: Sequence[bool]) -> JsonObject | None:
    if not hits:
        return None
    bounds = interval(sum(hits), len(hits))
    return {
        "hits": sum(hits),
        "total": len(hits),
        "rate": rounded(sum(hits) / len(hits)),
        "interval": {"low": rounded(bounds.low), "high": rounded(bounds.high), "confidence": bounds.confidence},
    }


def export_queries(skill_id: str, scenarios: Iterable[Scenario]) -> list[JsonObject]:
    """A trigger suite of one skill: its own intents should trigger it, those of its neighbours should not.

    A scenario that hands its work to another skill is a negative of its own.
    """
    queries: list[JsonObject] = []
    for scenario in scenarios:
        intent = as_text(scenario.given.get("intent"))
        if intent is not None and scenario.condition is None and not scenario.sealed:
            owner = scenario.expected.get("selectedSkill", scenario.skill_id)
            queries.append({"query": intent, "should_trigger": owner == skill_id})
    return queries
