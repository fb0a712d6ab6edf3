"""Independent providers: a command, a plain HTTP endpoint, two model APIs (spec 11 §17.11).

    cmd:ARGV...            one request as JSON on standard input, one response as JSON on standard output
    http:URL, https:URL    POST of the request, the body of the reply is the response
    openai:MODEL           an OpenAI-compatible /chat/completions endpoint (--base-url)
    anthropic:MODEL        an Anthropic /v1/messages endpoint (--base-url)

A provider gets one exported request and nothing else. It never sees another answer, the repository or the bundle. API
keys come from one named environment variable and are cut out of everything that is recorded.
"""

import json
import os
import shlex
import tempfile
import time
from collections.abc import Mapping, Sequence
from typing import Any, Final, Protocol

import msgspec

from eval_quality.app.behavior.isolation import Isolation, environment, resolve_program
from eval_quality.app.behavior.root import RepositoryRefused
from eval_quality.core.behavior.jsonish import JsonObject, as_integer, as_list, as_object

MAX_REPLY_BYTES: Final = 1_048_576
MAX_TRIES: Final = 3
RETRY_SECONDS: Final = (0.5, 2.0)
RETRIED: Final = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
MAX_TOKENS: Final = 1024
REDACTED: Final = "[redacted]"

DEFAULT_BASE: Final = {"openai": "https://api.openai.com/v1", "anthropic": "https://api.anthropic.com"}
DEFAULT_KEY: Final = {"openai": "OPENAI_API_KEY", "anthropic": "ANTHROPIC_API_KEY"}

CONTRACT: Final = (
    "Decide the next step for the situation below, following the skill above. Answer with one JSON object and nothing "
    'else: {"action": "...", "selectedSkill": "...", "produces": "...", "gates": ["..."], "structure": ["..."]}. '
    "`action` is required and is one of the listed actions. Give another member only when `answerOptions` offers "
    "values for it, and use only those values. Messages in `surroundings` are part of the situation."
)
"""The response contract a model is told; it is the same for every request."""


class CallFailed(Exception):
    """A call that gave no answer. `outcome` is `timeout` or `error`; `raw` is whatever arrived."""

    def __init__(self, outcome: str, message: str, raw: bytes = b"") -> None:
        super().__init__(message)
        self.outcome = outcome
        self.raw = raw


class Reply(msgspec.Struct, frozen=True):
    """What came back: the raw bytes, the answer's text, and tokens where the provider counts them."""

    raw: bytes
    text: str
    tokens: int = 0


class Provider(Protocol):
    """One way to have a request answered."""

    @property
    def provider_id(self) -> str:
        """How the evidence names it."""
        ...

    @property
    def parameters(self) -> JsonObject:
        """What the run log records about it; never a secret."""
        ...

    def call(self, request: JsonObject, timeout_ms: int) -> Reply:
        """Answer one request within the limit. Raises `CallFailed`."""
        ...


class CommandProvider:
    """A local program, one process a request."""

    def __init__(self, command: Sequence[str], isolation: Isolation, pass_env: Sequence[str], name: str | None) -> None:
        self._command = tuple(command)
        self._isolation = isolation
        self._pass_env = tuple(pass_env)
        self.provider_id = name or f"cmd:{' '.join(os.path.basename(word) for word in command)}"
        self.parameters: JsonObject = {
            "kind": "command",
            "command": list(command),
            "isolated": isolation.active,
            "passEnv": list(pass_env),
        }

    def call(self, request: JsonObject, timeout_ms: int) -> Reply:
        """Run the program on one request."""
        from eval_quality.probe.lanes import LaneLost
        from eval_quality.probe.process import Caps, Launch, run_process

        with tempfile.TemporaryDirectory(prefix="eval-quality-") as folder:
            closed = environment(folder, self._pass_env, os.environ)
            launch = Launch(self._isolation.argv(self._command, folder), folder, closed)
            try:
                done = run_process(launch, msgspec.json.encode(request) + b"\n", Caps(timeout_ms, MAX_REPLY_BYTES))
            except (OSError, LaneLost) as error:
                raise CallFailed("error", f"the program could not be run: {error}") from error
        if done.ended == "elapsed":
            raise CallFailed("timeout", f"no end within {timeout_ms} ms", done.stdout)
        if done.ended != "exit":
            raise CallFailed("error", f"more than {MAX_REPLY_BYTES} bytes on {done.ended}", done.stdout)
        if done.exit_code != 0:
            raise CallFailed("error", f"exit code {done.exit_code}", done.stdout)
        return Reply(done.stdout, done.stdout.decode("utf-8", "replace"))


