"""The evidence commands as typed: forms, exit codes, JSON modes, published schemas (spec 11 §13, §14, §17.12)."""

import json
import sys
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

from eval_quality.app.behavior.store import EVIDENCE_NAME
from eval_quality.core.behavior.documents import ENVELOPE, EVIDENCE, REQUEST_BUNDLE, RESPONSE_BUNDLE
from support.program import call
from support.skills_repo import (
    answers_file,
    example,
    example_provider,
    opened,
    right_answers,
    scored,
    small_repository,
    wrong_answers,
)


@pytest.fixture
def repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = small_repository(tmp_path / "repo", 2, 6)
    monkeypatch.chdir(root)
    return root


def answers(root: Path, provider: str = "model") -> str:
    return answers_file(root / "responses.json", right_answers(opened(root)), provider)


# -- status --


@pytest.mark.parametrize(
    "words",
    [
        ["behavior-eval"],
        ["behavior-eval", "status"],
        ["behavior-eval", "STATUS"],
        ["behavior"],
        ["behavior", "Status"],
        ["behavior-eval", "--root", "."],
    ],
)
def test_s13_1_status_forms(repo: Path, words: list[str]) -> None:
    outcome = call(*words)
    assert outcome == (1, "NOT_CHECKED evidence-absent: no evidence has been scored yet\n", "")


def test_s13_1_a_leading_flag_means_status(repo: Path) -> None:
    assert json.loads(call("behavior-eval", "--json").out)["status"] == "NOT_CHECKED"


@pytest.mark.parametrize(
    "words",
    [
        ["behavior-eval", "nonsense"],
        ["behavior-eval", "status", "--nonsense"],
        ["behavior-eval", "score"],
        ["behavior-eval", "score", "--merge"],
        ["behavior-eval", "score", "no-such-file.json"],
        ["behavior-eval", "export", "--out"],
        ["behavior-eval", "export", "--out", "--json"],
        ["behavior-eval", "export", "--skill", "nobody"],
        ["behavior-eval", "export", "--root", "nowhere"],
        ["behavior-eval", "run"],
        ["behavior-eval", "run", "--provider", "nothing", "--out", "x.json"],
        ["behavior-eval", "run", "--provider", "http://127.0.0.1:1", "--out", "x.json", "--timeout-ms", "soon"],
        ["behavior-eval", "run", "--provider", "http://127.0.0.1:1", "--out", "x.json", "--max-seconds", "0"],
        ["behavior-eval", "run", "--provider", "http://127.0.0.1:1", "--out", "x.json", "--max-seconds", "x"],
        ["behavior-eval", "run", "--provider", "http://127.0.0.1:1", "--out", "x.json", "--parameter", "a"],
        ["behavior-eval", "run", "--provider", "http://127.0.0.1:1", "--out", "x.json", "--parameter", "a=b"],
        ["behavior-eval", "diff", "a.json"],
        ["behavior-eval", "audit", "no-such-file.json"],
        ["skills", "inspect", "nobody"],
        ["skills", "inspect"],
        ["skills"],
        ["capture-holdout"],
        ["capture-holdout", "routing"],
        ["doctor", "--nonsense"],
        ["doctor", "--root", "nowhere"],
    ],
)
def test_s13_1_every_failure_is_exit_1_and_leaves_standard_output_alone(repo: Path, words: list[str]) -> None:
    outcome = call(*words)
    assert (outcome.code, outcome.out) == (1, "")
    assert outcome.err.startswith("eval-quality: ")
    if "diff" not in words:
        with_json = call(*words, "--json-v1")
        assert (with_json.code, with_json.out) == (1, "")


def test_s13_1_exit_codes_of_a_status(repo: Path) -> None:
    scored(repo)
    assert call("behavior-eval").code == 0
    scored(repo, wrong_answers(opened(repo)))
    outcome = call("behavior-eval", "--skills")
    assert outcome.code == 1
    assert outcome.out.splitlines()[0] == "FAIL 0 PASS, 2 FAIL, 0 NOT_CHECKED of 2 skills"
    assert "FAIL M3 skill-0: known 0/6" in outcome.out


