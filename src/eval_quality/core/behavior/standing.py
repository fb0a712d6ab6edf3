"""One record per skill, and the status of the whole repository (spec 11 §9, §10, §13.1).

1. A skill bound to an evaluator is judged by running its benchmark and by its frozen holdout.
2. A skill with cases is judged by fresh provider evidence, and by nothing else.
3. A skill with neither is NOT_CHECKED.
4. Some things refuse a whole run, praise and blame alike: too many missing answers, signs that the oracle was known,
   fewer repeats than configured, a missing signature where one is required.
"""

from collections.abc import Callable, Mapping, Sequence

import msgspec

from eval_quality.core.behavior.config import Config
from eval_quality.core.behavior.evaluators import Outcome
from eval_quality.core.behavior.evidence import ABSENT, CaseResult, Loaded, header
from eval_quality.core.behavior.freshness import Fresh
from eval_quality.core.behavior.jsonish import JsonObject
from eval_quality.core.behavior.maturity import (
    OPEN,
    Record,
    Slice,
    Standard,
    Standing,
    open_slices,
    overall_status,
    skill_status,
)
from eval_quality.core.behavior.plan import Plan
from eval_quality.core.behavior.snapshots import Snapshot
from eval_quality.core.behavior.words import CONDITIONS, NOT_CHECKED, PASS

HOLDOUT_SEALED = "holdout-sealed"
NO_CASES = "no-provider-cases"
RESOURCES = "resources-changed"
NO_EFFECT = "no-measured-effect"


class Structure(msgspec.Struct, frozen=True):
    """The structural facts of one skill (spec 11 §10.3)."""

    skill_id: str
    source_available: bool
    structured: bool
    package_valid: bool
    runtime_integrated: bool
    routing: JsonObject | None = None


class Measured(msgspec.Struct, frozen=True):
    """What running a deterministic evaluator gave: the benchmark's outcomes, or why it did not run, and the holdout."""

    outcomes: tuple[Outcome, ...]
    snapshot: Snapshot
    problem: str = ""


class Evidence(msgspec.Struct, frozen=True):
    """Everything that was read about provider evidence."""

    loaded: Loaded
    fresh: Fresh
    sealed: Fresh
    violations: Mapping[str, int]
    """Per skill: violations that the rows alone do not show (malformed answers, repeats, pooled attempts)."""
    pooled: Mapping[str, Mapping[str, tuple[int, int]]]
    """Per skill and category (passed, total) over all attempts; empty unless the strict policy pools."""
    blocked: str = ""
    """Why the whole run counts neither way, or empty."""
    changed_resources: frozenset[str] = frozenset()
    lift: Mapping[str, JsonObject | None] = {}


def _standard(config: Config) -> Standard:
    return Standard(config.thresholds, config.min_cases, config.confidence)


def _deterministic(structure: Structure, measured: Measured, config: Config, gates: bool) -> Record:
    slices = _standard(config).slices(
        ((outcome.case.category, outcome.passed) for outcome in measured.outcomes),
        dict.fromkeys(CONDITIONS, measured.problem or "benchmark-absent"),
    )
    snapshot = measured.snapshot
    holdout = Standard(config.thresholds, config.min_cases, config.confidence)
    if snapshot.total:
        failed = snapshot.total - snapshot.passed
        rows = [("holdout", True)] * snapshot.passed + [("holdout", False)] * failed
        slices["holdout"] = holdout.slices(rows)["holdout"]
    else:
        slices["holdout"] = Slice(NOT_CHECKED, 0, 0, snapshot.reason)
    violations = sum(outcome.violated for outcome in measured.outcomes) + snapshot.violations
    status = skill_status(slices, violations)
    reason = next((slices[name].reason for name in CONDITIONS if slices[name].reason), "")
    warnings = ["instructions-not-measured: code is measured here, the text of the skill is not"]
    if snapshot.total and not snapshot.recomputed:
        warnings.append("holdout-counts-only: capture the holdout again for a snapshot that can be recomputed")
    return Record(
        structure.skill_id,
        _standing(structure, status, violations, (), gates),
        "deterministic",
        slices,
        reason if status == NOT_CHECKED else "",
        structure.routing,
        "committed",
        warnings=tuple(warnings),
        recomputed=snapshot.recomputed if snapshot.total else None,
    )


def _standing(structure: Structure, status: str, violations: int, degenerate: tuple[str, ...], gates: bool) -> Standing:
    return Standing(
        structure.source_available,
        structure.structured,
        structure.package_valid,
        structure.runtime_integrated,
        status,
        violations,
        degenerate,
        gates,
    )


def _slices(
    results: Sequence[CaseResult], pooled: Mapping[str, tuple[int, int]], config: Config, reasons: Mapping[str, str]
) -> dict[str, Slice]:
    outcomes = [(result.category, result.passed) for result in results]
    for category, (passed, total) in pooled.items():
        outcomes = [outcome for outcome in outcomes if outcome[0] != category]
        outcomes += [(category, True)] * passed + [(category, False)] * (total - passed)
    return _standard(config).slices(outcomes, reasons)


