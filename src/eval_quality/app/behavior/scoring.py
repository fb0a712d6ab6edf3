"""`behavior-eval score`: answers to evidence, sidecar and ledger (spec 11 §7, §8, §17.6 to §17.8).

1. The corpus is sound and its export receipt, where there is one, vouches for the oracle. Required: it must exist.
2. Every bundle is checked whole; a refused one leaves the evidence untouched.
3. Open and sealed cases go to files of their own, each with its own hashes.
4. `merge` replaces the answered skills only, and only when the others are still fresh.
5. The ledger line comes first, so that no attempt is without a trace; then evidence, then sidecar.
"""

import os
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from eval_quality.app.behavior.export import arm_plan
from eval_quality.app.behavior.repository import Repository
from eval_quality.app.behavior.root import RepositoryRefused
from eval_quality.app.behavior.store import (
    BARE_NAME,
    EVIDENCE_NAME,
    EXPORTS,
    SEALED_NAME,
    Clock,
    append_ledger,
    evidence_path,
    holdout_folder,
    indented,
    iso,
    read_run_log,
    read_stored,
    replace_file,
    repository_state,
    sidecar_path,
    signing_key,
)
from eval_quality.app.files import read_bytes
from eval_quality.core.behavior.digests import sha256_hex
from eval_quality.core.behavior.documents import EVIDENCE
from eval_quality.core.behavior.draft7 import problems, summary
from eval_quality.core.behavior.evidence import (
    Counts,
    counts_of,
    evidence_document,
    evidence_rows,
    judge_all,
    load_evidence,
)
from eval_quality.core.behavior.frame import BundleRefused, ResponseBundle, read_response_bundle
from eval_quality.core.behavior.freshness import malformed_forbidden, per_skill
from eval_quality.core.behavior.jsonish import JsonObject, as_list, as_object
from eval_quality.core.behavior.plan import Case, Digests, Plan, digests_of
from eval_quality.core.behavior.provenance import receipt_problem, sidecar, sidecar_problem, signed
from eval_quality.core.behavior.repeats import merged, recorded
from eval_quality.core.behavior.score import Verdict
from eval_quality.core.behavior.suspicion import (
    canary_counts,
    recorded_canary_suspicion,
    underivable,
    underivable_suspicion,
)
from eval_quality.errors import RuntimeFault
from eval_quality.value.scan import scan


class Scored(msgspec.Struct, frozen=True):
    """What a score wrote, as counts; a status is computed by reading it back."""

    path: str
    provider_id: str
    total: int
    passed: int
    violations: int
    counts: Counts
    warnings: tuple[str, ...]
    sealed_path: str | None = None


class _Answers(msgspec.Struct, frozen=True):
    runs: tuple[ResponseBundle, ...]
    digests: tuple[str, ...]
    timeouts: tuple[dict[str, int], ...]
    header: JsonObject | None


def _read_answers(paths: Sequence[str], plan: Plan) -> _Answers:
    known = {case.opaque_id for case in plan.cases}
    runs: list[ResponseBundle] = []
    digests: list[str] = []
    timeouts: list[dict[str, int]] = []
    header: JsonObject | None = None
    for path in paths:
        data = read_bytes(path, "RESP", "ResponseBundle")
        try:
            runs.append(read_response_bundle(scan(data, "ResponseBundle"), known))
        except RuntimeFault as fault:
            raise BundleRefused(f"{path}: not JSON: {fault.detail}") from fault
        digests.append(sha256_hex(data))
        log_header, late = read_run_log(f"{path}.log.jsonl")
        header = header or log_header
        timeouts.append(late)
    if len({run.provider_id for run in runs}) > 1:
        raise BundleRefused("the repeats are of different providers")
    if len(set(digests)) < len(digests):
        raise BundleRefused("two of the repeats are one file's content")
    return _Answers(tuple(runs), tuple(digests), tuple(timeouts), header)


def _receipt(repository: Repository, digests: Digests) -> tuple[str | None, list[str]]:
    """(digest of the receipt, warnings); raises `BundleRefused` where it does not vouch for the oracle."""
    path = os.path.join(repository.root, EXPORTS, f"{digests.corpus}.json")
    stored = read_stored(path)
    if stored.absent:
        if repository.config.require_receipt:
            raise BundleRefused("there is no export receipt for this corpus; export with --out before running")
        return None, ["no export receipt for this corpus: nothing shows that the oracle was fixed before the answers"]
    problem = stored.problem or receipt_problem(stored.value, digests)
    if problem is not None:
        raise BundleRefused(problem)
    return stored.sha256, []


def _answered_skills(plan: Plan, answers: _Answers) -> list[str]:
    answered = {case_id for run in answers.runs for case_id in run.answers}
    return list(dict.fromkeys(case.skill_id for case in plan.cases if case.opaque_id in answered))


