"""`behavior-eval export`: the blinded bundle, its receipt and its ledger line (spec 11 §5.3, §17.7, §17.10).

1. The corpus is sound, or nothing is written.
2. The leak scan finds nothing in the finished bundle, or nothing is written.
3. The bundle's bytes depend on the repository alone: no clock, no order of the file system.
"""

import hashlib
import os
from collections.abc import Sequence
from typing import Any

import msgspec

from eval_quality.app.behavior.repository import Repository, skill_list
from eval_quality.app.behavior.root import RepositoryRefused
from eval_quality.app.behavior.store import EXPORTS, Clock, append_ledger, indented, iso, path_inside, replace_file
from eval_quality.core.behavior.documents import REQUEST_BUNDLE
from eval_quality.core.behavior.draft7 import problems, summary
from eval_quality.core.behavior.jsonish import JsonObject
from eval_quality.core.behavior.leak import scan_requests
from eval_quality.core.behavior.plan import Plan, bundle_of
from eval_quality.core.behavior.provenance import receipt

ARMS = ("skill", "bare")


class Exported(msgspec.Struct, frozen=True):
    """A finished bundle: the value and the bytes of its file."""

    bundle: JsonObject
    data: bytes


def arm_plan(repository: Repository, arm: str) -> Plan:
    """The plan of an arm: `skill`, or `bare` without the instructions. Raises `RepositoryRefused`."""
    plan = repository.require_sound()
    return repository.bare_plan if arm == "bare" else plan


def build_bundle(repository: Repository, skill_ids: Sequence[str], arm: str) -> Exported:
    """The bundle of the whole repository or of some skills. Raises `RepositoryRefused`."""
    if arm == "skill":
        repository.draw_canaries()
    plan = arm_plan(repository, arm)
    skill_list(repository.skills, skill_ids)
    chosen = list(dict.fromkeys(skill_ids)) or None
    bundle = bundle_of(plan, chosen, repository.salt)
    if not bundle["requests"]:
        raise RepositoryRefused("the skills named have no case that a provider can answer")
    if found := problems(REQUEST_BUNDLE, bundle):
        raise RepositoryRefused(f"the bundle would not match its own schema: {summary(found)}")
    names = [scenario.scenario_id for scenario in [*repository.scenarios, *repository.sealed.scenarios]]
    if leaks := scan_requests(bundle["requests"], names):
        more = f" (and {len(leaks) - 1} more)" if len(leaks) > 1 else ""
        raise RepositoryRefused(f"leak scan: {leaks[0].line()}{more}")
    return Exported(bundle, indented(bundle))


def write_bundle(repository: Repository, exported: Exported, out: str, arm: str, clock: Clock) -> str:
    """Write the bundle, its receipt and a ledger line; returns the absolute path."""
    plan = arm_plan(repository, arm)
    bundle = exported.bundle
    path = os.path.abspath(out)
    replace_file(path, exported.data)
    moment = iso(clock())
    digest = hashlib.sha256(exported.data).hexdigest()
    document: dict[str, Any] = receipt(plan, bundle, digest, moment, repository.config.digest)
    replace_file(path_inside(repository.root, f"{EXPORTS}/{bundle['corpusSha256']}.json"), indented(document))
    append_ledger(
        repository.root,
        {
            "at": moment,
            "op": "export",
            "corpusSha256": bundle["corpusSha256"],
            "oracleSha256": bundle["oracleSha256"],
            "total": bundle["total"],
        },
    )
    return path
