"""Exactly-once accounting of a run (spec 13 §13.5.4, §13.6).

| From | Event, one transaction each | To |
|---|---|---|
| `planned`, `void` | `begin`: an attempt with a fresh token, its calls reserved | `running` |
| `running` | `capture`: the documents of the attempt, its real calls | `captured` |
| `running` | `void`: infrastructure ended it | `void`, or `exhausted` |
| `running`, of a process that is gone | `recover`: the attempt is `lost`, its reservation stays spent | `planned` |
| `exhausted` | `recover` | `planned` |

Execution is at least once (a killed attempt is executed again), accounting is exactly once: an outcome counts only with
the token of the item's running attempt, and an item has one capture for ever.

1. Intent first: `begin` is committed before the attempt's first process starts. It need not reach the disk: a crash of
   the whole system leaves no process either.
2. Order is by sequence number; clocks are recorded and never compared.
3. Nothing in memory decides what a restart would decide otherwise.
"""

import os
import socket
import sqlite3
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple, cast

from eval_quality.run.errors import RunFault
from eval_quality.run.store.schema import TRANSITIONS
from eval_quality.run.store.writer import Writer
from eval_quality.value.canonical import canonicalize
from eval_quality.value.digest import digest_bytes
from eval_quality.value.scan import scan

MAX_ITEMS: Final = 1_000_000
"""A plan of more items is refused; nobody would wait for it."""
_PAGE: Final = 200
"""Captures read at a time, so that a long run need not fit into memory."""


class Item(NamedTuple):
    """One unit of work: `trial/<evaluatorId>/<probeId>/<k>`, for instance, and its kind."""

    item_id: str
    kind: str


class ItemState(NamedTuple):
    """Where an item stands; `fault` is `(code, detail)` of its last void attempt."""

    item_id: str
    kind: str
    state: str
    lost: int
    void: int
    fault: tuple[str, str] | None


class Capture(NamedTuple):
    """What an item left behind: `body` holds nothing that a clock decides, `measured` the rest; blobs by name."""

    item_id: str
    body: Any
    body_digest: str
    measured: Any
    attachments: Mapping[str, str]


class Event(NamedTuple):
    """One row of the event stream."""

    seq: int
    at_ms: int
    event: str
    body: Any


class Artifact(NamedTuple):
    """One published file: its name in the run directory, kind, class, and both digests (spec 13 §13.4.2)."""

    name: str
    kind: str
    artifact_class: str
    artifact_digest: str | None
    byte_digest: str


class StaleToken(Exception):
    """The outcome belongs to an attempt that is over; it is discarded."""


