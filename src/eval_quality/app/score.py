"""Read everything one scoring needs, score, and say what is to be printed and written (spec 10 §7.4).

1. Every input is read, in the order of spec 10 §3; the first that cannot be read decides.
2. Whether a corpus folder is needed is decided on the unvalidated JSON.
3. The records are scored as a list, however many there are.
4. Printed: why the probe does not qualify, then, without a verdict, why the run is Invalid.
"""

from typing import Any, NamedTuple

from eval_quality.app.artifact import serialize_artifact
from eval_quality.app.files import read_input
from eval_quality.core.score.entry import run_score


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
    """What came of it: message lines, the evidence text (none for an Invalid run) and the ladder's exit code."""

    lines: tuple[str, ...]
    text: str | None
    exit_code: int
    strict_promotable: bool


class CorpusRootRequired(Exception):
    """A private reference has to be resolved, and nothing says in which folder."""


def score_documents(inputs: ScoreInputs) -> Scored:
    """Score the documents at these paths."""
    # 1. Inputs, in reading order.
    records = [read_input(path, "--record", "SealedRunRecord", show_path=True) for path in inputs.records]
    manifest = _optional(inputs.manifest, "--isolation-manifest", "IsolationManifest")
    configuration = _optional(inputs.configuration, "--evaluator-configuration", "EvaluatorConfiguration")
    contract = read_input(inputs.contract, "--contract", "EvalContract")
    probe = read_input(inputs.probe, "--probe", "Probe")
    preflight_verdict = read_input(inputs.preflight_verdict, "--preflight-verdict", "PreflightVerdict")
    policy = read_input(inputs.policy, "--policy", "ScoringPolicy")
    private_manifest = _optional(inputs.private_manifest, "--private-manifest", "PrivateArtifactManifest")
    # 2. The corpus folder.
    if inputs.corpus_root is None and needs_corpus_root(records, private_manifest):
        raise CorpusRootRequired(
            "--corpus-root is required: the private manifest has entries, or a record's isolation manifest is private"
        )
    # 3. The scoring entry point.
    scored = run_score(
        record=records,
        manifest=manifest,
        configuration=configuration,
        contract=contract,
        probe=probe,
        preflight_verdict=preflight_verdict,
        policy=policy,
        private_manifest=private_manifest,
        corpus_digest=inputs.corpus_digest,
        designated_oracle_id=inputs.designated_oracle,
        port=None if inputs.corpus_root is None else _corpus(inputs.corpus_root),
    )
    # 4. Messages.
    lines = [f"{failure.code}: {failure.artifact_path}: {failure.detail}" for failure in scored.qualification.failures]
    if scored.ladder.verdict is None:
        lines += [f"invalid: {reason}" for reason in scored.ladder.basis]
    text = None if scored.artifact is None else serialize_artifact(scored.artifact, "EvidenceArtifact")
    return Scored(tuple(lines), text, scored.ladder.exit_code, scored.ladder.strict_promotable)


def needs_corpus_root(records: list[Any], private_manifest: Any) -> bool:
    """Whether private bytes must be fetched; a malformed shape counts as not, and is left to the schema."""
    if isinstance(private_manifest, dict) and _is_filled_list(private_manifest.get("entries")):
        return True
    return any(_is_private(record) for record in records)


def _is_filled_list(value: Any) -> bool:
    return isinstance(value, list) and bool(value)


def _is_private(record: Any) -> bool:
    reference: Any = record.get("isolationManifestArtifact") if isinstance(record, dict) else None
    return isinstance(reference, dict) and reference.get("storage") == "private"


def _optional(path: str | None, flag: str, artifact_path: str) -> Any:
    return None if path is None else read_input(path, flag, artifact_path)


def _corpus(root: str) -> Any:
    from eval_quality.probe.corpus import LocalCorpus

    return LocalCorpus(root)
