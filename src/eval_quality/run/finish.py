"""Phases 10 and 11: sealing and scoring, from captures alone (spec 12 §12.17, §12.20).

No launcher, socket or provider is in any signature here, so whatever is scored can be scored again elsewhere. Every
artifact is what the classic commands make of the files of the run directory; `classic.json` lists those commands.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from eval_quality.core.aggregate import aggregate_strength
from eval_quality.core.score.entry import RunScoreResult, run_score
from eval_quality.core.score.ladder import LadderResolution
from eval_quality.errors import CodedError, EvalQualityError
from eval_quality.model.aggregate import StrengthAggregate
from eval_quality.model.decode import to_value
from eval_quality.model.policy import ScoringPolicy
from eval_quality.model.preflight import PreflightVerdict
from eval_quality.run.arm import document_value
from eval_quality.run.corpus import Qualified, artifact_bytes, fixture_verdict, qualify_all
from eval_quality.run.evaluators.configuration import EvaluatorFacts
from eval_quality.run.prepare import Prepared
from eval_quality.run.sealing import Cell, TrialCapture, cell_key, corpus_digest, manifest, record
from eval_quality.value.canonical import canonicalize


class ScoredCell(NamedTuple):
    """One (evaluator, probe) pair after scoring.

    result: what scoring returned. error: a refusal or fault that kept it from being scored. trials: the captures.
    """

    cell: Cell
    qualified: Qualified
    trials: tuple[TrialCapture, ...]
    stops: tuple[str, ...]
    result: RunScoreResult | None
    error: EvalQualityError | None

    @property
    def ladder(self) -> LadderResolution | None:
        return None if self.result is None else self.result.ladder

    @property
    def verdict(self) -> str | None:
        """PASS, WAIVED, CONCERNS or FAIL; None for an Invalid cell."""
        return None if self.ladder is None else self.ladder.verdict

    @property
    def state(self) -> str:
        """The cell's reduced state, in the words of 12.25.1."""
        if self.result is None or self.result.artifact is None:
            return "invalid"
        reduced = self.result.artifact.reduced_probe_outcomes[0]
        if self.qualified.probe.expected_clean:
            states = {vote.state for vote in reduced.trial_votes}
            return "false-positive" if "false-positive" in states else "passed"
        if not reduced.exercised:
            return "unexercised"
        return "caught" if reduced.caught else "missed"


class Finished(NamedTuple):
    """Everything a run produced.

    files: path in the run directory -> bytes. aggregates: by evaluator id; None where nothing could be added up, with
    the reason in `aggregate_errors`.
    """

    prepared: Prepared
    fixture: PreflightVerdict
    qualified: tuple[Qualified, ...]
    corpus_digest: str
    cells: tuple[ScoredCell, ...]
    aggregates: Mapping[str, StrengthAggregate | None]
    aggregate_errors: Mapping[str, str]
    files: Mapping[str, bytes]


def finish(
    prepared: Prepared,
    captures: Mapping[str, Any],
    facts: Sequence[EvaluatorFacts],
) -> Finished:
    """Seal and score every cell of every qualified probe; `facts` are the evaluators as they were configured."""
    rules = prepared.policy
    qualified = qualify_all(prepared, captures)
    corpus = tuple(each for each in qualified if each.failure is None)
    probes = {each.plan.probe_id: to_value(each.probe) for each in corpus}
    digest = corpus_digest(probes) if probes else ""
    fixture = fixture_verdict(prepared, captures)
    files = dict(_common_files(prepared, qualified, fixture, captures, rules))
    cells: list[ScoredCell] = []
    for evaluator in facts:
        files[f"evaluators/{evaluator.evaluator_id}/configuration.json"] = _json(evaluator.configuration)
        cells += [_cell(prepared, captures, evaluator, each, fixture, digest, rules, files) for each in corpus]
    aggregates, errors = _aggregates(prepared, facts, cells, files)
    files["classic.json"] = _json(classic(prepared, cells, digest, fixture))
    return Finished(prepared, fixture, qualified, digest, tuple(cells), aggregates, errors, files)


def _json(value: Any) -> bytes:
    return canonicalize(value, "RunDirectory") + b"\n"


def _common_files(
    prepared: Prepared,
    qualified: Sequence[Qualified],
    fixture: PreflightVerdict,
    captures: Mapping[str, Any],
    policy: ScoringPolicy,
) -> dict[str, bytes]:
    files = {
        "contract.json": artifact_bytes(prepared.contract, "EvalContract"),
        "brief.json": prepared.view.brief_bytes,
        "call-surface.json": _json(prepared.view.surface),
        "policy.json": artifact_bytes(policy, "ScoringPolicy"),
        "floors.json": artifact_bytes(prepared.documents.floors, "StrengthFloors"),
        "preflight/fixture.json": artifact_bytes(fixture, "PreflightVerdict"),
        "preflight/clean.observations.json": _json(captures["fixture"]["observations"]),
        "preflight/no-probes.json": _json([]),
    }
    for each in qualified:
        files.update(each.files)
        name = each.plan.probe_id
        if each.failure is None:
            files[f"probes/{name}.json"] = artifact_bytes(each.probe, "Probe")
        if each.arm_verdict is not None:
            files[f"preflight/arm-{name}.json"] = artifact_bytes(each.arm_verdict, "PreflightVerdict")
            observations = captures[f"arm/{name}"]["observations"]
            files[f"preflight/{each.plan.arm.arm_id}.observations.json"] = _json(observations)
    return files


