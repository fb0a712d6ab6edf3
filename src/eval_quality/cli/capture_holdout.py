"""`capture-holdout KIND`: run a frozen holdout once and write its snapshot (spec 11 §11.5, §17.12)."""

from typing import Final

from eval_quality.cli.behavior_common import (
    ALLOW_EXEC,
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
from eval_quality.cli.command import Command, Invocation, Positional


def _capture(invocation: Invocation) -> int:
    from eval_quality.app.behavior.measured import capture_holdout

    repository = open_repository(invocation)
    kind = invocation.positional("KIND") or ""
    value, path, good = capture_holdout(repository, kind, clock, allow_exec=invocation.has("--allow-exec"))
    if wants_json(invocation):
        print_json(invocation, "capture-holdout", value)
    else:
        violations = f", {value['forbiddenViolations']} violations" if value["forbiddenViolations"] else ""
        print_lines([f"{value['passed']}/{value['total']}{violations} {path}"])
    return 0 if good else 1


COMMAND: Final = Command(
    "capture-holdout",
    "run a deterministic skill's holdout and freeze the result",
    (ALLOW_EXEC, ROOT, JSON, JSON_V1),
    _capture,
    (Positional("KIND", "a skill with an evaluator, or routing, spark, verification"),),
    notes="At least 20 cases. The snapshot is written in any case; exit 1 below 90 % or with a violation.",
    exits=EXITS,
    usage_exit=1,
    fault_exit=1,
)
