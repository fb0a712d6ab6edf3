"""Does an evidence artifact follow from the documents it claims to rest on?

1. Pre-flight: where the probes and the observations are given, the verdict is reduced again and must be the one given.
2. Scoring: the artifact is made again, by the same entry point as `score`, from the records and everything else.
3. The two artifacts are compared member by member, in the order of the schema; the first difference is named.

The corpus digest is attested by whoever scored. It is taken from the artifact unless the caller names it.
"""

from typing import NamedTuple

from eval_quality.app.files import read_input
from eval_quality.app.score import ScoreInputs, score_inputs
from eval_quality.core.difference import Difference, first_difference
from eval_quality.core.preflight.entry import preflight_from_observations
from eval_quality.errors import EvalQualityError
from eval_quality.model.artifact import EvidenceArtifact
from eval_quality.model.decode import to_value
from eval_quality.model.registry import read
from eval_quality.value.digest import digest_value


class DoesNotReproduce(EvalQualityError):
    """Recomputing gave something else than what is recorded; the message names the first difference."""


class Verified(NamedTuple):
    """What was recomputed, and the digest of the artifact it gave."""

    digest: str
    recomputed: tuple[str, ...]


def verify_evidence(evidence: str, inputs: ScoreInputs, probes: str | None, observations: str | None) -> Verified:
    """Recompute the artifact at `evidence`; `inputs.corpus_digest` may be empty to take the artifact's own.

    Raises `DoesNotReproduce`, and whatever scoring the documents raises.
    """
    artifact: EvidenceArtifact = read("evidence-artifact", read_input(evidence, "evidence", "EvidenceArtifact"))
    recomputed: list[str] = []
    if probes is not None and observations is not None:
        _verify_preflight(inputs, probes, observations)
        recomputed.append("pre-flight verdict")
    attested = inputs.corpus_digest or artifact.scoring_version_inputs.corpus_digest
    result = score_inputs(inputs._replace(corpus_digest=attested))
    if result.artifact is None:
        reasons = "; ".join(result.ladder.basis)
        raise DoesNotReproduce(f"the run is Invalid, so no evidence artifact follows from it: {reasons}")
    recomputed.append("evidence artifact")
    again = to_value(result.artifact)
    _refuse_difference("EvidenceArtifact", first_difference(to_value(artifact), again))
    return Verified(digest_value(again, "EvidenceArtifact"), tuple(recomputed))


def _verify_preflight(inputs: ScoreInputs, probes: str, observations: str) -> None:
    """Step 1: the verdict given must be what the observations reduce to."""
    recorded = read(
        "preflight-verdict", read_input(inputs.preflight_verdict, "--preflight-verdict", "PreflightVerdict")
    )
    again = preflight_from_observations(
        contract=read_input(inputs.contract, "--contract", "EvalContract"),
        probes=read_input(probes, "--probes", "Probe"),
        run_id=recorded.run_id,
        observations=read_input(observations, "--observations", "ProbeObservation"),
    )
    _refuse_difference("PreflightVerdict", first_difference(to_value(recorded), to_value(again)))


def _refuse_difference(name: str, difference: Difference | None) -> None:
    if difference is not None:
        raise DoesNotReproduce(
            f"does not reproduce: {name}{difference.path}: recorded {difference.left}, recomputed {difference.right}"
        )
