"""Export, score and status of 100 skills with 40 cases each, against reading and hashing the same files.

    python benchmarks/skills.py [SKILLS] [FAMILIES]

"The same files" are all files the three commands read or write: skills, scenarios, the bundle, the answers, the
evidence and its sidecar. To read and hash one is to scan its JSON strictly and take the SHA-256 of its canonical text
(for a Markdown file: of its bytes), which is what any honest binding of evidence to content has to do at least once.
The raw ratio, against nothing but reading bytes and SHA-256, is printed beside it. Times are processor time, best of
three.
"""

import json
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from eval_quality.app.behavior.export import build_bundle, write_bundle
from eval_quality.app.behavior.repository import Repository
from eval_quality.app.behavior.scoring import score
from eval_quality.app.behavior.status import look, payload
from eval_quality.core.behavior.digests import canonical, sha256_hex
from eval_quality.core.behavior.frame import response_bundle
from eval_quality.value.scan import scan

RUNS = 3
TARGET = 5.0
VERBS = ("inspect", "repair", "publish", "measure", "archive", "compare", "restore", "approve")


def clock() -> datetime:
    return datetime.now(UTC)


def build(root: Path, skills: int, families: int) -> None:
    """A repository of synthetic skills, each with an instruction of about 5 KB."""
    for index in range(skills):
        folder = root / "skills" / f"skill-{index:03d}"
        (folder / "evals").mkdir(parents=True)
        rules = "\n".join(f"- Rule {number}: decide matter {number} of {index} with care." for number in range(90))
        header = f"---\nname: skill-{index:03d}\ndescription: Decides matter {index}.\n---\n"
        (folder / "SKILL.md").write_text(f"{header}\n# Skill {index}\n\n{rules}\n")
        rows = [
            {
                "id": f"s{index}-f{number}",
                "description": "A note of the author that stays here.",
                "given": {"intent": f"{VERBS[number % 8]} item {number} of {index}", "attempt": number},
                "expected": {"action": f"{VERBS[number % 8]}-{index}-{number}", "gates": ["checked"]},
                "forbidden": {"action": f"{VERBS[(number + 3) % 8]}-{index}-{number + 500}"},
            }
            for number in range(families)
        ]
        (folder / "evals" / "scenarios.json").write_text(json.dumps(rows, indent=2))


def commands(root: Path) -> None:
    """What three invocations do, each reading everything anew."""
    repository = Repository.open(str(root))
    write_bundle(repository, build_bundle(repository, (), "skill"), str(root / "requests.json"), "skill", clock)
    repository = Repository.open(str(root))
    score(repository, [str(root / "responses.json")], out=None, arm="skill", merge=False, clock=clock)
    repository = Repository.open(str(root))
    status = payload(repository, look(repository, clock))
    assert status["status"] == "PASS", status["reason"]


def files(root: Path) -> list[Path]:
    return [path for path in sorted(root.rglob("*")) if path.is_file() and path.suffix in (".json", ".md")]


def read_and_hash(root: Path) -> None:
    for path in files(root):
        data = path.read_bytes()
        sha256_hex(canonical(scan(data, "X")) if path.suffix == ".json" else data)


def read_and_hash_bytes(root: Path) -> None:
    for path in files(root):
        sha256_hex(path.read_bytes())


def best(work: Callable[[Path], None], root: Path) -> float:
    times: list[float] = []
    for _ in range(RUNS):
        begun = time.process_time()
        work(root)
        times.append(time.process_time() - begun)
    return min(times)


def main() -> None:
    skills = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    families = int(sys.argv[2]) if len(sys.argv) > 2 else 8
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        build(root, skills, families)
        plan = Repository.open(str(root)).plan
        answers = {case.opaque_id: dict(case.expected) for case in plan.cases}
        (root / "responses.json").write_text(json.dumps(response_bundle("model", answers)))
        commands(root)
        size = sum(path.stat().st_size for path in files(root))
        ours, strict, raw = best(commands, root), best(read_and_hash, root), best(read_and_hash_bytes, root)
    print(f"{skills} skills x {families * 5} cases, {size / 1e6:.1f} MB in files")
    print(f"export + score + status   {ours:.3f} s")
    print(f"scan and hash the files   {strict:.3f} s   ratio {ours / strict:.2f} (target {TARGET:.0f})")
    print(f"SHA-256 of their bytes    {raw:.3f} s   ratio {ours / raw:.1f}")


if __name__ == "__main__":
    main()
