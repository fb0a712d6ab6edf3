"""A store: the folder that many runs of many experiments share (spec 13 §13.2, §13.3).

```
<store>/store.json
<store>/runs/<experimentId>/<YYYYMMDD>T<HHMMSS>Z-<6 hex>/     one run directory each
```

Runs never touch each other, so any number may be written at the same time. Creation is exclusive: two starts in one
second get two directories.
"""

import secrets
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, NamedTuple

from eval_quality.run.errors import RunFault
from eval_quality.run.store import checks
from eval_quality.run.store.directory import Clock, Run, read_header, wall_ms
from eval_quality.run.store.files import faults
from eval_quality.value.canonical import canonicalize

MARKER: Final = "store.json"
TRASH: Final = "trash"
STORE_VERSION: Final = 1


class RunDirectory(NamedTuple):
    """A run directory as it stands: its path, its experiment, and its header (None while it is incomplete)."""

    path: Path
    experiment_id: str
    header: Mapping[str, Any] | None


class Store:
    """The root of run directories."""

    def __init__(self, root: Path, warning: str | None = None) -> None:
        self.root = root
        self.warning = warning

    @classmethod
    def open(cls, root: Path, unsafe: bool = False, clock: Clock = wall_ms) -> "Store":
        """Open a store, or make one, after finding out that this place can hold it.

        unsafe: accept a network file system. `Store.warning` says when space runs short. Raises `RunFault`
        (`store-unsupported`, `store-full`).
        """
        checks.check_place(root.absolute())
        with faults("store"):
            root.mkdir(parents=True, exist_ok=True)
        if not unsafe:
            checks.check_file_system(root)
        checks.check_working(root)
        warning = checks.check_space(root)
        marker = root / MARKER
        identity = {"storeId": secrets.token_hex(16), "createdMs": clock()}
        header = {"kind": "store", "schemaVersion": STORE_VERSION, **identity}
        with faults("store"):
            # Whoever comes second finds the first one's.
            scratch = root / f".{MARKER}-{secrets.token_hex(8)}"
            scratch.write_bytes(canonicalize(header, "Store") + b"\n")
            try:
                marker.hardlink_to(scratch)
            except FileExistsError:
                pass
            finally:
                scratch.unlink()
        return cls(root, warning)

    @classmethod
    def existing(cls, root: Path) -> "Store":
        """A store that is there, without writing to it. Raises `RunFault` (`store-unsupported`) where there is none."""
        if not (root / MARKER).is_file():
            raise RunFault.of("store-unsupported", "Store", f"there is no store at {root}")
        return cls(root)

    def create_run(self, experiment_id: str, header: Mapping[str, Any], clock: Clock = wall_ms) -> Run:
        """A new run directory of an experiment, open for writing. Raises `RunFault`."""
        stamp = datetime.fromtimestamp(clock() / 1000, UTC).strftime("%Y%m%dT%H%M%SZ")
        parent = self.root / "runs" / experiment_id
        with faults("run directory"):
            parent.mkdir(parents=True, exist_ok=True)
            while True:
                directory = parent / f"{stamp}-{secrets.token_hex(3)}"
                try:
                    directory.mkdir(mode=0o755)
                    break
                except FileExistsError:
                    continue
        return Run.create(directory, {"experimentId": experiment_id, **header}, clock)

    def runs(self) -> tuple[RunDirectory, ...]:
        """Every run directory, by experiment and name."""
        root = self.root / "runs"
        return tuple(
            RunDirectory(path, path.parent.name, _header(path)) for path in sorted(root.glob("*/*")) if path.is_dir()
        )


def _header(path: Path) -> Mapping[str, Any] | None:
    try:
        return read_header(path)
    except RunFault:
        return None
