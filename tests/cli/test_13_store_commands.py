"""`capabilities` and `gc` (spec 13 §13.14, §13.18)."""

import json
from pathlib import Path

import pytest

from eval_quality.run.store import checks
from eval_quality.run.store.directory import Run
from eval_quality.run.store.layout import Store
from support.program import call

PLAN = "sha256:" + "5" * 64


def old_run(store: Store) -> Path:
    with store.create_run("notes", {}, lambda: 1_000_000_000_000) as run:
        run.journal.plan([], PLAN)
    return run.directory


def test_s13_18_the_report_as_text_and_as_a_document(tmp_path: Path) -> None:
    outcome = call("capabilities", "--store", tmp_path / "not" / "there")
    assert outcome.code == 0
    rows = [line.split(None, 2) for line in outcome.out.splitlines()]
    assert [row[0] for row in rows] == ["bwrap", "cgroups", "ingress", "limits", "store"]
    assert all(row[1] in ("available", "degraded", "unavailable") and row[2] for row in rows)
    assert not (tmp_path / "not").exists()
    document = json.loads(call("capabilities", "--store", tmp_path, "--json").out)
    assert document["kind"] == "capabilities"
    assert [line["name"] for line in document["lines"]] == [row[0] for row in rows]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("free", "state"), [(1 << 40, "available"), (1 << 29, "degraded"), (1, "unavailable")])
def test_s13_18_the_stores_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, free: int, state: str) -> None:
    monkeypatch.setattr(checks, "free_bytes", lambda _: free)
    document = json.loads(call("capabilities", "--store", tmp_path, "--json").out)
    assert document["lines"][-1]["state"] == state


def test_s13_14_gc_says_what_goes_and_removes_it(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "store")
    gone, kept, busy = (old_run(store) for _ in range(3))
    arguments = ("gc", "--store", store.root, "--keep-runs=0", "--keep", kept)
    with Run.open(busy):
        outcome = call(*arguments, "--dry-run")
        assert (outcome.code, outcome.out) == (0, f"{gone}\n")
        assert f"eval-quality: gc: {busy} is being written and stays" in outcome.lines
        assert "eval-quality: gc: would remove 1 runs, and 0 unused blobs (0 bytes)" in outcome.lines
        assert gone.exists()
        outcome = call(*arguments)
        assert (outcome.code, outcome.out) == (0, f"{gone}\n")
    assert (gone.exists(), kept.exists(), busy.exists()) == (False, True, True)
    outcome = call("gc", "--store", store.root)
    assert (outcome.code, outcome.out) == (0, "")


def test_s13_14_gc_without_a_store(tmp_path: Path) -> None:
    outcome = call("gc", "--store", tmp_path / "nothing")
    assert outcome.code == 5
    assert "store-unsupported" in outcome.err
    assert f"there is no store at {tmp_path / 'nothing'}" in outcome.err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("value", ["-1", "x", "", "1.5", "9" * 20])
def test_s13_14_gc_takes_plain_numbers(value: str) -> None:
    assert call("gc", f"--keep-days={value}").code == 64