def strip(value: Any) -> list[str]:
    found: list[str] = []
    if isinstance(value, dict):
        found += list(value)
        for item in value.values():
            found += strip(item)
    elif isinstance(value, list):
        for item in value:
            found += strip(item)
    return found


def test_s13_1_status_json_holds_no_oracle_unless_asked_for(repo: Path) -> None:
    scored(repo)
    bare = json.loads(call("behavior-eval", "status", "--json").out)
    assert not {"expected", "forbidden"} & set(strip(bare))
    assert bare["snapshot"]["providerId"] == "model"
    assert "cases" not in bare["snapshot"]
    assert {"status", "fresh", "reason", "snapshot", "corpusSha256", "oracleSha256", "total", "attempts"} <= set(bare)
    assert bare["thresholds"] == {"known": 90, "negative": 95, "ambiguous": 90, "adversarial": 95, "holdout": 90}
    full = json.loads(call("behavior-eval", "status", "--json", "--with-cases").out)
    assert "expected" in strip(full["snapshot"]["cases"])


def test_s17_10_status_all_prints_the_providers(repo: Path) -> None:
    scored(repo)
    outcome = call("behavior-eval", "status", "--all")
    assert outcome.out.splitlines()[1].startswith("PASS model evals/results/agent-behavior-v1.json")
    assert len(json.loads(call("behavior-eval", "status", "--all", "--json").out)["providers"]) == 1


# -- JSON modes --


@pytest.mark.parametrize(
    ("words", "command"),
    [
        (["behavior-eval", "status"], "behavior-eval:status"),
        (["behavior-eval", "export"], "behavior-eval:export"),
        (["behavior-eval", "lint"], "behavior-eval:lint"),
        (["behavior-eval", "score", "responses.json"], "behavior-eval:score"),
        (["behavior-eval", "audit", "requests.json"], "behavior-eval:audit"),
        (["behavior-eval", "diff", EVIDENCE_NAME, EVIDENCE_NAME], "behavior-eval:diff"),
        (["doctor"], "doctor"),
        (["skills", "list"], "feed:list"),
        (["skills", "inspect", "skill-0"], "feed:inspect"),
    ],
)
def test_s13_2_the_payload_is_the_envelopes_data(repo: Path, words: list[str], command: str) -> None:
    answers(repo)
    scored(repo)
    assert call("behavior-eval", "export", "--out", "requests.json").code == 0
    bare, enveloped = call(*words, "--json"), call(*words, "--json", "--json-v1")
    envelope = json.loads(enveloped.out)
    jsonschema_rs.validator_for(ENVELOPE).validate(envelope)
    assert envelope["command"] == command
    assert bare.code == enveloped.code

    def stable(value: Any) -> Any:
        return json.dumps(value, sort_keys=True)

    if "score" not in words:
        assert stable(json.loads(bare.out)) == stable(envelope["data"])


# -- export, run, score --


def test_s5_3_export(repo: Path) -> None:
    outcome = call("behavior-eval", "export", "--out", "deep/er/requests.json", "--json-v1")
    path = repo / "deep/er/requests.json"
    assert outcome == (0, "60 requests written to deep/er/requests.json\n", "")
    bundle = json.loads(path.read_text())
    jsonschema_rs.validator_for(REQUEST_BUNDLE).validate(bundle)
    assert bundle["total"] == len(bundle["requests"]) == len({item["caseId"] for item in bundle["requests"]})
    assert path.read_text() == json.dumps(bundle, indent=2, ensure_ascii=False) + "\n"
    printed = call("behavior-eval", "EXPORT")
    assert printed.out == path.read_text()
    assert (repo / f".skill-evidence/exports/{bundle['corpusSha256']}.json").exists()
    partial = json.loads(call("behavior-eval", "export", "--skill", "skill-1", "--arm", "bare").out)
    assert {item["skillId"] for item in partial["requests"]} == {"skill-1"}
    assert {item["instruction"] for item in partial["requests"]} == {"Decides what happens in matter skill-1."}


