"""`eval-quality rescore`: judge the captures of a run again (spec 13 §13.7.3)."""

from typing import Final

from eval_quality.cli.command import Command, Flag, Invocation, Positional
from eval_quality.cli.output import emit, note
from eval_quality.cli.run import RUN_EXITS


def run(invocation: Invocation) -> int:
    """Score again; nothing is started."""
    from eval_quality.app.run.rescoring import rescore
    from eval_quality.cli.run_progress import write_page
    from eval_quality.value.canonical import canonicalize

    result = rescore(
        str(invocation.positional("run-directory")),
        invocation.text("--policy"),
        invocation.text("--floors"),
        invocation.has("--strict"),
    )
    write_page(result.text or "")
    assert result.summary is not None
    emit(canonicalize(result.summary, "RunSummary").decode() + "\n", invocation.text("--out"), "run-summary")
    for reason in result.summary["reasons"]:
        note(f"{reason['code']}: {reason['path']}: {reason['detail']}")
    return result.exit_code


COMMAND: Final = Command(
    "rescore",
    "score a finished run again, under its own policy or another one",
    (
        Flag("--policy", "another scoring policy", value="path"),
        Flag("--floors", "other strength floors", value="path"),
        Flag("--out", "where the summary document goes; standard output when absent", value="target"),
        Flag("--strict", "promote CONCERNS to exit code 1"),
    ),
    run,
    positionals=(Positional("run-directory", "the directory of a finished run"),),
    notes="Nothing is started and the original stays; results stand under scores/ in the run directory.",
    exits=(
        (0, "every cell is as it should be (PASS, WAIVED, unpromoted CONCERNS)"),
        *RUN_EXITS[1:4],
        (5, "fault, such as a policy that is refused or a store that is damaged"),
        (64, "usage error"),
    ),
)
