"""Providers over HTTP: plain endpoints and two model APIs, against servers on this machine (spec 11 §17.11)."""

import json
import os
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from eval_quality.app.behavior.isolation import Isolation
from eval_quality.app.behavior.providers import Options, Provider, make_provider, prompt
from eval_quality.app.behavior.runner import Limits, Run
from eval_quality.core.behavior.frame import RequestBundle
from support.skills_corpus import plan_of

PLAN = plan_of(1, 1)
BUNDLE = RequestBundle(PLAN.whole.corpus, PLAN.whole.oracle, tuple(PLAN.requests()))
OFF = Isolation(active=False)
STAMP = "2026-05-01T00:00:00.000Z"


def run(provider: Provider, out: Path, *, resume: bool = False, bundle: RequestBundle = BUNDLE, **limits: Any) -> Any:
    return Run(bundle, "d" * 64, provider, str(out), Limits(**limits)).execute(lambda: STAMP, resume=resume)


def written(out: Path) -> dict[str, Any]:
    return {item["caseId"]: item["response"] for item in json.loads(out.read_text())["responses"]}


def lines(path: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in Path(path).read_text().splitlines()]


def command(spec: str, isolation: Isolation = OFF, **options: Any) -> Provider:
    return make_provider(Options(spec, **options), isolation)


# -- HTTP --


