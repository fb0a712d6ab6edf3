"""The bridge and the submission of an external evaluator: spec 12 §12.14."""

import json
import os
import socket
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eval_quality.run.evaluators.external import bridge as bridge_file
from eval_quality.run.evaluators.external.dispatch import (
    FAILURES,
    MAX_CALL_BYTES,
    REFUSALS,
    Act,
    Answered,
    Dispatcher,
    Unanswered,
)
from eval_quality.run.evaluators.external.server import MAX_LINE_BYTES, BridgeServer
from eval_quality.run.evaluators.external.submission import Submission, empty_submission, read_submission
from eval_quality.run.evaluators.external.view import SealedView

BRIEF: dict[str, Any] = {
    "behaviors": [{"id": "B-001"}],
    "directions": [{"oracleId": "O-001", "text": "one"}, {"oracleId": "O-002", "text": "two"}],
}
SURFACE: dict[str, Any] = {
    "protocol": "eval-quality/call-surface/v1",
    "interfaces": [
        {
            "interfaceId": "notes",
            "kind": "api",
            "operations": [
                {
                    "operationId": "write",
                    "identity": {"method": "PUT", "pathTemplate": "/notes/{id}"},
                    "channels": {
                        "path": {"permittedKeys": ["id"], "requiredKeys": ["id"], "types": {}},
                        "query": {"permittedKeys": [], "requiredKeys": [], "types": {}},
                        "header": {"permittedKeys": ["x-mode"], "requiredKeys": [], "types": {}},
                        "body": {"permittedKeys": ["title"], "requiredKeys": [], "types": {}},
                    },
                }
            ],
        }
    ],
    "principals": ["ada"],
}
VIEW = SealedView(BRIEF, SURFACE)
FINDING: dict[str, Any] = {
    "findingType": "defect",
    "oracleId": "O-001",
    "severity": "material",
    "summary": "lost",
    "confidence": 0.9,
    "observationIds": ["obs-1"],
    "quotedEvidence": [{"quote": '"old"', "channel": "response-body", "artifactId": None}],
}
SUBMISSION: dict[str, Any] = {
    "schemaVersion": 1,
    "recommendation": "FAIL",
    "dispositions": [{"oracleId": "O-001", "disposition": "violated", "observationIds": ["obs-1"]}],
    "findings": [FINDING],
}


class Subject:
    """Answers every call with one fixed body and remembers the calls."""

    def __init__(self, *answers: Answered | Unanswered) -> None:
        self.calls: list[Act] = []
        self.answers = list(answers)

    def __call__(self, act: Act) -> Answered | Unanswered:
        self.calls.append(act)
        if self.answers:
            return self.answers.pop(0)
        number = len(self.calls)
        return Answered(f"obs-{number}", number, {"response-body": '{"title":"old"}', "response-status": "200"})


def dispatcher(subject: Subject | None = None, calls: int = 10, seconds: float = 60.0) -> Dispatcher:
    return Dispatcher(VIEW, subject or Subject(), calls, lambda: seconds)


def call(**members: Any) -> dict[str, Any]:
    return {"op": "call", "interfaceId": "notes", "operationId": "write", "inputs": {}, **members}


def test_s12_14_2_brief_operations_and_budget() -> None:
    bridge = dispatcher()
    assert bridge.handle({"op": "brief"}) == {"brief": BRIEF}
    assert bridge.handle({"op": "operations"}) == {"operations": SURFACE}
    assert bridge.handle({"op": "budget"}) == {"callsLeft": 10, "secondsLeft": 60}


def test_s12_14_3_a_call_shows_what_can_be_quoted() -> None:
    subject = Subject()
    bridge = dispatcher(subject)
    answer = bridge.handle(call(inputs={"path": {"id": "1"}, "query": {}}, principal="ada"))
    assert answer["status"] == "observed"
    assert answer["evidence"]["response-status"] == "200"
    assert answer["callsLeft"] == 9
    assert subject.calls == [Act("notes", "write", {"path": {"id": "1"}}, False, "ada")]
    assert bridge.handle({"op": "observations"})["observations"][0]["observationId"] == "obs-1"
    assert bridge.handle({"op": "observations", "ids": ["obs-9", 3, "obs-1"]})["observations"][0]["sequence"] == 1


