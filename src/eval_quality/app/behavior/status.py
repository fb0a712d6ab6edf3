"""Reading evidence back: one look at everything that decides a status (spec 11 §9, §10, §13.1, §17.7, §17.8)."""

import os
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from eval_quality.app.behavior.measured import measure_all
from eval_quality.app.behavior.reading import Unreadable, listing, read_below
from eval_quality.app.behavior.repository import Repository
from eval_quality.app.behavior.scoring import package_digests
from eval_quality.app.behavior.store import (
    BARE_NAME,
    EVIDENCE_NAME,
    SEALED_NAME,
    Clock,
    Ledger,
    Stored,
    holdout_folder,
    read_ledger,
    read_stored,
    repository_state,
    sidecar_path,
    signing_key,
    stored_path,
)
from eval_quality.core.behavior.battery import passing_responders
from eval_quality.core.behavior.compare import lift, outcomes_of
from eval_quality.core.behavior.draft7 import parse_date_time
from eval_quality.core.behavior.evidence import ABSENT, UNREADABLE, CaseResult, Loaded, load_evidence
from eval_quality.core.behavior.freshness import Fresh, malformed_forbidden, missing_share, per_skill
from eval_quality.core.behavior.jsonish import JsonObject, as_object
from eval_quality.core.behavior.maturity import Record, Standard
from eval_quality.core.behavior.plan import Case, Digests, Plan
from eval_quality.core.behavior.provenance import attempts, sidecar_problem, signature_problem
from eval_quality.core.behavior.repeats import least_repeats, violations
from eval_quality.core.behavior.standing import (
    ABSENT_EVIDENCE,
    Evidence,
    bundle_status,
    records,
    status_value,
)
from eval_quality.core.behavior.suspicion import recorded_canary_suspicion, underivable, underivable_suspicion
from eval_quality.errors import RuntimeFault
from eval_quality.value.compare import json_equal
from eval_quality.value.scan import scan


class Sidecar(msgspec.Struct, frozen=True):
    """The provenance beside an evidence file: its value when it may be believed, else why not."""

    value: JsonObject | None
    problem: str | None
    absent: bool = False


class Look(msgspec.Struct, frozen=True):
    """Everything read and computed about a repository's evidence at one moment."""

    evidence: Evidence
    records: list[Record]
    sidecar: Sidecar
    ledger: Ledger
    attempts: int
    gates: list[tuple[str, str | None]]

    @property
    def status(self) -> str:
        """PASS, FAIL or NOT_CHECKED of the provider evidence."""
        return bundle_status(self.records, self.evidence)[0]


def _read_sidecar(path: str, stored: Stored) -> Sidecar:
    side = read_stored(sidecar_path(path))
    if side.absent:
        return Sidecar(None, "there is no provenance sidecar beside the evidence", absent=True)
    problem = side.problem or sidecar_problem(side.value, stored.sha256)
    return Sidecar(as_object(side.value) if problem is None else None, problem)


def _loaded(stored: Stored, cases: Sequence[Case], digests: Digests, repository: Repository, clock: Clock) -> Loaded:
    if stored.absent:
        return ABSENT_EVIDENCE
    if stored.problem is not None:
        return Loaded(UNREADABLE, stored.problem)
    return load_evidence(stored.value, cases, digests, clock(), repository.config.max_age_days)


def _sealed(repository: Repository, plan: Plan, clock: Clock) -> tuple[Fresh, Sidecar]:
    folder = holdout_folder(repository.root, repository.config.holdout_root)
    if folder is None or not plan.sealed.total:
        return Fresh({}, {}), Sidecar(None, None, absent=True)
    path = os.path.join(folder, SEALED_NAME)
    stored = read_stored(path)
    loaded = _loaded(stored, plan.sealed_cases, plan.sealed, repository, clock)
    side = _read_sidecar(path, stored)
    usable = None if repository.config.freshness_scope == "corpus" else side.value
    return per_skill(loaded, plan.sealed_cases, plan.per_skill_sealed, usable), side


