"""One run directory, held by one writer (spec 13 §13.2, §13.6.1, §13.7.1).

```
run.json                      who and what, written once
lock                          held while a process writes
journal.sqlite3               what happened
blobs/<2 hex>/<62 hex>        content by digest
private/blobs/...             the same for what only the owner may read
tmp/  work/                   files being written, workspaces of live items; emptied when the run is opened
everything else               views: files published from blobs, rewritten when lost
```

1. Content before reference: a blob is on the disk before a row names it.
2. Reference is truth: a file without a row does not exist.
3. Views last: a view is a copy of its blob, replaced as a whole; a missing or differing one is repaired.
4. Nothing is deleted on the way but below `tmp/` and `work/`.
"""

import json
import os
import secrets
import time
from collections.abc import Callable, Mapping
from pathlib import Path, PurePosixPath
from typing import Any, Final

from eval_quality.run.errors import RunFault
from eval_quality.run.store.blobs import PRIVATE, Blobs
from eval_quality.run.store.files import empty_folder, faults, make_folder, remove_tree, write_new
from eval_quality.run.store.journal import Artifact, Journal
from eval_quality.run.store.lock import Lock
from eval_quality.run.store.schema import TERMINAL
from eval_quality.run.store.writer import Writer
from eval_quality.value.canonical import canonicalize
from eval_quality.value.digest import digest_bytes
from eval_quality.value.scan import scan

HEADER: Final = "run.json"
LOCK: Final = "lock"
JOURNAL: Final = "journal.sqlite3"
HEADER_VERSION: Final = 1

RESERVED: Final = frozenset({HEADER, LOCK, JOURNAL, f"{JOURNAL}-wal", f"{JOURNAL}-shm", "blobs", "tmp", "work"})
"""First segments that no view may have."""

Clock = Callable[[], int]


def wall_ms() -> int:
    """Milliseconds since 1970."""
    return time.time_ns() // 1_000_000


