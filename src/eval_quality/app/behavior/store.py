"""The files of behavioural evidence: written whole or not at all (spec 11 §8, §17.7).

A target is replaced by a synced temporary file beside it; the evidence before it stays as `<stem>.previous.json`. A
process killed at any point leaves the old evidence or the new one.
"""

import fcntl
import hashlib
import os
import shutil
import subprocess
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any, Final

import msgspec

from eval_quality.app.behavior.reading import Unreadable, read_below
from eval_quality.app.behavior.root import STATE_FOLDER, RepositoryRefused
from eval_quality.app.files import PathError, read_bytes
from eval_quality.core.behavior.digests import sha256_hex
from eval_quality.core.behavior.jsonish import JsonObject, as_object
from eval_quality.core.behavior.provenance import GENESIS, ledger_heads, ledger_line
from eval_quality.errors import RuntimeFault
from eval_quality.value.scan import scan

EVIDENCE_NAME: Final = "evals/results/agent-behavior-v1.json"
BARE_NAME: Final = "evals/results/agent-behavior-bare-v1.json"
SEALED_NAME: Final = "agent-behavior-holdout-v1.json"
LEDGER_NAME: Final = f"{STATE_FOLDER}/runs.jsonl"
EXPORTS: Final = f"{STATE_FOLDER}/exports"
KEY_VARIABLE: Final = "EVAL_QUALITY_EVIDENCE_KEY"
"""The environment variable with the signing key; it belongs to the runner, not to skill authors."""

MAX_LEDGER_BYTES: Final = 64 * 1024 * 1024

Clock = Callable[[], datetime]


def utc_now() -> datetime:
    """The current time."""
    return datetime.now(UTC)


def iso(moment: datetime) -> str:
    """ISO-8601 UTC with milliseconds and `Z` (spec 11 §7.4)."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def indented(value: Any) -> bytes:
    """The file form of every document here: UTF-8, two-space indent, one final newline."""
    return msgspec.json.format(msgspec.json.encode(value), indent=2) + b"\n"


def replace_file(path: str, data: bytes, *, keep_previous: bool = False) -> None:
    """Replace a file by synced bytes; with `keep_previous` the old one stays beside it. Raises `PathError`."""
    folder = os.path.dirname(os.path.abspath(path))
    temporary = os.path.join(folder, f".{os.path.basename(path)[:200]}.{os.urandom(6).hex()}.tmp")
    try:
        os.makedirs(folder, exist_ok=True)
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
        try:
            with os.fdopen(descriptor, "wb") as stream:
                stream.write(data)
                stream.flush()
                os.fsync(stream.fileno())
            if keep_previous and os.path.exists(path):
                _keep(path)
            os.replace(temporary, path)
        except BaseException:
            if os.path.exists(temporary):
                os.unlink(temporary)
            raise
    except OSError as error:
        raise PathError("write", path, error.errno or 0) from error


def _keep(path: str) -> None:
    stem = path[: -len(".json")] if path.endswith(".json") else path
    previous = f"{stem}.previous.json"
    link = f"{previous}.{os.urandom(6).hex()}.tmp"
    try:
        os.link(path, link)
    except OSError:  # a file system without hard links
        shutil.copyfile(path, link)
    try:
        os.replace(link, previous)
    except BaseException:
        os.unlink(link)
        raise


def path_inside(root: str, relative: str) -> str:
    """The absolute path of a file of ours below the root. Raises `RepositoryRefused` where a link would lead elsewhere.

    A repository is somebody else's: a folder of it that is a link must not make us write outside of it.
    """
    current = root
    for part in relative.split("/"):
        current = os.path.join(current, part)
        if os.path.islink(current):
            raise RepositoryRefused(f"{relative}: {part} is a link; nothing is written through it")
    return current


def sidecar_path(evidence: str) -> str:
    """Where the provenance of an evidence file stands."""
    stem = evidence[: -len(".json")] if evidence.endswith(".json") else evidence
    return f"{stem}.provenance.json"


class Stored(msgspec.Struct, frozen=True):
    """A file read back: its bytes' hash and value, or why there is none. `absent` when it does not exist."""

    value: Any = None
    sha256: str = ""
    problem: str | None = None
    absent: bool = False


