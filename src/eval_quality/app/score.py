"""Read everything one scoring needs, score, and say what is to be printed and written (spec 10 §7.4).

1. Every input is read before anything is held against a schema, and the first in reading order that cannot be read
   decides: records in flag order, then the others (spec 10 §3).
2. Whether a corpus folder is needed is decided on the unvalidated JSON, once all inputs are read.
3. The records are scored as a list, however many there are.
4. Printed: why the probe does not qualify, then, without a verdict, why the run is Invalid.

Records are handed on one at a time and let go, so that a thousand trials need the memory of one. The other inputs are
therefore opened first, and their faults kept until every record was read.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

from eval_quality.app.artifact import serialize_artifact
from eval_quality.app.files import PathError, read_input
from eval_quality.core.score.entry import RunScoreResult, run_score
from eval_quality.errors import RuntimeFault
from eval_quality.value.kind import is_array, is_object


class ScoreInputs(NamedTuple):
    """The paths and values of one `score` command line."""

    records: list[str]
    manifest: str | None
    configuration: str | None
    contract: str
    probe: str
    preflight_verdict: str
    policy: str
    private_manifest: str | None
    corpus_digest: str
    corpus_root: str | None
    designated_oracle: str | None


class Scored(NamedTuple):
    """What came of it: message lines, the evidence text (none for an Invalid run) and the ladder's exit code.

    `is_promotable` says whether this is a CONCERNS that `--strict` turns into exit 1 (spec 10 §6).
    """

    lines: tuple[str, ...]
    text: str | None
    exit_code: int
    is_promotable: bool


class CorpusRootRequired(Exception):
    """A private reference has to be resolved, and nothing says in which folder."""


def score_documents(inputs: ScoreInputs) -> Scored:
    """Score the documents at these paths; what is to be printed and written."""
    scored = score_inputs(inputs)
    # 4. Messages.
    lines = [f"{failure.code}: {failure.artifact_path}: {failure.detail}" for failure in scored.qualification.failures]
    if scored.ladder.verdict is None:
        lines += [f"invalid: {reason}" for reason in scored.ladder.basis]
    text = None if scored.artifact is None else serialize_artifact(scored.artifact, "EvidenceArtifact")
    is_promotable = scored.ladder.verdict == "CONCERNS" and scored.ladder.strict_promotable
    return Scored(tuple(lines), text, scored.ladder.exit_code, is_promotable)


def score_inputs(inputs: ScoreInputs) -> RunScoreResult:
    """Score the documents at these paths."""
    # 1. The inputs beside the records.
    others, fault = _read_others(inputs)
    records = _records(inputs, others, fault)
    if fault is not None:
        for _ in records:
            continue
    # 2, 3. The records, while they are read.
    options: dict[str, Any] = {
        "record": records,
        "corpus_digest": inputs.corpus_digest,
        "designated_oracle_id": inputs.designated_oracle,
        **others,
    }
    return run_score(**options) if inputs.corpus_root is None else _score_with_corpus(inputs.corpus_root, options)


def _read_others(inputs: ScoreInputs) -> tuple[dict[str, Any], PathError | RuntimeFault | None]:
    """The values of every input but the records, by argument name, or the first fault."""
    table = (
        ("manifest", inputs.manifest, "--isolation-manifest", "IsolationManifest"),
        ("configuration", inputs.configuration, "--evaluator-configuration", "EvaluatorConfiguration"),
        ("contract", inputs.contract, "--contract", "EvalContract"),
        ("probe", inputs.probe, "--probe", "Probe"),
        ("preflight_verdict", inputs.preflight_verdict, "--preflight-verdict", "PreflightVerdict"),
        ("policy", inputs.policy, "--policy", "ScoringPolicy"),
        ("private_manifest", inputs.private_manifest, "--private-manifest", "PrivateArtifactManifest"),
    )
    values: dict[str, Any] = {}
    try:
        for name, path, flag, artifact_path in table:
            values[name] = None if path is None else read_input(path, flag, artifact_path)
    except (PathError, RuntimeFault) as error:
        return values, error
    return values, None


def _records(inputs: ScoreInputs, others: dict[str, Any], fault: PathError | RuntimeFault | None) -> Iterator[Any]:
    """Each record in flag order; then, with all of them read, whatever else was wrong with the inputs."""
    is_private = _has_entries(others.get("private_manifest"))
    for path in inputs.records:
        record = read_input(path, "--record", "SealedRunRecord", show_path=True)
        is_private = is_private or _is_private(record)
        yield record
        del record
    if fault is not None:
        raise fault
    if is_private and inputs.corpus_root is None:
        raise CorpusRootRequired(
            "--corpus-root is required to resolve the entries of the private manifest or a record's private "
            "isolation manifest"
        )


def _has_entries(private_manifest: Any) -> bool:
    """A malformed shape counts as none, and is left to the schema."""
    entries = private_manifest.get("entries") if is_object(private_manifest) else None
    return is_array(entries) and bool(entries)


def _is_private(record: Any) -> bool:
    reference = record.get("isolationManifestArtifact") if is_object(record) else None
    return is_object(reference) and reference.get("storage") == "private"


def _score_with_corpus(root: str, options: dict[str, Any]) -> RunScoreResult:
    """Score with the local corpus adapter, which only this case imports."""
    from eval_quality.app import scoring
    from eval_quality.probe.local import create_local_corpus_adapter

    return scoring.run_score(port=create_local_corpus_adapter(root=root), **options)
