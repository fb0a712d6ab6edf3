"""`doctor`: one look over environment, skills, evidence, freshness and maturity (spec 11 §14).

Each check has a status, a message and, unless it passed, what to do next. Nothing is changed but by `--fix`, which
creates the state folder and touches nothing below `evals/`.
"""

import os
import platform
import shutil
import sys
from collections.abc import Sequence
from typing import Final

import msgspec

from eval_quality.app.behavior.lint import authoring_findings
from eval_quality.app.behavior.repository import Repository
from eval_quality.app.behavior.root import STATE_FOLDER
from eval_quality.app.behavior.sealed import COMMITMENTS_NAME
from eval_quality.app.behavior.status import Look, evidence_absent, look
from eval_quality.app.behavior.store import Clock, path_inside, replace_file, signing_key
from eval_quality.core.behavior.documents import SKILL_PACKAGE
from eval_quality.core.behavior.findings import ERROR, WARN, Finding, errors
from eval_quality.core.behavior.jsonish import JsonObject
from eval_quality.core.behavior.provenance import signature_problem
from eval_quality.core.behavior.standing import bundle_status
from eval_quality.core.behavior.words import FAIL, LEVELS, NOT_CHECKED, PASS

NOT_APPLICABLE: Final = "NOT_APPLICABLE"
MANIFEST_VERSION: Final = 2
MIN_PYTHON: Final = (3, 11)
SHOWN: Final = 10


class Check(msgspec.Struct, frozen=True):
    """One line of the report. `next_step` is empty for a check that needs nothing."""

    check_id: str
    status: str
    message: str
    next_step: str = ""

    def value(self) -> JsonObject:
        """The JSON form; `next` is additive."""
        value: JsonObject = {"id": self.check_id, "status": self.status, "message": self.message}
        return {**value, "next": self.next_step} if self.next_step else value


class Report(msgspec.Struct, frozen=True):
    """The whole report."""

    checks: tuple[Check, ...]
    skills: tuple[JsonObject, ...]

    @property
    def ok(self) -> bool:
        """Whether no check is ERROR or FAIL."""
        return all(check.status not in (ERROR, FAIL) for check in self.checks)

    def value(self) -> JsonObject:
        """The payload."""
        return {
            "schemaVersion": 1,
            "ok": self.ok,
            "checks": [check.value() for check in self.checks],
            "skills": list(self.skills),
        }


def _listed(items: Sequence[str]) -> str:
    more = f" and {len(items) - SHOWN} more" if len(items) > SHOWN else ""
    return ", ".join(items[:SHOWN]) + more


def _all(check_id: str, bad: Sequence[str], good: str, next_step: str, level: str = ERROR) -> Check:
    return Check(check_id, level, _listed(bad), next_step) if bad else Check(check_id, PASS, good)


def _of_findings(check_id: str, found: Sequence[Finding], good: str, next_step: str) -> Check:
    if not found:
        return Check(check_id, PASS, good)
    level = ERROR if errors(found) else WARN
    shown = errors(found) or list(found)
    lines = [f"{item.skill_id}: {item.where}: {item.message}" for item in shown[:3]]
    more = f" (and {len(shown) - 3} more)" if len(shown) > 3 else ""
    return Check(check_id, level, "; ".join(lines) + more, next_step)


def _environment() -> Check:
    running = platform.python_version()
    if sys.version_info < MIN_PYTHON:
        return Check("environment", ERROR, f"Python {running}", f"use Python {MIN_PYTHON[0]}.{MIN_PYTHON[1]} or later")
    missing = [name for name in ("git", "bwrap") if shutil.which(name) is None]
    note = f"; not found: {', '.join(missing)}" if missing else ""
    step = "install them: git gives revisions to provenance, bwrap hides the repository from providers"
    return Check("environment", WARN if missing else PASS, f"Python {running}{note}", step if missing else "")


