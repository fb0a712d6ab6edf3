"""`behavior-eval init`: configuration, state folder and scenario drafts for a repository without them (§17.2)."""

import os
from collections.abc import Sequence

from eval_quality.app.behavior.repository import Repository, skill_list
from eval_quality.app.behavior.root import CONFIG_NAME, SALT_NAME, STATE_FOLDER
from eval_quality.app.behavior.store import indented, path_inside, replace_file
from eval_quality.core.behavior.drafting import draft_scenarios

DRAFTS = f"{STATE_FOLDER}/drafts"
IGNORE = "salt\n"


def initialise(repository: Repository, skill_ids: Sequence[str], *, salt: bool) -> list[str]:
    """Create what is missing and return the relative paths written. Nothing that exists is changed.

    Drafts go to `.skill-evidence/drafts/<skill>.json`, for the skills named or for those without a scenario.
    """
    skill_list(repository.skills, skill_ids)
    written: list[str] = []

    def create(relative: str, data: bytes) -> None:
        path = path_inside(repository.root, relative)
        if not os.path.lexists(path):
            replace_file(path, data)
            written.append(relative)

    create(CONFIG_NAME, indented({"schemaVersion": 1}))
    create(f"{STATE_FOLDER}/.gitignore", IGNORE.encode())
    if salt:
        create(SALT_NAME, os.urandom(32).hex().encode() + b"\n")
    chosen = list(skill_ids) or [key for key in repository.ids if not repository.scenarios_of(key)]
    for skill_id in chosen:
        if skill_id not in repository.evaluators:
            value = draft_scenarios(skill_id, repository.skills[skill_id].instruction)
            create(f"{DRAFTS}/{skill_id}.json", indented(value))
    return written