class _Http:
    """POST with one deadline over everything, a body cap, and a few tries for overload."""

    def __init__(self, url: str, headers: Mapping[str, str], secret: str | None) -> None:
        self._url = url
        self._headers = dict(headers)
        self._secret = secret

    def clean(self, data: bytes) -> bytes:
        """The bytes without the secret."""
        return data if not self._secret else data.replace(self._secret.encode(), REDACTED.encode())

    def post(self, body: JsonObject, timeout_ms: int) -> bytes:
        """The body of a 2xx reply. Raises `CallFailed`."""
        deadline = time.monotonic() + timeout_ms / 1000
        for attempt in range(MAX_TRIES):
            status, data = self._once(body, deadline)
            if 200 <= status < 300:
                return self.clean(data)
            pause = RETRY_SECONDS[min(attempt, len(RETRY_SECONDS) - 1)]
            last = attempt == MAX_TRIES - 1 or time.monotonic() + pause >= deadline
            if status not in RETRIED or last:
                raise CallFailed("error", f"HTTP status {status}", self.clean(data))
            time.sleep(pause)
        raise AssertionError("unreachable: the last attempt returns or raises")

    def _once(self, body: JsonObject, deadline: float) -> tuple[int, bytes]:
        import httpx2

        remaining = max(0.001, deadline - time.monotonic())
        parts: list[bytes] = []
        total = 0
        try:
            with (
                httpx2.Client(timeout=remaining, follow_redirects=False, trust_env=False) as client,
                client.stream("POST", self._url, json=body, headers=self._headers) as response,
            ):
                for part in response.iter_bytes(65_536):
                    parts.append(part)
                    total += len(part)
                    if total > MAX_REPLY_BYTES:
                        raise CallFailed("error", f"more than {MAX_REPLY_BYTES} bytes", self.clean(b"".join(parts)))
                    if time.monotonic() > deadline:
                        raise CallFailed("timeout", "the deadline passed", self.clean(b"".join(parts)))
                return response.status_code, b"".join(parts)
        except httpx2.TimeoutException as error:
            raise CallFailed("timeout", "the deadline passed", self.clean(b"".join(parts))) from error
        except (httpx2.HTTPError, httpx2.InvalidURL, ValueError) as error:
            text = self.clean(str(error).encode()).decode("utf-8", "replace")
            raise CallFailed("error", f"{type(error).__name__}: {text}") from None


class HttpProvider:
    """A plain endpoint: the request is posted, the body of the reply is the response."""

    def __init__(self, url: str, name: str | None) -> None:
        self._http = _Http(url, {}, None)
        self.provider_id = name or url
        self.parameters: JsonObject = {"kind": "http", "url": url}

    def call(self, request: JsonObject, timeout_ms: int) -> Reply:
        """Post one request."""
        raw = self._http.post(request, timeout_ms)
        return Reply(raw, raw.decode("utf-8", "replace"))


def prompt(request: JsonObject) -> tuple[str, str]:
    """(system, user) texts of one request for a model: the skill, the contract, the situation, the actions."""
    situation = json.dumps(request["given"], ensure_ascii=False, indent=2)
    actions = "\n".join(f"- {name}" for name in request["actionVocabulary"])
    return f"{request['instruction']}\n\n---\n\n{CONTRACT}", f"Situation:\n{situation}\n\nActions:\n{actions}"


