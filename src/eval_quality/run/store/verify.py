"""Whether a run directory still is what was written into it (spec 13 §13.7.4).

1. The journal's file is sound and says `planned` with the digest of its plan.
2. Every item has one capture, or none; the states of items, attempts and captures agree; nothing runs in a finished
   run.
3. Every capture has the digests that were recorded, every attachment and artifact its blob, every blob its content.
4. Every view is a copy of its blob.
5. Events are numbered without a gap.

Deriving the artifacts again from the captures is scoring's business; it is given what this module has checked.
"""

import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from eval_quality.run.errors import RunFault
from eval_quality.run.store.blobs import Blobs
from eval_quality.run.store.directory import JOURNAL, LOCK, Run, read_header, view_path, write_view
from eval_quality.run.store.lock import Lock
from eval_quality.run.store.writer import check_identity, fault_of
from eval_quality.value.digest import digest_bytes


class Damage(NamedTuple):
    """One thing that is not as it was written: a code of spec 13 §13.17, the thing, and what is wrong with it."""

    code: str
    path: str
    detail: str


class Verification(NamedTuple):
    """What was checked, and everything that was found wrong. `orphans` are blobs nothing refers to; they do no harm."""

    state: str
    items: int
    captures: int
    blobs: int
    artifacts: int
    orphans: tuple[str, ...]
    damage: tuple[Damage, ...]


def verify_run(directory: Path) -> Verification:
    """Check a run directory without changing it; a read-only copy will do.

    Raises `RunFault`: `store-locked` while it is being written, `resume-refused` for no run directory,
    `store-corrupt` for a journal that cannot be read at all.
    """
    read_header(directory)
    with Lock.look(directory / LOCK):
        db = read_journal(directory)
        try:
            return _verify(directory, db)
        except sqlite3.Error as error:
            raise fault_of(error) from error
        except (ValueError, TypeError) as error:
            # A damaged page can turn any value into any other.
            raise RunFault.of("store-corrupt", "Journal", f"a row cannot be read: {error}") from error
        finally:
            db.close()


def read_journal(directory: Path) -> sqlite3.Connection:
    """A reading connection; the caller holds the lock. Raises `RunFault`."""
    path = directory / JOURNAL
    # Without a log beside it the file is complete, and a disk that cannot be written needs no shared memory.
    still = not path.with_name(f"{JOURNAL}-wal").exists()
    try:
        location = f"{path.resolve().as_uri()}?mode=ro{'&immutable=1' if still else ''}"
        db = sqlite3.connect(location, uri=True, isolation_level=None)
    except sqlite3.Error as error:
        raise fault_of(error) from error
    try:
        check_identity(db)
    except sqlite3.Error as error:
        db.close()
        raise fault_of(error) from error
    except RunFault:
        db.close()
        raise
    return db


def _verify(directory: Path, db: sqlite3.Connection) -> Verification:
    blobs = Blobs(directory)
    damage = [Damage("store-corrupt", "Journal", text) for (text,) in db.execute("PRAGMA quick_check") if text != "ok"]
    if not damage:
        damage += _accounting(db)
        damage += _captures(db)
    present = dict(blobs.all())
    referenced = referenced_blobs(db)
    damage += _blobs(present, referenced)
    damage += _views(directory, db, blobs)
    damage += _events(db)
    (state,) = db.execute("SELECT state FROM run_state ORDER BY seq DESC LIMIT 1").fetchone()

    def count(table: str) -> int:
        return db.execute(f"SELECT count(*) FROM {table}").fetchone()[0]

    orphans = tuple(sorted(present.keys() - referenced))
    return Verification(state, count("item"), count("capture"), len(present), count("artifact"), orphans, tuple(damage))


def referenced_blobs(db: sqlite3.Connection) -> set[str]:
    """The digests of every blob that a row refers to."""
    query = "SELECT digest FROM attachment UNION SELECT byte_digest FROM artifact"
    return {digest for (digest,) in db.execute(query)}


