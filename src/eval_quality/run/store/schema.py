"""The journal's tables (spec 13 §13.5.2, simplified by docs/decisions/run-store.md).

At most one capture an item, never replaced: that is a property of the file (primary key and triggers), not of the code.
The documents of a capture are in the row itself, so that content and reference become durable in one commit.
"""

from typing import Final

APPLICATION_ID: Final = 0x45515231
SCHEMA_VERSION: Final = 1
LEAST_SQLITE: Final = (3, 37, 0)
"""The first with strict tables."""

SCHEMA: Final = """
CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
CREATE TABLE invocation(
  invocation_id INTEGER PRIMARY KEY, pid INTEGER NOT NULL, host TEXT NOT NULL, boot_id TEXT NOT NULL,
  started_ms INTEGER NOT NULL, active_ms INTEGER NOT NULL DEFAULT 0, ended_ms INTEGER, end_reason TEXT) STRICT;
CREATE TABLE run_state(
  seq INTEGER PRIMARY KEY, state TEXT NOT NULL CHECK(state IN
   ('created','planned','qualifying','measuring','sealing','done','invalid','stopped','failed')),
  reason TEXT NOT NULL, invocation_id INTEGER NOT NULL REFERENCES invocation, at_ms INTEGER NOT NULL) STRICT;
CREATE TABLE item(
  item_id TEXT PRIMARY KEY, ordinal INTEGER NOT NULL UNIQUE, kind TEXT NOT NULL,
  state TEXT NOT NULL CHECK(state IN ('planned','running','captured','void','exhausted')),
  void_count INTEGER NOT NULL DEFAULT 0, lost_count INTEGER NOT NULL DEFAULT 0) STRICT;
CREATE TABLE attempt(
  item_id TEXT NOT NULL REFERENCES item, number INTEGER NOT NULL, token TEXT NOT NULL UNIQUE,
  invocation_id INTEGER NOT NULL REFERENCES invocation,
  state TEXT NOT NULL CHECK(state IN ('running','captured','void','lost')),
  calls INTEGER NOT NULL CHECK(calls >= 0), started_ms INTEGER NOT NULL, ended_ms INTEGER,
  fault_code TEXT, fault_detail TEXT, PRIMARY KEY(item_id, number)) STRICT;
CREATE UNIQUE INDEX one_running ON attempt(item_id) WHERE state = 'running';
CREATE TABLE capture(
  item_id TEXT PRIMARY KEY REFERENCES item, number INTEGER NOT NULL,
  body_digest TEXT NOT NULL, body BLOB NOT NULL, measured_digest TEXT NOT NULL, measured BLOB NOT NULL,
  committed_ms INTEGER NOT NULL,
  FOREIGN KEY(item_id, number) REFERENCES attempt(item_id, number)) STRICT;
CREATE TABLE attachment(
  item_id TEXT NOT NULL REFERENCES capture, name TEXT NOT NULL, digest TEXT NOT NULL,
  PRIMARY KEY(item_id, name)) STRICT;
CREATE TABLE artifact(
  name TEXT PRIMARY KEY, kind TEXT NOT NULL, class TEXT NOT NULL CHECK(class IN
   ('input','reproducible','measured','account','private')),
  artifact_digest TEXT, byte_digest TEXT NOT NULL) STRICT;
CREATE TABLE event(seq INTEGER PRIMARY KEY, at_ms INTEGER NOT NULL, event TEXT NOT NULL, body TEXT NOT NULL) STRICT;
CREATE TRIGGER capture_final BEFORE UPDATE ON capture BEGIN SELECT RAISE(ABORT, 'a capture is final'); END;
CREATE TRIGGER capture_keep BEFORE DELETE ON capture BEGIN SELECT RAISE(ABORT, 'a capture is final'); END;
"""

TRANSITIONS: Final = {
    "created": ("planned", "failed"),
    "planned": ("qualifying", "stopped", "failed"),
    "qualifying": ("measuring", "invalid", "stopped", "failed"),
    "measuring": ("sealing", "stopped", "failed"),
    "sealing": ("done", "stopped", "failed"),
    "stopped": ("qualifying", "measuring", "sealing", "failed"),
    "failed": ("planned", "qualifying", "measuring", "sealing", "stopped"),
    "done": (),
    "invalid": (),
}
"""What may follow a state (spec 12 §12.10). A failed run goes on in the state it came from."""

TERMINAL: Final = ("done", "invalid")
