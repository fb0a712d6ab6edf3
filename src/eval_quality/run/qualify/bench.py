"""The folders and processes of one qualification cycle (spec 12 §12.11.1, §12.11.2).

The cycle has a master of its own, `Q`. The subject never runs inside it: every pass works on a fresh copy with fresh
processes, so nothing leaks from one pass into the next.
"""

import os
import stat
from collections.abc import Callable, Mapping
from typing import Any

from eval_quality.core.preflight.evidence import build_evidence
from eval_quality.core.preflight.projection import Projection, project
from eval_quality.core.preflight.request import build_request
from eval_quality.model.ports import ProbeObservation
from eval_quality.model.run_record import Observation
from eval_quality.run.arm import Arm
from eval_quality.run.errors import RunFault
from eval_quality.run.mutation import edit, is_file_change
from eval_quality.run.plan.call import Call
from eval_quality.run.plan.execute import execute
from eval_quality.run.plan.record import NoObservation, Recorder
from eval_quality.run.prepare import ProbePlan
from eval_quality.run.qualify.cycle import Finding
from eval_quality.run.qualify.reading import Pass
from eval_quality.run.session import Meter, Void
from eval_quality.run.stage import Opened, Stage
from eval_quality.run.tree import CHANGED_INSTANT, FIXED_INSTANT, Tree, write_file

MAX_LISTED = 20
"""Differing paths that a failure lists."""


