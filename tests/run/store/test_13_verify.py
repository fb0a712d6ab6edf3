"""Whether a run directory still is what was written (spec 13 §13.7.4), and collection (§13.14)."""

import os
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from eval_quality.run.errors import RunFault
from eval_quality.run.store.collect import ABANDONED_MS, collect
from eval_quality.run.store.directory import Run
from eval_quality.run.store.journal import Item
from eval_quality.run.store.layout import Store
from eval_quality.run.store.lock import Lock
from eval_quality.run.store.verify import verify_run

PLAN = "sha256:" + "4" * 64
DAY = 86_400_000
NOW = 1_800_000_000_000


@pytest.fixture
def done(tmp_path: Path) -> Path:
    """A finished run with two captures, an attachment, two views and three events."""
    with Run.create(tmp_path / "run", {}) as run:
        run.journal.plan([Item("t/1", "trial"), Item("t/2", "trial")], PLAN)
        for state in ("qualifying", "measuring"):
            run.journal.enter(state)
        for name in ("t/1", "t/2"):
            token = run.journal.begin(name)
            blob = run.blobs.put(name.encode() + b" transcript", private=True)
            run.journal.capture(token, {"name": name}, {"wall": 1}, {"transcript": blob})
            run.journal.event("item.captured", {"itemId": name})
        run.publish_json("summary.json", {"a": 1}, "Summary")
        run.publish_json("cells/one.json", {"b": 1}, "Record")
        run.journal.event("run.finished")
        for state in ("sealing", "done"):
            run.journal.enter(state)
    return tmp_path / "run"


def sql(directory: Path, *statements: str) -> None:
    db = sqlite3.connect(directory / "journal.sqlite3")
    for trigger in ("capture_final", "capture_keep"):
        db.execute(f"DROP TRIGGER IF EXISTS {trigger}")
    for statement in statements:
        db.execute(statement)
    db.commit()
    db.close()


def test_s13_7_4_a_sound_run(done: Path) -> None:
    found = verify_run(done)
    assert found.damage == ()
    assert (found.state, found.items, found.captures, found.blobs, found.artifacts) == ("done", 2, 2, 4, 2)
    assert found.orphans == ()


def blob(directory: Path, place: str) -> Path:
    return sorted((directory / place).glob("*/*"))[0]


def change(path: Path) -> None:
    path.chmod(0o644)
    path.write_bytes(path.read_bytes()[:-1] + b"X")


DAMAGES: list[tuple[str, Callable[[Path], object], str]] = [
    ("a lost view", lambda d: (d / "summary.json").unlink(), "view-lost Artifact[summary.json]: its file is missing"),
    ("a changed view", lambda d: change(d / "summary.json"), "view-lost Artifact[summary.json]: its file was changed"),
    ("a changed blob", lambda d: change(blob(d, "blobs")), "its content has another digest"),
    ("a lost blob", lambda d: blob(d, "private/blobs").unlink(), "it is missing, and something refers to it"),
    (
        "another body",
        lambda d: sql(d, "UPDATE capture SET body = x'7b7d' WHERE item_id = 't/1'"),
        "store-corrupt Capture[t/1]: its body has another digest than was recorded",
    ),
    (
        "another measurement",
        lambda d: sql(d, "UPDATE capture SET measured = x'7b7d' WHERE item_id = 't/2'"),
        "store-corrupt Capture[t/2]: its measured part has another digest than was recorded",
    ),
    (
        "a capture taken away",
        lambda d: sql(d, "DELETE FROM attachment", "DELETE FROM capture WHERE item_id = 't/1'"),
        "store-corrupt Item[t/1]: a captured item has no capture",
    ),
    (
        "an item set back",
        lambda d: sql(d, "UPDATE item SET state = 'planned' WHERE item_id = 't/1'"),
        "store-corrupt Item[t/1]: a capture belongs to an item that is not captured",
    ),
    (
        "an attempt set back",
        lambda d: sql(d, "UPDATE attempt SET state = 'void' WHERE item_id = 't/1'"),
        "store-corrupt Item[t/1]: a capture is not of a captured attempt",
    ),
    (
        "two captured attempts",
        lambda d: sql(
            d,
            "INSERT INTO attempt SELECT item_id, 2, 'x', invocation_id, state, 0, 0, 0, '', '' FROM attempt"
            " WHERE item_id = 't/1'",
        ),
        "store-corrupt Item[t/1]: an item has more than one captured attempt",
    ),
    (
        "a view outside",
        lambda d: sql(d, "UPDATE artifact SET name = '../outside' WHERE name = 'summary.json'"),
        "store-corrupt Journal: '../outside' is no name of a view",
    ),
    (
        "an item that runs by itself",
        lambda d: sql(d, "UPDATE item SET state = 'running' WHERE item_id = 't/1'"),
        "store-corrupt Item[t/1]: an item runs without a running attempt",
    ),
    (
        "a done run with work left",
        lambda d: sql(d, "INSERT INTO item VALUES ('t/3', 3, 'trial', 'planned', 0, 0)"),
        "store-corrupt Item[t/3]: the run is done and the item is not",
    ),
    (
        "a lost event",
        lambda d: sql(d, "DELETE FROM event WHERE seq = 2"),
        "store-corrupt Journal: 2 events are numbered 1 to 3",
    ),
]


