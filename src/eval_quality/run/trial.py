"""One trial: an evaluator meets one arm, and what both left behind becomes a capture (spec 12 §12.13-12.15, §12.17).

The capture's body holds no time (`wall_clock_seconds` is 0 in it); what a clock measured travels beside it.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from eval_quality.core.ingest.quotation import projection
from eval_quality.model.decode import to_value
from eval_quality.model.interface import Operation
from eval_quality.model.run_record import Observation
from eval_quality.run.evaluators.deterministic import report
from eval_quality.run.evaluators.external.dispatch import Act, Answered, Dispatcher, Unanswered
from eval_quality.run.evaluators.external.submission import DefectFinding, Submission, SubmittedFinding
from eval_quality.run.plan.call import Call, Injected
from eval_quality.run.plan.execute import execute
from eval_quality.run.plan.record import Issue, NoObservation, Recorder
from eval_quality.run.prepare import Prepared
from eval_quality.run.sealing import TrialCapture, accounting

EVIDENCE_CHANNELS = ("response-body", "response-headers", "response-status", "stdout", "stderr", "exit-code")
DETERMINISTIC_NOTE = "built-in evaluator; reads the contract, no external process"
NOT_REPORTED = "not reported by the evaluator"


class Measured(NamedTuple):
    """A finished trial: its capture, how the evaluator ended, and private bytes to keep beside it."""

    trial: TrialCapture
    stop: str
    private: Mapping[str, bytes] = {}

    def body(self) -> dict[str, Any]:
        """The capture's body."""
        return {"trial": self.trial._asdict(), "stop": self.stop}


def deterministic_trial(prepared: Prepared, probe_id: str, index: int, issue: Issue, reset: Call | None) -> Measured:
    """One trial of the built-in evaluator: the reset where there is one, the plan, the report."""
    recorder = Recorder(issue)
    if reset is not None:
        recorder.act(reset, "baseline")
    for _ in execute(prepared.order, recorder.act):
        continue
    said = report(prepared.contract, probe_id, recorder.observations, prepared.judge)
    capture = TrialCapture(
        index,
        said.recommendation,
        list(said.dispositions),
        list(said.findings),
        [to_value(observation) for observation in recorder.observations],
        recorder.actions,
        recorder.calls,
        0,
        isolation((), (), (), (), recorder.tools, accounting(True, DETERMINISTIC_NOTE)),
    )
    return Measured(capture, "submitted")


def isolation(
    mounts: Sequence[str],
    allowed_mounts: Sequence[str],
    network: Sequence[str],
    allowed_network: Sequence[str],
    tools: set[str],
    forbidden: Mapping[str, Any],
) -> dict[str, Any]:
    """What was observed of an evaluator in one trial, as the manifest takes it."""
    return {
        "mounts": list(mounts),
        "allowedMounts": list(allowed_mounts),
        "network": list(network),
        "allowedNetwork": list(allowed_network),
        "tools": sorted(tools),
        "accounting": dict(forbidden),
    }


class BridgedSubject:
    """What stands behind an external evaluator's bridge: checked calls in, evidence texts out."""

    def __init__(self, prepared: Prepared, recorder: Recorder) -> None:
        self._prepared = prepared
        self._recorder = recorder

    def __call__(self, act: Act) -> Answered | Unanswered:
        """Carry one call of the evaluator to the arm."""
        operation = self._prepared.lookup.operation(act.interface_id, act.operation_id)
        assert operation is not None
        if isinstance(operation, Operation) and not _path_complete(operation.path_template, act.channels):
            return Unanswered("path-incomplete")
        call = Call(act.interface_id, act.operation_id, self._injected(act), act.raw_body, act.principal)
        answer = self._recorder.act(call)
        if isinstance(answer, NoObservation):
            return Unanswered(answer.code)
        return Answered(answer.observation_id, answer.sequence, evidence_texts(answer))

    def _injected(self, act: Act) -> dict[str, dict[str, Any]]:
        """The call's channels with the principal's entries on the keys the operation permits."""
        channels: dict[str, dict[str, Any]] = {name: dict(keys) for name, keys in act.channels.items()}
        if act.principal is None:
            return channels
        entry = self._prepared.experiment.principals.get(act.principal, {}).get(act.interface_id)
        permitted = self._prepared.view.channels(act.interface_id, act.operation_id) or {}
        for name in ("header", "query", "environment", "option", "arguments"):
            keys = {*permitted.get(name, {}).get("permittedKeys", ()), *permitted.get(name, {}).get("requiredKeys", ())}
            for key in getattr(entry, name, {}):
                if key in keys:
                    channels.setdefault(name, {})[key] = Injected(act.principal)
        return channels


def _path_complete(template: str, channels: Mapping[str, Mapping[str, Any]]) -> bool:
    parameters = [part.partition("}")[0] for part in template.split("{")[1:]]
    return all(name in channels.get("path", {}) for name in parameters)


def evidence_texts(observation: Observation) -> dict[str, str]:
    """Every non-empty response channel as the text a quotation is audited against, and the call's own inputs."""
    texts: dict[str, str] = {}
    for channel in EVIDENCE_CHANNELS:
        text = projection(observation, channel, None, "Observation")
        if text:
            texts[channel] = text
    for artifact_id in observation.artifacts:
        text = projection(observation, "artifact", artifact_id, "Observation")
        if text:
            texts[f"artifact/{artifact_id}"] = text
    texts["call-inputs"] = projection(observation, "call-inputs", None, "Observation") or ""
    return texts


def external_trial(
    prepared: Prepared,
    probe_id: str,
    index: int,
    dispatcher: Dispatcher,
    recorder: Recorder,
    submission: Submission,
    observed: Mapping[str, Any],
) -> TrialCapture:
    """The capture of an external evaluator's trial; `observed` is what `isolation` made."""
    for refusal in dispatcher.refusals:
        recorder.refuse(refusal)
    return TrialCapture(
        index,
        submission.recommendation,
        dispositions(prepared, submission),
        [finding_value(finding, number, probe_id) for number, finding in enumerate(submission.findings, 1)],
        [to_value(observation) for observation in recorder.observations],
        recorder.actions,
        recorder.calls,
        0,
        observed,
    )


def dispositions(prepared: Prepared, submission: Submission) -> list[dict[str, Any]]:
    """One disposition an oracle, in contract order; what the evaluator left out is `not-attempted`."""
    said = {entry.oracle_id: entry for entry in submission.dispositions}
    found: list[dict[str, Any]] = []
    for oracle in prepared.contract.oracles:
        entry = said.get(oracle.id)
        found.append(
            {
                "oracleId": oracle.id,
                "disposition": "not-attempted" if entry is None else entry.disposition,
                "observationIds": [] if entry is None else list(entry.observation_ids),
                "note": NOT_REPORTED if entry is None else entry.note,
            }
        )
    return found


def finding_value(finding: SubmittedFinding, number: int, probe_id: str) -> dict[str, Any]:
    """A submitted finding as a run record's: the runner mints the identifier and names the probe."""
    value: dict[str, Any] = {
        "findingType": type(finding).__struct_config__.tag,
        "findingId": f"F-{number:03d}",
        "oracleId": finding.oracle_id,
        "probeId": probe_id,
        "behaviorId": finding.behavior_id,
        "severity": finding.severity,
        "summary": finding.summary,
        "confidence": finding.confidence,
        "observationIds": list(finding.observation_ids),
        "evidenceArtifacts": [],
    }
    if isinstance(finding, DefectFinding):
        value["quotedEvidence"] = [to_value(quoted) for quoted in finding.quoted_evidence]
    return value
