"""`eval-quality verify`: does an evidence artifact, or a whole run directory, follow from what it rests on?"""

import os
from typing import Final

from eval_quality.cli import score
from eval_quality.cli.command import Command, Flag, Invocation, Positional, UsageError
from eval_quality.cli.output import note, write_stdout

REFUSED_EXIT: Final = 4
DAMAGED_EXIT: Final = 5

_SCORING: Final = tuple(
    flag._replace(required=False) for flag in score.COMMAND.flags if flag.name not in ("--out", "--strict")
)


NEEDED: Final = ("--record", "--contract", "--probe", "--preflight-verdict", "--policy")
"""What an evidence artifact is recomputed from; a run directory holds all of it."""


def run(invocation: Invocation) -> int:
    """Verify what the argument names: a directory is a run's."""
    evidence = invocation.positional("evidence") or "-"
    if os.path.isdir(evidence):
        return _run_directory(invocation, evidence)
    missing = [flag for flag in NEEDED if not invocation.has(flag)]
    if missing:
        raise UsageError(f"verify requires {', '.join(missing)} for an evidence artifact")
    return _evidence(invocation, evidence)


def _run_directory(invocation: Invocation, directory: str) -> int:
    """Print that a run is sound, or everything that is wrong with it and exit 5 (spec 13 §13.7.4)."""
    from eval_quality.app.run.rescoring import verify

    given = [flag.name for flag in COMMAND.flags if invocation.has(flag.name)]
    if given:
        raise UsageError(f"{given[0]} does not go with a run directory, which holds its own documents")
    problems = verify(directory)
    for problem in problems:
        note(f"{problem.code}: {problem.artifact_path}: {problem.detail}")
    if problems:
        return DAMAGED_EXIT
    write_stdout("sound: every artifact follows from the captures\n")
    return 0


def _evidence(invocation: Invocation, evidence: str) -> int:
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
        verified = verify_evidence(evidence, inputs, probes, observations)
    except CorpusRootRequired as error:
        raise UsageError(str(error)) from error
    except DoesNotReproduce as error:
        note(str(error))
        return REFUSED_EXIT
    write_stdout(f"reproduced {verified.digest}: {', '.join(verified.recomputed)}\n")
    return 0


COMMAND: Final = Command(
    "verify",
    "recompute an evidence artifact, or a whole run, and refuse what does not reproduce",
    (
        *_SCORING,
        Flag("--probes", "the probes pre-flight ran with, to recompute its verdict too", value="path", reads=True),
        Flag("--observations", "what its legs observed; goes with --probes", value="path", reads=True),
    ),
    run,
    positionals=(Positional("evidence", "the evidence artifact, or the directory of a run"),),
    notes="The corpus digest is attested by whoever scored: it is taken from the artifact unless --corpus-digest names "
    "another. Everything else is recomputed by the same code as `score`.",
    exits=(
        (0, "reproduced"),
        (REFUSED_EXIT, "does not reproduce; the first difference is named"),
        (5, "a run directory is damaged or does not reproduce; runtime fault"),
        (64, "usage error"),
    ),
)
