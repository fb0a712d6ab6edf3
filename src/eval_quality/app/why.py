"""Explain a verdict from its evidence artifact, in plain words or as JSON."""

from collections.abc import Iterator
from typing import Any

from eval_quality.app.artifact import serialize_artifact
from eval_quality.app.files import read_input
from eval_quality.core.why.explain import Explanation, Reason, explain
from eval_quality.model.registry import read
from eval_quality.report.visible import visible
from eval_quality.value.depth import room


def why_report(evidence: str, contract: str | None, *, as_json: bool) -> str:
    """The explanation of the artifact at `evidence`; a contract at `contract` adds what its oracles ask."""
    document = read_input(evidence, "evidence", "EvidenceArtifact")
    described = None if contract is None else read_input(contract, "--contract", "EvalContract")
    with room():
        artifact = read("evidence-artifact", document)
        found = explain(artifact, None if described is None else read("eval-contract", described))
        if as_json:
            return serialize_artifact(_document(found), "VerdictExplanation")
        return "".join(f"{visible(line)}\n" for line in _lines(found))


def _document(found: Explanation) -> dict[str, Any]:
    return {
        "verdict": found.verdict,
        "exitCode": found.exit_code,
        "mode": found.mode,
        "runId": found.run_id,
        "probeId": found.probe_id,
        "reasons": [
            {
                "basis": reason.basis,
                "row": reason.row,
                "means": reason.means,
                "decidedBy": list(reason.decided_by),
                "deciding": [
                    {
                        "path": node.path,
                        "op": node.op,
                        "reads": node.reads,
                        "resolution": node.resolution,
                        "introductionCondition": node.introduction_condition,
                    }
                    for node in reason.nodes
                ],
                "remedy": reason.remedy,
                "effect": reason.effect,
            }
            for reason in found.reasons
        ],
        "then": list(found.then),
        "strength": list(found.strength),
        "nextRung": found.next_rung,
    }


def _lines(found: Explanation) -> Iterator[str]:
    probe = "no probe" if found.probe_id is None else f"probe {found.probe_id}"
    yield f"{found.verdict}, exit {found.exit_code}: {found.mode} of run {found.run_id} against {probe}"
    yield from (f"strength: {line}" for line in found.strength)
    for number, reason in enumerate(found.reasons, 1):
        yield ""
        yield from _reason_lines(number, reason)
    yield ""
    if found.next_rung is None:
        yield "Nothing fired: this is the best rung."
        return
    count = len(found.reasons)
    what = {1: "the reason above is", 2: "both reasons above are"}.get(count, f"all {count} reasons above are")
    yield f"Next better rung: {found.next_rung}, once {what} gone."
    if found.then:
        yield "Then this artifact still shows:"
        yield from (f"  {line}" for line in found.then)


def _reason_lines(number: int, reason: Reason) -> Iterator[str]:
    yield f"{number}. {reason.basis}"
    yield f"   {reason.means}"
    yield from (f"   decided by {line}" for line in reason.decided_by)
    for node in reason.nodes:
        because = "" if node.introduction_condition is None else f" ({node.introduction_condition})"
        yield f"   {node.path}: {node.op} of {node.reads} is {node.resolution}{because}"
    yield f"   to change it: {reason.remedy} [{reason.effect}]"