@pytest.mark.parametrize(("name", "damage", "expected"), DAMAGES, ids=[name for name, _, _ in DAMAGES])
def test_s13_7_4_damage_is_found_and_named(
    done: Path, name: str, damage: Callable[[Path], object], expected: str
) -> None:
    damage(done)
    lines = [f"{found.code} {found.path}: {found.detail}" for found in verify_run(done).damage]
    assert any(expected in line for line in lines), (name, lines)


def code_of(directory: Path) -> str | None:
    """The code of the fault that ended a verification; None when it came to an end."""
    try:
        verify_run(directory)
    except RunFault as fault:
        return fault.problems[0].code
    return None


def test_s13_7_4_any_changed_page_of_the_journal_is_noticed(done: Path) -> None:
    path = done / "journal.sqlite3"
    data = path.read_bytes()
    for at in range(100, len(data), max(1, len(data) // 40)):
        path.write_bytes(data[:at] + bytes([data[at] ^ 0xFF]) + data[at + 1 :])
        assert code_of(done) in (None, "store-corrupt", "store-unsupported")
    path.write_bytes(data)
    assert verify_run(done).damage == ()
    path.write_bytes(data[: len(data) // 2])
    assert code_of(done) == "store-corrupt" or verify_run(done).damage != ()


def test_s13_7_4_orphans_do_no_harm_and_are_counted(done: Path) -> None:
    sql(done, "DELETE FROM attachment WHERE item_id = 't/1'")
    found = verify_run(done)
    assert found.damage == ()
    assert len(found.orphans) == 1


def test_s13_7_4_verifying_changes_nothing(done: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in done.rglob("*")}
    verify_run(done)
    assert {path: path.stat().st_mtime_ns for path in done.rglob("*")} == before


def test_s13_7_4_after_a_crash_the_log_is_read(done: Path, tmp_path: Path) -> None:
    with Run.create(tmp_path / "crashed", {}) as run:
        run.journal.plan([Item("t/1", "trial")], PLAN)
        run.journal.capture(run.journal.begin("t/1"), {}, {})
        # What a killed process leaves: the file, its log, no orderly end.
        copy = tmp_path / "copy"
        copy.mkdir()
        for name in ("run.json", "journal.sqlite3", "journal.sqlite3-wal"):
            (copy / name).write_bytes((run.directory / name).read_bytes())
        (copy / "lock").touch()
    assert verify_run(copy).captures == 1


# -- collection --


class Shelf:
    """A store whose runs have the ages a test wants, in days before `NOW`."""

    def __init__(self, root: Path) -> None:
        self.store = Store.open(root)

    def add(self, age: float, experiment: str = "notes", planned: bool = True, **header: object) -> Path:
        with self.store.create_run(experiment, header, lambda: NOW - int(age * DAY)) as run:
            if planned:
                run.journal.plan([], PLAN)
        return run.directory

    def collect(self, **options: object) -> tuple[set[Path], set[Path]]:
        found = collect(self.store, NOW, **options)  # type: ignore[arg-type]
        return set(found.removed), {run.path for run in self.store.runs()}


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    return Shelf(tmp_path / "store")


def test_s13_14_old_runs_beyond_the_newest_are_removed(shelf: Shelf) -> None:
    old = [shelf.add(age) for age in (100, 101, 102)]
    young = shelf.add(1)
    other = shelf.add(400, "another-experiment")
    removed, left = shelf.collect(keep_runs=2, keep_days=90, dry_run=True)
    assert removed == {old[1], old[2]}
    assert left == {*old, young, other}
    removed, left = shelf.collect(keep_runs=2, keep_days=90)
    assert removed == {old[1], old[2]}
    assert left == {old[0], young, other}
    assert not (shelf.store.root / "trash").exists() or not list((shelf.store.root / "trash").iterdir())
    assert shelf.collect(keep_runs=0, keep_days=90)[1] == {young}


def test_s13_14_named_runs_and_parents_stay(shelf: Shelf) -> None:
    parent, named, lonely = (shelf.add(age) for age in (300, 301, 302))
    identity = next(run.header for run in shelf.store.runs() if run.path == parent)
    assert identity is not None
    child = shelf.add(1, parentRun={"runDirectoryId": identity["runDirectoryId"]})
    removed, left = shelf.collect(keep_runs=0, keep=[named])
    assert removed == {lonely}
    assert left == {parent, named, child}


def test_t13_30_a_run_that_is_written_stays(shelf: Shelf) -> None:
    busy = shelf.add(300)
    with Run.open(busy) as run:
        found = collect(shelf.store, NOW, keep_runs=0)
        assert found.removed == ()
        assert found.locked == (busy,)
        run.journal.event("still works")
    assert shelf.collect(keep_runs=0)[0] == {busy}
    with pytest.raises(RunFault, match="resume-refused"):
        Run.open(busy)


def test_s13_6_2_a_run_that_never_was_is_removed_after_an_hour(shelf: Shelf) -> None:
    unplanned = shelf.add(2 * ABANDONED_MS / DAY, planned=False)
    fresh = shelf.add(0, planned=False)
    cut_short, just_begun = (shelf.store.root / "runs" / "notes" / name for name in ("cut-short", "just-begun"))
    for path, age in ((cut_short, 2 * ABANDONED_MS), (just_begun, 0)):
        path.mkdir()
        (path / "tmp").mkdir()
        os.utime(path, ns=((NOW - age) * 1_000_000,) * 2)
    removed, left = shelf.collect()
    assert removed == {unplanned, cut_short}
    assert left == {fresh, just_begun}


def test_s13_14_orphan_blobs_go_and_referenced_ones_stay(shelf: Shelf) -> None:
    with shelf.store.create_run("notes", {}, lambda: NOW) as run:
        run.journal.plan([Item("t/1", "trial")], PLAN)
        kept = run.blobs.put(b"attached", private=True)
        run.journal.capture(run.journal.begin("t/1"), {}, {}, {"x": kept})
        run.publish_json("summary.json", {}, "Summary")
        orphan = run.blobs.put(b"twelve bytes")
    found = collect(shelf.store, NOW, dry_run=True)
    assert (found.orphans, found.orphan_bytes) == (1, 12)
    assert run.blobs.path(orphan) is not None
    assert collect(shelf.store, NOW).orphans == 1
    assert run.blobs.path(orphan) is None
    assert run.blobs.path(kept) is not None
    assert verify_run(run.directory).damage == ()


def test_s13_14_damage_is_not_collected(shelf: Shelf) -> None:
    path = shelf.add(1)
    (path / "journal.sqlite3").write_bytes(b"damaged")
    lost = shelf.add(1)
    (lost / "journal.sqlite3").unlink()
    with Lock.look(shelf.add(1) / "lock"):
        found = collect(shelf.store, NOW)
    assert (found.removed, found.orphans) == ((), 0)
    assert path.exists()
    assert lost.exists()


def test_s13_14_an_interrupted_collection_leaves_the_whole_run_or_none(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    doomed = shelf.add(300)

    def interrupted(_: Path) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("eval_quality.run.store.collect.remove_tree", interrupted)
        with pytest.raises(KeyboardInterrupt):
            collect(shelf.store, NOW, keep_runs=0)
    assert not doomed.exists()
    assert len(list((shelf.store.root / "trash").iterdir())) == 1
    collect(shelf.store, NOW)
    assert list((shelf.store.root / "trash").iterdir()) == []
