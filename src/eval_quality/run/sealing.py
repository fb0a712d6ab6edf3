"""What a cell of the run leaves for scoring: records, manifest, configuration (spec 12 §12.17).

Everything here is a pure function of captures, so sealing again gives the same bytes. Three members are facts about
the whole trial set and are the same in every record of it: the recommendation (the worst of the set, because scoring
declares a set Invalid whose trials disagree), the manifest's ceilings and its sums.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from eval_quality.core.contract.operation import operations_of
from eval_quality.model.contract import EvalContract
from eval_quality.model.decode import to_value
from eval_quality.value.digest import digest_bytes, digest_composite, digest_directory, digest_value

FORBIDDEN_INPUTS: Final = (
    "original-spec",
    "source-code",
    "repository",
    "builder-transcript",
    "implementation-logs",
    "comparator-results",
    "human-labels",
)
RECOMMENDATIONS: Final = ("PASS", "CONCERNS", "FAIL")
"""From best to worst."""
DETERMINISTIC_PROMPT: Final = b"eval-quality/deterministic/v1"
"""What stands where another evaluator has a system prompt."""


class Cell(NamedTuple):
    """One (evaluator, probe) pair: the unit of scoring."""

    run_id: str
    condition_arm: str
    mode: str
    contract_digest: str
    brief_digest: str
    configuration_digest: str
    evaluator_id: str
    probe_id: str


class TrialCapture(NamedTuple):
    """What one trial left behind, before sealing; all members are plain JSON values.

    observations: of the run record. actions: every call in order, refusals included, without times.
    isolation: `{mounts, allowedMounts, network, allowedNetwork, tools, accounting}` as observed.
    wall_clock_seconds: 0 under `--reproducible`.
    """

    trial_index: int
    recommendation: str
    dispositions: Sequence[Mapping[str, Any]]
    findings: Sequence[Mapping[str, Any]]
    observations: Sequence[Mapping[str, Any]]
    actions: Sequence[Mapping[str, Any]]
    tool_calls: int
    wall_clock_seconds: float
    isolation: Mapping[str, Any]


def cell_key(
    contract_digest: str,
    draft: Any,
    arm_digest: str,
    configuration_digest: str,
    mode: str,
    trials: int,
    label: str,
) -> str:
    """Sixteen hex digits that tell cells apart and are equal on every machine (12.17.1)."""
    fields = {
        "arm": arm_digest,
        "configuration": configuration_digest,
        "contract": contract_digest,
        "draft": draft,
        "label": label,
        "mode": mode,
        "trials": trials,
    }
    return digest_composite(fields, "Cell").removeprefix("sha256:")[:16]


def tool_inventory(contract: EvalContract) -> list[str]:
    """Every operation as `<interfaceId>/<operationId>`, ascending."""
    return sorted(f"{d.interface.logical_id}/{d.operation.operation_id}" for d in operations_of(contract))


def configuration(
    contract: EvalContract,
    brief_digest: str,
    identity: str,
    prompt_digest: str,
    tools: Sequence[str],
    permissions: Sequence[str],
    seed: int | None,
    model: str,
    budgets: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """The evaluator configuration as a plain value (12.17.2). Nothing per probe, arm or machine enters it."""
    return {
        "schemaVersion": 1,
        "parentDigest": None,
        "revisionCount": 0,
        "sealedBriefDigest": brief_digest,
        "evaluatorIdentity": identity,
        "modelSnapshot": model,
        "systemPromptDigest": prompt_digest,
        "decodingParameters": {},
        "toolInventory": list(tools),
        "permissionInventory": list(permissions),
        "budgets": dict(budgets) if budgets is not None else to_value(contract.budgets),
        "seed": seed,
        "judgeConfiguration": None,
    }


def deterministic_configuration(contract: EvalContract, brief_digest: str) -> dict[str, Any]:
    """The configuration of the built-in evaluator."""
    prompt = digest_bytes(DETERMINISTIC_PROMPT)
    tools = tool_inventory(contract)
    return configuration(contract, brief_digest, "eval-quality/deterministic", prompt, tools, (), None, "none")


def worst(recommendations: Sequence[str]) -> str:
    """The recommendation of a trial set."""
    return max(recommendations, key=RECOMMENDATIONS.index)


def record(
    cell: Cell, trials: Sequence[TrialCapture], trial: TrialCapture, actions: bytes, manifest: bytes
) -> dict[str, Any]:
    """The sealed run record of one trial (12.17.1); `actions` and `manifest` are the referenced files' bytes."""
    folder = f"cells/{cell.evaluator_id}/{cell.probe_id}"
    return {
        "schemaVersion": 8,
        "parentDigest": None,
        "revisionCount": 0,
        "runId": cell.run_id,
        "conditionArm": cell.condition_arm,
        "mode": cell.mode,
        "trialIndex": trial.trial_index,
        "contractDigest": cell.contract_digest,
        "sealedBriefDigest": cell.brief_digest,
        "evaluatorConfigurationDigest": cell.configuration_digest,
        "evaluatorRecommendation": worst([each.recommendation for each in trials]),
        "oracleDispositions": list(trial.dispositions),
        "findings": list(trial.findings),
        "observations": list(trial.observations),
        "judgeResults": [],
        "actionsArtifact": public(f"{folder}/actions-{trial.trial_index}.json", actions),
        "isolationManifestArtifact": public(f"{folder}/isolation-manifest.json", manifest),
        "resourceUse": use(trial.tool_calls, trial.wall_clock_seconds),
        "evidenceDisclosure": {"truncationBound": None, "reportedIncomplete": False},
    }


