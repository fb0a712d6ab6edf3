"""Phase 7: what qualification proved becomes probes, readings and a corpus digest (spec 12 §12.11.5, §12.12)."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from eval_quality.core.preflight.entry import reduce_preflight
from eval_quality.core.preflight.plan import plan_preflight
from eval_quality.core.qualify import qualify_probe
from eval_quality.model.decode import decode, to_value
from eval_quality.model.ports import ProbeObservation
from eval_quality.model.preflight import PreflightVerdict
from eval_quality.model.probe import Probe
from eval_quality.run.arm import Arm, launch_value
from eval_quality.run.capture import read_outcome
from eval_quality.run.mint import Facts, mint, reading_path
from eval_quality.run.mutation import is_file_change
from eval_quality.run.prepare import Prepared, ProbePlan
from eval_quality.run.qualify.cycle import Finding, Outcome, Subject, verdicts
from eval_quality.run.qualify.reading import reading
from eval_quality.run.sealing import public
from eval_quality.value.canonical import canonicalize

FAULT_CHECKS = ("interface-present", "seeded-fault-fired", "seeded-faults-scoped")
"""What gates a damaged arm under `arm_checks = "fault"` (12.12.3)."""


class Qualified(NamedTuple):
    """One probe after qualification.

    failure: why it left the corpus, or None. probe: the minted artifact, also for a failed probe whose cycle got
    far enough to say anything. arm_verdict: the pre-flight on its own arm. files: readings and launch documents.
    """

    plan: ProbePlan
    outcome: Outcome
    failure: Finding | None
    probe: Probe
    arm_verdict: PreflightVerdict | None
    files: Mapping[str, bytes]


def qualify_all(prepared: Prepared, captures: Mapping[str, Any]) -> tuple[Qualified, ...]:
    """Every probe of the run, from the captures of its cycle and its arm pre-flight."""
    return tuple(_qualified(prepared, captures, plan) for plan in prepared.probes)


def fixture_verdict(prepared: Prepared, captures: Mapping[str, Any]) -> PreflightVerdict:
    """The pre-flight verdict of the clean arm, without probes (12.12.1)."""
    return _verdict(prepared, prepared.clean, (), captures["fixture"]["observations"])


def preflight_run_id(prepared: Prepared, arm: Arm) -> str:
    """The run id of a live pre-flight."""
    return f"{prepared.experiment.id}.{arm.arm_id}.{arm.digest.removeprefix('sha256:')[:16]}"


def _verdict(prepared: Prepared, arm: Arm, probes: tuple[Probe, ...], observations: list[Any]) -> PreflightVerdict:
    seen = [decode(ProbeObservation, each, "ProbeObservation") for each in observations]
    return reduce_preflight(prepared.contract, probes, preflight_run_id(prepared, arm), seen)


def _qualified(prepared: Prepared, captures: Mapping[str, Any], plan: ProbePlan) -> Qualified:
    body = captures[f"qualify/{plan.probe_id}"]
    outcome = read_outcome(body)
    files = dict(_readings(prepared, plan, outcome))
    probe = _minted(prepared, plan, outcome, files)
    arm_verdict, failure = None, outcome.failure
    if failure is None:
        failure = _gate(plan, probe)
    arm_body = captures.get(f"arm/{plan.probe_id}")
    if arm_body is not None and failure is None:
        if arm_body["fault"] is not None:
            failure = Finding("arm-preflight-failed", arm_body["fault"]["detail"])
        elif not arm_body["observations"]:
            failure = Finding("arm-preflight-failed", "no leg of the pre-flight was answered on this arm")
        else:
            arm_verdict = _verdict(prepared, plan.arm, (probe,), arm_body["observations"])
            problem = _arm_gate(prepared, plan, probe, arm_verdict, captures)
            if problem:
                failure = Finding("arm-preflight-failed", problem)
    return Qualified(plan, outcome, failure, probe, arm_verdict, files)


def _readings(prepared: Prepared, plan: ProbePlan, outcome: Outcome) -> dict[str, bytes]:
    subject = Subject(prepared.contract, plan.draft, plan.home, prepared.judge, prepared.experiment.qualify)
    files: dict[str, bytes] = {}
    passes = dict(outcome.passes)
    if plan.draft.class_ == "canary" and "mutated" in passes:
        # what is left when nobody reports anything: the arm's own observations
        passes["silent"] = passes["mutated"]
    for phase, seen in passes.items():
        arm = plan.arm if phase in ("mutated", "silent", "naive", "disciplined") else prepared.clean
        failed = outcome.failure is not None and phase == list(outcome.passes)[-1]
        data = reading(prepared.contract_digest, arm.digest, phase, verdicts(subject, seen), seen, not failed)
        files[reading_path(plan.probe_id, phase)] = data
    if plan.arm.mutation is not None and not is_file_change(plan.arm.mutation):
        document = {"clean": launch_value(prepared.clean.launches), "mutated": launch_value(plan.arm.launches)}
        files[f"qualification/{plan.probe_id}/launch.json"] = canonicalize(document, "Launch") + b"\n"
    return files


def _minted(prepared: Prepared, plan: ProbePlan, outcome: Outcome, files: Mapping[str, bytes]) -> Probe:
    experiment = prepared.experiment
    prefix = reading_path(plan.probe_id, "")[: -len(".json")]
    readings = {path.removeprefix(prefix).removesuffix(".json"): data for path, data in files.items()}
    facts = Facts(
        experiment.id,
        experiment.subject.system_id,
        experiment.subject.revision,
        prepared.tree_digest,
        readings,
        outcome.rollback_verified,
        _target(prepared, plan, files),
    )
    return decode(Probe, mint(plan.draft, plan.arm, facts), "Probe")


def _target(prepared: Prepared, plan: ProbePlan, files: Mapping[str, bytes]) -> Mapping[str, Any] | None:
    mutation = plan.arm.mutation
    if mutation is None:
        return None
    if not is_file_change(mutation):
        path = f"qualification/{plan.probe_id}/launch.json"
        return public(path, files[path])
    assert prepared.clean.tree is not None
    entry = prepared.clean.tree.entry(mutation.file or "")
    assert entry is not None
    return {"storage": "public", "path": entry.path, "privateRef": None, "digest": entry.digest}


def _gate(plan: ProbePlan, probe: Probe) -> Finding | None:
    """The qualification gate of spec 08 §1 over the minted probe."""
    result = qualify_probe(probe, None if plan.home is None else plan.home.operation)
    if result.qualified:
        return None
    listed = "; ".join(f"{failure.code} at {failure.artifact_path}: {failure.detail}" for failure in result.failures)
    return Finding("probe-unqualified", listed)


def _arm_gate(
    prepared: Prepared, plan: ProbePlan, probe: Probe, verdict: PreflightVerdict, captures: Mapping[str, Any]
) -> str:
    """Which check of the arm's pre-flight stands in the way, or an empty text (12.12.3)."""
    settings = prepared.experiment.preflight
    gating = [check for check in verdict.checks if settings.arm_checks == "all" or check.kind in FAULT_CHECKS]
    if settings.scoping == "twin":
        twin = twin_verdict(prepared, plan, probe, captures)
        gating = [check for check in gating if check.kind != "seeded-faults-scoped"]
        gating += [check for check in twin.checks if check.kind == "seeded-faults-scoped"]
    return failed_checks(gating)


