"""`run_score`: every input parsed, checked, scored and emitted, in the order a caller can rely on (spec 10 §7.6).

    1  records: stamps of all, then shapes of all; ascending `trialIndex`, stable
    2  the other inputs: stamp, then shape, one after the other
    3  the designated oracle
    4  private manifest entries, resolved one after the other and compared
    5  the records' private isolation manifests, in trial order
    6  ingest of every record, then scoring
    7  the artifact, unless the run is Invalid

Records may come from an iterator, which is read once: each record is parsed, scored and let go, so that memory holds
one record and what the trials leave behind. Problems are collected on the way and raised in the order above, which is
the order a list gives; an exception of the iterator itself comes before all of them.

Bytes behind private references come through a callable. Opening them is not this module's business.
"""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, TypeAlias

from eval_quality.core.emit import emit
from eval_quality.core.faults import parse_failure, problems_of
from eval_quality.core.ingest import configuration_digest, ingest_trial
from eval_quality.core.qualify import QualificationResult
from eval_quality.core.score.ladder import LadderResolution
from eval_quality.core.score.stage import Scoring
from eval_quality.core.score.trial import TrialReading
from eval_quality.errors import EvalQualityError, Problem, RuntimeFault
from eval_quality.model.artifact import EvidenceArtifact
from eval_quality.model.configuration import EvaluatorConfiguration
from eval_quality.model.contract import EvalContract
from eval_quality.model.decode import decode, issues
from eval_quality.model.evidence import ArtifactReference, PrivateArtifactManifest, PrivateReference
from eval_quality.model.isolation import IsolationManifest
from eval_quality.model.policy import ScoringPolicy
from eval_quality.model.preflight import PreflightVerdict
from eval_quality.model.primitives import Digest
from eval_quality.model.probe import Probe
from eval_quality.model.record import Record
from eval_quality.model.registry import read
from eval_quality.model.run_record import SealedRunRecord
from eval_quality.model.stamp import check_stamp, probe_path, record_path
from eval_quality.value.depth import room
from eval_quality.value.digest import digest_bytes

ResolvePrivate: TypeAlias = Callable[[str], bytes | None]
"""The raw bytes behind a private reference; None where there are none. Its exceptions propagate."""


class RunScoreResult(Record):
    """What scoring returns; `artifact` is None exactly when the ladder's verdict is."""

    artifact: EvidenceArtifact | None
    ladder: LadderResolution
    qualification: QualificationResult


class _Inputs(NamedTuple):
    """Everything beside the records, parsed."""

    manifest: IsolationManifest | None
    configuration: EvaluatorConfiguration | None
    contract: EvalContract
    probe: Probe
    preflight: PreflightVerdict
    policy: ScoringPolicy
    private_manifest: PrivateArtifactManifest | None
    corpus_digest: str


def run_score(
    *,
    record: Any,
    manifest: Any,
    configuration: Any,
    contract: Any,
    probe: Any,
    preflight_verdict: Any,
    policy: Any,
    corpus_digest: Any,
    private_manifest: Any = None,
    designated_oracle_id: str | None = None,
    resolve_private: ResolvePrivate | None = None,
) -> RunScoreResult:
    """Score one record, a list of them, or an iterator of them, against one probe (spec 10 §7.6).

    Inputs are plain JSON values or records of this package. Raises `RuntimeFault`, `DesignatedOracleRefusal`, and
    `TypeError` for a private reference without `resolve_private`.
    """
    with room():
        stream = _RecordStream(record)
        trials = _Trials()
        # 2, 3: a fault found here waits until every record was looked at.
        inputs: _Inputs | None = None
        scoring: Scoring | None = None
        later: EvalQualityError | None = None
        try:
            inputs = _parse_inputs(
                manifest, configuration, contract, probe, preflight_verdict, policy, private_manifest, corpus_digest
            )
            scoring = Scoring(inputs.contract, inputs.probe, inputs.policy, designated_oracle_id)
        except EvalQualityError as fault:
            later = fault
        # 1, 6
        for parsed in stream:
            if inputs is not None and scoring is not None:
                trials.take(parsed, inputs, scoring)
        if later is not None or inputs is None or scoring is None:
            assert later is not None
            raise later
        # 4, 5
        _check_private_manifest(inputs.private_manifest, resolve_private)
        _check_isolation_manifests(trials, stream.is_list, resolve_private)
        # 6, 7
        run = scoring.judge(trials.scored(), inputs.preflight)
        artifact = None
        if run.ladder.verdict is not None:
            artifact = emit(run, inputs.contract, inputs.probe, inputs.preflight, inputs.policy, inputs.corpus_digest)
        return RunScoreResult(artifact=artifact, ladder=run.ladder, qualification=run.qualification)


