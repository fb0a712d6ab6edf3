"""Sealed holdouts: scenario files outside the repository, and the commitment inside it (spec 11 §17.6)."""

import hashlib
import os
import secrets
from typing import Any, Final

import msgspec

from eval_quality.app.behavior.documents_in import optional_document, parse_document
from eval_quality.app.behavior.reading import Unreadable, read_below
from eval_quality.app.behavior.yaml_source import SourceRefused
from eval_quality.core.behavior.attack import shared_ngrams
from eval_quality.core.behavior.canary import CHOICES
from eval_quality.core.behavior.findings import ERROR, Finding
from eval_quality.core.behavior.jsonish import as_integer, as_list, as_object, as_text
from eval_quality.core.behavior.leak import strings_of
from eval_quality.core.behavior.package import path_problem
from eval_quality.core.behavior.scenario import Scenario, read_scenarios

COMMITMENTS_NAME: Final = "evals/holdouts/COMMITMENTS.json"
MIN_SEALED: Final = 3
MAX_OVERLAP: Final = 0.2


class Sealed(msgspec.Struct, frozen=True):
    """The sealed side of a repository. `available` when the root could be read."""

    available: bool
    committed: tuple[str, ...]
    scenarios: tuple[Scenario, ...]
    findings: tuple[Finding, ...]


def _commitments(value: Any) -> dict[str, str] | None:
    items = as_list((as_object(value) or {}).get("files"))
    if items is None:
        return None
    found: dict[str, str] = {}
    for item in items:
        entry = as_object(item) or {}
        skill_id, digest = as_text(entry.get("skillId")), as_text(entry.get("sha256"))
        if skill_id is None or digest is None or as_integer(entry.get("families")) is None:
            return None
        found[skill_id] = digest
    return found


def _file_of(folder: str, skill_id: str) -> tuple[str, bytes] | None:
    for suffix in (".json", ".yaml", ".yml"):
        name = skill_id + suffix
        if path_problem(name) is None:
            try:
                return name, read_below(folder, name)
            except Unreadable as error:
                if not error.absent:
                    raise
    return None


def load_sealed(root: str, holdout_root: str | None, skill_ids: list[str]) -> Sealed:
    """The commitments and, where the sealed root can be read, its scenarios, checked against them."""
    findings: list[Finding] = []

    def wrong(skill_id: str, message: str) -> None:
        findings.append(Finding(ERROR, "holdout-commitment", skill_id, COMMITMENTS_NAME, message))

    value, problem = optional_document(root, COMMITMENTS_NAME)
    committed = {} if value is None else _commitments(value)
    if problem is not None or committed is None:
        wrong("", problem or "expected {schemaVersion, files: [{skillId, sha256, families, sealedAt}]}")
        committed = {}
    folder = None if holdout_root is None else os.path.join(root, os.path.expanduser(holdout_root))
    if folder is None or not os.path.isdir(folder):
        return Sealed(False, tuple(committed), (), tuple(findings))
    scenarios: list[Scenario] = []
    for skill_id in skill_ids:
        try:
            found = _file_of(folder, skill_id)
        except Unreadable as error:
            wrong(skill_id, str(error))
            continue
        if found is None:
            if skill_id in committed:
                wrong(skill_id, "the committed file is not in the sealed root")
            continue
        name, data = found
        if committed.get(skill_id) != hashlib.sha256(data).hexdigest():
            wrong(skill_id, "the sealed file is not the committed one")
            continue
        try:
            read_rows, problems = read_scenarios(parse_document(data, name), skill_id, name, sealed=True)
        except SourceRefused as error:
            wrong(skill_id, str(error))
            continue
        findings += problems
        scenarios += read_rows
        if len(read_rows) < MIN_SEALED:
            wrong(skill_id, f"{len(read_rows)} sealed families; expected at least {MIN_SEALED}")
    return Sealed(True, tuple(committed), tuple(scenarios), tuple(findings))


CANARIES_NAME: Final = "canaries.json"


def load_canaries(folder: str | None) -> dict[str, tuple[int, ...]]:
    """The drawn answers by skill, from the sealed root; nothing for an absent or unusable file."""
    value = None if folder is None else optional_document(folder, CANARIES_NAME)[0]
    found: dict[str, tuple[int, ...]] = {}
    for skill_id, items in (as_object((as_object(value) or {}).get("answers")) or {}).items():
        numbers = [as_integer(item) for item in as_list(items) or []]
        answers = tuple(number for number in numbers if number is not None and 0 <= number < CHOICES)
        if len(answers) == len(numbers):
            found[skill_id] = answers
    return found


def drawn_canaries(known: dict[str, tuple[int, ...]], skill_ids: list[str], wanted: int) -> dict[str, tuple[int, ...]]:
    """The answers of every skill, missing ones drawn by chance. What was drawn before stays."""
    drawn = dict(known)
    for skill_id in skill_ids:
        have = drawn.get(skill_id, ())
        drawn[skill_id] = have + tuple(secrets.randbelow(CHOICES) for _ in range(wanted - len(have)))
    return drawn


def overlap_findings(sealed: list[Scenario], public: dict[str, list[str]]) -> list[Finding]:
    """Sealed scenarios whose wording stands in the skill, its references or its open scenarios (spec 11 §17.6)."""
    findings: list[Finding] = []
    for scenario in sealed:
        shared, total = shared_ngrams(strings_of(scenario.given), public.get(scenario.skill_id, []))
        if total and shared >= MAX_OVERLAP * total:
            message = f"{shared} of {total} five-word runs stand in public texts"
            findings.append(Finding(ERROR, "holdout-overlap", scenario.skill_id, scenario.scenario_id, message))
    return findings
