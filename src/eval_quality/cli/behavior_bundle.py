"""`behavior-eval export`, `run`, `score`, `audit`: everything a bundle goes through (spec 11 §5.3, §13.1, §17.11)."""

import json
import os
from typing import Final

from eval_quality.cli.behavior_common import (
    ARM,
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
    whole_number,
)
from eval_quality.cli.command import Command, Flag, Invocation, Positional, UsageError
from eval_quality.cli.output import note, write_stdout
from eval_quality.value.text import quoted


def _export(invocation: Invocation) -> int:
    from eval_quality.app.behavior.export import build_bundle, write_bundle

    repository = open_repository(invocation)
    arm = invocation.text("--arm") or "skill"
    exported = build_bundle(repository, invocation.texts("--skill"), arm)
    out = invocation.text("--out")
    if out is not None:
        write_bundle(repository, exported, out, arm, clock)
        print_lines([f"{exported.bundle['total']} requests written to {out}"])
    elif invocation.has("--json-v1"):
        print_json(invocation, "behavior-eval:export", exported.bundle)
    else:
        write_stdout(exported.data.decode())
    return 0


EXPORT: Final = Command(
    "behavior-eval export",
    "write the blinded requests a provider answers",
    (OUT, SKILL, ARM, ROOT, JSON, JSON_V1),
    _export,
    notes="With --out the export receipt and a ledger line are written below .skill-evidence/. The bundle holds no "
    "expected or forbidden answer, no category and no scenario id; its bytes depend on the repository alone.",
    exits=EXITS,
    usage_exit=1,
    fault_exit=1,
)


def _parameters(invocation: Invocation) -> dict[str, object]:
    found: dict[str, object] = {}
    for item in invocation.texts("--parameter"):
        name, separator, value = item.partition("=")
        if not separator or not name:
            raise UsageError("--parameter: expected NAME=JSON")
        try:
            found[name] = json.loads(value)
        except (ValueError, RecursionError) as error:
            raise UsageError(f"--parameter: {quoted(name)} is not JSON") from error
    return found


def _seconds(invocation: Invocation) -> float | None:
    text = invocation.text("--max-seconds")
    if text is None:
        return None
    try:
        seconds = float(text)
    except ValueError as error:
        raise UsageError("--max-seconds: expected a number") from error
    if not 0 < seconds < 1e9:
        raise UsageError("--max-seconds: expected a number above 0")
    return seconds


def _run(invocation: Invocation) -> int:
    from eval_quality.app.behavior.isolation import plan_isolation
    from eval_quality.app.behavior.providers import Options, command_of, make_provider
    from eval_quality.app.behavior.root import find_root, load_config
    from eval_quality.app.behavior.runner import Limits, Run, load_bundle
    from eval_quality.app.behavior.store import holdout_folder, iso

    out = invocation.require("--out")
    spec = invocation.require("--provider")
    root = find_root(invocation.text("--root"), ".")
    sealed = holdout_folder(root, load_config(root).holdout_root)
    options = Options(
        spec,
        invocation.text("--provider-id"),
        invocation.text("--base-url"),
        invocation.text("--api-key-env"),
        tuple(invocation.texts("--pass-env")),
        _parameters(invocation),
    )
    command = command_of(spec)
    mode = invocation.text("--isolate") or "auto"
    hidden = [root] if sealed is None else [root, sealed]
    isolation = plan_isolation(mode, hidden, command or (), invocation.texts("--allow-read"))
    if command is not None and not isolation.active:
        note("the provider's process is not kept from reading the repository (no working bwrap, or --isolate off)")
    provider = make_provider(options, isolation)
    limits = Limits(
        whole_number(invocation, "--timeout-ms", 60_000, 1) or 0,
        whole_number(invocation, "--concurrency", 1, 1) or 0,
        whole_number(invocation, "--max-requests", None, 1),
        _seconds(invocation),
        whole_number(invocation, "--max-tokens", None, 1),
    )
    bundle_path = invocation.positional("BUNDLE") or _own_bundle(invocation, out)
    bundle, digest = load_bundle(bundle_path, invocation.texts("--skill"))
    complete = True
    for number in range(1, (whole_number(invocation, "--repeats", 1, 1) or 1) + 1):
        path = _repeat_path(out, number)
        ran = Run(bundle, digest, provider, path, limits).execute(
            lambda: iso(clock()), resume=invocation.has("--resume")
        )
        parts = ", ".join(f"{count} {outcome}" for outcome, count in sorted(ran.outcomes.items()))
        print_lines([f"{sum(ran.outcomes.values())}/{ran.total} requests asked ({parts or 'none'}): {path}"])
        if ran.stopped is not None:
            note(f"stopped: {ran.stopped}; continue with --resume")
        complete = complete and ran.complete
    return 0 if complete else 1


def _repeat_path(out: str, number: int) -> str:
    stem, suffix = os.path.splitext(out)
    return out if number == 1 else f"{stem}.{number}{suffix}"