def test_s12_14_2_malformed_calls_pass_since_an_evaluator_must_be_able_to_try_them() -> None:
    subject = Subject()
    bridge = dispatcher(subject)
    assert bridge.handle(call(inputs={"body": {"title": 12345}}))["status"] == "observed"
    raw = {"kind": "raw", "base64": "eyI=", "contentType": "application/json"}
    assert bridge.handle(call(inputs={"body": raw}))["status"] == "observed"
    assert [made.raw_body for made in subject.calls] == [False, True]


@pytest.mark.parametrize(
    ("request_", "code"),
    [
        (call(operationId="drop"), "unknown-operation"),
        (call(interfaceId="admin"), "unknown-operation"),
        (call(inputs={"stdin": {"x": 1}}), "unknown-channel"),
        (call(inputs={"body": {"owner": 1}}), "key-not-permitted"),
        (call(inputs={"header": {"x-mode": 1}}), "value-not-a-string"),
        (call(inputs={"header": {"x-mode": True}}), "value-not-a-string"),
        (call(inputs={"path": 3}), "malformed-request"),
        (call(inputs=[]), "malformed-request"),
        (call(interfaceId=7), "malformed-request"),
        (call(principal="eve"), "principal-not-declared"),
        (call(principal=["ada"]), "principal-not-declared"),
        (call(inputs={"body": {"title": "x" * MAX_CALL_BYTES}}), "too-large"),
        ({"op": "exec"}, "malformed-request"),
        ({}, "malformed-request"),
        ([], "malformed-request"),
        (None, "malformed-request"),
        ("brief", "malformed-request"),
    ],
)
def test_s12_14_3_refusals(request_: Any, code: str) -> None:
    subject = Subject()
    bridge = dispatcher(subject)
    answer = bridge.handle(request_)
    assert (answer["status"], answer["code"], answer["message"]) == ("refused", code, REFUSALS[code])
    assert subject.calls == []
    assert bridge.calls_left == 10
    assert [refusal["code"] for refusal in bridge.refusals] == [code]


def test_s12_14_3_caps() -> None:
    bridge = dispatcher(calls=1)
    assert bridge.handle(call())["callsLeft"] == 0
    assert bridge.handle(call())["code"] == "call-cap"
    assert dispatcher(seconds=0).handle(call())["code"] == "time-cap"
    assert dispatcher(seconds=-5).handle({"op": "budget"})["secondsLeft"] == 0


@pytest.mark.parametrize("code", sorted(FAILURES))
def test_s12_14_3_a_failed_call_counts_and_leaves_no_observation(code: str) -> None:
    bridge = dispatcher(Subject(Unanswered(code)))
    assert bridge.handle(call()) == {"status": "failed", "code": code, "message": FAILURES[code]}
    assert bridge.calls_left == 9
    assert bridge.handle({"op": "observations"}) == {"observations": []}


def test_s12_14_3_a_refusal_by_the_runner_costs_no_call() -> None:
    bridge = dispatcher(Subject(Unanswered("path-incomplete")))
    assert bridge.handle(call())["code"] == "path-incomplete"
    assert (bridge.calls_left, bridge.calls) == (10, 0)


def test_s12_14_5_a_good_submission_is_accepted_once() -> None:
    bridge = dispatcher()
    bridge.handle(call())
    assert bridge.handle({"op": "submit", "submission": SUBMISSION}) == {
        "accepted": True,
        "errors": [],
        "attemptsLeft": 2,
    }
    assert bridge.accepted is not None
    assert bridge.accepted.recommendation == "FAIL"
    assert bridge.handle({"op": "submit", "submission": SUBMISSION})["code"] == "after-submit"
    assert bridge.handle(call())["code"] == "after-submit"


