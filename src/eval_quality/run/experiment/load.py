"""Reading a whole experiment folder (spec 12 §12.3, §12.4).

1. One experiment file: the one that was named, else `experiment.EXT`, else the only `<name>.experiment.EXT`.
2. The contract, the policy and the floors, in any notation; they are canonical artifacts, so what is wrong with them
   is `schema-version-mismatch` or `schema-parse-failure` as everywhere else.
3. Every mutation, reply and probe draft, in file order.
4. Every problem of every authored document is reported at once.
"""

from typing import Any, Generic, NamedTuple, TypeVar

import msgspec

from eval_quality.model.aggregate import StrengthFloors
from eval_quality.model.contract import EvalContract
from eval_quality.model.decode import decode
from eval_quality.model.policy import ScoringPolicy
from eval_quality.model.stamp import check_stamp
from eval_quality.run.errors import AuthoringProblem, ExperimentFailure
from eval_quality.run.experiment.authored import decode_authored
from eval_quality.run.experiment.document import Experiment, Mutation, ProbeDraft, Reply
from eval_quality.run.experiment.folder import Folder, path_problem
from eval_quality.run.source import Source, read_source

T = TypeVar("T", bound=msgspec.Struct)

NOTATIONS = (".json", ".toml", ".yaml", ".yml")


class Authored(NamedTuple, Generic[T]):
    """One authored document and the text it was read from."""

    record: T
    source: Source
    artifact_path: str

    def problem(self, code: str, path: tuple[str | int, ...], detail: str, artifact_path: str = "") -> AuthoringProblem:
        """A problem of this document at the member `path`."""
        return self.source.problem(code, artifact_path or self.artifact_path, path, detail)


class Documents(NamedTuple):
    """Everything an experiment folder says, decoded but not yet held against each other."""

    experiment: Authored[Experiment]
    contract: EvalContract
    policy: ScoringPolicy
    floors: StrengthFloors
    mutations: tuple[Authored[Mutation], ...]
    replies: tuple[Authored[Reply], ...]
    drafts: tuple[Authored[ProbeDraft], ...]


def load(folder: Folder, chosen: str = "") -> Documents:
    """Read and decode every document of the folder; `chosen` is the experiment file, where it was named.

    Raises `ExperimentFailure` with every authoring problem, `RuntimeFault` for a broken canonical artifact.
    """
    experiment = _experiment(folder, chosen)
    record = experiment.record
    problems: list[AuthoringProblem] = []
    for field in ("contract", "policy", "floors"):
        path = getattr(record, field)
        if path is not None and path_problem(path):
            problems.append(experiment.problem("experiment-path-escape", (field,), path_problem(path)))
    mutations = _all(folder, record.mutations, Mutation, "Mutation", problems)
    replies = _all(folder, record.replies, Reply, "GameabilityReply", problems)
    drafts = _all(folder, record.probes, ProbeDraft, "ProbeDraft", problems)
    if not drafts and not problems:
        detail = f'no file matches "{record.probes}"; an experiment has at least one probe draft'
        problems.append(experiment.problem("experiment-reference-unresolved", ("probes",), detail))
    if problems:
        raise ExperimentFailure(problems)
    return Documents(
        experiment,
        _artifact(folder, _only(folder, experiment, "contract"), "eval-contract", EvalContract),
        _artifact(folder, _only(folder, experiment, "policy"), "scoring-policy", ScoringPolicy),
        _floors(folder, experiment),
        mutations,
        replies,
        drafts,
    )


def _experiment(folder: Folder, chosen: str) -> Authored[Experiment]:
    names = [chosen] if chosen else _present(folder, "experiment") or _present(folder, "*.experiment")
    if len(names) != 1:
        found = "none" if not names else ", ".join(names)
        detail = f"a folder holds one experiment.toml, .yaml, .yml or .json, or you name the file; found: {found}"
        raise ExperimentFailure.of("author-unreadable-source", "Experiment", detail)
    source = read_source(names[0], folder.read(names[0]))
    return Authored(decode_authored(Experiment, source, "Experiment"), source, "Experiment")


def _present(folder: Folder, stem: str) -> list[str]:
    return [name for notation in NOTATIONS for name in folder.names(stem + notation)]


def _all(
    folder: Folder, pattern: str, kind: type[T], label: str, problems: list[AuthoringProblem]
) -> tuple[Authored[T], ...]:
    found: list[Authored[T]] = []
    for name in folder.names(pattern):
        if not name.endswith(NOTATIONS):
            continue
        artifact_path = f"{label}[{name}]"
        try:
            source = read_source(name, folder.read(name))
            found.append(Authored(decode_authored(kind, source, artifact_path), source, artifact_path))
        except ExperimentFailure as failure:
            problems.extend(failure.problems)
    return tuple(found)


def _only(folder: Folder, experiment: Authored[Experiment], field: str) -> str:
    """The one file of a canonical artifact: the named one, or the one of the default names."""
    named: str | None = getattr(experiment.record, field)
    if named is not None:
        return named
    names = _present(folder, field)
    if len(names) != 1:
        found = "none" if not names else ", ".join(names)
        detail = f"the folder holds exactly one {field}.json, .yaml, .yml or .toml; found: {found}"
        raise ExperimentFailure([experiment.problem("experiment-reference-unresolved", (), detail)])
    return names[0]


def _artifact(folder: Folder, name: str, key: str, kind: type[T]) -> T:
    value: Any = read_source(name, folder.read(name)).value
    check_stamp(key, value, kind.__name__)
    return decode(kind, value, kind.__name__)


def _floors(folder: Folder, experiment: Authored[Experiment]) -> StrengthFloors:
    if experiment.record.floors is None and not _present(folder, "floors"):
        return decode(StrengthFloors, {}, "StrengthFloors")
    name = _only(folder, experiment, "floors")
    return decode(StrengthFloors, read_source(name, folder.read(name)).value, "StrengthFloors")
