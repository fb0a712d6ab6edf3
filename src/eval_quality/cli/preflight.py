"""`eval-quality preflight` (spec 10 §7.3, spec 06 §6.1)."""

from typing import Final

from eval_quality.cli.command import Command, Flag, Invocation
from eval_quality.cli.common import CONTRACT, OUT, STRICT
from eval_quality.cli.output import emit, note, refuse_collision

KIND: Final = "preflight-verdict"
FAILED_EXIT: Final = 3


def run(invocation: Invocation) -> int:
    """Reduce recorded observations to a verdict, which is written whether it passed or not."""
    from eval_quality.app.preflight import preflight_documents

    refuse_collision(invocation, KIND)
    text, passed = preflight_documents(
        contract=invocation.require("--contract"),
        probes=invocation.require("--probes"),
        observations=invocation.require("--observations"),
        run_id=invocation.require("--run-id"),
        say=note,
    )
    emit(text, invocation.text("--out"), KIND)
    return 0 if passed else FAILED_EXIT


COMMAND: Final = Command(
    "preflight",
    "show that an environment can be measured and each planted fault shows",
    (
        CONTRACT,
        Flag("--probes", "a JSON array of the probes", value="path", required=True, reads=True),
        Flag("--observations", "a JSON array of what each leg observed", value="path", required=True, reads=True),
        Flag("--run-id", "the verdict's run identifier", value="id", required=True, not_blank=True),
        OUT,
        STRICT,
    ),
    run,
    notes="The verdict is written on pass and on fail; one line for each leg and a closing line go to standard error.",
)
