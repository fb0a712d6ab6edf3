"""`eval-quality score` (spec 10 §7.4)."""

from typing import Final

from eval_quality.cli.command import Command, Flag, Invocation, UsageError
from eval_quality.cli.common import CONTRACT, OUT, POLICY, SCORE_STRICT
from eval_quality.cli.output import emit, note, refuse_collision

TYPE_CHECKING = False
if TYPE_CHECKING:
    from eval_quality.app.score import ScoreInputs

KIND: Final = "evidence-artifact"
PROMOTED_EXIT: Final = 1


def run(invocation: Invocation) -> int:
    """Score the records, print why a probe or a run was refused, and write the evidence unless the run is Invalid."""
    from eval_quality.app.score import CorpusRootRequired, score_documents

    refuse_collision(invocation, KIND)
    try:
        scored = score_documents(inputs_of(invocation))
    except CorpusRootRequired as error:
        raise UsageError(str(error)) from error
    for line in scored.lines:
        note(line)
    if scored.text is not None:
        emit(scored.text, invocation.text("--out"), KIND)
    return PROMOTED_EXIT if invocation.has("--strict") and scored.is_promotable else scored.exit_code


def inputs_of(invocation: Invocation) -> "ScoreInputs":
    """What a command line with the flags of `score` names; an empty corpus digest when it may be left out."""
    from eval_quality.app.score import ScoreInputs

    return ScoreInputs(
        records=invocation.texts("--record"),
        manifest=invocation.text("--isolation-manifest"),
        configuration=invocation.text("--evaluator-configuration"),
        contract=invocation.require("--contract"),
        probe=invocation.require("--probe"),
        preflight_verdict=invocation.require("--preflight-verdict"),
        policy=invocation.require("--policy"),
        private_manifest=invocation.text("--private-manifest"),
        corpus_digest=invocation.text("--corpus-digest") or "",
        corpus_root=invocation.text("--corpus-root"),
        designated_oracle=invocation.text("--designated-oracle"),
    )


def _input(name: str, text: str, *, required: bool = False, repeatable: bool = False) -> Flag:
    return Flag(name, text, value="path", required=required, repeatable=repeatable, reads=True)


COMMAND: Final = Command(
    "score",
    "judge what an evaluator recorded against one probe",
    (
        _input("--record", "a sealed run record; several make one trial set", required=True, repeatable=True),
        _input("--isolation-manifest", "what was withheld from the evaluator; absent invalidates the run"),
        _input("--evaluator-configuration", "who evaluated, and how; absent invalidates the run"),
        CONTRACT,
        _input("--probe", "the probe the run is judged against", required=True),
        _input(
            "--preflight-verdict",
            "the pre-flight verdict of the environment, also the source of the fixture digest",
            required=True,
        ),
        POLICY,
        _input("--private-manifest", "digests of private files that the corpus folder must hold"),
        Flag(
            "--corpus-digest",
            "digest of the corpus the probe belongs to, attested by the caller: no artifact carries it",
            value="digest",
            required=True,
        ),
        Flag("--corpus-root", "folder that holds private files, needed only for private references", value="dir"),
        Flag(
            "--designated-oracle",
            "the oracle that must catch the defect; by default the only oracle of the behaviour the probe violates, "
            "and none when that behaviour has several",
            value="O-id",
            once=True,
            pattern="O-[0-9]{3,}",
            form="an oracle id; expected ^O-[0-9]{3,}$",
        ),
        OUT,
        SCORE_STRICT,
    ),
    run,
    notes="Reasons why the probe does not qualify and why a run is Invalid go to standard error. An Invalid run writes "
    "no artifact and exits 3.",
)
