"""The plan of a run as a document, and what the host contributes to it (spec 13 §13.4.4).

Concurrency, caps, executor and times are absent on purpose: they may change between start and resume without changing
what is measured. Confinement enters through the evaluators' permissions, so a run that was started confined cannot be
resumed unconfined.
"""

import os
import shutil
from collections.abc import Mapping, Sequence
from typing import Any, Final

from eval_quality.model.decode import to_value
from eval_quality.run.errors import RunFault
from eval_quality.run.evaluators.configuration import CommandFacts, EvaluatorFacts, evaluator_facts, settings_of
from eval_quality.run.experiment.document import Evaluator
from eval_quality.run.prepare import Prepared
from eval_quality.run.sandbox import Confined, Unconfined
from eval_quality.run.snapshot import outer
from eval_quality.run.tree import Tree
from eval_quality.value.digest import digest_composite, digest_value

EVALUATOR_PATH: Final = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
"""Where a bare program name of an evaluator is looked for."""


def plan_value(prepared: Prepared, facts: Sequence[EvaluatorFacts], inputs: Sequence[Any]) -> dict[str, Any]:
    """The plan document; its artifact digest is the plan digest."""
    return {
        "protocol": "eval-quality/plan/v1",
        "experimentSnapshotDigest": digest_composite({"inputs": list(inputs)}, "Inputs"),
        "contractDigest": prepared.contract_digest,
        "policyDigest": digest_value(to_value(prepared.policy), "ScoringPolicy"),
        "mode": prepared.experiment.run.mode,
        "label": prepared.label,
        "seed": prepared.experiment.run.seed,
        "evaluators": list(prepared.evaluator_ids()),
        "configurationDigests": {each.evaluator_id: each.digest for each in facts},
        "items": [item._asdict() for item in prepared.items],
    }


def all_facts(
    prepared: Prepared, root: str, workspaces: Mapping[str, Tree], content: Any, sandbox: Confined | Unconfined
) -> tuple[EvaluatorFacts, ...]:
    """The configurations of the run's evaluators. Raises `RunFault` (`launch-target-missing`)."""
    found: list[EvaluatorFacts] = []
    for evaluator in prepared.evaluators:
        host = None
        if evaluator is not None:
            tree = workspaces.get(evaluator.id)
            program = _program(evaluator, root, tree, content)
            host = CommandFacts(program, "none" if tree is None else tree.digest, permissions(evaluator, sandbox))
        found.append(evaluator_facts(prepared, evaluator, host))
    return tuple(found)


def recorded_facts(
    prepared: Prepared, configurations: Mapping[str, Any], workspaces: Mapping[str, Tree]
) -> tuple[EvaluatorFacts, ...]:
    """The configurations as a run recorded them; nothing of the host is looked at."""
    return tuple(
        EvaluatorFacts(
            name,
            configurations[name],
            settings_of(configurations[name], workspaces[name].digest if name in workspaces else "none"),
        )
        for name in prepared.evaluator_ids()
    )


def permissions(evaluator: Evaluator, sandbox: Confined | Unconfined) -> list[str]:
    """How an evaluator is confined and what it is granted (12.17.2)."""
    confine = f"confine:bwrap/{sandbox.profile}" if isinstance(sandbox, Confined) else "confine:none"
    grants = [f"grant:{index}" for index in range(len(evaluator.read))]
    return [confine, *grants, *(f"env:{name}" for name in evaluator.environment)]


def launch_vector(evaluator: Evaluator, root: str) -> tuple[str, ...]:
    """The evaluator's command; a relative path with a slash is *outer* and becomes absolute."""
    program = evaluator.command[0]
    if "/" in program and not os.path.isabs(program):
        program = outer(root, program)
    return (program, *evaluator.command[1:])


def _program(evaluator: Evaluator, root: str, tree: Tree | None, content: Any) -> bytes:
    """The bytes of the program an evaluator starts."""
    program = launch_vector(evaluator, root)[0]
    if tree is not None and program.startswith("/box/"):
        entry = tree.entry(program.removeprefix("/box/"))
        if entry is not None and not entry.link:
            return content(entry.digest)
    path = program if "/" in program else shutil.which(program, path=EVALUATOR_PATH)
    try:
        if path is not None:
            with open(path, "rb") as file:
                return file.read()
    except OSError:
        pass
    detail = f"the evaluator's program {program} cannot be read on this host"
    raise RunFault.of("launch-target-missing", f"Experiment.evaluator.{evaluator.id}.command", detail)


def digest_of(value: Any) -> str:
    """The artifact digest of a plan document."""
    return digest_value(value, "Plan")