def public(path: str, data: bytes) -> dict[str, Any]:
    """A reference to a file of the run directory."""
    return {"storage": "public", "path": path, "privateRef": None, "digest": digest_bytes(data)}


def use(tool_calls: int, seconds: float) -> dict[str, Any]:
    """Resource use without a model."""
    return {
        "toolCalls": tool_calls,
        "inputTokens": 0,
        "outputTokens": 0,
        "wallClockSeconds": seconds,
        "costUsd": "0",
    }


def manifest(
    cell: Cell, contract: EvalContract, trials: Sequence[TrialCapture], settings: Mapping[str, Any]
) -> dict[str, Any]:
    """The isolation manifest of one cell (12.17.3).

    `settings` holds what the evaluator was configured with: `modelSnapshot`, `systemPromptDigest`,
    `workspaceIdentity`, `toolInventory`, `budgets`.
    """
    count = len(trials)
    budgets = settings["budgets"]
    seconds = sum(trial.wall_clock_seconds for trial in trials)
    return {
        "schemaVersion": 1,
        "parentDigest": None,
        "revisionCount": 0,
        "runId": cell.run_id,
        "contractId": contract.contract_id,
        "conditionArm": cell.condition_arm,
        "modelSnapshot": settings["modelSnapshot"],
        "systemPromptDigest": settings["systemPromptDigest"],
        "contractDigest": cell.contract_digest,
        "evaluatorConfigurationDigest": cell.configuration_digest,
        "workspaceIdentity": settings["workspaceIdentity"],
        "allowedMounts": _union(trials, "allowedMounts"),
        "observedMounts": _union(trials, "mounts"),
        "networkAllowlist": _union(trials, "allowedNetwork"),
        "observedNetworkTargets": _union(trials, "network"),
        "toolAllowlist": list(settings["toolInventory"]),
        "observedToolCalls": _union(trials, "tools"),
        "resourceCeilings": {
            "maxToolCalls": max(1, budgets["maxToolCalls"] * count),
            "maxInputTokens": 1,
            "maxOutputTokens": 1,
            "maxWallClockMinutes": max(1, budgets["maxWallClockMinutes"] * count),
            "maxCostUsd": "0.000001",
        },
        "actualResourceUse": use(sum(trial.tool_calls for trial in trials), seconds),
        "forbiddenInputAccounting": dict(trials[0].isolation["accounting"]),
        "violation": None,
    }


def _union(trials: Sequence[TrialCapture], member: str) -> list[str]:
    return sorted({entry for trial in trials for entry in trial.isolation[member]})


def accounting(withheld: bool, note: str) -> dict[str, Any]:
    """One statement for all seven forbidden inputs."""
    return {name: {"withheld": withheld, "note": note} for name in FORBIDDEN_INPUTS}


def corpus_digest(probes: Mapping[str, Any]) -> str:
    """The directory digest over the minted probes (12.20 point 2); `probes` maps a probe id to its value."""
    members = {f"probes/{name}.json": digest_value(value, "Probe") for name, value in probes.items()}
    return digest_directory(members, "Corpus")
