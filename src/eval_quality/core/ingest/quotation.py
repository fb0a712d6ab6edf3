"""Is every quotation really in the evidence it cites? (spec 08 §2.5)

1. Only `defect` findings are audited. A quotation is witnessed when the text of its channel, on some observation the
   finding cites, contains it exactly: no case folding, no white-space or Unicode normalization.
2. The text of a JSON channel is its canonical form, so `"a": 1` is never in it and `"a":1` is.
3. Call inputs are printed whole, as presented: a record stamped 8 prints `bodyEncoding`, one stamped 7 does not.

A value that cannot be canonicalized raises `non-canonicalizable-value` naming the finding.
"""

from collections.abc import Iterator, Mapping, Sequence

from eval_quality.core.ingest.conditions import Quotation
from eval_quality.model.binding import AbsentBody, ProbeObservedBody, TextBody
from eval_quality.model.decode import to_value
from eval_quality.model.evidence import QuotedEvidence
from eval_quality.model.run_record import Finding, Observation
from eval_quality.value.canonical import canonicalize
from eval_quality.value.text import utf16_key

_NUMBERS = {"response-status": "response_status", "exit-code": "exit_code"}
_DOCUMENTS = {"response-body": "response_body", "response-headers": "response_headers"}


def unwitnessed_quotations(findings: Sequence[Finding], observations: Sequence[Observation]) -> tuple[Quotation, ...]:
    """Every quotation no cited observation contains, sorted (spec 08 §2.5)."""
    carried: dict[str, list[Observation]] = {}
    for observation in observations:
        carried.setdefault(observation.observation_id, []).append(observation)
    texts: dict[tuple[int, str, str | None], str | None] = {}
    return tuple(sorted(_unwitnessed(findings, carried, texts), key=_order))


def _unwitnessed(
    findings: Sequence[Finding],
    carried: Mapping[str, list[Observation]],
    texts: dict[tuple[int, str, str | None], str | None],
) -> Iterator[Quotation]:
    for finding in findings:
        if finding.finding_type != "defect":
            continue
        path = f"SealedRunRecord.findings[findingId={finding.finding_id}]"
        cited = tuple(sorted({name for name in finding.observation_ids if name in carried}))
        for index, quoted in enumerate(finding.quoted_evidence):
            if not any(
                quoted.quote in (_text(observation, quoted, path, texts) or "")
                for name in cited
                for observation in carried[name]
            ):
                yield Quotation(finding.finding_id, index, quoted.channel, quoted.quote, cited)


def _text(
    observation: Observation,
    quoted: QuotedEvidence,
    path: str,
    texts: dict[tuple[int, str, str | None], str | None],
) -> str | None:
    """The text of the quoted channel; computed once per observation and channel. A quote is never empty."""
    key = (observation.sequence, quoted.channel, quoted.artifact_id)
    if key not in texts:
        texts[key] = projection(observation, quoted.channel, quoted.artifact_id, path)
    return texts[key]


def projection(observation: Observation, channel: str, artifact_id: str | None, path: str) -> str | None:
    """The text of one channel that a quotation must occur in; None where the channel carries nothing."""
    if channel in ("stdout", "stderr"):
        return _tagged(getattr(observation, channel), path)
    if channel == "artifact":
        body = observation.artifacts.get(artifact_id) if artifact_id is not None else None
        return None if body is None else _tagged(body, path)
    if channel in _NUMBERS:
        number = getattr(observation, _NUMBERS[channel])
        return None if number is None else str(number)
    if channel in _DOCUMENTS:
        document = getattr(observation, _DOCUMENTS[channel])
        return None if document is None else _canonical_text(document, path)
    return _canonical_text(to_value(observation.call_inputs), path)


def _tagged(body: ProbeObservedBody, path: str) -> str | None:
    if isinstance(body, AbsentBody):
        return None
    return body.value if isinstance(body, TextBody) else _canonical_text(body.value, path)


def _canonical_text(value: object, path: str) -> str:
    return canonicalize(value, path).decode()


def _order(entry: Quotation) -> tuple[str, int, str, bytes, tuple[str, ...]]:
    return (
        entry.finding_id,
        entry.quote_index,
        entry.channel,
        utf16_key(entry.quote),
        entry.cited_observation_ids,
    )
