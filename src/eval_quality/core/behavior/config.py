"""The configuration `.skill-evidence.json` (spec 11 §17.3).

1. Every key has a default; an unknown key is an error, so a misspelt gate never passes for a set one.
2. `profile: "strict"` changes the defaults, never a value that is written down.
3. Thresholds are whole percents and may only be raised above the defaults of §10.1.
4. Every problem is reported at once.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

import msgspec

from eval_quality.core.behavior.digests import canonical, sha256_hex
from eval_quality.core.behavior.jsonish import as_integer, as_list, as_object, as_text
from eval_quality.core.behavior.words import CONDITIONS, DEFAULT_THRESHOLDS
from eval_quality.errors import Problem

DEFAULT_SKILL_ROOTS: Final = ("skills", ".claude/skills", ".agents/skills", "plugins/*/skills", ".")
EVALUATOR_KINDS: Final = ("routing", "policy", "completion", "command")

DEFAULTS: Final[Mapping[str, Any]] = {
    "schemaVersion": 1,
    "profile": "default",
    "skillRoots": list(DEFAULT_SKILL_ROOTS),
    "entrySkill": None,
    "deterministic": None,
    "thresholds": dict(DEFAULT_THRESHOLDS),
    "minCasesPerCategory": 1,
    "vocabularyScope": "skill",
    "blindingSeed": "v1",
    "holdoutPolicy": "auto",
    "holdoutRoot": None,
    "canaries": 0,
    "freshnessScope": "auto",
    "requireReceipt": False,
    "requireSignature": False,
    "bindResources": False,
    "maxAgeDays": None,
    "maxMissingShare": 0.02,
    "confidence": None,
    "repeats": 1,
    "enterpriseGates": [],
}

STRICT: Final[Mapping[str, Any]] = {
    "minCasesPerCategory": 6,
    "holdoutPolicy": "sealed",
    "requireReceipt": True,
    "requireSignature": True,
    "bindResources": True,
    "maxAgeDays": 90,
    "confidence": 0.95,
    "repeats": 3,
}


class Gate(msgspec.Struct, frozen=True):
    """One enterprise gate (spec 11 §17.9c)."""

    gate_id: str
    evidence: str
    max_age_days: int
    revision_bound: bool


class Evaluator(msgspec.Struct, frozen=True):
    """How one skill's behaviour is measured by running code (spec 11 §17.9a)."""

    kind: str
    benchmark: str
    holdout: str
    result: str
    subjects: tuple[str, ...] = ()
    argv: tuple[str, ...] = ()
    builtin: bool = False


class Config(msgspec.Struct, frozen=True):
    """The effective configuration. `deterministic` is None when the built-in bindings may be used."""

    strict: bool
    skill_roots: tuple[str, ...]
    entry_skill: str | None
    deterministic: dict[str, Evaluator] | None
    thresholds: dict[str, int]
    min_cases: int
    vocabulary_scope: str
    blinding_seed: str
    holdout_policy: str
    holdout_root: str | None
    canaries: int
    freshness_scope: str
    require_receipt: bool
    require_signature: bool
    bind_resources: bool
    max_age_days: int | None
    max_missing_share: float
    confidence: float | None
    repeats: int
    gates: tuple[Gate, ...]
    digest: str


_Check = tuple[Callable[[Any], bool], str]


def _choice(*values: str) -> _Check:
    return (lambda value: value in values, "one of " + ", ".join(values))


def _whole(low: int, high: int) -> _Check:
    def check(value: Any) -> bool:
        number = as_integer(value)
        return number is not None and low <= number <= high

    return (check, f"a whole number from {low} to {high}")


def _or_null(check: _Check) -> _Check:
    return (lambda value: value is None or check[0](value), f"{check[1]}, or null")


def _share(low: float, high: float, wording: str) -> _Check:
    def check(value: Any) -> bool:
        return isinstance(value, int | float) and not isinstance(value, bool) and low <= value < high

    return (check, wording)


def relative_inside(text: str) -> bool:
    """Whether a path is relative, without `..` and without a backslash: it stays below the folder it starts in."""
    parts = text.split("/")
    return bool(text) and "\\" not in text and "\0" not in text and not text.startswith("/") and ".." not in parts


def _roots(value: Any) -> bool:
    items = as_list(value)
    return bool(items) and all(isinstance(item, str) and relative_inside(item) for item in items)


_BOOL: Final[_Check] = (lambda value: isinstance(value, bool), "true or false")
_TEXT: Final[_Check] = (lambda value: as_text(value) is not None, "a non-blank string")

CHECKS: Final[Mapping[str, _Check]] = {
    "schemaVersion": (lambda value: as_integer(value) == 1, "1"),
    "profile": _choice("default", "strict"),
    "skillRoots": (_roots, "relative folders inside the root"),
    "entrySkill": _or_null(_TEXT),
    "deterministic": _or_null((lambda value: as_object(value) is not None, "an object")),
    "thresholds": (lambda value: as_object(value) is not None, "an object"),
    "minCasesPerCategory": _whole(1, 10_000),
    "vocabularyScope": _choice("skill", "repository"),
    "blindingSeed": (lambda value: isinstance(value, str), "a string"),
    "holdoutPolicy": _choice("auto", "sealed", "derived"),
    "holdoutRoot": _or_null(_TEXT),
    "canaries": _whole(0, 20),
    "freshnessScope": _choice("auto", "skill", "corpus"),
    "requireReceipt": _BOOL,
    "requireSignature": _BOOL,
    "bindResources": _BOOL,
    "maxAgeDays": _or_null(_whole(1, 36_500)),
    "maxMissingShare": _share(0, 1.000001, "a number from 0 to 1"),
    "confidence": _or_null(_share(0.5, 1, "a number from 0.5 to below 1")),
    "repeats": _whole(1, 100),
    "enterpriseGates": (lambda value: as_list(value) is not None, "a list"),
}