def _registry(repository: Repository) -> Check:
    registry = repository.registry
    bad = [f"{finding.skill_id}: {finding.where}: {finding.message}" for finding in repository.identity_findings]
    bad += registry.problems
    bad += [f"registry entry without a skill: {key}" for key in registry.entries if key not in repository.skills]
    bad += [f"no such target: {target}" for target in registry.dangling(repository.ids)]
    if not repository.skills and not bad:
        step = "create a folder with a SKILL.md below skills/, or name the folders in .skill-evidence.json"
        return Check("skill-registry", NOT_APPLICABLE, "no skill found", step)
    return _all("skill-registry", bad, f"{len(repository.skills)} skills", "fix the entries named")


def _structure(repository: Repository) -> list[Check]:
    packages = [folder for folder in repository.skills.values() if folder.profile == "package"]
    folders = list(repository.skills.values())
    checks: list[Check] = []
    if packages:
        bad = [f"{item.skill_id}: {'; '.join(item.manifest_errors)}" for item in packages if item.manifest_errors]
        good = f"{len(packages)} manifests load"
        checks.append(_all("skill-package-manifest", bad, good, "correct skill.package.json"))
    else:
        checks.append(Check("skill-package-manifest", NOT_APPLICABLE, "plain SKILL.md folders have no manifest"))
    broken = [f"{item.skill_id}: {item.errors[0]}" for item in folders if item.errors]
    checks.append(_all("skill-package-resources", broken, f"{len(folders)} packages validate", "fix the files named"))
    if packages:
        bad = [item.skill_id for item in packages if item.manifest is not None and not item.of_kind("agents")]
        checks.append(_all("skill-package-agents", bad, "every package declares an agent file", "add agents/*.yaml"))
    else:
        checks.append(Check("skill-package-agents", NOT_APPLICABLE, "plain SKILL.md folders declare no agents"))
    silent = [key for key in repository.ids if not repository.scenarios_of(key)]
    good = "every skill has scenarios; this is structural evidence only"
    step = "write scenarios (behavior-eval init drafts them)"
    level = ERROR if any(repository.skills[key].profile == "package" for key in silent) else WARN
    checks.append(_all("skill-package-evals", silent, good, step, level))
    return checks


def _parity() -> Check:
    versions = SKILL_PACKAGE["properties"]["schemaVersion"]["enum"]
    good = versions == [MANIFEST_VERSION]
    return Check(
        "schema-runtime-parity",
        PASS if good else ERROR,
        f"the manifest schema reads version {', '.join(map(str, versions))}",
        "" if good else "regenerate schemas/behavior",
    )


def _commitments(repository: Repository) -> Check:
    """Sealed commitments, and the `.sha256` companions of committed holdout files (spec 11 §1.1)."""
    import hashlib

    from eval_quality.app.behavior.reading import Unreadable, listing, read_below

    folder = "evals/holdouts"
    bad = [f"{item.skill_id}: {item.message}" for item in repository.sealed.findings]
    seen = len(repository.sealed.committed)
    for entry in listing(os.path.join(repository.root, folder)):
        if not entry.name.endswith(".sha256"):
            continue
        seen += 1
        try:
            line = read_below(repository.root, f"{folder}/{entry.name}", 4096).decode("utf-8", "replace")
            digest, _, path = line.strip().partition("  ")
            if hashlib.sha256(read_below(repository.root, path)).hexdigest() != digest:
                bad.append(f"{path}: the file is not the recorded one")
        except Unreadable as error:
            bad.append(f"{entry.name}: {error}")
    if not seen and not bad:
        return Check("holdout-commitments", NOT_APPLICABLE, "no committed holdout")
    step = f"restore the file, or record the new digest ({COMMITMENTS_NAME}) and run again"
    return _all("holdout-commitments", bad, f"{seen} holdout files are the recorded ones", step)


def _evidence(repository: Repository, seen: Look) -> list[Check]:
    status, fresh, reason = bundle_status(seen.records, seen.evidence)
    run = "behavior-eval export --out requests.json, run it through a provider, behavior-eval score"
    checks = [Check("evidence-file", PASS if fresh else NOT_CHECKED, reason, "" if status == PASS or fresh else run)]
    if evidence_absent(seen):
        checks.append(Check("evidence-provenance", NOT_CHECKED, "no evidence", run))
        return checks
    problem = seen.sidecar.problem or seen.ledger.problem
    if problem is None and "signature" in (seen.sidecar.value or {}):
        problem = signature_problem(seen.sidecar.value or {}, signing_key())
    good = "the sidecar belongs to the evidence and the run ledger is whole"
    step = "score the answers again; freshness is judged for the whole corpus until then"
    checks.append(
        Check("evidence-provenance", WARN, problem, step) if problem else Check("evidence-provenance", PASS, good)
    )
    return checks


