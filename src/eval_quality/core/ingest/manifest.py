"""What the isolation manifest and the evaluator configuration say against a record (spec 08 §2.6 to §2.9).

1. No manifest is a violation of its own, and then nothing else of the manifest is examined.
2. Observed mounts, network targets and tool calls stay inside their allowlists, compared as exact strings.
3. Every input of the forbidden floor was withheld.
4. Record and manifest agree on the run, the contract and the configuration. The arm is not compared, and the
   manifest's contract label is compared with nothing.
5. The configuration presented is the one the record names, by digest.

Ceilings are not compared with actual use.
"""

from collections.abc import Iterable, Iterator
from typing import Final

from eval_quality.core.ingest.conditions import (
    Condition,
    CrossArtifactDisagreement,
    EvaluatorConfigurationAbsent,
    EvaluatorConfigurationDigestMismatch,
    ForbiddenInputNotWithheld,
    IsolationManifestAbsent,
    IsolationManifestViolation,
)
from eval_quality.model.isolation import IsolationManifest
from eval_quality.model.primitives import FORBIDDEN_INPUTS
from eval_quality.model.run_record import SealedRunRecord

AGREEING_FIELDS: Final = (
    ("runId", "run_id"),
    ("contractDigest", "contract_digest"),
    ("evaluatorConfigurationDigest", "evaluator_configuration_digest"),
)
"""The fields on which record and manifest must agree: wire name and attribute, in order (spec 08 §2.8)."""


def isolation(manifest: IsolationManifest | None) -> tuple[tuple[Condition, ...], tuple[str, ...]]:
    """The manifest's own conditions and the violation strings of `isolationViolation` (spec 08 §2.6, §2.7)."""
    if manifest is None:
        return (IsolationManifestAbsent(),), ("isolation manifest absent",)
    breach = IsolationManifestViolation(
        violation=manifest.violation,
        mounts_outside_allowlist=_outside(manifest.observed_mounts, manifest.allowed_mounts),
        network_targets_outside_allowlist=_outside(manifest.observed_network_targets, manifest.network_allowlist),
        tool_calls_outside_allowlist=_outside(manifest.observed_tool_calls, manifest.tool_allowlist),
    )
    violations = tuple(_violations(breach))
    conditions: list[Condition] = [breach] if violations else []
    accounting = manifest.forbidden_input_accounting
    admitted = tuple(name for name in FORBIDDEN_INPUTS if not getattr(accounting, name.replace("-", "_")).withheld)
    if admitted:
        conditions.append(ForbiddenInputNotWithheld(admitted))
    return tuple(conditions), violations


def disagreements(record: SealedRunRecord, manifest: IsolationManifest) -> Iterator[Condition]:
    """Fields on which record and manifest differ, in order (spec 08 §2.8)."""
    for field, attribute in AGREEING_FIELDS:
        here, there = getattr(record, attribute), getattr(manifest, attribute)
        if here != there:
            yield CrossArtifactDisagreement(field, here, there)


def configuration(record: SealedRunRecord, computed_digest: str | None) -> Iterator[Condition]:
    """The configuration's condition, given the digest of the presented one or None (spec 08 §2.9)."""
    if computed_digest is None:
        yield EvaluatorConfigurationAbsent()
    elif computed_digest != record.evaluator_configuration_digest:
        yield EvaluatorConfigurationDigestMismatch(record.evaluator_configuration_digest, computed_digest)


def _outside(observed: Iterable[str], allowed: Iterable[str]) -> tuple[str, ...]:
    permitted = frozenset(allowed)
    return tuple(value for value in dict.fromkeys(observed) if value not in permitted)


def _violations(breach: IsolationManifestViolation) -> Iterator[str]:
    if breach.violation is not None:
        yield f"manifest violation: {breach.violation}"
    yield from (f"mount outside allowlist: {value}" for value in breach.mounts_outside_allowlist)
    yield from (f"network target outside allowlist: {value}" for value in breach.network_targets_outside_allowlist)
    yield from (f"tool call outside allowlist: {value}" for value in breach.tool_calls_outside_allowlist)
