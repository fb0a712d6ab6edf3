"""What is printed for what went wrong, and the exit code (spec 10 §2.4, §5, §6)."""

import errno

import pytest

from eval_quality.app.files import USAGE_ERRNOS, PathError
from eval_quality.cli import diagnostics
from eval_quality.cli.command import Command, UsageError
from eval_quality.cli.diagnostics import issue_lines, location, report
from eval_quality.errors import (
    AggregationRefusal,
    DesignatedOracleRefusal,
    EvalQualityError,
    Problem,
    RuntimeFault,
    SchemaIssues,
    StructuralFailure,
)


def os_error(number: int, path: str | None) -> OSError:
    return OSError(number, "", path)


@pytest.mark.parametrize(
    ("error", "code", "line"),
    [
        (UsageError("no"), 64, "usage: no"),
        (DesignatedOracleRefusal("not listed"), 64, "usage: not listed"),
        (StructuralFailure("binding-cycle", "EvalContract", "a: b"), 4, "binding-cycle: EvalContract: a: b"),
        (AggregationRefusal("strength-inputs-disagree", "X[1]", "d"), 4, "strength-inputs-disagree: X[1]: d"),
        (RuntimeFault("aborted", "P", "d"), 5, "aborted: P: d"),
        (EvalQualityError("text"), 5, "text"),
        (MemoryError(), 5, "out of memory"),
        (KeyboardInterrupt(), 130, "interrupted"),
        (PathError("open", "missing.json", errno.ENOENT), 64, 'usage: open "missing.json": ENOENT'),
        (PathError("read", None, errno.EISDIR), 64, "usage: read (unknown path): EISDIR"),
        (PathError("write", "x.json", errno.ENOSPC), 5, 'write "x.json": ENOSPC'),
        (os_error(errno.EACCES, "p"), 64, 'usage: open "p": EACCES'),
        (os_error(errno.EIO, None), 5, "open (unknown path): EIO"),
        (OSError("bare"), 5, "open (unknown path): 0"),
    ],
)
def test_s5_1_line_shapes(error: BaseException, code: int, line: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert report(error) == code
    printed = capsys.readouterr()
    assert (printed.out, printed.err) == ("", f"eval-quality: {line}\n")


@pytest.mark.parametrize("number", sorted(USAGE_ERRNOS))
def test_s2_4_seven_codes_are_usage_errors(number: int) -> None:
    assert report(PathError("open", "p", number)) == 64
    assert len(USAGE_ERRNOS) == 7


def test_s5_3_an_internal_error_prints_its_trace_without_prefix(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ZeroDivisionError) as caught:
        raise ZeroDivisionError("a defect of this program")
    assert report(caught.value) == 5
    lines = capsys.readouterr().err.splitlines()
    assert lines[0].startswith("Traceback")
    assert lines[-1] == "ZeroDivisionError: a defect of this program"


def fault(*problems: Problem) -> RuntimeFault:
    raised = RuntimeFault("schema-parse-failure", "EvalContract", "d")
    raised.__cause__ = SchemaIssues(problems)
    return raised


def test_s5_3_issues_are_sorted_lines_with_pointers(capsys: pytest.CaptureFixture[str]) -> None:
    report(
        fault(
            Problem(("b", 0, "c"), "k", "must be a string"),
            Problem((), "k", "must be an object"),
            Problem(("a/b", "~c"), "k", "must be null"),
            Problem((), "k", "must be brief"),
        )
    )
    assert capsys.readouterr().err.splitlines() == [
        "eval-quality: schema-parse-failure: EvalContract: d",
        "  (root): must be an object",
        "  (root): must be brief",
        "  /a~1b/~0c: must be null",
        "  /b/0/c: must be a string",
    ]


@pytest.mark.parametrize(("count", "last"), [(20, "  /19: m"), (21, "  ... and 1 more"), (500, "  ... and 480 more")])
def test_s5_3_at_most_twenty_issues_are_shown(count: int, last: str) -> None:
    lines = issue_lines(fault(*(Problem((f"{index:02}",), "k", "m") for index in range(count))))
    assert (len(lines), lines[-1]) == (min(count, 20) + (count > 20), last)


def test_s5_3_issues_are_found_behind_a_fault_that_was_raised_again() -> None:
    outer = RuntimeFault("schema-parse-failure", "P", "d")
    outer.__cause__ = fault(Problem(("x",), "k", "m"))
    assert issue_lines(outer) == ["  /x: m"]
    assert issue_lines(RuntimeFault("aborted", "P", "d")) == []


def test_s5_3_lines_sort_by_utf16_code_units() -> None:
    lines = issue_lines(fault(Problem(("\uffee",), "k", "m"), Problem(("\U0001f600",), "k", "m")))
    assert lines == ["  /\U0001f600: m", "  /\uffee: m"]


@pytest.mark.parametrize(("path", "expected"), [((), "(root)"), (("",), "/"), ((1, "a"), "/1/a"), (("~/",), "/~0~1")])
def test_s5_3_locations(path: tuple[str | int, ...], expected: str) -> None:
    assert location(path) == expected


def test_s13_1_a_family_may_have_exit_codes_of_its_own() -> None:
    command = Command("behavior-eval status", "", (), lambda _: 0, usage_exit=1, fault_exit=1)
    raised = [
        UsageError(""),
        PathError("open", "x", errno.ENOENT),
        PathError("open", "x", errno.EIO),
        StructuralFailure("c", "p", "d"),
        RuntimeFault("aborted", "p", "d"),
        EvalQualityError(""),
        ValueError(),
    ]
    assert [report(error, command) for error in raised] == [1] * len(raised)


def test_s35_terminal_escapes_in_messages_are_shown_not_sent(capsys: pytest.CaptureFixture[str]) -> None:
    diagnostics.report(RuntimeFault("aborted", "A[id=\x1b[2J]", "a\rb\nc\x9b1m\u202e\ud800\U000e0001"))
    printed = capsys.readouterr().err
    assert printed == (
        "eval-quality: aborted: A[id=\\x1b[2J]: a\\x0db\u23cec\\x9b1m\\u{202e}\\u{d800}\\u{e0001}\n".replace(
            "\\u{e0001}", "\U000e0001"
        )
    )
