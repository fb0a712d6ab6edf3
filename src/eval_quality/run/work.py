"""Executing one item of a run: what was planned becomes a capture's body (spec 12 §12.10, §12.12, §12.18).

| Item | Body |
|---|---|
| `fixture` | the observations of the clean pre-flight |
| `qualify/<probe>` | the outcome of the cycle with every pass |
| `arm/<probe>` | the observations of the pre-flight on the probe's own arm |
| `trial/<evaluator>/<probe>/<k>` | the trial's capture and how the evaluator ended |

`Void` leaves here unchanged: what infrastructure broke is the journal's to count and to repeat.
"""

import os
import tempfile
import time
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from eval_quality.core.preflight.plan import plan_preflight
from eval_quality.model.decode import to_value
from eval_quality.probe.process import Caps, Launch, run_process
from eval_quality.run.arm import Arm
from eval_quality.run.capture import outcome_value
from eval_quality.run.confine.lane import ConfinedLane
from eval_quality.run.errors import RunFault
from eval_quality.run.evaluators.configuration import budgets
from eval_quality.run.evaluators.external import bridge as bridge_program
from eval_quality.run.evaluators.external.command import SOCKET_NAME, Evaluated, Place, Ran, evaluate
from eval_quality.run.evaluators.external.dispatch import Dispatcher
from eval_quality.run.experiment.document import Evaluator, size_in_bytes
from eval_quality.run.plan.call import Call
from eval_quality.run.plan.record import NoObservation, Recorder
from eval_quality.run.plan.values import channels_of
from eval_quality.run.planned import launch_vector
from eval_quality.run.prepare import Item, Prepared, ProbePlan
from eval_quality.run.qualify.bench import bench_for
from eval_quality.run.qualify.cycle import Finding, Outcome, Subject, run_cycle
from eval_quality.run.sandbox import UNCONFINED_MOUNTS, UNCONFINED_NETWORK, Confined, Unconfined, shared_folder
from eval_quality.run.sealing import FORBIDDEN_INPUTS, accounting
from eval_quality.run.session import CapReached, Meter
from eval_quality.run.stage import Stage
from eval_quality.run.tree import copy_tree
from eval_quality.run.trial import BridgedSubject, Measured, deterministic_trial, external_trial, isolation
from eval_quality.run.workshop import discard

MAX_SOCKET_PATH: Final = 107
"""Bytes of the longest path that a socket address holds."""
HOST_PROGRAM: Final = "python3"
"""The interpreter that an evaluator runs the bridge file with."""


class Host(NamedTuple):
    """What an item needs besides the stage.

    evaluator_sandbox: of external evaluators. start_workspaces: evaluator id -> its start workspace on this host.
    attestations: forbidden input -> the operator's statement. timed: whether seconds are measured.
    scratch: a private folder for bridges and evaluator homes. root: the experiment folder, for *outer* paths.
    """

    evaluator_sandbox: Confined | Unconfined
    start_workspaces: Mapping[str, str]
    attestations: Mapping[str, str]
    timed: bool
    scratch: str
    root: str


class Done(NamedTuple):
    """What one item left: its body, what a clock measured, private bytes by name, and calls made."""

    body: dict[str, Any]
    seconds: float
    private: Mapping[str, bytes] = {}


def perform(stage: Stage, host: Host, item: Item, meter: Meter) -> Done:
    """Execute one item; `meter` counts its subject calls. Raises `Void`, `RunFault`, `RuntimeFault`."""
    began = time.monotonic()
    private: Mapping[str, bytes] = {}
    if item.kind == "fixture":
        body = _preflight(stage, stage.prepared.clean, None, meter)
    elif item.kind == "qualify":
        body = outcome_value(_qualify(stage, stage.prepared.probe(item.probe_id or ""), meter))
    elif item.kind == "arm":
        plan = stage.prepared.probe(item.probe_id or "")
        body = _preflight(stage, plan.arm, plan, meter)
    else:
        measured = _trial(stage, host, item, meter)
        body, private = measured.body(), measured.private
    return Done(body, round(time.monotonic() - began, 3) if host.timed else 0, private)


# --- pre-flight ---------------------------------------------------------------------------------------------------


