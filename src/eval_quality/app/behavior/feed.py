"""`skills list` and `skills inspect`: the catalogue feed (spec 11 §10.5)."""

import os

from eval_quality.app.behavior.measured import Bench, evaluation_report
from eval_quality.app.behavior.registry import feed_members
from eval_quality.app.behavior.repository import Repository, skill_list
from eval_quality.app.behavior.status import Look
from eval_quality.app.behavior.store import repository_state
from eval_quality.core.behavior.jsonish import JsonObject, as_object
from eval_quality.core.behavior.maturity import Record
from eval_quality.core.behavior.package import CATEGORIES


def _entry(repository: Repository, record: Record, revision: str | None, target: str) -> JsonObject:
    folder = repository.skills[record.skill_id]
    counts = {name: len(folder.of_kind(name)) for name in CATEGORIES}
    known, holdout = record.slices["known"], record.slices["holdout"]
    standing = record.standing
    installed = os.path.isfile(os.path.join(target, ".agents", "skills", record.skill_id, "SKILL.md"))
    return {
        "id": record.skill_id,
        "name": folder.front_matter.name or record.skill_id,
        "description": folder.description,
        **feed_members(repository.registry.entries.get(record.skill_id, {})),
        "sourceAvailable": standing.source_available,
        "installedInTarget": installed,
        "isInstalled": installed,
        "skillPath": folder.relative,
        "profile": folder.profile,
        "manifestExists": folder.profile == "package",
        "packageValid": standing.package_valid,
        "runtimeIntegrated": standing.runtime_integrated,
        "behaviorallyProven": record.maturity in ("M4", "M5"),
        "enterpriseReady": record.maturity == "M5",
        "maturity": record.maturity,
        "status": standing.status,
        "reason": record.reason,
        "resourceCounts": {**counts, "total": len(folder.resources)},
        "evalScenariosCount": len(repository.scenarios_of(record.skill_id)),
        "knownCases": {
            "executed": known.total,
            "passed": known.passed,
            "passRate": known.pass_rate,
            "status": known.status,
        },
        "holdout": holdout.value(),
        "lastEvalVerdict": known.status,
        "lastEvaluatedRevision": revision if known.total else None,
    }


def feed(repository: Repository, seen: Look, target: str) -> list[JsonObject]:
    """One entry a skill, in catalogue order. `target` is the folder whose installed skills are looked up."""
    revision, _dirty = repository_state(repository.root)
    return [_entry(repository, record, revision, target) for record in seen.records]


def inspect(repository: Repository, seen: Look, target: str, skill_id: str) -> JsonObject:
    """One entry with its package record, scenarios and behaviour. Raises `RepositoryRefused` for an unknown id."""
    skill_list(repository.skills, [skill_id])
    record = next(record for record in seen.records if record.skill_id == skill_id)
    folder = repository.skills[skill_id]
    revision, _dirty = repository_state(repository.root)
    return {
        **_entry(repository, record, revision, target),
        "package": {
            "id": skill_id,
            "valid": folder.valid,
            "entryExists": bool(folder.instruction),
            **{f"{name.removesuffix('s')}Count": len(folder.of_kind(name)) for name in CATEGORIES},
            "totalResources": len(folder.resources),
            "resources": [item.value(folder.folder) for item in folder.resources],
            "errors": list(folder.errors),
        },
        # Identities and sources only: expected and forbidden answers stay in the files.
        "scenarios": [
            {"id": scenario.scenario_id, "source": scenario.source, "family": scenario.family}
            for scenario in repository.scenarios_of(skill_id)
        ],
        "record": record.value(),
        "evaluation": _evaluation(repository, skill_id),
    }


def _evaluation(repository: Repository, skill_id: str) -> JsonObject | None:
    """The run report of a deterministic skill: rates, precision, recall and confusion, without the cases."""
    if skill_id not in repository.evaluators:
        return None
    outcomes = Bench(repository, skill_id).measure().outcomes
    return without_cases(evaluation_report(repository, skill_id, outcomes))


def without_cases(value: JsonObject) -> JsonObject:
    """A report without any `cases` member, at any depth: those name the right answers."""
    return {
        key: item if (members := as_object(item)) is None else without_cases(members)
        for key, item in value.items()
        if key != "cases"
    }
