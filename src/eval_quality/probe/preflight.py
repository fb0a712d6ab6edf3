"""Pre-flight against a live environment: every planned leg issued through the probe port (spec 06 §6.1, §6.3.4).

1. Contract and probes are read, stamps first.
2. The plan is made; a refusal issues nothing.
3. Legs are issued strictly one after the other in plan order, one port call each, no retry. A fault ends pre-flight.
4. The observations are reduced to the verdict.
"""

from typing import Any

from eval_quality.core.preflight.diagnostic import DiagnosticSink, observed, planned, reduced, reporter
from eval_quality.core.preflight.entry import read_inputs
from eval_quality.core.preflight.plan import PreflightPlan, plan_preflight
from eval_quality.core.preflight.reduce import reduce_plan
from eval_quality.model.decode import to_value
from eval_quality.model.ports import ProbeObservation
from eval_quality.model.preflight import PreflightVerdict
from eval_quality.probe.ports import PROBE, EnvironmentProbePort
from eval_quality.probe.seam import call_port
from eval_quality.probe.signals import AbortSignal
from eval_quality.value.depth import room


def run_preflight(
    *,
    contract: Any,
    probes: Any,
    run_id: str,
    port: EnvironmentProbePort,
    signal: AbortSignal,
    sink: DiagnosticSink | None = None,
) -> PreflightVerdict:
    """The pre-flight verdict on an environment; `contract` and `probes` are plain JSON values or records.

    Raises `RuntimeFault` or `StructuralFailure` (spec 06 §6.1.1, §6.3, §6.6), and whatever fault the port raises. A
    failed pre-flight is a verdict.
    """
    # 1.
    inputs = read_inputs(contract, probes)
    with room():
        # 2.
        plan = plan_preflight(inputs.contract, inputs.probes)
        # 3.
        observations = issue_legs(plan, run_id, port, signal, sink)
        # 4.
        verdict = reduce_plan(plan, run_id, observations)
        reporter(run_id, sink)(reduced(len(plan.legs), verdict.passed))
        return verdict


def issue_legs(
    plan: PreflightPlan,
    run_id: str,
    port: EnvironmentProbePort,
    signal: AbortSignal,
    sink: DiagnosticSink | None = None,
) -> tuple[ProbeObservation, ...]:
    """One observation a leg, in plan order; raises the fault of the first leg that has one."""
    report = reporter(run_id, sink)
    observations: list[ProbeObservation] = []
    for leg in plan.legs:
        report(planned(leg.leg_id))
        # As plain JSON, so that the boundary judges what a witness may hold and a request may not.
        observations.append(call_port(PROBE, port.probe, to_value(leg.request), signal))
        report(observed(leg.leg_id))
    return tuple(observations)
