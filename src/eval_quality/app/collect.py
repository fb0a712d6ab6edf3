"""Removing runs that nobody needs any more (spec 13 §13.14)."""

from collections.abc import Sequence
from pathlib import Path

from eval_quality.run.store.collect import Collected, collect
from eval_quality.run.store.directory import wall_ms
from eval_quality.run.store.layout import Store


def collect_store(store: str, keep_runs: int, keep_days: int, keep: Sequence[str], dry_run: bool) -> Collected:
    """Collect the store at a path. Raises `RunFault` where there is none, or where it cannot be written."""
    kept = tuple(Path(path) for path in keep)
    return collect(Store.existing(Path(store)), wall_ms(), keep_runs, keep_days, kept, dry_run)
