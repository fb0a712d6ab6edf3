"""From scenarios to cases, opaque ids and digests (spec 11 §3, §4.2, §17.4, §17.6, §17.8).

1. Only skills without a deterministic evaluator are planned: catalogue order, file order, five cases a family.
2. The open part never depends on a sealed root: its digests are the same with and without it. Sealed families must
   therefore use the skill's open vocabulary and options, which also keeps them from standing out.
3. Requests leave sorted by opaque id, oracles are hashed sorted by (skill, plan id).
4. `bare` replaces every instruction by the skill's description and nothing else (§17.10).
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from eval_quality.core.behavior.canary import canary
from eval_quality.core.behavior.config import Config
from eval_quality.core.behavior.digests import (
    array_of,
    canonical,
    canonical_members,
    case_id,
    keyed_hex,
    sorted_texts,
)
from eval_quality.core.behavior.findings import ERROR, Finding
from eval_quality.core.behavior.generator import (
    Message,
    answer_options,
    five_actions,
    open_messages,
    picker_of,
    scenario_actions,
    sealed_messages,
    vocabulary,
)
from eval_quality.core.behavior.jsonish import JsonObject
from eval_quality.core.behavior.scenario import Family, Scenario, families_of
from eval_quality.core.behavior.words import CONDITIONS
from eval_quality.value.text import utf16_key


class SkillText(msgspec.Struct, frozen=True):
    """What a plan needs of a skill: its id, the whole SKILL.md and the description in its front matter."""

    skill_id: str
    instruction: str
    description: str = ""


class Case(msgspec.Struct, frozen=True):
    """One question with its private half. `case_id` is the plan id; `opaque_id` is all a provider sees of it."""

    category: str
    skill_id: str
    case_id: str
    opaque_id: str
    given: JsonObject
    expected: JsonObject
    forbidden: JsonObject | None
    given_text: bytes
    """Canonical text of `given`: hashed for the id, for the skill and for the corpus, made once."""
    oracle_text: bytes
    """Canonical text of the case's member of the oracle array."""
    sealed: bool = False
    canary: bool = False


class Digests(msgspec.Struct, frozen=True):
    """The two hashes that bind evidence to a set of cases, and how many there are."""

    corpus: str
    oracle: str
    total: int


class SkillPart(msgspec.Struct, frozen=True):
    """What all requests of one skill share."""

    skill_id: str
    instruction: str
    vocabulary: tuple[str, ...]
    head: bytes
    """Canonical text of a request up to its case id."""
    tail: bytes
    """Canonical text of a request after `given`."""


class Plan(msgspec.Struct, frozen=True):
    """Every case of a repository. `cases` are in plan order, sealed ones and canaries last; `open` has the others."""

    cases: tuple[Case, ...]
    skills: dict[str, SkillPart]
    whole: Digests
    open: Digests
    sealed: Digests
    per_skill: dict[str, Digests]
    per_skill_sealed: dict[str, Digests]
    sealed_skills: frozenset[str]
    """Skills whose holdout is sealed, whether or not the sealed root could be read."""

    @property
    def open_cases(self) -> tuple[Case, ...]:
        """The cases of the normal evidence file, in plan order."""
        return tuple(case for case in self.cases if not case.sealed)

    @property
    def sealed_cases(self) -> tuple[Case, ...]:
        """The cases of the sealed evidence file."""
        return tuple(case for case in self.cases if case.sealed and not case.canary)

    @property
    def canaries(self) -> tuple[Case, ...]:
        """The cases that count in no slice."""
        return tuple(case for case in self.cases if case.canary)

    def request(self, case: Case) -> JsonObject:
        """The exported request of one case (spec 11 §5.1)."""
        part = self.skills[case.skill_id]
        return {
            "skillId": case.skill_id,
            "caseId": case.opaque_id,
            "instruction": part.instruction,
            "given": case.given,
            "actionVocabulary": list(part.vocabulary),
        }

    def requests(self, skill_ids: Iterable[str] | None = None) -> list[JsonObject]:
        """All requests in export order, or those of some skills."""
        wanted = None if skill_ids is None else set(skill_ids)
        chosen = [case for case in self.cases if wanted is None or case.skill_id in wanted]
        return [self.request(case) for case in sorted(chosen, key=lambda case: case.opaque_id)]


def digests_of(cases: Sequence[Case], skills: Mapping[str, SkillPart], salt: bytes | None) -> Digests:
    """Corpus and oracle hash of some cases (spec 11 §4.2); the instruction text is hashed, never rebuilt."""
    corpus = hashlib.sha256(b"[")
    for index, case in enumerate(sorted(cases, key=lambda case: case.opaque_id)):
        part = skills[case.skill_id]
        corpus.update(b"," + part.head if index else part.head)
        corpus.update(b'"%b","given":%b' % (case.opaque_id.encode(), case.given_text))
        corpus.update(part.tail)
    corpus.update(b"]")
    rows = sorted(cases, key=lambda case: (utf16_key(case.skill_id), utf16_key(case.case_id)))
    oracle = keyed_hex(array_of(case.oracle_text for case in rows), salt)
    return Digests(corpus.hexdigest(), oracle, len(cases))