def _maturity(seen: Look) -> Check:
    levels = {name: sum(record.maturity == name for record in seen.records) for name in LEVELS}
    statuses = [record.standing.status for record in seen.records]
    counts = {name: statuses.count(name) for name in (PASS, FAIL, NOT_CHECKED)}
    open_ids = [
        f"{record.skill_id} ({record.reason.partition(':')[0] or record.standing.status})"
        for record in seen.records
        if record.standing.status != PASS
    ]
    shape = ", ".join(f'"{name}": {number}' for name, number in levels.items())
    message = "{" + shape + "}; " + ", ".join(f"{number} {name}" for name, number in counts.items())
    if open_ids:
        message += f"; open: {_listed(open_ids)}"
    status = FAIL if counts[FAIL] else NOT_CHECKED if counts[NOT_CHECKED] or not statuses else PASS
    steps = {
        FAIL: "read behavior-eval status --json, mend the skill or its scenarios, and run again",
        NOT_CHECKED: "export, run a provider and score: NOT_CHECKED is not a soft PASS",
        PASS: "",
    }
    return Check("behavioral-maturity", status, message, steps[status])


def _gates(seen: Look) -> Check:
    if not seen.gates:
        return Check("enterprise-gates", NOT_APPLICABLE, "no gate configured: M5 is out of reach")
    bad = [f"{gate}: {problem}" for gate, problem in seen.gates if problem is not None]
    if bad:
        return Check("enterprise-gates", NOT_CHECKED, _listed(bad), "run the gates named for the current revision")
    return Check("enterprise-gates", PASS, f"{len(seen.gates)} gates pass")


def _battery(seen: Look) -> Check:
    bad = [
        f"{record.skill_id} ({', '.join(record.standing.degenerate)})"
        for record in seen.records
        if record.standing.degenerate
    ]
    step = "add families whose right answers differ: one answer must not fit them all"
    if bad:
        return Check("degenerate-battery", WARN, f"held at M3: {_listed(bad)}", step)
    return Check("degenerate-battery", PASS, "no degenerate answer lowers a level")


def fix(root: str) -> list[str]:
    """Create the state folder with its `.gitignore`; returns what was created."""
    path = path_inside(root, f"{STATE_FOLDER}/.gitignore")
    if os.path.lexists(path):
        return []
    replace_file(path, b"salt\n")
    return [f"{STATE_FOLDER}/.gitignore"]


def examine(repository: Repository, clock: Clock, *, allow_exec: bool = False) -> Report:
    """Run every check once."""
    seen = look(repository, clock, allow_exec=allow_exec)
    scan_ready = not repository.corpus_errors
    leak = (
        _of_findings(
            "bundle-leak-scan", repository.leak_findings, "an export would leak nothing", "fix what lint names"
        )
        if scan_ready
        else Check("bundle-leak-scan", NOT_CHECKED, "the corpus is not sound", "fix corpus-integrity first")
    )
    step = "run behavior-eval lint and fix what it names"
    checks = (
        _environment(),
        _registry(repository),
        *_structure(repository),
        _parity(),
        _of_findings("skill-authoring-lint", authoring_findings(repository), "no authoring finding", step),
        _of_findings("corpus-integrity", repository.corpus_findings, "the scenario corpus is sound", step),
        leak,
        _commitments(repository),
        *_evidence(repository, seen),
        _maturity(seen),
        _battery(seen),
        _gates(seen),
        Check(
            "release-runtime-evidence",
            NOT_CHECKED,
            "configuration is not execution: nothing here shows how the skills behave in a host",
            "observe the skills in the host they are released for",
        ),
    )
    return Report(checks, tuple(record.value() for record in seen.records))