def _thresholds(value: Any, problems: list[Problem]) -> dict[str, int]:
    result = dict(DEFAULT_THRESHOLDS)
    for name, percent in (as_object(value) or {}).items():
        number = as_integer(percent)
        if name not in CONDITIONS:
            problems.append(Problem(("thresholds", name), "unknown", "expected one of the five conditions"))
        elif number is None or not DEFAULT_THRESHOLDS[name] <= number <= 100:
            wanted = f"expected a whole percent from {DEFAULT_THRESHOLDS[name]} to 100; thresholds can only be raised"
            problems.append(Problem(("thresholds", name), "range", wanted))
        else:
            result[name] = number
    return result


def _path(entry: Mapping[str, Any], key: str) -> str | None:
    text = as_text(entry.get(key))
    return text if text is not None and relative_inside(text) else None


_EVALUATOR_KEYS: Final = frozenset({"kind", "benchmark", "holdout", "result", "subjects", "argv"})


def _evaluators(value: Any, problems: list[Problem]) -> dict[str, Evaluator] | None:
    members = as_object(value)
    if members is None:
        return None
    result: dict[str, Evaluator] = {}
    for skill_id, raw in members.items():
        entry = as_object(raw) or {}
        benchmark, holdout, outcome = (_path(entry, key) for key in ("benchmark", "holdout", "result"))
        subjects = as_list(entry.get("subjects", [])) or []
        argv = as_list(entry.get("argv", [])) or []
        sound = (
            entry.get("kind") in EVALUATOR_KINDS
            and set(entry) <= _EVALUATOR_KEYS
            and all(isinstance(item, str) and relative_inside(item) for item in subjects)
            and all(isinstance(item, str) and item for item in argv)
            and bool(argv) == (entry.get("kind") == "command")
        )
        if not sound or benchmark is None or holdout is None or outcome is None:
            wanted = (
                "expected {kind, benchmark, holdout, result, subjects?} with relative paths, and argv for a command"
            )
            problems.append(Problem(("deterministic", skill_id), "shape", wanted))
            continue
        result[skill_id] = Evaluator(entry["kind"], benchmark, holdout, outcome, tuple(subjects), tuple(argv))
    return result


def _gates(value: Any, problems: list[Problem]) -> tuple[Gate, ...]:
    gates: list[Gate] = []
    for index, raw in enumerate(as_list(value) or []):
        entry = as_object(raw) or {}
        gate_id, path, age = as_text(entry.get("id")), _path(entry, "evidence"), as_integer(entry.get("maxAgeDays"))
        bound = entry.get("revisionBound")
        known = set(entry) == {"id", "evidence", "maxAgeDays", "revisionBound"}
        if not known or gate_id is None or path is None or age is None or age < 1 or not isinstance(bound, bool):
            wanted = "expected {id, evidence, maxAgeDays, revisionBound}"
            problems.append(Problem(("enterpriseGates", index), "shape", wanted))
        else:
            gates.append(Gate(gate_id, path, age, bound))
    if len({gate.gate_id for gate in gates}) != len(gates):
        problems.append(Problem(("enterpriseGates",), "duplicate", "expected distinct gate ids"))
    return tuple(gates)


def read_config(value: Any) -> tuple[Config, tuple[Problem, ...]]:
    """The effective configuration of a document (`{}` when there is none), and everything wrong with it.

    A wrong value counts as its default, so that one problem never hides another; callers refuse to work while
    there is any problem.
    """
    problems: list[Problem] = []
    given = as_object(value)
    if given is None:
        problems.append(Problem((), "type", "expected an object"))
        given = {}
    strict = given.get("profile") == "strict"
    effective: dict[str, Any] = {**DEFAULTS, **(STRICT if strict else {})}
    for key, item in given.items():
        if key not in DEFAULTS:
            problems.append(Problem((key,), "unknown", "expected a key of the configuration"))
        elif not CHECKS[key][0](item):
            problems.append(Problem((key,), "value", f"expected {CHECKS[key][1]}"))
        else:
            effective[key] = item
    thresholds = _thresholds(effective["thresholds"], problems)
    config = Config(
        strict=strict,
        skill_roots=tuple(effective["skillRoots"]),
        entry_skill=effective["entrySkill"],
        deterministic=_evaluators(effective["deterministic"], problems),
        thresholds=thresholds,
        min_cases=effective["minCasesPerCategory"],
        vocabulary_scope=effective["vocabularyScope"],
        blinding_seed=effective["blindingSeed"],
        holdout_policy=effective["holdoutPolicy"],
        holdout_root=effective["holdoutRoot"],
        canaries=effective["canaries"],
        freshness_scope=effective["freshnessScope"],
        require_receipt=effective["requireReceipt"],
        require_signature=effective["requireSignature"],
        bind_resources=effective["bindResources"],
        max_age_days=effective["maxAgeDays"],
        max_missing_share=float(effective["maxMissingShare"]),
        confidence=None if effective["confidence"] is None else float(effective["confidence"]),
        repeats=effective["repeats"],
        gates=_gates(effective["enterpriseGates"], problems),
        digest=sha256_hex(canonical({**effective, "thresholds": thresholds})),
    )
    return config, tuple(problems)
