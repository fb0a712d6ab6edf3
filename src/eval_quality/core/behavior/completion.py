"""The reference's completion policy (spec 11 §11.4): is the proof fresh, and may the work be called complete?"""

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from eval_quality.core.behavior.jsonish import JsonObject, as_integer, as_list, as_object
from eval_quality.core.behavior.next_move import INITIAL_STATE

ACCEPTED: Final = ("test", "build", "runtime", "review", "observation")
"""Kinds of record that count as proof; `security` joins them when the work itself is about security."""

TRANSITIONS: Final[Mapping[str, tuple[str, ...]]] = {
    "idle": ("discovering", "planned", "executing", "verifying", "recovering", "blocked"),
    "discovering": ("planned", "executing", "verifying", "recovering", "blocked"),
    "planned": ("discovering", "executing", "verifying", "recovering", "blocked"),
    "executing": ("verifying", "recovering", "blocked"),
    "verifying": ("complete", "recovering", "executing", "blocked"),
    "recovering": ("discovering", "planned", "executing", "verifying", "blocked"),
    "complete": ("idle", "discovering", "planned", "executing", "verifying", "recovering"),
    "blocked": ("idle", "discovering", "planned", "executing", "verifying", "recovering"),
}

SECURITY: Final = "fable-security"


class Completion(NamedTuple):
    """The two answers."""

    fresh: bool
    allowed: bool


def _records(state: Mapping[str, Any], mutated: int) -> list[JsonObject]:
    records: list[JsonObject] = []
    for item in as_list(state["evidence"]) or []:
        record = dict(as_object(item) or {})
        if as_integer(record.get("generation")) is None:
            record["generation"] = mutated
        if not isinstance(record.get("detail"), str):
            record["detail"] = "unspecified"
        records.append(record)
    return records


def _is_security(state: Mapping[str, Any]) -> bool:
    decision = as_object(state.get("lastDecision")) or {}
    return SECURITY in (state["currentSkill"], decision.get("skill")) or decision.get("taskShape") == "security"


def completion(given: Mapping[str, Any]) -> Completion:
    """`fresh` and `completionAllowed` of one case's state over the initial state."""
    state: JsonObject = {**INITIAL_STATE, **(as_object(given.get("state")) or {})}
    mutated = as_integer(state["mutationGeneration"]) or 0
    verified = as_integer(state["verifiedGeneration"])
    accepted = (*ACCEPTED, "security") if _is_security(state) else ACCEPTED
    current = [
        record
        for record in _records(state, mutated)
        if record["generation"] == mutated and record.get("kind") in accepted
    ]
    fresh = (
        (-1 if verified is None else verified) >= mutated
        and bool(current)
        and current[-1].get("result") == "pass"
        and bool(current[-1]["detail"].strip())
    )
    phase = state["phase"]
    if phase == "complete":
        return Completion(fresh, True)
    legal = "complete" in TRANSITIONS.get(phase, ())
    return Completion(fresh, legal and (fresh or not state["substantial"]))
