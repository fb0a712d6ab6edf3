"""The journal's one connection and its thread (spec 13 §13.5.1, §13.5.3).

Requests of any thread enter a queue. Whatever has gathered while the last commit was on its way is one transaction:
under load one commit serves many, and a lone request waits for nobody. A request is answered after the commit, so
nothing is reported that could be lost. Each has a savepoint of its own, so one that fails takes no other with it; a
commit that fails fails all of its batch, and the journal accepts nothing more.
"""

import queue
import sqlite3
import threading
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from typing import Any, Final, TypeVar

from eval_quality.run.errors import RunFault
from eval_quality.run.store.schema import APPLICATION_ID, LEAST_SQLITE, SCHEMA, SCHEMA_VERSION

T = TypeVar("T")
Request = tuple[Callable[[sqlite3.Connection], Any], "Future[Any]", bool]

MAX_BATCH: Final = 64
"""Requests in one transaction."""
BUSY_SECONDS: Final = 10.0

_PRAGMAS: Final = (
    "PRAGMA journal_mode=WAL",
    "PRAGMA foreign_keys=ON",
    "PRAGMA wal_autocheckpoint=1000",
    "PRAGMA journal_size_limit=67108864",
)
_FULL_CODES: Final = frozenset({sqlite3.SQLITE_FULL})
_CORRUPT_CODES: Final = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})


class Writer:
    """Runs requests against the journal of one run directory, one transaction a batch.

    closed: whether no request can be made any more.
    """

    def __init__(self, path: Path, create: bool) -> None:
        """Open the journal, or create it. Raises `RunFault` (`store-unsupported`, `store-corrupt`, `store-full`)."""
        self._requests: queue.SimpleQueue[Request | None] = queue.SimpleQueue()
        self._opened: Future[None] = Future()
        self._broken: RunFault | None = None
        # Held while a request enters, so that none enters after the thread has looked for the last time.
        self._gate = threading.Lock()
        self.closed = False
        self._thread = threading.Thread(target=self._run, args=(path, create), name="journal", daemon=True)
        self._thread.start()
        self._opened.result()

    def do(self, request: Callable[[sqlite3.Connection], T], durable: bool = False) -> T:
        """Run a request inside a transaction and give its result after the commit.

        durable: on the disk when this returns. Otherwise only a crash of the whole system can lose it, and never out of
        order: a later durable request takes everything before it along.

        Raises what the request raised, and `RunFault` when the journal failed.
        """
        future: Future[T] = Future()
        with self._gate:
            if self.closed:
                raise self._broken or ValueError("the journal is closed")
            self._requests.put((request, future, durable))
        return future.result()

    def close(self) -> None:
        """Finish what is queued, fold the log into the database, and end. Closing twice is no error."""
        self._requests.put(None)
        self._thread.join()

    def _end(self) -> None:
        """Take no more requests, and answer those that came too late."""
        with self._gate:
            self.closed = True
        while True:
            try:
                entry = self._requests.get_nowait()
            except queue.Empty:
                return
            if entry is not None:
                entry[1].set_exception(self._broken or ValueError("the journal is closed"))

    # -- the thread --

    def _run(self, path: Path, create: bool) -> None:
        try:
            connection = open_journal(path, create)
        except BaseException as error:
            self._opened.set_exception(error)
            return
        self._opened.set_result(None)
        try:
            while self._broken is None and (batch := self._batch()):
                self._commit(connection, batch)
        finally:
            try:
                if self._broken is None:
                    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            except sqlite3.Error:
                pass  # the log is read on the next open
            connection.close()
            self._end()

    def _batch(self) -> list[Request]:
        """The next requests; empty at the end."""
        entry = self._requests.get()
        batch: list[Request] = []
        while entry is not None:
            batch.append(entry)
            if len(batch) == MAX_BATCH:
                break
            try:
                entry = self._requests.get_nowait()
            except queue.Empty:
                break
        else:
            # The end comes after the requests that stand before it.
            if batch:
                self._requests.put(None)
        return batch

    def _commit(self, connection: sqlite3.Connection, batch: list[Request]) -> None:
        answers: list[tuple[Future[Any], Any]] = []
        try:
            wanted = "FULL" if any(durable for _, _, durable in batch) else "NORMAL"
            connection.execute(f"PRAGMA synchronous={wanted}")
            connection.execute("BEGIN IMMEDIATE")
            for request, future, _ in batch:
                connection.execute("SAVEPOINT request")
                try:
                    answers.append((future, request(connection)))
                except sqlite3.Error as error:
                    if not connection.in_transaction or _is_fatal(error):
                        raise
                    connection.execute("ROLLBACK TO request")
                    future.set_exception(fault_of(error))
                except Exception as error:
                    connection.execute("ROLLBACK TO request")
                    future.set_exception(error)
                connection.execute("RELEASE request")
            connection.execute("COMMIT")
        except sqlite3.Error as error:
            if connection.in_transaction:
                connection.rollback()
            self._broken = fault_of(error)
            for _, future, _ in batch:
                if not future.done():
                    future.set_exception(self._broken)
            return
        for future, answer in answers:
            future.set_result(answer)