def _blocked(repository: Repository, plan: Plan, results: Sequence[CaseResult], side: Sidecar, ledger: Ledger) -> str:
    """Why a run counts neither way, or nothing. Only asked for evidence that is fresh at least in part."""
    config = repository.config
    if config.require_receipt and (side.value or {}).get("receiptSha256") is None:
        return "evidence-provenance: no export receipt vouches for the oracle"
    if config.require_signature:
        problem = side.problem or signature_problem(side.value or {}, signing_key()) or ledger.problem
        if problem is not None:
            return f"evidence-provenance: {problem}"
    if least_repeats(side.value) < config.repeats:
        return f"evidence-incomplete: {least_repeats(side.value)} of {config.repeats} repeats"
    if (canaries := recorded_canary_suspicion(side.value)) is not None:
        return canaries
    share = missing_share(results)
    if share > config.max_missing_share:
        return f"evidence-incomplete: {share:.1%} of the answers are missing"
    keys = {(result.skill_id, result.case_id) for result in results if result.passed}
    passed = [case for case in plan.cases if (case.skill_id, case.case_id) in keys]
    return underivable_suspicion(underivable(plan, passed), len(passed)) or ""


def _pooled(repository: Repository, plan: Plan, ledger: Ledger, provider: str | None) -> list[JsonObject]:
    """The score lines of this corpus, oracle and provider, under the strict policy and more than one attempt."""
    if not repository.config.strict:
        return []
    lines = [
        entry
        for entry in map(as_object, ledger.entries)
        if entry is not None and attempts([entry], plan.open, provider) == 1
    ]
    return lines if len(lines) > 1 else []


def _pooled_slices(lines: Sequence[JsonObject]) -> dict[str, dict[str, tuple[int, int]]]:
    result: dict[str, dict[str, tuple[int, int]]] = {}
    for line in lines:
        for skill_id, categories in (as_object(line.get("slices")) or {}).items():
            for category, pair in (as_object(categories) or {}).items():
                passed, total = result.setdefault(skill_id, {}).get(category, (0, 0))
                result[skill_id][category] = (passed + pair[0], total + pair[1])
    return result


def _extra_violations(
    plan: Plan, sides: Sequence[Sidecar], results: Sequence[CaseResult], lines: Sequence[JsonObject]
) -> dict[str, int]:
    """Per skill: violations of the rows, of malformed answers, of any repeat and of any pooled attempt together."""
    counts: dict[str, int] = {}
    for result in results:
        counts[result.skill_id] = counts.get(result.skill_id, 0) + result.violated
    for side in sides:
        for skill_id in plan.per_skill:
            extra = malformed_forbidden(side.value, skill_id)
            counts[skill_id] = counts.get(skill_id, 0) + extra
        for skill_id, number in violations(side.value, plan.cases).items():
            counts[skill_id] = max(counts.get(skill_id, 0), number)
    for line in lines:
        for skill_id, number in (as_object(line.get("violationsBySkill")) or {}).items():
            counts[skill_id] = max(counts.get(skill_id, 0), int(number))
    return counts


def _lifts(repository: Repository, loaded: Loaded, clock: Clock) -> Mapping[str, JsonObject | None]:
    path = os.path.join(repository.root, BARE_NAME)
    if loaded.code is not None or loaded.document is None or not os.path.exists(path):
        return {}
    plan = repository.bare_plan
    bare = _loaded(read_stored(path), plan.open_cases, plan.open, repository, clock)
    if bare.code is not None or bare.document is None:
        return {}
    before, after = outcomes_of(bare.document), outcomes_of(loaded.document)
    return {skill_id: lift(before, after, skill_id) for skill_id in plan.per_skill}


def gate_problems(repository: Repository, clock: Clock) -> list[tuple[str, str | None]]:
    """Every enterprise gate with why it does not pass, or None (spec 11 §17.9c)."""
    found: list[tuple[str, str | None]] = []
    state: tuple[str | None, bool | None] | None = None
    for gate in repository.config.gates:
        try:
            value = as_object(scan(read_below(repository.root, gate.evidence), "EnterpriseGate")) or {}
        except (Unreadable, RuntimeFault) as error:
            found.append((gate.gate_id, f"{gate.evidence}: {error}"))
            continue
        frame = {"schemaVersion": 1, "metric": "enterprise-gate", "id": gate.gate_id, "status": "PASS"}
        captured = parse_date_time(str(value.get("capturedAt")))
        problem: str | None = None
        if not all(json_equal(value.get(name), wanted) for name, wanted in frame.items()):
            problem = "the gate's document does not say PASS for this gate"
        elif captured is None or (clock() - captured).days >= gate.max_age_days or captured > clock():
            problem = f"captured more than {gate.max_age_days} days ago, or at no usable time"
        elif gate.revision_bound:
            state = state or repository_state(repository.root)
            if state[0] is None or state[1] or value.get("repositoryRevision") != state[0]:
                problem = "not of the current clean revision"
        found.append((gate.gate_id, problem))
    return found


