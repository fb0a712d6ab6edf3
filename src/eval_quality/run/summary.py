"""The run summary as a document, and the exit code it comes to (spec 12 §12.26, §12.28).

The exit code is decided here, first match: 3 for an invalid run or cell, a probe set aside or an incomplete corpus;
2 for a failing cell, a pending probe that is now caught, or a floor not met; 1 for CONCERNS under `--strict`; 0.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from eval_quality._version import VERSION
from eval_quality.core.statistics.intervals import wilson
from eval_quality.model.aggregate import StrengthAggregate
from eval_quality.model.decode import to_value
from eval_quality.run.corpus import Qualified, failed_checks
from eval_quality.run.errors import AuthoringProblem
from eval_quality.run.finish import Finished, ScoredCell
from eval_quality.value.digest import digest_bytes, digest_value

CLASSES = ("defect", "gameability", "zero-action")


class Account(NamedTuple):
    """Facts about this execution that no artifact holds.

    attempts: item id -> (lost, void). confinement: side -> what was enforced. wall_seconds: None when omitted.
    """

    status: str
    attempts: Mapping[str, tuple[int, int]]
    confinement: Mapping[str, Any]
    attestations: Mapping[str, str]
    selection: Any
    wall_seconds: float | None
    warnings: Sequence[str] = ()


def reasons(finished: Finished, strict: bool = False) -> tuple[tuple[int, AuthoringProblem], ...]:
    """Why the run does not end with exit code 0: (exit code, problem), in the order they are printed."""
    return tuple(_reasons(finished, strict))


def _reasons(finished: Finished, strict: bool) -> Iterator[tuple[int, AuthoringProblem]]:
    if not finished.fixture.passed:
        yield 3, AuthoringProblem("clean-preflight-failed", "PreflightVerdict", failed_checks(finished.fixture.checks))
    for each in finished.qualified:
        if each.failure is not None:
            path = f"Probe[probeId={each.plan.probe_id}]"
            yield 3, AuthoringProblem(each.failure.code, path, each.failure.detail)
    for cell in finished.cells:
        yield from _cell_reasons(cell, strict)
    prepared = finished.prepared
    for name, aggregate in finished.aggregates.items():
        if prepared.experiment.run.floor_gate == "fail":
            yield from _floor_reasons(name, aggregate, finished)


def _cell_reasons(cell: ScoredCell, strict: bool) -> Iterator[tuple[int, AuthoringProblem]]:
    path = f"Cell[{cell.cell.evaluator_id}/{cell.cell.probe_id}]"
    if cell.error is not None:
        yield 3, AuthoringProblem("cell-not-scored", path, str(cell.error))
    ladder = cell.ladder
    if ladder is None:
        return
    basis = "; ".join(dict.fromkeys(ladder.basis))
    pending = cell.qualified.plan.draft.pending
    if ladder.verdict is None:
        yield 3, AuthoringProblem("cell-invalid", path, basis)
    elif pending and cell.state == "caught" and cell.cell.evaluator_id == "deterministic":
        yield 2, AuthoringProblem("cell-stale", path, "the known miss is caught now; remove `pending` from its draft")
    elif ladder.verdict == "FAIL" and not pending:
        yield 2, AuthoringProblem("cell-failed", path, basis)
    elif strict and ladder.verdict == "CONCERNS" and ladder.strict_promotable:
        yield 1, AuthoringProblem("cell-concerns", path, basis)


def _floor_reasons(
    name: str, aggregate: StrengthAggregate | None, finished: Finished
) -> Iterator[tuple[int, AuthoringProblem]]:
    floors: Any = to_value(finished.prepared.documents.floors)
    if not floors:
        return
    path = f"Aggregate[{name}]"
    if aggregate is None:
        detail = f"floors are declared and nothing could be added up: {finished.aggregate_errors[name]}"
        yield 2, AuthoringProblem("floor-not-met", path, detail)
        return
    if not complete(finished, name):
        yield 2, AuthoringProblem("floor-not-met", path, "floors need every cell of the corpus")
    decisions: Any = to_value(aggregate.floor_decisions)
    for probe_class in CLASSES:
        decision = decisions[probe_class]
        if decision["decision"] == "does-not-meet":
            detail = f"{probe_class}: floor {decision['floor']}, {decision['basis']}"
            yield 2, AuthoringProblem("floor-not-met", path, detail)


def complete(finished: Finished, evaluator_id: str) -> bool:
    """Whether every probe of the corpus has evidence from this evaluator."""
    own = [cell for cell in finished.cells if cell.cell.evaluator_id == evaluator_id]
    return len(own) == len(finished.qualified) and all(cell.verdict is not None for cell in own)


def exit_code(found: Sequence[tuple[int, AuthoringProblem]]) -> int:
    """The exit code of a finished run."""
    codes = {code for code, _ in found}
    return next((code for code in (3, 2, 1) if code in codes), 0)


def summary_value(finished: Finished, account: Account, strict: bool = False) -> dict[str, Any]:
    """The summary document."""
    prepared = finished.prepared
    found = reasons(finished, strict)
    return {
        "schemaVersion": 1,
        "experimentId": prepared.experiment.id,
        "title": prepared.experiment.title,
        "status": account.status,
        "exitCode": exit_code(found),
        "reasons": [{"code": p.code, "path": p.artifact_path, "detail": p.detail} for _, p in found],
        "mode": prepared.experiment.run.mode,
        "label": prepared.label,
        "engineVersion": VERSION,
        "selection": account.selection,
        "wallClockSeconds": account.wall_seconds,
        "digests": {
            "contract": prepared.contract_digest,
            "brief": prepared.brief_digest,
            "sealedView": prepared.view.digest,
            "policy": digest_value(to_value(prepared.policy), "ScoringPolicy"),
            "corpus": finished.corpus_digest or None,
            "subjectTree": None if prepared.clean.tree is None else prepared.tree_digest,
            "fixture": finished.fixture.fixture_digest,
        },
        "confinement": dict(account.confinement),
        "attestations": dict(account.attestations),
        "qualification": [_qualification(each) for each in finished.qualified],
        "setAside": [each.plan.probe_id for each in finished.qualified if each.failure is not None],
        "cells": [_cell(cell, account) for cell in finished.cells],
        "aggregates": [_aggregate(finished, name) for name in finished.aggregates],
        "evaluatorGap": evaluator_gap(finished),
        "warnings": list(account.warnings),
        "artifacts": {
            path: {"byteDigest": digest_bytes(data), "bytes": len(data)}
            for path, data in sorted(finished.files.items())
        },
    }


def _qualification(each: Qualified) -> dict[str, Any]:
    return {
        "probeId": each.plan.probe_id,
        "class": each.plan.draft.class_,
        "arm": each.plan.arm.arm_id,
        "outcome": "qualified" if each.failure is None else "refused",
        "code": None if each.failure is None else each.failure.code,
        "detail": None if each.failure is None else each.failure.detail,
        "contractBlind": each.outcome.contract_blind,
        "designatedBlind": each.outcome.designated_blind,
        "rollbackVerified": each.outcome.rollback_verified,
    }


def _cell(cell: ScoredCell, account: Account) -> dict[str, Any]:
    name = f"trial/{cell.cell.evaluator_id}/{cell.cell.probe_id}"
    evidence = None if cell.result is None or cell.result.artifact is None else to_value(cell.result.artifact)
    return {
        "evaluatorId": cell.cell.evaluator_id,
        "probeId": cell.cell.probe_id,
        "class": cell.qualified.plan.draft.class_,
        "runId": cell.cell.run_id,
        "verdict": cell.verdict,
        "state": cell.state,
        "pending": cell.qualified.plan.draft.pending,
        "exitCode": None if cell.ladder is None else cell.ladder.exit_code,
        "basis": [] if cell.ladder is None else list(cell.ladder.basis),
        "evidence": None if evidence is None else digest_value(evidence, "EvidenceArtifact"),
        "trials": [
            {
                "index": trial.trial_index,
                "recommendation": trial.recommendation,
                "evaluatorStop": stop,
                "calls": trial.tool_calls,
                "refusals": sum(action["outcome"].startswith("refused") for action in trial.actions),
                "lostAttempts": account.attempts.get(f"{name}/{trial.trial_index}", (0, 0))[0],
                "voidAttempts": account.attempts.get(f"{name}/{trial.trial_index}", (0, 0))[1],
            }
            for trial, stop in zip(cell.trials, cell.stops, strict=True)
        ],
    }


def _aggregate(finished: Finished, name: str) -> dict[str, Any]:
    aggregate = finished.aggregates[name]
    classes: Any = None if aggregate is None else to_value(aggregate.classes)
    intervals: dict[str, Any] = {}
    for probe_class in CLASSES:
        strength = None if classes is None else classes[probe_class]
        interval = None if strength is None else wilson(strength["caught"], strength["exercised"])
        intervals[probe_class] = None if interval is None else {"wilson95": list(interval)}
    return {
        "evaluatorId": name,
        "complete": complete(finished, name),
        "classes": classes,
        "intervals": intervals,
        "floorDecisions": None if aggregate is None else to_value(aggregate.floor_decisions),
        "note": finished.aggregate_errors.get(name),
    }


def evaluator_gap(finished: Finished) -> dict[str, list[str]]:
    """Per external evaluator: probes that the deterministic evaluator caught and this one did not."""
    caught = {
        cell.cell.probe_id
        for cell in finished.cells
        if cell.cell.evaluator_id == "deterministic" and cell.state == "caught"
    }
    return {
        name: sorted(
            cell.cell.probe_id
            for cell in finished.cells
            if cell.cell.evaluator_id == name and cell.cell.probe_id in caught and cell.state != "caught"
        )
        for name in finished.aggregates
        if name != "deterministic"
    }
