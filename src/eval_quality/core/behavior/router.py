"""The reference's router policy as a table (spec 11 §11.2): a task text to a skill id.

A row adds its weight once when any trigger is present and no suppressor is. Whole words stand between word
boundaries, every other trigger is a substring. Selection: `fable-recover` at 8 or more wins outright, else the highest
score, ties by catalogue order; the entry skill is never selected.
"""

import re
from collections import Counter
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

CATALOGUE: Final[tuple[str, ...]] = (
    "get-fable",
    "fable-discover",
    "fable-research",
    "fable-plan",
    "fable-tdd",
    "fable-delegate",
    "fable-execute",
    "fable-verify",
    "fable-review",
    "fable-security",
    "fable-release",
    "fable-handoff",
    "fable-eval",
    "fable-recover",
    "fable-dataviz",
    "fable-artifact",
    "fable-simplify",
    "fable-loop",
    "fable-run",
    "fable-memory",
    "fable-config",
    "fable-simulator",
    "fable-cowork",
    "fable-spark",
    "skill-creator",
)

MAX_TASK: Final = 20_000
"""Characters of a task that are looked at: patterns with a gap are quadratic in the worst case."""


class Row(NamedTuple):
    """One skill's triggers. `heavy` raises the weight to `heavy_weight`; `unless` switches the row off."""

    skill_id: str
    weight: int
    triggers: str
    unless: str = ""
    heavy: str = ""
    heavy_weight: int = 0


def _words(*words: str) -> str:
    return r"\b(?:" + "|".join(words) + r")\b"


def _near(first: str, second: str, gap: int) -> str:
    return rf"{first}[^.]{{0,{gap}}}{second}"


def _any(*patterns: str) -> str:
    return "|".join(patterns)


_APOSTROPHE: Final = "['’`]?"

