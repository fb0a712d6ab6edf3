"""Running deterministic evaluators: benchmarks, holdouts, snapshots (spec 11 §11.5, §17.9a).

The three built-in policies are pure and run on every read. A `command` evaluator starts a process of the skill's
author, so it runs only where the caller was told `--allow-exec`.
"""

import hashlib
import os
import shutil
import sys
import tempfile
from typing import Any, Final

import msgspec

from eval_quality.app.behavior.documents_in import parse_document
from eval_quality.app.behavior.reading import Unreadable, read_below
from eval_quality.app.behavior.registry import REGISTRY_NAME
from eval_quality.app.behavior.repository import Repository, evaluator_module
from eval_quality.app.behavior.root import RepositoryRefused
from eval_quality.app.behavior.store import (
    Clock,
    indented,
    iso,
    path_inside,
    read_stored,
    replace_file,
    repository_state,
)
from eval_quality.app.behavior.yaml_source import SourceRefused
from eval_quality.core.behavior.config import Evaluator
from eval_quality.core.behavior.evaluators import (
    BUILTIN_SKILLS,
    BUILTIN_SUBJECTS,
    MIN_HOLDOUT,
    CorpusCase,
    CorpusRefused,
    Outcome,
    Subject,
    confusion,
    read_corpus,
    routing_benchmark,
    run_corpus,
    run_report,
    spark_rates,
)
from eval_quality.core.behavior.jsonish import JsonObject, as_object
from eval_quality.core.behavior.snapshots import NOT_CAPTURED, Bound, Snapshot, capture, good_enough, validate
from eval_quality.core.behavior.standing import Measured
from eval_quality.core.behavior.words import NOT_CHECKED
from eval_quality.errors import RuntimeFault
from eval_quality.value.scan import scan

COMMAND_MS: Final = 10_000
COMMAND_BYTES: Final = 1_048_576
MAX_CORPUS_BYTES: Final = 8 * 1024 * 1024
NOT_EXECUTED: Final = "not-executed"
SUITES: Final = {"routing": "routing", "policy": "spark", "completion": "verification"}
KINDS: Final = {stem: skill_id for skill_id, (_kind, stem) in BUILTIN_SKILLS.items()}
"""The words `capture-holdout` takes for the three built-in bindings."""


class CommandFailed(RepositoryRefused):
    """An evaluator command that gave no usable answer."""


def command_subject(argv: tuple[str, ...], root: str) -> Subject:
    """One case as JSON on standard input, one JSON object on standard output; empty environment, own folder."""
    from eval_quality.probe.lanes import LaneLost
    from eval_quality.probe.process import Caps, Launch, run_process

    program = argv[0]
    # The working folder is an empty one, so a program of the repository is named by its path below the root.
    resolved = os.path.join(root, program) if "/" in program else shutil.which(program) or program
    arguments = [os.path.join(root, item) if os.path.isfile(os.path.join(root, item)) else item for item in argv[1:]]

    def subject(given: JsonObject) -> JsonObject:
        with tempfile.TemporaryDirectory(prefix="eval-quality-") as folder:
            launch = Launch((resolved, *arguments), folder, {})
            try:
                done = run_process(launch, msgspec.json.encode(given), Caps(COMMAND_MS, COMMAND_BYTES))
            except (OSError, LaneLost) as error:
                raise CommandFailed(f"evaluator {program}: {error}") from error
        if done.ended != "exit" or done.exit_code != 0:
            raise CommandFailed(f"evaluator {program}: ended with {done.ended} {done.exit_code}")
        try:
            answer = as_object(scan(done.stdout, "EvaluatorOutput"))
        except RuntimeFault as fault:
            raise CommandFailed(f"evaluator {program}: {fault.detail}") from fault
        if answer is None:
            raise CommandFailed(f"evaluator {program}: expected a JSON object")
        return answer

    return subject


