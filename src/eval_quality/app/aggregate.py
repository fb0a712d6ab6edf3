"""Read evidence artifacts, floors and a policy, and add them up (spec 10 §7.5)."""

from collections.abc import Sequence

from eval_quality.app.artifact import serialize_artifact
from eval_quality.app.files import read_input
from eval_quality.core.aggregate import aggregate_strength


def aggregate_documents(*, evidence: Sequence[str], floors: str, policy: str) -> str:
    """The text of the strength aggregate of the evidence artifacts at these paths, in this order."""
    aggregate = aggregate_strength(
        evidence=[read_input(path, "--evidence", "EvidenceArtifact", show_path=True) for path in evidence],
        floors=read_input(floors, "--floors", "StrengthFloors"),
        policy=read_input(policy, "--policy", "ScoringPolicy"),
    )
    return serialize_artifact(aggregate, "StrengthAggregate")