class Journal:
    """The journal of one run directory, opened for writing by this process.

    wall_ms: milliseconds since 1970, recorded only. monotonic: seconds, for the time that this process was active.
    """

    def __init__(
        self,
        writer: Writer,
        wall_ms: Callable[[], int] = lambda: time.time_ns() // 1_000_000,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._writer = writer
        self._wall_ms = wall_ms
        self._monotonic = monotonic
        self._began = monotonic()
        self._invocation = writer.do(self._enter_invocation)

    def _enter_invocation(self, db: sqlite3.Connection) -> int:
        """This process's row; attempts of earlier ones are lost, exhausted items get another chance."""
        now = self._wall_ms()
        row = (os.getpid(), socket.gethostname(), _boot_id(), now)
        found = db.execute("INSERT INTO invocation(pid, host, boot_id, started_ms) VALUES (?, ?, ?, ?)", row).lastrowid
        assert found is not None
        db.execute(
            "UPDATE item SET state = 'planned', lost_count = lost_count + 1 WHERE item_id IN"
            " (SELECT item_id FROM attempt WHERE state = 'running')"
        )
        db.execute("UPDATE attempt SET state = 'lost', ended_ms = ? WHERE state = 'running'", (now,))
        db.execute("UPDATE item SET state = 'planned', void_count = 0 WHERE state = 'exhausted'")
        if db.execute("SELECT count(*) FROM run_state").fetchone() == (0,):
            self._append_state(db, "created", "", found)
        return found

    # -- the run --

    def state(self) -> str:
        """The run's state (spec 12 §12.10)."""
        return self._writer.do(_state)

    def states(self) -> tuple[tuple[str, str], ...]:
        """Every state the run went through, with its reason."""
        return tuple(
            self._writer.do(lambda db: db.execute("SELECT state, reason FROM run_state ORDER BY seq").fetchall())
        )

    def enter(self, state: str, reason: str = "") -> None:
        """Move the run to another state; entering the one it is in again does nothing.

        Raises `ValueError` for a transition that spec 12 §12.10 does not list.
        """

        def move(db: sqlite3.Connection) -> None:
            here = _state(db)
            if here == state:
                return
            if state not in TRANSITIONS[here]:
                raise ValueError(f"a run does not go from {here} to {state}")
            self._append_state(db, state, reason, self._invocation)

        self._writer.do(move, durable=True)

    def _append_state(self, db: sqlite3.Connection, state: str, reason: str, invocation: int) -> None:
        row = (state, reason, invocation, self._wall_ms())
        db.execute("INSERT INTO run_state(state, reason, invocation_id, at_ms) VALUES (?, ?, ?, ?)", row)

    def plan(self, items: Iterable[Item], plan_digest: str) -> None:
        """Commit the item list, and with it the state `planned`.

        The same plan again does nothing. Raises `RunFault` (`plan-mismatch`) for another one.
        """
        listed = list(items)
        if len(listed) > MAX_ITEMS:
            raise RunFault.of("plan-mismatch", "Plan", f"{len(listed)} items are more than {MAX_ITEMS}")

        def commit(db: sqlite3.Connection) -> None:
            known = _meta(db, "planDigest")
            if known is not None:
                if known != plan_digest:
                    detail = f"this run was planned as {known}, the experiment now gives {plan_digest}"
                    raise RunFault.of("plan-mismatch", "Plan", detail)
                return
            rows = [(item.item_id, ordinal, item.kind, "planned") for ordinal, item in enumerate(listed)]
            db.executemany("INSERT INTO item(item_id, ordinal, kind, state) VALUES (?, ?, ?, ?)", rows)
            db.execute("INSERT INTO meta VALUES ('planDigest', ?)", (plan_digest,))
            self._append_state(db, "planned", "", self._invocation)

        self._writer.do(commit, durable=True)

    def plan_digest(self) -> str | None:
        """The digest of the committed plan; None before."""
        return self._writer.do(lambda db: _meta(db, "planDigest"))

    # -- items --

    def items(self, kind: str | None = None) -> tuple[ItemState, ...]:
        """Every item, or those of a kind, in plan order."""

        def read(db: sqlite3.Connection) -> list[tuple[Any, ...]]:
            return db.execute(
                "SELECT item_id, kind, state, lost_count, void_count, (SELECT json_array(fault_code, fault_detail) FROM"
                " attempt a WHERE a.item_id = item.item_id AND a.state = 'void' ORDER BY number DESC LIMIT 1)"
                " FROM item WHERE ? IS NULL OR kind = ? ORDER BY ordinal",
                (kind, kind),
            ).fetchall()

        def fault(text: str | None) -> tuple[str, str] | None:
            return None if text is None else cast("tuple[str, str]", tuple(scan(text, "Journal")))

        return tuple(ItemState(a, b, c, d, e, fault(f)) for a, b, c, d, e, f in self._writer.do(read))

    def pending(self, kind: str | None = None) -> tuple[str, ...]:
        """The items that are still to be executed, in plan order."""
        return tuple(item.item_id for item in self.items(kind) if item.state in ("planned", "void"))

    def begin(self, item_id: str, reserved_calls: int = 0) -> str:
        """Commit the intent to execute an item and give the attempt's token.

        `reserved_calls` count as spent until the attempt ends, and for ever when its process dies. Raises `ValueError`
        when the item is not waiting to be executed.
        """
        token = uuid.uuid4().hex

        def commit(db: sqlite3.Connection) -> str:
            row = db.execute("SELECT state FROM item WHERE item_id = ?", (item_id,)).fetchone()
            if row is None or row[0] not in ("planned", "void"):
                raise ValueError(f"item {item_id} is {row[0] if row else 'not planned'} and cannot begin")
            (number,) = db.execute(
                "SELECT coalesce(max(number), 0) + 1 FROM attempt WHERE item_id = ?", (item_id,)
            ).fetchone()
            db.execute("UPDATE item SET state = 'running' WHERE item_id = ?", (item_id,))
            db.execute(
                "INSERT INTO attempt(item_id, number, token, invocation_id, state, calls, started_ms)"
                " VALUES (?, ?, ?, ?, 'running', ?, ?)",
                (item_id, number, token, self._invocation, reserved_calls, self._wall_ms()),
            )
            self._note_activity(db)
            return token

        return self._writer.do(commit)

    def capture(
        self,
        token: str,
        body: Any,
        measured: Any,
        attachments: Mapping[str, str] | None = None,
        calls: int = 0,
    ) -> str:
        """Commit what an attempt left behind, for ever, and give the body's digest.

        body, measured: JSON values. attachments: name -> digest of a blob that is already stored. Raises `StaleToken`,
        and `RuntimeFault` (`non-canonicalizable-value`) for a value outside the canonical domain.
        """
        body_bytes, measured_bytes = canonicalize(body, "Capture.body"), canonicalize(measured, "Capture.measured")
        body_digest, measured_digest = digest_bytes(body_bytes), digest_bytes(measured_bytes)

        def commit(db: sqlite3.Connection) -> str:
            item_id, number = self._end_attempt(db, token, "captured", calls)
            db.execute("UPDATE item SET state = 'captured' WHERE item_id = ?", (item_id,))
            db.execute(
                "INSERT INTO capture(item_id, number, body_digest, body, measured_digest, measured, committed_ms)"
                " VALUES (?, ?, ?, ?, ?, ?, ?)",
                (item_id, number, body_digest, body_bytes, measured_digest, measured_bytes, self._wall_ms()),
            )
            rows = [(item_id, name, digest) for name, digest in sorted((attachments or {}).items())]
            db.executemany("INSERT INTO attachment(item_id, name, digest) VALUES (?, ?, ?)", rows)
            return body_digest

        return self._writer.do(commit, durable=True)

    def void(self, token: str, code: str, detail: str, calls: int = 0, retries: int = 2) -> str:
        """End an attempt that infrastructure broke: `void` while `retries` are left, else `exhausted`.

        Raises `StaleToken`.
        """

        def commit(db: sqlite3.Connection) -> str:
            item_id, number = self._end_attempt(db, token, "void", calls)
            db.execute(
                "UPDATE attempt SET fault_code = ?, fault_detail = ? WHERE item_id = ? AND number = ?",
                (code, detail, item_id, number),
            )
            db.execute("UPDATE item SET void_count = void_count + 1 WHERE item_id = ?", (item_id,))
            (count,) = db.execute("SELECT void_count FROM item WHERE item_id = ?", (item_id,)).fetchone()
            state = "void" if count <= retries else "exhausted"
            db.execute("UPDATE item SET state = ? WHERE item_id = ?", (state, item_id))
            return state

        return self._writer.do(commit, durable=True)

    def _end_attempt(self, db: sqlite3.Connection, token: str, state: str, calls: int) -> tuple[str, int]:
        row = db.execute(
            "SELECT item_id, number FROM attempt WHERE token = ? AND state = 'running'", (token,)
        ).fetchone()
        if row is None:
            raise StaleToken
        ending = (state, calls, self._wall_ms(), token)
        db.execute("UPDATE attempt SET state = ?, calls = ?, ended_ms = ? WHERE token = ?", ending)
        self._note_activity(db)
        return row

    # -- captures --

    def captured(self, item_id: str) -> Capture | None:
        """What an item left behind; None when it has not been captured."""
        found = self._writer.do(lambda db: _captures(db, "capture.item_id = ?", (item_id,), 1))
        return _read_capture(found[0]) if found else None

    def captures(self, kind: str | None = None) -> Iterator[Capture]:
        """Every capture, or those of a kind, in plan order. Raises `RunFault` (`store-corrupt`)."""
        after = -1
        while True:
            condition, values = "ordinal > ? AND (? IS NULL OR kind = ?)", (after, kind, kind)
            page = self._writer.do(lambda db, c=condition, v=values: _captures(db, c, v, _PAGE))
            yield from map(_read_capture, page)
            if len(page) < _PAGE:
                return
            after = page[-1][0]

    # -- caps --

    def calls_booked(self) -> int:
        """Subject calls made, and reserved by attempts that run or were lost, over all invocations."""
        return self._writer.do(lambda db: db.execute("SELECT coalesce(sum(calls), 0) FROM attempt").fetchone()[0])

    def active_ms(self) -> int:
        """Milliseconds that processes of this run were active, over all invocations; wall clocks play no part."""

        def read(db: sqlite3.Connection) -> int:
            self._note_activity(db)
            return db.execute("SELECT sum(active_ms) FROM invocation").fetchone()[0]

        return self._writer.do(read)

    def _note_activity(self, db: sqlite3.Connection) -> None:
        active = int((self._monotonic() - self._began) * 1000)
        db.execute("UPDATE invocation SET active_ms = ? WHERE invocation_id = ?", (active, self._invocation))

    # -- events and artifacts --

    def event(self, name: str, body: Any = None) -> int:
        """Append an event and give its sequence number, gapless over all invocations."""
        text = canonicalize({} if body is None else body, "Event").decode()

        def commit(db: sqlite3.Connection) -> int:
            row = (self._wall_ms(), name, text)
            found = db.execute(
                "INSERT INTO event(seq, at_ms, event, body)"
                " SELECT coalesce(max(seq), 0) + 1, ?, ?, ? FROM event RETURNING seq",
                row,
            ).fetchone()
            return found[0]

        return self._writer.do(commit)

    def events(self, after: int = 0) -> Iterator[Event]:
        """The events with a higher sequence number, in order."""
        query = "SELECT seq, at_ms, event, body FROM event WHERE seq > ? ORDER BY seq LIMIT ?"
        while True:
            page = self._writer.do(lambda db, a=after: db.execute(query, (a, _PAGE)).fetchall())
            yield from (Event(seq, at_ms, name, scan(body, "Event")) for seq, at_ms, name, body in page)
            if len(page) < _PAGE:
                return
            after = page[-1][0]

    def record_artifact(self, artifact: Artifact) -> bool:
        """Commit the row of a published file; False when it already says the same."""

        def commit(db: sqlite3.Connection) -> bool:
            known = db.execute("SELECT * FROM artifact WHERE name = ?", (artifact.name,)).fetchone()
            if known == artifact:
                return False
            db.execute("INSERT OR REPLACE INTO artifact VALUES (?, ?, ?, ?, ?)", artifact)
            return True

        return self._writer.do(commit, durable=True)

    def artifacts(self) -> tuple[Artifact, ...]:
        """Every published file, by name."""
        rows = self._writer.do(lambda db: db.execute("SELECT * FROM artifact ORDER BY name").fetchall())
        return tuple(Artifact(*row) for row in rows)

    def note(self, key: str, value: str) -> None:
        """Keep one text under a key, replacing what was there."""
        self._writer.do(
            lambda db: db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (f"note/{key}", value)) and None
        )

    def noted(self, key: str) -> str | None:
        """The text under a key."""
        return self._writer.do(lambda db: _meta(db, f"note/{key}"))

    def close(self, reason: str = "") -> None:
        """End this process's row and close the file. Closing twice is no error."""
        if self._writer.closed:
            return

        def commit(db: sqlite3.Connection) -> None:
            self._note_activity(db)
            row = (self._wall_ms(), reason, self._invocation)
            db.execute("UPDATE invocation SET ended_ms = ?, end_reason = ? WHERE invocation_id = ?", row)

        try:
            self._writer.do(commit)
        finally:
            self._writer.close()


