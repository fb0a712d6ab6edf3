"""Everything one invocation acts with: folders, sandboxes, secrets and the signal to stop (spec 12 §12.8, §12.18).

A stage opens arms. Each opened arm has a workspace and processes of its own and loses both when it is left, whatever
happened in it.
"""

import contextlib
import os
import random
import threading
import time
from collections.abc import Callable, Generator, Mapping
from typing import Final, NamedTuple

from eval_quality.core.contract.operation import AnyOperation
from eval_quality.model.decode import decode, to_value
from eval_quality.model.interface import CommandOperation
from eval_quality.model.ports import ProbeObservation, ProbeRequest
from eval_quality.probe.process import Caps, Launch, run_process
from eval_quality.probe.signals import AbortSignal
from eval_quality.run.arm import Arm
from eval_quality.run.confine.secrets import Redactor
from eval_quality.run.driver.arm import start_units
from eval_quality.run.driver.setting import Sandbox, Setting
from eval_quality.run.errors import ExperimentFailure, RunFault
from eval_quality.run.plan.call import Call
from eval_quality.run.plan.record import Issue, NoObservation
from eval_quality.run.prepare import Prepared
from eval_quality.run.reply import ReplyArm
from eval_quality.run.session import Meter, Session
from eval_quality.run.workshop import Workshop

MAX_PREPARE_OUTPUT: Final = 8 * 1024 * 1024
"""Output of one prepare command and stream; stops a build that prints without end."""
LAST_LINES: Final = 20


class Opened(NamedTuple):
    """An arm that is ready: calls of plan steps and evaluators, and port requests of pre-flight legs."""

    issue: Issue
    send: Callable[[ProbeRequest], ProbeObservation | NoObservation]


class Gate:
    """At most `limit` calls of one interface in flight."""

    def __init__(self, limits: Mapping[str, int]) -> None:
        self._slots = {name: threading.BoundedSemaphore(limit) for name, limit in limits.items()}

    @contextlib.contextmanager
    def holding(self, interface_id: str) -> Generator[None]:
        """Hold a slot of the interface, where it has a limit."""
        slot = self._slots.get(interface_id)
        if slot is None:
            yield
            return
        with slot:
            yield


class Stage:
    """One invocation's means.

    sandbox: of the subject. secrets: declared values by name. redactor: replaces them in what comes back.
    signal: aborted when the run must stop at once.
    """

    def __init__(
        self,
        prepared: Prepared,
        workshop: Workshop,
        sandbox: Sandbox,
        secrets: Mapping[str, str],
        redactor: Redactor,
        signal: AbortSignal,
    ) -> None:
        self.prepared = prepared
        self.workshop = workshop
        self.sandbox = sandbox
        self.secrets = secrets
        self.redactor = redactor
        self.signal = signal
        self._gate = Gate(prepared.experiment.limits.interface)

    @contextlib.contextmanager
    def open(self, arm: Arm, meter: Meter, master: str | None = None) -> Generator[Opened]:
        """Open an arm in a fresh copy of `master` (by default the arm's own); `meter` is charged for every call.

        Raises `Void` for infrastructure, `RunFault` for what can never succeed.
        """
        if arm.reply is not None:
            reply = ReplyArm(arm.reply, self.prepared.lookup)

            def answer(call: Call) -> ProbeObservation | NoObservation:
                meter.spend()
                return reply.issue(call)

            yield Opened(answer, _nothing_to_send)
            return
        with self.workshop.workspace(master or self.workshop.master(arm)) as workspace:
            setting = self.setting(workspace)
            units = start_units(self.prepared.contract, self.prepared.experiment.interface, arm, setting)
            with Session(
                units, self._stdin_form, self.prepared.lookup, self._principal_value, meter, self.signal
            ) as session:

                def issue(call: Call) -> ProbeObservation | NoObservation:
                    with self._gate.holding(call.interface_id):
                        return self._redacted(session.issue(call))

                def send(request: ProbeRequest) -> ProbeObservation | NoObservation:
                    with self._gate.holding(request.interface_id):
                        return self._redacted(session.send(request))

                yield Opened(issue, send)

    def _stdin_form(self, interface_id: str, operation: AnyOperation) -> str:
        executables = self.prepared.experiment.interface[interface_id].executable
        if executables is None or not isinstance(operation, CommandOperation):
            return "auto"
        return executables[operation.invocation.executable].stdin_form

    def setting(self, workspace: str) -> Setting:
        """What drivers start things with in this workspace."""
        return Setting(workspace, self.sandbox, self.secrets, self.prepared.experiment.retry, self.pause)

    def pause(self, attempt: int) -> None:
        """Exponential back-off with full jitter, cut short when the run stops. Nothing that is stored depends on it."""
        retry = self.prepared.experiment.retry
        longest = min(retry.max_ms, retry.base_ms * 2 ** (attempt - 1)) / 1000
        until = time.monotonic() + random.uniform(0, longest)
        while time.monotonic() < until and not self.signal.aborted:
            time.sleep(min(0.05, longest))

    def _principal_value(self, principal: str, channel: str, key: str) -> str:
        entries = self.prepared.experiment.principals.get(principal, {})
        for entry in entries.values():
            template: str | None = getattr(entry, channel, {}).get(key)
            if template is not None:
                return Setting("", self.sandbox, self.secrets, self.prepared.experiment.retry, self.pause).expand(
                    template
                )
        raise ExperimentFailure.of(
            "binding-missing",
            f"Experiment.principals.{principal}",
            f'no entry says what "{principal}" sends as {channel} "{key}"',
        )

    def _redacted(self, answer: ProbeObservation | NoObservation) -> ProbeObservation | NoObservation:
        if isinstance(answer, NoObservation) or not self.secrets:
            return answer
        return decode(ProbeObservation, self.redactor.value(to_value(answer)), "ProbeObservation")

    def prepare(self, folder: str) -> None:
        """Run the subject's prepare commands in a master. Raises `RunFault` (`prepare-failed`)."""
        subject = self.prepared.experiment.subject
        setting = self.setting(folder)
        for argv in subject.prepare:
            lane = self.sandbox.lane(folder)
            try:
                launch = Launch(tuple(setting.expand(text) for text in argv), setting.seen, setting.variables({}))
                caps = Caps(subject.prepare_max_ms, MAX_PREPARE_OUTPUT)
                done = run_process(launch, b"", caps, self.signal, lane)
                self.sandbox.check(lane)
            except OSError as error:
                raise _prepare_failed(argv[0], os.strerror(error.errno or 0)) from error
            finally:
                lane.close()
            if done.ended != "exit" or done.exit_code != 0:
                tail = "\n".join(done.stderr.decode("utf-8", "replace").splitlines()[-LAST_LINES:])
                how = f"exit code {done.exit_code}" if done.ended == "exit" else f"its {done.ended} cap"
                raise _prepare_failed(argv[0], f"ended with {how}: {self.redactor.text(tail)}")


def _prepare_failed(program: str, detail: str) -> RunFault:
    return RunFault.of("prepare-failed", "Experiment.subject.prepare", f"{program} {detail}")


def _nothing_to_send(request: ProbeRequest) -> NoObservation:
    return NoObservation("not-permitted", f"{request.interface_id}/{request.operation_id}")