class _RecordStream:
    """Step 1 over one record, a list or an iterator: yields what parses, raises once all was seen."""

    def __init__(self, source: Any) -> None:
        self.is_list = isinstance(source, list | tuple | Iterator)
        self._values: Iterator[Any] = iter(source if self.is_list else (source,))
        self._path = "SealedRunRecord[]" if self.is_list else "SealedRunRecord"
        self._stamp_fault: RuntimeFault | None = None
        self._parse_fault: RuntimeFault | None = None
        self._problems: list[Problem] = []

    def __iter__(self) -> Iterator[SealedRunRecord]:
        index = -1
        for value in self._values:
            index += 1
            parsed = None if self._stamp_fault is not None else self._parse(value, index)
            # Let go before the next value is made: two large records need not be in memory at once.
            del value
            if parsed is not None:
                yield parsed
            del parsed
        if self._stamp_fault is not None:
            raise self._stamp_fault
        if self._parse_fault is not None:
            raise self._parse_fault
        if index < 0:
            raise parse_failure(self._path, Problem((), "too_small", "must hold at least one record"))
        if self._problems:
            raise parse_failure(self._path, *self._problems)

    def _parse(self, value: Any, index: int) -> SealedRunRecord | None:
        try:
            check_stamp("sealed-run-record", value, record_path(value, index))
        except RuntimeFault as fault:
            self._stamp_fault = fault
            return None
        try:
            return decode(SealedRunRecord, value, self._path)
        except RuntimeFault as fault:
            problems = problems_of(fault, (index,) if self.is_list else ())
            self._problems += problems
            if not problems and self._parse_fault is None:
                self._parse_fault = fault
            return None


class _Trials:
    """What the records leave behind while they pass: readings, references to check, faults to raise in order."""

    def __init__(self) -> None:
        self.references: list[tuple[int, ArtifactReference]] = []
        self._readings: list[TrialReading] = []
        self._ingest_faults: list[tuple[int, RuntimeFault]] = []
        self._score_faults: list[tuple[int, RuntimeFault]] = []

    def take(self, record: SealedRunRecord, inputs: _Inputs, scoring: Scoring) -> None:
        """Ingest and read one trial, keeping its fault for later."""
        index = record.trial_index
        self.references.append((index, record.isolation_manifest_artifact))
        try:
            trial = ingest_trial(record, inputs.manifest, lambda: configuration_digest(inputs.configuration))
        except RuntimeFault as fault:
            self._ingest_faults.append((index, fault))
            return
        try:
            self._readings.append(scoring.read(trial))
        except RuntimeFault as fault:
            self._score_faults.append((index, fault))

    def scored(self) -> list[TrialReading]:
        """Every reading; raises the fault of the lowest trial, ingest before scoring."""
        for faults in (self._ingest_faults, self._score_faults):
            if faults:
                raise min(faults, key=lambda entry: entry[0])[1]
        return self._readings


def _parse_inputs(
    manifest: Any,
    configuration: Any,
    contract: Any,
    probe: Any,
    preflight_verdict: Any,
    policy: Any,
    private_manifest: Any,
    corpus_digest: Any,
) -> _Inputs:
    """Step 2, in its order: the arguments of a call are evaluated left to right."""
    return _Inputs(
        manifest=None if manifest is None else read("isolation-manifest", manifest),
        configuration=None if configuration is None else read("evaluator-configuration", configuration),
        contract=read("eval-contract", contract),
        probe=_read_probe(probe),
        preflight=read("preflight-verdict", preflight_verdict),
        policy=read("scoring-policy", policy),
        private_manifest=None if private_manifest is None else read("private-artifact-manifest", private_manifest),
        corpus_digest=_read_digest(corpus_digest),
    )


def _read_probe(value: Any) -> Probe:
    check_stamp("probe", value, probe_path(value))
    return decode(Probe, value, "Probe")


def _read_digest(value: Any) -> str:
    problems = issues(Digest, value)
    if problems:
        raise parse_failure("ScoringVersionInputs.corpusDigest", *problems)
    return value


def _check_private_manifest(manifest: PrivateArtifactManifest | None, resolve: ResolvePrivate | None) -> None:
    """Step 4: resolve every entry, then compare in entry order (spec 09 §3.10)."""
    if manifest is None or not manifest.entries:
        return
    if resolve is None:
        raise TypeError("PrivateArtifactManifest.entries need a corpus port to be resolved")
    resolved = [_digest_of(resolve, entry.private_ref) for entry in manifest.entries]
    for index, (entry, digest) in enumerate(zip(manifest.entries, resolved, strict=True)):
        _compare(entry.digest, digest, f"PrivateArtifactManifest.entries[{index}]")


def _check_isolation_manifests(trials: _Trials, several: bool, resolve: ResolvePrivate | None) -> None:
    """Step 5: each record's private isolation manifest, in trial order (spec 09 §3.10)."""
    many = several and len(trials.references) > 1
    for index, reference in sorted(trials.references, key=lambda entry: entry[0]):
        if not isinstance(reference, PrivateReference):
            continue
        trial = f"[trialIndex={index}]" if many else ""
        path = f"SealedRunRecord{trial}.isolationManifestArtifact"
        if resolve is None:
            raise TypeError(f"{path} needs a corpus port to be resolved")
        _compare(reference.digest, _digest_of(resolve, reference.private_ref), path)


def _digest_of(resolve: ResolvePrivate, private_ref: str) -> str | None:
    data = resolve(private_ref)
    return None if data is None else digest_bytes(data)


def _compare(declared: str, digest: str | None, path: str) -> None:
    if digest != declared:
        found = "no bytes were resolved" if digest is None else f"the resolved bytes have digest {digest}"
        raise RuntimeFault("digest-mismatch", path, f"declared {declared}, and {found}")