def open_journal(path: Path, create: bool) -> sqlite3.Connection:
    """A writing connection. Raises `RunFault`."""
    if sqlite3.sqlite_version_info < LEAST_SQLITE:
        wanted = ".".join(map(str, LEAST_SQLITE))
        detail = f"the SQLite library {sqlite3.sqlite_version} is older than {wanted}"
        raise RunFault.of("store-unsupported", "Journal", detail)
    mode = "rwc" if create else "rw"
    try:
        connection = sqlite3.connect(
            f"{path.resolve().as_uri()}?mode={mode}", uri=True, isolation_level=None, timeout=BUSY_SECONDS
        )
    except sqlite3.Error as error:
        raise fault_of(error) from error
    try:
        for pragma in _PRAGMAS:
            connection.execute(pragma)
        if create:
            connection.executescript(
                f"BEGIN;{SCHEMA}PRAGMA application_id={APPLICATION_ID};PRAGMA user_version={SCHEMA_VERSION};COMMIT;"
            )
        check_identity(connection)
    except sqlite3.Error as error:
        connection.close()
        raise fault_of(error) from error
    except RunFault:
        connection.close()
        raise
    return connection


def check_identity(connection: sqlite3.Connection) -> None:
    """Refuse a file that is no journal, or one of a version we do not know. Raises `RunFault`, `sqlite3.Error`."""
    (identity,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if identity != APPLICATION_ID:
        raise RunFault.of("store-unsupported", "Journal", "the file is not a journal of this program")
    if version != SCHEMA_VERSION:
        detail = f"the journal has version {version}, this program knows version {SCHEMA_VERSION}"
        raise RunFault.of("store-unsupported", "Journal", detail)


def fault_of(error: sqlite3.Error) -> RunFault:
    """What a failure of the database means to the run."""
    code = (getattr(error, "sqlite_errorcode", None) or 0) & 0xFF
    if code in _FULL_CODES:
        return RunFault.of("store-full", "Journal", f"no space left for the journal ({error})")
    if code in _CORRUPT_CODES:
        return RunFault.of("store-corrupt", "Journal", str(error))
    if code == sqlite3.SQLITE_BUSY:
        return RunFault.of("store-locked", "Journal", "another process is writing the journal")
    if code == sqlite3.SQLITE_CONSTRAINT:
        return RunFault.of("store-corrupt", "Journal", f"a rule of the journal was broken: {error}")
    return RunFault.of("store-unsupported", "Journal", f"the journal cannot be used: {error}")


def _is_fatal(error: sqlite3.Error) -> bool:
    """Whether no further request can succeed."""
    return (getattr(error, "sqlite_errorcode", None) or 0) & 0xFF != sqlite3.SQLITE_CONSTRAINT
