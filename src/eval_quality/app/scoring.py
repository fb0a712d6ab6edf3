"""`run_score` as callers see it: the scoring entry point with a corpus port (spec 10 §7.6, §7.7).

Core decides over bytes; here is where the bytes behind a private reference come from. Every resolution is one port
call with the caller's signal, request and response checked on both sides.
"""

from typing import Any

from eval_quality.core.score.entry import RunScoreResult
from eval_quality.core.score.entry import run_score as score
from eval_quality.probe.ports import RESOLVE, CorpusPort
from eval_quality.probe.seam import call_port
from eval_quality.probe.signals import AbortSignal


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
    port: CorpusPort | None = None,
    signal: AbortSignal | None = None,
) -> RunScoreResult:
    """Score one record, a list of records, or an iterator of them, against one probe.

    Every input is a plain JSON value or a record of this package; `manifest`, `configuration` and `private_manifest`
    may be None. `port` resolves private references and is called only for those; without one they are a `TypeError`.
    `artifact` of the result is None exactly when the run is Invalid.

    Raises `RuntimeFault` (inputs that do not parse, digests that differ, evaluation faults, port faults) and
    `DesignatedOracleRefusal`.
    """
    abort = AbortSignal() if signal is None else signal

    def resolve(private_ref: str) -> bytes:
        assert port is not None
        return call_port(RESOLVE, port.resolve, {"privateRef": private_ref}, abort).bytes

    return score(
        record=record,
        manifest=manifest,
        configuration=configuration,
        contract=contract,
        probe=probe,
        preflight_verdict=preflight_verdict,
        policy=policy,
        private_manifest=private_manifest,
        corpus_digest=corpus_digest,
        designated_oracle_id=designated_oracle_id,
        resolve_private=None if port is None else resolve,
    )
