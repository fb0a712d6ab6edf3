"""`behavior-eval run`: a bundle through a provider (spec 11 §7.5, §17.11).

1. It reads a bundle file and nothing else: no module of the answer side is imported here, and a test says so.
2. Each request is one fresh call, in id order, at most `concurrency` at a time, each with one strict deadline.
3. Every raw answer is kept (`<out>.raw.jsonl`) and every outcome logged (`<out>.log.jsonl`) before it counts.
4. Time-outs and errors are left out of the bundle. Text that is no JSON object is passed on as text: the scorer calls
   it malformed, which is a failed answer and not a missing one.
5. A stopped run is continued by `resume`: what was answered is never asked again.
6. Budgets (requests, seconds, tokens) stop new calls; what is under way ends.
"""

import base64
import hashlib
import os
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import Any, Final

import msgspec

from eval_quality.app.behavior.providers import CallFailed, Provider, Reply
from eval_quality.app.behavior.root import RepositoryRefused
from eval_quality.app.files import PathError, read_bytes, write_atomic
from eval_quality.core.behavior.frame import BundleRefused, RequestBundle, read_request_bundle, response_bundle
from eval_quality.core.behavior.jsonish import JsonObject, as_object
from eval_quality.errors import RuntimeFault
from eval_quality.value.scan import scan

DEFAULT_TIMEOUT_MS: Final = 60_000
MAX_TIMEOUT_MS: Final = 24 * 3600 * 1000
MAX_CONCURRENCY: Final = 64
MAX_TEXT: Final = 4_000
"""Characters of an answer that is no JSON object which travel on; the raw file keeps all of it."""

ANSWERED: Final = "answered"
MALFORMED: Final = "malformed"
FINAL: Final = (ANSWERED, MALFORMED)

Stamp = Callable[[], str]


class Limits(msgspec.Struct, frozen=True):
    """Deadline, width and budgets of a run; None means no budget."""

    timeout_ms: int = DEFAULT_TIMEOUT_MS
    concurrency: int = 1
    max_requests: int | None = None
    max_seconds: float | None = None
    max_tokens: int | None = None

    def check(self) -> None:
        """Raise `RepositoryRefused` for a limit that makes no sense."""
        if not 1 <= self.timeout_ms <= MAX_TIMEOUT_MS:
            raise RepositoryRefused(f"--timeout-ms: expected 1 to {MAX_TIMEOUT_MS}")
        if not 1 <= self.concurrency <= MAX_CONCURRENCY:
            raise RepositoryRefused(f"--concurrency: expected 1 to {MAX_CONCURRENCY}")


class Ran(msgspec.Struct, frozen=True):
    """How a run ended."""

    path: str
    total: int
    outcomes: dict[str, int]
    tokens: int
    stopped: str | None

    @property
    def complete(self) -> bool:
        """Whether every request was asked, whatever came back."""
        return self.stopped is None


def load_bundle(path: str, skill_ids: Sequence[str]) -> tuple[RequestBundle, str]:
    """(bundle, SHA-256 of the file); `skill_ids` keep only some skills. Raises `BundleRefused`, `PathError`."""
    data = read_bytes(path, "BUNDLE", "RequestBundle")
    try:
        bundle = read_request_bundle(scan(data, "RequestBundle"))
    except RuntimeFault as fault:
        raise BundleRefused(f"{path}: not JSON: {fault.detail}") from fault
    if skill_ids:
        chosen = tuple(request for request in bundle.requests if request["skillId"] in skill_ids)
        if not chosen:
            raise BundleRefused("no request of the skills named")
        bundle = RequestBundle(bundle.corpus, bundle.oracle, chosen)
    return bundle, hashlib.sha256(data).hexdigest()


def answer_of(text: str) -> tuple[Any, str]:
    """(answer, outcome) of a provider's text: the JSON object in it, bare or in a code fence, else the text itself."""
    body = text.strip()
    if body.startswith("```"):
        body = body.removeprefix("```json").removeprefix("```").removesuffix("```").strip()
    try:
        value = scan(body, "Response")
    except RuntimeFault:
        value = None
    if as_object(value) is not None:
        return value, ANSWERED
    # Never an empty text: the scorer reads that as no answer at all.
    return body[:MAX_TEXT] or "(empty answer)", MALFORMED


