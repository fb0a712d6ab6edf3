"""`eval-quality aggregate-strength` (spec 10 §7.5)."""

from typing import Final

from eval_quality.cli.command import Command, Flag, Invocation
from eval_quality.cli.common import OUT, POLICY
from eval_quality.cli.output import emit, refuse_collision

KIND: Final = "strength-aggregate"


def run(invocation: Invocation) -> int:
    """Add up the evidence artifacts."""
    from eval_quality.app.aggregate import aggregate_documents

    refuse_collision(invocation, KIND)
    text = aggregate_documents(
        evidence=invocation.texts("--evidence"),
        floors=invocation.require("--floors"),
        policy=invocation.require("--policy"),
    )
    emit(text, invocation.text("--out"), KIND)
    return 0


COMMAND: Final = Command(
    "aggregate-strength",
    "add up evidence artifacts and compare them with floors",
    (
        Flag("--evidence", "an evidence artifact", value="path", required=True, repeatable=True, reads=True),
        Flag(
            "--floors", "the least rate of each probe class; {} declares none", value="path", required=True, reads=True
        ),
        POLICY,
        OUT,
        Flag("--strict", "accepted, and changes nothing for aggregation"),
    ),
    run,
    notes="Exits 0 whatever the floor decisions are; they are in the artifact.",
)
