"""Answers against oracles (spec 11 §7.2, §7.3).

1. A response matches an oracle when every *set* oracle field agrees: texts exactly, lists as multisets.
2. A case passes when it matches `expected` and does not violate `forbidden`.
3. Violation alone compares after NFKC, case folding, trimming, white space and `_` to `-`: an odd spelling of a
   forbidden answer is still that answer.
4. A missing, malformed or timed-out answer fails and is never filled in.
"""

import unicodedata
from collections.abc import Collection, Mapping
from typing import Any, Final

import msgspec

from eval_quality.core.behavior.jsonish import JsonObject, as_list, as_object, as_text
from eval_quality.core.behavior.words import LIST_FIELDS, ORACLE_FIELDS, TEXT_FIELDS

MISSING: Final = "response missing"
MALFORMED: Final = "response malformed"
OUT_OF_VOCABULARY: Final = "action not in vocabulary"


def normalised(text: str) -> str:
    """The spelling-blind form that only the violation test uses (spec 11 §7.3)."""
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    return "-".join(folded.split()).replace("_", "-")


def matches(response: Mapping[str, Any], oracle: Mapping[str, Any]) -> bool:
    """Whether every set field of the oracle agrees exactly (spec 11 §7.3)."""
    for field in ORACLE_FIELDS:
        if field not in oracle:
            continue
        answer, wanted = response.get(field), oracle[field]
        if field in TEXT_FIELDS:
            if not isinstance(answer, str) or answer != wanted:
                return False
        elif (items := _strings(answer)) is None or sorted(items) != sorted(wanted):
            return False
    return True


def violates(response: Mapping[str, Any], forbidden: Mapping[str, Any] | None) -> bool:
    """Whether every set field of a forbidden oracle agrees after normalisation. An empty oracle forbids nothing."""
    if not forbidden:
        return False
    for field in ORACLE_FIELDS:
        if field not in forbidden:
            continue
        answer, wanted = response.get(field), forbidden[field]
        if field in TEXT_FIELDS:
            if not isinstance(answer, str) or normalised(answer) != normalised(wanted):
                return False
        elif (items := _strings(answer)) is None or sorted(map(normalised, items)) != sorted(map(normalised, wanted)):
            return False
    return True


def _strings(value: object) -> list[str] | None:
    items = as_list(value)
    return items if items is not None and all(isinstance(item, str) for item in items) else None


def well_formed(response: Any) -> bool:
    """Whether an answer is a response object: known members only, each of its type (spec 11 §6, §7.2)."""
    members = as_object(response)
    if members is None or as_text(members.get("action")) is None or not set(members) <= set(ORACLE_FIELDS):
        return False
    if not all(isinstance(members[field], str) and members[field] for field in TEXT_FIELDS if field in members):
        return False
    lists = [_strings(members[field]) for field in LIST_FIELDS if field in members]
    return all(items is not None and all(items) for items in lists)


class Verdict(msgspec.Struct, frozen=True):
    """What one answer is worth. `response` is None when nothing may be stored."""

    passed: bool
    violated: bool
    response: JsonObject | None = None
    error: str | None = None
    malformed_forbidden: bool = False


def judge(
    answer: Any, expected: Mapping[str, Any], forbidden: Mapping[str, Any] | None, vocabulary: Collection[str] | None
) -> Verdict:
    """The case-level rules of spec 11 §7.2, in their order. `vocabulary` only decides an informative note."""
    # 1. Nothing was answered.
    if answer is None or answer is False or answer == 0 or answer == "":
        return Verdict(False, False, error=MISSING)
    # 2. Something was answered that is no response.
    members = as_object(answer)
    if members is None or not well_formed(members):
        action = (members or {}).get("action")
        hit = isinstance(action, str) and violates({"action": action}, _action_of(forbidden))
        return Verdict(False, False, error=MALFORMED, malformed_forbidden=hit)
    # 3. A response: stored as it came.
    violated = violates(members, forbidden)
    passed = matches(members, expected) and not violated
    note = OUT_OF_VOCABULARY if vocabulary is not None and members["action"] not in vocabulary else None
    return Verdict(passed, violated, members, note)


def _action_of(forbidden: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    return {"action": forbidden["action"]} if forbidden and "action" in forbidden else None


def recomputed(response: Any, expected: Mapping[str, Any], forbidden: Mapping[str, Any] | None) -> tuple[bool, bool]:
    """`(passed, forbiddenViolated)` of a stored response; both false when there is none or it is malformed (§9.8)."""
    members = as_object(response)
    if members is None or not well_formed(members):
        return False, False
    violated = violates(members, forbidden)
    return matches(members, expected) and not violated, violated
