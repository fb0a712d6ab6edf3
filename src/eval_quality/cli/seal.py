"""`eval-quality seal` (spec 10 §7.2)."""

from typing import Final

from eval_quality.cli.command import Command, Invocation
from eval_quality.cli.common import CONTRACT_IN, NO_STRICT_INPUTS, OUT, STRICT, STRICT_INPUTS
from eval_quality.cli.output import emit, refuse_collision

KIND: Final = "sealed-evaluator-brief"


def run(invocation: Invocation) -> int:
    """Compile the contract and write its sealed brief."""
    from eval_quality.app.seal import seal_document

    refuse_collision(invocation, KIND)
    text = seal_document(invocation.text("--in") or "-", strict=not invocation.has("--no-strict-inputs"))
    emit(text, invocation.text("--out"), KIND)
    return 0


COMMAND: Final = Command(
    "seal",
    "write the blinded brief an evaluator works from",
    (CONTRACT_IN, OUT, STRICT_INPUTS, NO_STRICT_INPUTS, STRICT),
    run,
    falls_back_to_stdin="--in",
)