def _cell(
    prepared: Prepared,
    captures: Mapping[str, Any],
    evaluator: EvaluatorFacts,
    qualified: Qualified,
    fixture: PreflightVerdict,
    corpus: str,
    policy: ScoringPolicy,
    files: dict[str, bytes],
) -> ScoredCell:
    plan = qualified.plan
    configuration_digest = evaluator.digest
    mode = prepared.experiment.run.mode
    key = cell_key(
        prepared.contract_digest,
        document_value(plan.draft),
        plan.arm.digest,
        configuration_digest,
        mode,
        prepared.trials,
        prepared.label,
    )
    cell = Cell(
        f"{prepared.experiment.id}.{evaluator.evaluator_id}.{plan.probe_id}.{key}",
        plan.arm.condition,
        mode,
        prepared.contract_digest,
        prepared.brief_digest,
        configuration_digest,
        evaluator.evaluator_id,
        plan.probe_id,
    )
    bodies = [captures[f"trial/{evaluator.evaluator_id}/{plan.probe_id}/{k}"] for k in range(1, prepared.trials + 1)]
    trials = tuple(TrialCapture(**body["trial"]) for body in bodies)
    stops = tuple(body["stop"] for body in bodies)
    folder = f"cells/{cell.evaluator_id}/{cell.probe_id}"
    sealed_manifest = manifest(cell, prepared.contract, trials, evaluator.settings)
    manifest_bytes = files[f"{folder}/isolation-manifest.json"] = _json(sealed_manifest)
    records: list[dict[str, Any]] = []
    for trial in trials:
        actions = files[f"{folder}/actions-{trial.trial_index}.json"] = _json(list(trial.actions))
        sealed = record(cell, trials, trial, actions, manifest_bytes)
        files[f"{folder}/record-{trial.trial_index}.json"] = _json(sealed)
        records.append(sealed)
    result, error = None, None
    try:
        result = run_score(
            record=records,
            manifest=sealed_manifest,
            configuration=evaluator.configuration,
            contract=prepared.contract,
            probe=qualified.probe,
            preflight_verdict=fixture,
            policy=policy,
            corpus_digest=corpus,
            designated_oracle_id=plan.draft.designated_oracle,
        )
    except EvalQualityError as refused:
        error = refused
    if result is not None and result.artifact is not None:
        files[f"{folder}/evidence.json"] = artifact_bytes(result.artifact, "EvidenceArtifact")
    return ScoredCell(cell, qualified, trials, stops, result, error)


def _aggregates(
    prepared: Prepared,
    facts: Sequence[EvaluatorFacts],
    cells: Sequence[ScoredCell],
    files: dict[str, bytes],
) -> tuple[dict[str, StrengthAggregate | None], dict[str, str]]:
    aggregates: dict[str, StrengthAggregate | None] = {}
    errors: dict[str, str] = {}
    for evaluator in facts:
        name = evaluator.evaluator_id
        own = [cell for cell in cells if cell.cell.evaluator_id == name]
        evidence = [
            cell.result.artifact for cell in own if cell.result is not None and cell.result.artifact is not None
        ]
        aggregates[name] = None
        if not evidence:
            errors[name] = "no cell produced evidence"
            continue
        try:
            aggregate = aggregate_strength(evidence=evidence, floors=prepared.documents.floors, policy=prepared.policy)
        except CodedError as refused:
            errors[name] = str(refused)
            continue
        aggregates[name] = aggregate
        files[f"aggregates/{name}.json"] = artifact_bytes(aggregate, "StrengthAggregate")
    return aggregates, errors


def classic(prepared: Prepared, cells: Sequence[ScoredCell], corpus: str, fixture: PreflightVerdict) -> dict[str, Any]:
    """The classic command lines over files of the run directory that give the same artifacts (12.20 point 4)."""
    run_id = fixture.run_id
    commands: list[dict[str, Any]] = [
        _command("contract.json", "compile", "--in", "contract.json"),
        _command("brief.json", "seal", "--in", "contract.json"),
        _command(
            "preflight/fixture.json",
            "preflight",
            *("--contract", "contract.json", "--probes", "preflight/no-probes.json"),
            *("--observations", "preflight/clean.observations.json", "--run-id", run_id),
        ),
    ]
    for scored in cells:
        folder = f"cells/{scored.cell.evaluator_id}/{scored.cell.probe_id}"
        arguments = [
            part for trial in scored.trials for part in ("--record", f"{folder}/record-{trial.trial_index}.json")
        ]
        arguments += ["--contract", "contract.json", "--probe", f"probes/{scored.cell.probe_id}.json"]
        arguments += [
            "--preflight-verdict",
            "preflight/fixture.json",
            "--policy",
            "policy.json",
            "--corpus-digest",
            corpus,
        ]
        arguments += ["--isolation-manifest", f"{folder}/isolation-manifest.json"]
        arguments += ["--evaluator-configuration", f"evaluators/{scored.cell.evaluator_id}/configuration.json"]
        designated = scored.qualified.plan.draft.designated_oracle
        arguments += [] if designated is None else ["--designated-oracle", designated]
        commands.append(_command(f"{folder}/evidence.json", "score", *arguments))
    for name in prepared.evaluator_ids():
        evidence = [
            f"cells/{name}/{cell.cell.probe_id}/evidence.json"
            for cell in cells
            if cell.cell.evaluator_id == name and cell.verdict is not None
        ]
        if evidence:
            arguments = [part for path in evidence for part in ("--evidence", path)]
            arguments += ["--floors", "floors.json", "--policy", "policy.json"]
            commands.append(_command(f"aggregates/{name}.json", "aggregate-strength", *arguments))
    return {"commands": commands}


def _command(artifact: str, *words: str) -> dict[str, Any]:
    return {"artifact": artifact, "argv": ["eval-quality", *words]}