def _own_bundle(invocation: Invocation, out: str) -> str:
    """Export the current repository beside the answers; the runner reads that file and nothing else."""
    from eval_quality.app.behavior.export import build_bundle, write_bundle

    repository = open_repository(invocation)
    path = f"{os.path.splitext(out)[0]}.requests.json"
    write_bundle(repository, build_bundle(repository, (), "skill"), path, "skill", clock)
    return path


RUN: Final = Command(
    "behavior-eval run",
    "have a bundle answered by an independent provider",
    (
        Flag("--provider", "cmd:PROGRAM, http:URL, openai:MODEL or anthropic:MODEL", value="spec", required=True),
        Flag("--out", "the response bundle to write", value="path", required=True),
        Flag("--timeout-ms", "limit of one request (60000)", value="n"),
        Flag("--concurrency", "requests at a time (1)", value="n"),
        Flag("--repeats", "runs of every request, each to a file of its own (1)", value="n"),
        Flag("--resume", "continue an earlier run: what was answered is not asked again"),
        Flag("--max-requests", "stop after so many requests", value="n"),
        Flag("--max-seconds", "stop after so many seconds", value="n"),
        Flag("--max-tokens", "stop after so many tokens, where the provider counts them", value="n"),
        SKILL,
        Flag("--provider-id", "how the evidence names the provider", value="text"),
        Flag("--base-url", "endpoint of an openai: or anthropic: provider", value="url"),
        Flag("--api-key-env", "environment variable that holds the API key", value="name"),
        Flag("--parameter", "a member of a model request: NAME=JSON; repeatable", value="name=json", repeatable=True),
        Flag(
            "--pass-env", "an environment variable a cmd: provider may see; repeatable", value="name", repeatable=True
        ),
        Flag(
            "--isolate",
            "hide the repository from a cmd: provider (auto)",
            value="mode",
            choices=("auto", "require", "off"),
        ),
        Flag(
            "--allow-read",
            "a path inside the repository that stays readable; repeatable",
            value="path",
            repeatable=True,
        ),
        ROOT,
    ),
    _run,
    (Positional("BUNDLE", "the request bundle; exported beside --out when absent", required=False),),
    notes="Every raw answer is kept in <out>.raw.jsonl and every outcome in <out>.log.jsonl. A provider gets one "
    "request and nothing else.",
    exits=EXITS,
    usage_exit=1,
    fault_exit=1,
)


def _score(invocation: Invocation) -> int:
    from eval_quality.app.behavior.scoring import score, summary_value
    from eval_quality.app.behavior.status import look

    repository = open_repository(invocation)
    paths = [*invocation.positionals("RESP"), *invocation.texts("--repeat")]
    arm = invocation.text("--arm") or "skill"
    scored = score(
        repository, paths, out=invocation.text("--out"), arm=arm, merge=invocation.has("--merge"), clock=clock
    )
    for warning in scored.warnings:
        note(warning)
    if wants_json(invocation):
        status = "NOT_CHECKED" if arm == "bare" else look(repository, clock, out=scored.path).status
        print_json(invocation, "behavior-eval:score", summary_value(scored, status))
    else:
        print_lines([f"{scored.passed}/{scored.total} {scored.provider_id} {scored.path}"])
    return 0


SCORE: Final = Command(
    "behavior-eval score",
    "score answers against the private half and write the evidence",
    (
        OUT,
        Flag("--merge", "replace the answered skills only; the others must still be fresh"),
        Flag("--repeat", "another run of the same requests; repeatable", value="path", repeatable=True),
        ARM,
        ROOT,
        JSON,
        JSON_V1,
    ),
    _score,
    (Positional("RESP", "the response bundle"),),
    exits=EXITS,
    usage_exit=1,
    fault_exit=1,
)


def _audit(invocation: Invocation) -> int:
    from eval_quality.app.behavior.audit import audit

    repository = None if invocation.has("--blind") else open_repository(invocation)
    report = audit(invocation.positional("BUNDLE") or "", invocation.text("--labels"), repository)
    if wants_json(invocation):
        print_json(invocation, "behavior-eval:audit", report)
    else:
        lines = [f"{probe['status']} {probe['name']}: {probe['detail']}" for probe in report["probes"]]
        print_lines([*lines, report["status"]])
    return 1 if report["status"] == "FAIL" else 0


AUDIT: Final = Command(
    "behavior-eval audit",
    "attack a request bundle as a curious provider would, or count what an evidence file gives away",
    (
        Flag("--labels", "the private half of somebody else's bundle", value="path"),
        Flag("--blind", "use nothing but the bundle"),
        ROOT,
        JSON,
        JSON_V1,
    ),
    _audit,
    (Positional("BUNDLE", "a request bundle or an evidence file"),),
    notes='--labels names {"case-...": {"category", "family", "expected", "forbidden"?}}.',
    exits=EXITS,
    usage_exit=1,
    fault_exit=1,
)
