"""What a qualification pass shows, as a document without time or place (spec 12 §12.11.3, §12.11.5).

A pass is one execution of the plan plus the probe's fault legs. It is judged by three sources, reported separately:
the contract's oracles, the checks the probe owns, and the manifestation witnesses together with the signature.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from eval_quality.core.qualify import HomeOperation
from eval_quality.core.score.trial import addressed_steps
from eval_quality.core.score.witness import match_witness
from eval_quality.model.contract import EvalContract
from eval_quality.model.expression import Expression
from eval_quality.model.run_record import Observation
from eval_quality.run.experiment.document import ProbeDraft
from eval_quality.run.plan.judge import Judge, covered
from eval_quality.value.canonical import canonicalize
from eval_quality.value.digest import digest_composite


class Pass(NamedTuple):
    """One plan pass and the fault legs of one probe.

    legs: leg id -> the evidence its witness relation reads (absent where the leg got no answer).
    projections: volatile-pruned projections by step or leg id, as plain values, for the digest.
    missing: step or leg id -> why it has no observation.
    """

    observations: tuple[Observation, ...]
    legs: Mapping[str, Observation]
    projections: Mapping[str, Any]
    missing: Mapping[str, str]


class Check(NamedTuple):
    """One check of one source on one pass; `satisfied` means: as it is on a clean system."""

    source: str
    id: str
    resolution: str
    satisfied: bool
    violated: bool


class Verdict(NamedTuple):
    """All checks of one pass, in a stable order."""

    checks: tuple[Check, ...]
    signature_ids: tuple[str, ...]
    """The observations that satisfy the signature."""

    def of(self, *sources: str) -> tuple[Check, ...]:
        """The checks of some sources."""
        return tuple(check for check in self.checks if check.source in sources)


def judge_pass(
    contract: EvalContract, draft: ProbeDraft, home: HomeOperation | None, seen: Pass, judge: Judge
) -> Verdict:
    """Judge one pass by all three sources."""
    signed = signature_ids(draft, home, seen)
    checks = (*_contract(draft, seen, judge), *_probe(draft, seen, judge), *_witnesses(draft, seen, judge, signed))
    return Verdict(checks, signed)


def signature_ids(draft: ProbeDraft, home: HomeOperation | None, seen: Pass) -> tuple[str, ...]:
    """Observations of the pass or the fault legs that satisfy the probe's signature."""
    if draft.signature is None:
        return ()
    legs = tuple(_as_chosen(leg) for leg in seen.legs.values())
    observations = sorted((*seen.observations, *legs), key=lambda each: each.sequence)
    return match_witness(draft.probe_id, draft.signature, home, observations, ()).satisfying


def _as_chosen(leg: Observation) -> Observation:
    return msgspec.structs.replace(leg, provenance="evaluator-chosen")


def _contract(draft: ProbeDraft, seen: Pass, judge: Judge) -> Iterator[Check]:
    for judgment in covered(judge.oracles(seen.observations), draft.covers):
        yield Check("contract", judgment.oracle.id, judgment.resolution, judgment.satisfied, judgment.violated)


def _probe(draft: ProbeDraft, seen: Pass, judge: Judge) -> Iterator[Check]:
    by_step = {**judge.selected(seen.observations), **seen.legs}
    for check in draft.checks:
        path = f"ProbeDraft[{draft.probe_id}].checks[id={check.id}]"
        resolution = _resolved(judge, check.expression, by_step, path)
        yield Check("probe", check.id, resolution, resolution == "true", resolution == "false")


def _resolved(judge: Judge, expression: Expression, by_step: Mapping[str, Observation], path: str) -> str:
    """An expression over what answered; where none of the steps it looks at did, nothing was seen."""
    addressed = addressed_steps(expression)
    if addressed and not addressed & by_step.keys():
        return "insufficient-evidence"
    return judge.resolve(expression, by_step, path)


def _witnesses(draft: ProbeDraft, seen: Pass, judge: Judge, signed: Sequence[str]) -> Iterator[Check]:
    for defect in draft.defects:
        witness = defect.manifestation_witness
        if witness is None:
            continue
        path = f"ProbeDraft[{draft.probe_id}].defects[id={defect.defect_id}].manifestationWitness"
        resolution = _resolved(judge, witness.relation, seen.legs, path)
        # a witness alone is no detection: the signature has to hold as well, where somebody could have looked
        violated = resolution == "true" and (draft.signature is None or bool(signed))
        yield Check("witness", defect.defect_id, resolution, resolution != "true", violated)


def reading(
    contract_digest: str, arm_digest: str, phase: str, verdicts: Sequence[Verdict], passes: Sequence[Pass], passed: bool
) -> bytes:
    """The reading of one phase: canonical bytes plus newline (12.11.5); the first repeat's checks stand for it."""
    document = {
        "protocol": "eval-quality/reading/v1",
        "contractDigest": contract_digest,
        "armDigest": arm_digest,
        "phase": phase,
        "checks": [
            {"source": check.source, "id": check.id, "resolution": check.resolution, "satisfied": check.satisfied}
            for check in (verdicts[0].checks if verdicts else ())
        ],
        "observationsDigest": digest_composite(
            {"passes": [dict(seen.projections) for seen in passes]}, "QualificationReading"
        ),
        "passed": passed,
    }
    return canonicalize(document, "QualificationReading") + b"\n"
