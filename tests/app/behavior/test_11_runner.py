"""Running a bundle through independent providers (spec 11 §7.5, §17.11): real processes, real HTTP on this machine."""

import ast
import json
import os
import shutil
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from eval_quality.app.behavior.isolation import Isolation, environment, plan_isolation, resolve_program
from eval_quality.app.behavior.providers import Options, Provider, Reply, command_of, make_provider
from eval_quality.app.behavior.root import RepositoryRefused
from eval_quality.app.behavior.runner import Limits, Run, answer_of, load_bundle
from eval_quality.core.behavior.frame import BundleRefused, RequestBundle
from eval_quality.core.behavior.plan import bundle_of
from support.skills_corpus import plan_of
from support.skills_repo import EXAMPLE, ROOT

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


class Fake:
    """A provider in this process."""

    provider_id = "fake"

    def __init__(self, *behaviours: Any) -> None:
        self.parameters: dict[str, Any] = {"kind": "fake"}
        self.seen: list[dict[str, Any]] = []
        self.behaviours = behaviours
        self._lock = threading.Lock()

    def call(self, request: dict[str, Any], timeout_ms: int) -> Reply:
        with self._lock:
            self.seen.append(request)
            behaviour = self.behaviours[(len(self.seen) - 1) % len(self.behaviours)]
        if isinstance(behaviour, BaseException):
            raise behaviour
        if isinstance(behaviour, float):
            time.sleep(behaviour)
            behaviour = '{"action": "late"}'
        return Reply(behaviour.encode(), behaviour, 7)


def test_s7_5_the_provider_gets_the_exported_request_and_nothing_else(tmp_path: Path) -> None:
    fake = Fake('{"action": "a"}')
    ran = run(fake, tmp_path / "a.json")
    assert fake.seen == list(BUNDLE.requests)
    assert (ran.complete, ran.outcomes, ran.tokens) == (True, {"answered": 5}, 35)
    assert written(tmp_path / "a.json") == {request["caseId"]: {"action": "a"} for request in BUNDLE.requests}


def test_s7_5_three_kinds_of_failure_and_the_run_completes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("eval_quality.app.behavior.runner.GRACE_SECONDS", 0.2)
    fake = Fake(ValueError("a defect"), 5.0, "no JSON at all", "", '{"action": "a"}')
    ran = run(fake, tmp_path / "a.json", timeout_ms=1)
    assert ran.outcomes == {"error": 1, "timeout": 1, "malformed": 2, "answered": 1}
    found = written(tmp_path / "a.json")
    ids = [request["caseId"] for request in BUNDLE.requests]
    assert found == {ids[2]: "no JSON at all", ids[3]: "(empty answer)", ids[4]: {"action": "a"}}
    log = lines(str(tmp_path / "a.json.log.jsonl"))
    assert (log[0]["op"], log[-1]["op"]) == ("run", "finished")
    assert [entry.get("outcome") for entry in log[1:-1]] == ["error", "timeout", "malformed", "malformed", "answered"]
    assert log[1]["message"] == "ValueError: a defect"
    assert log[2]["limitMs"] == 1
    assert all(len(entry["rawSha256"]) == 64 for entry in log[1:-1])
    raw = lines(str(tmp_path / "a.json.raw.jsonl"))
    assert [entry["raw"] for entry in raw] == ["", "", "no JSON at all", "", '{"action": "a"}']


def test_a_stopped_run_is_continued_and_nothing_is_asked_twice(tmp_path: Path) -> None:
    out = tmp_path / "a.json"
    first = Fake('{"action": "a"}')
    ran = run(first, out, max_requests=2)
    assert (ran.complete, ran.outcomes) == (False, {"answered": 2})
    assert "2 requests" in ran.stopped
    second = Fake('{"action": "b"}')
    # A torn line of a killed process is no answer and swallows nothing.
    with open(f"{out}.log.jsonl", "ab") as stream:
        stream.write(b'{"caseId": "case-')
    ran = run(second, out, resume=True)
    assert (ran.complete, len(second.seen)) == (True, 3)
    assert sorted(item["action"] for item in written(out).values()) == ["a", "a", "b", "b", "b"]
    assert run(Fake(ValueError()), out, resume=True).outcomes == {"answered": 5}
    other = Fake("{}")
    other.provider_id = "other"
    with pytest.raises(RepositoryRefused, match="another provider"):
        run(other, out, resume=True)
    assert len(written(out)) == 5
    # Without --resume everything is asked again.
    assert len(run(again := Fake('{"action": "c"}'), out).outcomes) == 1
    assert len(again.seen) == 5


