"""Driving a planned run to its end: phases, concurrency, caps, orderly stop (spec 12 §12.10, §12.18, §12.22, §12.23).

1. `clean`: the fixture pre-flight. A clean arm that fails ends the run as `invalid`.
2. `qualify`: every cycle, then every arm pre-flight. All are finished before the gate decides, so one run reports every
   broken probe; no evaluator is started before the gate.
3. `measure`: every trial, in the order of a digest over seed and trial, so that arms are interleaved.
4. `seal` and `score` are `finish`'s, from captures alone.

An attempt is begun in the journal before its first process and captured after its last one. Infrastructure voids an
attempt and repeats it; a cap, a signal or a fault stops the scheduling, lets what runs finish within its grace, and
leaves a run that `--resume` continues.
"""

import errno
import hashlib
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import Any, Final, NamedTuple

from eval_quality.core.preflight.plan import plan_preflight
from eval_quality.errors import RuntimeFault
from eval_quality.probe.lanes import LaneLost
from eval_quality.probe.signals import AbortController
from eval_quality.run.corpus import Qualified, failed_checks, fixture_verdict, qualify_all
from eval_quality.run.errors import AuthoringProblem, RunFault, RunInvalid, RunStopped
from eval_quality.run.evaluators.configuration import budgets
from eval_quality.run.prepare import Item, Prepared
from eval_quality.run.session import Meter, Void
from eval_quality.run.stage import Stage
from eval_quality.run.store.directory import Run
from eval_quality.run.store.files import FULL
from eval_quality.run.store.journal import Capture
from eval_quality.run.work import Done, Host, cycle_calls, perform
from eval_quality.value.kind import is_object

PHASES: Final = ("compile", "plan", "preflight", "qualify", "measure", "score")
"""What `--until` may name."""
UNFIT_CLEAN_ARM: Final = ("clean-arm-failed", "clean-after-restore-failed")
"""Failures of the clean subject itself: nothing that is measured on it could be believed (12.11.6)."""
TICK_SECONDS: Final = 0.2
FOREVER: Final = 10.0**9


class Interrupted(Exception):
    """A signal ended the run in good order; `exit_code` is 130 or 143."""

    def __init__(self, exit_code: int) -> None:
        self.exit_code = exit_code
        super().__init__(f"stopped by signal {exit_code - 128}")


class Until(Exception):
    """The phase that `--until` names is done."""


class Caps(NamedTuple):
    """The run's hard caps, and how many items run at once."""

    max_calls: int
    max_seconds: float
    concurrency: int


Notify = Callable[[str, Mapping[str, Any]], None]
"""(event, body): told of everything that happens, after the journal has it."""