def look(repository: Repository, clock: Clock, *, out: str | None = None, allow_exec: bool = False) -> Look:
    """Read everything once and compute the record of every skill."""
    config = repository.config
    plan = repository.plan
    path = stored_path(repository.root, out)
    stored = read_stored(path)
    loaded = _loaded(stored, plan.open_cases, plan.open, repository, clock)
    if repository.corpus_errors:
        # A plan over a broken corpus is not the corpus anybody was asked: nothing is fresh for it.
        loaded = Loaded("corpus-integrity", repository.corpus_errors[0].line())
    side = Sidecar(None, None, absent=True) if stored.absent else _read_sidecar(path, stored)
    usable = None if config.freshness_scope == "corpus" else side.value
    fresh = per_skill(loaded, plan.open_cases, plan.per_skill, usable)
    sealed, sealed_side = _sealed(repository, plan, clock)
    results = [result for rows in (*fresh.results.values(), *sealed.results.values()) for result in rows]
    ledger = read_ledger(repository.root)
    provider = None if loaded.document is None else str(loaded.document["providerId"])
    lines = _pooled(repository, plan, ledger, provider)
    packages = as_object((side.value or {}).get("packages")) or {}
    current = package_digests(repository) if packages else {}
    changed = frozenset(
        skill_id for skill_id in plan.per_skill if packages and packages.get(skill_id) != current.get(skill_id)
    )
    evidence = Evidence(
        loaded,
        fresh,
        sealed,
        _extra_violations(plan, (side, sealed_side), results, lines),
        _pooled_slices(lines),
        _blocked(repository, plan, results, side, ledger) if results else "",
        changed,
        _lifts(repository, loaded, clock),
    )
    gates = gate_problems(repository, clock)
    standard = Standard(config.thresholds)

    def degenerate(skill_id: str) -> tuple[str, ...]:
        return passing_responders(plan, standard, skill_id)

    found = records(
        repository.structures,
        plan,
        measure_all(repository, allow_exec=allow_exec),
        evidence,
        config,
        degenerate,
        gates_passed=bool(gates) and all(problem is None for _gate, problem in gates),
    )
    return Look(evidence, found, side, ledger, attempts(ledger.entries, plan.open, provider), gates)


def payload(repository: Repository, seen: Look, *, with_cases: bool = False) -> JsonObject:
    """The payload of `behavior-eval status`."""
    value = status_value(
        seen.records, repository.plan, seen.evidence, repository.config, seen.attempts, with_cases=with_cases
    )
    provenance = seen.sidecar.value or {}
    value["counts"] = provenance.get("counts")
    value["suspicion"] = provenance.get("suspicion")
    if seen.ledger.problem is not None:
        value["ledger"] = f"broken: {seen.ledger.problem}"
    return value


def provider_matrix(repository: Repository, clock: Clock) -> list[dict[str, Any]]:
    """Every evidence file of the results folder, one row a provider (spec 11 §17.10)."""
    folder = os.path.join(repository.root, os.path.dirname(EVIDENCE_NAME))
    rows: list[dict[str, Any]] = []
    for entry in listing(folder):
        path = os.path.join(folder, entry.name)
        auxiliary = entry.name.endswith((".previous.json", ".provenance.json")) or path.endswith(BARE_NAME)
        if auxiliary or not entry.name.endswith(".json") or not entry.is_file(follow_symlinks=False):
            continue
        stored = read_stored(path)
        document = as_object(stored.value) or {}
        if document.get("metric") != "agent-behavior":
            continue
        seen = look(repository, clock, out=path)
        status, _fresh, reason = bundle_status(seen.records, seen.evidence)
        rows.append(
            {
                "path": os.path.relpath(path, repository.root),
                "providerId": document.get("providerId"),
                "status": status,
                "reason": reason,
                "skills": {
                    record.skill_id: record.standing.status for record in seen.records if record.evidence == "provider"
                },
            }
        )
    return rows


def evidence_absent(seen: Look) -> bool:
    """Whether there is no evidence file at all."""
    return seen.evidence.loaded.code == ABSENT
