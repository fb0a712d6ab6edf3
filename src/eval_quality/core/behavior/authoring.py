"""Authoring rules: how deep a SKILL.md is, and how much its scenarios can tell (spec 11 §1.5, §16 W4, §17.12)."""

import re
from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from typing import Any, Final

from eval_quality.core.behavior.findings import ERROR, WARN, Finding
from eval_quality.core.behavior.leak import strings_of
from eval_quality.core.behavior.scenario import Scenario
from eval_quality.core.behavior.words import JUDGING_WORDS

MIN_FAMILIES: Final = 6
MIN_REFERENCE_BYTES: Final = 1000
NEAR_DUPLICATE: Final = 0.8
MAX_PAIRS: Final = 200_000
"""Pairs of scenarios compared in one skill: a file of ten thousand would otherwise be fifty million comparisons."""

SHORT_SECTIONS: Final = (
    "Purpose",
    "When to Use",
    "When NOT to Use",
    "Inputs",
    "Expected Outputs",
    "Procedure",
    "Decision Rules",
    "Tool Policy",
    "Evidence Requirements",
    "Failure Handling",
    "Completion Criteria",
)

_FENCE: Final = re.compile(r"\s*(```|~~~)")


def headings(text: str) -> list[str]:
    """The level-2 headings of a markdown text, outside code fences."""
    found: list[str] = []
    fence: str | None = None
    for line in text.splitlines():
        if (mark := _FENCE.match(line)) is not None:
            fence = None if fence == mark[1] else fence or mark[1]
        elif fence is None and re.match(r"##(?!#)\s+\S", line):
            found.append(line[2:].strip().rstrip("#").strip())
    return found


def _is(*names: str) -> Callable[[str], bool]:
    return lambda heading: heading in names


def _has(*words: str) -> Callable[[str], bool]:
    return lambda heading: any(word in heading for word in words)


DEEP_SECTIONS: Final[tuple[tuple[str, Callable[[str], bool]], ...]] = (
    ("Mission", _is("mission")),
    ("activation", lambda heading: heading in ("activate when", "activation contract") or "activation" in heading),
    ("classification", _has("classification")),
    ("protocol or procedure", _has("protocol", "procedure")),
    ("Decision Rules", _is("decision rules")),
    ("Invariants", _is("invariants")),
    ("failure taxonomy", _has("failure taxonomy")),
    ("Anti-Patterns", _is("anti-patterns")),
    ("Completion Criteria", _is("completion criteria")),
    ("Progressive Resources", _is("progressive resources")),
)


def is_deep(names: Sequence[str]) -> bool:
    """Whether these headings make a deep playbook (spec 11 §1.5)."""
    lowered = {name.lower() for name in names}
    return {"mission", "anti-patterns", "invariants"} <= lowered


def depth_findings(
    skill_id: str, instruction: str, scenario_count: int, reference_sizes: Sequence[int]
) -> list[Finding]:
    """The depth rules of one skill (spec 11 §1.5)."""
    names = headings(instruction)
    lowered = [name.lower() for name in names]
    findings: list[Finding] = []

    def add(level: str, code: str, message: str) -> None:
        findings.append(Finding(level, code, skill_id, "SKILL.md", message))

    if not is_deep(names):
        for section in SHORT_SECTIONS:
            wanted = ("expected outputs", "outputs") if section == "Expected Outputs" else (section.lower(),)
            if not any(name in lowered for name in wanted):
                add(WARN, "missing-section", f"no section {section}")
        return findings
    for section, present in DEEP_SECTIONS:
        if not any(present(name) for name in lowered):
            add(WARN, "missing-section", f"no section for {section}")
    if scenario_count < MIN_FAMILIES:
        add(ERROR, "too-few-scenarios", f"{scenario_count} scenarios; a deep playbook needs {MIN_FAMILIES}")
    if not any(size >= MIN_REFERENCE_BYTES for size in reference_sizes):
        add(ERROR, "shallow-references", f"no reference of {MIN_REFERENCE_BYTES} bytes or more")
    return findings


def _actions(scenarios: Sequence[Scenario], side: str) -> set[str]:
    oracles: list[Mapping[str, Any]] = [getattr(item, side) or {} for item in scenarios]
    return {oracle["action"] for oracle in oracles if "action" in oracle}


def polarity_findings(skill_id: str, scenarios: Sequence[Scenario]) -> list[Finding]:
    """Action names that tell which side they are on (spec 11 §16, W4)."""
    expected, forbidden = _actions(scenarios, "expected"), _actions(scenarios, "forbidden")
    findings: list[Finding] = []
    for name in sorted(expected | forbidden):
        judging = sorted(set(re.findall(r"[a-z]+", name.lower())) & set(JUDGING_WORDS))
        if judging:
            message = f"the name judges itself: {', '.join(judging)}"
            findings.append(Finding(WARN, "judging-name", skill_id, name, message))
    if forbidden and not expected & forbidden:
        message = "no action is right in one scenario and forbidden in another; names can be learnt by side"
        findings.append(Finding(WARN, "one-sided-names", skill_id, "scenarios", message))
    return findings


def _tokens(scenario: Scenario) -> frozenset[str]:
    return frozenset(word for text in strings_of(scenario.given) for word in re.findall(r"\w+", text.lower()))


def duplicate_findings(skill_id: str, scenarios: Sequence[Scenario]) -> list[Finding]:
    """Families that say nearly the same: a paraphrase is no decision of its own (spec 11 §17.12)."""
    findings: list[Finding] = []
    sets = [(scenario, _tokens(scenario)) for scenario in scenarios if scenario.condition is None]
    for count, ((one, left), (other, right)) in enumerate(combinations(sets, 2)):
        if count >= MAX_PAIRS:
            message = f"only the first {MAX_PAIRS} pairs were compared"
            findings.append(Finding(WARN, "near-duplicate-cap", skill_id, "scenarios", message))
            break
        union = left | right
        if union and len(left & right) > NEAR_DUPLICATE * len(union):
            message = f"given is nearly that of {one.scenario_id}"
            findings.append(Finding(WARN, "near-duplicate", skill_id, other.scenario_id, message))
    return findings


def option_findings(skill_id: str, scenarios: Sequence[Scenario], catalogue: Sequence[str]) -> list[Finding]:
    """Oracle values that no request offers: an answer nobody could derive (spec 11 §17.4.7, §17.6)."""
    findings: list[Finding] = []
    for scenario in scenarios:
        wanted = scenario.expected.get("selectedSkill")
        if wanted is not None and wanted not in catalogue:
            message = f"expected.selectedSkill {wanted} is no skill of this repository"
            findings.append(Finding(WARN, "unknown-skill", skill_id, scenario.scenario_id, message))
    offered = {field: _values(scenarios, field) for field in ("produces", "gates", "structure")}
    for scenario in scenarios:
        for field, values in offered.items():
            value = (scenario.forbidden or {}).get(field, [])
            missing = [item for item in ([value] if isinstance(value, str) else value) if item not in values]
            if missing:
                message = f"forbidden.{field} {', '.join(missing)} is expected nowhere, so no request offers it"
                findings.append(Finding(WARN, "forbidden-not-offered", skill_id, scenario.scenario_id, message))
    return findings


def _values(scenarios: Sequence[Scenario], field: str) -> set[str]:
    found: set[str] = set()
    for scenario in scenarios:
        value = scenario.expected.get(field, [])
        found.update([value] if isinstance(value, str) else value)
    return found
