"""Does a signature's predicate read the observation, and enough of it? (spec 08 §1.10, §1.11, §1.12)

Checks over the predicate, each a pre-order walk:

1. No operand is a reference set: a corpus signature declares none.
2. Every rooted pointer starts at the reserved step `observed`. Its channel joins the named channels; an artifact is
   local to one contract and refused, and so is a channel the signature's kind cannot produce.
3. The named channels suffice: the declared observable channel is among them, or there are two of which one is on the
   response side. "The output contains what was sent" is what this refuses.
4. Every direct operand of an `any` names a response-side channel by itself, so that no disjunct can hold on what was
   sent alone. A pointer relative to a quantifier's element counts for the channel of the enclosing quantifier.

An operand's path is the predicate's path plus `.operands[i]`, `.collection` or `.predicate` per level.
"""

from collections.abc import Iterable, Iterator
from typing import Final

from eval_quality.core.contract.pointer import is_bound, parse_pointer
from eval_quality.core.contract.walk import OperandSite, walk
from eval_quality.core.qualify.channel import FOREIGN_CHANNELS, RESPONSE_SIDE
from eval_quality.core.qualify.result import QualificationFailure
from eval_quality.model.expression import All, Any_, Expression, ForAll, ForAny, Not
from eval_quality.model.probe import DefectSignature
from eval_quality.value.text import quoted

OBSERVED_STEP: Final = "observed"
"""The reserved step identifier every signature pointer is rooted at (spec 08 §0)."""


def predicate_path(path: str) -> str:
    """Where a signature's predicate stands."""
    return f"{path}.defectSignature.condition.predicate"


def condition_failures(signature: DefectSignature, path: str) -> Iterator[QualificationFailure]:
    """Failures of checks 1 to 4, in order."""
    predicate, at = signature.condition.predicate, predicate_path(path)
    yield from _reference_sets(predicate, at)
    channels: dict[str, None] = {}
    yield from _pointers(signature, at, channels)
    yield from _sufficiency(signature, at, tuple(channels))
    yield from _disjuncts(predicate, at)


def _operand_sites(expression: Expression, at: str) -> Iterator[OperandSite]:
    for node in walk(expression, at):
        yield from node.operands


def _pointer_sites(expression: Expression, at: str) -> Iterator[tuple[str, str]]:
    """(path, pointer) of every pointer operand, bound ones included."""
    for site in _operand_sites(expression, at):
        pointer = site.operand.pointer
        if isinstance(pointer, str):
            yield site.path, pointer


def _reference_sets(predicate: Expression, at: str) -> Iterator[QualificationFailure]:
    for site in _operand_sites(predicate, at):
        named = site.operand.reference_set
        if isinstance(named, str):
            yield QualificationFailure(
                code="condition-reference-set-operand",
                artifact_path=site.path,
                detail=f"reference set {quoted(named)}: a corpus signature declares none",
            )


def _pointers(signature: DefectSignature, at: str, channels: dict[str, None]) -> Iterator[QualificationFailure]:
    kind = signature.interface_kind
    for path, pointer in _pointer_sites(signature.condition.predicate, at):
        if is_bound(pointer):
            continue
        target = parse_pointer(pointer)
        if target.step_id != OBSERVED_STEP:
            yield QualificationFailure(
                code="condition-pointer-not-observation-rooted",
                artifact_path=path,
                detail=f"pointer {quoted(pointer)} names step {quoted(target.step_id)}; a signature reads the step "
                f"{quoted(OBSERVED_STEP)} alone",
            )
            continue
        channels[target.channel] = None
        if target.channel == "artifact":
            yield QualificationFailure(
                code="condition-artifact-channel-contract-local",
                artifact_path=path,
                detail=f"pointer {quoted(pointer)} names artifact {quoted(target.artifact_id or '')}, and a written "
                "file's identifier means something in one contract only",
            )
        if target.channel in FOREIGN_CHANNELS[kind]:
            yield QualificationFailure(
                code="condition-text-channel-on-api",
                artifact_path=path,
                detail=f"pointer {quoted(pointer)} reads {quoted(target.channel)}, which an interface of kind "
                f"{quoted(kind)} cannot produce",
            )


def _sufficiency(signature: DefectSignature, at: str, channels: tuple[str, ...]) -> Iterator[QualificationFailure]:
    observable = signature.observable_channel
    if observable in RESPONSE_SIDE and observable in channels:
        return
    if len(channels) > 1 and _reads_response(channels):
        return
    named = ", ".join(f'"{channel}"' for channel in channels) or "no channel"
    yield QualificationFailure(
        code="condition-channels-underspecified",
        artifact_path=at,
        # The words are quoted by the product documents (spec 08 §17.3).
        detail=f'names {named}, which is neither the declared observableChannel "{observable}" '
        "nor two channels with a response-side member (AD-40)",
    )


def _disjuncts(predicate: Expression, at: str) -> Iterator[QualificationFailure]:
    pending: list[tuple[Expression, str, str | None]] = [(predicate, at, None)]
    while pending:
        current, path, bound = pending.pop()
        if isinstance(current, ForAll | ForAny):
            pending.append((current.predicate, f"{path}.predicate", _collection_channel(current)))
            continue
        if not isinstance(current, All | Any_ | Not):
            continue
        children = [(child, f"{path}.operands[{i}]", bound) for i, child in enumerate(current.operands)]
        if isinstance(current, Any_):
            for child, child_path, _ in children:
                channels = _named_channels(child, bound)
                if not _reads_response(channels):
                    yield QualificationFailure(
                        code="condition-disjunct-without-response-channel",
                        artifact_path=child_path,
                        detail=f"this disjunct names {', '.join(map(quoted, channels)) or 'no channel'}, "
                        "so it can hold whatever came back",
                    )
        pending.extend(reversed(children))


def _collection_channel(quantifier: ForAll | ForAny) -> str | None:
    pointer = quantifier.collection.pointer
    if not isinstance(pointer, str) or is_bound(pointer):
        return None
    return parse_pointer(pointer).channel


def _named_channels(expression: Expression, bound: str | None) -> tuple[str, ...]:
    """The channels of every pointer of a subtree, first appearance first."""
    named: dict[str, None] = {}
    for _, pointer in _pointer_sites(expression, ""):
        channel = bound if is_bound(pointer) else parse_pointer(pointer).channel
        if channel is not None:
            named[channel] = None
    return tuple(named)


def _reads_response(channels: Iterable[str]) -> bool:
    return any(channel in RESPONSE_SIDE for channel in channels)
