"""An evidence artifact read back as reasons (spec 09 §2, §3).

1. Every basis string belongs to one ladder row, told apart by its text, which is part of the artifact.
2. A row about an oracle is decided by outcomes: those of that oracle in that state.
3. Below the winning rung the artifact still shows what would fire next; what depends on the policy alone (the floor of
   a coverage gap, a confidence) is named as possible, not as certain.

The words are in `remedies`. Nothing here reads a record or a policy: an artifact explains itself, and a contract, where
one is given, adds what its oracles ask and which nodes of a check decided.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from eval_quality.core.score.ladder import FAILURE_STATES
from eval_quality.core.why.deciding import DecidingNode, deciding_nodes
from eval_quality.core.why.remedies import REMEDIES, STATES, Remedy
from eval_quality.model.artifact import ContractScoringEvidence, EvidenceArtifact, ProductionEvidence, TrialOutcome
from eval_quality.model.contract import EvalContract

# The basis strings of spec 09 §2.2 to §2.4; Invalid ones are in no artifact.
BASIS_ROWS: Final[tuple[tuple[str, re.Pattern[str]], ...]] = tuple(
    (row, re.compile(pattern))
    for row, pattern in (
        (
            "behavioural-failure-at-or-above-floor",
            r"oracle (?P<oracle>O-\d+) resolved (?P<state>[a-z-]+) at or above the severity floor",
        ),
        ("evidence-incomplete", "evidence reported incomplete"),
        ("evidence-over-truncated", "evidence truncated past its disclosed bound"),
        ("evidence-unavailable", "evidence unavailable"),
        ("evidence-internally-inconsistent", "evidence internally inconsistent"),
        ("lineage-chain-inconsistent", "presented lineage chain is internally inconsistent"),
        ("evaluator-recommendation-fail", "evaluator recommendation FAIL"),
        (
            "behavioural-failure-below-floor",
            r"oracle (?P<oracle>O-\d+) resolved (?P<state>[a-z-]+) below the severity floor",
        ),
        (
            "coverage-gap-at-or-above-floor",
            r"coverage gap (?P<gap>[a-z-]+) unsatisfied at or above the severity floor",
        ),
        (
            "finding-confidence-below-threshold",
            r"finding (?P<finding>F-\d+) confidence \S+ below the policy threshold",
        ),
        ("uncited-defect-finding", r"finding (?P<finding>F-\d+): defect finding citing no oracle"),
        ("below-minimum-trial-count", r"\d+ completed trials below the declared minimum of \d+"),
        ("oracle-unreached", r"oracle (?P<oracle>O-\d+) resolved (?P<state>unreached)"),
        ("evaluator-recommendation-concerns", "evaluator recommendation CONCERNS"),
        ("waiver-honoured", r"oracle (?P<oracle>O-\d+) waived \(not-applicable\)"),
    )
)
"""Row name and the text of its basis strings, in ladder order."""

BETTER: Final = {"FAIL": "CONCERNS", "CONCERNS": "PASS", "WAIVED": "PASS", "PASS": None}
"""The next better rung of each verdict; WAIVED is nothing to work towards."""


class Reason(NamedTuple):
    """One fired row: its basis string as recorded, its words, and what in the artifact decided it."""

    basis: str
    row: str
    means: str
    decided_by: tuple[str, ...]
    remedy: str
    effect: str
    nodes: tuple[DecidingNode, ...] = ()


class Explanation(NamedTuple):
    """Why the verdict is what it is."""

    verdict: str
    exit_code: int
    mode: str
    run_id: str
    probe_id: str | None
    reasons: tuple[Reason, ...]
    then: tuple[str, ...]
    """What the artifact shows that would decide once every reason is gone."""
    strength: tuple[str, ...]
    next_rung: str | None


def verdict_of(artifact: EvidenceArtifact) -> str:
    """The verdict of either mode."""
    if isinstance(artifact, ProductionEvidence):
        return artifact.production_verdict
    assert isinstance(artifact, ContractScoringEvidence)
    return artifact.contract_verdict


def explain(artifact: EvidenceArtifact, contract: EvalContract | None = None) -> Explanation:
    """Read the artifact's basis back as reasons, each with what decided it."""
    verdict = verdict_of(artifact)
    repeated = dict.fromkeys(artifact.verdict_basis)
    reasons = tuple(_reason(text, artifact, contract) for text in repeated)
    return Explanation(
        verdict=verdict,
        exit_code=artifact.exit_code,
        mode=artifact.mode,
        run_id=artifact.run_id,
        probe_id=artifact.scored_probe_id,
        reasons=reasons,
        then=tuple(_below(artifact, {reason.basis for reason in reasons})) if verdict == "FAIL" else (),
        strength=tuple(_strength(artifact)),
        next_rung=BETTER[verdict],
    )


