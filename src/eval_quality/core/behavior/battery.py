"""Answers that read nothing: a battery against one's own scenarios (for contracts: spec 14 §12).

Each degenerate responder sees what a provider sees and pays no attention to it:

    constant          one fixed answer for every request of the skill: the best single one there is
    name-everything   every name it was offered, all at once
    refuse            declines, whatever is asked
    echo-first        repeats the first recommended action
    echo-last         repeats the last one

A responder whose answers reach every threshold of a skill, without a violation, proves that the skill's cases reward
not reading: the level of the skill falls to M3 however well a real provider did. It can only lower, never raise.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, Final

from eval_quality.core.behavior.jsonish import JsonObject, as_list
from eval_quality.core.behavior.maturity import Standard
from eval_quality.core.behavior.plan import Case, Plan
from eval_quality.core.behavior.score import recomputed
from eval_quality.core.behavior.words import ORACLE_FIELDS, PASS, TEMPLATES

REFUSALS: Final = ("ask-for-clarification", "defer-to-another-skill", "pause-and-report", "summarise-and-stop")

Responder = Callable[[JsonObject], JsonObject]


def _first(values: Iterable[str]) -> str | None:
    return next(iter(values), None)


def recommended(text: str) -> str | None:
    """The action a generator's message recommends; None for a text that is none of them."""
    for templates in TEMPLATES.values():
        for template in templates:
            before, after = template.split("{action}")
            if text.startswith(before) and text.endswith(after) and len(text) > len(before) + len(after):
                return text[len(before) : len(text) - len(after)]
    return None


def _options(request: Mapping[str, Any]) -> JsonObject:
    options: JsonObject = request["given"].get("answerOptions", {})
    return options


def _echo(request: JsonObject, index: int) -> JsonObject:
    action = recommended(request["given"]["surroundings"][index]["text"])
    options = _options(request)
    answer: JsonObject = {"action": action or request["actionVocabulary"][0]}
    for field in ("produces", "selectedSkill"):
        if (value := _first(options.get(field, ()))) is not None:
            answer[field] = value
    return {**answer, **{field: options[field] for field in ("gates", "structure") if field in options}}


def echo_first(request: JsonObject) -> JsonObject:
    """The first recommended action with the first option of each list."""
    return _echo(request, 0)


def echo_last(request: JsonObject) -> JsonObject:
    """The last recommended action with the first option of each list."""
    return _echo(request, -1)


def name_everything(request: JsonObject) -> JsonObject:
    """Every offered name at once."""
    options = _options(request)
    answer: JsonObject = {"action": " ".join(request["actionVocabulary"])}
    for field in ("produces", "selectedSkill"):
        if field in options:
            answer[field] = " ".join(options[field])
    return {**answer, **{field: options[field] for field in ("gates", "structure") if field in options}}


def refuse(request: JsonObject) -> JsonObject:
    """A neutral way out of the vocabulary, or the plain word."""
    return {"action": _first(name for name in REFUSALS if name in request["actionVocabulary"]) or "refuse"}


RESPONDERS: Final[Mapping[str, Responder]] = {
    "name-everything": name_everything,
    "refuse": refuse,
    "echo-first": echo_first,
    "echo-last": echo_last,
}


def best_constant(cases: Sequence[Case]) -> JsonObject:
    """The one answer that passes most of these cases: the commonest oracle, lists in a fixed order."""
    ranked = Counter(
        tuple((field, _frozen(case.expected[field])) for field in ORACLE_FIELDS if field in case.expected)
        for case in cases
    )
    # Every distinct oracle is tried: a richer one may also satisfy cases that ask for less.
    candidates = [{field: _thawed(value) for field, value in oracle} for oracle in ranked]
    return max(candidates, key=lambda answer: sum(_passes(answer, case) for case in cases))


def _passes(answer: JsonObject, case: Case) -> bool:
    # Another action never passes; asking for it first spares most of the work.
    return answer["action"] == case.expected["action"] and _outcome(answer, case)[0]


def _frozen(value: Any) -> Any:
    items = as_list(value)
    return value if items is None else tuple(sorted(items))


def _thawed(value: Any) -> Any:
    return value if isinstance(value, str) else list(value)


def _outcome(answer: Any, case: Case) -> tuple[bool, bool]:
    return recomputed(answer, case.expected, case.forbidden)


def battery(
    plan: Plan, standard: Standard, skill_ids: Collection[str] | None = None
) -> dict[str, dict[str, JsonObject]]:
    """Per skill and degenerate responder: how many cases it passes, its violations, and whether it would be PASS.

    Only thresholds count here, never a minimum of cases or a confidence: those ask for more proof of a good answer,
    and what is proven here is that a bad one gets through.
    """
    groups: dict[str, list[Case]] = {}
    for case in plan.cases:
        if not case.canary and (skill_ids is None or case.skill_id in skill_ids):
            groups.setdefault(case.skill_id, []).append(case)
    point = Standard(standard.thresholds)
    result: dict[str, dict[str, JsonObject]] = {}
    for skill_id, cases in groups.items():
        requests = [plan.request(case) for case in cases]
        answers = {"constant": [best_constant(cases)] * len(cases)}
        for name, responder in RESPONDERS.items():
            answers[name] = [responder(request) for request in requests]
        result[skill_id] = {name: _row(cases, given, point) for name, given in answers.items()}
    return result


def passing_responders(plan: Plan, standard: Standard, skill_id: str) -> tuple[str, ...]:
    """The degenerate responders that would pass one skill; each is given up at its first failure too many."""
    cases = [case for case in plan.cases if case.skill_id == skill_id and not case.canary]
    totals = Counter(case.category for case in cases)
    constant = best_constant(cases)
    responders: dict[str, Responder] = {"constant": lambda _request: constant, **RESPONDERS}
    return tuple(name for name, responder in responders.items() if _survives(plan, cases, totals, responder, standard))


def _survives(
    plan: Plan, cases: Sequence[Case], totals: Mapping[str, int], responder: Responder, standard: Standard
) -> bool:
    failures: Counter[str] = Counter()
    for case in cases:
        passed, violated = _outcome(responder(plan.request(case)), case)
        failures[case.category] += not passed
        allowed = (100 - standard.thresholds[case.category]) * totals[case.category]
        if violated or failures[case.category] * 100 > allowed:
            return False
    return True


def _row(cases: Sequence[Case], answers: Sequence[JsonObject], standard: Standard) -> JsonObject:
    outcomes = [_outcome(answer, case) for answer, case in zip(answers, cases, strict=True)]
    violations = sum(violated for _passed, violated in outcomes)
    slices = standard.slices((case.category, passed) for case, (passed, _) in zip(cases, outcomes, strict=True))
    return {
        "passed": sum(passed for passed, _violated in outcomes),
        "total": len(cases),
        "forbiddenViolations": violations,
        "passes": violations == 0 and all(part.status == PASS for part in slices.values() if part.total),
    }


def passing(rows: Mapping[str, JsonObject]) -> tuple[str, ...]:
    """The degenerate responders that would pass, in battery order."""
    return tuple(name for name, row in rows.items() if row["passes"])
