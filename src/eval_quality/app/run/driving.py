"""Driving an open run to its end and writing down what it came to (spec 12 §12.10, §12.26)."""

import os
import signal
import threading
from collections.abc import Callable, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

from eval_quality.app.run.opening import OpenRun, programs
from eval_quality.app.run.options import default_concurrency
from eval_quality.probe.signals import AbortController
from eval_quality.report.html import html_page
from eval_quality.report.text import text_page
from eval_quality.run.confine.secrets import read_secrets
from eval_quality.run.corpus import artifact_bytes, fixture_verdict, qualify_all
from eval_quality.run.errors import RunError, RunInvalid
from eval_quality.run.execution import Caps, Execution, Interrupted, Until
from eval_quality.run.finish import finish
from eval_quality.run.sandbox import Confined
from eval_quality.run.snapshot import subject_rules
from eval_quality.run.stage import Stage
from eval_quality.run.store.directory import Run
from eval_quality.run.store.verify import repair_views
from eval_quality.run.story import story
from eval_quality.run.summary import Account, summary_value
from eval_quality.run.tree import materialise
from eval_quality.run.work import Host
from eval_quality.run.workshop import Workshop
from eval_quality.value.scan import scan

Notify = Callable[[str, Mapping[str, Any]], None]


class Result(NamedTuple):
    """How a run ended: its directory, exit code, summary document and summary page (both None before scoring)."""

    directory: str
    exit_code: int
    summary: dict[str, Any] | None
    text: str | None


def drive(opened: OpenRun, notify: Notify) -> Result:
    """Execute what is pending, then seal, score and summarise. The run directory is closed when this returns.

    Raises `RunInvalid`, `RunStopped`, `RunFault`, `Interrupted`; what is captured by then stays captured.
    """
    with opened.run as run:
        journal = run.journal
        try:
            captures = _measure(opened, notify)
        except Until:
            journal.enter("stopped", "until")
            return Result(str(run.directory), 0, None, None)
        except RunInvalid:
            _publish_what_failed(opened)
            raise
        except Interrupted:
            journal.enter("stopped", "signal")
            raise
        except RunError as error:
            journal.enter("stopped" if error.exit_code == 75 else "failed", error.problems[0].code)
            raise
        journal.enter("sealing")
        return _score(opened, captures, notify)


def _measure(opened: OpenRun, notify: Notify) -> dict[str, Any]:
    prepared, run = opened.prepared, opened.run
    experiment, options = prepared.experiment, opened.options
    secrets = read_secrets(experiment.secrets.env, os.environ)
    redactor = secrets.redactor(experiment.secrets.redact_names)
    abort = AbortController()
    subject = opened.sides.subject
    if isinstance(subject, Confined):
        subject.share(programs(str(run.workspace("eq"))))
    workshop = Workshop(
        str(run.workspace("arms")),
        subject_rules(experiment),
        _artifact_paths(opened),
        opened.snapshot.content,
        lambda folder: stage.prepare(folder),
    )
    stage = Stage(prepared, workshop, subject, secrets.values, redactor, abort.signal)
    host = Host(
        opened.sides.evaluator,
        _start_workspaces(opened),
        options.attest,
        not options.reproducible and experiment.run.wall_clock == "measured",
        str(run.workspace("evaluators")),
        opened.root,
    )
    execution = Execution(run, prepared, stage, host, _caps(opened), abort, options.until, notify)
    try:
        with _signals(execution):
            return execution.measure()
    finally:
        run.clear_work()


def _caps(opened: OpenRun) -> Caps:
    budget, options = opened.prepared.experiment.budget, opened.options
    return Caps(
        min(budget.max_calls, options.max_calls or budget.max_calls),
        min(budget.max_wall_s, options.max_wall_s or budget.max_wall_s),
        options.concurrency or default_concurrency(opened.prepared.experiment),
    )


def _artifact_paths(opened: OpenRun) -> tuple[str, ...]:
    """Files that calls write; a master never holds one (12.11.2)."""
    return tuple(
        path if binding.cwd == "." else f"{binding.cwd}/{path}"
        for binding in opened.prepared.experiment.interface.values()
        for executable in (binding.executable or {}).values()
        for path in executable.artifacts.values()
    )


def _start_workspaces(opened: OpenRun) -> dict[str, str]:
    found: dict[str, str] = {}
    for name, tree in opened.snapshot.workspaces.items():
        found[name] = str(opened.run.workspace(f"start-{name}"))
        materialise(tree, opened.snapshot.content, found[name])
    return found