class Bench:
    """One skill's evaluator over one repository."""

    def __init__(self, repository: Repository, skill_id: str, *, allow_exec: bool = False) -> None:
        self.repository = repository
        self.skill_id = skill_id
        self.evaluator: Evaluator = repository.evaluators[skill_id]
        self.allow_exec = allow_exec

    @property
    def suite(self) -> str:
        """The suite name in metrics: the reference's for its kinds, else the skill id."""
        return SUITES.get(self.evaluator.kind, self.skill_id)

    def subject(self) -> Subject | None:
        """The code under test; None for a command that may not run."""
        if self.evaluator.kind == "command":
            return command_subject(self.evaluator.argv, self.repository.root) if self.allow_exec else None
        if self.evaluator.kind == "routing" and not self.evaluator.builtin:
            return lambda given: {"skill": self.repository.routed(given["task"])}
        return BUILTIN_SUBJECTS[self.evaluator.kind]

    def _corpus(self, path: str, *, holdout: bool) -> tuple[tuple[CorpusCase, ...], str]:
        try:
            data = read_below(self.repository.root, path, MAX_CORPUS_BYTES)
            value = parse_document(data, path)
        except Unreadable as error:
            if error.absent:
                return (), ""
            raise RepositoryRefused(f"{path}: {error}") from error
        except SourceRefused as error:
            raise RepositoryRefused(f"{path}: {error}") from error
        kind = "policy" if self.evaluator.kind == "command" else self.evaluator.kind
        try:
            return read_corpus(value, kind, holdout=holdout), hashlib.sha256(data).hexdigest()
        except CorpusRefused as error:
            raise RepositoryRefused(f"{path}: {error}") from error

    def benchmark(self) -> tuple[CorpusCase, ...]:
        """The benchmark's cases; none when the file is absent."""
        return self._corpus(self.evaluator.benchmark, holdout=False)[0]

    def _file_hash(self, path: str) -> str:
        try:
            return hashlib.sha256(read_below(self.repository.root, path)).hexdigest()
        except Unreadable:
            return ""

    def subjects(self) -> tuple[tuple[str, str], ...]:
        """(path, hash) of the subject closure: the code, the skill's own text, the registry (W20)."""
        if self.evaluator.subjects:
            return tuple((path, self._file_hash(path)) for path in self.evaluator.subjects)
        found: list[tuple[str, str]] = []
        if self.evaluator.kind in SUITES:
            found.append(self._module())
        else:
            found += [(item, digest) for item in self.evaluator.argv if (digest := self._file_hash(item))]
        folder = self.repository.skills[self.skill_id].relative
        for path in (f"{folder}/SKILL.md" if folder != "." else "SKILL.md", REGISTRY_NAME):
            if digest := self._file_hash(path):
                found.append((path, digest))
        return tuple(found)

    def _module(self) -> tuple[str, str]:
        recorded, absolute = evaluator_module(self.evaluator.kind)
        with open(absolute, "rb") as stream:
            return recorded, hashlib.sha256(stream.read()).hexdigest()

    def bound(self) -> Bound | None:
        """What a snapshot must be bound to now; None without a holdout file."""
        cases, digest = self._corpus(self.evaluator.holdout, holdout=True)
        if not digest:
            return None
        return Bound(self.evaluator.kind, self.suite, digest, self.subjects(), cases)

    def snapshot(self) -> Snapshot:
        """The frozen holdout, validated and, where the code may run, executed again."""
        bound = self.bound()
        stored = read_stored(os.path.join(self.repository.root, self.evaluator.result))
        if bound is None or stored.absent:
            return Snapshot(NOT_CHECKED, f"{NOT_CAPTURED}: run capture-holdout")
        subject = self.subject()
        executed = None if subject is None else run_corpus(bound.cases, subject)
        return validate(stored.value, bound, executed)

    def measure(self) -> Measured:
        """Benchmark and holdout of the skill; a corpus that cannot be run is NOT_CHECKED, never an exception."""
        try:
            cases = self.benchmark()
            subject = self.subject()
            if subject is None:
                return Measured((), self.snapshot(), f"{NOT_EXECUTED}: command evaluators need --allow-exec")
            return Measured(run_corpus(cases, subject), self.snapshot())
        except RepositoryRefused as error:
            refused = Snapshot(NOT_CHECKED, f"corpus-integrity: {error}")
            return Measured((), refused, f"corpus-integrity: {error}")


def measure_all(repository: Repository, *, allow_exec: bool = False) -> dict[str, Measured]:
    """Every deterministic skill, measured now."""
    return {
        skill_id: Bench(repository, skill_id, allow_exec=allow_exec).measure() for skill_id in repository.evaluators
    }


def resolve_kind(repository: Repository, kind: str) -> str:
    """The skill a `capture-holdout` word names. Raises `RepositoryRefused`."""
    skill_id = kind if kind in repository.evaluators else KINDS.get(kind, kind)
    if skill_id not in repository.evaluators:
        known = ", ".join(
            sorted({*repository.evaluators, *(word for word in KINDS if KINDS[word] in repository.evaluators)})
        )
        raise RepositoryRefused(f"no evaluator {kind}; the repository has {known or 'none'}")
    return skill_id


def capture_holdout(
    repository: Repository, kind: str, clock: Clock, *, allow_exec: bool
) -> tuple[JsonObject, str, bool]:
    """Run a holdout once and write its snapshot: (snapshot, path, good enough). Raises `RepositoryRefused`.

    The file is written even when the result is not good enough; fewer than twenty cases are refused before.
    """
    bench = Bench(repository, resolve_kind(repository, kind), allow_exec=allow_exec)
    bound = bench.bound()
    if bound is None:
        raise RepositoryRefused(f"{bench.evaluator.holdout}: the holdout file does not exist")
    if len(bound.cases) < MIN_HOLDOUT:
        raise RepositoryRefused(f"{len(bound.cases)} holdout cases; expected at least {MIN_HOLDOUT}")
    subject = bench.subject()
    if subject is None:
        raise RepositoryRefused("this evaluator is a command of the repository; allow it with --allow-exec")
    outcomes = run_corpus(bound.cases, subject)
    runner = sys.modules[run_corpus.__module__].__file__ or ""
    with open(runner, "rb") as stream:
        evaluator_sha256 = hashlib.sha256(stream.read()).hexdigest()
    revision, _dirty = repository_state(repository.root)
    value = capture(bound, outcomes, iso(clock()), revision, evaluator_sha256)
    path = path_inside(repository.root, bench.evaluator.result)
    replace_file(path, indented(value), keep_previous=True)
    return value, path, good_enough(value)


def evaluation_report(repository: Repository, skill_id: str, outcomes: tuple[Outcome, ...]) -> JsonObject:
    """The full report of one deterministic skill: categories, rates, per-class precision and recall (§17.9a)."""
    bench = Bench(repository, skill_id)
    report: dict[str, Any] = run_report(bench.suite, outcomes)
    kind = bench.evaluator.kind
    if kind == "routing":
        report["benchmark"] = routing_benchmark(outcomes)
    elif kind == "completion":
        report |= confusion(outcomes, "completionAllowed")
    else:
        report |= {**spark_rates(outcomes), **confusion(outcomes, "suggestion")}
    return report
