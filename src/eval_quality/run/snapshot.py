"""What a run works from: the bytes of experiment, subject and evaluators' workspaces (spec 12 §12.4, 13 §13.4.3).

Everything read is kept before it is used, so an edit to a folder during a run changes nothing, and `--resume` and
`rescore` need neither folder. `inputs.json` lists every file with its role, digest and mode.
"""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from eval_quality.run.errors import ExperimentFailure
from eval_quality.run.experiment.document import Experiment, size_in_bytes
from eval_quality.run.experiment.folder import DiskFolder, SnapshotFolder
from eval_quality.run.store.directory import Run
from eval_quality.run.tree import Entry, Tree, TreeRules, read_tree

INPUTS = "inputs.json"

Put = Callable[[bytes], str]
Get = Callable[[str], bytes]


class Snapshot(NamedTuple):
    """The inputs of a run.

    files: of the experiment folder, by path. subject: the subject's tree, None without a source. workspaces: evaluator
    id -> the tree of its start workspace. content: the bytes of a digest.
    """

    files: Mapping[str, bytes]
    subject: Tree | None
    workspaces: Mapping[str, Tree]
    content: Get

    @property
    def folder(self) -> SnapshotFolder:
        """The experiment folder as it was read."""
        return SnapshotFolder(self.files)


def subject_rules(experiment: Experiment) -> TreeRules:
    """What belongs to the subject's tree."""
    subject = experiment.subject
    return TreeRules(
        subject.include, subject.exclude, subject.volatile, size_in_bytes(subject.max_bytes), subject.max_files
    )


def outer(root: str, path: str) -> str:
    """An *outer* path: relative to the experiment folder, or absolute."""
    return os.path.normpath(os.path.join(root, path))


class Trees(NamedTuple):
    """Subject and workspaces as read from disk, with their bytes in memory."""

    subject: Tree | None
    workspaces: dict[str, Tree]
    content: dict[str, bytes]


def read_trees(root: str, experiment: Experiment) -> Trees:
    """Read the subject's tree and the evaluators' start workspaces. Raises `ExperimentFailure`, `RunFault`."""
    content: dict[str, bytes] = {}
    subject = None
    if experiment.subject.source is not None:
        folder = _folder(outer(root, experiment.subject.source), "Experiment.subject.source")
        subject = _read(folder, subject_rules(experiment), content)
    workspaces: dict[str, Tree] = {}
    for evaluator in experiment.evaluator:
        if evaluator.workspace is not None and evaluator.id in experiment.run.evaluators:
            folder = _folder(os.path.join(root, evaluator.workspace), f"Experiment.evaluator.{evaluator.id}.workspace")
            workspaces[evaluator.id] = _read(folder, TreeRules(), content)
    return Trees(subject, workspaces, content)


def _folder(path: str, field: str) -> str:
    if not os.path.isdir(path):
        detail = f'"{path}" is not a folder'
        raise ExperimentFailure.of("experiment-reference-unresolved", field, detail)
    return path


def _read(folder: str, rules: TreeRules, content: dict[str, bytes]) -> Tree:
    entries: list[Entry] = []
    for entry, data in read_tree(folder, rules):
        entries.append(entry)
        if not entry.link:
            content[entry.digest] = data
    return Tree(tuple(entries))


def inputs_value(folder: DiskFolder, trees: Trees, put: Put) -> list[dict[str, Any]]:
    """Keep every input's bytes and list them."""
    listed: list[dict[str, Any]] = [
        {"role": "experiment", "path": path, "digest": put(data), "mode": None, "link": None, "bytes": len(data)}
        for path, data in sorted(folder.files.items())
    ]
    for role, tree in _roles(trees):
        for entry in tree.entries:
            if not entry.link:
                put(trees.content[entry.digest])
            listed.append(
                {
                    "role": role,
                    "path": entry.path,
                    "digest": entry.digest or None,
                    "mode": entry.mode,
                    "link": entry.link or None,
                    "bytes": entry.size,
                }
            )
    return listed


def _roles(trees: Trees) -> Iterator[tuple[str, Tree]]:
    if trees.subject is not None:
        yield "subject", trees.subject
    for name, tree in sorted(trees.workspaces.items()):
        yield f"evaluator:{name}", tree


def read_snapshot(run: Run, inputs: Sequence[Mapping[str, Any]], has_subject: bool) -> Snapshot:
    """The snapshot that a run directory holds."""
    files: dict[str, bytes] = {}
    trees: dict[str, list[Entry]] = {"subject": []} if has_subject else {}
    for each in inputs:
        if each["role"] == "experiment":
            files[each["path"]] = run.blobs.get(each["digest"])
        else:
            entry = Entry(each["path"], each["mode"], each["digest"] or "", each["bytes"], each["link"] or "")
            trees.setdefault(each["role"], []).append(entry)
    built = {role: Tree(tuple(entries)) for role, entries in trees.items()}
    workspaces = {role.partition(":")[2]: tree for role, tree in built.items() if role.startswith("evaluator:")}
    return Snapshot(files, built.get("subject"), workspaces, run.blobs.get)