def _reason(text: str, artifact: EvidenceArtifact, contract: EvalContract | None) -> Reason:
    for row, pattern in BASIS_ROWS:
        match = pattern.fullmatch(text)
        if match is None:
            continue
        found = match.groupdict()
        words = REMEDIES[row]
        if found.get("oracle") is not None:
            return _oracle_reason(text, row, words, found["oracle"], found.get("state"), artifact, contract)
        if found.get("gap") is not None:
            return Reason(text, row, words.means, _gaps(artifact, found["gap"]), words.remedy, words.effect)
        return Reason(text, row, words.means, _decided(row, artifact), words.remedy, words.effect)
    return Reason(text, "", "This build writes no such reason.", (), "Look at the build that wrote it.", "rescore")


def _oracle_reason(
    text: str,
    row: str,
    words: Remedy,
    oracle_id: str,
    state: str | None,
    artifact: EvidenceArtifact,
    contract: EvalContract | None,
) -> Reason:
    outcomes = [
        outcome
        for outcome in artifact.outcomes
        if outcome.oracle_id == oracle_id and outcome.state == (state or "not-applicable")
    ]
    means, remedy, effect = STATES.get(state or "", (words.means, words.remedy, words.effect))
    asked = "".join(f" ({description})" for description in _asks(contract, oracle_id))
    return Reason(
        text,
        row,
        f"{oracle_id}{asked}: {means}" if state in STATES else words.means,
        tuple(_outcome(outcome) for outcome in outcomes),
        remedy,
        effect,
        _nodes(contract, oracle_id, outcomes),
    )


def _asks(contract: EvalContract | None, oracle_id: str) -> list[str]:
    behaviors = () if contract is None else contract.behaviors
    return [behavior.description for behavior in behaviors if oracle_id in behavior.oracles][:1]


def _nodes(contract: EvalContract | None, oracle_id: str, outcomes: Sequence[TrialOutcome]) -> tuple[DecidingNode, ...]:
    """The deciding nodes of the first outcome's check, where a contract is given."""
    oracles = () if contract is None else contract.oracles
    check = next((oracle.check for oracle in oracles if oracle.id == oracle_id), None)
    resolution = outcomes[0].check_resolution if outcomes else None
    return () if check is None or resolution is None else deciding_nodes(check, resolution)


def _outcome(outcome: TrialOutcome) -> str:
    looked = ", ".join(outcome.selected_observation_ids) or "no observation"
    check = "no check" if outcome.check_resolution is None else f"check {outcome.check_resolution.resolution}"
    said = f"the evaluator said {outcome.disposition}, which {_CORROBORATED[outcome.corroboration]}"
    found = "" if outcome.resolved_from is None else f", from finding {outcome.resolved_from}"
    return f"trial {outcome.trial_index}: {outcome.state}{found}; looked at {looked}; {check}; {said}"


_CORROBORATED: Final = {
    "agrees": "the check bears out",
    "disagrees": "the evidence does not bear out",
    "not-evaluable": "nothing could bear out",
}


def _gaps(artifact: EvidenceArtifact, rule: str) -> tuple[str, ...]:
    return tuple(
        f"coverage rule {gap.rule}, severity {gap.severity}" for gap in artifact.coverage_gaps if gap.rule == rule
    )


def _decided(row: str, artifact: EvidenceArtifact) -> tuple[str, ...]:
    if row == "below-minimum-trial-count":
        attempts = ", ".join(map(str, artifact.trials.completed_attempts))
        return (f"completed trials {attempts}; declared minimum {artifact.trials.declared_minimum}",)
    if row == "uncited-defect-finding" and isinstance(artifact, ContractScoringEvidence):
        return tuple(
            f"finding {gap.finding_id}, severity {gap.severity}, citing {', '.join(gap.observation_ids)}"
            for gap in artifact.uncited_finding_gaps
        )
    return ()


def _below(artifact: EvidenceArtifact, said: set[str]) -> Iterator[str]:
    """What the artifact shows of the CONCERNS rows, under a FAIL."""
    for outcome in artifact.outcomes:
        above = f"oracle {outcome.oracle_id} resolved {outcome.state} at or above the severity floor"
        if outcome.state in FAILURE_STATES and above not in said:
            yield f"oracle {outcome.oracle_id} resolved {outcome.state} below the severity floor"
    for gap in artifact.coverage_gaps:
        yield f"coverage gap {gap.rule}, severity {gap.severity}, if the policy's floor is not above it"
    if isinstance(artifact, ContractScoringEvidence):
        yield from (
            f"finding {gap.finding_id}: defect finding citing no oracle" for gap in artifact.uncited_finding_gaps
        )
    trials = artifact.trials
    if trials.completed < trials.declared_minimum:
        yield f"{trials.completed} completed trials below the declared minimum of {trials.declared_minimum}"
    for outcome in artifact.outcomes:
        if outcome.state == "unreached":
            yield f"oracle {outcome.oracle_id} resolved unreached"


def _strength(artifact: EvidenceArtifact) -> Iterator[str]:
    vector = artifact.strength.vector
    for name, measured in (
        ("defect", vector.defect),
        ("gameability", vector.gameability),
        ("zero-action", vector.zero_action),
    ):
        if measured is not None and measured.exercised:
            yield f"{name}: {measured.caught} of {measured.exercised} caught"
        elif measured is not None:
            yield f"{name}: never exercised"
    if not artifact.strength.comparable:
        yield f"not comparable: {artifact.strength.note or 'no reason recorded'}"