def test_time_outs_are_asked_again_on_resume(tmp_path: Path) -> None:
    out = tmp_path / "a.json"
    run(Fake(ValueError("down")), out)
    ran = run(Fake('{"action": "a"}'), out, resume=True)
    assert ran.outcomes == {"answered": 5}


def test_budgets_of_seconds_and_tokens(tmp_path: Path) -> None:
    ran = run(Fake('{"action": "a"}'), tmp_path / "t.json", max_tokens=10)
    assert (ran.outcomes, ran.tokens) == ({"answered": 2}, 14)
    ran = run(Fake(0.05), tmp_path / "s.json", max_seconds=0.01)
    assert ran.outcomes == {"answered": 1}


def test_requests_run_side_by_side(tmp_path: Path) -> None:
    barrier = threading.Barrier(5, timeout=20)

    class Together(Fake):
        def call(self, request: dict[str, Any], timeout_ms: int) -> Reply:
            barrier.wait()
            return super().call(request, timeout_ms)

    assert run(Together('{"action": "a"}'), tmp_path / "a.json", concurrency=5).outcomes == {"answered": 5}


@pytest.mark.parametrize("limits", [{"timeout_ms": 0}, {"concurrency": 0}, {"concurrency": 65}])
def test_s7_5_limits_are_checked(tmp_path: Path, limits: dict[str, int]) -> None:
    with pytest.raises(RepositoryRefused):
        run(Fake("{}"), tmp_path / "a.json", **limits)


@pytest.mark.parametrize(
    ("text", "answer", "outcome"),
    [
        ('{"action": "a"}', {"action": "a"}, "answered"),
        ('```json\n{"action": "a"}\n```\n', {"action": "a"}, "answered"),
        ('```\n{"action": "a"}\n```', {"action": "a"}, "answered"),
        ("[1]", "[1]", "malformed"),
        ('{"a": 1, "a": 2}', '{"a": 1, "a": 2}', "malformed"),
        ("x" * 10_000, "x" * 4_000, "malformed"),
    ],
)
def test_answers_are_read_and_never_filled_in(text: str, answer: Any, outcome: str) -> None:
    assert answer_of(text) == (answer, outcome)


def test_the_runner_reads_bundles_only(tmp_path: Path) -> None:
    path = tmp_path / "b.json"
    path.write_text(json.dumps(bundle_of(PLAN)))
    bundle, digest = load_bundle(str(path), ())
    assert (len(bundle.requests), len(digest)) == (5, 64)
    assert len(load_bundle(str(path), ["skill-0"])[0].requests) == 5
    with pytest.raises(BundleRefused, match="no request"):
        load_bundle(str(path), ["other"])
    path.write_text("{")
    with pytest.raises(BundleRefused, match="not JSON"):
        load_bundle(str(path), ())


def test_s17_13_the_runner_has_no_import_path_to_the_oracle() -> None:
    """Every module the runner's own modules import, followed through our package, stays off the answer side."""
    source = ROOT / "src"
    waiting = ["eval_quality.app.behavior.runner", "eval_quality.app.behavior.providers"]
    reached: set[str] = set()
    while waiting:
        name = waiting.pop()
        path = source / (name.replace(".", "/") + ".py")
        if name in reached or not path.exists():
            continue
        reached.add(name)
        nodes = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.ImportFrom)]
        waiting += [node.module for node in nodes if node.module and node.module.startswith("eval_quality")]
    forbidden = {"scenario", "plan", "score", "evidence", "generator", "standing", "repository", "scoring", "export"}
    assert not {name for name in reached if "behavior" in name and name.rpartition(".")[2] in forbidden}
    assert "eval_quality.core.behavior.frame" in reached


# -- commands --

FOLLOW = str(EXAMPLE / "providers" / "follow_skill.py")


def command(spec: str, isolation: Isolation = OFF, **options: Any) -> Provider:
    return make_provider(Options(spec, **options), isolation)


