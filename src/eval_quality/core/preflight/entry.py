"""Pre-flight at the boundary: plain JSON in, one verdict out (spec 06 §6.1).

1. Contract stamp, contract shape, each probe's stamp, the probe list's shape, the observation list's shape.
2. The plan.
3. Two diagnostics a leg, in plan order, before anything is reduced.
4. The verdict, then the closing diagnostic.

The contract given is the compiled one; pre-flight does not compile it. Issuing the legs is the driver's business.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple, cast

from eval_quality.core.preflight.diagnostic import DiagnosticSink, not_observed, observed, planned, reduced, reporter
from eval_quality.core.preflight.plan import plan_preflight
from eval_quality.core.preflight.reduce import reduce_plan
from eval_quality.model.contract import EvalContract
from eval_quality.model.decode import decode, decode_list
from eval_quality.model.ports import ProbeObservation
from eval_quality.model.preflight import PreflightVerdict
from eval_quality.model.probe import Probe
from eval_quality.model.stamp import check_stamp, probe_path
from eval_quality.value.depth import room
from eval_quality.value.kind import is_array


class PreflightInputs(NamedTuple):
    """A contract and its probes, read at the boundary."""

    contract: EvalContract
    probes: tuple[Probe, ...]


def read_inputs(contract: Any, probes: Any) -> PreflightInputs:
    """Check stamps and shapes of the contract, then of the probe list (spec 06 §6.1.1 steps 1 to 4).

    Raises `RuntimeFault`: `schema-version-mismatch` or `schema-parse-failure`.
    """
    check_stamp("eval-contract", contract, "EvalContract")
    read_contract = decode(EvalContract, contract, "EvalContract")
    for probe in _presented(probes):
        check_stamp("probe", probe, probe_path(probe))
    return PreflightInputs(read_contract, decode_list(Probe, probes, "Probe"))


def reduce_preflight(
    contract: EvalContract,
    probes: Sequence[Probe],
    run_id: str,
    observations: Sequence[ProbeObservation],
    sink: DiagnosticSink | None = None,
) -> PreflightVerdict:
    """Plan, report and reduce records already read. Raises what planning and reduction raise."""
    report = reporter(run_id, sink)
    with room():
        plan = plan_preflight(contract, probes)
        answered = {observation.probe_id for observation in observations}
        for leg in plan.legs:
            report(planned(leg.leg_id))
            report(observed(leg.leg_id) if leg.leg_id in answered else not_observed(leg.leg_id))
        verdict = reduce_plan(plan, run_id, observations)
        report(reduced(len(plan.legs), verdict.passed))
        return verdict


def preflight_from_observations(
    *, contract: Any, probes: Any, run_id: str, observations: Any, sink: DiagnosticSink | None = None
) -> PreflightVerdict:
    """The pre-flight verdict over observations made elsewhere; plain JSON values or records.

    Raises `RuntimeFault` or `StructuralFailure` (spec 06 §6.1.1, §6.3, §6.6). A failed pre-flight is a verdict.
    """
    inputs = read_inputs(contract, probes)
    seen = decode_list(ProbeObservation, observations, "ProbeObservation")
    return reduce_preflight(inputs.contract, inputs.probes, run_id, seen, sink)


def _presented(probes: object) -> Sequence[Any]:
    """The elements of a probe list; none of anything else, whose shape is refused next."""
    if is_array(probes):
        return probes
    return cast("tuple[Any, ...]", probes) if isinstance(probes, tuple) else ()