def _boot_id() -> str:
    try:
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
            return file.read().strip()
    except OSError:
        return ""


def _state(db: sqlite3.Connection) -> str:
    return db.execute("SELECT state FROM run_state ORDER BY seq DESC LIMIT 1").fetchone()[0]


def _meta(db: sqlite3.Connection, key: str) -> str | None:
    row = db.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
    return None if row is None else row[0]


def _captures(
    db: sqlite3.Connection, condition: str, values: tuple[Any, ...], limit: int
) -> list[tuple[int, str, str, bytes, bytes, dict[str, str]]]:
    rows = db.execute(
        "SELECT ordinal, capture.item_id, body_digest, body, measured FROM capture JOIN item USING (item_id)"
        f" WHERE {condition} ORDER BY ordinal LIMIT ?",
        (*values, limit),
    ).fetchall()
    attached = "SELECT name, digest FROM attachment WHERE item_id = ?"
    return [(*row, dict(db.execute(attached, (row[1],)).fetchall())) for row in rows]


def _read_capture(row: tuple[int, str, str, bytes, bytes, dict[str, str]]) -> Capture:
    _, item_id, digest, body, measured, attachments = row
    if digest_bytes(body) != digest:
        raise RunFault.of("store-corrupt", f"Capture[{item_id}]", "its body has another digest than was recorded")
    return Capture(item_id, scan(body, "Capture"), digest, scan(measured, "Capture"), attachments)