class _Journal:
    """The two append-only files beside the bundle. Raw first, then the outcome: an outcome without its raw is none."""

    def __init__(self, out: str) -> None:
        self.log_path = f"{out}.log.jsonl"
        self.raw_path = f"{out}.raw.jsonl"
        self._lock = threading.Lock()

    def exists(self) -> bool:
        return os.path.exists(self.log_path)

    def lines(self, path: str) -> list[JsonObject]:
        """Every whole line; a torn last one is dropped."""
        if not os.path.exists(path):
            return []
        found: list[JsonObject] = []
        for line in read_bytes(path, path, "RunLog").split(b"\n"):
            try:
                entry = as_object(scan(line, "RunLog")) if line else None
            except RuntimeFault:
                continue
            if entry is not None:
                found.append(entry)
        return found

    def append(self, path: str, entry: JsonObject) -> None:
        """One line, on disk before anybody relies on it."""
        try:
            with self._lock, open(path, "ab") as stream:
                # A torn line of an earlier process must not swallow this one.
                if stream.tell() and not _ends_with_newline(path):
                    stream.write(b"\n")
                stream.write(msgspec.json.encode(entry) + b"\n")
                stream.flush()
                os.fsync(stream.fileno())
        except OSError as error:
            raise PathError("write", path, error.errno or 0) from error

    def start(self) -> None:
        """Begin anew: earlier files of this run are replaced."""
        for path in (self.log_path, self.raw_path):
            write_atomic(path, b"")


def _ends_with_newline(path: str) -> bool:
    with open(path, "rb") as stream:
        stream.seek(-1, os.SEEK_END)
        return stream.read(1) == b"\n"


class Run:
    """One run of a bundle through a provider."""

    def __init__(self, bundle: RequestBundle, bundle_sha256: str, provider: Provider, out: str, limits: Limits) -> None:
        limits.check()
        self.bundle = bundle
        self.provider = provider
        self.out = os.path.abspath(out)
        self.limits = limits
        self.journal = _Journal(self.out)
        self.answers: dict[str, Any] = {}
        self.outcomes: dict[str, str] = {}
        self.tokens = 0
        self._guard = threading.Lock()
        self.header: JsonObject = {
            "op": "run",
            "provider": provider.provider_id,
            "model": provider.parameters.get("model"),
            "parameters": provider.parameters,
            "isolated": provider.parameters.get("isolated", False),
            "bundleSha256": bundle_sha256,
            "corpusSha256": bundle.corpus,
        }

    def _resume(self) -> None:
        lines = self.journal.lines(self.journal.log_path)
        header = next((line for line in lines if line.get("op") == "run"), JsonObject())
        for name in ("bundleSha256", "provider"):
            if header.get(name) != self.header[name]:
                raise RepositoryRefused(f"--resume: the earlier run has another {name}")
        raws = {
            (str(line.get("caseId")), str(line.get("sha256"))): line
            for line in self.journal.lines(self.journal.raw_path)
        }
        wanted = {request["caseId"] for request in self.bundle.requests}
        for line in lines:
            case_id, outcome = str(line.get("caseId")), line.get("outcome")
            raw = raws.get((case_id, str(line.get("textSha256"))))
            if outcome in FINAL and raw is not None and case_id in wanted:
                self.answers[case_id], self.outcomes[case_id] = answer_of(_decoded(raw, "text"))
                self.tokens += int(line.get("tokens") or 0)

    def execute(self, stamp: Stamp, *, resume: bool = False) -> Ran:
        """Ask what is not answered yet, and write the response bundle. Raises `PathError`, `RepositoryRefused`."""
        if resume and self.journal.exists():
            self._resume()
        else:
            self.journal.start()
            self.journal.append(self.journal.log_path, {**self.header, "startedAt": stamp()})
        pending = sorted(
            (request for request in self.bundle.requests if request["caseId"] not in self.answers),
            key=lambda request: request["caseId"],
        )
        stopped: str | None = None
        try:
            stopped = self._ask(pending)
        finally:
            data = msgspec.json.format(msgspec.json.encode(self._response()), indent=2) + b"\n"
            write_atomic(self.out, data)
        counts: dict[str, int] = {}
        for outcome in self.outcomes.values():
            counts[outcome] = counts.get(outcome, 0) + 1
        self.journal.append(
            self.journal.log_path,
            {"op": "finished", "finishedAt": stamp(), "outcomes": counts, "tokens": self.tokens, "stopped": stopped},
        )
        return Ran(self.out, len(self.bundle.requests), counts, self.tokens, stopped)

    def _response(self) -> JsonObject:
        return response_bundle(self.provider.provider_id, self.answers)

    def _budget(self, asked: int, begun: float) -> str | None:
        limits = self.limits
        if limits.max_requests is not None and asked >= limits.max_requests:
            return f"the budget of {limits.max_requests} requests is used up"
        if limits.max_seconds is not None and time.monotonic() - begun >= limits.max_seconds:
            return f"the budget of {limits.max_seconds:g} seconds is used up"
        if limits.max_tokens is not None and self.tokens >= limits.max_tokens:
            return f"the budget of {limits.max_tokens} tokens is used up"
        return None

    def _ask(self, pending: Sequence[JsonObject]) -> str | None:
        begun = time.monotonic()
        waiting = list(pending)
        running = set[Future[None]]()
        stopped: str | None = None
        asked = 0
        pool = ThreadPoolExecutor(self.limits.concurrency, thread_name_prefix="behavior-run")
        try:
            while waiting or running:
                while waiting and stopped is None and len(running) < self.limits.concurrency:
                    stopped = self._budget(asked, begun)
                    if stopped is None:
                        running.add(pool.submit(self._one, waiting.pop(0)))
                        asked += 1
                if stopped is not None and not running:
                    break
                done, running = wait(running, return_when=FIRST_COMPLETED)
                _raise_first(done)
        finally:
            pool.shutdown(wait=True, cancel_futures=True)
        return stopped

    def _one(self, request: JsonObject) -> None:
        case_id: str = request["caseId"]
        begun = time.monotonic()
        entry: JsonObject = {"caseId": case_id}
        try:
            reply = strictly(self.provider, request, self.limits.timeout_ms)
            answer, outcome = answer_of(reply.text)
            entry |= {"outcome": outcome, "tokens": reply.tokens, "textSha256": _sha(reply.text.encode())}
            raw, text = reply.raw, reply.text
        except CallFailed as failure:
            answer, outcome = None, failure.outcome
            entry |= {"outcome": outcome, "message": str(failure)}
            if outcome == "timeout":
                entry["limitMs"] = self.limits.timeout_ms
            raw, text = failure.raw, ""
        entry |= {"ms": round((time.monotonic() - begun) * 1000), "rawSha256": _sha(raw)}
        record = {
            "caseId": case_id,
            "sha256": _sha(text.encode()),
            **_encoded("raw", raw),
            **_encoded("text", text.encode()),
        }
        self.journal.append(self.journal.raw_path, record)
        self.journal.append(self.journal.log_path, entry)
        with self._guard:
            self.outcomes[case_id] = outcome
            if outcome in FINAL:
                self.answers[case_id] = answer
            self.tokens += int(entry.get("tokens") or 0)