def test_s13_1_score(repo: Path) -> None:
    path = answers(repo)
    outcome = call("behavior-eval", "score", path)
    assert (outcome.code, outcome.out) == (0, f"60/60 model {repo / EVIDENCE_NAME}\n")
    assert outcome.err.startswith("eval-quality: no export receipt")
    jsonschema_rs.validator_for(EVIDENCE).validate(json.loads((repo / EVIDENCE_NAME).read_text()))
    value = json.loads(call("behavior-eval", "score", path, "--out", "other.json", "--json").out)
    assert value["evidencePath"] == str(repo / "other.json")
    assert (value["passed"], value["status"], value["missing"]) == (60, "PASS", 0)
    bare = answers_file(repo / "bare.json", right_answers(opened(repo), bare=True))
    assert json.loads(call("behavior-eval", "score", bare, "--arm", "bare", "--json").out)["status"] == "NOT_CHECKED"


def test_an_interrupted_score_leaves_the_old_evidence(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scored(repo)
    before = (repo / EVIDENCE_NAME).read_bytes()

    def killed(_source: str, _target: str) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("eval_quality.app.behavior.store.os.replace", killed)
    assert call("behavior-eval", "score", answers(repo)).code == 130
    assert (repo / EVIDENCE_NAME).read_bytes() == before
    assert not list((repo / "evals/results").glob("*.tmp"))


def test_a_whole_round_with_the_examples_two_providers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = example(tmp_path)
    monkeypatch.chdir(root)
    assert call("behavior-eval", "export", "--out", "requests.json").code == 0
    requests = json.loads((root / "requests.json").read_text())["requests"]
    for name, status, code in (("follow_skill", "PASS", 0), ("echo_advice", "FAIL", 1)):
        provider = example_provider(name)
        given = {request["caseId"]: provider(request) for request in requests}
        path = answers_file(root / f"{name}.json", given, name)
        assert call("behavior-eval", "score", path).code == 0
        outcome = call("behavior-eval")
        assert (outcome.out.split()[0], outcome.code) == (status, code)
    # The bare arm shows that it is the skill that decides.
    assert call("behavior-eval", "export", "--arm", "bare", "--out", "bare.json").code == 0
    provider = example_provider("follow_skill")
    bare = {item["caseId"]: provider(item) for item in json.loads((root / "bare.json").read_text())["requests"]}
    assert call("behavior-eval", "score", str(root / "follow_skill.json")).code == 0
    assert call("behavior-eval", "score", answers_file(root / "b.json", bare, "f"), "--arm", "bare").code == 0
    skills = json.loads(call("behavior-eval", "--json").out)["skills"]
    assert [record["lift"]["lift"] for record in skills] == [1.0] * 4


def test_run_with_a_command_and_resume(repo: Path) -> None:
    (repo / "provider.py").write_text(
        "import json, sys\nr = json.load(sys.stdin)\njson.dump({'action': r['actionVocabulary'][0]}, sys.stdout)\n"
    )
    spec = f"cmd:{sys.executable} {repo / 'provider.py'}"
    words = ["behavior-eval", "run", "--provider", spec, "--out", "a.json", "--isolate", "off"]
    outcome = call(*words, "--max-requests", "2", "--provider-id", "first-word")
    assert outcome.code == 1
    assert outcome.out == "2/60 requests asked (2 answered): a.json\n"
    assert "--resume" in outcome.err
    assert (repo / "a.requests.json").exists()
    bundle = json.loads((repo / "a.json").read_text())
    jsonschema_rs.validator_for(RESPONSE_BUNDLE).validate(bundle)
    assert bundle["providerId"] == "first-word"
    outcome = call(*words, "a.requests.json", "--max-requests", "1", "--repeats", "2", "--skill", "skill-0")
    assert outcome.code == 1
    assert (repo / "a.2.json").exists()
    outcome = call(*words, "a.requests.json", "--resume", "--provider-id", "other")
    assert (outcome.code, outcome.out) == (1, "")
