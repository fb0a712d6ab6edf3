"""Where an experiment's files come from: the author's folder, or the snapshot a run took of it.

Rules (spec 12 §12.3, §12.4 points 5 and 8): paths are POSIX and relative to the folder; absolute paths, `..`, NUL and
backslashes are refused; names that begin with a dot are skipped; a symbolic link is followed only while its real path
stays inside. Every file read is remembered, so that the run can be repeated from the bytes it read.
"""

import os
import stat
from collections.abc import Iterator, Mapping
from typing import Protocol

from eval_quality.run.errors import ExperimentFailure
from eval_quality.run.glob import matcher
from eval_quality.run.source import MAX_SOURCE_BYTES
from eval_quality.value.text import utf16_key


class Folder(Protocol):
    """A readable experiment folder."""

    def names(self, pattern: str) -> tuple[str, ...]:
        """The relative paths that match, in ascending UTF-16 order."""
        ...

    def read(self, path: str) -> bytes:
        """The bytes of one file. Raises `ExperimentFailure`."""
        ...


def path_problem(path: str) -> str:
    """Why `path` may not be used inside the folder, or an empty text."""
    if path.startswith("/"):
        return "an absolute path leaves the experiment folder"
    if "\\" in path or "\0" in path:
        return "a path is written with forward slashes and without NUL"
    if any(part in ("", ".", "..") for part in path.split("/")):
        return "a path has no empty, `.` or `..` part"
    return ""


class DiskFolder:
    """The author's folder on disk. `root` is its path."""

    def __init__(self, root: str) -> None:
        self.root = root
        self.files: dict[str, bytes] = {}

    def names(self, pattern: str) -> tuple[str, ...]:
        """The relative paths of regular files that match."""
        matches = matcher((pattern,))
        return tuple(sorted(filter(matches, self._walk("")), key=utf16_key))

    def _walk(self, folder: str) -> Iterator[str]:
        with os.scandir(os.path.join(self.root, folder)) as found:
            for item in sorted(found, key=lambda item: item.name):
                path = f"{folder}/{item.name}" if folder else item.name
                if item.name.startswith("."):
                    continue
                if item.is_dir(follow_symlinks=False):
                    yield from self._walk(path)
                elif item.is_file():
                    yield path

    def read(self, path: str) -> bytes:
        """The bytes of one file, at most `MAX_SOURCE_BYTES` long."""
        if path in self.files:
            return self.files[path]
        problem = path_problem(path)
        full = os.path.join(self.root, path)
        real_root, real = os.path.realpath(self.root), os.path.realpath(full)
        if not problem and os.path.commonpath((real_root, real)) != real_root:
            problem = "the link leaves the experiment folder"
        if problem:
            raise ExperimentFailure.of("experiment-path-escape", f"Experiment/{path}", problem)
        try:
            status = os.stat(real)
            if not stat.S_ISREG(status.st_mode):
                raise ExperimentFailure.of("author-unreadable-source", f"Source[{path}]", "this is not a regular file")
            if status.st_size > MAX_SOURCE_BYTES:
                detail = f"the file is larger than {MAX_SOURCE_BYTES} bytes"
                raise ExperimentFailure.of("author-limit-exceeded", f"Source[{path}]", detail)
            with open(real, "rb") as file:
                data = file.read(MAX_SOURCE_BYTES + 1)
        except OSError as error:
            detail = f"the file cannot be read: {error.strerror}"
            raise ExperimentFailure.of("author-unreadable-source", f"Source[{path}]", detail) from error
        self.files[path] = data
        return data


class SnapshotFolder:
    """The files a run read, by relative path."""

    def __init__(self, files: Mapping[str, bytes]) -> None:
        self.files = dict(files)

    def names(self, pattern: str) -> tuple[str, ...]:
        """The relative paths that match."""
        matches = matcher((pattern,))
        return tuple(sorted(filter(matches, self.files), key=utf16_key))

    def read(self, path: str) -> bytes:
        """The bytes of one file of the snapshot."""
        if path not in self.files:
            raise ExperimentFailure.of("author-unreadable-source", f"Source[{path}]", "the snapshot has no such file")
        return self.files[path]
