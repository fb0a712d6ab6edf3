"""`behavior-eval`: the family of spec 11 §13.1 and §17.12. The members that handle bundles are in `behavior_bundle`."""

from typing import Any, Final

from eval_quality.cli.behavior_bundle import AUDIT, EXPORT, RUN, SCORE
from eval_quality.cli.behavior_common import (
    ALLOW_EXEC,
    EXITS,
    JSON,
    JSON_V1,
    OUT,
    ROOT,
    SKILL,
    clock,
    open_repository,
    print_json,
    print_lines,
    wants_json,
)
from eval_quality.cli.command import Command, Flag, Invocation, Positional
from eval_quality.cli.output import write_stdout


def _status(invocation: Invocation) -> int:
    from eval_quality.app.behavior.status import look, payload, provider_matrix

    repository = open_repository(invocation)
    seen = look(repository, clock, allow_exec=invocation.has("--allow-exec"))
    value = payload(repository, seen, with_cases=invocation.has("--with-cases"))
    if invocation.has("--all"):
        value["providers"] = provider_matrix(repository, clock)
    if wants_json(invocation):
        print_json(invocation, "behavior-eval:status", value)
    else:
        lines = [f"{value['status']} {value['reason']}"]
        if invocation.has("--skills"):
            lines += [_skill_line(record) for record in value["skills"]]
        if invocation.has("--all"):
            lines += [
                f"{row['status']} {row['providerId']} {row['path']}: {row['reason']}" for row in value["providers"]
            ]
        print_lines(lines)
    return 0 if value["status"] == "PASS" else 1


def _skill_line(record: dict[str, Any]) -> str:
    parts = [f"{name} {part['passed']}/{part['total']}" for name, part in record["behavior"].items()]
    reason = f" ({record['reason']})" if record["reason"] else ""
    return f"  {record['status']} {record['maturity']} {record['id']}: {', '.join(parts)}{reason}"


STATUS: Final = Command(
    "behavior-eval status",
    "PASS, FAIL or NOT_CHECKED, recomputed from the recorded answers",
    (
        Flag("--skills", "one line a skill as well"),
        Flag("--all", "every evidence file of evals/results, one line a provider"),
        Flag("--with-cases", "include the cases, and with them the oracle, in the JSON snapshot"),
        ALLOW_EXEC,
        ROOT,
        JSON,
        JSON_V1,
    ),
    _status,
    exits=EXITS,
    usage_exit=1,
    fault_exit=1,
)


def _lint(invocation: Invocation) -> int:
    from eval_quality.app.behavior.lint import lint, suggestions

    repository = open_repository(invocation)
    found = lint(repository)
    value: dict[str, Any] = {"findings": [finding.value() for finding in found]}
    if invocation.has("--suggest"):
        value["suggestions"] = suggestions(repository, invocation.texts("--skill"))
    failed = any(finding.level == "ERROR" for finding in found)
    if wants_json(invocation):
        print_json(invocation, "behavior-eval:lint", value)
        return 1 if failed else 0
    counts = [sum(finding.level == level for finding in found) for level in ("ERROR", "WARN")]
    print_lines([*(finding.line() for finding in found), f"{counts[0]} errors, {counts[1]} warnings"])
    if invocation.has("--suggest"):
        import msgspec

        write_stdout(msgspec.json.format(msgspec.json.encode(value["suggestions"]), indent=2).decode() + "\n")
    return 1 if failed else 0


LINT: Final = Command(
    "behavior-eval lint",
    "everything about skills and scenarios to know before exporting",
    (Flag("--suggest", "print scenario drafts made from evals/evals.json files"), SKILL, ROOT, JSON, JSON_V1),
    _lint,
    exits=EXITS,
    usage_exit=1,
    fault_exit=1,
)


def _init(invocation: Invocation) -> int:
    from eval_quality.app.behavior.init import initialise

    repository = open_repository(invocation)
    written = initialise(repository, invocation.texts("--skill"), salt=invocation.has("--salt"))
    print_lines([f"wrote {path}" for path in written] or ["nothing to write: everything is there"])
    return 0


INIT: Final = Command(
    "behavior-eval init",
    "create the configuration and draft scenarios from each SKILL.md",
    (SKILL, Flag("--salt", "create .skill-evidence/salt: case ids that nobody can recompute"), ROOT),
    _init,
    notes="Drafts are written to .skill-evidence/drafts/. Their actions are empty: a person fills them and moves them "
    "to the skill's evals/. Nothing that exists is changed.",
    exits=EXITS,
    usage_exit=1,
    fault_exit=1,
)


