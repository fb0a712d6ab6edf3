"""The corpus, file-system and clock adapters of this host (spec 07 §7.6).

Corpus: an opaque reference is read as a POSIX path below a root.

1. Pre-check, lexical, before any I/O: an absolute path and one that still climbs after normalising are refused.
2. One read of `<root>/<reference>`.
3. Post-check: the real path of the target must lie below the real path of the root, or the bytes are discarded. This
   catches a symbolic link out of the root. A root of `/` works.
4. The reference is echoed with the bytes. Digests are the core's to recompute.

The file-system adapter restricts no path; the clock tells UTC with milliseconds.
"""

import os
import posixpath
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol

from eval_quality.errors import RuntimeFault
from eval_quality.model.ports import (
    ClockReadRequest,
    ClockReadResponse,
    CorpusResolveRequest,
    CorpusResolveResponse,
    FileReadRequest,
    FileReadResponse,
    FileWriteRequest,
    FileWriteResponse,
)
from eval_quality.probe.ports import READ_CLOCK, READ_FILE, RESOLVE, WRITE_FILE
from eval_quality.probe.seam import run_port_method
from eval_quality.probe.signals import AbortSignal
from eval_quality.value.text import quoted

ReadBytes = Callable[[str], Any]
"""Reads the whole file at a path; the answer is untyped."""


class FileMechanism(Protocol):
    """Whole-file access; answers are untyped."""

    def read_bytes(self, path: str) -> Any:
        """The bytes of a file."""
        ...

    def write_bytes(self, path: str, data: bytes) -> Any:
        """Replace a file; the count of bytes written."""
        ...


class HostFiles:
    """The host's file system."""

    def read_bytes(self, path: str) -> bytes:
        """The bytes of a file."""
        return Path(path).read_bytes()

    def write_bytes(self, path: str, data: bytes) -> int:
        """Replace a file; the count of bytes written."""
        return Path(path).write_bytes(data)


class LocalCorpusAdapter:
    """Resolves private references below one folder."""

    def __init__(self, root: str, mechanism: ReadBytes | None = None) -> None:
        self._root = root
        self._read = mechanism or HostFiles().read_bytes

    def resolve(self, request: CorpusResolveRequest | Mapping[str, Any], signal: AbortSignal) -> CorpusResolveResponse:
        """The bytes behind a reference; raises `RuntimeFault` only."""
        return run_port_method(
            RESOLVE,
            request,
            signal,
            lambda parsed: self._read(self._path(parsed)),
            lambda parsed, data: {"privateRef": parsed.private_ref, "bytes": data},
            honours_abort=False,
            before=_refuse_escape,
            after=self._refuse_outside,
        )

    def _path(self, request: CorpusResolveRequest) -> str:
        return os.path.join(self._root, posixpath.normpath(request.private_ref))

    def _refuse_outside(self, request: CorpusResolveRequest, data: object) -> None:
        del data
        try:
            root = os.path.realpath(self._root, strict=True)
            target = os.path.realpath(self._path(request), strict=True)
        except OSError as error:
            raise _refused(request, f"its real path cannot be resolved: {error}") from error
        relative = os.path.relpath(target, root)
        if os.path.isabs(relative) or relative == ".." or relative.startswith("../"):
            raise _refused(request, "it leads outside the corpus root")


def _refuse_escape(request: CorpusResolveRequest) -> None:
    path = posixpath.normpath(request.private_ref)
    if posixpath.isabs(path):
        raise _refused(request, "it is an absolute path")
    if ".." in path.split("/"):
        raise _refused(request, "it climbs out of the corpus root")


def _refused(request: CorpusResolveRequest, why: str) -> RuntimeFault:
    return RuntimeFault("port-failure", RESOLVE.request_path, f"reference {quoted(request.private_ref)} refused: {why}")


class FileSystemAdapter:
    """Whole-file reads and writes on the host."""

    def __init__(self, mechanism: FileMechanism | None = None) -> None:
        self._files = mechanism or HostFiles()

    def read_file(self, request: FileReadRequest | Mapping[str, Any], signal: AbortSignal) -> FileReadResponse:
        """The bytes of one file; raises `RuntimeFault` only."""
        return run_port_method(
            READ_FILE,
            request,
            signal,
            lambda parsed: self._files.read_bytes(parsed.path),
            lambda parsed, data: {"path": parsed.path, "bytes": data},
            honours_abort=False,
        )

    def write_file(self, request: FileWriteRequest | Mapping[str, Any], signal: AbortSignal) -> FileWriteResponse:
        """Replace one file; raises `RuntimeFault` only."""
        return run_port_method(
            WRITE_FILE,
            request,
            signal,
            lambda parsed: self._files.write_bytes(parsed.path, parsed.bytes),
            lambda parsed, count: {"path": parsed.path, "byteLength": count},
            honours_abort=False,
        )


class SystemClockAdapter:
    """The host's clock."""

    def __init__(self, mechanism: Callable[[], Any] | None = None) -> None:
        self._now = mechanism or utc_now

    def read(self, request: ClockReadRequest | Mapping[str, Any], signal: AbortSignal) -> ClockReadResponse:
        """The current time; raises `RuntimeFault` only."""
        return run_port_method(
            READ_CLOCK, request, signal, lambda _: self._now(), lambda _, now: {"now": now}, honours_abort=False
        )


def utc_now() -> str:
    """The current time as RFC 3339 UTC with milliseconds, ending in Z."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def create_local_corpus_adapter(root: str, mechanism: ReadBytes | None = None) -> LocalCorpusAdapter:
    """A corpus port over the folder `root`."""
    return LocalCorpusAdapter(root, mechanism)


def create_node_file_system_adapter(mechanism: FileMechanism | None = None) -> FileSystemAdapter:
    """A file-system port over the host's files; the name is the reference's."""
    return FileSystemAdapter(mechanism)


def create_system_clock_adapter(mechanism: Callable[[], Any] | None = None) -> SystemClockAdapter:
    """A clock port over the host's clock."""
    return SystemClockAdapter(mechanism)