class Run:
    """A run directory opened for writing; a context manager.

    directory: its path. header: the members of `run.json`. blobs, journal: what it keeps.
    """

    def __init__(self, directory: Path, lock: Lock, header: Mapping[str, Any], journal: Journal) -> None:
        self.directory = directory
        self.header = header
        self.blobs = Blobs(directory)
        self.journal = journal
        self._lock = lock

    @classmethod
    def create(cls, directory: Path, header: Mapping[str, Any], clock: Clock = wall_ms) -> "Run":
        """Make a new run directory, which must not exist or be empty, and open it.

        header: what belongs into `run.json` besides the version, kind, id and creation time that are added here.
        Raises `RunFault` (`store-unsupported`, `store-full`, `store-locked`).
        """
        with faults("run directory"):
            directory.parent.mkdir(parents=True, exist_ok=True)
            if not directory.exists():
                make_folder(directory)
            elif any(directory.iterdir()):
                raise RunFault.of("store-unsupported", f"Run[{directory.name}]", "the run directory is not empty")
        lock = Lock.take(directory / LOCK, clock())
        try:
            with faults("run directory"):
                for name, mode in (("blobs", 0o755), ("tmp", 0o700), ("work", 0o700), (PRIVATE, 0o700)):
                    make_folder(directory / name, mode)
                make_folder(directory / PRIVATE / "blobs", 0o700)
            full = {
                "schemaVersion": HEADER_VERSION,
                "kind": "run",
                "runDirectoryId": secrets.token_hex(16),
                "createdMs": clock(),
                **header,
            }
            journal = Journal(Writer(directory / JOURNAL, create=True), clock)
            with faults("run header"):
                (directory / JOURNAL).chmod(0o600)
                # Last, so that a directory with a header is complete.
                write_new(directory / HEADER, canonicalize(full, "Run") + b"\n", directory / "tmp")
        except BaseException:
            lock.release()
            raise
        return cls(directory, lock, full, journal)

    @classmethod
    def open(cls, directory: Path, clock: Clock = wall_ms) -> "Run":
        """Open a run directory to go on with it, after recovery.

        Attempts of processes that are gone are lost and their items planned again, exhausted items get another chance,
        `tmp/` and `work/` are emptied. Raises `RunFault`: `store-locked` while another process writes, `resume-refused`
        for a directory that is no run, was never planned or is invalid, `store-corrupt`, `store-unsupported`.
        """
        header = read_header(directory)
        lock = Lock.take(directory / LOCK, clock())
        journal: Journal | None = None
        try:
            journal = Journal(Writer(directory / JOURNAL, create=False), clock)
            state = journal.state()
            if journal.plan_digest() is None:
                raise RunFault.of(
                    "resume-refused", f"Run[{directory.name}]", "the run was never planned; start a new one"
                )
            if state == "invalid":
                detail = "the run is invalid; a changed experiment is a new run"
                raise RunFault.of("resume-refused", f"Run[{directory.name}]", detail)
            if state not in TERMINAL:
                with faults("scratch folder"):
                    empty_folder(directory / "tmp")
                    empty_folder(directory / "work")
        except BaseException:
            if journal is not None:
                journal.close("refused")
            lock.release()
            raise
        return cls(directory, lock, header, journal)

    def publish(
        self,
        name: str,
        data: bytes,
        kind: str,
        artifact_class: str = "reproducible",
        artifact_digest: str | None = None,
    ) -> str:
        """Keep an artifact and show it as the file `<run>/<name>`; gives the byte digest.

        name: relative, `/`-separated. artifact_class: `input`, `reproducible`, `measured`, `account` or `private`.
        artifact_digest: the digest that other artifacts refer to it by, for JSON artifacts. Publishing the same bytes
        again changes nothing. Raises `RunFault`.
        """
        path = self.path(name)
        private = artifact_class == "private"
        digest = self.blobs.put(data, private)
        self.journal.record_artifact(Artifact(name, kind, artifact_class, artifact_digest, digest))
        write_view(self.directory, path, data, private)
        return digest

    def publish_json(self, name: str, value: Any, kind: str, artifact_class: str = "reproducible") -> str:
        """Publish a JSON artifact as canonical text and one newline; gives the *artifact* digest (spec 13 §13.4.2)."""
        text = canonicalize(value, kind)
        digest = digest_bytes(text)
        self.publish(name, text + b"\n", kind, artifact_class, digest)
        return digest

    def path(self, name: str) -> Path:
        """Where a view of this name lies. Raises `ValueError` for a name that is not relative and normal."""
        return view_path(self.directory, name)

    def read(self, name: str) -> bytes:
        """The bytes of a published artifact, from its blob. Raises `KeyError`, `RunFault` (`store-corrupt`)."""
        for artifact in self.journal.artifacts():
            if artifact.name == name:
                return self.blobs.get(artifact.byte_digest)
        raise KeyError(name)

    def workspace(self, name: str) -> Path:
        """A new empty folder under `work/` that only the owner may enter; `name` is made unique."""
        path = self.directory / "work" / f"{name.replace('/', '-')}-{secrets.token_hex(4)}"
        with faults("workspace"):
            make_folder(path, 0o700)
        return path

    def discard_workspace(self, path: Path) -> None:
        """Remove a workspace, whatever a subject left in it."""
        if path.parent != self.directory / "work":
            raise ValueError("not a workspace of this run")
        with faults("workspace"):
            remove_tree(path)

    def clear_work(self) -> None:
        """Remove every workspace of this run, whatever subjects left in them."""
        with faults("workspace"):
            empty_folder(self.directory / "work")

    def close(self, reason: str = "") -> None:
        """Fold the journal's log, and let the next writer in. Closing twice is no error."""
        if self._lock.held:
            try:
                self.journal.close(reason)
            finally:
                self._lock.release()

    def __enter__(self) -> "Run":
        return self

    def __exit__(self, _kind: object, error: BaseException | None, _at: object) -> None:
        try:
            self.close("" if error is None else type(error).__name__)
        except RunFault:
            # What ended the block says more than a journal that could not note it.
            if error is None:
                raise


def view_path(directory: Path, name: str) -> Path:
    """Where a view of this name lies in a run directory.

    Raises `ValueError` for a name that is not relative and normal, or that is the run directory's own.
    """
    parts = PurePosixPath(name).parts
    if not parts or name != "/".join(parts) or parts[0] in RESERVED or {"..", "/"} & set(parts) or "\0" in name:
        raise ValueError(f"{name!r} is no name of a view")
    return directory / name


def read_header(directory: Path) -> dict[str, Any]:
    """The members of `run.json`. Raises `RunFault` (`resume-refused`, `store-unsupported`)."""
    try:
        value: Any = scan((directory / HEADER).read_bytes(), "Run")
    except FileNotFoundError as error:
        detail = f"{directory} is no run directory, or its creation was cut short"
        raise RunFault.of("resume-refused", f"Run[{directory.name}]", detail) from error
    except OSError as error:
        raise RunFault.of("store-unsupported", f"Run[{directory.name}]", f"run.json: {error.strerror}") from error
    if value.get("kind") != "run" or value.get("schemaVersion") != HEADER_VERSION:
        shown = json.dumps(value.get("schemaVersion"))
        detail = f"run.json has version {shown}, this program knows version {HEADER_VERSION}"
        raise RunFault.of("store-unsupported", f"Run[{directory.name}]", detail)
    return value


def write_view(directory: Path, path: Path, data: bytes, private: bool) -> None:
    """Make a view hold exactly `data`; one that does already is left alone. Raises `RunFault`."""
    with faults("view", len(data)):
        if path.is_file() and not path.is_symlink() and path.read_bytes() == data:
            return
        missing = [folder for folder in (path.parent, *path.parent.parents) if not folder.exists()]
        for folder in reversed(missing):
            os.mkdir(folder, 0o755)
        write_new(path, data, directory / "tmp", 0o600 if private else 0o644, durable=False)
