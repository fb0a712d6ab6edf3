"""Did the planted defect show, and did a finding claim it where it showed? (spec 08 §4)

For a signed probe (not clean, signature not null), over one trial:

1. `home`       observations on the home operation's (interface, operation) pair
2. `exercised`  those of `home` that the evaluation chose itself; a baseline call cannot witness a probe
3. `candidates` those of `exercised` that the selector admits
4. each candidate resolves the predicate: satisfying, refuting or inconclusive
5. each defect finding on this probe that cites `home` at all either cites a satisfying candidate, or is unwitnessed
6. the first row of `WITNESS_TABLE` that holds is the result

Quotations never matter here, and qualification is no precondition. A predicate that the evaluator cannot take (a
reference set where none is declared) leaves every candidate inconclusive; the gate has refused such a probe already.
"""

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from eval_quality.core.contract.operation import AnyOperation
from eval_quality.core.decision import Row, first
from eval_quality.core.evaluation import (
    make_operation_denotes_collection,
    make_resolve_operand,
    resolve_check,
)
from eval_quality.core.qualify.condition import OBSERVED_STEP, predicate_path
from eval_quality.core.qualify.home import HomeOperation
from eval_quality.core.score.admit import admits
from eval_quality.model.probe import DefectSignature
from eval_quality.model.run_record import Finding, Observation

WITNESS_REGEX_STEP_BUDGET: Final = 1_000_000
"""Regex step budget of a signature's predicate: a constant, not the policy's (spec 08 §4.1)."""


class _Shown(NamedTuple):
    """The facts the witness table reads."""

    exercised: bool
    unwitnessed: bool
    satisfied: bool
    claimed: bool
    candidates: bool
    refuted: bool


# spec 08 §4.1 step 7
WITNESS_TABLE: Final[tuple[Row[str], ...]] = (
    Row("unexercised", (("exercised", (False,)),), "unexercised"),
    Row("unwitnessed-claim", (("unwitnessed", (True,)),), "unwitnessed-claim"),
    Row("matched", (("satisfied", (True,)), ("claimed", (True,))), "matched"),
    Row("manifested-unclaimed", (("satisfied", (True,)),), "manifested-unclaimed"),
    Row("no-candidate", (("candidates", (False,)),), "not-triggered"),
    Row("refuted", (("refuted", (True,)),), "not-triggered"),
    Row("vacuous", (), "vacuous"),
)


class WitnessMatch(NamedTuple):
    """What the witness match found in one trial; `observation_ids` are all candidates, in order."""

    result: str
    home_operation_resolved: bool
    exercised: bool
    observation_ids: tuple[str, ...] = ()
    satisfying: tuple[str, ...] = ()
    refuting: tuple[str, ...] = ()
    inconclusive: tuple[str, ...] = ()
    witness_observation_ids: tuple[str, ...] = ()
    unwitnessed_finding_ids: tuple[str, ...] = ()
    basis: str = "measured"


class FindingBuckets(NamedTuple):
    """Every defect finding of a trial placed against the scored probe, each bucket by finding id (spec 08 §4.2)."""

    mapped: tuple[str, ...]
    unmapped: tuple[str, ...]
    dangling: tuple[str, ...]
    signatureless: tuple[str, ...]

    def bucket_of(self, finding_id: str) -> str:
        """The bucket a finding is in; a later bucket wins where an identifier is repeated."""
        for name in reversed(self._fields):
            if finding_id in getattr(self, name):
                return name
        return "dangling"


def match_witness(
    probe_id: str,
    signature: DefectSignature,
    home: HomeOperation | None,
    observations: Sequence[Observation],
    findings: Sequence[Finding],
) -> WitnessMatch:
    """The witness match of one signed probe over one trial, `observations` in sequence order (spec 08 §4.1)."""
    on_home = _on_home(home, observations)
    exercised = [seen for seen in on_home if seen.provenance == "evaluator-chosen"]
    if home is None or not exercised:
        return WitnessMatch("unexercised", home_operation_resolved=home is not None, exercised=False)
    channels = signature.condition.selector.input_binding.channels()
    candidates = [seen for seen in exercised if admits(channels, seen, home.operation, {})]
    resolve = _predicate(probe_id, signature, home.operation)
    partitions: dict[str, list[str]] = {"true": [], "false": [], "insufficient-evidence": []}
    for candidate in candidates:
        partitions[resolve(candidate)].append(candidate.observation_id)
    satisfying = partitions["true"]
    home_ids = frozenset(seen.observation_id for seen in on_home)
    witnessed: set[str] = set()
    unwitnessed: list[str] = []
    for finding in findings:
        if finding.finding_type != "defect" or finding.probe_id != probe_id:
            continue
        cited = home_ids.intersection(finding.observation_ids)
        if not cited:
            continue
        witnesses = cited.intersection(satisfying)
        witnessed |= witnesses
        if not witnesses:
            unwitnessed.append(finding.finding_id)
    claimed = tuple(name for name in satisfying if name in witnessed)
    shown = _Shown(
        exercised=True,
        unwitnessed=bool(unwitnessed),
        satisfied=bool(satisfying),
        claimed=bool(claimed),
        candidates=bool(candidates),
        refuted=bool(partitions["false"]),
    )
    return WitnessMatch(
        result=first(WITNESS_TABLE, shown).value,
        home_operation_resolved=True,
        exercised=True,
        observation_ids=tuple(candidate.observation_id for candidate in candidates),
        satisfying=tuple(satisfying),
        refuting=tuple(partitions["false"]),
        inconclusive=tuple(partitions["insufficient-evidence"]),
        witness_observation_ids=claimed,
        unwitnessed_finding_ids=tuple(sorted(unwitnessed)),
    )


def bucket_findings(
    probe_id: str,
    signed: bool,
    home: HomeOperation | None,
    observations: Sequence[Observation],
    findings: Sequence[Finding],
) -> FindingBuckets:
    """Place every defect finding of a trial (spec 08 §4.2)."""
    home_ids = frozenset(seen.observation_id for seen in _on_home(home, observations))
    placed: dict[str, list[str]] = {name: [] for name in FindingBuckets._fields}
    for finding in findings:
        if finding.finding_type != "defect":
            continue
        if finding.probe_id != probe_id:
            bucket = "dangling"
        elif not signed:
            bucket = "signatureless"
        else:
            bucket = "mapped" if home_ids.intersection(finding.observation_ids) else "unmapped"
        placed[bucket].append(finding.finding_id)
    return FindingBuckets(**{name: tuple(sorted(ids)) for name, ids in placed.items()})


def _on_home(home: HomeOperation | None, observations: Sequence[Observation]) -> list[Observation]:
    if home is None:
        return []
    return [seen for seen in observations if (seen.interface_id, seen.operation_id) == home.pair]


def _predicate(probe_id: str, signature: DefectSignature, operation: AnyOperation) -> Callable[[Observation], str]:
    """The resolution of the signature's predicate over one candidate (spec 08 §4.1 step 4)."""
    path = predicate_path(f"Probe[probeId={probe_id}]")
    denotes_collection = make_operation_denotes_collection(operation)

    def resolve(candidate: Observation) -> str:
        resolver = make_resolve_operand({OBSERVED_STEP: candidate}, {})
        try:
            return resolve_check(
                signature.condition.predicate, resolver, denotes_collection, {}, WITNESS_REGEX_STEP_BUDGET, path
            ).resolution
        except ValueError:
            return "insufficient-evidence"

    return resolve
