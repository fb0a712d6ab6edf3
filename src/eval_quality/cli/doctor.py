"""`doctor`: environment, skills, evidence, freshness, maturity, and what to do next (spec 11 §14)."""

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
from eval_quality.cli.command import Command, Flag, Invocation
from eval_quality.cli.output import note


def _doctor(invocation: Invocation) -> int:
    from eval_quality.app.behavior.doctor import examine, fix

    repository = open_repository(invocation)
    if invocation.has("--fix"):
        for path in fix(repository.root):
            note(f"created {path}")
    report = examine(repository, clock, allow_exec=invocation.has("--allow-exec"))
    behaviour = next(check.status for check in report.checks if check.check_id == "behavioral-maturity")
    ok = report.ok and not (invocation.has("--require-behavior") and behaviour != "PASS")
    if wants_json(invocation):
        print_json(invocation, "doctor", report.value())
        return 0 if ok else 1
    lines = [f"eval-quality doctor {repository.root}"]
    for check in report.checks:
        lines.append(f"{check.status} {check.check_id}: {check.message}")
        if check.next_step:
            lines.append(f"    next: {check.next_step}")
    print_lines(lines)
    return 0 if ok else 1


COMMAND: Final = Command(
    "doctor",
    "check environment, skills, evidence, freshness and maturity, and say what to do next",
    (
        Flag("--fix", "create the state folder; nothing below evals/ is touched"),
        Flag("--require-behavior", "exit 1 as well while any skill is NOT_CHECKED"),
        ALLOW_EXEC,
        ROOT,
        JSON,
        JSON_V1,
    ),
    _doctor,
    exits=EXITS,
    usage_exit=1,
    fault_exit=1,
)
