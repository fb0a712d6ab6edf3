"""Exactly-once accounting (spec 13 §13.5, §13.6; T13-04)."""

import sqlite3
import tempfile
import threading
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, invariant, rule

from eval_quality.errors import RuntimeFault
from eval_quality.run.errors import RunFault
from eval_quality.run.store import schema
from eval_quality.run.store.journal import Item, Journal, StaleToken
from eval_quality.run.store.writer import Writer, open_journal

PLAN = "sha256:" + "1" * 64
ITEMS = [Item("fixture", "fixture"), Item("trial/a/P-001/1", "trial"), Item("trial/a/P-001/2", "trial")]
TRIAL = "trial/a/P-001/1"


class Clock:
    """A wall clock and a monotonic clock that tests turn by hand."""

    def __init__(self) -> None:
        self.now_ms = 1_000_000
        self.seconds = 5.0

    def wall(self) -> int:
        return self.now_ms

    def monotonic(self) -> float:
        return self.seconds


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "journal.sqlite3"


@pytest.fixture
def journal(path: Path, clock: Clock) -> Generator[Journal]:
    journal = Journal(Writer(path, create=True), clock.wall, clock.monotonic)
    journal.plan(ITEMS, PLAN)
    yield journal
    journal._writer.close()


def reopen(journal: Journal, path: Path, clock: Clock) -> Journal:
    """What the next process sees after this one died without a word."""
    journal._writer.close()
    return Journal(Writer(path, create=False), clock.wall, clock.monotonic)


def state_of(journal: Journal, item_id: str) -> str:
    return next(item.state for item in journal.items() if item.item_id == item_id)


def test_s13_5_4_an_item_from_plan_to_capture(journal: Journal) -> None:
    assert journal.state() == "planned"
    assert journal.plan_digest() == PLAN
    assert journal.pending() == tuple(item.item_id for item in ITEMS)
    assert journal.pending("trial") == ("trial/a/P-001/1", "trial/a/P-001/2")
    token = journal.begin(TRIAL, reserved_calls=5)
    assert state_of(journal, TRIAL) == "running"
    assert journal.calls_booked() == 5
    assert journal.captured(TRIAL) is None
    digest = journal.capture(
        token, {"b": [1, "é"], "a": None}, {"wall": 1.5}, {"stderr": "sha256:" + "2" * 64}, calls=3
    )
    capture = journal.captured(TRIAL)
    assert capture is not None
    assert capture.body == {"a": None, "b": [1, "é"]}
    assert capture.measured == {"wall": 1.5}
    assert capture.attachments == {"stderr": "sha256:" + "2" * 64}
    assert capture.body_digest == digest
    assert journal.calls_booked() == 3
    assert state_of(journal, TRIAL) == "captured"
    assert journal.pending("trial") == ("trial/a/P-001/2",)


def test_s13_5_4_a_capture_is_final(journal: Journal, path: Path) -> None:
    token = journal.begin(TRIAL)
    journal.capture(token, {"first": True}, {})
    with pytest.raises(StaleToken):
        journal.capture(token, {"first": False}, {})
    with pytest.raises(StaleToken):
        journal.void(token, "x", "y")
    with pytest.raises(ValueError, match="captured and cannot begin"):
        journal.begin(TRIAL)
    db = sqlite3.connect(path)
    for statement in ("UPDATE capture SET body = x'00'", "DELETE FROM capture"):
        with pytest.raises(sqlite3.IntegrityError, match="a capture is final"):
            db.execute(statement)
    with pytest.raises(sqlite3.IntegrityError):
        db.execute("INSERT INTO capture SELECT * FROM capture")
    db.close()
    found = journal.captured(TRIAL)
    assert found is not None
    assert found.body == {"first": True}


def test_s13_5_4_one_attempt_at_a_time(journal: Journal) -> None:
    journal.begin(TRIAL)
    with pytest.raises(ValueError, match="running and cannot begin"):
        journal.begin(TRIAL)
    with pytest.raises(ValueError, match="not planned and cannot begin"):
        journal.begin("trial/nobody/P-001/1")