def read_stored(path: str) -> Stored:
    """Read a document of ours without raising: what is wrong with evidence is a finding, not a failure."""
    try:
        data = read_bytes(path, path, "AgentBehavior")
    except PathError as error:
        return Stored(problem=str(error), absent=not os.path.lexists(path))
    except RuntimeFault as fault:
        return Stored(problem=fault.detail)
    digest = hashlib.sha256(data).hexdigest()
    try:
        return Stored(scan(data, "AgentBehavior"), digest)
    except RuntimeFault as fault:
        return Stored(None, digest, fault.detail)


class Ledger(msgspec.Struct, frozen=True):
    """The run ledger: entries, head digest, and why the chain is broken or None."""

    entries: tuple[Any, ...]
    head: str
    problem: str | None


def read_ledger(root: str) -> Ledger:
    """The ledger of a repository; empty when there is none."""
    try:
        data = read_below(root, LEDGER_NAME, MAX_LEDGER_BYTES)
    except Unreadable as error:
        return Ledger((), GENESIS, None if error.absent else str(error))
    lines = [line for line in data.split(b"\n") if line]
    parsed: list[tuple[bytes, Any]] = []
    for line in lines:
        try:
            parsed.append((line, scan(line, "Ledger")))
        except RuntimeFault:
            parsed.append((line, None))
    head, problem = ledger_heads(parsed)
    return Ledger(tuple(value for _raw, value in parsed), head, problem)


def append_ledger(root: str, entry: Mapping[str, Any]) -> str:
    """Append one entry and return its digest; concurrent writers take turns. Raises `PathError`."""
    path = path_inside(root, LEDGER_NAME)
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW, 0o666)
        with os.fdopen(descriptor, "ab") as stream:
            fcntl.flock(stream.fileno(), fcntl.LOCK_EX)
            line = ledger_line(read_ledger(root).head, entry)
            stream.write(line + b"\n")
            stream.flush()
            os.fsync(stream.fileno())
    except OSError as error:
        raise PathError("write", path, error.errno or 0) from error
    return sha256_hex(line)


def repository_state(root: str) -> tuple[str | None, bool | None]:
    """(revision, dirty) of the checkout, each None outside of one. Starts nothing the repository could choose."""
    revision = _git(root, "rev-parse", "--verify", "HEAD")
    if revision is None:
        return None, None
    status = _git(root, "-c", "core.fsmonitor=false", "status", "--porcelain", "--untracked-files=no")
    return revision.strip() or None, None if status is None else bool(status.strip())


def _git(root: str, *arguments: str) -> str | None:
    environment = {
        "PATH": os.environ.get("PATH", os.defpath),
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_TERMINAL_PROMPT": "0",
        "HOME": os.environ.get("HOME", "/"),
    }
    try:
        finished = subprocess.run(
            ["git", "-C", root, *arguments],
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=10,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return finished.stdout.decode("utf-8", "replace") if finished.returncode == 0 else None


def signing_key() -> bytes | None:
    """The runner's key, or None."""
    text = os.environ.get(KEY_VARIABLE, "")
    return text.encode() if text else None


def read_run_log(path: str) -> tuple[JsonObject | None, dict[str, int]]:
    """(header, time-outs by case id) of a runner's log; nothing for an absent or foreign file."""
    try:
        data = read_bytes(path, path, "RunLog")
    except (PathError, RuntimeFault):
        return None, {}
    header: JsonObject | None = None
    timeouts: dict[str, int] = {}
    for line in data.split(b"\n"):
        try:
            entry = as_object(scan(line, "RunLog")) if line else None
        except RuntimeFault:
            continue
        if entry is None:
            continue
        case_id = entry.get("caseId")
        if entry.get("op") == "run":
            header = entry
        elif isinstance(case_id, str):
            timeouts.pop(case_id, None)
            if entry.get("outcome") == "timeout" and isinstance(entry.get("limitMs"), int):
                timeouts[case_id] = entry["limitMs"]
    return header, timeouts


def evidence_path(root: str, out: str | None, default: str = EVIDENCE_NAME) -> str:
    """Where evidence is written: `--out` as given, else the default below the root, never through a link."""
    return os.path.abspath(out) if out is not None else path_inside(root, default)


def stored_path(root: str, out: str | None) -> str:
    """Where evidence is read from; reading follows links, and never fails for one."""
    return os.path.abspath(out) if out is not None else os.path.join(root, EVIDENCE_NAME)


def holdout_folder(root: str, holdout_root: str | None) -> str | None:
    """The absolute sealed root, or None when there is none that can be read."""
    if holdout_root is None:
        return None
    folder = os.path.normpath(os.path.join(root, os.path.expanduser(holdout_root)))
    return folder if os.path.isdir(folder) else None
