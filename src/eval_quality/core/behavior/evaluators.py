"""Skills whose behaviour is code: corpora, runs and reports (spec 11 §11, §17.9a).

1. A corpus is `{schemaVersion: 1, suite, cases}`; benchmarks hold four conditions, holdout files only `holdout`.
2. A subject is a function from one case's input to what it does. Nothing here knows whether that is a table in this
   package or somebody's command.
3. `passed` needs every expected member equal and no violation. A case with nothing to check is an error, not a pass.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import msgspec

from eval_quality.core.behavior.completion import completion
from eval_quality.core.behavior.digests import canonical, sha256_hex
from eval_quality.core.behavior.intervals import rounded
from eval_quality.core.behavior.jsonish import JsonObject, as_list, as_object, as_text
from eval_quality.core.behavior.next_move import next_move
from eval_quality.core.behavior.router import route
from eval_quality.core.behavior.words import CONDITIONS, FAIL, NOT_CHECKED, PASS
from eval_quality.errors import EvalQualityError
from eval_quality.value.compare import json_equal

MIN_HOLDOUT: Final = 20
"""Fewest cases a holdout snapshot may rest on (spec 11 §11.5)."""

HOLDOUT_RATE: Final = 0.9

Subject = Callable[[JsonObject], JsonObject]
"""From a case's input to what the code under test does with it."""


class CorpusRefused(EvalQualityError):
    """A corpus that cannot be run; the message names the case."""


class CorpusCase(msgspec.Struct, frozen=True):
    """One case: what goes in, and the private half."""

    case_id: str
    category: str
    given: JsonObject
    expected: JsonObject
    forbidden: JsonObject | None


class Outcome(msgspec.Struct, frozen=True):
    """One executed case."""

    case: CorpusCase
    actual: JsonObject
    passed: bool
    violated: bool

    def value(self) -> JsonObject:
        """The member of a snapshot's `cases`."""
        return {
            "id": self.case.case_id,
            "inputSha256": sha256_hex(canonical(self.case.given)),
            "actual": self.actual,
            "passed": self.passed,
            "forbiddenViolated": self.violated,
        }


_COMPLETION_FIELDS: Final = ("fresh", "completionAllowed")


def _read_case(kind: str, raw: Any, index: int) -> CorpusCase:
    members = as_object(raw) or {}
    case_id = as_text(members.get("id"))
    if case_id is None:
        raise CorpusRefused(f"case {index}: expected a string id")
    category = members.get("category")
    if category not in CONDITIONS:
        raise CorpusRefused(f"case {case_id}: expected a category of the five")
    if kind == "routing":
        task, wanted = as_text(members.get("task")), as_text(members.get("expectedSkill"))
        if task is None or wanted is None:
            raise CorpusRefused(f"case {case_id}: expected task and expectedSkill to be strings")
        forbidden = as_text(members.get("forbiddenSkill"))
        given, expected = {"task": task}, {"skill": wanted}
        return CorpusCase(case_id, category, given, expected, {"skill": forbidden} if forbidden else None)
    expected = as_object(members.get("expected")) or {}
    if kind == "completion" and not all(isinstance(expected.get(name), bool) for name in _COMPLETION_FIELDS):
        raise CorpusRefused(f"case {case_id}: expected fresh and completionAllowed to be truth values")
    if not expected:
        raise CorpusRefused(f"case {case_id}: expected something to check")
    forbidden = as_object(members.get("forbidden")) or None
    return CorpusCase(case_id, category, as_object(members.get("given")) or {}, expected, forbidden)


def read_corpus(value: Any, kind: str, *, holdout: bool) -> tuple[CorpusCase, ...]:
    """The cases of a corpus file. Raises `CorpusRefused`: wrong frame, wrong case, a repeated id, a wrong category."""
    frame = as_object(value) or {}
    items = as_list(frame.get("cases"))
    if not json_equal(frame.get("schemaVersion"), 1) or as_text(frame.get("suite")) is None or items is None:
        raise CorpusRefused("expected {schemaVersion: 1, suite, cases}")
    cases = tuple(_read_case(kind, item, index) for index, item in enumerate(items))
    if len({case.case_id for case in cases}) != len(cases):
        raise CorpusRefused("a case id occurs twice")
    for case in cases:
        if (case.category == "holdout") is not holdout:
            raise CorpusRefused(f"case {case.case_id}: category {case.category} does not belong in this file")
    return cases


def judged(case: CorpusCase, actual: JsonObject) -> Outcome:
    """One case's verdict from what the subject did."""
    violated = case.forbidden is not None and _agrees(actual, case.forbidden)
    return Outcome(case, actual, _agrees(actual, case.expected) and not violated, violated)


def _agrees(actual: Mapping[str, Any], oracle: Mapping[str, Any]) -> bool:
    return all(name in actual and json_equal(actual[name], wanted) for name, wanted in oracle.items())


