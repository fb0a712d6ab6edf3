"""Scoring a run again, and checking it, from what its directory holds (spec 13 §13.7.3, §13.7.4).

Nothing is started and nothing of the host but the run directory is read: no launcher, socket or sandbox is constructed
on the way. What is scored again stands beside the original, never in its place.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from eval_quality.app.run.driving import Result, artifact_class, artifact_kind, publish_pages
from eval_quality.app.run.options import Options
from eval_quality.model.aggregate import StrengthFloors
from eval_quality.model.decode import decode, to_value
from eval_quality.model.policy import ScoringPolicy
from eval_quality.model.registry import read
from eval_quality.run.errors import AuthoringProblem, RunFault
from eval_quality.run.execution import with_seconds
from eval_quality.run.experiment.load import load
from eval_quality.run.finish import Finished, finish
from eval_quality.run.planned import recorded_facts
from eval_quality.run.prepare import Prepared, prepare
from eval_quality.run.snapshot import INPUTS, read_snapshot
from eval_quality.run.source import read_source
from eval_quality.run.store.directory import Run
from eval_quality.run.store.verify import verify_run
from eval_quality.run.story import story
from eval_quality.run.summary import Account, summary_value
from eval_quality.value.digest import digest_value
from eval_quality.value.scan import scan


class Recomputed(NamedTuple):
    """A run scored again from its captures."""

    prepared: Prepared
    finished: Finished


def rescore(directory: str, policy: str | None, floors: str | None, strict: bool) -> Result:
    """Score a finished run again, under its own policy and floors or other ones.

    Writes below `scores/<first 12 hex of the policy digest>/`. Raises `RunFault`, and what reading the policy raises.
    """
    rules = None if policy is None else read("scoring-policy", _document(policy), "ScoringPolicy")
    declared = None if floors is None else decode(StrengthFloors, _document(floors), "StrengthFloors")
    with Run.open(Path(directory).absolute()) as run:
        again = recompute(run, rules, declared)
        folder = f"scores/{digest_value(to_value(again.prepared.policy), 'ScoringPolicy').removeprefix('sha256:')[:12]}"
        for name, data in sorted(again.finished.files.items()):
            run.publish(f"{folder}/{name}", data, artifact_kind(name), artifact_class(name))
        account = Account("done", {}, {}, {}, None, None)
        summary = summary_value(again.finished, account, strict)
        run.publish_json(f"{folder}/summary.json", summary, "RunSummary", "account")
        told = story(again.finished, account, str(run.directory / folder), strict)
        text = publish_pages(run, f"{folder}/", told)
        return Result(str(run.directory / folder), summary["exitCode"], summary, text)


def _document(path: str) -> Any:
    with open(path, "rb") as file:
        return read_source(path, file.read()).value


def recompute(run: Run, policy: ScoringPolicy | None, floors: StrengthFloors | None) -> Recomputed:
    """Mint, seal and score again from captures and inputs. Raises `RunFault` (`resume-refused`) before the end."""
    if run.journal.state() != "done":
        detail = f"the run is {run.journal.state()}; only a finished run can be scored again"
        raise RunFault.of("resume-refused", f"Run[{run.directory.name}]", detail)
    inputs: Any = scan(run.read(INPUTS), "Inputs")
    experiment = load(read_snapshot(run, inputs, has_subject=False).folder).experiment.record
    snapshot = read_snapshot(run, inputs, experiment.subject.source is not None)
    fixed = Options().resumed(run.header)
    prepared = prepare(snapshot.folder, snapshot.subject, snapshot.content, fixed.selection)
    rules, declared = policy or prepared.policy, prepared.documents.floors if floors is None else floors
    prepared = prepared._replace(policy=rules, documents=prepared.documents._replace(policy=rules, floors=declared))
    configurations: dict[str, Any] = {
        name: scan(run.read(f"evaluators/{name}/configuration.json"), "EvaluatorConfiguration")
        for name in prepared.evaluator_ids()
    }
    facts = recorded_facts(prepared, configurations, snapshot.workspaces)
    captures = {capture.item_id: with_seconds(capture) for capture in run.journal.captures()}
    return Recomputed(prepared, finish(prepared, captures, facts))


def verify(directory: str) -> tuple[AuthoringProblem, ...]:
    """Everything that is not as it was written, or that does not follow from the captures; empty for a sound run.

    Raises `RunFault` when the directory is being written or cannot be read at all.
    """
    path = Path(directory).absolute()
    checked = verify_run(path)
    found = [AuthoringProblem(each.code, each.path, each.detail) for each in checked.damage]
    if found or checked.state != "done":
        return tuple(found)
    with Run.open(path) as run:
        again = recompute(run, None, None)
        return tuple(_differences(run, again.finished.files))


def _differences(run: Run, files: Mapping[str, bytes]) -> list[AuthoringProblem]:
    stored = {artifact.name: artifact.byte_digest for artifact in run.journal.artifacts()}
    found: list[AuthoringProblem] = []
    for name, data in sorted(files.items()):
        if name not in stored:
            found.append(AuthoringProblem("derivation-differs", f"Artifact[{name}]", "the run has no such artifact"))
        elif run.blobs.get(stored[name]) != data:
            detail = "what the captures give differs from what the run holds"
            found.append(AuthoringProblem("derivation-differs", f"Artifact[{name}]", detail))
    return found
