"""Observations reduced to one verdict (spec 06 §6.6).

1. Index observations by leg id; a second one for an id is the port's fault.
2. Bind each leg to its answer: unanswered, or projected and turned into evidence. An answer of another kind is the
   port's fault.
3. Observations that match no leg are ignored.
4. No answer at all is the port's fault: nothing was measured.
5. Reduce each planned check in order, then digest the fixture.

Faults of relations, of the state comparison and of the digest propagate: a broken pre-flight is no verdict. The order
of the observations never matters.
"""

from collections.abc import Sequence
from typing import Any

from eval_quality.core.preflight.checks import CheckResult, check
from eval_quality.core.preflight.evidence import build_evidence
from eval_quality.core.preflight.plan import Leg, PreflightPlan
from eval_quality.core.preflight.projection import ARTIFACT_PATH, fixture_digest, project
from eval_quality.core.preflight.session import Answer, Session
from eval_quality.errors import RuntimeFault
from eval_quality.model.decode import decode
from eval_quality.model.ports import ProbeObservation
from eval_quality.model.preflight import PreflightVerdict
from eval_quality.model.stamp import PREFLIGHT_VERDICT_SCHEMA_VERSION


def reduce_plan(plan: PreflightPlan, run_id: str, observations: Sequence[ProbeObservation]) -> PreflightVerdict:
    """The verdict on a plan, from observations in any order.

    Raises `RuntimeFault` at `PreflightVerdict`: `port-contract-violation` (rules 1, 2, 4), the evaluation faults of
    spec 05 §5.8, and `schema-parse-failure` for a run id that the verdict's schema refuses.
    """
    by_leg = _index(observations)
    session = Session(plan, {leg.leg_id: _answer(leg, by_leg.get(leg.leg_id)) for leg in plan.legs})
    answers = session.answered()
    if not answers:
        raise _port_fault(f"none of the {len(plan.legs)} planned leg(s) was answered")
    results = [check(planned, session) for planned in plan.checks]
    digest = fixture_digest(answer.projection for answer in answers)
    return decode(PreflightVerdict, _verdict(run_id, digest, results), ARTIFACT_PATH)


def _index(observations: Sequence[ProbeObservation]) -> dict[str, ProbeObservation]:
    by_leg: dict[str, ProbeObservation] = {}
    for observation in observations:
        if observation.probe_id in by_leg:
            raise _port_fault(f'two observations answer for "{observation.probe_id}"')
        by_leg[observation.probe_id] = observation
    return by_leg


def _answer(leg: Leg, observation: ProbeObservation | None) -> Answer | None:
    if observation is None:
        return None
    if observation.kind != leg.request.kind:
        asked = f'leg "{leg.leg_id}" asked for a "{leg.request.kind}" observation'
        raise _port_fault(f'{asked} and was answered with a "{observation.kind}" one')
    projection = project(observation, leg.operation)
    return Answer(leg, observation, projection, build_evidence(leg.inputs, leg.operation, observation, projection))


def _verdict(run_id: str, digest: str, results: Sequence[CheckResult]) -> dict[str, Any]:
    return {
        "schemaVersion": PREFLIGHT_VERDICT_SCHEMA_VERSION,
        "parentDigest": None,
        "revisionCount": 0,
        "runId": run_id,
        "fixtureDigest": digest,
        "passed": all(result.outcome != "failed" for result in results),
        "checks": [result.value() for result in results],
    }


def _port_fault(detail: str) -> RuntimeFault:
    return RuntimeFault("port-contract-violation", ARTIFACT_PATH, detail)
