"""The notes service example: captured again from running services, scored again, compared byte for byte."""

import filecmp
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples" / "notes-api"
CAPTURED = (
    "captures",
    "probes",
    "probes.json",
    "observations.json",
    "evaluator-configuration.json",
    "runs",
    "response-only",
)


def run(script: str, *arguments: str) -> str:
    finished = subprocess.run(
        [sys.executable, EXAMPLE / script, *arguments], capture_output=True, text=True, check=False, timeout=120
    )
    assert finished.returncode == 0, finished.stderr
    return finished.stdout


def files(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def committed() -> list[str]:
    found: list[str] = []
    for name in CAPTURED:
        path = EXAMPLE / name
        found += [f"{name}/{inner}" for inner in files(path)] if path.is_dir() else [name]
    return sorted(found)


def test_the_captures_are_what_the_services_answer_today(tmp_path: Path) -> None:
    run("capture.py", "--out", str(tmp_path))
    assert files(tmp_path) == committed()
    _, different, missing = filecmp.cmpfiles(EXAMPLE, tmp_path, committed(), shallow=False)
    assert (different, missing) == ([], [])


def test_the_artifacts_are_what_the_commands_write_today(tmp_path: Path) -> None:
    run("chain.py", "--out", str(tmp_path))
    expected = files(EXAMPLE / "expected")
    assert files(tmp_path) == expected
    _, different, missing = filecmp.cmpfiles(EXAMPLE / "expected", tmp_path, expected, shallow=False)
    assert (different, missing) == ([], [])


def test_the_planted_defect_is_one_exact_line() -> None:
    mutation = tomllib.loads((EXAMPLE / "mutations" / "forgets-changes.toml").read_text(encoding="utf-8"))
    source = (EXAMPLE / "service" / mutation["file"]).read_text(encoding="utf-8")
    assert source.count(mutation["find"]) == 1
    assert "\n" not in mutation["find"] + mutation["replace"]


@pytest.mark.slow
def test_the_demo_tells_what_was_caught_and_why(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, EXAMPLE / "demo.py"], cwd=tmp_path, capture_output=True, text=True, timeout=240, check=True
    )
    told, pages = done.stdout.splitlines(), done.stderr.splitlines()
    for expected in (
        "    - self.notes[note_id] = updated",
        "    + self.notes[note_id] = note",
        "== A contract that reads back what was written",
        "== The same, believing what the service answers",
    ):
        assert expected in told
    for expected in (
        "  P-001  CAUGHT        the planted defect was detected on evidence that shows it",
        "         O-001 violated: obs-1, obs-2 response-body says Groceries",
        "  P-002  QUIET         the clean system was not accused",
        "  P-001  MISSED        the defect was there and nothing in the contract's designated oracle saw it",
        "         it shows in obs-2, where these oracles held: O-002, O-003, O-004",
        "         verdict FAIL: oracle O-002 resolved missed at or above the severity floor",
        "  strength defect: 1 of 1 caught, rate 1.00, Wilson 95 % 0.21 to 1.00",
        "  strength defect: 0 of 1 caught, rate 0.00, Wilson 95 % 0.00 to 0.79",
    ):
        assert expected in pages


@pytest.mark.parametrize(
    "change", ["a title that is no string", "unknown keys", "no object", "no JSON", "no such note"]
)
def test_the_service_refuses_what_it_should(change: str) -> None:
    sys.path.insert(0, str(EXAMPLE / "service"))
    try:
        from notes_api import Store
    finally:
        sys.path.pop(0)
    store = Store()
    before = {name: dict(note) for name, note in store.notes.items()}
    status, body = {
        "a title that is no string": lambda: store.change("n-1", {"title": 1}),
        "unknown keys": lambda: store.change("n-1", {"colour": "red"}),
        "no object": lambda: store.change("n-1", []),
        "no JSON": lambda: store.change("n-1", None),
        "no such note": lambda: store.change("n-9", {"title": "x"}),
    }[change]()
    assert (status, body["ok"], store.notes) == (404 if change == "no such note" else 400, False, before)
