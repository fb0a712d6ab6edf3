"""Negative controls: every assertion of the suite has a broken adapter that it catches (spec 07 §7.7)."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from eval_quality import conformance
from eval_quality.probe.conformance.runners import TABLES
from support import broken, subjects
from support.http_service import serve


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    with serve() as service:
        yield service.port


def caught(subject: Any, wanted: str) -> None:
    """Only the assertion in question is run: it must fail, and say why."""
    case = next(case for case in conformance.cases(subject) if case.id == wanted)
    outcome = case.run()
    assert not outcome.passed, f"{wanted} passed for an adapter that breaks it"
    assert outcome.detail
    with pytest.raises(AssertionError):
        case.check()


def ids(port_id: str) -> list[str]:
    return [row.id for row in TABLES[port_id]]


@pytest.mark.parametrize("wanted", ids("environment-probe"))
def test_s7_7_3_http_negative_controls(wanted: str, port: int) -> None:
    caught(broken.http(wanted.partition("/")[2], port), wanted)


@pytest.mark.parametrize("wanted", ids("command-probe"))
def test_s7_7_3_command_negative_controls(wanted: str, tmp_path: Path) -> None:
    caught(broken.command(wanted.partition("/")[2], tmp_path), wanted)


@pytest.mark.parametrize("wanted", ids("mcp-probe"))
def test_s7_7_3_tool_negative_controls(wanted: str, tmp_path: Path) -> None:
    caught(broken.tool(wanted.partition("/")[2], tmp_path), wanted)


@pytest.mark.parametrize("key", list(broken.SHARED))
@pytest.mark.parametrize(
    ("kind", "methods"), [("corpus", ["resolve"]), ("clock", ["read"]), ("file_system", ["readFile", "writeFile"])]
)
def test_s7_7_1_local_negative_controls(kind: str, methods: list[str], key: str, tmp_path: Path) -> None:
    for method in methods:
        caught(broken.local(kind, key, tmp_path), f"{method}/{key}")


def test_s7_7_2_a_missing_outcome_never_passes(tmp_path: Path) -> None:
    report = conformance.run(subjects.corpus(tmp_path))
    assert report.passed
    assert not report._replace(outcomes=report.outcomes[:-1]).passed


@pytest.mark.parametrize(
    ("key", "request_key", "detail"),
    [
        ("command/deny-unmapped-interface", "allow-authorized-invocation", "names this interface"),
        ("command/deny-unmapped-executable", "allow-authorized-invocation", "maps this executable"),
        ("command/deny-unauthorized-subcommand", "allow-authorized-invocation", "permits this subcommand"),
        ("command/deny-unauthorized-subcommand", "deny-unmapped-executable", "does not map"),
        ("command/deny-unpermitted-environment-key", "allow-authorized-invocation", "permitted"),
        ("command/deny-unpermitted-environment-key", "deny-unmapped-executable", "does not map"),
    ],
)
def test_s7_7_3_a_request_that_cannot_test_its_assertion_fails_it(
    key: str, request_key: str, detail: str, tmp_path: Path
) -> None:
    subject = subjects.command(tmp_path)
    subject.requests = {**subject.requests, key.partition("/")[2]: subject.requests[request_key]}
    outcome = next(case for case in conformance.cases(subject) if case.id == key).run()
    assert not outcome.passed
    assert detail in outcome.detail


@pytest.mark.parametrize("key", ["deny-unmapped-executable", "deny-unauthorized-subcommand"])
def test_s7_7_3_a_request_of_another_kind_fails_a_command_assertion(key: str, tmp_path: Path) -> None:
    subject = subjects.command(tmp_path)
    subject.requests = {**subject.requests, key: subjects.tool_request()}
    outcome = next(case for case in conformance.cases(subject) if case.id == f"command/{key}").run()
    assert not outcome.passed
    assert outcome.detail == "the request is not a command"


@pytest.mark.parametrize("missing", ["requests", "expectations"])
def test_s7_7_3_a_missing_entry_fails_its_assertion(missing: str, tmp_path: Path) -> None:
    subject = subjects.command(tmp_path)
    setattr(
        subject,
        missing,
        {key: value for key, value in getattr(subject, missing).items() if key != "argument-passed-literally"},
    )
    outcome = next(case for case in conformance.cases(subject) if case.id == "command/argument-passed-literally").run()
    assert not outcome.passed
    assert "no " in outcome.detail


def test_s7_7_a_build_that_raises_fails_what_it_feeds(tmp_path: Path) -> None:
    subject = subjects.corpus(tmp_path)

    def build(scenario: str) -> Any:
        if scenario == "fails":
            raise ZeroDivisionError("build")
        return SimpleBuild(scenario)

    SimpleBuild = subjects.corpus(tmp_path).build
    subject.build = build  # type: ignore[method-assign]
    report = conformance.run(subject)
    assert [outcome.id for outcome in report.outcomes if not outcome.passed] == [
        "resolve/typed-fault",
        "resolve/single-underlying-call-on-failure",
    ]


def test_s7_7_a_dispose_that_raises_fails_what_had_passed(tmp_path: Path) -> None:
    subject = subjects.clock()
    honest = subject.build

    def build(scenario: str) -> Any:
        built = honest(scenario)

        def dispose() -> None:
            built.mechanism.released.set()
            raise OSError("dispose")

        built.dispose = dispose  # type: ignore[method-assign]
        return built

    subject.build = build  # type: ignore[method-assign]
    report = conformance.run(subject)
    assert all("dispose raised" in outcome.detail for outcome in report.outcomes)
    assert not any(outcome.passed for outcome in report.outcomes)


def test_s7_7_a_count_that_raises_fails_what_it_feeds(tmp_path: Path) -> None:
    subject = subjects.corpus(tmp_path)
    honest = subject.build

    def build(scenario: str) -> Any:
        built = honest(scenario)
        built.underlying_calls = lambda: 1 // 0  # type: ignore[method-assign]
        return built

    subject.build = build  # type: ignore[method-assign]
    report = conformance.run(subject)
    assert [outcome.id for outcome in report.outcomes if not outcome.passed] == [
        "resolve/single-underlying-call-on-success",
        "resolve/single-underlying-call-on-failure",
    ]


def test_s7_7_4_text_report(tmp_path: Path) -> None:
    report = conformance.run(subjects.corpus(tmp_path))
    lines = report.text().split("\n")
    assert lines[0] == 'PASS corpus conformance for "local corpus": 6/6 assertions passed'
    assert lines[1] == "pass resolve/typed-fault: a failure is a typed fault"
    assert len(lines) == 7
    bad = report._replace(outcomes=(report.outcomes[0]._replace(passed=False, detail="why"), *report.outcomes[1:]))
    assert bad.text().startswith(
        'FAIL corpus conformance for "local corpus": 5/6 assertions passed\nFAIL resolve/typed-fault: '
    )
    assert bad.text().split("\n")[1].endswith(" - why")


def test_s7_7_2_file_system_report_name(tmp_path: Path) -> None:
    both = subjects.file_system(tmp_path)
    assert conformance.run(both).subject == "host files"
    both.write.name = "other"
    assert both.name == "host files + other"


def test_an_unknown_runner_is_refused(tmp_path: Path) -> None:
    subject = subjects.corpus(tmp_path)
    subject.conforms_to = "web-probe"
    with pytest.raises(ValueError, match="web-probe"):
        conformance.run(subject)


def test_the_pytest_entry_gives_one_test_an_assertion(tmp_path: Path) -> None:
    test = conformance.tests_for(subjects.corpus(tmp_path))
    (mark,) = test.pytestmark  # type: ignore[attr-defined]
    found = mark.args[1]
    assert [str(case) for case in found] == ids("corpus")
    for case in found:
        test(case)
