"""How each evaluator of a run is configured, as the artifact that says so (spec 12 §12.17.2).

Nothing per probe, arm or machine enters a configuration, so all cells of one evaluator share its digest and aggregate.
"""

import os
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from eval_quality.model.decode import to_value
from eval_quality.run.experiment.document import Evaluator
from eval_quality.run.prepare import Prepared
from eval_quality.run.sealing import configuration, deterministic_configuration, tool_inventory
from eval_quality.value.digest import digest_bytes, digest_value

BRIDGE_TOOLS = ("bridge/brief", "bridge/budget", "bridge/observations", "bridge/operations", "bridge/submit")


class EvaluatorFacts(NamedTuple):
    """One evaluator of the run.

    configuration: the EvaluatorConfiguration as a plain value. settings: what manifests repeat of it.
    """

    evaluator_id: str
    configuration: dict[str, Any]
    settings: dict[str, Any]

    @property
    def digest(self) -> str:
        """The artifact digest of the configuration."""
        return digest_value(self.configuration, "EvaluatorConfiguration")


class CommandFacts(NamedTuple):
    """What only the host knows about a command evaluator.

    program: the bytes of `argv[0]`. workspace_digest: of the start workspace, or `none`. permissions: how it is
    confined and what it is granted.
    """

    program: bytes
    workspace_digest: str
    permissions: Sequence[str]


def evaluator_facts(prepared: Prepared, evaluator: Evaluator | None, host: CommandFacts | None) -> EvaluatorFacts:
    """The configuration of one evaluator; `host` is needed for a command evaluator."""
    if evaluator is None:
        value = deterministic_configuration(prepared.contract, prepared.brief_digest)
        return EvaluatorFacts("deterministic", value, settings_of(value, "none"))
    assert host is not None
    name = os.path.basename(evaluator.command[0])
    identity = f"{evaluator.id}:{name}@{digest_bytes(host.program).removeprefix('sha256:')[:12]}"
    value = configuration(
        prepared.contract,
        prepared.brief_digest,
        identity,
        digest_value(list(evaluator.command), "EvaluatorCommand"),
        (*tool_inventory(prepared.contract), *BRIDGE_TOOLS),
        sorted(host.permissions),
        evaluator.seed,
        "opaque",
        budgets(prepared, evaluator),
    )
    return EvaluatorFacts(evaluator.id, value, settings_of(value, host.workspace_digest))


def budgets(prepared: Prepared, evaluator: Evaluator) -> dict[str, Any]:
    """The contract's budgets, lowered by the experiment file."""
    value: dict[str, Any] = to_value(prepared.contract.budgets)  # pyright: ignore
    if evaluator.max_wall_s is not None:
        value["maxWallClockMinutes"] = min(value["maxWallClockMinutes"], max(1, evaluator.max_wall_s // 60))
    return value


def settings_of(value: Mapping[str, Any], workspace: str) -> dict[str, Any]:
    """What manifests repeat of a configuration; `workspace` is the start workspace's tree digest, or `none`."""
    return {
        "modelSnapshot": value["modelSnapshot"],
        "systemPromptDigest": value["systemPromptDigest"],
        "workspaceIdentity": workspace if workspace == "none" else f"tree:{workspace}",
        "toolInventory": list(value["toolInventory"]),
        "budgets": dict(value["budgets"]),
    }