def script(folder: Path, body: str) -> str:
    path = folder / "provider.py"
    path.write_text(f"import json, os, sys\n{body}\n")
    return f"cmd:{sys.executable} {path}"


def test_a_command_gets_one_request_and_a_closed_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_OF_THE_RUNNER", "s3cret")
    monkeypatch.setenv("ALLOWED", "yes")
    body = (
        "request = json.load(sys.stdin)\n"
        "print(json.dumps({'action': request['caseId'], 'gates': sorted(os.environ), "
        "'structure': os.listdir('.'), 'produces': os.environ.get('ALLOWED', '')}))"
    )
    provider = command(script(tmp_path, body), pass_env=("ALLOWED", "NOT_SET"))
    reply = provider.call(BUNDLE.requests[0], 30_000)
    answer, outcome = answer_of(reply.text)
    assert outcome == "answered"
    assert answer["action"] == BUNDLE.requests[0]["caseId"]
    assert "SECRET_OF_THE_RUNNER" not in answer["gates"]
    assert answer["produces"] == "yes"
    assert answer["structure"] == []


@pytest.mark.parametrize(
    ("body", "outcome"),
    [
        ("import time; time.sleep(60)", "timeout"),
        ("sys.exit(3)", "error"),
        ("sys.stdout.write('x' * 3_000_000)", "error"),
        ("os.kill(os.getpid(), 9)", "error"),
        ("print('nonsense')", "malformed"),
    ],
)
def test_commands_that_misbehave_are_one_failed_case(tmp_path: Path, body: str, outcome: str) -> None:
    one = RequestBundle(BUNDLE.corpus, BUNDLE.oracle, BUNDLE.requests[:1])
    ran = run(command(script(tmp_path, body)), tmp_path / "a.json", bundle=one, timeout_ms=1500)
    assert ran.outcomes == {outcome: 1}


def test_specs_that_name_no_provider() -> None:
    for spec in ("cmd:", "cmd:no-such-program-anywhere", "cmd:'", "ftp:x", "openai:", "nothing"):
        with pytest.raises(RepositoryRefused):
            command(spec)
    assert command_of("http:x") is None
    with pytest.raises(RepositoryRefused, match="OPENAI_API_KEY"):
        command("openai:some-model")


needs_bwrap = pytest.mark.skipif(
    shutil.which("bwrap") is None or not plan_isolation("auto", (), (), ()).active,
    reason="bubblewrap does not work here",
)


@needs_bwrap
def test_s17_11_an_isolated_provider_cannot_read_the_repository(tmp_path: Path) -> None:
    root = tmp_path / "repo"
    (root / "skills").mkdir(parents=True)
    (root / "skills" / "oracle.json").write_text("the answers")
    body = (
        f"found = [name for name, _d, files in os.walk({str(root)!r}) for name in files]\n"
        "print(json.dumps({'action': 'x', 'structure': found}))"
    )
    spec = script(root, body)
    resolved = command_of(spec)
    assert resolved is not None
    open_reply = command(spec).call(BUNDLE.requests[0], 30_000)
    isolation = plan_isolation("require", [str(root)], resolved, ())
    assert isolation.active
    closed_reply = command(spec, isolation).call(BUNDLE.requests[0], 30_000)
    assert "oracle.json" in open_reply.text
    assert json.loads(closed_reply.text)["structure"] == ["provider.py"]
    # What is allowed stays visible.
    allowed = plan_isolation("require", [str(root)], resolved, [str(root / "skills")])
    assert "oracle.json" in command(spec, allowed).call(BUNDLE.requests[0], 30_000).text


def test_s17_11_isolation_can_be_required(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert not plan_isolation("auto", [str(tmp_path)], ("x",), ()).active
    assert not plan_isolation("off", [str(tmp_path)], ("x",), ()).active
    with pytest.raises(RepositoryRefused, match="require"):
        plan_isolation("require", [str(tmp_path)], ("x",), ())
    assert environment("/h", ["A", "B"], {"A": "1", "HOME": "/me"})["HOME"] == "/h"
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tool").write_text("#!/bin/sh\n")
    os.chmod(tmp_path / "tool", 0o755)
    assert resolve_program(["./tool", "tool", "-x"]) == (str(tmp_path / "tool"), str(tmp_path / "tool"), "-x")