class Execution:
    """One invocation of a run. `stopping` may be set from a signal handler: 130, 143, or 0."""

    def __init__(
        self,
        run: Run,
        prepared: Prepared,
        stage: Stage,
        host: Host,
        caps: Caps,
        abort: AbortController,
        until: str,
        notify: Notify,
    ) -> None:
        self._run = run
        self._prepared = prepared
        self._stage = stage
        self._host = host
        self._caps = caps
        self._abort = abort
        self._until = until
        self._notify = notify
        self._items = {item.item_id: item for item in prepared.items}
        self._failure: BaseException | None = None
        self._lock = threading.Lock()
        self._booked = 0
        self._idle_before = 0.0
        self.stopping = 0

    def event(self, name: str, **body: Any) -> None:
        """Append an event and tell whoever watches."""
        self._run.journal.event(name, body)
        self._notify(name, body)

    def measure(self) -> dict[str, Any]:
        """Phases 5 to 9: execute what is pending; the body of every capture, by item.

        Raises `RunInvalid`, `RunStopped`, `RunFault`, `Interrupted`, `Until`.
        """
        journal = self._run.journal
        if journal.state() == "sealing":
            return self._bodies()
        # What the caps are held against is the journal's; it is counted on from here, so that no item waits for a read.
        self._booked = journal.calls_booked()
        self._idle_before = time.monotonic() - journal.active_ms() / 1000
        if journal.state() in ("planned", "stopped", "failed"):
            journal.enter("qualifying" if self._pending("fixture", "qualify", "arm") else "measuring")
        self._phase("clean", ["fixture"])
        self._clean_gate()
        self._reached("preflight")
        self._phase("qualify", self._pending("qualify"))
        self._skip_arms()
        self._phase("arms", self._pending("arm"))
        self._gate()
        self._reached("qualify")
        journal.enter("measuring")
        self._phase("measure", sorted(self._pending("trial"), key=self._schedule))
        self._reached("measure")
        return self._bodies()

    # -- phases --

    def _reached(self, phase: str) -> None:
        if self._until == phase:
            raise Until

    def _pending(self, *kinds: str) -> list[str]:
        return [item_id for kind in kinds for item_id in self._run.journal.pending(kind)]

    def _schedule(self, item_id: str) -> bytes:
        item = self._items[item_id]
        text = f"{self._prepared.experiment.run.seed}/{item.evaluator_id}/{item.probe_id}/{item.trial_index}"
        return hashlib.sha256(text.encode()).digest()

    def _bodies(self) -> dict[str, Any]:
        return {capture.item_id: with_seconds(capture) for capture in self._run.journal.captures()}

    def _clean_gate(self) -> None:
        body = self._bodies()["fixture"]
        if not body["observations"]:
            missing = ", ".join(f"{leg} ({why})" for leg, why in sorted(body["missing"].items()))
            self._invalid(
                [AuthoringProblem("clean-preflight-failed", "PreflightVerdict", f"no leg was answered: {missing}")]
            )
        verdict = fixture_verdict(self._prepared, {"fixture": body})
        for check in verdict.checks:
            self.event("preflight.check", arm="clean", kind=check.kind, outcome=check.outcome)
        if not verdict.passed:
            detail = failed_checks(verdict.checks)
            self._invalid([AuthoringProblem("clean-preflight-failed", "PreflightVerdict", detail)])

    def _skip_arms(self) -> None:
        """A probe whose cycle failed has nothing to show on its arm."""
        bodies = self._bodies()
        for item_id in self._pending("arm"):
            failure = bodies[f"qualify/{self._items[item_id].probe_id}"]["failure"]
            if failure is not None:
                self._skip(item_id, failure["code"])

    def _skip(self, item_id: str, code: str) -> None:
        token = self._run.journal.begin(item_id)
        self._run.journal.capture(token, {"skipped": code}, {"seconds": 0})

    def _gate(self) -> None:
        qualified = qualify_all(self._prepared, self._bodies())
        failed = [each for each in qualified if each.failure is not None]
        for each in qualified:
            if each.failure is None:
                self.event("probe.minted", probe=each.plan.probe_id, arm=each.plan.arm.arm_id)
            else:
                self.event("probe.set-aside", probe=each.plan.probe_id, code=each.failure.code)
        stop = self._prepared.experiment.run.on_unqualified == "stop"
        if failed and (stop or len(failed) == len(qualified) or any(_unfit(each) for each in failed)):
            self._invalid([_problem(each) for each in failed])
        for each in failed:
            code = each.failure.code if each.failure else ""
            for item_id in self._pending("trial"):
                if self._items[item_id].probe_id == each.plan.probe_id:
                    self._skip(item_id, code)

    def _invalid(self, problems: Sequence[AuthoringProblem]) -> None:
        self._run.journal.enter("invalid", problems[0].code)
        raise RunInvalid(problems)

    # -- items --

    def _phase(self, name: str, item_ids: Iterable[str]) -> None:
        pending = set(self._run.journal.pending())
        waiting = [item_id for item_id in item_ids if item_id in pending]
        self.event("phase.started", phase=name, items=len(waiting))
        running: dict[Future[str | None], str] = {}
        grace: float | None = None
        with ThreadPoolExecutor(self._caps.concurrency, thread_name_prefix="eval-quality-item") as pool:
            while waiting or running:
                while waiting and not self._halted() and len(running) < self._caps.concurrency:
                    item_id = waiting.pop(0)
                    running[pool.submit(self._execute, item_id)] = item_id
                if not running:
                    break
                done, _ = wait(running, TICK_SECONDS, FIRST_COMPLETED)
                for future in done:
                    item_id = running.pop(future)
                    if future.result() == "void":
                        waiting.append(item_id)
                if self._halted() and grace is None:
                    grace = time.monotonic() + self._prepared.experiment.limits.stop_grace_s
                if grace is not None and time.monotonic() > grace:
                    self._abort.abort(Interrupted(self.stopping or 130))
        self._settle()
        self.event("phase.finished", phase=name)

    def _halted(self) -> bool:
        return bool(self.stopping) or self._failure is not None

    def _settle(self) -> None:
        """After a phase: raise what ended it early."""
        if self._failure is not None:
            raise self._failure
        if self.stopping:
            raise Interrupted(self.stopping)
        exhausted = [item for item in self._run.journal.items() if item.state == "exhausted"]
        if exhausted:
            names = ", ".join(item.item_id for item in exhausted[:5]) + (", ..." if len(exhausted) > 5 else "")
            code, detail = exhausted[0].fault or ("", "")
            raise RunStopped.of("infrastructure-exhausted", "Run", f"{names}; last: {code}: {detail}")

    def _execute(self, item_id: str) -> str | None:
        """Execute one attempt; `void` when it is to be repeated."""
        item = self._items[item_id]
        try:
            return self._attempt(item)
        except BaseException as error:
            self._fail(error)
            return None

    def _fail(self, error: BaseException) -> None:
        with self._lock:
            if self._failure is not None or (isinstance(error, RuntimeFault) and error.code == "aborted"):
                return
            if isinstance(error, RuntimeFault):
                error = RunFault.of(error.code, error.artifact_path, error.detail)
            self._failure = error

    def _attempt(self, item: Item) -> str | None:
        journal = self._run.journal
        reserved = self._reserved(item)
        with self._lock:
            if self._halted():
                return None
            self._check_caps(reserved)
            self._booked += reserved
        token = journal.begin(item.item_id, reserved)
        self.event("item.started", item=item.item_id)
        meter = Meter(reserved, FOREVER, _over_reservation)
        try:
            done = perform(self._stage, self._host, item, meter)
        except Void as void:
            return self._void(item, token, void, meter.calls)
        except (OSError, LaneLost) as error:
            return self._void(item, token, _host_failure(error), meter.calls)
        finally:
            with self._lock:
                self._booked += meter.calls - reserved
        self._keep(item, token, done, meter.calls)
        return None

    def _void(self, item: Item, token: str, void: Void, calls: int) -> str:
        retries = self._prepared.experiment.retry.trial
        state = self._run.journal.void(token, void.code, self._stage.redactor.text(void.detail), calls, retries)
        self.event("item.void" if state == "void" else "item.exhausted", item=item.item_id, code=void.code)
        return state

    def _keep(self, item: Item, token: str, done: Done, calls: int) -> None:
        attachments = {name: self._run.blobs.put(data, True) for name, data in done.private.items() if data}
        self._run.journal.capture(token, done.body, {"seconds": done.seconds}, attachments, calls)
        self.event("item.captured", item=item.item_id)

    def _check_caps(self, reserved: int) -> None:
        if self._booked + reserved > self._caps.max_calls:
            booked = f"{self._booked} of {self._caps.max_calls} subject calls are booked"
            detail = f"{booked} and the next item may need {reserved}"
            raise RunStopped.of("run-budget-reached", "Experiment.budget.max_calls", detail)
        if time.monotonic() - self._idle_before >= self._caps.max_seconds:
            detail = f"the run has been active for its {self._caps.max_seconds:g} s"
            raise RunStopped.of("run-budget-reached", "Experiment.budget.max_wall_s", detail)

    def _reserved(self, item: Item) -> int:
        """The most subject calls an item can make."""
        prepared = self._prepared
        if item.kind == "fixture":
            return len(plan_preflight(prepared.contract, ()).legs)
        if item.kind == "arm":
            plan = prepared.probe(item.probe_id or "")
            return len(plan_preflight(prepared.contract, (plan.provisional,)).legs)
        if item.kind == "qualify":
            return cycle_calls(prepared, prepared.probe(item.probe_id or ""))
        evaluator = next(
            each for each in prepared.evaluators if (each.id if each else "deterministic") == item.evaluator_id
        )
        resets = int(prepared.contract.fixture_reset is not None)
        if evaluator is None:
            return len(prepared.order) + resets
        return budgets(prepared, evaluator)["maxToolCalls"] + resets


def _host_failure(error: OSError | LaneLost) -> Void:
    """What the host could not do, as the end of an attempt; a full or read-only disk ends the run (12.18.2)."""
    if isinstance(error, OSError) and error.errno in (*FULL, errno.EROFS):
        where = "no space is left" if error.errno in FULL else "the file system is read-only"
        raise RunFault.of("store-full" if error.errno in FULL else "store-unsupported", "Store", where) from error
    return Void("host-failure", str(error) or type(error).__name__)


def _over_reservation(name: str) -> Exception:
    return AssertionError(f"an item spent more {name} than it reserved")


def _unfit(each: Qualified) -> bool:
    return each.failure is not None and each.failure.code in UNFIT_CLEAN_ARM


def _problem(each: Qualified) -> AuthoringProblem:
    assert each.failure is not None
    return AuthoringProblem(each.failure.code, f"Probe[probeId={each.plan.probe_id}]", each.failure.detail)


def with_seconds(capture: Capture) -> Any:
    """A capture's body with the seconds a clock measured, where a trial carries them."""
    body, measured = capture.body, capture.measured
    if is_object(body) and "trial" in body:
        return {**body, "trial": {**body["trial"], "wall_clock_seconds": measured["seconds"]}}
    return body
