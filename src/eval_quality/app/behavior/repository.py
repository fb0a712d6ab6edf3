"""A repository of skills, read once per process: skills, scenarios, configuration, plan (spec 11 §14, §17).

Everything later asks this object. It reads; `core.behavior` decides.
"""

import os
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Final

from eval_quality.app.behavior.discover import SkillFolder, load_skills
from eval_quality.app.behavior.documents_in import parse_document
from eval_quality.app.behavior.reading import Unreadable, read_below
from eval_quality.app.behavior.registry import Registry, load_registry
from eval_quality.app.behavior.root import STATE_FOLDER, RepositoryRefused, find_root, load_config, load_salt
from eval_quality.app.behavior.sealed import (
    CANARIES_NAME,
    Sealed,
    drawn_canaries,
    load_canaries,
    load_sealed,
    overlap_findings,
)
from eval_quality.app.behavior.store import holdout_folder, indented, replace_file
from eval_quality.app.behavior.yaml_source import SourceRefused
from eval_quality.core.behavior.bm25 import Selector, sentences
from eval_quality.core.behavior.config import Config, Evaluator
from eval_quality.core.behavior.evaluators import BUILTIN_MODULES, BUILTIN_SKILLS
from eval_quality.core.behavior.findings import ERROR, Finding, errors
from eval_quality.core.behavior.jsonish import JsonObject, as_text
from eval_quality.core.behavior.leak import scan_requests, strings_of
from eval_quality.core.behavior.plan import Plan, SkillText, build_plan
from eval_quality.core.behavior.router import CATALOGUE as REFERENCE_CATALOGUE
from eval_quality.core.behavior.router import route
from eval_quality.core.behavior.scenario import Scenario, read_scenarios, repeated_ids
from eval_quality.core.behavior.standing import Structure

OVERLAY: Final = f"{STATE_FOLDER}/scenarios"