def _diff(invocation: Invocation) -> int:
    from eval_quality.app.behavior.suites import diff_files

    value = diff_files(invocation.positional("A") or "", invocation.positional("B") or "")
    if wants_json(invocation):
        print_json(invocation, "behavior-eval:diff", value)
        return 0
    line = f"{value['wins']} wins, {value['losses']} losses, {value['ties']} ties, McNemar p {value['mcnemarP']}"
    rows = [
        f"  {name}: {row['wins']} wins, {row['losses']} losses, {row['ties']} ties, p {row['mcnemarP']}"
        for name, row in {**value["skills"], **value["categories"]}.items()
    ]
    print_lines([line, *rows])
    return 0


DIFF: Final = Command(
    "behavior-eval diff",
    "compare two evidence files of one corpus, case by case",
    (JSON, JSON_V1),
    _diff,
    (Positional("A", "the earlier evidence"), Positional("B", "the later evidence")),
    exits=EXITS,
    usage_exit=1,
    fault_exit=1,
)


def _document(invocation: Invocation, value: Any) -> int:
    from eval_quality.app.behavior.store import indented, replace_file

    out = invocation.text("--out")
    data = indented(value)
    if out is None:
        write_stdout(data.decode())
    else:
        replace_file(out, data)
        print_lines([f"written to {out}"])
    return 0


def _import_evals(invocation: Invocation) -> int:
    from eval_quality.app.behavior.suites import import_evals

    return _document(invocation, import_evals(invocation.positional("FILE") or ""))


IMPORT_EVALS: Final = Command(
    "behavior-eval import-evals",
    "scenario drafts from a skill's evals.json, both dialects",
    (OUT,),
    _import_evals,
    (Positional("FILE", "the evals.json"),),
    notes="A draft's expected.action is empty: no oracle is derived from prose.",
    exits=EXITS,
    usage_exit=1,
    fault_exit=1,
)


def _export_evals(invocation: Invocation) -> int:
    from eval_quality.app.behavior.suites import export_evals

    repository = open_repository(invocation)
    value = export_evals(repository, invocation.require("--skill"), invocation.text("--dialect") or "A")
    return _document(invocation, value)


_ONE_SKILL: Final = Flag("--skill", "the skill", value="id", required=True)

EXPORT_EVALS: Final = Command(
    "behavior-eval export-evals",
    "an evals.json of a skill's scenarios; it holds the answers",
    (
        _ONE_SKILL,
        Flag("--dialect", "A (expectations) or B (assertions)", value="dialect", choices=("A", "B")),
        OUT,
        ROOT,
    ),
    _export_evals,
    exits=EXITS,
    usage_exit=1,
    fault_exit=1,
)


def _export_triggers(invocation: Invocation) -> int:
    from eval_quality.app.behavior.suites import export_triggers

    repository = open_repository(invocation)
    return _document(invocation, export_triggers(repository, invocation.require("--skill")))


EXPORT_TRIGGERS: Final = Command(
    "behavior-eval export-triggers",
    "a trigger suite of a skill: its own intents and its neighbours'",
    (_ONE_SKILL, OUT, ROOT),
    _export_triggers,
    exits=EXITS,
    usage_exit=1,
    fault_exit=1,
)


def _triggers(invocation: Invocation) -> int:
    from eval_quality.app.behavior.suites import judge_trigger_files

    value = judge_trigger_files(invocation.positional("RESULTS") or "", invocation.require("--control"))
    if wants_json(invocation):
        print_json(invocation, "behavior-eval:triggers", value)
    else:
        print_lines([f"{value['status']} {value['reason']}"])
    return 0 if value["status"] == "PASS" else 1


TRIGGERS: Final = Command(
    "behavior-eval triggers",
    "judge trigger results, given those of a positive-control skill",
    (Flag("--control", "results of a skill that must always trigger", value="path", required=True), JSON, JSON_V1),
    _triggers,
    (Positional("RESULTS", "the trigger results"),),
    notes="Without a control that fires, and with any run that did not finish, no rate is printed.",
    exits=EXITS,
    usage_exit=1,
    fault_exit=1,
)

COMMANDS: Final = (
    STATUS,
    EXPORT,
    RUN,
    SCORE,
    AUDIT,
    LINT,
    INIT,
    DIFF,
    IMPORT_EVALS,
    EXPORT_EVALS,
    EXPORT_TRIGGERS,
    TRIGGERS,
)
