"""What must never leave: the scan every export runs on the finished bundle (spec 11 §5.2).

1. Nothing private travels: no plan id, no scenario id, none of the frame's forbidden members.
2. No key of `given` names the answer side, at any depth.
3. No text of the generator contains a word that names a condition or a side.
4. Requests are in id order and all requests of a skill have one shape.

`instruction` is copied verbatim and never scanned: it is what a real agent would read (rule 5).
"""

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

from eval_quality.core.behavior.battery import recommended
from eval_quality.core.behavior.findings import ERROR, WARN, Finding
from eval_quality.core.behavior.jsonish import JsonObject, as_object, walk
from eval_quality.core.behavior.scenario import key_findings
from eval_quality.core.behavior.words import GENERATOR_WORDS, NEUTRAL_ACTIONS, RESERVED_GIVEN_KEYS, SOURCES

CONTAMINATION: Final = "action-literal"

_REQUEST_KEYS: Final = {"skillId", "caseId", "instruction", "given", "actionVocabulary"}


def facts(given: Mapping[str, Any]) -> JsonObject:
    """The author's part of `given`."""
    return {key: value for key, value in given.items() if key not in RESERVED_GIVEN_KEYS}


def strings_of(value: Any) -> list[str]:
    """Every string of a JSON value, keys included, in document order."""
    found: list[str] = []
    for _path, item in walk(value):
        if isinstance(item, str):
            found.append(item)
        found.extend(as_object(item) or ())
    return found


def token_pattern(words: Collection[str]) -> re.Pattern[str] | None:
    """A pattern for any of these words standing alone; None for no words."""
    if not words:
        return None
    # Longest first, so that an id is never reported as its own prefix.
    body = "|".join(re.escape(word) for word in sorted(words, key=lambda word: (-len(word), word)))
    return re.compile(rf"(?<![\w-])(?:{body})(?![\w-])")


def generator_words_in(text: str) -> list[str]:
    """The telling words in a text of the generator (rule 3)."""
    lowered = text.lower()
    return [word for word in GENERATOR_WORDS if word in lowered]


def _message_problem(message: Any) -> str | None:
    members = as_object(message) or {}
    if set(members) != {"source", "text"} or members["source"] not in SOURCES:
        return "a message is not {source, text} with a known source"
    action = recommended(str(members["text"]))
    if action is None:
        return "a message is none of the generator's"
    before, _action, after = str(members["text"]).partition(action)
    words = generator_words_in(before + after)
    return f"a message contains {words[0]}" if words else None


def scan_requests(requests: Sequence[JsonObject], scenario_ids: Collection[str]) -> list[Finding]:
    """Everything rules 1 to 4 find in some requests; each finding is an error that stops an export."""
    findings: list[Finding] = []
    private = token_pattern(scenario_ids)
    shapes: dict[str, frozenset[str]] = {}
    for request in requests:
        skill_id, case_id, given = request["skillId"], request["caseId"], request["given"]

        hits: list[tuple[str, str]] = []
        # 1. Nothing private.
        if set(request) != _REQUEST_KEYS:
            hits.append(("leak-member", "a request has a member that the contract does not name"))
        texts = strings_of(facts(given))
        if any("::" in text and private is not None and private.search(text) for text in texts):
            hits.append(("leak-plan-id", "given contains a plan case id"))
        elif private is not None and any(private.search(text) for text in texts):
            hits.append(("leak-scenario-id", "given contains a scenario id"))
        # 2. No telling key.
        findings += [item for item in key_findings(facts(given), skill_id, case_id) if item.level == ERROR]
        # 3. No telling word of ours.
        problems = [_message_problem(message) for message in given.get("surroundings", ())]
        hits += [("leak-generator-word", problem) for problem in problems if problem is not None]
        # 4. One shape.
        if len(given.get("surroundings", ())) != 2:
            hits.append(("leak-shape", "a request does not carry two messages"))
        shape = frozenset(key for key in given if key in RESERVED_GIVEN_KEYS)
        if shapes.setdefault(skill_id, shape) != shape:
            hits.append(("leak-shape", "requests of one skill differ in the generator's keys"))
        findings += [Finding(ERROR, code, skill_id, case_id, message) for code, message in hits]
    ids = [request["caseId"] for request in requests]
    if ids != sorted(ids):
        findings.append(Finding(ERROR, "leak-order", "", "requests", "requests are not in id order"))
    return findings


def contamination(instructions: Mapping[str, str], actions: Mapping[str, Collection[str]]) -> list[Finding]:
    """Action names that stand literally in the instruction: legal, but a string search answers such a case (rule 6)."""
    findings: list[Finding] = []
    for skill_id, text in instructions.items():
        named = sorted(set(actions.get(skill_id, ())) - set(NEUTRAL_ACTIONS))
        literal = [name for name in named if name in text]
        if literal:
            message = f"{len(literal)} of {len(named)} action names stand in the instruction: {', '.join(literal[:5])}"
            findings.append(Finding(WARN, CONTAMINATION, skill_id, "SKILL.md", message))
    return findings
