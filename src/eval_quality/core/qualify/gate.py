"""The qualification gate (spec 08 §1.4, §1.15).

    1  route, its evidence flag, presence of a signature    route.py
    2  interface kind, observable channel                   channel.py
    3  operands, pointers, channel sufficiency, disjuncts   condition.py
    4  selector keys, only with a home operation            selector.py
    5  legality of the predicate                            legality.py

Nothing short-circuits. A failed gate raises nothing: it makes every oracle that nothing else claimed an
`infrastructure-error`.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from eval_quality.core.contract.operation import AnyOperation
from eval_quality.core.qualify.channel import channel_failures
from eval_quality.core.qualify.condition import condition_failures
from eval_quality.core.qualify.home import signature_of
from eval_quality.core.qualify.legality import legality_failures
from eval_quality.core.qualify.result import QualificationFailure, QualificationResult
from eval_quality.core.qualify.route import route_failures
from eval_quality.core.qualify.selector import selector_failures
from eval_quality.model.probe import Probe


class QualifiedProbe(NamedTuple):
    """A probe with what the gate said about it."""

    probe: Probe
    result: QualificationResult


class SealedProbes(NamedTuple):
    """A probe set after the gate, each half in presented order (spec 08 §1.15)."""

    admitted: tuple[QualifiedProbe, ...]
    rejected: tuple[QualifiedProbe, ...]


def qualify_probe(probe: Probe, operation: AnyOperation | None) -> QualificationResult:
    """Qualify one probe against its home operation, or against no inventory (spec 08 §1)."""
    failures = tuple(_failures(probe, operation))
    ran = signature_of(probe) is None or operation is not None
    return QualificationResult(qualified=not failures, failures=failures, declaration_checks_ran=ran)


def seal_probes(probes: Iterable[Probe], home: Callable[[Probe], AnyOperation | None]) -> SealedProbes:
    """Qualify each probe in order and sort it into admitted or rejected; nothing is reordered or dropped."""
    judged = tuple(QualifiedProbe(probe, qualify_probe(probe, home(probe))) for probe in probes)
    return SealedProbes(
        admitted=tuple(entry for entry in judged if entry.result.qualified),
        rejected=tuple(entry for entry in judged if not entry.result.qualified),
    )


def _failures(probe: Probe, operation: AnyOperation | None) -> Iterator[QualificationFailure]:
    path = f"Probe[probeId={probe.probe_id}]"
    yield from route_failures(probe, path)
    signature = signature_of(probe)
    if signature is None:
        return
    yield from channel_failures(signature, path)
    yield from condition_failures(signature, path)
    if operation is not None:
        yield from selector_failures(signature, operation, path)
    yield from legality_failures(signature.condition.predicate, operation, path)