class ArmBench:
    """The bench of a mutation or a clean control.

    replacement: the bytes of the mutation's `with` file. reset: issued before every pass where the run asks for it.
    """

    def __init__(
        self, stage: Stage, plan: ProbePlan, meter: Meter, replacement: bytes | None, reset: Call | None
    ) -> None:
        self._stage = stage
        self._plan = plan
        self._meter = meter
        self._replacement = replacement
        self._reset = reset
        self._clean = stage.prepared.clean
        self._arm = self._clean
        self._folder = ""
        self._tree = Tree(())
        self._saved: tuple[bytes, int] | None = None
        self._started_clean = False

    @property
    def _target(self) -> str:
        assert self._plan.arm.mutation is not None
        return os.path.join(self._folder, self._plan.arm.mutation.file or "")

    def start(self) -> Finding | None:
        """q0: the clean tree in a master of its own."""
        self._folder = self._stage.workshop.build(f"q-{self._plan.probe_id}", self._clean)
        self._tree = self._stage.workshop.finish(self._folder)
        return None

    def passes(self, repeats: int) -> list[Pass]:
        """Plan passes, each followed by the fault legs on another fresh copy."""
        return [self._pass() for _ in range(repeats)]

    def _pass(self) -> Pass:
        prepared = self._stage.prepared
        missing: dict[str, str] = {}
        projections: dict[str, Any] = {}
        observations: tuple[Observation, ...] = ()
        if prepared.order:
            opened = self._attempt(lambda arm: self._plan_pass(arm, missing, projections))
            if opened is None:
                missing.update({planned.step.step_id: "subject-unavailable" for planned in prepared.order})
            else:
                observations = opened
        legs: dict[str, Observation] = {}
        if any(defect.manifestation_witness for defect in self._plan.draft.defects):
            self._attempt(lambda arm: self._fault_legs(arm, legs, missing, projections))
        return Pass(observations, legs, projections, missing)

    def _attempt(self, work: Callable[[Opened], Any]) -> Any:
        """Do `work` on a fresh copy; None when a damaged arm could not be started, twice (12.18.3)."""
        attempt = 0
        while True:
            try:
                with self._stage.open(self._arm, self._meter, self._folder) as opened:
                    result = work(opened)
                self._started_clean = True
                return result
            except Void:
                damaged = self._arm is not self._clean and self._started_clean
                if not damaged:
                    raise
                if attempt >= 1:
                    return None
                attempt += 1

    def _plan_pass(
        self, opened: Opened, missing: dict[str, str], projections: dict[str, Any]
    ) -> tuple[Observation, ...]:
        recorder = Recorder(opened.issue)
        if self._reset is not None:
            recorder.act(self._reset, "baseline")
        for outcome in execute(self._stage.prepared.order, recorder.act):
            if outcome.missing is not None:
                missing[outcome.step_id] = outcome.missing.code
        answers = {
            seen.observation_id: answer for seen, answer in zip(recorder.observations, recorder.answers, strict=True)
        }
        for seen in recorder.observations:
            projections[seen.observation_id] = self._projection(answers[seen.observation_id]).value() | {
                "legId": seen.observation_id
            }
        return tuple(recorder.observations)

    def _projection(self, answer: ProbeObservation) -> Projection:
        operation = self._stage.prepared.lookup.operation(answer.interface_id, answer.operation_id)
        assert operation is not None
        return project(answer, operation)

    def _fault_legs(
        self,
        opened: Opened,
        legs: dict[str, Observation],
        missing: dict[str, str],
        projections: dict[str, Any],
    ) -> None:
        for defect in self._plan.draft.defects:
            witness = defect.manifestation_witness
            if witness is None:
                continue
            operation = self._stage.prepared.lookup.operation(witness.interface_id, witness.operation_id)
            assert operation is not None
            request = build_request(witness.leg_id, witness.interface_id, operation, witness.inputs)
            answer = opened.send(request)
            if isinstance(answer, NoObservation):
                missing[witness.leg_id] = answer.code
                continue
            projection = project(answer, operation)
            projections[witness.leg_id] = projection.value()
            legs[witness.leg_id] = build_evidence(witness.inputs, operation, answer, projection)

    def apply(self) -> Finding | None:
        """q2: save the target, change it by rename, prepare again; the digest must move."""
        mutation = self._plan.arm.mutation
        assert mutation is not None
        self._arm = self._plan.arm
        if not is_file_change(mutation):
            return None
        with open(self._target, "rb") as file:
            original = file.read()
            self._saved = original, stat.S_IMODE(os.fstat(file.fileno()).st_mode)
        changed = edit(mutation, original, self._replacement)
        write_file(self._target, changed, self._saved[1], CHANGED_INSTANT)
        try:
            tree = self._stage.workshop.finish(self._folder, frozenset((mutation.file or "",)))
        except RunFault as fault:
            return Finding(
                "mutation-unobservable", f"the changed subject cannot be prepared: {fault.problems[0].detail}"
            )
        if tree == self._tree:
            return Finding(
                "mutation-without-effect", f"preparing undid the change: the tree is {tree.digest} as before"
            )
        return None

    def restore(self) -> Finding | None:
        """q4: the saved bytes, then the saved mode, by rename; the digest must be back."""
        self._arm = self._clean
        if self._saved is None:
            return self._compare()
        write_file(self._target, self._saved[0], self._saved[1], FIXED_INSTANT)
        self._stage.workshop.finish(self._folder)
        return self._compare()

    def _compare(self) -> Finding | None:
        tree = self._stage.workshop.tree(self._folder)
        if tree == self._tree:
            return None
        before, after = set(self._tree.entries), set(tree.entries)
        paths = sorted({entry.path for entry in before ^ after})
        more = f" and {len(paths) - MAX_LISTED} more" if len(paths) > MAX_LISTED else ""
        detail = (
            f"the restored tree is {tree.digest}, before the change it was {self._tree.digest}; "
            f"different: {', '.join(paths[:MAX_LISTED])}{more}; "
            "declare build output that differs from build to build in [subject] volatile"
        )
        return Finding("restore-digest-mismatch", detail)


class ReplyBench(ArmBench):
    """The bench of a reply: the clean subject first, then the committed answers."""

    def apply(self) -> Finding | None:
        """The reply takes the subject's place."""
        self._arm: Arm = self._plan.arm
        return None

    def restore(self) -> Finding | None:
        """Nothing was changed."""
        return None

    def _fault_legs(
        self,
        opened: Opened,
        legs: dict[str, Observation],
        missing: dict[str, str],
        projections: dict[str, Any],
    ) -> None:
        """A reply probe has no defects and so no legs."""


def bench_for(stage: Stage, plan: ProbePlan, meter: Meter, replacement: bytes | None, reset: Call | None) -> ArmBench:
    """The bench that fits the probe's arm."""
    kind: Mapping[bool, type[ArmBench]] = {True: ReplyBench, False: ArmBench}
    return kind[plan.arm.reply is not None](stage, plan, meter, replacement, reset)