class _Opaque:
    """Opaque ids of one skill: the instruction's canonical text is made once."""

    def __init__(self, skill: SkillText, instruction: str, salt: bytes | None) -> None:
        self._tail = b',"instruction":%b,"skillId":%b}' % (canonical(instruction), canonical(skill.skill_id))
        self._salt = salt

    def __call__(self, plan_text: bytes, given_text: bytes) -> str:
        text = b'{"caseId":%b,"given":%b%b' % (plan_text, given_text, self._tail)
        return case_id(keyed_hex(text, self._salt))


class _Texts(msgspec.Struct, frozen=True):
    """Canonical texts of one scenario, which up to five cases share."""

    scenario: Scenario
    facts: dict[str, bytes]
    oracles: bytes


def _texts(scenario: Scenario) -> _Texts:
    facts = {key: canonical(value) for key, value in scenario.given.items()}
    oracles = b'"expected":%b,' % canonical(scenario.expected)
    if scenario.forbidden is not None:
        oracles += b'"forbidden":%b,' % canonical(scenario.forbidden)
    return _Texts(scenario, facts, oracles)


class _Maker:
    """Makes the cases of one skill, and their canonical texts from parts that are made once."""

    def __init__(self, skill: SkillText, instruction: str, options: JsonObject | None, salt: bytes | None) -> None:
        self._skill_id = skill.skill_id
        self._skill_text = canonical(skill.skill_id)
        self._opaque = _Opaque(skill, instruction, salt)
        self._options = options
        self._options_text = canonical(options)
        self._kept: dict[int, _Texts] = {}

    def _of(self, scenario: Scenario) -> _Texts:
        # The scenario is kept with its texts, so its identity cannot be given to another one meanwhile.
        kept = self._kept.get(id(scenario))
        if kept is None:
            kept = self._kept[id(scenario)] = _texts(scenario)
        return kept

    def case(
        self,
        category: str,
        family_id: str,
        scenario: Scenario,
        messages: Sequence[Message],
        *,
        sealed: bool = False,
        canary: bool = False,
    ) -> Case:
        """One case of a family in one condition."""
        plan_id = f"{family_id}::{category}"
        plan_text = canonical(plan_id)
        texts = self._of(scenario)
        given: JsonObject = {**scenario.given, "surroundings": [message.value() for message in messages]}
        parts = {**texts.facts, "surroundings": array_of(message.canonical_text() for message in messages)}
        if self._options is not None:
            given["answerOptions"] = self._options
            parts["answerOptions"] = self._options_text
        given_text = canonical_members(parts)
        oracle_text = b'{"caseId":%b,"category":%b,%b"skillId":%b}' % (
            plan_text,
            canonical(category),
            texts.oracles,
            self._skill_text,
        )
        return Case(
            category,
            self._skill_id,
            plan_id,
            self._opaque(plan_text, given_text),
            given,
            scenario.expected,
            scenario.forbidden,
            given_text,
            oracle_text,
            sealed,
            canary,
        )


class _Draft(msgspec.Struct, frozen=True):
    skill: SkillText
    scenarios: list[Scenario]
    families: list[Family]
    sealed: list[Family]
    actions: list[str]
    drawn: list[dict[str, str]]
    words: list[str]


def _draft(skill: SkillText, scenarios: Sequence[Scenario], config: Config) -> tuple[_Draft, list[Finding]]:
    families, findings = families_of(scenarios)
    opened = [scenario for scenario in scenarios if not scenario.sealed]
    actions = scenario_actions(opened)
    open_families = [family for family in families if not family.sealed]
    drawn = [five_actions(picker_of(config.blinding_seed, family), family.base, actions) for family in open_families]
    sealed = [family for family in families if family.sealed]
    return _Draft(skill, opened, open_families, sealed, actions, drawn, vocabulary(actions, drawn)), findings


def _sealed_problems(draft: _Draft, options: Mapping[str, Sequence[str]] | None) -> list[Finding]:
    findings: list[Finding] = []
    for family in draft.sealed:
        base = family.base
        names = {side["action"] for side in (base.expected, base.forbidden or {}) if "action" in side}
        unknown = sorted_texts(names - set(draft.words))
        for field in ("produces", "gates", "structure", "selectedSkill"):
            value = base.expected.get(field, [])
            offered: Sequence[str] = options.get(field, ()) if options is not None else ()
            unknown += [item for item in ([value] if isinstance(value, str) else value) if item not in offered]
        if unknown:
            message = "a sealed scenario may only use names the open scenarios offer: " + ", ".join(unknown)
            findings.append(Finding(ERROR, "sealed-vocabulary", family.skill_id, base.scenario_id, message))
    return findings


