"""A small notes service: read a note, change its title or its tags.

    python notes_api.py --port 8080

It keeps its notes in memory and starts with the same three every time. Every answer is JSON. `version` is a digest of
the note as it is stored, so two equal notes have one version. There is no clock and no random number in it: the same
calls give the same answers.
"""

import argparse
import hashlib
import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock

NOTES = {
    "n-1": {"id": "n-1", "title": "Groceries", "tags": ["errand"]},
    "n-2": {"id": "n-2", "title": "Read the contract", "tags": ["work"]},
    "n-3": {"id": "n-3", "title": "Dentist", "tags": ["errand", "health"]},
}
LONGEST_BODY = 64 * 1024


class Store:
    """The notes, and what may be done with them."""

    def __init__(self):
        self.notes = {key: dict(note) for key, note in NOTES.items()}
        self.lock = Lock()

    def version(self, note_id):
        """A digest of the note as it is stored."""
        text = json.dumps(self.notes[note_id], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:12]

    def read(self, note_id):
        """One note."""
        with self.lock:
            if note_id not in self.notes:
                return 404, {"error": "no such note"}
            return 200, {"note": self.notes[note_id], "version": self.version(note_id)}

    def change(self, note_id, changes):
        """Replace the title, the tags or both, and answer with the changed note."""
        with self.lock:
            note = self.notes.get(note_id)
            if note is None:
                return 404, {"ok": False, "error": "no such note"}
            problem = refusal(changes)
            if problem:
                return 400, {"ok": False, "error": problem}
            updated = {**note, **changes}
            self.notes[note_id] = updated
            return 200, {"ok": True, "note": updated, "version": self.version(note_id)}


def refusal(changes):
    """Why these changes cannot be made, or None."""
    if not isinstance(changes, dict) or not changes or set(changes) - {"title", "tags"}:
        return "give a title, tags or both"
    if not isinstance(changes.get("title", ""), str):
        return "the title must be a string"
    tags = changes.get("tags", [])
    if not isinstance(tags, list) or not all(isinstance(tag, str) for tag in tags):
        return "the tags must be an array of strings"
    return None


class Handler(BaseHTTPRequestHandler):
    """`GET /notes/{id}` and `PATCH /notes/{id}`."""

    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.answer(*self.server.store.read(self.note_id()))

    def do_PATCH(self):
        length = int(self.headers.get("content-length", 0))
        if length > LONGEST_BODY:
            self.answer(413, {"ok": False, "error": "the body is too long"})
            return
        try:
            changes = json.loads(self.rfile.read(length))
        except ValueError:
            self.answer(400, {"ok": False, "error": "the body is not JSON"})
            return
        self.answer(*self.server.store.change(self.note_id(), changes))

    def note_id(self):
        return self.path.removeprefix("/notes/")

    def answer(self, status, body):
        data = json.dumps(body).encode()
        self.send_response_only(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        """Say nothing: standard output is for the address alone."""


def main():
    parser = argparse.ArgumentParser(description="A small notes service.")
    parser.add_argument("--port", type=int, default=0, help="0 takes a free one")
    server = ThreadingHTTPServer(("127.0.0.1", parser.parse_args().port), Handler)
    server.store = Store()
    print(f"http://127.0.0.1:{server.server_port}", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