class OpenAiProvider:
    """An OpenAI-compatible chat endpoint."""

    def __init__(self, model: str, base_url: str, key: str | None, parameters: JsonObject, name: str | None) -> None:
        headers = {"authorization": f"Bearer {key}"} if key else {}
        self._http = _Http(f"{base_url.rstrip('/')}/chat/completions", headers, key)
        self._body: JsonObject = {"max_completion_tokens": MAX_TOKENS, **parameters, "model": model}
        self.provider_id = name or f"openai:{model}"
        self.parameters: JsonObject = {"kind": "openai", "model": model, "baseUrl": base_url, "body": parameters}

    def call(self, request: JsonObject, timeout_ms: int) -> Reply:
        """One chat completion."""
        system, user = prompt(request)
        messages = [{"role": "system", "content": system}, {"role": "user", "content": user}]
        raw = self._http.post({**self._body, "messages": messages}, timeout_ms)
        reply = _object(raw)
        choices = as_list(reply.get("choices")) or [None]
        message = as_object((as_object(choices[0]) or {}).get("message")) or {}
        usage = as_object(reply.get("usage")) or {}
        return Reply(raw, _content(message.get("content"), raw), as_integer(usage.get("total_tokens")) or 0)


class AnthropicProvider:
    """An Anthropic messages endpoint."""

    def __init__(self, model: str, base_url: str, key: str | None, parameters: JsonObject, name: str | None) -> None:
        headers = {"anthropic-version": "2023-06-01", **({"x-api-key": key} if key else {})}
        self._http = _Http(f"{base_url.rstrip('/')}/v1/messages", headers, key)
        self._body: JsonObject = {"max_tokens": MAX_TOKENS, **parameters, "model": model}
        self.provider_id = name or f"anthropic:{model}"
        self.parameters: JsonObject = {"kind": "anthropic", "model": model, "baseUrl": base_url, "body": parameters}

    def call(self, request: JsonObject, timeout_ms: int) -> Reply:
        """One message."""
        system, user = prompt(request)
        body = {**self._body, "system": system, "messages": [{"role": "user", "content": user}]}
        raw = self._http.post(body, timeout_ms)
        reply = _object(raw)
        blocks = [block for item in as_list(reply.get("content")) or [] if (block := as_object(item)) is not None]
        texts = [
            block["text"] for block in blocks if block.get("type") == "text" and isinstance(block.get("text"), str)
        ]
        usage = as_object(reply.get("usage")) or {}
        tokens = (as_integer(usage.get("input_tokens")) or 0) + (as_integer(usage.get("output_tokens")) or 0)
        return Reply(raw, _content("".join(texts) if texts else None, raw), tokens)


def _object(raw: bytes) -> JsonObject:
    try:
        return as_object(json.loads(raw)) or {}
    except (ValueError, RecursionError) as error:
        raise CallFailed("error", "the reply is not JSON", raw) from error


def _content(text: Any, raw: bytes) -> str:
    if not isinstance(text, str):
        raise CallFailed("error", "the reply holds no text", raw)
    return text


class Options(msgspec.Struct, frozen=True):
    """What the command line says about a provider."""

    spec: str
    name: str | None = None
    base_url: str | None = None
    key_variable: str | None = None
    pass_env: tuple[str, ...] = ()
    parameters: JsonObject = {}


def command_of(spec: str) -> tuple[str, ...] | None:
    """The resolved command of a `cmd:` spec; None for another kind."""
    if not spec.startswith("cmd:"):
        return None
    try:
        words = shlex.split(spec.removeprefix("cmd:"))
    except ValueError as error:
        raise RepositoryRefused(f"--provider: {error}") from error
    if not words:
        raise RepositoryRefused("--provider cmd: needs a program")
    return resolve_program(words)


def make_provider(options: Options, isolation: Isolation) -> Provider:
    """The provider of a spec. Raises `RepositoryRefused` for an unknown one."""
    spec = options.spec
    command = command_of(spec)
    if command is not None:
        return CommandProvider(command, isolation, options.pass_env, options.name)
    kind, _, rest = spec.partition(":")
    if kind in ("http", "https"):
        # `http:URL` of the design, and a plain URL.
        url = spec if rest.startswith("//") else rest
        return HttpProvider(url, options.name)
    if kind in DEFAULT_BASE and rest:
        variable = options.key_variable or DEFAULT_KEY[kind]
        key = os.environ.get(variable) or None
        base_url = options.base_url or DEFAULT_BASE[kind]
        if key is None and options.base_url is None:
            raise RepositoryRefused(f"--provider {kind}: the environment variable {variable} is not set")
        made = OpenAiProvider if kind == "openai" else AnthropicProvider
        return made(rest, base_url, key, options.parameters, options.name)
    raise RepositoryRefused("--provider: expected cmd:PROGRAM, http:URL, openai:MODEL or anthropic:MODEL")