class _Kept(msgspec.Struct, frozen=True):
    """What `--merge` carries over of the skills that were not answered again."""

    rows: list[JsonObject]
    provider: str
    malformed: dict[str, int]
    repeats: list[JsonObject]


NOTHING_KEPT = _Kept([], "", {}, [])


def _kept(path: str, plan: Plan, replaced: Sequence[str], clock: Clock) -> _Kept:
    """The rows of untouched skills in the existing evidence, all of them still fresh."""
    stored = read_stored(path)
    if stored.value is None:
        raise BundleRefused("--merge: there is no evidence to merge into")
    loaded = load_evidence(stored.value, plan.open_cases, plan.open, clock())
    side = read_stored(sidecar_path(path))
    usable = side.value if side.value is not None and sidecar_problem(side.value, stored.sha256) is None else None
    fresh = per_skill(loaded, plan.open_cases, plan.per_skill, usable)
    stale = [skill_id for skill_id in fresh.reasons if skill_id not in replaced]
    if stale:
        raise BundleRefused(f"--merge: {', '.join(stale)} would be kept but is no longer fresh")
    rows: list[JsonObject] = [row for row in stored.value["cases"] if row["skillId"] not in replaced]
    skills = {row["skillId"] for row in rows}
    malformed = {skill_id: count for skill_id in skills if (count := malformed_forbidden(usable, skill_id))}
    repeats = [as_object(item) or {} for item in as_list((as_object(usable) or {}).get("repeats")) or []]
    kept_repeats = [item for item in repeats if item.get("skillId") in skills]
    return _Kept(rows, stored.value["providerId"], malformed, kept_repeats)


def _in_plan_order(rows: Sequence[JsonObject], cases: Sequence[Case]) -> list[JsonObject]:
    place = {(case.skill_id, case.case_id): index for index, case in enumerate(cases)}
    return sorted(rows, key=lambda row: place[row["skillId"], row["caseId"]])


def _category_counts(cases: Sequence[Case], verdicts: Mapping[str, Verdict]) -> JsonObject:
    counts: dict[str, dict[str, list[int]]] = {}
    for case in cases:
        pair = counts.setdefault(case.skill_id, {}).setdefault(case.category, [0, 0])
        pair[0] += verdicts[case.opaque_id].passed
        pair[1] += 1
    return counts


def _violations_by_skill(cases: Sequence[Case], runs: Sequence[Mapping[str, Verdict]]) -> JsonObject:
    counts: dict[str, int] = {}
    for case in cases:
        hit = any(run[case.opaque_id].violated or run[case.opaque_id].malformed_forbidden for run in runs)
        if hit:
            counts[case.skill_id] = counts.get(case.skill_id, 0) + 1
    return counts


class _Part(msgspec.Struct, frozen=True):
    """One of the two files: which cases, bound to what, written where."""

    path: str
    cases: tuple[Case, ...]
    digests: Digests
    per_skill: dict[str, Digests]


class _Writer:
    def __init__(self, repository: Repository, plan: Plan, answers: _Answers, clock: Clock) -> None:
        self.repository = repository
        self.plan = plan
        self.answers = answers
        self.clock = clock
        self.moment = iso(clock())

    def _judged(self, cases: Sequence[Case], number: int) -> dict[str, Verdict]:
        return judge_all(cases, self.plan, self.answers.runs[number], self.answers.timeouts[number])

    def write(
        self, part: _Part, kept: _Kept, receipt_sha256: str | None, packages: Mapping[str, str]
    ) -> tuple[JsonObject, Counts]:
        """Ledger line, evidence and sidecar of one part."""
        untouched = {row["skillId"] for row in kept.rows}
        cases = [case for case in part.cases if case.skill_id not in untouched]
        runs = [self._judged(cases, number) for number in range(len(self.answers.runs))]
        verdicts = merged(runs)
        rows = _in_plan_order([*kept.rows, *evidence_rows(cases, verdicts)], part.cases)
        provider = self.answers.runs[0].provider_id
        document = evidence_document(rows, part.digests, provider, self.moment)
        if found := problems(EVIDENCE, document):
            raise BundleRefused(f"the evidence would not match its own schema: {summary(found)}")
        counts = counts_of(verdicts)
        passed_cases = [case for case in cases if verdicts[case.opaque_id].passed]
        birds = canary_counts(self.plan, [self._judged(self.plan.canaries, number) for number in range(len(runs))])
        doubts = (
            underivable_suspicion(underivable(self.plan, passed_cases), len(passed_cases)),
            recorded_canary_suspicion({"canaries": birds}),
        )
        head = append_ledger(
            self.repository.root,
            {
                "at": self.moment,
                "op": "score",
                "corpusSha256": part.digests.corpus,
                "oracleSha256": part.digests.oracle,
                "responsesSha256": self.answers.digests[0],
                "providerId": provider,
                "total": document["total"],
                "passed": document["passed"],
                "violations": document["forbiddenViolations"],
                "slices": _category_counts(cases, verdicts),
                "violationsBySkill": _violations_by_skill(cases, runs),
            },
        )
        data = indented(document)
        malformed = dict(kept.malformed)
        for case in cases:
            if any(run[case.opaque_id].malformed_forbidden for run in runs):
                malformed[case.skill_id] = malformed.get(case.skill_id, 0) + 1
        header = self.answers.header
        value = sidecar(
            evidence_sha256=sha256_hex(data),
            responses_sha256=self.answers.digests,
            receipt_sha256=receipt_sha256,
            per_skill=part.per_skill,
            malformed_forbidden=malformed,
            counts=counts.value(),
            config_sha256=self.repository.config.digest,
            thresholds=self.repository.config.thresholds,
            repository=repository_state(self.repository.root),
            packages=packages,
            ledger_head=head,
            suspicion=[doubt for doubt in doubts if doubt is not None],
            run=None if header is None else {key: item for key, item in header.items() if key != "op"},
            repeats=[*kept.repeats, *recorded(cases, runs)],
            canaries=birds,
        )
        key = signing_key()
        if key is not None:
            value = signed(value, key, sha256_hex(key)[:16])
        replace_file(part.path, data, keep_previous=True)
        replace_file(sidecar_path(part.path), indented(value))
        return document, counts