def _preflight(stage: Stage, arm: Arm, plan: ProbePlan | None, outer: Meter) -> dict[str, Any]:
    """Issue the legs of one arm strictly in plan order, in one workspace (12.12.1)."""
    settings = stage.prepared.experiment.preflight
    legs = plan_preflight(stage.prepared.contract, () if plan is None else (plan.provisional,)).legs
    meter = Meter(len(legs), settings.max_elapsed_s, _cap_reached, outer)
    observations: list[Any] = []
    missing: dict[str, str] = {}
    fault = None
    try:
        with stage.open(arm, meter) as opened:
            for leg in legs:
                answer = opened.send(leg.request)
                if isinstance(answer, NoObservation):
                    missing[leg.leg_id] = answer.code
                else:
                    observations.append(to_value(answer))
    except CapReached as reached:
        if plan is None:
            detail = f"the clean pre-flight did not end within {settings.max_elapsed_s} s"
            raise RunFault.of("preflight-cap-reached", "Experiment.preflight", detail) from reached
        fault = {"detail": f"the pre-flight of this arm reached its cap ({reached})"}
    return {"observations": observations, "missing": missing, "fault": fault}


def _cap_reached(name: str) -> CapReached:
    return CapReached(name)


# --- qualification ------------------------------------------------------------------------------------------------


def _qualify(stage: Stage, plan: ProbePlan, outer: Meter) -> Outcome:
    prepared = stage.prepared
    settings = prepared.experiment.qualify
    meter = Meter(settings.max_calls, settings.max_elapsed_s, _cap_reached, outer)
    subject = Subject(prepared.contract, plan.draft, plan.home, prepared.judge, settings)
    replacement = None
    if plan.arm.mutation is not None and plan.arm.mutation.with_ is not None:
        replacement = prepared.folder.read(plan.arm.mutation.with_)
    bench = bench_for(stage, plan, meter, replacement, reset_call(prepared))
    try:
        return run_cycle(subject, bench)
    except CapReached as reached:
        cap = f"{settings.max_calls} calls" if str(reached) == "calls" else f"{settings.max_elapsed_s} s"
        return Outcome(Finding("qualification-cap-reached", f"the cycle needed more than {cap}"), {})


def cycle_calls(prepared: Prepared, plan: ProbePlan) -> int:
    """The most subject calls a cycle can make: a pass of a damaged arm is tried twice at the most."""
    settings = prepared.experiment.qualify
    legs = sum(defect.manifestation_witness is not None for defect in plan.draft.defects)
    calls = len(prepared.order) + int(reset_call(prepared) is not None) + legs
    return min(settings.max_calls, 2 * calls * max(3 * settings.repeats, 2))


def reset_call(prepared: Prepared) -> Call | None:
    """The fixture reset that precedes trials and passes, where the run asks for one (12.5.2, 12.13.1).

    Every trial has a workspace and processes of its own, so `auto` resets only what lives outside them: a system at an
    address.
    """
    reset = prepared.contract.fixture_reset
    setting = prepared.experiment.run.reset
    if reset is None or setting == "never":
        return None
    if setting == "auto" and prepared.experiment.interface[reset.interface_id].address is None:
        return None
    operation = prepared.lookup.operation(reset.interface_id, reset.operation_id)
    assert operation is not None
    channels, raw = channels_of(reset.inputs, operation)
    return Call(reset.interface_id, reset.operation_id, channels, raw)


# --- trials -------------------------------------------------------------------------------------------------------


def _trial(stage: Stage, host: Host, item: Item, meter: Meter) -> Measured:
    prepared = stage.prepared
    plan = prepared.probe(item.probe_id or "")
    evaluator = next(
        each for each in prepared.evaluators if (each.id if each else "deterministic") == item.evaluator_id
    )
    index = item.trial_index or 1
    with stage.open(plan.arm, meter) as opened:
        if evaluator is None:
            return deterministic_trial(prepared, plan.probe_id, index, opened.issue, reset_call(prepared))
        recorder = Recorder(opened.issue)
        reset = reset_call(prepared)
        if reset is not None:
            recorder.act(reset, "baseline")
        return _external(stage, host, evaluator, plan, index, recorder)