def build_plan(
    skills: Sequence[SkillText],
    scenarios: Sequence[Scenario],
    config: Config,
    *,
    catalogue: Sequence[str] | None = None,
    committed: Iterable[str] = (),
    canaries: Mapping[str, Sequence[int]] | None = None,
    salt: bytes | None = None,
    bare: bool = False,
) -> tuple[Plan, list[Finding]]:
    """The plan of a repository, and findings about families and sealed scenarios.

    `skills` are the provider-scored skills in catalogue order, `catalogue` all skill ids (default: those), `committed`
    the skills for which the repository holds a sealed-holdout commitment, `canaries` the drawn answers by skill.
    """
    findings: list[Finding] = []
    drafts: list[_Draft] = []
    by_skill: dict[str, list[Scenario]] = {}
    for scenario in scenarios:
        by_skill.setdefault(scenario.skill_id, []).append(scenario)
    for skill in skills:
        draft, problems = _draft(skill, by_skill.get(skill.skill_id, []), config)
        findings += problems
        if draft.families:
            drafts.append(draft)
    ids = list(catalogue) if catalogue is not None else [skill.skill_id for skill in skills]
    everyone = sorted_texts(word for draft in drafts for word in draft.words)
    has_sealed = {draft.skill.skill_id for draft in drafts if draft.sealed} | set(committed)
    planned = {draft.skill.skill_id for draft in drafts}
    sealed_skills = {
        "auto": frozenset(has_sealed & planned),
        "sealed": frozenset(planned),
        "derived": frozenset[str](),
    }[config.holdout_policy]
    parts: dict[str, SkillPart] = {}
    opened: list[Case] = []
    closed: list[Case] = []
    birds: list[Case] = []
    for draft in drafts:
        skill_id = draft.skill.skill_id
        options = answer_options(draft.scenarios, ids)
        findings += _sealed_problems(draft, options)
        instruction = draft.skill.description if bare else draft.skill.instruction
        words = tuple(everyone if config.vocabulary_scope == "repository" else draft.words)
        head = b'{"actionVocabulary":%b,"caseId":' % canonical(list(words))
        tail = b',"instruction":%b,"skillId":%b}' % (canonical(instruction), canonical(skill_id))
        parts[skill_id] = SkillPart(skill_id, instruction, words, head, tail)
        maker = _Maker(draft.skill, instruction, options, salt)
        keep = CONDITIONS[:-1] if skill_id in sealed_skills else CONDITIONS
        for family, actions in zip(draft.families, draft.drawn, strict=True):
            messages = open_messages(picker_of(config.blinding_seed, family), actions)
            opened += [
                maker.case(name, family.family_id, family.authored.get(name, family.base), messages[name])
                for name in keep
            ]
        for family in draft.sealed if config.holdout_policy != "derived" else ():
            picker = picker_of(config.blinding_seed, family)
            shown = sealed_messages(picker, five_actions(picker, family.base, draft.actions))
            closed.append(maker.case("holdout", family.family_id, family.base, shown, sealed=True))
        for number, answer in enumerate((canaries or {}).get(skill_id, ())):
            bird, shown = canary(config.blinding_seed, skill_id, number, answer, draft.words)
            birds.append(maker.case("holdout", bird.family, bird, shown, sealed=True, canary=True))
    return _plan(opened, closed, birds, parts, sealed_skills, salt), findings


def _by_skill(cases: Sequence[Case], parts: Mapping[str, SkillPart], salt: bytes | None) -> dict[str, Digests]:
    groups: dict[str, list[Case]] = {}
    for case in cases:
        groups.setdefault(case.skill_id, []).append(case)
    return {skill_id: digests_of(group, parts, salt) for skill_id, group in groups.items()}


def _plan(
    opened: list[Case],
    closed: list[Case],
    birds: list[Case],
    parts: dict[str, SkillPart],
    sealed_skills: frozenset[str],
    salt: bytes | None,
) -> Plan:
    everything = (*opened, *closed, *birds)
    whole = digests_of(everything, parts, salt)
    return Plan(
        cases=everything,
        skills=parts,
        whole=whole,
        open=digests_of(opened, parts, salt) if closed or birds else whole,
        sealed=digests_of(closed, parts, salt),
        per_skill=_by_skill(opened, parts, salt),
        per_skill_sealed=_by_skill(closed, parts, salt),
        sealed_skills=sealed_skills,
    )


def bundle_of(plan: Plan, skill_ids: Sequence[str] | None = None, salt: bytes | None = None) -> JsonObject:
    """The request bundle (spec 11 §5.1) of the whole plan, or of some skills with their own two hashes."""
    digests = plan.whole
    if skill_ids is not None:
        chosen = [case for case in plan.cases if case.skill_id in skill_ids]
        digests = digests_of(chosen, plan.skills, salt)
    return {
        "schemaVersion": 1,
        "metric": "agent-behavior-requests",
        "corpusSha256": digests.corpus,
        "oracleSha256": digests.oracle,
        "total": digests.total,
        "requests": plan.requests(skill_ids),
    }