_RULES = (
    (
        "a captured item has no capture",
        "SELECT item_id FROM item WHERE state = 'captured' AND item_id NOT IN (SELECT item_id FROM capture)",
    ),
    (
        "a capture belongs to an item that is not captured",
        "SELECT item_id FROM item JOIN capture USING (item_id) WHERE state <> 'captured'",
    ),
    (
        "a capture is not of a captured attempt",
        "SELECT item_id FROM capture JOIN attempt USING (item_id, number) WHERE state <> 'captured'",
    ),
    (
        "an item has more than one captured attempt",
        "SELECT item_id FROM attempt WHERE state = 'captured' GROUP BY item_id HAVING count(*) > 1",
    ),
    (
        "an item runs without a running attempt",
        "SELECT item_id FROM item WHERE state = 'running' AND item_id NOT IN"
        " (SELECT item_id FROM attempt WHERE state = 'running')",
    ),
    (
        "the run is done and the item is not",
        "SELECT item_id FROM item WHERE state NOT IN ('captured', 'exhausted') AND"
        " 'done' = (SELECT state FROM run_state ORDER BY seq DESC LIMIT 1)",
    ),
)


def _accounting(db: sqlite3.Connection) -> Iterator[Damage]:
    for sentence, query in _RULES:
        for (item_id,) in db.execute(query):
            yield Damage("store-corrupt", f"Item[{item_id}]", sentence)


def _captures(db: sqlite3.Connection) -> Iterator[Damage]:
    query = "SELECT item_id, body_digest, body, measured_digest, measured FROM capture ORDER BY item_id"
    for item_id, body_digest, body, measured_digest, measured in db.execute(query):
        for name, digest, data in (("body", body_digest, body), ("measured part", measured_digest, measured)):
            if digest_bytes(data) != digest:
                yield Damage("store-corrupt", f"Capture[{item_id}]", f"its {name} has another digest than was recorded")


def _blobs(present: dict[str, Path], referenced: set[str]) -> Iterator[Damage]:
    for digest in sorted(referenced - present.keys()):
        yield Damage("store-corrupt", f"Blob[{digest}]", "it is missing, and something refers to it")
    for digest, path in present.items():
        if digest in referenced and digest_bytes(path.read_bytes()) != digest:
            yield Damage("store-corrupt", f"Blob[{digest}]", "its content has another digest")


def _views(directory: Path, db: sqlite3.Connection, blobs: Blobs) -> Iterator[Damage]:
    for name, digest in db.execute("SELECT name, byte_digest FROM artifact ORDER BY name"):
        try:
            path = view_path(directory, name)
        except ValueError as error:
            yield Damage("store-corrupt", "Journal", str(error))
            continue
        if not path.is_file():
            yield Damage("view-lost", f"Artifact[{name}]", "its file is missing")
        elif digest_bytes(path.read_bytes()) != digest and blobs.path(digest) is not None:
            yield Damage("view-lost", f"Artifact[{name}]", "its file was changed")


def _events(db: sqlite3.Connection) -> Iterator[Damage]:
    count, first, last = db.execute("SELECT count(*), min(seq), max(seq) FROM event").fetchone()
    if count and (first != 1 or last != count):
        yield Damage("store-corrupt", "Journal", f"{count} events are numbered {first} to {last}")


def repair_views(run: Run) -> tuple[str, ...]:
    """Write every missing or changed view again from its blob, and name those. Raises `RunFault` (`store-corrupt`)."""
    repaired: list[str] = []
    for artifact in run.journal.artifacts():
        data = run.blobs.get(artifact.byte_digest)
        path = run.path(artifact.name)
        if not (path.is_file() and path.read_bytes() == data):
            write_view(run.directory, path, data, artifact.artifact_class == "private")
            repaired.append(artifact.name)
    return tuple(repaired)
