"""`eval-quality verify`: recompute an evidence artifact from its documents, and refuse one that does not follow."""

from typing import Final

from eval_quality.cli import score
from eval_quality.cli.command import Command, Flag, Invocation, Positional, UsageError
from eval_quality.cli.output import note, write_stdout

REFUSED_EXIT: Final = 4

_SCORING: Final = tuple(
    flag._replace(required=False) if flag.name == "--corpus-digest" else flag
    for flag in score.COMMAND.flags
    if flag.name not in ("--out", "--strict")
)


def run(invocation: Invocation) -> int:
    """Print the artifact's digest when it reproduces; name the first difference and exit 4 when it does not."""
    from eval_quality.app.score import CorpusRootRequired, ScoreInputs
    from eval_quality.app.verify import DoesNotReproduce, verify_evidence

    probes, observations = invocation.text("--probes"), invocation.text("--observations")
    if (probes is None) != (observations is None):
        raise UsageError("--probes and --observations are given together: both make one pre-flight verdict")
    inputs = ScoreInputs(
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
    try:
        verified = verify_evidence(invocation.positional("evidence") or "-", inputs, probes, observations)
    except CorpusRootRequired as error:
        raise UsageError(str(error)) from error
    except DoesNotReproduce as error:
        note(str(error))
        return REFUSED_EXIT
    write_stdout(f"reproduced {verified.digest}: {', '.join(verified.recomputed)}\n")
    return 0


COMMAND: Final = Command(
    "verify",
    "recompute an evidence artifact from its documents and refuse one that does not reproduce",
    (
        *_SCORING,
        Flag("--probes", "the probes pre-flight ran with, to recompute its verdict too", value="path", reads=True),
        Flag("--observations", "what its legs observed; goes with --probes", value="path", reads=True),
    ),
    run,
    positionals=(Positional("evidence", "the evidence artifact to verify"),),
    notes="The corpus digest is attested by whoever scored: it is taken from the artifact unless --corpus-digest names "
    "another. Everything else is recomputed by the same code as `score`.",
    exits=(
        (0, "reproduced"),
        (REFUSED_EXIT, "does not reproduce; the first difference is named"),
        (5, "runtime fault or internal error"),
        (64, "usage error"),
    ),
)
