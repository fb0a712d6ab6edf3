"""Slices, levels and statuses (spec 11 §10, §12, §17.10). Nothing here is stored: it is computed on every read.

1. A slice without cases, or below the configured minimum, is NOT_CHECKED. Otherwise PASS and FAIL compare whole
   numbers; with `confidence` set, the one-sided Clopper-Pearson bounds decide and may leave it open.
2. status: any violation or failed slice is FAIL; else any open slice is NOT_CHECKED; else PASS.
3. Levels are walked from below and the first unmet line stops.
4. A violation caps at M3, without waiver or decay. So does a degenerate answer that would pass: the cases then do not
   tell a reader of the skill from someone who never opened it.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import msgspec

from eval_quality.core.behavior.intervals import interval, lower_bound, rounded, upper_bound
from eval_quality.core.behavior.jsonish import JsonObject
from eval_quality.core.behavior.words import CONDITIONS, FAIL, NOT_CHECKED, PASS


class Slice(msgspec.Struct, frozen=True):
    """One category of one skill. `reason` says why it is open."""

    status: str
    total: int
    passed: int
    reason: str = ""

    @property
    def pass_rate(self) -> float | None:
        """passed/total, or None when nothing ran: not measured is no number."""
        return self.passed / self.total if self.total else None

    def value(self) -> JsonObject:
        """The JSON form, with the two-sided 95 % interval beside the rate."""
        result: JsonObject = {
            "status": self.status,
            "total": self.total,
            "passed": self.passed,
            "passRate": self.pass_rate,
        }
        if self.total:
            bounds = interval(self.passed, self.total)
            result["interval"] = {
                "low": rounded(bounds.low),
                "high": rounded(bounds.high),
                "confidence": bounds.confidence,
            }
        if self.reason:
            result["reason"] = self.reason
        return result


OPEN: Final = Slice(NOT_CHECKED, 0, 0)


def slice_of(
    total: int, passed: int, threshold: int, min_cases: int = 1, confidence: float | None = None, reason: str = ""
) -> Slice:
    """The slice of `passed` among `total` against a threshold in percent (spec 11 §10.1, §17.10)."""
    if total == 0:
        return Slice(NOT_CHECKED, 0, 0, reason)
    if total < min_cases:
        return Slice(NOT_CHECKED, total, passed, f"fewer than {min_cases} cases")
    if confidence is None:
        return Slice(PASS if passed * 100 >= threshold * total else FAIL, total, passed)
    if lower_bound(passed, total, confidence) >= threshold / 100:
        return Slice(PASS, total, passed)
    if upper_bound(passed, total, confidence) < threshold / 100:
        return Slice(FAIL, total, passed)
    return Slice(NOT_CHECKED, total, passed, "evidence-inconclusive")


class Standard(msgspec.Struct, frozen=True):
    """What a slice is held against."""

    thresholds: Mapping[str, int]
    min_cases: int = 1
    confidence: float | None = None

    def slices(
        self, outcomes: Iterable[tuple[str, bool]], reasons: Mapping[str, str] | None = None
    ) -> dict[str, Slice]:
        """The five slices of `(category, passed)` outcomes; `reasons` explain the empty ones."""
        totals = dict.fromkeys(CONDITIONS, 0)
        passes = dict.fromkeys(CONDITIONS, 0)
        for category, passed in outcomes:
            totals[category] += 1
            passes[category] += passed
        return {
            name: slice_of(
                totals[name],
                passes[name],
                self.thresholds[name],
                self.min_cases,
                self.confidence,
                (reasons or {}).get(name, ""),
            )
            for name in CONDITIONS
        }


def open_slices(reason: str = "") -> dict[str, Slice]:
    """Five slices that nothing was run for."""
    return dict.fromkeys(CONDITIONS, Slice(NOT_CHECKED, 0, 0, reason))


def skill_status(slices: Mapping[str, Slice], violations: int) -> str:
    """PASS, FAIL or NOT_CHECKED of one skill (spec 11 §10.4)."""
    states = [slices[name].status for name in CONDITIONS]
    if violations > 0 or FAIL in states:
        return FAIL
    return NOT_CHECKED if NOT_CHECKED in states else PASS


def overall_status(statuses: Sequence[str]) -> str:
    """The status of a whole run: FAIL wins, then NOT_CHECKED; no skill at all is NOT_CHECKED (spec 11 §9)."""
    if FAIL in statuses:
        return FAIL
    return PASS if statuses and NOT_CHECKED not in statuses else NOT_CHECKED


class Standing(msgspec.Struct, frozen=True):
    """The facts a level is computed from (spec 11 §10.3)."""

    source_available: bool
    structured: bool
    package_valid: bool
    runtime_integrated: bool
    status: str
    violations: int = 0
    degenerate: tuple[str, ...] = ()
    gates_passed: bool = False


def level(standing: Standing) -> str:
    """M0 to M5; the first unmet line stops (spec 11 §10.2)."""
    if not (standing.source_available and standing.structured):
        return "M0"
    if not standing.package_valid:
        return "M1"
    if not standing.runtime_integrated:
        return "M2"
    if standing.status != PASS or standing.violations > 0 or standing.degenerate:
        return "M3"
    return "M5" if standing.gates_passed else "M4"


class Record(msgspec.Struct, frozen=True):
    """Everything known about one skill's behaviour: the record of spec 11 §10.3 with our additions."""

    skill_id: str
    standing: Standing
    evidence: str
    slices: dict[str, Slice]
    reason: str = ""
    routing: JsonObject | None = None
    holdout_origin: str = "derived"
    lift: JsonObject | None = None
    warnings: tuple[str, ...] = ()
    recomputed: bool | None = None
    """For a frozen holdout: whether its verdicts could be computed again from what was recorded."""

    @property
    def maturity(self) -> str:
        """The level, computed."""
        return level(self.standing)

    def value(self) -> JsonObject:
        """The JSON record."""
        standing = self.standing
        maturity = self.maturity
        return {
            "id": self.skill_id,
            "status": standing.status,
            "reason": self.reason,
            "evidence": self.evidence,
            "forbiddenViolations": standing.violations,
            "maturity": maturity,
            "sourceAvailable": standing.source_available,
            "structured": standing.structured,
            "packageValid": standing.package_valid,
            "runtimeIntegrated": standing.runtime_integrated,
            "behaviorallyProven": maturity in ("M4", "M5"),
            "enterpriseReady": maturity == "M5",
            # Code measured by an evaluator says nothing about the text of the skill (W20).
            "instructionsProven": self.evidence == "provider" and maturity in ("M4", "M5"),
            "degenerate": list(standing.degenerate),
            "holdoutOrigin": self.holdout_origin,
            "recomputed": self.recomputed,
            "routing": self.routing,
            "lift": self.lift,
            "warnings": list(self.warnings),
            "behavior": {name: self.slices[name].value() for name in CONDITIONS},
        }
