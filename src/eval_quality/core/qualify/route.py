"""Does the probe's qualification record fit what the probe claims to be? (spec 08 §1.5, §1.6, §1.7)

Checks, in order:

1. A defect probe seeds defects of one source kind only.
2. Its route is one its class admits.
3. The route's own precondition is recorded as met: a stable oracle (`historical`), a verified rollback
   (`controlled-mutation`). This reads the declared route, admitted or not.
4. A probe that is not clean carries a signature, except a canary, which carries none.
"""

from collections.abc import Iterator
from typing import Final

from eval_quality.core.qualify.home import signature_of
from eval_quality.core.qualify.result import QualificationFailure
from eval_quality.model.probe import Probe
from eval_quality.value.text import quoted

_UNSEEDED: Final = ("gameability", "canary")
"""Classes whose `defects` the gate never inspects."""


def route_failures(probe: Probe, path: str) -> Iterator[QualificationFailure]:
    """Failures of checks 1 to 4, in order."""
    yield from _mixed_sources(probe, path)
    yield from _incompatible_route(probe, path)
    yield from _unverified_evidence(probe, path)
    yield from _signature_presence(probe, path)


def admissible_routes(probe: Probe) -> tuple[str, ...]:
    """The routes the probe's class admits, in the order the table lists them (spec 08 §1.5)."""
    if probe.expected_clean:
        return ("clean-control",) if probe.probe_class == "zero-action" else ()
    if probe.probe_class in _UNSEEDED:
        return (probe.probe_class,)
    if not probe.defects:
        return ()
    sources = _sources(probe)
    historical = ("historical",) if "controlled-mutation" not in sources else ()
    mutation = ("controlled-mutation",) if "natural" not in sources else ()
    return historical + mutation


def _sources(probe: Probe) -> frozenset[str]:
    return frozenset(defect.source for defect in probe.defects)


def _mixed_sources(probe: Probe, path: str) -> Iterator[QualificationFailure]:
    if not probe.expected_clean and probe.probe_class not in _UNSEEDED and len(_sources(probe)) > 1:
        yield QualificationFailure(
            code="qualification-defect-sources-mixed",
            artifact_path=f"{path}.defects",
            detail="natural and controlled-mutation defects are both seeded, and no single route covers both",
        )


def _incompatible_route(probe: Probe, path: str) -> Iterator[QualificationFailure]:
    admitted = admissible_routes(probe)
    route = probe.qualification.route
    if route in admitted:
        return
    clean = "true" if probe.expected_clean else "false"
    if admitted:
        listed = ", ".join(quoted(name) for name in admitted)
        detail = (
            f"route {quoted(route)} is none of {listed}, which probeClass {quoted(probe.probe_class)} "
            f"with expectedClean {clean} admits"
        )
    elif not probe.expected_clean and not probe.defects:
        # The words up to "route" are quoted by the product documents (spec 08 §17.3).
        detail = (
            f'probeClass "{probe.probe_class}" seeds a defect and this probe\'s defects array is empty, '
            "so no AD-9 route has a seeded defect to qualify (AD-9)"
        )
    elif len(_sources(probe)) > 1:
        detail = "defects of mixed sources admit no single route; split the probe by source"
    else:
        detail = f"probeClass {quoted(probe.probe_class)} with expectedClean {clean} admits no route"
    yield QualificationFailure(
        code="qualification-route-incompatible", artifact_path=f"{path}.qualification.route", detail=detail
    )


def _unverified_evidence(probe: Probe, path: str) -> Iterator[QualificationFailure]:
    record = probe.qualification
    if record.route == "historical" and not record.oracle_stable_across_revisions:
        flag, meaning = "oracleStableAcrossRevisions", "the oracle was stable across the revisions"
    elif record.route == "controlled-mutation" and not record.rollback_verified:
        flag, meaning = "rollbackVerified", "rolling the mutation back was verified"
    else:
        return
    yield QualificationFailure(
        code="qualification-evidence-unverified",
        artifact_path=f"{path}.qualification.{flag}",
        detail=f"route {quoted(record.route)} requires that {meaning}, and the record itself states false",
    )


def _signature_presence(probe: Probe, path: str) -> Iterator[QualificationFailure]:
    if probe.expected_clean:
        return
    present = signature_of(probe) is not None
    if probe.probe_class == "canary" and present:
        code, detail = "signature-present-on-canary", "a canary is detected by any finding and carries no signature"
    elif probe.probe_class != "canary" and not present:
        code = "signature-absent"
        detail = f"a probe of class {quoted(probe.probe_class)} needs a signature to match findings against"
    else:
        return
    yield QualificationFailure(code=code, artifact_path=f"{path}.defectSignature", detail=detail)
