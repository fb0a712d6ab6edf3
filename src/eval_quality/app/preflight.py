"""Read a contract, probes and observations, and reduce them to a pre-flight verdict (spec 10 §7.3)."""

from collections.abc import Callable

from eval_quality.app.artifact import serialize_artifact
from eval_quality.app.files import read_input
from eval_quality.core.preflight.diagnostic import Diagnostic
from eval_quality.core.preflight.entry import preflight_from_observations


def preflight_documents(
    *, contract: str, probes: str, observations: str, run_id: str, say: Callable[[str], None]
) -> tuple[str, bool]:
    """The verdict's text, and whether it passed. `say` receives each diagnostic line as it arises."""

    def sink(diagnostic: Diagnostic) -> None:
        say(f"{diagnostic.stage}: {diagnostic.run_id}: {diagnostic.message}")

    verdict = preflight_from_observations(
        contract=read_input(contract, "--contract", "EvalContract"),
        probes=read_input(probes, "--probes", "Probe"),
        observations=read_input(observations, "--observations", "ProbeObservation"),
        run_id=run_id,
        sink=sink,
    )
    return serialize_artifact(verdict, "PreflightVerdict"), verdict.passed
