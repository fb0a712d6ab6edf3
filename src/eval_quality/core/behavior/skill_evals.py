"""Skill evals in the prompt/expectations format, both dialects (spec 11 §17.2, spec 16 §41).

Dialect A lists `expectations`, dialect B `assertions`; one item may use either, and an item with both must agree.

Import makes scenario *drafts*: the prompt becomes `given.intent`, `expected.action` stays empty for a person to fill.
No oracle is ever derived from prose. Export writes what a grader of that format needs, so an exported file is private
like the scenarios it came from.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec

from eval_quality.core.behavior.digests import canonical
from eval_quality.core.behavior.jsonish import JsonObject, as_list, as_object, as_text, texts
from eval_quality.core.behavior.scenario import Scenario
from eval_quality.errors import EvalQualityError
from eval_quality.value.compare import json_equal

MAX_EVALS: Final = 10_000
DIALECTS: Final[Mapping[str, str]] = {"A": "expectations", "B": "assertions"}


class EvalsRefused(EvalQualityError):
    """A file that is no skill eval suite; the message names the item."""


class SkillEval(msgspec.Struct, frozen=True):
    """One item of a suite, whatever its dialect."""

    eval_id: str
    prompt: str
    expected_output: str
    files: tuple[str, ...]
    expectations: tuple[str, ...]


class Suite(msgspec.Struct, frozen=True):
    """A suite of one skill."""

    skill_name: str
    evals: tuple[SkillEval, ...]


def _expectations(members: Mapping[str, Any], eval_id: str) -> tuple[str, ...]:
    lists = [members[key] for key in DIALECTS.values() if key in members]
    for items in lists:
        if as_list(items) is None or len(texts(items)) != len(items):
            raise EvalsRefused(f"eval {eval_id}: expected a list of strings")
    if len(lists) > 1 and not json_equal(lists[0], lists[1]):
        raise EvalsRefused(f"eval {eval_id}: expectations and assertions differ (import-duplicate-identity)")
    return tuple(lists[0]) if lists else ()


def read_suite(value: Any) -> Suite:
    """The suite of an `evals.json`. Raises `EvalsRefused`."""
    members = as_object(value) or {}
    name, items = as_text(members.get("skill_name")), as_list(members.get("evals"))
    if name is None or items is None:
        raise EvalsRefused("expected {skill_name, evals}")
    if len(items) > MAX_EVALS:
        raise EvalsRefused(f"expected at most {MAX_EVALS} evals")
    evals: list[SkillEval] = []
    for index, item in enumerate(items):
        entry = as_object(item) or {}
        raw = entry.get("id", index + 1)
        if isinstance(raw, bool) or not isinstance(raw, int | str) or raw == "":
            raise EvalsRefused(f"eval {index + 1}: expected an id that is a number or a string")
        eval_id = str(raw)
        prompt = as_text(entry.get("prompt"))
        if prompt is None:
            raise EvalsRefused(f"eval {eval_id}: expected a prompt")
        evals.append(
            SkillEval(
                eval_id,
                prompt,
                as_text(entry.get("expected_output")) or "",
                tuple(texts(entry.get("files"))),
                _expectations(entry, eval_id),
            )
        )
    if len({item.eval_id for item in evals}) != len(evals):
        raise EvalsRefused("an eval id occurs twice")
    return Suite(name, tuple(evals))


def drafts(suite: Suite) -> JsonObject:
    """Scenario drafts of a suite: `expected.action` is empty, so nothing is scored before a person fills it."""
    scenarios: list[JsonObject] = []
    for item in suite.evals:
        notes = [item.expected_output, *(f"- {text}" for text in item.expectations)]
        given: JsonObject = {"intent": item.prompt}
        if item.files:
            given["files"] = list(item.files)
        plain = re.fullmatch(r"[0-9]+", item.eval_id) is not None
        scenarios.append(
            {
                "id": f"{suite.skill_name}-eval-{item.eval_id}" if plain else item.eval_id,
                "description": "\n".join(note for note in notes if note),
                "given": given,
                "expected": {"action": ""},
            }
        )
    return {"scenarios": scenarios}


def _sentences(scenario: Scenario) -> list[str]:
    expected = scenario.expected
    lines = [f"The next action is {expected['action']}."]
    if "selectedSkill" in expected:
        lines.append(f"The work is passed to {expected['selectedSkill']}.")
    if "produces" in expected:
        lines.append(f"The result is a {expected['produces']}.")
    lines += [f"The gate {gate} is listed." for gate in expected.get("gates", [])]
    lines += [f"The path {path} is listed." for path in expected.get("structure", [])]
    if scenario.forbidden is not None and "action" in scenario.forbidden:
        lines.append(f"The next action is not {scenario.forbidden['action']}.")
    return lines


def export_suite(skill_id: str, scenarios: Sequence[Scenario], dialect: str) -> JsonObject:
    """An `evals.json` of a skill's base scenarios. The file holds the answers: it is private."""
    field = DIALECTS[dialect]
    evals: list[JsonObject] = []
    for scenario in scenarios:
        intent = as_text(scenario.given.get("intent"))
        evals.append(
            {
                "id": scenario.scenario_id,
                "prompt": intent if intent is not None else canonical(scenario.given).decode(),
                "expected_output": scenario.description,
                "files": texts(scenario.given.get("files")),
                field: _sentences(scenario),
            }
        )
    return {"skill_name": skill_id, "evals": evals}
