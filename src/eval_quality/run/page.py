"""The run summary as a page for people (spec 12 §12.26): what was planted, who saw it, and why.

Whoever has never seen this program must understand it: no code, no digest, and a number only beside what it means.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from eval_quality.core.statistics.intervals import wilson
from eval_quality.model.decode import decode, to_value
from eval_quality.model.run_record import Observation
from eval_quality.run.corpus import Qualified
from eval_quality.run.experiment.corpus import arm_of
from eval_quality.run.finish import Finished, ScoredCell
from eval_quality.run.qualify.reading import Pass, signature_ids
from eval_quality.run.summary import CLASSES, Account, exit_code, reasons

MAX_SHOWN_FINDINGS = 3
MAX_SHOWN_QUOTE = 60

STATES: Mapping[str, tuple[str, str]] = {
    "caught": ("CAUGHT", "the planted defect was detected on evidence that shows it"),
    "missed": ("MISSED", "the defect was there and nothing in the contract's designated oracle saw it"),
    "unexercised": ("NOT EXERCISED", "the evaluator never made the call that would have shown it"),
    "passed": ("QUIET", "the clean system was not accused"),
    "false-positive": ("FALSE ALARM", "the clean system was accused of a defect"),
    "invalid": ("INVALID", "this cell could not be judged"),
}


def summary_text(finished: Finished, account: Account, directory: str, strict: bool = False) -> str:
    """The summary as a page of plain text. Why the exit code is not 0 is not on it: those lines are `reasons`."""
    lines = list(_text(finished, account, directory, strict))
    return "\n".join(lines) + "\n"


def _text(finished: Finished, account: Account, directory: str, strict: bool) -> Iterator[str]:
    prepared = finished.prepared
    experiment = prepared.experiment
    yield f"{experiment.title or experiment.id}: would this evaluation have caught a known bug?"
    yield ""
    yield "What was planted, and was it real?"
    for each in finished.qualified:
        yield f"  {each.plan.probe_id}  {_planted(each)}"
        yield f"         {_proof(each)}"
    for name in finished.aggregates:
        yield ""
        trials = "1 trial" if prepared.trials == 1 else f"{prepared.trials} trials"
        yield f"What the evaluator `{name}` made of it ({trials} each)"
        for cell in finished.cells:
            if cell.cell.evaluator_id == name:
                yield from _cell_text(cell)
        yield from _strength_text(finished, name)
    for side, facts in account.confinement.items():
        if facts.get("backend") == "none":
            yield ""
            yield f"  UNCONFINED: the {side} ran without isolation (--confine none); the manifests say so."
    found = reasons(finished, strict)
    yield ""
    yield f"Result: exit code {exit_code(found)}" + ("" if found else ", every cell is as it should be")
    yield f"Files:  {directory}"


def _planted(each: Qualified) -> str:
    draft = each.plan.draft
    kind, reference = arm_of(draft)
    if kind == "mutation":
        mutation = each.plan.arm.mutation
        assert mutation is not None
        where = f" in {mutation.file}" if mutation.file else f" at the launch of {mutation.interface}"
        what = draft.defects[0].summary if draft.defects else draft.expected_failure
        return f"{draft.class_}: {what} ({mutation.operator or mutation.kind}{where})"
    if kind == "reply":
        return f"{draft.class_}: {draft.degenerate_response} (canned reply {reference})"
    return f"{draft.class_}: nothing; {draft.no_known_defect}"


def _proof(each: Qualified) -> str:
    if each.failure is not None:
        return f"REFUSED {each.failure.code}: {each.failure.detail}"
    kind = arm_of(each.plan.draft)[0]
    if kind == "reply":
        return "real: it satisfies the naive check and a disciplined oracle rejects it"
    if kind == "clean":
        return "real: the clean subject gave the same answers every time and every check held"
    blind = "; no contract oracle sees it, which is a finding about the contract" if each.outcome.contract_blind else ""
    return f"real: clean before, damaged in between, clean again after the roll-back{blind}"


def _cell_text(cell: ScoredCell) -> Iterator[str]:
    word, meaning = STATES[cell.state]
    pending = " (known miss, does not gate)" if cell.qualified.plan.draft.pending else ""
    yield f"  {cell.cell.probe_id}  {word:13} {meaning}{pending}"
    if cell.error is not None:
        yield f"         {cell.error}"
    yield from _why(cell)
    if cell.ladder is not None:
        verdict = cell.verdict or "Invalid"
        distinct = list(dict.fromkeys(cell.ladder.basis))
        basis = f": {distinct[0]}" if distinct else ""
        more = f" (+{len(distinct) - 1} more)" if len(distinct) > 1 else ""
        yield f"         verdict {verdict}{basis}{more}"
    for stop in sorted(set(cell.stops) - {"submitted"}):
        yield f"         evaluator: {stop} in {cell.stops.count(stop)} of {len(cell.stops)} trials"


def _why(cell: ScoredCell) -> Iterator[str]:
    """What the first trial shows: the quotation behind a claim, or where the defect was and nobody looked."""
    trial = cell.trials[0]
    for finding in trial.findings[:MAX_SHOWN_FINDINGS]:
        quotes: list[dict[str, str]] = finding.get("quotedEvidence") or [{}]
        quoted = quotes[0]
        where = f"{', '.join(finding['observationIds'])} {quoted.get('channel', '')}".strip()
        text = quoted.get("quote", "")
        shown = text if len(text) <= MAX_SHOWN_QUOTE else text[:MAX_SHOWN_QUOTE] + "..."
        yield f"         {finding['oracleId'] or 'no oracle'} violated: {where} says {shown}"
    if cell.state == "missed":
        seen = [decode(Observation, each, "Observation") for each in trial.observations]
        shows = signature_ids(cell.qualified.plan.draft, cell.qualified.plan.home, Pass(tuple(seen), {}, {}, {}))
        held = [entry["oracleId"] for entry in trial.dispositions if entry["disposition"] == "held"]
        where = ", ".join(shows) or "no observation"
        yield f"         it shows in {where}, where these oracles held: {', '.join(held)}"


def _strength_text(finished: Finished, name: str) -> Iterator[str]:
    aggregate = finished.aggregates[name]
    if aggregate is None:
        yield f"  strength: not measured ({finished.aggregate_errors[name]})"
        return
    classes: Any = to_value(aggregate.classes)
    for probe_class in CLASSES:
        strength = classes[probe_class]
        if strength is None:
            continue
        interval = wilson(strength["caught"], strength["exercised"])
        if interval is None:
            yield f"  strength {probe_class}: not measured, nothing was exercised"
            continue
        comparable = "" if strength["comparable"] else "; too few trials to compare"
        yield (
            f"  strength {probe_class}: {strength['caught']} of {strength['exercised']} caught, "
            f"rate {strength['rate']:.2f}, Wilson 95 % {interval.low:.2f} to {interval.high:.2f}{comparable}"
        )
