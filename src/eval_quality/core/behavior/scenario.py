"""Scenario files to scenarios, with every finding about them (spec 11 §2, §5.2.2, §17.2).

A scenario is accepted when

1. it has an `id` that nothing else in the repository has,
2. `given` (a non-object counts as `{}`) uses none of the generator's keys and no key that names the answer side,
3. `expected.action` is a non-blank string and the other oracle members have their types,
4. the expected answer would not itself violate `forbidden`, spelling variants included,
5. no member of either oracle is silently ignored.

Everything else is a `corpus-integrity` finding. An empty `forbidden` counts as absent: it would match every answer.
Scenarios of a skill bound to a deterministic evaluator need something that evaluator can check instead of rule 3.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import msgspec

from eval_quality.core.behavior.findings import ERROR, WARN, Finding
from eval_quality.core.behavior.jsonish import JsonObject, as_list, as_object, as_text, walk
from eval_quality.core.behavior.score import violates
from eval_quality.core.behavior.words import (
    CONDITIONS,
    DETERMINISTIC_FIELDS,
    HIDDEN_KEYS,
    LIST_FIELDS,
    ORACLE_FIELDS,
    RESERVED_GIVEN_KEYS,
    SUSPECT_KEYS,
    TEXT_FIELDS,
)

MAX_SCENARIOS = 10_000
"""Scenarios one file may hold: a file of a few bytes each would otherwise become gigabytes of requests."""

EVALUATED_FIELDS: Final = ("suggestion", "silent", "reasonCode", "fresh", "completionAllowed", "action")
"""What some deterministic evaluator may check. `action` is kept readable and reported as not executed."""

MEMBERS: Final = frozenset({"id", "description", "given", "expected", "forbidden", "condition", "family", "burned"})


class Scenario(msgspec.Struct, frozen=True):
    """One accepted scenario. `condition` is None for the base of a family; `forbidden` is None when absent."""

    skill_id: str
    scenario_id: str
    family: str
    condition: str | None
    given: JsonObject
    expected: JsonObject
    forbidden: JsonObject | None
    description: str
    source: str
    sealed: bool = False


def scenario_items(document: Any) -> list[Any] | None:
    """The scenario list of a file: an array, or an object with a `scenarios` array (spec 11 §2.1)."""
    members = as_object(document)
    return as_list(document if members is None else members.get("scenarios"))


def _folded(key: str) -> str:
    return key.lower().replace("_", "").replace("-", "")


def key_findings(given: JsonObject, skill_id: str, where: str) -> list[Finding]:
    """Keys of `given` that would give the answer side away, or that belong to the generator (spec 11 §5.2.2)."""
    findings = [
        Finding(ERROR, "reserved-key", skill_id, where, f"given.{key} belongs to the generator; rename it")
        for key in RESERVED_GIVEN_KEYS
        if key in given
    ]
    for path, value in walk(given):
        for key in as_object(value) or {}:
            place = ".".join(str(step) for step in (*path, key))
            if _folded(key) in HIDDEN_KEYS:
                findings.append(Finding(ERROR, "hidden-key", skill_id, where, f"given.{place} names the answer side"))
            elif _folded(key) in SUSPECT_KEYS:
                findings.append(
                    Finding(WARN, "suspect-key", skill_id, where, f"given.{place} may name the answer side")
                )
    return findings


def read_oracle(raw: Any, name: str) -> tuple[JsonObject, list[str]]:
    """The scored members of `expected` or `forbidden`, and what is wrong with the rest."""
    members = as_object(raw)
    if members is None:
        return {}, ([] if raw is None else [f"{name} must be an object"])
    oracle: JsonObject = {}
    problems: list[str] = []
    for key, value in members.items():
        if key in TEXT_FIELDS:
            sound = as_text(value) is not None
        elif key in LIST_FIELDS:
            sound = as_list(value) is not None and all(isinstance(item, str) and item for item in value)
        elif key in DETERMINISTIC_FIELDS:
            continue  # read by an evaluator, never by a provider's scorer
        else:
            problems.append(f"{name}.{key} is not a member that anything scores")
            continue
        if sound:
            oracle[key] = value
        else:
            wanted = "a non-blank string" if key in TEXT_FIELDS else "a list of non-empty strings"
            problems.append(f"{name}.{key} must be {wanted}")
    return {key: oracle[key] for key in ORACLE_FIELDS if key in oracle}, problems


def _executable(members: Mapping[str, Any], deterministic: bool) -> str | None:
    expected = as_object(members.get("expected")) or {}
    if deterministic:
        routed = as_object(members.get("given")) or {}
        checkable = any(key in expected for key in EVALUATED_FIELDS) or (
            as_text(routed.get("intent")) is not None and as_text(expected.get("selectedSkill")) is not None
        )
        return None if checkable else "expected holds nothing that the evaluator of this skill can check"
    return None if as_text(expected.get("action")) is not None else "expected.action must be a non-blank string"


def _identity(members: Mapping[str, Any], sealed: bool) -> list[str]:
    problems: list[str] = []
    condition = members.get("condition")
    if condition is not None and condition not in CONDITIONS:
        problems.append("condition must be one of " + ", ".join(CONDITIONS))
    if sealed and condition not in (None, "holdout"):
        problems.append("a sealed scenario can only be a holdout")
    if "family" in members and as_text(members["family"]) is None:
        problems.append("family must be a non-blank string")
    problems.extend(f"{key} is not a member of a scenario" for key in members if key not in MEMBERS)
    return problems


def read_scenarios(
    document: Any, skill_id: str, source: str, *, deterministic: bool = False, sealed: bool = False
) -> tuple[list[Scenario], list[Finding]]:
    """The scenarios of one parsed file and every finding about them; a wrong scenario is left out.

    `source` names the file in findings. Burned scenarios of a sealed root are skipped: they moved to the open corpus.
    """
    items = scenario_items(document)
    if items is None:
        return [], [Finding(ERROR, "scenario-shape", skill_id, source, "expected a list of scenarios")]
    if not items:
        return [], [Finding(ERROR, "scenario-shape", skill_id, source, "expected at least one scenario")]
    if len(items) > MAX_SCENARIOS:
        return [], [Finding(ERROR, "scenario-count", skill_id, source, f"expected at most {MAX_SCENARIOS} scenarios")]
    scenarios: list[Scenario] = []
    findings: list[Finding] = []
    for index, item in enumerate(items):
        members = as_object(item) or {}
        scenario_id = as_text(members.get("id"))
        where = f"{source}#{scenario_id or index}"
        if scenario_id is None:
            findings.append(Finding(ERROR, "scenario-shape", skill_id, where, "expected an object with a string id"))
            continue
        given = as_object(members.get("given")) or {}
        expected, problems = read_oracle(members.get("expected"), "expected")
        forbidden, more = read_oracle(members.get("forbidden"), "forbidden")
        problems += more + _identity(members, sealed)
        if (missing := _executable(members, deterministic)) is not None:
            problems.append(missing)
        if not problems and forbidden and violates(expected, forbidden):
            problems.append("the expected answer would violate forbidden; the two must differ beyond their spelling")
        found = [Finding(ERROR, "oracle", skill_id, where, problem) for problem in problems]
        found += key_findings(given, skill_id, where)
        if deterministic and "action" in expected:
            message = "the skill is measured by an evaluator; this action is not executed"
            found.append(Finding(WARN, "not-executed", skill_id, where, message))
        findings += found
        if all(finding.level != ERROR for finding in found) and members.get("burned") is not True:
            scenarios.append(
                Scenario(
                    skill_id=skill_id,
                    scenario_id=scenario_id,
                    family=as_text(members.get("family")) or scenario_id,
                    condition=members.get("condition") if not sealed else "holdout",
                    given=given,
                    expected=expected,
                    forbidden=forbidden or None,
                    description=as_text(members.get("description")) or "",
                    source=source,
                    sealed=sealed,
                )
            )
    return scenarios, findings


def repeated_ids(scenarios: Iterable[Scenario]) -> list[Finding]:
    """Scenario ids used more than once anywhere in the repository (spec 11 §2.2, W34)."""
    first: dict[str, Scenario] = {}
    findings: list[Finding] = []
    for scenario in scenarios:
        other = first.setdefault(scenario.scenario_id, scenario)
        if other is not scenario:
            message = f"the id is used already in {other.source} of {other.skill_id}"
            findings.append(Finding(ERROR, "scenario-id", scenario.skill_id, scenario.scenario_id, message))
    return findings


class Family(msgspec.Struct, frozen=True):
    """One semantic family: the scenario its conditions are made from, and the authored conditions by name."""

    skill_id: str
    family_id: str
    base: Scenario
    authored: dict[str, Scenario]
    sealed: bool


def families_of(scenarios: Sequence[Scenario]) -> tuple[list[Family], list[Finding]]:
    """Group scenarios to families in file order (spec 11 §17.2).

    The base is the scenario without a condition, else the authored `known` one: without either there is nothing to
    generate the missing conditions from. A sealed scenario is a family of its own.
    """
    groups: dict[tuple[str, str, bool], list[Scenario]] = {}
    for scenario in scenarios:
        key = scenario.scenario_id if scenario.sealed else scenario.family
        groups.setdefault((scenario.skill_id, key, scenario.sealed), []).append(scenario)
    families: list[Family] = []
    findings: list[Finding] = []
    for (skill_id, family_id, sealed), members in groups.items():
        if sealed:
            families.append(Family(skill_id, family_id, members[0], {}, sealed=True))
            continue
        authored: dict[str, Scenario] = {}
        bases: list[Scenario] = []
        problems: list[str] = []
        for member in members:
            if member.condition is None:
                bases.append(member)
            elif member.condition in authored:
                problems.append(f"condition {member.condition} is authored twice")
            else:
                authored[member.condition] = member
        if not bases and "known" in authored:
            bases.append(authored["known"])
        if len(bases) != 1:
            problems.append("a family needs exactly one scenario without a condition, or an authored known one")
        if problems:
            findings += [Finding(ERROR, "family", skill_id, family_id, problem) for problem in problems]
        else:
            families.append(Family(skill_id, family_id, bases[0], authored, sealed=False))
    return families, findings