class Repository:
    """One root and everything below it. Construct with `Repository.open`."""

    def __init__(self, root: str, config: Config, salt: bytes | None) -> None:
        self.root = root
        self.config = config
        self.salt = salt
        self.registry: Registry = load_registry(root)
        found, self.identity_findings = load_skills(root, config.skill_roots)
        by_id = {folder.skill_id: folder for folder in found}
        self.skills: dict[str, SkillFolder] = {key: by_id[key] for key in self.registry.order(list(by_id))}

    @classmethod
    def open(cls, root: str | None, working: str = ".") -> "Repository":
        """The repository at `root`, or around the working folder. Raises `RepositoryRefused`."""
        found = find_root(root, working)
        return cls(found, load_config(found), load_salt(found))

    @property
    def ids(self) -> list[str]:
        """Skill ids in catalogue order."""
        return list(self.skills)

    @property
    def entry_skill(self) -> str | None:
        """The router's own skill, if the repository has one."""
        return self.config.entry_skill or self.registry.entry_skill

    @cached_property
    def evaluators(self) -> dict[str, Evaluator]:
        """Skills judged by running code: those configured, else the built-in bindings whose benchmark exists."""
        if self.config.deterministic is not None:
            return {key: value for key, value in self.config.deterministic.items() if key in self.skills}
        found: dict[str, Evaluator] = {}
        for skill_id, (kind, stem) in BUILTIN_SKILLS.items():
            benchmark = f"eval/benchmarks/{stem}-v1.json"
            if skill_id in self.skills and os.path.isfile(os.path.join(self.root, benchmark)):
                found[skill_id] = Evaluator(
                    kind,
                    benchmark,
                    f"evals/holdouts/{stem}-v1.json",
                    f"evals/results/{stem}-holdout-v1.json",
                    (),
                    builtin=True,
                )
        return found

    @cached_property
    def _read(self) -> tuple[list[Scenario], list[Finding]]:
        scenarios: list[Scenario] = []
        findings: list[Finding] = []
        for skill_id, folder in self.skills.items():
            sources = [(f"{folder.relative}/{item.path}", item.path, item.data) for item in folder.scenario_files()]
            sources += self._overlay(skill_id, findings)
            for where, name, data in sources:
                try:
                    document = parse_document(data or b"", name)
                except SourceRefused as error:
                    findings.append(Finding(ERROR, "scenario-unreadable", skill_id, where, str(error)))
                    continue
                rows, problems = read_scenarios(document, skill_id, where, deterministic=skill_id in self.evaluators)
                scenarios += rows
                findings += problems
            findings += self._unreadable(folder)
        return scenarios, findings

    def _unreadable(self, folder: SkillFolder) -> list[Finding]:
        return [
            Finding(ERROR, "scenario-unreadable", folder.skill_id, f"{folder.relative}/{item.path}", "not readable")
            for item in folder.resources
            if item.kind == "evals" and item.data is None
        ]

    def _overlay(self, skill_id: str, findings: list[Finding]) -> list[tuple[str, str, bytes | None]]:
        found: list[tuple[str, str, bytes | None]] = []
        for suffix in (".json", ".yaml", ".yml"):
            name = f"{OVERLAY}/{skill_id}{suffix}"
            try:
                found.append((name, name, read_below(self.root, name)))
            except Unreadable as error:
                if not error.absent:
                    findings.append(Finding(ERROR, "scenario-unreadable", skill_id, name, str(error)))
        return found

    @cached_property
    def sealed(self) -> Sealed:
        """The sealed holdouts."""
        return load_sealed(self.root, self.config.holdout_root, self.ids)

    @cached_property
    def canaries(self) -> dict[str, tuple[int, ...]]:
        """The drawn canary answers, as many a skill as configured; none without a sealed root."""
        wanted = self.config.canaries
        if wanted == 0:
            return {}
        known = load_canaries(holdout_folder(self.root, self.config.holdout_root))
        return {skill_id: answers[:wanted] for skill_id, answers in known.items()}

    def draw_canaries(self) -> None:
        """Draw what the configuration asks for and the sealed root does not hold yet. Raises `RepositoryRefused`."""
        wanted = self.config.canaries
        if wanted == 0:
            return
        folder = holdout_folder(self.root, self.config.holdout_root)
        if folder is None:
            raise RepositoryRefused("canaries need a holdoutRoot that exists: their answers are kept there alone")
        known = load_canaries(folder)
        drawn = drawn_canaries(known, [text.skill_id for text in self.plan_texts], wanted)
        if drawn != known:
            value = {"schemaVersion": 1, "answers": drawn}
            replace_file(os.path.join(folder, CANARIES_NAME), indented(value))

    @cached_property
    def scenarios(self) -> list[Scenario]:
        """Every accepted open scenario, in catalogue and file order."""
        return self._read[0]

    def scenarios_of(self, skill_id: str) -> list[Scenario]:
        """The open scenarios of one skill."""
        return [scenario for scenario in self.scenarios if scenario.skill_id == skill_id]

    @cached_property
    def plan_texts(self) -> list[SkillText]:
        """The skills of the provider plan."""
        return [
            SkillText(skill_id, folder.instruction, folder.description)
            for skill_id, folder in self.skills.items()
            if skill_id not in self.evaluators and folder.instruction
        ]

    @cached_property
    def _planned(self) -> tuple[Plan, list[Finding]]:
        return build_plan(
            self.plan_texts,
            [*self.scenarios, *self.sealed.scenarios],
            self.config,
            catalogue=self.ids,
            committed=self.sealed.committed,
            canaries=self.canaries,
            salt=self.salt,
        )

    @property
    def plan(self) -> Plan:
        """The plan, built once. Meaningful only without `corpus_errors`."""
        return self._planned[0]

    @cached_property
    def bare_plan(self) -> Plan:
        """The same questions with the description for an instruction (spec 11 §17.10)."""
        texts = [
            SkillText(text.skill_id, text.instruction, text.description or f"The skill {text.skill_id}.")
            for text in self.plan_texts
        ]
        return build_plan(
            texts,
            self.scenarios,
            self.config,
            catalogue=self.ids,
            committed=self.sealed.committed,
            salt=self.salt,
            bare=True,
        )[0]

    @property
    def _broken(self) -> list[Finding]:
        """Packages whose own inventory does not hold, and skills with questions but without a text (§13.1, W9)."""
        found = [
            Finding(ERROR, "package-broken", skill_id, folder.relative, folder.errors[0])
            for skill_id, folder in self.skills.items()
            if folder.profile == "package" and folder.errors
        ]
        silent = {scenario.skill_id for scenario in self.scenarios if not self.skills[scenario.skill_id].instruction}
        message = "the skill has scenarios and no readable SKILL.md"
        return [*found, *(Finding(ERROR, "instruction", skill_id, "SKILL.md", message) for skill_id in sorted(silent))]

    @cached_property
    def corpus_findings(self) -> list[Finding]:
        """Everything `corpus-integrity` looks at, in a stable order."""
        public = {
            skill_id: [
                folder.instruction,
                *(item.data.decode("utf-8", "replace") for item in folder.of_kind("references") if item.data),
                *(text for scenario in self.scenarios_of(skill_id) for text in strings_of(scenario.given)),
            ]
            for skill_id, folder in self.skills.items()
        }
        sealed = list(self.sealed.scenarios)
        return [
            *self.identity_findings,
            *self._broken,
            *self._read[1],
            *repeated_ids([*self.scenarios, *sealed]),
            *self._planned[1],
            *self.sealed.findings,
            *overlap_findings(sealed, public),
        ]

    @property
    def corpus_errors(self) -> list[Finding]:
        """The findings that refuse the corpus."""
        return errors(self.corpus_findings)

    @cached_property
    def leak_findings(self) -> list[Finding]:
        """The leak scan on an in-memory export."""
        names = [scenario.scenario_id for scenario in [*self.scenarios, *self.sealed.scenarios]]
        return scan_requests(self.plan.requests(), names)

    def require_sound(self) -> Plan:
        """The plan, or `RepositoryRefused`: nothing is exported or scored over a broken corpus."""
        if self.corpus_errors:
            first = self.corpus_errors[0]
            more = f" (and {len(self.corpus_errors) - 1} more)" if len(self.corpus_errors) > 1 else ""
            raise RepositoryRefused(f"corpus-integrity: {first.line()}{more}; run behavior-eval lint")
        if not self.plan.cases:
            raise RepositoryRefused("no skill has a scenario that a provider can answer; run behavior-eval init")
        return self.plan

    # -- routing (spec 11 §10.3, §11.1, §17.9b) --

    @cached_property
    def _selector(self) -> Selector:
        words = {
            skill_id: " ".join(
                (
                    skill_id.replace("-", " "),
                    folder.description or as_text(self.registry.entries.get(skill_id, {}).get("description")) or "",
                    *self.registry.probes(skill_id),
                )
            )
            for skill_id, folder in self.skills.items()
            if skill_id != self.entry_skill
        }
        return Selector(words)

    def routed(self, text: str) -> str | None:
        """The skill a task text selects: the reference's router for its own catalogue, else BM25."""
        if self.entry_skill == REFERENCE_CATALOGUE[0] and set(self.ids) <= set(REFERENCE_CATALOGUE):
            return route(text).skill_id if text.strip() else None
        return self._selector.select(text)

    def _integrated(self, skill_id: str, folder: SkillFolder) -> bool:
        if not folder.valid:
            return False
        if self.registry.present and skill_id not in self.registry.entries:
            return False
        if skill_id == self.entry_skill:
            return True
        if len(self.skills) == 1:
            return folder.front_matter.valid
        probes = self.registry.probes(skill_id)
        if not self.registry.present:
            intents = [as_text(scenario.given.get("intent")) for scenario in self.scenarios_of(skill_id)]
            probes = [*(text for text in intents if text), *sentences(folder.description)]
        return any(self.routed(probe) == skill_id for probe in probes)

    def self_cases(self, skill_id: str) -> JsonObject:
        """The routing self-cases of a skill (spec 11 §11.1)."""
        rows: list[JsonObject] = []
        for scenario in self.scenarios_of(skill_id):
            intent, wanted = as_text(scenario.given.get("intent")), scenario.expected.get("selectedSkill")
            if intent is None or wanted is None:
                continue
            actual = self.routed(intent)
            forbidden = (scenario.forbidden or {}).get("selectedSkill")
            rows.append(
                {
                    "id": scenario.scenario_id,
                    "expectedSkill": wanted,
                    "actualSkill": actual,
                    "forbiddenSkill": forbidden,
                    "passed": actual == wanted,
                    "forbiddenViolated": forbidden is not None and actual == forbidden,
                }
            )
        negative = [row for row in rows if row["forbiddenSkill"] is not None]
        owner = [row for row in rows if row["expectedSkill"] == skill_id]
        held = sum(not row["forbiddenViolated"] for row in negative)
        passed = sum(row["passed"] for row in rows)
        return {
            "id": skill_id,
            "executable": len(rows),
            "passed": passed,
            "passRate": passed / len(rows) if rows else None,
            "negativeCases": len(negative),
            "negativePassed": held,
            "negativePassRate": held / len(negative) if negative else None,
            "ownerRouteCases": len(owner),
            "ownerRoutePassed": sum(row["passed"] for row in owner),
            "cases": rows,
        }

    @cached_property
    def structures(self) -> list[Structure]:
        """The structural facts of every skill, in catalogue order."""
        return [
            Structure(
                skill_id,
                source_available=bool(folder.instruction),
                structured=folder.structured,
                package_valid=folder.valid,
                runtime_integrated=self._integrated(skill_id, folder),
                # The cases name the right skill: a record is printed where an agent may read it (W36).
                routing={key: value for key, value in self.self_cases(skill_id).items() if key != "cases"},
            )
            for skill_id, folder in self.skills.items()
        ]


def evaluator_module(kind: str) -> tuple[str, str]:
    """(recorded path, absolute path) of the code behind a built-in evaluator."""
    import eval_quality

    relative = BUILTIN_MODULES[kind]
    return f"eval_quality/{relative}", os.path.join(os.path.dirname(eval_quality.__file__), relative)


def skill_list(skills: Mapping[str, SkillFolder], wanted: Sequence[str]) -> None:
    """Refuse skill ids that the repository does not have."""
    for skill_id in wanted:
        if skill_id not in skills:
            raise RepositoryRefused(f"no skill {skill_id} in this repository")