@pytest.mark.parametrize(
    ("change", "at"),
    [
        ({"schemaVersion": 2}, "/schemaVersion"),
        ({"recommendation": "WAIVED"}, "/recommendation"),
        ({"extra": 1}, ""),
        (
            {"dispositions": [{"oracleId": "O-009", "disposition": "held", "observationIds": []}]},
            "/dispositions/0/oracleId",
        ),
        (
            {"dispositions": [{"oracleId": "O-002", "disposition": "held", "observationIds": []}] * 2},
            "/dispositions/1/oracleId",
        ),
        (
            {"dispositions": [{"oracleId": "O-002", "disposition": "held", "observationIds": ["obs-7"]}]},
            "/dispositions/0/observationIds/0",
        ),
        ({"findings": [{**FINDING, "observationIds": []}]}, "/findings/0/observationIds"),
        ({"findings": [{**FINDING, "quotedEvidence": []}]}, "/findings/0/quotedEvidence"),
        ({"findings": [{**FINDING, "oracleId": "O-777"}]}, "/findings/0/oracleId"),
        ({"findings": [{**FINDING, "behaviorId": "B-777"}]}, "/findings/0/behaviorId"),
        ({"findings": [{**FINDING, "confidence": 1.5}]}, "/findings/0/confidence"),
        (
            {
                "findings": [
                    {**FINDING, "quotedEvidence": [{"quote": "never", "channel": "stdout", "artifactId": None}]}
                ]
            },
            "/findings/0/quotedEvidence/0/quote",
        ),
        ({"findings": [{**FINDING, "probeId": "P-001"}]}, "/findings/0"),
    ],
)
def test_s12_14_5_the_form_check_names_entry_and_rule(change: dict[str, Any], at: str) -> None:
    bridge = dispatcher()
    bridge.handle(call())
    answer = bridge.handle({"op": "submit", "submission": {**SUBMISSION, **change}})
    assert answer["accepted"] is False
    assert at in [error["at"] for error in answer["errors"]]
    assert all(error["rule"] for error in answer["errors"])


@pytest.mark.parametrize("document", [None, 3, "x", [], {}, {"schemaVersion": 1}])
def test_s12_14_5_what_is_no_submission_at_all(document: Any) -> None:
    read = read_submission(document)
    assert isinstance(read, tuple)
    assert read


def test_s12_14_5_three_attempts_then_the_last_readable_one_counts() -> None:
    bridge = dispatcher()
    wrong = {**SUBMISSION, "findings": []} | {
        "dispositions": [{"oracleId": "O-009", "disposition": "held", "observationIds": []}]
    }
    for left in (2, 1, 0):
        assert bridge.handle({"op": "submit", "submission": wrong})["attemptsLeft"] == left
    assert bridge.handle({"op": "submit", "submission": SUBMISSION}) == {
        "accepted": False,
        "errors": [],
        "attemptsLeft": 0,
    }
    assert bridge.accepted is None
    assert isinstance(bridge.last_readable, Submission)


def test_s12_14_5_the_empty_submission_claims_nothing() -> None:
    assert (empty_submission().recommendation, empty_submission().findings) == ("CONCERNS", ())


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["op", "inputs", "ids", "a"]), inner, max_size=3)
    ),
    max_leaves=8,
)
requests = st.fixed_dictionaries(
    {"op": st.sampled_from(["brief", "operations", "call", "observations", "budget", "submit", "x"])},
    optional={
        "interfaceId": st.sampled_from(["notes", "x"]) | json_values,
        "operationId": st.sampled_from(["write", "x"]) | json_values,
        "inputs": json_values,
        "principal": json_values,
        "submission": json_values,
        "ids": json_values,
    },
)


@given(st.lists(requests | json_values, max_size=6))
@settings(max_examples=200, deadline=None)
def test_s12_14_2_no_request_makes_the_bridge_fail(many: list[Any]) -> None:
    bridge = dispatcher()
    for request in many:
        assert isinstance(bridge.handle(request), dict)


# --- over the socket ----------------------------------------------------------------------------------------------


def speak(path: Path, *lines: bytes) -> list[Any]:
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(str(path))
        connection.sendall(b"".join(lines))
        connection.shutdown(socket.SHUT_WR)
        return [json.loads(line) for line in connection.makefile("rb")]


def test_s12_14_4_the_socket_is_private_and_keeps_request_ids(tmp_path: Path) -> None:
    path = tmp_path / "bridge.sock"
    with BridgeServer(str(path), dispatcher()):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        answers = speak(path, b'{"id": "a", "op": "budget"}\n', b'{"id": 2, "op": "brief"}\n', b"[1]\n")
    assert [answer.get("id") for answer in answers] == ["a", 2, None]


