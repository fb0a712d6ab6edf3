"""Captures as plain JSON and back (spec 13 §13.7.4).

A capture is what one item left behind. Its body holds everything that no clock decides; minting, sealing and scoring
are functions of bodies alone, so they can be repeated elsewhere from the store.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from eval_quality.model.decode import decode, to_value
from eval_quality.model.run_record import Observation
from eval_quality.run.qualify.cycle import Finding, Outcome
from eval_quality.run.qualify.reading import Pass


def pass_value(seen: Pass) -> dict[str, Any]:
    """A pass as plain JSON."""
    return {
        "observations": [to_value(observation) for observation in seen.observations],
        "legs": {name: to_value(leg) for name, leg in seen.legs.items()},
        "projections": dict(seen.projections),
        "missing": dict(seen.missing),
    }


def read_pass(value: Mapping[str, Any]) -> Pass:
    """The pass a capture holds."""
    return Pass(
        tuple(decode(Observation, each, "Observation") for each in value["observations"]),
        {name: decode(Observation, leg, "Observation") for name, leg in value["legs"].items()},
        value["projections"],
        value["missing"],
    )


def outcome_value(outcome: Outcome) -> dict[str, Any]:
    """A qualification outcome as plain JSON."""
    return {
        "failure": None if outcome.failure is None else outcome.failure._asdict(),
        "passes": {phase: [pass_value(seen) for seen in passes] for phase, passes in outcome.passes.items()},
        "rollbackVerified": outcome.rollback_verified,
        "contractBlind": outcome.contract_blind,
        "designatedBlind": outcome.designated_blind,
    }


def read_outcome(value: Mapping[str, Any]) -> Outcome:
    """The qualification outcome a capture holds."""
    passes: dict[str, Sequence[Pass]] = {
        phase: [read_pass(seen) for seen in passes] for phase, passes in value["passes"].items()
    }
    failure = None if value["failure"] is None else Finding(**value["failure"])
    return Outcome(failure, passes, value["rollbackVerified"], value["contractBlind"], value["designatedBlind"])