ROWS: Final = (
    Row(
        "fable-recover",
        9,
        _any(
            "cache",
            rf"didn{_APOSTROPHE}t work",
            rf"doesn{_APOSTROPHE}t work",
            "failed twice",
            "fails twice",
            "keeps? failing",
            "no effect",
            "retry",
            "same (?:command|failure|fix|test)",
            "stale",
            "still fail",
            "wrong branch",
            "wrong build",
        ),
    ),
    Row(
        "fable-security",
        9,
        _any(
            _words(
                "authentication",
                "authorization",
                "csrf",
                "injection",
                "oauth",
                "secrets?",
                "security",
                "ssrf",
                "vulnerabilit(?:y|ies)",
                "xss",
            ),
            "threat model",
            "untrusted input",
        ),
        unless=_any(
            "no security (?:behavior|boundary|change|logic|behaviors|boundaries|changes|logics)",
            "security (?:review|work) (?:is )?not (?:needed|required)",
            "not (?:a )?security (?:change|review|task)",
        ),
    ),
    Row(
        "fable-release",
        8,
        _any(
            _words("publish", "release", "ship", "tag"),
            "create (?:a )?pull request",
            "merge (?:now|the pr|this)",
            "open (?:a )?pr",
            "pull request readiness",
            "ready (?:for|to) (?:merge|publish|release)",
            "ready for pr",
        ),
        unless=_any(
            rf"(?:do not|don{_APOSTROPHE}t) (?:publish|release|ship|tag)",
            "not ready to (?:publish|release|ship)",
            "(?:publish|release|ship) (?:is )?out of scope",
        ),
    ),
    Row(
        "fable-handoff",
        12,
        _any(
            _words("handoff"),
            "context transfer",
            "continue later",
            "next session",
            "pass this to another agent",
            "resume later",
        ),
    ),
    Row(
        "fable-eval",
        8,
        _any(
            _words("benchmark", "eval", "evaluate"),
            "agent control",
            "holdout",
            "prompt quality",
            "regression suite for (?:agent|prompt|skill)",
            "self[ -]improv",
            "skill quality",
        ),
    ),
    Row(
        "fable-review",
        8,
        _any(
            "code review",
            "critique (?:the )?changed files",
            "independently critique",
            "review changed files",
            "review (?:the |this )?(?:branch|commit|diff|pr)",
            "spec review",
            "standards review",
        ),
    ),
    Row(
        "fable-verify",
        7,
        _any(
            _words("prove", "validate", "verify"),
            "acceptance check",
            "completion evidence",
            "is this correct",
            "ready to ship",
            "regression check",
        ),
    ),
    Row(
        "fable-research",
        8,
        _any(
            "current api",
            _near("current official behavior", "(?:external )?api", 80),
            "current version",
            "external documentation",
            "latest (?:official )?(?:api )?(?:behavior|docs|documentation|release|version)",
            "official (?:api )?docs",
            _near("official behavior", "api", 80),
            "primary source",
            "release notes",
            "web research",
        ),
        unless=_any(
            "(?:web|external) research (?:is )?not needed",
            "do not (?:do|perform|use) (?:external|web) research",
            "no (?:external|web) research",
        ),
    ),
    Row(
        "fable-discover",
        6,
        _any(
            _words("explore", "inspect", "trace"),
            "current repository (?:behaves|behavior)",
            "execution path",
            "find where",
            "not knowing",
            "repository behavior",
            _near("understand (?:how|why)", "repository", 100),
            "understand the repo",
            "unknown",
            "without knowing",
        ),
        heavy=_any(
            "execution path",
            "inspect (?:a |the |this )?(?:local )?repository",
            _near("trace", "repository", 80),
            _near("understand (?:how|why)", "repository", 100),
        ),
        heavy_weight=10,
    ),
    Row(
        "fable-delegate",
        8,
        _any(
            _words("delegate", "subagents?"),
            "disjoint ownership",
            "independent tasks",
            "independent work items",
            "multi[ -]agent",
            "parallel agents",
            "parallel workers",
            "proceed in parallel",
            "split across agents",
        ),
    ),
    Row(
        "fable-plan",
        6,
        _any(
            _words("architecture", "design", "migration", "plan", "refactor"),
            "end to end",
            "modular",
            "multi[ -]file",
            "redesign",
            "restructure",
        ),
    ),
    Row(
        "fable-dataviz",
        10,
        _words("chart", "dashboard", "dataviz", "graph", "heatmap", "kpi row", "metric tile", "plot", "visualization"),
    ),
    Row("fable-artifact", 12, _words("artifact", "diagram", "interactive component", "mermaid")),
    Row("fable-simplify", 10, _words("altitude", "clean up", "dead code", "deduplicate", "simplify")),
    Row("fable-loop", 10, _words("babysit", "interval", "loop", "poll", "recurring")),
    Row("fable-run", 10, _words("launch app", "live smoke test", "run app", "run the app", "start server")),
    Row(
        "fable-memory",
        10,
        _any(_words("memory", "remember", "user preference"), r"memory\.md", r"\brecall fact"),
    ),
    Row("fable-config", 12, _words("allowlist", "configure hooks", "harness", "keybindings", r"settings\.json")),
    Row(
        "fable-simulator",
        10,
        _any(
            _words("simulator"),
            "causal evidence matrix",
            "derive contract",
            "headless browser",
            "independent oracle",
        ),
    ),
    Row(
        "fable-cowork",
        10,
        _any(_words("cowork"), "autonomous (?:execution|mode|task)", "background mode", "clean tool"),
    ),
    Row(
        "fable-spark",
        10,
        _any(_words("spark"), "predict (?:the )?next move", "situational awareness", "smallest action"),
    ),
    Row(
        "skill-creator",
        12,
        _any(
            _words("skill-creator"),
            "author skill",
            "benchmark skill",
            "create (?:a )?skill",
            "eval suite",
            "optimize skill description",
        ),
    ),
    Row(
        "fable-tdd",
        10,
        _any(
            _words("bug fix", "regressed", "tdd"),
            "add a feature",
            "behavior change",
            _near("failing test", "(?:before|first)", 100),
            _near(_words("fix"), _words("error", "exception", "regression"), 80),
            "fix the bug",
            "implement a feature",
            "red[ -]green",
            "regression test",
            "test[ -]first",
        ),
        unless=_any(
            _near("no", "behavior changes?", 40),
            "without (?:changing|a change to) behavior",
            "not (?:a )?behavior change",
        ),
    ),
    Row(
        "fable-execute",
        3,
        _words("add", "build", "change", "fix", "implement", "remove", "rename", "update"),
    ),
)
"""Rows in the order of spec 11 §11.2."""

_COMPILED: Final = tuple(
    (
        row,
        re.compile(row.triggers),
        re.compile(row.unless) if row.unless else None,
        re.compile(row.heavy) if row.heavy else None,
    )
    for row in ROWS
)

RECOVER_WINS: Final = 8


class Route(NamedTuple):
    """The skill selected, its score and the stated confidence."""

    skill_id: str
    score: int
    confidence: float


def route(task: str, state: Mapping[str, Any] | None = None) -> Route:
    """Select the skill for a task. Raises `ValueError` for a blank task."""
    text = task.strip().lower()[:MAX_TASK]
    if not text:
        raise ValueError("a task to route must not be blank")
    scores: Counter[str] = Counter({"fable-execute": 1})
    facts = state or {}
    if facts.get("failureStreak", 0) >= 2:
        scores["fable-recover"] += 8
    if facts.get("phase") == "recovering":
        scores["fable-recover"] += 6
    if facts.get("phase") == "verifying":
        scores["fable-verify"] += 3
    for row, triggers, unless, heavy in _COMPILED:
        if triggers.search(text) is None or (unless is not None and unless.search(text) is not None):
            continue
        scores[row.skill_id] += row.heavy_weight if heavy is not None and heavy.search(text) else row.weight
    ranked = sorted(CATALOGUE[1:], key=lambda name: (-scores[name], CATALOGUE.index(name)))
    winner, second = ranked[0], ranked[1]
    if scores["fable-recover"] >= RECOVER_WINS and winner != "fable-recover":
        winner, second = "fable-recover", winner
    margin = max(0, scores[winner] - scores[second])
    confidence = min(0.99, max(0.51, 0.56 + 0.025 * scores[winner] + 0.035 * margin))
    return Route(winner, scores[winner], round(confidence, 2))