@pytest.mark.parametrize(
    "line", [b"not json\n", b'{"a":1,"a":2}\n', b"\xff\n", b'{"op": "brief"}', b"x" * (MAX_LINE_BYTES + 9)]
)
def test_s12_14_4_a_line_that_is_no_request_ends_its_connection(tmp_path: Path, line: bytes) -> None:
    path = tmp_path / "bridge.sock"
    with BridgeServer(str(path), dispatcher()):
        try:
            assert speak(path, line, b'{"op": "budget"}\n') == []
        except (BrokenPipeError, ConnectionResetError):
            assert len(line) > MAX_LINE_BYTES
        assert speak(path, b'{"id": 1, "op": "budget"}\n')[0]["callsLeft"] == 10


def test_s12_14_4_nothing_is_served_after_the_trial(tmp_path: Path) -> None:
    path = tmp_path / "bridge.sock"
    with socket.socket(socket.AF_UNIX) as connection:
        with BridgeServer(str(path), dispatcher()):
            connection.connect(str(path))
            connection.sendall(b'{"id": 1, "op": "budget"}\n')
            assert connection.recv(1000)
        connection.settimeout(5)
        assert connection.recv(1000) == b""


@pytest.mark.parametrize(
    ("words", "stdin", "code", "member"),
    [
        (["brief"], "", 0, "brief"),
        (["operations"], "", 0, "operations"),
        (["budget"], "", 0, "callsLeft"),
        (["observations"], "", 0, "observations"),
        (["call", "notes", "write", '{"path": {"id": "1"}}'], "", 0, "evidence"),
        (["call", "notes", "write", "--principal", "ada", "-"], '{"path": {"id": "1"}}', 0, "evidence"),
        (["call", "notes", "write"], '{"path": {"id": "1"}}', 0, "evidence"),
        (["call", "notes", "nothing"], "", 1, "code"),
        (["submit"], json.dumps(SUBMISSION), 1, "errors"),
    ],
)
def test_s12_14_4_the_command_form(tmp_path: Path, words: list[str], stdin: str, code: int, member: str) -> None:
    path = tmp_path / "bridge.sock"
    with BridgeServer(str(path), dispatcher()):
        done = subprocess.run(
            [sys.executable, "-I", bridge_file.__file__, *words],
            input=stdin,
            env={"EVAL_QUALITY_BRIDGE": str(path)},
            capture_output=True,
            text=True,
            timeout=30,
            check=False,
        )
    assert done.returncode == code
    assert member in json.loads(done.stdout)


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["fly"],
        ["brief", "x"],
        ["call", "notes"],
        ["call", "a", "b", "{", "x"],
        ["call", "a", "b", "{"],
        ["submit", "absent.json"],
    ],
)
def test_s12_14_4_a_wrong_command_line_is_explained(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert bridge_file.main(words) == 2
    assert capsys.readouterr().err.startswith("bridge: ")


def test_s12_14_4_a_submission_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "bridge.sock"
    document = tmp_path / "submission.json"
    document.write_text(json.dumps({**SUBMISSION, "dispositions": [], "findings": []}))
    monkeypatch.setattr(bridge_file, "SOCKET", str(path))
    bridge = dispatcher()
    with BridgeServer(str(path), bridge):
        assert bridge_file.main(["submit", str(document)]) == 0
    assert json.loads(capsys.readouterr().out)["accepted"] is True
    assert bridge.accepted is not None


def test_s12_14_4_a_closed_bridge_is_an_error_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "bridge.sock"
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(path))
    listener.listen(1)
    monkeypatch.setattr(bridge_file, "SOCKET", str(path))
    pid = os.fork()
    if pid == 0:
        connection, _ = listener.accept()
        connection.close()
        os._exit(0)
    try:
        with pytest.raises((ConnectionError, ConnectionResetError)):
            bridge_file.ask("brief")
    finally:
        os.waitpid(pid, 0)
        listener.close()


def test_s12_14_1_the_view_has_one_digest_over_both_documents() -> None:
    other = SealedView({**BRIEF, "x": 1}, SURFACE)
    third = SealedView(BRIEF, {**SURFACE, "x": 1})
    assert len({VIEW.digest, other.digest, third.digest}) == 3
    assert VIEW.brief_bytes.endswith(b"}\n")
    assert (VIEW.oracle_ids, VIEW.behavior_ids) == (("O-001", "O-002"), ("B-001",))
    assert VIEW.channels("notes", "absent") is None