def test_s12_18_void_then_exhausted_then_another_chance(journal: Journal, path: Path, clock: Clock) -> None:
    for attempt, state in enumerate(("void", "void", "exhausted"), 1):
        token = journal.begin(TRIAL, reserved_calls=4)
        assert journal.void(token, "launch", f"attempt {attempt}", calls=1, retries=2) == state
    found = next(item for item in journal.items() if item.item_id == TRIAL)
    assert (found.void, found.lost, found.fault) == (3, 0, ("launch", "attempt 3"))
    assert TRIAL not in journal.pending()
    assert journal.calls_booked() == 3
    again = reopen(journal, path, clock)
    assert TRIAL in again.pending()
    assert again.void(again.begin(TRIAL), "launch", "once more", retries=0) == "exhausted"
    again.close()


def test_s13_6_a_killed_attempt_is_lost_and_stays_spent(journal: Journal, path: Path, clock: Clock) -> None:
    token = journal.begin(TRIAL, reserved_calls=7)
    again = reopen(journal, path, clock)
    found = next(item for item in again.items() if item.item_id == TRIAL)
    assert (found.state, found.lost, found.void) == ("planned", 1, 0)
    assert again.calls_booked() == 7
    with pytest.raises(StaleToken):
        again.capture(token, {}, {})
    again.capture(again.begin(TRIAL, reserved_calls=7), {"second": True}, {}, calls=2)
    assert again.calls_booked() == 9
    assert [capture.body for capture in again.captures()] == [{"second": True}]
    again.close()


def test_s13_7_1_the_plan_is_committed_once(journal: Journal) -> None:
    journal.plan(ITEMS, PLAN)
    assert len(journal.items()) == 3
    with pytest.raises(RunFault, match="plan-mismatch in Plan: this run was planned as sha256:1"):
        journal.plan(ITEMS[:1], "sha256:" + "2" * 64)


