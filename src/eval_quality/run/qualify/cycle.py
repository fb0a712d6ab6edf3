"""The qualification cycle of one probe (spec 12 §12.11.1).

| Step | Action |
|---|---|
| q0 | the clean tree is materialised (`workspace-drift`) and prepared |
| q1 | clean passes: covered checks satisfied, witnesses not true, signature quiet |
| q2 | the change is applied and the digest moves (`mutation-without-effect`) |
| q3 | mutated passes: some covered check is violated, and only where the signature holds |
| q4 | the change is undone and the digest is back (`restore-digest-mismatch`) |
| q5 | clean passes again (`clean-after-restore-failed`) |

q1 fails as `clean-arm-failed`, `fault-fires-on-clean` or `signature-fires-on-clean`; q3 as `mutation-inert`,
`mutation-unobservable`, `mutation-undesignated`, `mutation-spills-over` or `signature-vacuous`.

The verdicts are pure (`judge_clean`, `judge_mutated`, ...); the cycle drives a bench, which owns folders and processes.
A reply arm and a clean control have shorter cycles.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from eval_quality.core.qualify import HomeOperation
from eval_quality.core.score.witness import match_witness
from eval_quality.model.contract import EvalContract
from eval_quality.model.decode import decode
from eval_quality.model.run_record import DefectFinding
from eval_quality.run.evaluators.deterministic import report
from eval_quality.run.experiment.corpus import arm_of
from eval_quality.run.experiment.document import ProbeDraft, QualifyTable
from eval_quality.run.plan.judge import Judge
from eval_quality.run.qualify.reading import Check, Pass, Verdict, judge_pass


class Finding(NamedTuple):
    """Why a probe does not qualify: a code of 12.27 and its sentence."""

    code: str
    detail: str


class Subject(NamedTuple):
    """What a probe is judged with."""

    contract: EvalContract
    draft: ProbeDraft
    home: HomeOperation | None
    judge: Judge
    settings: QualifyTable


class Outcome(NamedTuple):
    """The end of one cycle.

    failure: None for a qualified probe. passes: the passes of each reading phase, in order.
    """

    failure: Finding | None
    passes: Mapping[str, Sequence[Pass]]
    rollback_verified: bool = False
    contract_blind: bool = False
    designated_blind: bool = False


class Bench(Protocol):
    """Folders and processes of one cycle."""

    def start(self) -> Finding | None:
        """q0."""
        ...

    def passes(self, repeats: int) -> list[Pass]:
        """`repeats` passes on fresh copies, with fresh processes."""
        ...

    def apply(self) -> Finding | None:
        """q2."""
        ...

    def restore(self) -> Finding | None:
        """q4."""
        ...


# --- verdicts -----------------------------------------------------------------------------------------------------


def verdicts(subject: Subject, passes: Sequence[Pass]) -> tuple[Verdict, ...]:
    """Every pass judged."""
    return tuple(judge_pass(subject.contract, subject.draft, subject.home, seen, subject.judge) for seen in passes)


def judge_clean(subject: Subject, passes: Sequence[Pass], *, after: bool = False) -> Finding | None:
    """q1 and q5: is the clean arm clean for this probe?"""
    failure = _unclean(subject, passes)
    if failure is not None and after:
        return Finding("clean-after-restore-failed", failure.detail)
    return failure


def _unclean(subject: Subject, passes: Sequence[Pass]) -> Finding | None:
    judged = verdicts(subject, passes)
    for number, verdict in enumerate(judged, 1):
        fired = [check.id for check in verdict.of("witness") if not check.satisfied]
        if fired:
            names = ", ".join(fired)
            return Finding(
                "fault-fires-on-clean", f"the witness of {names} is true on the clean subject (pass {number})"
            )
        if verdict.signature_ids:
            names = ", ".join(verdict.signature_ids)
            return Finding(
                "signature-fires-on-clean", f"the signature holds on clean observations {names} (pass {number})"
            )
    bad = [(number, _unsatisfied(verdict)) for number, verdict in enumerate(judged, 1) if _unsatisfied(verdict)]
    if judged and (len(judged) - len(bad)) / len(judged) < subject.settings.clean_min_pass:
        number, checks = bad[0]
        listed = ", ".join(f"{check.id} is {check.resolution or 'without check'}" for check in checks)
        why = _missing(passes[number - 1])
        return Finding("clean-arm-failed", f"{listed} in pass {number} of {len(judged)}{why}")
    return None


def _unsatisfied(verdict: Verdict) -> list[Check]:
    return [check for check in verdict.of("contract", "probe") if not check.satisfied]


def _missing(seen: Pass) -> str:
    if not seen.missing:
        return ""
    return "; without observation: " + ", ".join(f"{name} ({why})" for name, why in sorted(seen.missing.items()))


def judge_mutated(subject: Subject, passes: Sequence[Pass]) -> tuple[Finding | None, bool, bool]:
    """q3: (why the mutation does not qualify, contract blind, designated blind)."""
    judged = verdicts(subject, passes)
    settings, draft = subject.settings, subject.draft
    contract_hits = [any(check.violated for check in verdict.of("contract")) for verdict in judged]
    hits = [any(check.violated for check in verdict.checks) for verdict in judged]
    counted = contract_hits if settings.require_contract_oracle else hits
    if sum(counted) / len(judged) < settings.mutated_min_fail or not any(counted):
        return _not_seen(subject, passes, judged, counted), False, False
    contract_blind = not any(contract_hits)
    designated = draft.designated_oracle
    designated_blind = designated is not None and not any(
        check.violated for verdict in judged for check in verdict.of("contract") if check.id == designated
    )
    if designated_blind and settings.require_contract_oracle:
        detail = f"designated oracle {designated} stays satisfied while another check is violated"
        return Finding("mutation-undesignated", detail), contract_blind, designated_blind
    for seen in passes:
        spill = _spill(subject, seen)
        if spill is not None:
            return spill, contract_blind, designated_blind
    return None, contract_blind, designated_blind


def _not_seen(subject: Subject, passes: Sequence[Pass], judged: Sequence[Verdict], counted: Sequence[bool]) -> Finding:
    index = counted.index(False)
    checks = judged[index].checks
    undecided = [check for check in checks if check.resolution == "insufficient-evidence"]
    if passes[index].missing and checks and len(undecided) == len(checks):
        return Finding("mutation-unobservable", f"no check could decide{_missing(passes[index])}")
    listed = (
        ", ".join(f"{check.source} {check.id} is {check.resolution}" for check in checks) or "no check was consulted"
    )
    needed = " of the contract" if subject.settings.require_contract_oracle else ""
    return Finding("mutation-inert", f"no check{needed} was violated: {listed}{_missing(passes[index])}")


def _spill(subject: Subject, seen: Pass) -> Finding | None:
    """12.11.4: would an honest evaluator make an unwitnessed claim on this arm?"""
    if subject.draft.signature is None:
        return None
    said = report(subject.contract, subject.draft.probe_id, seen.observations, subject.judge)
    findings = [decode(DefectFinding, finding, "Finding") for finding in said.findings]
    match = match_witness(subject.draft.probe_id, subject.draft.signature, subject.home, seen.observations, findings)
    if match.result == "unwitnessed-claim":
        offending = [finding for finding in findings if finding.finding_id in match.unwitnessed_finding_ids]
        listed = ", ".join(f"{finding.oracle_id} on {' '.join(finding.observation_ids)}" for finding in offending)
        detail = (
            f"the arm also shows where the signature does not hold: {listed}; "
            "make the change narrower, or the signature true wherever it shows"
        )
        return Finding("mutation-spills-over", detail)
    if match.result == "vacuous":
        listed = ", ".join(match.observation_ids)
        return Finding("signature-vacuous", f"the signature could not be decided on any of {listed}")
    return None


def judge_reply(subject: Subject, seen: Pass) -> tuple[Finding | None, Finding | None]:
    """A reply arm: (why it is not naive, why it is not rejected)."""
    draft = subject.draft
    assert draft.naive is not None
    judgments = {judgment.oracle.id: judgment for judgment in subject.judge.oracles(seen.observations)}
    if draft.naive.oracle is not None:
        naive, resolution = judgments[draft.naive.oracle].satisfied, judgments[draft.naive.oracle].resolution
    else:
        assert draft.naive.expression is not None
        by_step = subject.judge.selected(seen.observations)
        path = f"ProbeDraft[{draft.probe_id}].naive"
        resolution = subject.judge.resolve(draft.naive.expression, by_step, path)
        naive = resolution == "true"
    not_naive = None if naive else Finding("gameability-not-naive", f"the naive check resolves to {resolution}")
    listed = [behavior for behavior in subject.contract.behaviors if behavior.id == draft.behavior_id]
    watched = (draft.designated_oracle,) if draft.designated_oracle else listed[0].oracles
    rejecting = [judgments[name].violated for name in watched if name in judgments]
    if not subject.settings.require_contract_oracle and draft.designated_oracle is None:
        verdict = judge_pass(subject.contract, draft, subject.home, seen, subject.judge)
        rejecting += [check.violated for check in verdict.of("probe")]
    if any(rejecting):
        return not_naive, None
    states = ", ".join(f"{name} is {judgments[name].resolution}" for name in watched if name in judgments)
    return not_naive, Finding(
        "gameability-not-rejected", f"no disciplined oracle is violated: {states or 'none watches'}"
    )


# --- the cycle ----------------------------------------------------------------------------------------------------


def run_cycle(subject: Subject, bench: Bench, crash_point: Callable[[str], Any] = lambda _: None) -> Outcome:
    """Run the cycle that fits the draft's arm. `crash_point` is called at every step boundary."""
    kind = arm_of(subject.draft)[0]
    repeats = subject.settings.repeats
    phase = {"clean": "control", "mutation": "clean-before", "reply": "disciplined"}[kind]
    seen: dict[str, list[Pass]] = {}
    failure = bench.start()
    crash_point("q0")
    if failure is not None:
        return Outcome(failure, seen)
    clean = bench.passes(max(2, repeats) if kind == "clean" else repeats)
    crash_point("q1")
    if kind != "reply":
        seen[phase] = clean
    failure = judge_clean(subject, clean)
    if failure is None and kind == "clean":
        failure = _repeatable(clean)
    if failure is not None or kind == "clean":
        return Outcome(failure, seen)
    failure = bench.apply()
    crash_point("q2")
    if failure is not None:
        return Outcome(failure, seen)
    changed = bench.passes(1 if kind == "reply" else repeats)
    crash_point("q3")
    if kind == "reply":
        seen["naive"] = seen["disciplined"] = changed
        not_naive, not_rejected = judge_reply(subject, changed[0])
        return Outcome(not_naive or not_rejected or _spill(subject, changed[0]), seen)
    seen["mutated"] = changed
    failure, contract_blind, designated_blind = judge_mutated(subject, changed)
    if failure is not None:
        return Outcome(failure, seen, contract_blind=contract_blind, designated_blind=designated_blind)
    failure = bench.restore()
    crash_point("q4")
    if failure is not None:
        return Outcome(failure, seen, False, contract_blind, designated_blind)
    again = bench.passes(repeats)
    crash_point("q5")
    seen["clean-after"] = again
    failure = judge_clean(subject, again, after=True)
    return Outcome(failure, seen, failure is None, contract_blind, designated_blind)


def _repeatable(passes: Sequence[Pass]) -> Finding | None:
    """A clean control shows the same thing every time."""
    for number, seen in enumerate(passes[1:], 2):
        if seen.projections != passes[0].projections:
            differing = sorted(
                name
                for name in {*seen.projections, *passes[0].projections}
                if seen.projections.get(name) != passes[0].projections.get(name)
            )
            detail = f"pass {number} differs from pass 1 at {', '.join(differing)}; declare what may differ as volatile"
            return Finding("clean-arm-failed", detail)
    return None