def twin_verdict(prepared: Prepared, plan: ProbePlan, probe: Probe, captures: Mapping[str, Any]) -> PreflightVerdict:
    """Clean legs from the fixture's observations, fault legs from the arm's (12.12.1).

    The planner mints leg ids anew for each plan, so clean legs are matched by their position among the clean legs.
    """
    fixture = {each["probeId"]: each for each in captures["fixture"]["observations"]}
    clean = [leg.leg_id for leg in plan_preflight(prepared.contract, ()).legs]
    own = [leg.leg_id for leg in plan_preflight(prepared.contract, (probe,)).legs if leg.purpose != "seeded-fault"]
    twin = dict(zip(own, clean, strict=True))
    mixed = [
        {**fixture[twin[each["probeId"]]], "probeId": each["probeId"]} if each["probeId"] in twin else each
        for each in captures[f"arm/{plan.probe_id}"]["observations"]
        if twin.get(each["probeId"], each["probeId"]) in fixture or each["probeId"] not in twin
    ]
    return _verdict(prepared, plan.arm, (probe,), mixed)


def failed_checks(checks: Any) -> str:
    """The failed ones of some pre-flight checks, with their notes."""
    return "; ".join(
        f"{check.kind}{'' if check.operation_id is None else f' on {check.interface_id}/{check.operation_id}'}"
        f"{'' if check.note is None else f': {check.note}'}"
        for check in checks
        if check.outcome == "failed"
    )


def artifact_bytes(record: Any, kind: str) -> bytes:
    """A record as the file of an artifact."""
    return canonicalize(to_value(record), kind) + b"\n"
