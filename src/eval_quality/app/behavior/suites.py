"""Skill evals, trigger suites and evidence comparisons, from files (spec 11 §17.2, §17.8, spec 14 §16.3)."""

from typing import Any

from eval_quality.app.behavior.repository import Repository, skill_list
from eval_quality.app.files import read_bytes
from eval_quality.core.behavior.compare import diff
from eval_quality.core.behavior.documents import EVIDENCE
from eval_quality.core.behavior.draft7 import problems, summary
from eval_quality.core.behavior.frame import BundleRefused
from eval_quality.core.behavior.jsonish import JsonObject
from eval_quality.core.behavior.skill_evals import drafts, export_suite, read_suite
from eval_quality.core.behavior.triggers import export_queries, judge_triggers, read_queries
from eval_quality.errors import RuntimeFault
from eval_quality.value.scan import scan


def _read(path: str, name: str) -> Any:
    try:
        return scan(read_bytes(path, name, name), name)
    except RuntimeFault as fault:
        raise BundleRefused(f"{path}: not JSON: {fault.detail}") from fault


def _evidence(path: str, name: str) -> JsonObject:
    value = _read(path, name)
    if found := problems(EVIDENCE, value):
        raise BundleRefused(f"{path}: not an evidence file: {summary(found)}")
    return value


def diff_files(first: str, second: str) -> JsonObject:
    """The paired comparison of two evidence files. Raises `BundleRefused` for another shape or corpus."""
    return diff(_evidence(first, "A"), _evidence(second, "B"))


def import_evals(path: str) -> JsonObject:
    """Scenario drafts of an evals.json, either dialect."""
    return drafts(read_suite(_read(path, "FILE")))


def export_evals(repository: Repository, skill_id: str, dialect: str) -> JsonObject:
    """An evals.json of a skill's open base scenarios."""
    skill_list(repository.skills, [skill_id])
    chosen = [
        item for item in repository.scenarios_of(skill_id) if item.condition is None and "action" in item.expected
    ]
    return export_suite(skill_id, chosen, dialect)


def export_triggers(repository: Repository, skill_id: str) -> list[JsonObject]:
    """A trigger suite of a skill against its neighbours."""
    skill_list(repository.skills, [skill_id])
    return export_queries(skill_id, repository.scenarios)


def judge_trigger_files(results: str, control: str) -> JsonObject:
    """The verdict on trigger results, given a positive control's."""
    queries = read_queries(_read(results, "RESULTS"), results=True)
    return judge_triggers(queries, read_queries(_read(control, "--control"), results=True))
