"""Read one contract, compile it, and return its text (spec 10 §7.1)."""

from eval_quality.app.artifact import serialize_artifact
from eval_quality.app.files import read_input
from eval_quality.core.compile.entry import compile_value


def compile_document(path: str, *, strict: bool) -> str:
    """The artifact text of the compiled contract at `path`."""
    contract = compile_value(read_input(path, "--in", "EvalContract"), strict)
    return serialize_artifact(contract, "EvalContract")