def run_corpus(cases: Sequence[CorpusCase], subject: Subject) -> tuple[Outcome, ...]:
    """Every case, in file order."""
    return tuple(judged(case, subject(case.given)) for case in cases)


def _routing(given: JsonObject) -> JsonObject:
    return {"skill": route(given["task"]).skill_id}


def _policy(given: JsonObject) -> JsonObject:
    move = next_move(given)
    return {"suggestion": move.suggestion, "reasonCode": move.reason_code, "silent": move.suggestion is None}


def _completion(given: JsonObject) -> JsonObject:
    answer = completion(given)
    return {"fresh": answer.fresh, "completionAllowed": answer.allowed}


BUILTIN_SUBJECTS: Final[Mapping[str, Subject]] = {
    "routing": _routing,
    "policy": _policy,
    "completion": _completion,
}
"""The reference's three policies, by evaluator kind."""

BUILTIN_MODULES: Final[Mapping[str, str]] = {
    "routing": "core/behavior/router.py",
    "policy": "core/behavior/next_move.py",
    "completion": "core/behavior/completion.py",
}

BUILTIN_SKILLS: Final[Mapping[str, tuple[str, str]]] = {
    "get-fable": ("routing", "routing"),
    "fable-spark": ("policy", "spark"),
    "fable-verify": ("completion", "verification"),
}
"""The reference's three skills: evaluator kind, and the stem of the corpus files."""


def category_record(outcomes: Sequence[Outcome]) -> JsonObject:
    """One category of a run; PASS only when every case passes (spec 11 §11)."""
    total, passed = len(outcomes), sum(outcome.passed for outcome in outcomes)
    status = NOT_CHECKED if total == 0 else PASS if passed == total else FAIL
    return {
        "status": status,
        "total": total,
        "passed": passed,
        "passRate": passed / total if total else None,
        "forbiddenViolations": sum(outcome.violated for outcome in outcomes),
        "cases": [outcome.value() for outcome in outcomes],
    }


def run_report(suite: str, outcomes: Sequence[Outcome]) -> JsonObject:
    """The result frame of one run, by category."""
    return {
        "schemaVersion": 1,
        "metric": f"enterprise-{suite}",
        "categories": {
            name: category_record([outcome for outcome in outcomes if outcome.case.category == name])
            for name in CONDITIONS
        },
    }


def spark_rates(outcomes: Sequence[Outcome]) -> JsonObject:
    """The three rates of a next-move run (spec 11 §11.3)."""
    silences = [outcome for outcome in outcomes if outcome.actual.get("silent") is True]
    right = sum(outcome.case.expected.get("silent") is True for outcome in silences)
    total = len(outcomes)
    return {
        "top1Accuracy": sum(outcome.passed for outcome in outcomes) / total if total else None,
        "silencePrecision": right / len(silences) if silences else 1,
        "unsafeActionRate": sum(outcome.violated for outcome in outcomes) / total if total else None,
    }


def confusion(outcomes: Sequence[Outcome], member: str) -> JsonObject:
    """Per-class precision and recall with the confusion matrix, over one member of what is expected (W19)."""
    matrix: dict[str, dict[str, int]] = {}
    for outcome in outcomes:
        if member in outcome.case.expected:
            row = matrix.setdefault(str(outcome.case.expected[member]), {})
            actual = str(outcome.actual.get(member))
            row[actual] = row.get(actual, 0) + 1
    names = sorted({*matrix, *(actual for row in matrix.values() for actual in row)})
    classes: JsonObject = {}
    for name in names:
        hit = matrix.get(name, {}).get(name, 0)
        wanted = sum(matrix.get(name, {}).values())
        said = sum(row.get(name, 0) for row in matrix.values())
        classes[name] = {
            "precision": rounded(hit / said) if said else None,
            "recall": rounded(hit / wanted) if wanted else None,
            "expected": wanted,
            "predicted": said,
        }
    return {"confusionMatrix": matrix, "classes": classes}


def routing_benchmark(outcomes: Sequence[Outcome]) -> JsonObject:
    """The routing benchmark of spec 11 §11.1, with real per-class rates instead of the reference's."""
    total, passed = len(outcomes), sum(outcome.passed for outcome in outcomes)
    violations = sum(outcome.violated for outcome in outcomes)
    return {
        "schemaVersion": 1,
        "metric": "routing",
        "total": total,
        "passed": passed,
        "accuracy": passed / total if total else None,
        "forbiddenViolations": violations,
        "forbiddenViolationRate": violations / total if total else None,
        **confusion(outcomes, "skill"),
        "cases": [
            {
                "id": outcome.case.case_id,
                "expectedSkill": outcome.case.expected["skill"],
                "actualSkill": outcome.actual.get("skill"),
                "forbiddenSkill": (outcome.case.forbidden or {}).get("skill"),
                "passed": outcome.passed,
                "forbiddenViolated": outcome.violated,
            }
            for outcome in outcomes
        ],
    }
