"""The ports: what the decision layers may ask of the outside world (spec 07 §7.1).

Every method is an ordinary blocking call `method(request, signal) -> response`. Each implementation has exactly one
underlying effect a call (no retry, back-off, fallback, caching or logging), raises `RuntimeFault` for every failure and
never returns one in-band, and raises `aborted` promptly when its signal is aborted, from whichever thread.
"""

from functools import partial
from typing import Any, Final, Protocol, TypeVar

from eval_quality.model.decode import decode
from eval_quality.model.ports import (
    ClockReadRequest,
    ClockReadResponse,
    CorpusResolveRequest,
    CorpusResolveResponse,
    FileReadRequest,
    FileReadResponse,
    FileWriteRequest,
    FileWriteResponse,
    ProbeObservation,
    ProbeRequest,
)
from eval_quality.probe.seam import PortMethod
from eval_quality.probe.signals import AbortSignal


class EnvironmentProbePort(Protocol):
    """Issues one operation against the system under test."""

    def probe(self, request: ProbeRequest, signal: AbortSignal) -> ProbeObservation:
        """Whatever the system answers is an observation: any status, exit code or tool error (§7.1.3)."""
        ...


class CorpusPort(Protocol):
    """Resolves opaque private references to bytes."""

    def resolve(self, request: CorpusResolveRequest, signal: AbortSignal) -> CorpusResolveResponse:
        """The bytes behind a private reference; digests are the caller's to recompute."""
        ...


class ClockPort(Protocol):
    """Tells the time."""

    def read(self, request: ClockReadRequest, signal: AbortSignal) -> ClockReadResponse:
        """The current time, UTC, ending in Z."""
        ...


class FileSystemPort(Protocol):
    """Reads and writes whole files."""

    def read_file(self, request: FileReadRequest, signal: AbortSignal) -> FileReadResponse:
        """The bytes of one file."""
        ...

    def write_file(self, request: FileWriteRequest, signal: AbortSignal) -> FileWriteResponse:
        """Replaces one file; the count of bytes written."""
        ...


T = TypeVar("T")


def _method(name: str, stem: str, request: type[T], response: Any) -> PortMethod[T, Any]:
    """The port method whose two artifact paths are `<stem>Request` and `<stem>Response` (§7.2.2)."""
    request_path, response_path = f"{stem}Request", f"{stem}Response"
    return PortMethod(
        name,
        request_path,
        response_path,
        partial(_parse, request, request_path),
        partial(_parse, response, response_path),
    )


def _parse(kind: type[T], artifact_path: str, value: object) -> T:
    return decode(kind, value, artifact_path)


PROBE: Final[PortMethod[ProbeRequest, ProbeObservation]] = PortMethod(
    "probe",
    "ProbeRequest",
    "ProbeObservation",
    partial(_parse, ProbeRequest, "ProbeRequest"),
    partial(_parse, ProbeObservation, "ProbeObservation"),
)
RESOLVE: Final[PortMethod[CorpusResolveRequest, CorpusResolveResponse]] = _method(
    "resolve", "CorpusResolve", CorpusResolveRequest, CorpusResolveResponse
)
READ_CLOCK: Final[PortMethod[ClockReadRequest, ClockReadResponse]] = _method(
    "read", "ClockRead", ClockReadRequest, ClockReadResponse
)
READ_FILE: Final[PortMethod[FileReadRequest, FileReadResponse]] = _method(
    "readFile", "FileRead", FileReadRequest, FileReadResponse
)
WRITE_FILE: Final[PortMethod[FileWriteRequest, FileWriteResponse]] = _method(
    "writeFile", "FileWrite", FileWriteRequest, FileWriteResponse
)
