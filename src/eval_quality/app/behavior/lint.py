"""`behavior-eval lint`: everything about scenarios and skills that a person should know before exporting (§17.12)."""

from collections.abc import Sequence

from eval_quality.app.behavior.repository import Repository
from eval_quality.app.behavior.yaml_source import SourceRefused
from eval_quality.core.behavior.authoring import (
    depth_findings,
    duplicate_findings,
    option_findings,
    polarity_findings,
)
from eval_quality.core.behavior.battery import battery, passing
from eval_quality.core.behavior.findings import ERROR, WARN, Finding, errors
from eval_quality.core.behavior.generator import scenario_actions
from eval_quality.core.behavior.jsonish import JsonObject
from eval_quality.core.behavior.leak import contamination
from eval_quality.core.behavior.maturity import Standard
from eval_quality.core.behavior.skill_evals import EvalsRefused, drafts, read_suite

EVALS_NAME = "evals/evals.json"
SMALL_ANSWER_SPACE_BITS = 64


def package_findings(repository: Repository) -> list[Finding]:
    """What is wrong with the packages themselves, one finding an error (spec 11 §1.4)."""
    return [
        Finding(ERROR, "package", skill_id, folder.relative, problem)
        for skill_id, folder in repository.skills.items()
        for problem in folder.errors
    ]


def authoring_findings(repository: Repository) -> list[Finding]:
    """Depth rules, orphans, links, front matter (spec 11 §1.5)."""
    found: list[Finding] = []
    for skill_id, folder in repository.skills.items():
        sizes = [item.size for item in folder.of_kind("references")]
        found += folder.findings
        found += depth_findings(skill_id, folder.instruction, len(repository.scenarios_of(skill_id)), sizes)
    return found


def scenario_findings(repository: Repository) -> list[Finding]:
    """Polarity, near-duplicates, offers, contamination and the degenerate battery."""
    found: list[Finding] = []
    for skill_id in repository.skills:
        scenarios = repository.scenarios_of(skill_id)
        if not scenarios or skill_id in repository.evaluators:
            continue
        found += polarity_findings(skill_id, scenarios)
        found += duplicate_findings(skill_id, scenarios)
        found += option_findings(skill_id, scenarios, repository.ids)
    planned = {skill_id: repository.skills[skill_id].instruction for skill_id in repository.plan.per_skill}
    actions = {skill_id: scenario_actions(repository.scenarios_of(skill_id)) for skill_id in planned}
    found += contamination(planned, actions)
    for skill_id, rows in battery(repository.plan, Standard(repository.config.thresholds)).items():
        for name in passing(rows):
            message = f"the degenerate answer {name} would pass: the level stays at M3"
            found.append(Finding(WARN, "degenerate-passes", skill_id, "scenarios", message))
    bits = sum(
        len(part.vocabulary).bit_length() - 1
        for case in repository.plan.cases
        if (part := repository.plan.skills[case.skill_id])
    )
    if repository.plan.cases and bits < SMALL_ANSWER_SPACE_BITS and repository.salt is None:
        message = "so few answers that the oracle digest confirms a guess; create .skill-evidence/salt"
        found.append(Finding(WARN, "small-answer-space", "", "oracleSha256", message))
    return found


def lint(repository: Repository) -> list[Finding]:
    """Every finding, errors first."""
    found = [
        *package_findings(repository),
        *repository.corpus_findings,
        *(repository.leak_findings if not repository.corpus_errors else []),
        *authoring_findings(repository),
        *scenario_findings(repository),
    ]
    return [*errors(found), *(finding for finding in found if finding.level != ERROR)]


def suggestions(repository: Repository, skill_ids: Sequence[str]) -> dict[str, JsonObject]:
    """Scenario drafts by skill, from `evals/evals.json` files: for a person to fill, never scored as they are."""
    from eval_quality.app.behavior.documents_in import read_document
    from eval_quality.app.behavior.reading import Unreadable

    found: dict[str, JsonObject] = {}
    for skill_id, folder in repository.skills.items():
        if skill_ids and skill_id not in skill_ids:
            continue
        try:
            found[skill_id] = drafts(read_suite(read_document(folder.folder, EVALS_NAME)))
        except (Unreadable, SourceRefused, EvalsRefused):
            continue  # no suite of that format is no finding: most skills have none
    return found
