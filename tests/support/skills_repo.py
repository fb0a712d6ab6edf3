"""Skill repositories on disk, and answers to their bundles, for tests of behavioural evidence."""

import importlib.util
import json
import shutil
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import ModuleType
from typing import Any

from eval_quality.app.behavior.repository import Repository
from eval_quality.app.behavior.scoring import Scored, score
from eval_quality.app.behavior.status import Look, look
from eval_quality.core.behavior.frame import response_bundle
from support.skills_corpus import scenario

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples" / "skills"
REFERENCE = ROOT.parent / "shared" / "reference" / "get-fable"

SKILL_MD = (
    "---\nname: {name}\ndescription: Decides what happens in matter {name}.\n---\n\n# {name}\n\nDecide with care.\n"
)


def clock() -> datetime:
    """A fixed present, a little after anything a test writes."""
    return datetime.now(UTC) + timedelta(seconds=1)


def write_skill(root: Path, name: str, rows: list[dict[str, Any]] | None, folder: str = "skills") -> Path:
    """A plain skill with a scenario file, or without one for None."""
    path = root / folder / name
    path.mkdir(parents=True)
    (path / "SKILL.md").write_text(SKILL_MD.format(name=name), encoding="utf-8")
    if rows is not None:
        (path / "evals").mkdir()
        (path / "evals" / "scenarios.json").write_text(json.dumps(rows), encoding="utf-8")
    return path


def small_repository(root: Path, skills: int = 2, families: int = 3, **settings: Any) -> Path:
    """Some plain skills of distinct families, with a configuration."""
    for index in range(skills):
        rows = [scenario(index * families + number) for number in range(families)]
        write_skill(root, f"skill-{index}", rows)
    configure(root, **settings)
    return root


def configure(root: Path, **settings: Any) -> None:
    """Write the configuration."""
    (root / ".skill-evidence.json").write_text(json.dumps(settings), encoding="utf-8")


def opened(root: Path) -> Repository:
    """The repository at a root."""
    return Repository.open(str(root))


def right_answers(repository: Repository, *, bare: bool = False) -> dict[str, Any]:
    """The right answer to every case, sealed ones included, by opaque id."""
    plan = repository.bare_plan if bare else repository.plan
    return {case.opaque_id: dict(case.expected) for case in plan.cases}


def wrong_answers(repository: Repository, *, bare: bool = False) -> dict[str, Any]:
    """An answer nobody asked for, to every case."""
    return {case_id: {"action": "elsewhere"} for case_id in right_answers(repository, bare=bare)}


def answers_file(path: Path, answers: dict[str, Any], provider: str = "model") -> str:
    """A response bundle on disk."""
    path.write_text(json.dumps(response_bundle(provider, answers)), encoding="utf-8")
    return str(path)


def scored(root: Path, answers: dict[str, Any] | None = None, **options: Any) -> Scored:
    """Score answers (the right ones by default) over a repository."""
    repository = opened(root)
    given = right_answers(repository) if answers is None else answers
    path = answers_file(root / "responses.json", given)
    facts: dict[str, Any] = {"out": None, "arm": "skill", "merge": False, "clock": clock, **options}
    return score(repository, [path], **facts)


def seen(root: Path) -> Look:
    """What a status reads now."""
    return look(opened(root), clock)


def statuses(root: Path) -> dict[str, tuple[str, str]]:
    """(status, level) by skill."""
    return {record.skill_id: (record.standing.status, record.maturity) for record in seen(root).records}


def example(root: Path) -> Path:
    """A copy of the example repository."""
    target = root / "skills-example"
    shutil.copytree(EXAMPLE, target)
    return target


def example_provider(name: str) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """The answer function of one of the example's providers."""
    spec = importlib.util.spec_from_file_location(f"example_{name}", EXAMPLE / "providers" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module: ModuleType = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.answer