class Wire(ThreadingHTTPServer):
    """A local endpoint whose replies a test chooses."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.requests: list[dict[str, Any]] = []
        self.plan: list[Any] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        server = self.server
        assert isinstance(server, Wire)
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        server.requests.append({"path": self.path, "headers": dict(self.headers), "body": body})
        status, reply = server.plan.pop(0) if len(server.plan) > 1 else server.plan[0]
        self.send_response(status)
        if reply == "drip":
            self.end_headers()
            try:
                for _ in range(200):
                    self.wfile.write(b" ")
                    self.wfile.flush()
                    time.sleep(0.05)
            except OSError:
                return
            return
        data = reply if isinstance(reply, bytes) else json.dumps(reply).encode()
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        try:
            self.wfile.write(data)
        except OSError:
            return

    def log_message(self, *_arguments: Any) -> None:
        return


@pytest.fixture
def wire() -> Iterator[Wire]:
    server = Wire()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join(5)


def test_a_plain_endpoint_gets_the_request(wire: Wire, tmp_path: Path) -> None:
    wire.plan = [(200, {"action": "a"})]
    ran = run(command(f"http:{wire.url}"), tmp_path / "a.json")
    assert ran.outcomes == {"answered": 5}
    assert [item["body"] for item in wire.requests] == list(BUNDLE.requests)
    assert command(wire.url).provider_id == wire.url


OPENAI = {
    "choices": [{"message": {"role": "assistant", "content": '```json\n{"action": "a"}\n```'}}],
    "usage": {"total_tokens": 11},
}
ANTHROPIC = {
    "content": [
        {"type": "thinking", "thinking": "..."},
        {"type": "text", "text": '{"action": '},
        {"type": "text", "text": '"a"}'},
    ],
    "usage": {"input_tokens": 5, "output_tokens": 2},
}


@pytest.mark.parametrize(
    ("kind", "reply", "path", "header", "tokens"),
    [
        ("openai", OPENAI, "/v1/chat/completions", ("authorization", "Bearer k3y"), 55),
        ("anthropic", ANTHROPIC, "/v1/messages", ("x-api-key", "k3y"), 35),
    ],
)
def test_model_endpoints(
    wire: Wire,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    kind: str,
    reply: Any,
    path: str,
    header: tuple[str, str],
    tokens: int,
) -> None:
    monkeypatch.setenv("MY_KEY", "k3y")
    wire.plan = [(200, {**reply, "echo": "your key is k3y"})]
    base = wire.url + ("/v1" if kind == "openai" else "")
    provider = command(
        f"{kind}:model-1", base_url=base, key_variable="MY_KEY", parameters={"temperature": 0, "model": "no"}
    )
    ran = run(provider, tmp_path / "a.json")
    assert (ran.outcomes, ran.tokens) == ({"answered": 5}, tokens)
    seen = wire.requests[0]
    assert seen["path"] == path
    headers = {name.lower(): value for name, value in seen["headers"].items()}
    assert headers[header[0]] == header[1]
    assert (seen["body"]["model"], seen["body"]["temperature"]) == ("model-1", 0)
    # The model sees the skill, the situation and the actions; the key is in no file.
    text = json.dumps(seen["body"])
    assert "Decide with care." in text
    assert all(name in text for name in BUNDLE.requests[0]["actionVocabulary"])
    for name in os.listdir(tmp_path):
        assert "k3y" not in (tmp_path / name).read_text()
    assert lines(str(tmp_path / "a.json.log.jsonl"))[0]["parameters"]["model"] == "model-1"


@pytest.mark.parametrize(
    ("reply", "words"),
    [
        (b"not json", "not JSON"),
        ({}, "no text"),
        ({"choices": [], "content": []}, "no text"),
        ({"choices": [{"message": {"content": None}}], "content": [{"type": "tool_use"}]}, "no text"),
    ],
)
@pytest.mark.parametrize("kind", ["openai", "anthropic"])
def test_replies_without_an_answer_are_errors(wire: Wire, tmp_path: Path, kind: str, reply: Any, words: str) -> None:
    wire.plan = [(200, reply)]
    one = RequestBundle(BUNDLE.corpus, BUNDLE.oracle, BUNDLE.requests[:1])
    ran = run(command(f"{kind}:m", base_url=wire.url), tmp_path / "a.json", bundle=one)
    assert ran.outcomes == {"error": 1}
    assert words in lines(str(tmp_path / "a.json.log.jsonl"))[1]["message"]


def test_overload_is_tried_again_and_a_refusal_is_not(
    wire: Wire, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("eval_quality.app.behavior.providers.RETRY_SECONDS", (0.01,))
    one = RequestBundle(BUNDLE.corpus, BUNDLE.oracle, BUNDLE.requests[:1])
    wire.plan = [(429, {}), (503, {}), (200, {"action": "a"})]
    assert run(command(wire.url), tmp_path / "a.json", bundle=one).outcomes == {"answered": 1}
    assert len(wire.requests) == 3
    wire.plan = [(401, {"error": "no"})]
    assert run(command(wire.url), tmp_path / "b.json", bundle=one).outcomes == {"error": 1}
    assert len(wire.requests) == 4
    wire.plan = [(500, {})]
    assert run(command(wire.url), tmp_path / "c.json", bundle=one).outcomes == {"error": 1}
    assert len(wire.requests) == 7
    wire.plan = [(302, {})]
    assert run(command(wire.url), tmp_path / "d.json", bundle=one).outcomes == {"error": 1}


def test_hostile_endpoints_are_one_failed_case(wire: Wire, tmp_path: Path) -> None:
    one = RequestBundle(BUNDLE.corpus, BUNDLE.oracle, BUNDLE.requests[:1])
    wire.plan = [(200, b"x" * 2_000_000)]
    assert run(command(wire.url), tmp_path / "a.json", bundle=one).outcomes == {"error": 1}
    wire.plan = [(200, "drip")]
    assert run(command(wire.url), tmp_path / "b.json", bundle=one, timeout_ms=300).outcomes == {"timeout": 1}
    assert run(command("http://127.0.0.1:1/"), tmp_path / "c.json", bundle=one).outcomes == {"error": 1}
    assert run(command("http:http://[broken"), tmp_path / "d.json", bundle=one).outcomes == {"error": 1}


def test_the_prompt_is_the_request_and_one_contract() -> None:
    texts = [prompt(request) for request in BUNDLE.requests]
    assert len({system for system, _user in texts}) == 1
    assert "::" not in "".join(user for _system, user in texts)
