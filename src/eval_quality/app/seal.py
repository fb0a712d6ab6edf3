"""Read one contract, compile and seal it, and return the brief's text (spec 10 §7.2)."""

from eval_quality.app.artifact import serialize_artifact
from eval_quality.app.files import read_input
from eval_quality.core.seal.entry import seal_value


def seal_document(path: str, *, strict: bool) -> str:
    """The artifact text of the brief sealed from the contract at `path`."""
    brief = seal_value(read_input(path, "--in", "EvalContract"), strict)
    return serialize_artifact(brief, "SealedEvaluatorBrief")
