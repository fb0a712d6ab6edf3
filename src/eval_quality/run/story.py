"""What a run came to, told as data: what was planted, who saw it, and why (spec 12 §12.26).

The text page and the HTML report both render this, and nothing else, so they cannot disagree. Everything in it is a
plain value; texts that came from a subject or an evaluator are as they were and are made harmless where they are shown.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from eval_quality.core.coverage.evaluate import coverage_gaps
from eval_quality.core.statistics.intervals import wilson
from eval_quality.model.decode import decode, to_value
from eval_quality.model.run_record import Observation
from eval_quality.run.corpus import Qualified
from eval_quality.run.experiment.corpus import arm_of
from eval_quality.run.finish import Finished, ScoredCell
from eval_quality.run.qualify.reading import Pass, signature_ids
from eval_quality.run.summary import CLASSES, Account, evaluator_gap, exit_code, reasons

MAX_SHOWN_FINDINGS: Final = 3
MAX_SHOWN_QUOTE: Final = 60

STATES: Final[Mapping[str, tuple[str, str]]] = {
    "caught": ("CAUGHT", "the planted defect was detected on evidence that shows it"),
    "missed": ("MISSED", "the defect was there and nothing in the contract's designated oracle saw it"),
    "unexercised": ("NOT EXERCISED", "the evaluator never made the call that would have shown it"),
    "passed": ("QUIET", "the clean system was not accused"),
    "false-positive": ("FALSE ALARM", "the clean system was accused of a defect"),
    "invalid": ("INVALID", "this cell could not be judged"),
}
"""What each state of a cell is called, and what it means."""


def story(finished: Finished, account: Account, directory: str, strict: bool = False) -> dict[str, Any]:
    """The whole story as one plain value."""
    prepared = finished.prepared
    found = reasons(finished, strict)
    return {
        "title": prepared.experiment.title or prepared.experiment.id,
        "experimentId": prepared.experiment.id,
        "directory": directory,
        "exitCode": exit_code(found),
        "reasons": [{"code": p.code, "path": p.artifact_path, "detail": p.detail} for _, p in found],
        "probes": [_probe(each) for each in finished.qualified],
        "evaluators": [_evaluator(finished, name) for name in finished.aggregates],
        "contract": _contract(finished),
        "confinement": dict(account.confinement),
        "attestations": dict(account.attestations),
        "digests": {
            "contract": prepared.contract_digest,
            "brief": prepared.brief_digest,
            "corpus": finished.corpus_digest or None,
            "fixture": finished.fixture.fixture_digest,
        },
    }


def _probe(each: Qualified) -> dict[str, Any]:
    draft = each.plan.draft
    mutation = each.plan.arm.mutation
    change = None
    if mutation is not None and mutation.find is not None and mutation.encoding == "utf-8":
        change = {"file": mutation.file, "remove": mutation.find, "add": mutation.replace or ""}
    return {
        "id": draft.probe_id,
        "class": draft.class_,
        "planted": _planted(each),
        "change": change,
        "refused": None if each.failure is None else each.failure.code,
        "proof": _proof(each),
        "rationale": draft.rationale,
    }


def _planted(each: Qualified) -> str:
    draft = each.plan.draft
    kind, reference = arm_of(draft)
    if kind == "mutation":
        mutation = each.plan.arm.mutation
        assert mutation is not None
        where = f" in {mutation.file}" if mutation.file else f" at the launch of {mutation.interface}"
        what = draft.defects[0].summary if draft.defects else draft.expected_failure
        return f"{what} ({mutation.operator or mutation.kind}{where})"
    if kind == "reply":
        return f"{draft.degenerate_response} (canned reply {reference})"
    return f"nothing; {draft.no_known_defect}"


def _proof(each: Qualified) -> str:
    if each.failure is not None:
        return each.failure.detail
    kind = arm_of(each.plan.draft)[0]
    if kind == "reply":
        return "it satisfies the naive check and a disciplined oracle rejects it"
    if kind == "clean":
        return "the clean subject gave the same answers every time and every check held"
    blind = "; no contract oracle sees it, which is a finding about the contract" if each.outcome.contract_blind else ""
    return f"clean before, damaged in between, clean again after the roll-back{blind}"


def _evaluator(finished: Finished, name: str) -> dict[str, Any]:
    return {
        "name": name,
        "trials": finished.prepared.trials,
        "cells": [_cell(cell) for cell in finished.cells if cell.cell.evaluator_id == name],
        "strength": list(_strength(finished, name)),
        "note": finished.aggregate_errors.get(name),
        "gap": evaluator_gap(finished).get(name, []),
    }


def _cell(cell: ScoredCell) -> dict[str, Any]:
    word, meaning = STATES[cell.state]
    return {
        "probe": cell.cell.probe_id,
        "state": cell.state,
        "word": word,
        "meaning": meaning,
        "pending": cell.qualified.plan.draft.pending,
        "verdict": cell.verdict or "Invalid",
        "basis": list(dict.fromkeys(cell.ladder.basis)) if cell.ladder is not None else [str(cell.error)],
        "why": list(_why(cell)),
        "stops": {stop: cell.stops.count(stop) for stop in sorted(set(cell.stops) - {"submitted"})},
    }


def _why(cell: ScoredCell) -> Iterator[str]:
    """What the first trial shows: the quotation behind a claim, or where the defect was and nobody looked."""
    trial = cell.trials[0]
    for finding in trial.findings[:MAX_SHOWN_FINDINGS]:
        quotes: list[dict[str, str]] = finding.get("quotedEvidence") or [{}]
        where = f"{', '.join(finding['observationIds'])} {quotes[0].get('channel', '')}".strip()
        text = quotes[0].get("quote", "")
        shown = text if len(text) <= MAX_SHOWN_QUOTE else text[:MAX_SHOWN_QUOTE] + "..."
        yield f"{finding['oracleId'] or 'no oracle'} violated: {where} says {shown}"
    if cell.state == "missed":
        seen = [decode(Observation, each, "Observation") for each in trial.observations]
        shows = signature_ids(cell.qualified.plan.draft, cell.qualified.plan.home, Pass(tuple(seen), {}, {}, {}))
        held = [entry["oracleId"] for entry in trial.dispositions if entry["disposition"] == "held"]
        where = ", ".join(shows) or "no observation"
        yield f"it shows in {where}, where these oracles held: {', '.join(held)}"


def _strength(finished: Finished, name: str) -> Iterator[dict[str, Any]]:
    aggregate = finished.aggregates[name]
    classes: Any = {} if aggregate is None else to_value(aggregate.classes)
    for probe_class in CLASSES:
        strength = classes.get(probe_class)
        if strength is None:
            continue
        interval = wilson(strength["caught"], strength["exercised"])
        yield {
            "class": probe_class,
            "caught": strength["caught"],
            "exercised": strength["exercised"],
            "rate": strength["rate"],
            "low": None if interval is None else interval.low,
            "high": None if interval is None else interval.high,
            "comparable": strength["comparable"],
        }


def _contract(finished: Finished) -> dict[str, Any]:
    contract = finished.prepared.contract
    return {
        "id": contract.contract_id,
        "behaviors": [
            {
                "id": behavior.id,
                "description": behavior.description,
                "severity": behavior.severity,
                "oracles": list(behavior.oracles),
            }
            for behavior in contract.behaviors
        ],
        "gaps": [{"rule": gap.rule, "severity": gap.severity} for gap in coverage_gaps(contract) if not gap.satisfied],
    }