def strictly(provider: Provider, request: JsonObject, timeout_ms: int) -> Reply:
    """One call that is over when its time is: a provider that drips or hangs is left behind, not waited for."""
    box: list[Reply | BaseException] = []
    ended = threading.Event()

    def work() -> None:
        try:
            box.append(provider.call(request, timeout_ms))
        except BaseException as error:
            box.append(error)
        ended.set()

    threading.Thread(target=work, daemon=True).start()
    # Processes are killed at their own deadline; the grace lets that end in an orderly way.
    if not ended.wait(timeout_ms / 1000 + GRACE_SECONDS):
        raise CallFailed("timeout", f"no answer within {timeout_ms} ms")
    result = box[0]
    if isinstance(result, Reply):
        return result
    if isinstance(result, CallFailed):
        raise result
    # A provider's own defect is one failed case, never the end of a run (spec 11 §7.5).
    raise CallFailed("error", f"{type(result).__name__}: {result}")


GRACE_SECONDS: Final = 2.0


def _raise_first(done: Iterable[Future[None]]) -> None:
    for future in done:
        future.result()


def _sha(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _encoded(name: str, data: bytes) -> JsonObject:
    try:
        return {name: data.decode("utf-8")}
    except UnicodeDecodeError:
        return {f"{name}Base64": base64.b64encode(data).decode()}


def _decoded(line: JsonObject, name: str) -> str:
    text = line.get(name)
    return (
        text
        if isinstance(text, str)
        else base64.b64decode(str(line.get(f"{name}Base64", ""))).decode("utf-8", "replace")
    )