def _external(
    stage: Stage, host: Host, evaluator: Evaluator, plan: ProbePlan, index: int, recorder: Recorder
) -> Measured:
    prepared = stage.prepared
    limits = budgets(prepared, evaluator)
    seconds = min(limits["maxWallClockMinutes"] * 60, evaluator.max_wall_s or 86_400)
    began = time.monotonic()
    dispatcher = Dispatcher(
        prepared.view,
        BridgedSubject(prepared, recorder),
        limits["maxToolCalls"],
        lambda: seconds - (time.monotonic() - began),
    )
    home = tempfile.mkdtemp(prefix="home-", dir=host.scratch)
    shared = shared_folder(_bridge_folder(host), (bridge_program.__file__,))
    evaluated, observed = _run_evaluator(stage, host, evaluator, dispatcher, home, shared, seconds)
    capture = external_trial(
        prepared,
        plan.probe_id,
        index,
        dispatcher,
        recorder,
        evaluated.submission,
        isolation(*observed, recorder.tools, _accounting(host)),
    )
    return Measured(capture, evaluated.stop, {"stderr": stage.redactor.data(evaluated.stderr)})


def _bridge_folder(host: Host) -> str:
    """A new folder for the bridge. An unconfined evaluator names the socket by its whole path, which must be short."""
    folder = tempfile.mkdtemp(prefix="eq-", dir=host.scratch)
    if host.evaluator_sandbox.confined or len(os.fsencode(os.path.join(folder, SOCKET_NAME))) <= MAX_SOCKET_PATH:
        return folder
    return tempfile.mkdtemp(prefix="eval-quality-")


def _run_evaluator(
    stage: Stage,
    host: Host,
    evaluator: Evaluator,
    dispatcher: Dispatcher,
    home: str,
    shared: str,
    seconds: float,
) -> tuple[Evaluated, tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...], tuple[str, ...]]]:
    sandbox = host.evaluator_sandbox
    start = host.start_workspaces.get(evaluator.id)
    if start is not None:
        copy_tree(start, home, lambda _: False)
    lane = sandbox.lane(home, shared)
    setting = stage.setting(home)
    declared = {name: setting.expand(value) for name, value in evaluator.environment.items()}
    place = Place(shared, "/eq" if sandbox.confined else shared, sandbox.seen(home), HOST_PROGRAM)
    caps = Caps(int(seconds * 1000), size_in_bytes(evaluator.max_output_bytes))

    def run(environment: Mapping[str, str], stdin: bytes) -> Ran:
        launch = Launch(launch_vector(evaluator, host.root), sandbox.seen(home), environment)
        try:
            done = run_process(launch, stdin, caps, stage.signal, lane)
        except (FileNotFoundError, PermissionError) as error:
            detail = f"{evaluator.command[0]} cannot be started: {os.strerror(error.errno or 0)}"
            raise RunFault.of("launch-target-missing", f"Experiment.evaluator.{evaluator.id}", detail) from error
        return Ran(done.ended, done.exit_code, done.stdout, done.stderr)

    try:
        evaluated = evaluate(dispatcher, place, declared, evaluator.submission, run)
        sandbox.check(lane)
        if isinstance(lane, ConfinedLane) and isinstance(sandbox, Confined):
            observed = lane.facts().observed_mounts
            allowed = sandbox.specification(home, shared).allowed_mounts()
            return evaluated, (observed, allowed, ("bridge",), ("bridge",))
        return evaluated, (UNCONFINED_MOUNTS, UNCONFINED_MOUNTS, UNCONFINED_NETWORK, UNCONFINED_NETWORK)
    finally:
        lane.close()
        discard(home)
        discard(shared)


def _accounting(host: Host) -> dict[str, Any]:
    """Which forbidden inputs were withheld, and how that is known (12.17.3)."""
    if host.evaluator_sandbox.confined:
        return accounting(True, "no material declared; mounts closed")
    return {
        name: {"withheld": True, "note": f"attested by the operator, not enforced: {host.attestations[name]}"}
        if name in host.attestations
        else {"withheld": False, "note": "not enforced"}
        for name in FORBIDDEN_INPUTS
    }
