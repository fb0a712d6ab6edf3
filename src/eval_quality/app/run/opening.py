"""Opening a run: from an experiment folder, or from a run directory that is to be continued.

Both end in the same thing, an `OpenRun`: the run directory held for writing, the plan, and what it was made from. A new
run keeps every input before it is planned; a resumed one reads nothing else than what was kept.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from eval_quality._version import VERSION
from eval_quality.app.run.options import Options
from eval_quality.run.confine.capability import report, require_backend
from eval_quality.run.confine.specification import repository_masks
from eval_quality.run.driver.callable import WORKER
from eval_quality.run.errors import ExperimentFailure
from eval_quality.run.evaluators.configuration import EvaluatorFacts
from eval_quality.run.experiment.check import check
from eval_quality.run.experiment.document import ConfineSide, Experiment, size_in_bytes
from eval_quality.run.experiment.folder import DiskFolder
from eval_quality.run.experiment.load import load
from eval_quality.run.planned import all_facts, digest_of, plan_value
from eval_quality.run.prepare import Prepared, prepare
from eval_quality.run.sandbox import Confined, Unconfined, shared_folder
from eval_quality.run.snapshot import INPUTS, Snapshot, inputs_value, outer, read_snapshot, read_trees
from eval_quality.run.store.directory import Run
from eval_quality.run.store.journal import Item
from eval_quality.run.store.layout import Store
from eval_quality.value.scan import scan

WORKSPACE_GROWTH: Final = 2
"""How many times the largest subject a workspace may grow to; above it everything inside is ended."""


class Sides(NamedTuple):
    """Where subjects and evaluators run."""

    subject: Confined | Unconfined
    evaluator: Confined | Unconfined

    def account(self) -> dict[str, Any]:
        """What the summary says about confinement."""
        return {
            side: {"backend": "bwrap", "profile": sandbox.profile}
            if isinstance(sandbox, Confined)
            else {"backend": "none"}
            for side, sandbox in (("subject", self.subject), ("evaluator", self.evaluator))
        }


class OpenRun(NamedTuple):
    """A run directory held for writing, with everything needed to go on."""

    run: Run
    prepared: Prepared
    snapshot: Snapshot
    sides: Sides
    facts: tuple[EvaluatorFacts, ...]
    options: Options
    root: str


def find_folder(path: str) -> tuple[str, str]:
    """The experiment folder that `path` names, and the experiment file where it names one."""
    if os.path.isdir(path):
        return os.path.abspath(path), ""
    if os.path.isfile(path):
        return os.path.split(os.path.abspath(path))
    raise ExperimentFailure.of("author-unreadable-source", "Experiment", f'"{path}" is neither a folder nor a file')


def check_experiment(path: str, options: Options) -> Prepared:
    """Phases 1 to 3 without a run directory: everything that can be wrong before something is started."""
    root, chosen = find_folder(path)
    folder = DiskFolder(root)
    trees = read_trees(root, _sound(folder, chosen))
    return prepare(folder, trees.subject, trees.content.__getitem__, options.selection, chosen)


def _sound(folder: DiskFolder, chosen: str = "") -> Experiment:
    """The experiment of a folder whose documents fit each other: every problem is told before a tree is read."""
    documents = load(folder, chosen)
    check(documents)
    return documents.experiment.record


def start(path: str, options: Options) -> OpenRun:
    """Open a new run of the experiment at `path`.

    Raises `ExperimentFailure`, `StructuralFailure`, `RuntimeFault`, `RunFault`; a run directory is made only when the
    experiment is sound and can be confined as it asks.
    """
    root, chosen = find_folder(path)
    folder = DiskFolder(root)
    trees = read_trees(root, _sound(folder, chosen))
    prepared = prepare(folder, trees.subject, trees.content.__getitem__, options.selection, chosen)
    store_root = Path(options.store).absolute()
    sides = open_sides(prepared, options, root, str(store_root if options.run_dir is None else options.run_dir))
    facts = all_facts(prepared, root, trees.workspaces, trees.content.__getitem__, sides.evaluator)
    header = {"engineVersion": VERSION, "experimentId": prepared.experiment.id, **options.header(root)}
    if options.run_dir is None:
        run = Store.open(store_root, unsafe=options.store_unsafe).create_run(prepared.experiment.id, header)
    else:
        run = Run.create(Path(options.run_dir).absolute(), header)
    try:
        inputs = inputs_value(folder, trees, run.blobs.put)
        run.publish_json(INPUTS, inputs, "Inputs", "input")
        plan = plan_value(prepared, facts, inputs)
        run.publish_json("plan.json", plan, "Plan", "input")
        run.publish_json("capabilities.json", capabilities(sides), "Capabilities", "account")
        run.journal.plan((Item(item.item_id, item.kind) for item in prepared.items), digest_of(plan))
        snapshot = read_snapshot(run, inputs, trees.subject is not None)
    except BaseException:
        run.close("start failed")
        raise
    return OpenRun(run, prepared, snapshot, sides, facts, options, root)


def resume(directory: str, options: Options) -> OpenRun:
    """Open a run directory to go on with it. Raises `RunFault` (`resume-refused`, `plan-mismatch`, `store-*`)."""
    run = Run.open(Path(directory).absolute())
    try:
        return reopen(run, options)
    except BaseException:
        run.close("resume failed")
        raise


def reopen(run: Run, options: Options) -> OpenRun:
    """The plan and inputs of a run directory that is held."""
    fixed = options.resumed(run.header)
    root: str = run.header["experimentRoot"]
    inputs: Any = scan(run.read(INPUTS), "Inputs")
    probe_folder = read_snapshot(run, inputs, has_subject=False).folder
    experiment = load(probe_folder).experiment.record
    snapshot = read_snapshot(run, inputs, experiment.subject.source is not None)
    prepared = prepare(snapshot.folder, snapshot.subject, snapshot.content, fixed.selection)
    sides = open_sides(prepared, fixed, root, str(run.directory))
    facts = all_facts(prepared, root, snapshot.workspaces, snapshot.content, sides.evaluator)
    plan = plan_value(prepared, facts, inputs)
    run.journal.plan((Item(item.item_id, item.kind) for item in prepared.items), digest_of(plan))
    return OpenRun(run, prepared, snapshot, sides, facts, fixed, root)


def open_sides(prepared: Prepared, options: Options, root: str, store: str) -> Sides:
    """Where subjects and evaluators of this run are started. Raises `RunFault` (`confinement-*`)."""
    experiment = prepared.experiment
    masks = material(experiment, root, store)
    subject, evaluator = experiment.confine.subject, experiment.confine.evaluator
    external = any(each is not None for each in prepared.evaluators)
    reads = [path for each in prepared.evaluators if each is not None for path in each.read]
    limit = WORKSPACE_GROWTH * size_in_bytes(experiment.subject.max_bytes)
    return Sides(
        _side(subject, options, "host-ro", masks, root, (), limit, starts=_starts_something(experiment)),
        _side(evaluator, options, "minimal", masks, root, reads, limit, starts=external),
    )


def _starts_something(experiment: Experiment) -> bool:
    return any(binding.address is None for binding in experiment.interface.values())


def _side(
    side: ConfineSide,
    options: Options,
    profile: str,
    masks: Mapping[str, str],
    root: str,
    reads: Any,
    max_workspace: int,
    *,
    starts: bool,
) -> Confined | Unconfined:
    choice = options.confine or side.backend
    # a side that starts nothing needs no sandbox program
    if choice == "none" or (starts and require_backend(choice) == "none"):
        return Unconfined()
    granted = [outer(root, path) for path in (*side.read, *reads)]
    return Confined(side, side.profile or profile, masks, granted, max_workspace)


def material(experiment: Experiment, root: str, store: str) -> dict[str, str]:
    """The evaluation material of this host: what no confined process may see (spec 13 §13.9.2)."""
    masks = {"experiment": root, "store": store, "working-directory": os.getcwd()}
    if experiment.subject.source is not None:
        masks["subject"] = outer(root, experiment.subject.source)
    return repository_masks({label: path for label, path in masks.items() if path != "/"})


def capabilities(sides: Sides) -> list[dict[str, Any]]:
    """What this host can do, as found out by doing it; only asked where something is confined."""
    if not (sides.subject.confined or sides.evaluator.confined):
        return []
    return [line._asdict() for line in report()]


def programs(folder: str) -> str:
    """The folder that appears as `/eq` in a subject's sandbox: the worker program."""
    return shared_folder(folder, (WORKER,))