def _provider(
    structure: Structure,
    plan: Plan,
    evidence: Evidence,
    config: Config,
    battery: Callable[[str], tuple[str, ...]],
    gates: bool,
) -> Record:
    skill_id = structure.skill_id
    sealed = skill_id in plan.sealed_skills
    results = list(evidence.fresh.results.get(skill_id, ()))
    reasons: dict[str, str] = {}
    if skill_id not in evidence.fresh.results:
        reasons = dict.fromkeys(CONDITIONS, evidence.fresh.reasons[skill_id])
    if sealed:
        results += evidence.sealed.results.get(skill_id, ())
        reasons["holdout"] = evidence.sealed.reasons.get(skill_id, HOLDOUT_SEALED)
    changed = skill_id in evidence.changed_resources
    if changed and config.bind_resources:
        results, reasons = [], dict.fromkeys(CONDITIONS, RESOURCES)
    slices = _slices(results, evidence.pooled.get(skill_id, {}) if results else {}, config, reasons)
    violations = sum(result.violated for result in results)
    if results:
        violations = max(violations, evidence.violations.get(skill_id, 0))
    if evidence.blocked:
        slices = {name: Slice(NOT_CHECKED, part.total, part.passed, evidence.blocked) for name, part in slices.items()}
        status = NOT_CHECKED
    else:
        status = skill_status(slices, violations)
    lift = evidence.lift.get(skill_id)
    warnings = [RESOURCES] if changed and not config.bind_resources else []
    if status == PASS and lift is not None and lift["lift"] <= 0:
        warnings.append(NO_EFFECT)
    open_reason = next((slices[name].reason for name in CONDITIONS if slices[name].reason), "")
    return Record(
        skill_id,
        _standing(structure, status, violations, battery(skill_id) if status == PASS else (), gates),
        "provider",
        slices,
        open_reason if status == NOT_CHECKED else "",
        structure.routing,
        "sealed" if sealed else "derived",
        lift,
        tuple(warnings),
    )


def records(
    structures: Sequence[Structure],
    plan: Plan,
    measured: Mapping[str, Measured],
    evidence: Evidence,
    config: Config,
    battery: Callable[[str], tuple[str, ...]],
    *,
    gates_passed: bool = False,
) -> list[Record]:
    """The record of every skill, in catalogue order. `battery` names the degenerate answers that would pass a skill."""
    result: list[Record] = []
    for structure in structures:
        skill_id = structure.skill_id
        if skill_id in measured:
            result.append(_deterministic(structure, measured[skill_id], config, gates_passed))
        elif skill_id in plan.per_skill:
            result.append(_provider(structure, plan, evidence, config, battery, gates_passed))
        else:
            standing = _standing(structure, NOT_CHECKED, 0, (), gates_passed)
            slices = open_slices("no-scenarios")
            result.append(Record(skill_id, standing, "none", slices, "no-scenarios", structure.routing))
    return result


def bundle_status(found: Sequence[Record], evidence: Evidence) -> tuple[str, bool, str]:
    """(status, fresh, reason) of the provider evidence as a whole (spec 11 §9, §13.1)."""
    provider = [record for record in found if record.evidence == "provider"]
    if not provider:
        return NOT_CHECKED, False, NO_CASES
    if evidence.loaded.code is not None:
        return NOT_CHECKED, False, evidence.loaded.reason
    if evidence.blocked:
        return NOT_CHECKED, True, evidence.blocked
    status = overall_status([record.standing.status for record in provider])
    counts = [sum(record.standing.status == word for record in provider) for word in ("PASS", "FAIL", NOT_CHECKED)]
    return status, True, f"{counts[0]} PASS, {counts[1]} FAIL, {counts[2]} NOT_CHECKED of {len(provider)} skills"


def status_value(
    found: Sequence[Record], plan: Plan, evidence: Evidence, config: Config, attempts: int, *, with_cases: bool = False
) -> JsonObject:
    """The payload of `behavior-eval status` (spec 11 §13.1). No oracle leaves unless cases are asked for (W36)."""
    status, fresh, reason = bundle_status(found, evidence)
    value: JsonObject = {"status": status, "fresh": fresh, "reason": reason}
    document = evidence.loaded.document
    if fresh and document is not None:
        value["snapshot"] = dict(document) if with_cases else header(document)
    return {
        **value,
        "corpusSha256": plan.open.corpus,
        "oracleSha256": plan.open.oracle,
        "total": plan.open.total,
        "attempts": attempts,
        "thresholds": dict(config.thresholds),
        "repositoryWide": _repository_wide(found, config),
        "skills": [record.value() for record in found],
    }


def _repository_wide(found: Sequence[Record], config: Config) -> JsonObject:
    """The five slices over all provider-scored skills: reported, and never standing in for a skill (§17.10)."""
    provider = [record for record in found if record.evidence == "provider"]
    rows: list[tuple[str, bool]] = []
    for record in provider:
        for name in CONDITIONS:
            part = record.slices.get(name, OPEN)
            rows += [(name, True)] * part.passed + [(name, False)] * (part.total - part.passed)
    return {name: part.value() for name, part in _standard(config).slices(rows).items()}


ABSENT_EVIDENCE = Loaded(ABSENT, "no evidence has been scored yet")
