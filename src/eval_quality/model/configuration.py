"""The evaluator configuration, shared by every trial of one evaluator (spec 02 §19)."""

from eval_quality.model.evidence import Budgets
from eval_quality.model.lineage import Artifact
from eval_quality.model.primitives import Digest, Int, JsonObject, Text
from eval_quality.model.record import Record


class JudgeConfiguration(Record):
    """The judge that scores rubrics."""

    model_snapshot: Text
    system_prompt_digest: Digest | None


class EvaluatorConfiguration(Artifact):
    """Who evaluates, with what, under which budget. The trial index lives on the run record, not here."""

    sealed_brief_digest: Digest
    evaluator_identity: Text
    model_snapshot: Text
    system_prompt_digest: Digest
    decoding_parameters: JsonObject
    tool_inventory: tuple[str, ...]
    permission_inventory: tuple[str, ...]
    budgets: Budgets
    seed: Int | None
    judge_configuration: JudgeConfiguration | None
