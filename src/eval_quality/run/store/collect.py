"""Removing what nobody needs any more (spec 13 §13.14).

A run directory is removed when all of this holds:

1. its experiment has `keep_runs` newer ones, and it is older than `keep_days`; a directory that never became a planned
   run only has to be older than `ABANDONED_MS`;
2. it is not named by the caller, and no run that stays names it as its parent;
3. nobody is writing it.

It is renamed into the trash first and deleted there, so that an interrupted collection leaves the whole run or none.
Then blobs that nothing refers to are removed from the runs that stay.
"""

import secrets
import sqlite3
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from eval_quality.run.errors import RunFault
from eval_quality.run.store.blobs import Blobs
from eval_quality.run.store.directory import JOURNAL, LOCK
from eval_quality.run.store.files import empty_folder, faults, remove_tree
from eval_quality.run.store.layout import TRASH, RunDirectory, Store
from eval_quality.run.store.lock import Lock
from eval_quality.run.store.verify import read_journal, referenced_blobs

KEEP_RUNS: Final = 50
KEEP_DAYS: Final = 90
ABANDONED_MS: Final = 3_600_000
"""A directory whose creation was cut short is left alone for an hour: its process may still be at it."""
_DAY_MS: Final = 86_400_000


class Collected(NamedTuple):
    """What was removed, or would be: run directories, orphan blobs with their bytes, and runs left because of a
    lock."""

    removed: tuple[Path, ...]
    orphans: int
    orphan_bytes: int
    locked: tuple[Path, ...]


def collect(
    store: Store,
    now_ms: int,
    keep_runs: int = KEEP_RUNS,
    keep_days: int = KEEP_DAYS,
    keep: Collection[Path] = (),
    dry_run: bool = False,
) -> Collected:
    """Collect a store. Raises `RunFault` when the store cannot be read or written."""
    runs = store.runs()
    doomed = _doomed(runs, now_ms, keep_runs, keep_days, {path.resolve() for path in keep})
    removed: list[Path] = []
    locked: list[Path] = []
    trash = store.root / TRASH
    for run in runs:
        if run.path in doomed:
            (removed if _remove(run.path, trash, now_ms, dry_run) else locked).append(run.path)
    orphans = size = 0
    for run in runs:
        if run.path not in doomed and run.header is not None:
            found, space = _sweep(run.path, now_ms, dry_run)
            orphans += found
            size += space
    if not dry_run and trash.is_dir():
        with faults("trash"):
            empty_folder(trash)
    return Collected(tuple(removed), orphans, size, tuple(locked))


def _doomed(
    runs: Collection[RunDirectory], now_ms: int, keep_runs: int, keep_days: int, kept: Collection[Path]
) -> set[Path]:
    doomed: set[Path] = set()
    by_experiment: dict[str, list[RunDirectory]] = {}
    for run in runs:
        if run.path.resolve() in kept:
            continue
        if run.header is None:
            if now_ms - run.path.stat().st_mtime_ns // 1_000_000 > ABANDONED_MS:
                doomed.add(run.path)
            continue
        by_experiment.setdefault(run.experiment_id, []).append(run)
    for listed in by_experiment.values():
        listed.sort(key=lambda run: (_created(run.header), run.path.name), reverse=True)
        for rank, run in enumerate(listed):
            age = now_ms - _created(run.header)
            old = age > keep_days * _DAY_MS
            if (rank >= keep_runs and old) or (age > ABANDONED_MS and _was_never_planned(run.path)):
                doomed.add(run.path)
    while True:
        parents = {_parent(run.header) for run in runs if run.path not in doomed}
        condemned = [run for run in runs if run.path in doomed and run.header is not None]
        saved = {run.path for run in condemned if run.header and run.header["runDirectoryId"] in parents}
        if not saved:
            return doomed
        doomed -= saved


def _created(header: Mapping[str, Any] | None) -> int:
    return header["createdMs"] if header is not None else 0


def _parent(header: Mapping[str, Any] | None) -> str | None:
    parent = header.get("parentRun") if header is not None else None
    return parent["runDirectoryId"] if parent else None


def _was_never_planned(path: Path) -> bool:
    try:
        db = read_journal(path)
        try:
            return db.execute("SELECT 1 FROM meta WHERE key = 'planDigest'").fetchone() is None
        finally:
            db.close()
    except (RunFault, sqlite3.Error, ValueError):
        return False  # damage is for `verify` to tell, not for us to remove


def _remove(path: Path, trash: Path, now_ms: int, dry_run: bool) -> bool:
    """Remove a run directory; False when somebody is writing it."""
    try:
        lock = Lock.take(path / LOCK, now_ms)
    except RunFault as fault:
        if fault.problems[0].code == "store-locked":
            return False
        raise
    with lock, faults("run directory"):
        if not dry_run:
            trash.mkdir(mode=0o700, exist_ok=True)
            target = trash / f"{path.parent.name}-{path.name}-{secrets.token_hex(4)}"
            path.rename(target)
            remove_tree(target)
    return True


def _sweep(path: Path, now_ms: int, dry_run: bool) -> tuple[int, int]:
    """Remove blobs that nothing refers to from a run that nobody is writing: how many, and their bytes."""
    try:
        lock = Lock.take(path / LOCK, now_ms)
    except RunFault:
        return 0, 0
    found = size = 0
    with lock, faults("blob"):
        if not (path / JOURNAL).exists():
            return 0, 0
        try:
            db = read_journal(path)
            try:
                referenced = referenced_blobs(db)
            finally:
                db.close()
        except (RunFault, sqlite3.Error, ValueError):
            return 0, 0
        for digest, blob in Blobs(path).all():
            if digest not in referenced:
                found += 1
                size += blob.stat().st_size
                if not dry_run:
                    blob.unlink()
    return found, size