def package_digests(repository: Repository) -> dict[str, str]:
    """Per skill, one digest over every declared resource: what `bindResources` binds (spec 11 §16, W37)."""
    found: dict[str, str] = {}
    for skill_id, folder in repository.skills.items():
        lines = [f"{sha256_hex(item.data or b'')}  {item.path}\n" for item in folder.resources]
        found[skill_id] = sha256_hex("".join(sorted(lines)).encode())
    return found


def score(
    repository: Repository,
    paths: Sequence[str],
    *,
    out: str | None,
    arm: str,
    merge: bool,
    clock: Clock,
) -> Scored:
    """Score one or several response files of one provider. Raises `BundleRefused`, `RepositoryRefused`, `PathError`."""
    plan = arm_plan(repository, arm)
    answers = _read_answers(paths, plan)
    path = evidence_path(repository.root, out, BARE_NAME if arm == "bare" else EVIDENCE_NAME)
    kept = NOTHING_KEPT
    bound = plan.whole
    if merge:
        if arm == "bare" or plan.sealed.total:
            raise RepositoryRefused("--merge works on the open cases of the skill arm only")
        replaced = _answered_skills(plan, answers)
        kept = _kept(path, plan, replaced, clock)
        if kept.rows and kept.provider != answers.runs[0].provider_id:
            raise BundleRefused(f"--merge: the evidence is of another provider, {kept.provider}")
        chosen = [case for case in plan.cases if case.skill_id in replaced]
        bound = digests_of(chosen, plan.skills, repository.salt) if kept.rows else bound
    receipt_sha256, warnings = _receipt(repository, bound)
    writer = _Writer(repository, plan, answers, clock)
    packages = package_digests(repository)
    document, counts = writer.write(
        _Part(path, plan.open_cases, plan.open, plan.per_skill), kept, receipt_sha256, packages
    )
    sealed_path: str | None = None
    if plan.sealed.total:
        folder = holdout_folder(repository.root, repository.config.holdout_root)
        assert folder is not None  # sealed cases came from there
        sealed_path = os.path.join(folder, SEALED_NAME)
        part = _Part(sealed_path, plan.sealed_cases, plan.sealed, plan.per_skill_sealed)
        writer.write(part, NOTHING_KEPT, receipt_sha256, packages)
    if len(paths) < repository.config.repeats:
        warnings.append(f"{len(paths)} of {repository.config.repeats} configured repeats")
    return Scored(
        path,
        answers.runs[0].provider_id,
        document["total"],
        document["passed"],
        document["forbiddenViolations"],
        counts,
        tuple(warnings),
        sealed_path,
    )


def summary_value(scored: Scored, status: str) -> dict[str, Any]:
    """The payload of `score --json` (spec 11 §13.1)."""
    return {
        "evidencePath": scored.path,
        "providerId": scored.provider_id,
        "total": scored.total,
        "passed": scored.passed,
        "passRate": scored.passed / scored.total if scored.total else 0,
        "forbiddenViolations": scored.violations,
        "status": status,
        "missing": scored.counts.missing,
        "malformed": scored.counts.malformed,
        "timeout": scored.counts.timeout,
        "outOfVocabulary": scored.counts.out_of_vocabulary,
        "sealedEvidencePath": scored.sealed_path,
        "warnings": list(scored.warnings),
    }