def test_s13_19_a_plan_has_a_ceiling(journal: Journal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("eval_quality.run.store.journal.MAX_ITEMS", 2)
    with pytest.raises(RunFault, match="3 items are more than 2"):
        journal.plan(ITEMS, PLAN)


LISTED = [(here, there) for here, targets in schema.TRANSITIONS.items() for there in targets]


@pytest.mark.parametrize(("here", "there"), LISTED)
def test_s12_10_listed_transitions(journal: Journal, here: str, there: str) -> None:
    journal._writer.do(lambda db: journal._append_state(db, here, "", journal._invocation))
    journal.enter(there, "why")
    assert journal.state() == there
    assert journal.states()[-1] == (there, "why")


@pytest.mark.parametrize("here", list(schema.TRANSITIONS))
def test_s12_10_no_other_transition(journal: Journal, here: str) -> None:
    journal._writer.do(lambda db: journal._append_state(db, here, "", journal._invocation))
    for there in schema.TRANSITIONS:
        if there != here and there not in schema.TRANSITIONS[here]:
            with pytest.raises(ValueError, match=f"does not go from {here} to {there}"):
                journal.enter(there)
    before = journal.states()
    journal.enter(here)
    assert journal.states() == before


def test_events_are_numbered_without_a_gap_over_invocations(journal: Journal, path: Path, clock: Clock) -> None:
    assert journal.event("run.created") == 1
    assert journal.event("item.started", {"itemId": TRIAL}) == 2
    again = reopen(journal, path, clock)
    assert again.event("run.stopped") == 3
    found = list(again.events())
    assert [(event.seq, event.event, event.body) for event in found] == [
        (1, "run.created", {}),
        (2, "item.started", {"itemId": TRIAL}),
        (3, "run.stopped", {}),
    ]
    assert [event.seq for event in again.events(after=2)] == [3]
    again.close()


def test_events_come_in_pages(journal: Journal) -> None:
    for _ in range(450):
        journal.event("tick")
    assert [event.seq for event in journal.events()] == list(range(1, 451))


def test_captures_come_in_plan_order_and_in_pages(path: Path, clock: Clock) -> None:
    journal = Journal(Writer(path, create=True), clock.wall, clock.monotonic)
    journal.plan([Item(f"trial/{number}", "trial" if number % 2 else "vote") for number in range(500)], PLAN)
    for number in reversed(range(500)):
        journal.capture(journal.begin(f"trial/{number}"), number, {})
    assert [capture.body for capture in journal.captures()] == list(range(500))
    assert [capture.body for capture in journal.captures("trial")] == list(range(1, 500, 2))
    journal.close()


def test_a_wall_clock_that_jumps_changes_no_order(journal: Journal, path: Path, clock: Clock) -> None:
    journal.enter("qualifying")
    journal.event("first")
    clock.now_ms -= 10**9
    journal.enter("measuring")
    journal.event("second")
    journal.capture(journal.begin(TRIAL), {"a": 1}, {})
    again = reopen(journal, path, clock)
    clock.now_ms += 10**12
    assert [state for state, _ in again.states()] == ["created", "planned", "qualifying", "measuring"]
    assert [event.event for event in again.events()] == ["first", "second"]
    assert again.pending() == ("fixture", "trial/a/P-001/2")
    again.close()


def test_time_spent_is_the_monotonic_clocks_over_all_invocations(journal: Journal, path: Path, clock: Clock) -> None:
    clock.seconds += 2.5
    clock.now_ms += 10**9
    assert journal.active_ms() == 2500
    again = reopen(journal, path, clock)
    clock.seconds += 1.25
    assert again.active_ms() == 3750
    again.close()


def test_a_value_that_cannot_be_stored_exactly_is_refused_and_the_attempt_goes_on(journal: Journal) -> None:
    token = journal.begin(TRIAL)
    with pytest.raises(RuntimeFault, match=r"non-canonicalizable-value in Capture\.body"):
        journal.capture(token, {"n": 2**60}, {})
    journal.capture(token, {"n": 1}, {})
    assert state_of(journal, TRIAL) == "captured"


def test_a_request_that_fails_takes_no_other_with_it(journal: Journal) -> None:
    started = threading.Barrier(9)

    def good(number: int) -> int:
        started.wait()
        return journal.event(f"event-{number}")

    def bad() -> None:
        started.wait()
        with pytest.raises(ValueError, match="cannot begin"):
            journal.begin("nobody")

    with ThreadPoolExecutor(9) as threads:
        bad_one = threads.submit(bad)
        numbers = list(threads.map(good, range(8)))
        bad_one.result()
    assert sorted(numbers) == list(range(1, 9))


def test_a_broken_rule_of_the_file_is_one_requests_fault(journal: Journal) -> None:
    with pytest.raises(RunFault, match="store-corrupt in Journal: a rule of the journal was broken"):
        journal._writer.do(lambda db: db.execute("INSERT INTO item VALUES ('fixture', 0, 'x', 'planned', 0, 0)"))
    assert journal.event("still works") == 1


def test_many_threads_share_one_journal(path: Path, clock: Clock) -> None:
    journal = Journal(Writer(path, create=True), clock.wall, clock.monotonic)
    names = [f"trial/{number}" for number in range(200)]
    journal.plan([Item(name, "trial") for name in names], PLAN)
    with ThreadPoolExecutor(16) as threads:
        list(threads.map(lambda name: journal.capture(journal.begin(name, 1), {"name": name}, {}, calls=1), names))
    assert [capture.body["name"] for capture in journal.captures()] == names
    assert journal.calls_booked() == 200
    journal.close()


def test_a_closed_journal_says_so(journal: Journal) -> None:
    journal.close("done")
    with pytest.raises(ValueError, match="the journal is closed"):
        journal.state()
    journal._writer.close()


def test_notes_are_kept(journal: Journal) -> None:
    assert journal.noted("seed") is None
    journal.note("seed", "1")
    journal.note("seed", "2")
    assert journal.noted("seed") == "2"


# -- what is no journal --


def test_s13_5_1_a_file_of_another_program(tmp_path: Path) -> None:
    path = tmp_path / "other"
    db = sqlite3.connect(path)
    db.execute("CREATE TABLE t(x)")
    db.close()
    with pytest.raises(RunFault, match="store-unsupported in Journal: the file is not a journal of this program"):
        Writer(path, create=False)


def test_s13_5_1_a_newer_version(path: Path) -> None:
    Writer(path, create=True).close()
    db = sqlite3.connect(path)
    db.execute("PRAGMA user_version=2")
    db.close()
    with pytest.raises(RunFault, match="the journal has version 2, this program knows version 1"):
        Writer(path, create=False)


def test_s13_5_1_a_damaged_file(path: Path) -> None:
    path.write_bytes(b"no database at all" * 1000)
    with pytest.raises(RunFault, match="store-corrupt in Journal"):
        Writer(path, create=False)


def test_s13_5_1_a_missing_file(path: Path) -> None:
    with pytest.raises(RunFault, match="store-unsupported in Journal"):
        Writer(path, create=False)


def test_s13_5_1_an_old_library(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite3, "sqlite_version_info", (3, 36, 0))
    with pytest.raises(RunFault, match=r"is older than 3\.37\.0"):
        open_journal(path, True)


def test_s13_5_1_another_writer(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Writer(path, create=True).close()
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    monkeypatch.setattr("eval_quality.run.store.writer.BUSY_SECONDS", 0.05)
    writer = Writer(path, create=False)
    with pytest.raises(RunFault, match="store-locked in Journal: another process is writing"):
        writer.do(lambda db: db.execute("SELECT 1").fetchone())
    other.execute("ROLLBACK")
    other.close()
    # A commit that failed leaves nothing to go on with.
    with pytest.raises(RunFault, match="store-locked"):
        writer.do(lambda db: db.execute("SELECT 1").fetchone())
    writer.close()


# -- T13-04 --


class Accounting(RuleBasedStateMachine):
    """Random begins, captures, voids, crashes and stale tokens against a model of a few lines."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.path = Path(self.folder.name) / "journal"
        self.clock = Clock()
        self.journal = Journal(Writer(self.path, create=True), self.clock.wall, self.clock.monotonic)
        self.names = [f"trial/{number}" for number in range(3)]
        self.journal.plan([Item(name, "trial") for name in self.names], PLAN)
        self.states = dict.fromkeys(self.names, "planned")
        self.voids = dict.fromkeys(self.names, 0)
        self.lost = dict.fromkeys(self.names, 0)
        self.running: dict[str, tuple[str, int]] = {}
        self.spent = 0
        self.captures: dict[str, Any] = {}

    tokens = Bundle("tokens")

    @rule(target=tokens, number=st.integers(0, 2), reserved=st.integers(0, 9))
    def begin(self, number: int, reserved: int) -> str:
        name = self.names[number]
        if self.states[name] not in ("planned", "void"):
            with pytest.raises(ValueError):
                self.journal.begin(name, reserved)
            return "no token"
        token = self.journal.begin(name, reserved)
        self.states[name] = "running"
        self.running[token] = (name, reserved)
        return token

    @rule(token=tokens, body=st.integers(0, 99), calls=st.integers(0, 9))
    def capture(self, token: str, body: int, calls: int) -> None:
        if token not in self.running:
            with pytest.raises(StaleToken):
                self.journal.capture(token, body, {}, calls=calls)
            return
        name, _ = self.running.pop(token)
        self.journal.capture(token, body, {}, calls=calls)
        self.states[name] = "captured"
        self.captures[name] = body
        self.spent += calls

    @rule(token=tokens, calls=st.integers(0, 9), retries=st.integers(0, 2))
    def void(self, token: str, calls: int, retries: int) -> None:
        if token not in self.running:
            with pytest.raises(StaleToken):
                self.journal.void(token, "code", "detail", calls, retries)
            return
        name, _ = self.running.pop(token)
        self.voids[name] += 1
        self.states[name] = "void" if self.voids[name] <= retries else "exhausted"
        assert self.journal.void(token, "code", "detail", calls, retries) == self.states[name]
        self.spent += calls

    @rule()
    def crash_and_resume(self) -> None:
        self.journal._writer.close()
        self.journal = Journal(Writer(self.path, create=False), self.clock.wall, self.clock.monotonic)
        for name, reserved in self.running.values():
            self.states[name] = "planned"
            self.lost[name] += 1
            self.spent += reserved
        self.running.clear()
        for name, state in self.states.items():
            if state == "exhausted":
                self.states[name] = "planned"
                self.voids[name] = 0

    @rule(jump=st.integers(-(10**9), 10**9))
    def the_clock_jumps(self, jump: int) -> None:
        self.clock.now_ms += jump

    @invariant()
    def agrees(self) -> None:
        found = {item.item_id: item for item in self.journal.items()}
        assert {name: item.state for name, item in found.items()} == self.states
        assert {name: item.void for name, item in found.items()} == self.voids
        assert {name: item.lost for name, item in found.items()} == self.lost
        assert {capture.item_id: capture.body for capture in self.journal.captures()} == self.captures
        assert self.journal.calls_booked() == self.spent + sum(reserved for _, reserved in self.running.values())

    def teardown(self) -> None:
        self.journal._writer.close()
        self.folder.cleanup()


TestAccounting = Accounting.TestCase
TestAccounting.settings = settings(max_examples=25, stateful_step_count=20, deadline=None)


@pytest.mark.slow
class TestAccountingLong(Accounting.TestCase):
    """The same for longer."""

    settings = settings(max_examples=150, stateful_step_count=30, deadline=None)
