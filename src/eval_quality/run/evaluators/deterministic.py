"""The built-in evaluator: it executed the plan to the letter; here it says what it saw (spec 12 §12.13.3).

It reads the contract, so it is not blind and does not claim to be: it is the upper mark that an independent evaluator
is compared with. Per oracle, in contract order:

| Resolution | Disposition |
|---|---|
| satisfied | `held` |
| resolved, not satisfied | `violated` |
| `insufficient-evidence`, no check, or no observation behind it | `not-attempted` |

Per violated oracle one `defect` finding with one quotation that is really in the evidence it cites.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from msgspec import UNSET

from eval_quality.core.contract.pointer import is_bound, parse_pointer
from eval_quality.core.contract.walk import walk
from eval_quality.core.evaluation import ABSENT, make_resolve_operand
from eval_quality.core.ingest.quotation import projection
from eval_quality.core.severity import highest
from eval_quality.model.contract import EvalContract, Oracle
from eval_quality.model.run_record import Observation
from eval_quality.run.plan.judge import Judge, Judgment
from eval_quality.value.canonical import canonicalize

MAX_QUOTE_CHARACTERS: Final = 512
"""Longest quotation; a cut falls between code points, so what is left still occurs in the evidence."""

FALLBACK_CHANNELS: Final = (
    "response-status",
    "exit-code",
    "response-body",
    "stdout",
    "stderr",
    "artifact",
    "response-headers",
    "call-inputs",
)
"""Where a quotation is taken from when no pointer of the check gives one."""


class Report(NamedTuple):
    """What an evaluator says about one trial, as plain values of a run record."""

    recommendation: str
    dispositions: tuple[dict[str, Any], ...]
    findings: tuple[dict[str, Any], ...]


def report(contract: EvalContract, probe_id: str, observations: Sequence[Observation], judge: Judge) -> Report:
    """The submission of the deterministic evaluator over one trial's observations."""
    judgments = judge.oracles(observations)
    by_id = {observation.observation_id: observation for observation in observations}
    selected = judge.selected(observations)
    findings: list[dict[str, Any]] = []
    for judgment in judgments:
        if disposition(judgment) == "violated":
            findings.append(_finding(contract, probe_id, len(findings) + 1, judgment, by_id, selected))
    said = {disposition(judgment) for judgment in judgments}
    recommendation = "FAIL" if "violated" in said else "CONCERNS" if "not-attempted" in said else "PASS"
    return Report(recommendation, tuple(_disposition(judgment) for judgment in judgments), tuple(findings))


def disposition(judgment: Judgment) -> str:
    """The word for one oracle."""
    if not judgment.observation_ids:
        return "not-attempted"
    if judgment.satisfied:
        return "held"
    return "violated" if judgment.violated else "not-attempted"


def _disposition(judgment: Judgment) -> dict[str, Any]:
    return {
        "oracleId": judgment.oracle.id,
        "disposition": disposition(judgment),
        "observationIds": list(judgment.observation_ids),
        "note": None,
    }


def _finding(
    contract: EvalContract,
    probe_id: str,
    number: int,
    judgment: Judgment,
    by_id: Mapping[str, Observation],
    selected: Mapping[str, Observation],
) -> dict[str, Any]:
    oracle = judgment.oracle
    listing = [behavior for behavior in contract.behaviors if oracle.id in behavior.oracles]
    cited = [by_id[name] for name in judgment.observation_ids]
    return {
        "findingType": "defect",
        "findingId": f"F-{number:03d}",
        "oracleId": oracle.id,
        "probeId": probe_id,
        "behaviorId": listing[0].id if listing else None,
        "severity": highest(behavior.severity for behavior in listing),
        "summary": f"oracle {oracle.id} resolved {judgment.resolution} under {oracle.polarity}",
        "confidence": 1,
        "observationIds": list(judgment.observation_ids),
        "evidenceArtifacts": [],
        "quotedEvidence": [_quote(oracle, cited, selected)],
    }


def _quote(oracle: Oracle, cited: Sequence[Observation], selected: Mapping[str, Observation]) -> dict[str, Any]:
    for channel, artifact_id, text in (*_pointed(oracle, cited, selected), *_projections(cited[0])):
        if text:
            return {"quote": text[:MAX_QUOTE_CHARACTERS], "channel": channel, "artifactId": artifact_id}
    raise AssertionError("call inputs are never empty, so some channel can always be quoted")


def _pointed(
    oracle: Oracle, cited: Sequence[Observation], selected: Mapping[str, Observation]
) -> Iterator[tuple[str, str | None, str]]:
    """The values at the check's own pointers, where they occur in the text a quotation is audited against."""
    assert oracle.check is not None
    resolve = make_resolve_operand(selected, {})
    for node in walk(oracle.check, ""):
        for site in node.operands:
            pointer = site.operand.pointer
            if pointer is UNSET or is_bound(pointer):
                continue
            parsed = parse_pointer(pointer)
            observation = selected.get(parsed.step_id)
            value = resolve(site.operand, ABSENT)
            if observation is None or observation not in cited or value is ABSENT:
                continue
            text = projection(observation, parsed.channel, parsed.artifact_id, "Observation") or ""
            for spelled in (value if isinstance(value, str) else "", canonicalize(value, "Observation").decode()):
                if spelled and spelled in text:
                    yield parsed.channel, parsed.artifact_id, spelled
                    break


def _projections(observation: Observation) -> Iterator[tuple[str, str | None, str]]:
    for channel in FALLBACK_CHANNELS:
        names: Sequence[str | None] = sorted(observation.artifacts) if channel == "artifact" else (None,)
        for artifact_id in names:
            yield channel, artifact_id, projection(observation, channel, artifact_id, "Observation") or ""
