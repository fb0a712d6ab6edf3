"""`skills list` and `skills inspect ID`: the catalogue feed (spec 11 §10.5, §13.2)."""

import os
from typing import Final

from eval_quality.cli.behavior_common import (
    EXITS,
    JSON,
    JSON_V1,
    ROOT,
    clock,
    open_repository,
    print_json,
    print_lines,
    wants_json,
)
from eval_quality.cli.command import Command, Flag, Invocation, Positional

TARGET: Final = Flag("--target", "the folder whose installed skills are looked up (the working folder)", value="dir")


def _list(invocation: Invocation) -> int:
    from eval_quality.app.behavior.feed import feed
    from eval_quality.app.behavior.status import look

    repository = open_repository(invocation)
    entries = feed(repository, look(repository, clock), invocation.text("--target") or os.getcwd())
    if wants_json(invocation):
        print_json(invocation, "feed:list", {"skills": entries})
        return 0
    width = max((len(entry["id"]) for entry in entries), default=0)
    print_lines(
        [
            f"{entry['id']:<{width}}  {entry['maturity']}  {entry['status']:<11}  "
            f"{entry['evalScenariosCount']:>4} scenarios  {entry['skillPath']}"
            for entry in entries
        ]
        or ["no skill found"]
    )
    return 0


def _inspect(invocation: Invocation) -> int:
    from eval_quality.app.behavior.feed import inspect
    from eval_quality.app.behavior.status import look

    repository = open_repository(invocation)
    target = invocation.text("--target") or os.getcwd()
    entry = inspect(repository, look(repository, clock), target, invocation.positional("ID") or "")
    if wants_json(invocation):
        print_json(invocation, "feed:inspect", entry)
        return 0
    lines = [
        f"{entry['id']}  {entry['maturity']}  {entry['status']}  {entry['skillPath']} ({entry['profile']})",
        f"  {entry['description'] or 'no description'}",
        f"  {entry['evalScenariosCount']} scenarios, {entry['resourceCounts']['total']} resources",
    ]
    lines += [f"  error: {problem}" for problem in entry["package"]["errors"]]
    lines += [
        f"  {name}: {part['status']} {part['passed']}/{part['total']}"
        + (f" ({part['reason']})" if "reason" in part else "")
        for name, part in entry["record"]["behavior"].items()
    ]
    print_lines(lines)
    return 0


COMMANDS: Final = (
    Command(
        "skills list",
        "every skill with its level and status",
        (TARGET, ROOT, JSON, JSON_V1),
        _list,
        exits=EXITS,
        usage_exit=1,
        fault_exit=1,
    ),
    Command(
        "skills inspect",
        "one skill: resources, scenarios, behaviour",
        (TARGET, ROOT, JSON, JSON_V1),
        _inspect,
        (Positional("ID", "the skill"),),
        exits=EXITS,
        usage_exit=1,
        fault_exit=1,
    ),
)
