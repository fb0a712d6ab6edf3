"""The isolation manifest: what an evaluator was allowed, and what it was seen to use (spec 02 §17)."""

from eval_quality.model.evidence import ResourceUse
from eval_quality.model.lineage import Artifact
from eval_quality.model.primitives import (
    Digest,
    Identifier,
    Positive,
    PositiveAmount,
    PositiveDecimalString,
    Text,
)
from eval_quality.model.record import Record


class ResourceCeilings(Record):
    """Upper bounds of a run."""

    max_tool_calls: Positive
    max_input_tokens: Positive
    max_output_tokens: Positive
    max_wall_clock_minutes: PositiveAmount
    max_cost_usd: PositiveDecimalString


class InputAccount(Record):
    """Whether one forbidden input was withheld; False parses, and invalidates the run later."""

    withheld: bool
    note: str | None


class ForbiddenInputAccounting(Record, rename="kebab"):
    """One account for each of the seven forbidden inputs, in their order (§5.7)."""

    original_spec: InputAccount
    source_code: InputAccount
    repository: InputAccount
    builder_transcript: InputAccount
    implementation_logs: InputAccount
    comparator_results: InputAccount
    human_labels: InputAccount


class IsolationManifest(Artifact):
    """The manifest of one trial set."""

    run_id: Text
    contract_id: Identifier
    condition_arm: Text
    model_snapshot: Text
    system_prompt_digest: Digest
    contract_digest: Digest
    evaluator_configuration_digest: Digest
    workspace_identity: Text
    allowed_mounts: tuple[Text, ...]
    observed_mounts: tuple[Text, ...]
    network_allowlist: tuple[Text, ...]
    observed_network_targets: tuple[Text, ...]
    tool_allowlist: tuple[Text, ...]
    observed_tool_calls: tuple[Text, ...]
    resource_ceilings: ResourceCeilings
    actual_resource_use: ResourceUse
    forbidden_input_accounting: ForbiddenInputAccounting
    violation: Text | None
