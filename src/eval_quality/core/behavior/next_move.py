"""The reference's next-move policy as a decision table (spec 11 §11.3): a state to a suggestion, or silence.

The first matching row decides. A suggestion has 2 to 12 words and opens with no filler; otherwise it is silence.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

import msgspec

from eval_quality.core.behavior.jsonish import JsonObject, as_integer, as_list, as_object, as_text, texts

INITIAL_STATE: Final[Mapping[str, Any]] = {
    "phase": "idle",
    "currentSkill": None,
    "failureStreak": 0,
    "substantial": False,
    "mutationGeneration": 0,
    "verifiedGeneration": -1,
    "activeCard": None,
    "evidence": [],
}

BUILD_SOURCES: Final = ("esbuild", "webpack", "tsconfig", "package.json", "vite.config", "rollup", "styles", "css")
FILLERS: Final = ("i will", "let's", "you should", "please", "great", "note", "warning")
MIN_WORDS: Final = 2
MAX_WORDS: Final = 12


class Facts:
    """One case's `given` over the initial state."""

    def __init__(self, given: Mapping[str, Any]) -> None:
        state: JsonObject = {**INITIAL_STATE, **(as_object(given.get("state")) or {})}
        self.phase: Any = state["phase"]
        self.skill: Any = state["currentSkill"] or ""
        self.failures = as_integer(state["failureStreak"]) or 0
        self.mutations = as_integer(state["mutationGeneration"]) or 0
        verified = as_integer(state["verifiedGeneration"])
        self.stale = (
            self.mutations > 0
            and self.mutations > (-1 if verified is None else verified)
            and self.phase not in ("idle", "discovering")
        )
        self.records = [record for item in as_list(state["evidence"]) or [] if (record := as_object(item)) is not None]
        self.intent = (as_text(given.get("userIntent")) or "").lower()
        self.error = (as_text(given.get("latestError")) or "").lower()
        self.source = (as_text(given.get("latestMutationSource")) or "").lower()
        self.card = (as_text(given.get("activeCardText")) or as_text(state["activeCard"]) or "").lower()
        self.open_cards = texts(given.get("openCards"))

    def mentions(self, *words: str) -> bool:
        """Whether intent and card together contain one of these words."""
        text = f"{self.intent} {self.card}"
        return any(word in text for word in words)

    def has_record(self, kind: str, result: str | None = None) -> bool:
        """Whether a record of this kind (and result) exists."""
        return any(
            record.get("kind") == kind and (result is None or record.get("result") == result) for record in self.records
        )


class Move(NamedTuple):
    """What the policy says. `suggestion` is None for silence."""

    suggestion: str | None
    reason_code: str
    confidence: float
    source: str


def _diagnose(facts: Facts) -> str:
    kind = next((f"{word} " for word in ("integration", "migration") if word in facts.error), "")
    return f"diagnose the repeated {kind}failure"


def _repairs(facts: Facts) -> bool:
    return (
        facts.stale
        and facts.skill == "fable-security"
        and facts.has_record("security", "pass")
        and facts.mentions("bug", "fix", "regression", "repair")
    )


def _intent_has(*words: str) -> Callable[[Facts], bool]:
    return lambda facts: facts.phase == "idle" and any(word in facts.intent for word in words)


class Rule(msgspec.Struct, frozen=True):
    """One row of spec 11 §11.3."""

    applies: Callable[[Facts], bool]
    suggestion: str | Callable[[Facts], str] | None
    reason_code: str
    confidence: float
    source: str


def _skill(name: str) -> Callable[[Facts], bool]:
    return lambda facts: facts.skill == f"fable-{name}"


RULES: Final[tuple[Rule, ...]] = (
    Rule(lambda f: f.phase == "complete" and f.skill != "fable-handoff", None, "scope-complete-silent", 0.0, "none"),
    Rule(
        lambda f: f.failures >= 2 or f.phase == "recovering",
        _diagnose,
        "failure-loop-diagnose-required",
        0.95,
        "failure-loop",
    ),
    Rule(
        lambda f: f.stale and any(name in f.source for name in BUILD_SOURCES),
        "run the build",
        "build-verification-stale",
        0.94,
        "mutation-delta",
    ),
    Rule(_repairs, "verify the repaired behavior", "security-does-not-prove-functional-repair", 0.92, "missing-gate"),
    Rule(
        lambda f: f.stale and f.mentions("refresh"),
        "run the affected refresh tests",
        "verification-stale-after-mutation",
        0.93,
        "mutation-delta",
    ),
    Rule(lambda f: f.stale, "run the affected tests", "verification-stale-after-mutation", 0.92, "mutation-delta"),
    Rule(
        lambda f: f.skill == "fable-tdd" and not f.has_record("test", "fail") and f.mutations == 0,
        "write the failing test",
        "tdd-missing-failing-test",
        0.91,
        "missing-gate",
    ),
    Rule(
        lambda f: f.skill == "fable-review" and "finding" in f.card,
        "fix the review finding",
        "review-finding-unaddressed",
        0.90,
        "active-card",
    ),
    Rule(
        lambda f: f.skill == "fable-review" and not f.has_record("review"),
        "review the diff",
        "diff-unreviewed",
        0.89,
        "missing-gate",
    ),
    Rule(_skill("research"), "check the current official docs", "external-research-required", 0.88, "missing-gate"),
    Rule(
        lambda f: f.skill == "fable-delegate" and len(f.open_cards) > 1,
        "delegate the independent cards",
        "independent-cards-delegation",
        0.89,
        "missing-gate",
    ),
    Rule(_skill("release"), "check release readiness", "release-verification-ready", 0.90, "missing-gate"),
    Rule(_skill("handoff"), "prepare the handoff", "continuity-handoff-ready", 0.91, "missing-gate"),
    Rule(_intent_has("bug", "fix", "regression"), "reproduce the bug", "intake-reproduce-bug", 0.88, "missing-gate"),
    Rule(_intent_has("doc", "api"), "check the official docs", "intake-check-docs", 0.88, "missing-gate"),
    Rule(
        lambda f: f.phase == "idle" and bool(f.intent), "route the task", "intake-route-task", 0.85, "lifecycle-state"
    ),
    Rule(lambda f: f.phase == "idle", None, "idle-no-intent-silent", 0.0, "none"),
    Rule(lambda _f: True, None, "silent-no-obvious-move", 0.0, "none"),
)


def well_worded(suggestion: str) -> bool:
    """Whether a suggestion may be spoken: 2 to 12 words, no filler in front."""
    words = suggestion.split()
    return MIN_WORDS <= len(words) <= MAX_WORDS and not suggestion.lower().startswith(FILLERS)


def next_move(given: Mapping[str, Any]) -> Move:
    """The first row that applies, as a move."""
    facts = Facts(given)
    rule = next(rule for rule in RULES if rule.applies(facts))
    text = rule.suggestion(facts) if callable(rule.suggestion) else rule.suggestion
    if text is not None and not well_worded(text):
        text = None
    return Move(text, rule.reason_code, rule.confidence, rule.source)
