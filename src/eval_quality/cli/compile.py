"""`eval-quality compile` (spec 10 §7.1, spec 03 §1.3)."""

from typing import Final

from eval_quality.cli.command import Command, Invocation
from eval_quality.cli.common import CONTRACT_IN, NO_STRICT_INPUTS, OUT, STRICT, STRICT_INPUTS
from eval_quality.cli.output import emit, refuse_collision

KIND: Final = "eval-contract"


def run(invocation: Invocation) -> int:
    """Compile the contract and write it back."""
    from eval_quality.app.compile import compile_document

    refuse_collision(invocation, KIND)
    text = compile_document(invocation.text("--in") or "-", strict=not invocation.has("--no-strict-inputs"))
    emit(text, invocation.text("--out"), KIND)
    return 0


COMMAND: Final = Command(
    "compile",
    "refuse a contract that could not prove anything, or return it unchanged",
    (CONTRACT_IN, OUT, STRICT_INPUTS, NO_STRICT_INPUTS, STRICT),
    run,
    falls_back_to_stdin="--in",
)
