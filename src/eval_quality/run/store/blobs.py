"""Content by its digest (spec 13 §13.4.1).

Key: the byte digest. A blob is on the disk before anything refers to it, is never changed, and is hashed again when
it is first read in a process. Private blobs lie in a folder that only the owner may enter.
"""

import threading
from collections.abc import Iterator
from pathlib import Path

from eval_quality.run.errors import RunFault
from eval_quality.run.store.files import faults, make_folder, write_new
from eval_quality.value.digest import digest_bytes, is_digest

PRIVATE = "private"


class Blobs:
    """The blobs of one run directory."""

    def __init__(self, directory: Path) -> None:
        self._public = directory / "blobs"
        self._private = directory / PRIVATE / "blobs"
        self._temporary = directory / "tmp"
        self._known: set[str] = set()
        self._lock = threading.Lock()

    def put(self, data: bytes, private: bool = False) -> str:
        """Store bytes durably and give their digest. Raises `RunFault` (`store-full`, `store-corrupt`)."""
        digest = digest_bytes(data)
        path = self._place(digest, private)
        with faults("blob", len(data)):
            if path.exists():
                if path.stat().st_size != len(data):
                    raise _corrupt(digest, f"it has {path.stat().st_size} bytes instead of {len(data)}")
                return digest
            with self._lock:
                if not path.parent.exists():
                    make_folder(path.parent, 0o700 if private else 0o755)
            write_new(path, data, self._temporary, 0o400 if private else 0o444)
        return digest

    def get(self, digest: str) -> bytes:
        """The bytes of a digest. Raises `RunFault` (`store-corrupt`) when they are missing or not these."""
        path = self.path(digest)
        if path is None:
            raise _corrupt(digest, "it is missing")
        with faults("blob"):
            data = path.read_bytes()
        if digest not in self._known:
            if digest_bytes(data) != digest:
                raise _corrupt(digest, "its content has another digest")
            self._known.add(digest)
        return data

    def path(self, digest: str) -> Path | None:
        """The file that holds a digest's bytes, if there is one."""
        if not is_digest(digest):
            raise ValueError("not a digest")
        for private in (False, True):
            path = self._place(digest, private)
            if path.exists():
                return path
        return None

    def _place(self, digest: str, private: bool) -> Path:
        key = digest.removeprefix("sha256:")
        return (self._private if private else self._public) / key[:2] / key[2:]

    def all(self) -> Iterator[tuple[str, Path]]:
        """Every blob file: the digest that its name claims, and its path. Other files are skipped."""
        for root in (self._public, self._private):
            if root.is_dir():
                for path in sorted(root.glob("*/*")):
                    digest = f"sha256:{path.parent.name}{path.name}"
                    if is_digest(digest):
                        yield digest, path


def _corrupt(digest: str, why: str) -> RunFault:
    return RunFault.of("store-corrupt", f"Blob[{digest}]", why)