@contextmanager
def _signals(execution: Execution) -> Any:
    """SIGINT and SIGTERM stop the run in good order; a second one ends the process at once (12.28)."""

    def stop(number: int, _frame: FrameType | None) -> None:
        if execution.stopping:
            os._exit(128 + number)  # the supervisor ends what was started, the journal what was begun
        execution.stopping = 128 + number

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _publish_what_failed(opened: OpenRun) -> None:
    """Readings and verdicts of an invalid run, so that its author can look at them."""
    run, prepared = opened.run, opened.prepared
    captures = {capture.item_id: capture.body for capture in run.journal.captures()}
    if "fixture" in captures and captures["fixture"]["observations"]:
        run.publish(
            "preflight/fixture.json",
            artifact_bytes(fixture_verdict(prepared, captures), "PreflightVerdict"),
            "PreflightVerdict",
        )
    if all(f"qualify/{plan.probe_id}" in captures for plan in prepared.probes):
        for each in qualify_all(prepared, captures):
            for name, data in each.files.items():
                run.publish(name, data, "QualificationReading")


def _score(opened: OpenRun, captures: Mapping[str, Any], notify: Notify) -> Result:
    run = opened.run
    finished = finish(opened.prepared, captures, opened.facts)
    for name, data in sorted(finished.files.items()):
        run.publish(name, data, artifact_kind(name), artifact_class(name))
    for cell in finished.cells:
        body = {"evaluator": cell.cell.evaluator_id, "probe": cell.cell.probe_id, "state": cell.state}
        run.journal.event("cell.scored", {**body, "verdict": cell.verdict})
        notify("cell.scored", {**body, "verdict": cell.verdict})
    account = account_of(opened)
    summary = summary_value(finished, account, opened.options.strict)
    run.publish_json("summary.json", summary, "RunSummary", "account")
    text = publish_pages(run, "", story(finished, account, str(run.directory), opened.options.strict))
    run.journal.enter("done")
    run.journal.event("run.finished", {"exitCode": summary["exitCode"]})
    notify("run.finished", {"exitCode": summary["exitCode"]})
    return Result(str(run.directory), summary["exitCode"], summary, text)


def publish_pages(run: Run, folder: str, told: Mapping[str, Any]) -> str:
    """Write a run's story as text and as HTML below `folder`; gives the text."""
    text = text_page(told)
    run.publish(f"{folder}summary.txt", text.encode(), "RunSummaryText", "account")
    run.publish(f"{folder}report.html", html_page(told).encode(), "RunReport", "account")
    return text


def account_of(opened: OpenRun) -> Account:
    """The facts about this execution that no artifact holds."""
    journal, options = opened.run.journal, opened.options
    selection = None
    if options.evaluators or options.probes:
        selection = {"evaluators": list(options.evaluators), "probes": list(options.probes)}
    return Account(
        "done",
        {item.item_id: (item.lost, item.void) for item in journal.items()},
        opened.sides.account(),
        options.attest,
        selection,
        None if options.reproducible else round(journal.active_ms() / 1000, 3),
    )


def result_of(directory: str) -> Result | None:
    """The result of a run that is done, its views repaired; None for any other run. Raises `RunFault`."""
    with Run.open(Path(directory).absolute()) as run:
        if run.journal.state() != "done":
            return None
        repair_views(run)
        summary: Any = scan(run.read("summary.json"), "RunSummary")
        return Result(str(run.directory), summary["exitCode"], summary, run.read("summary.txt").decode())


MEASURED = ("record-", "isolation-manifest")


def artifact_class(name: str) -> str:
    """Which promise an artifact is under (12.17.5)."""
    return "measured" if name.startswith("cells/") and any(part in name for part in MEASURED) else "reproducible"


def artifact_kind(name: str) -> str:
    """What a file of the run directory is, by its name."""
    known = {
        "contract.json": "EvalContract",
        "brief.json": "SealedEvaluatorBrief",
        "policy.json": "ScoringPolicy",
        "floors.json": "StrengthFloors",
        "configuration.json": "EvaluatorConfiguration",
        "isolation-manifest.json": "IsolationManifest",
        "evidence.json": "EvidenceArtifact",
    }
    base = name.rsplit("/", 1)[-1]
    if base in known:
        return known[base]
    folders = {
        "probes": "Probe",
        "aggregates": "StrengthAggregate",
        "preflight": "PreflightVerdict",
        "qualification": "QualificationReading",
    }
    return "SealedRunRecord" if base.startswith("record-") else folders.get(name.split("/", 1)[0], "RunDirectory")
