"""From what went wrong to the lines printed and the exit code (spec 10 §5, §6).

| Raised | Line after `eval-quality: ` | Exit |
|---|---|---|
| UsageError, DesignatedOracleRefusal | `usage: <message>` | 64 |
| PathError, OSError of a path as typed | `usage: <syscall> "<path>": <CODE>` | 64 |
| any other PathError, OSError | the same without `usage: ` | 5 |
| StructuralFailure, AggregationRefusal | `<code>: <artifactPath>: <detail>` | 4 |
| RuntimeFault | the same, then its schema issues | 5 |
| any other EvalQualityError, MemoryError | its text | 5 |
| anything else | a stack trace without prefix: a defect of this program | 5 |
| KeyboardInterrupt | `interrupted` | 130 |

A command family with a table of its own sets `usage_exit` and `fault_exit` (spec 11 §13.1).
"""

from typing import Final

from eval_quality.app.files import PathError
from eval_quality.cli.command import Command, UsageError
from eval_quality.cli.output import note, write_stderr
from eval_quality.errors import (
    AggregationRefusal,
    CodedError,
    DesignatedOracleRefusal,
    EvalQualityError,
    SchemaIssues,
    StructuralFailure,
)

STRUCTURAL_EXIT: Final = 4
FAULT_EXIT: Final = 5
USAGE_EXIT: Final = 64
INTERRUPTED_EXIT: Final = 130

SHOWN_ISSUES: Final = 20
"""How many lines of a schema issue list are printed."""


def report(error: BaseException, command: Command | None = None) -> int:
    """Print what `error` means to the user and return the exit code."""
    usage_exit = command.usage_exit if command is not None else USAGE_EXIT
    fault_exit = command.fault_exit if command is not None else None
    match error:
        case UsageError() | DesignatedOracleRefusal():
            note(f"usage: {error}")
            return usage_exit
        case OSError():
            return report(_located(error), command)
        case PathError():
            note(f"usage: {error}" if error.is_usage else str(error))
            return usage_exit if error.is_usage else fault_exit or FAULT_EXIT
        case CodedError():
            note(code_line(error))
            for line in issue_lines(error):
                write_stderr(line)
            is_structural = isinstance(error, (StructuralFailure, AggregationRefusal))
            return fault_exit or (STRUCTURAL_EXIT if is_structural else FAULT_EXIT)
        case EvalQualityError() if hasattr(error, "problems"):
            return _problems(error)
        case EvalQualityError():
            note(str(error))
            return fault_exit or FAULT_EXIT
        case MemoryError():
            note("out of memory")
            return fault_exit or FAULT_EXIT
        case KeyboardInterrupt():
            note("interrupted")
            return INTERRUPTED_EXIT
        case _:
            import traceback

            for line in "".join(traceback.format_exception(error)).splitlines():
                write_stderr(line)
            return fault_exit or FAULT_EXIT


def _problems(error: EvalQualityError) -> int:
    """Every problem of a twin run: its code line, and where its author wrote it (spec 12 §12.4, §12.27)."""
    from eval_quality.run.errors import RunError

    assert isinstance(error, RunError)
    for problem in error.problems:
        note(f"{problem.code}: {problem.artifact_path}: {problem.detail}")
        if problem.file:
            write_stderr(f"  {problem.file}:{problem.line}:{problem.column}")
    return error.exit_code


def code_line(error: CodedError) -> str:
    """`<code>: <artifactPath>: <detail>`."""
    return f"{error.code}: {error.artifact_path}: {error.detail}"


def issue_lines(error: BaseException) -> list[str]:
    """The schema issues behind `error`, one line each, sorted, at most `SHOWN_ISSUES` (spec 10 §5.3)."""
    cause = error.__cause__
    while isinstance(cause, CodedError):
        cause = cause.__cause__
    if not isinstance(cause, SchemaIssues):
        return []
    lines = [f"  {location(problem.path)}: {problem.message}" for problem in cause.issues]
    lines.sort(key=lambda line: line.encode("utf-16-be", "surrogatepass"))
    hidden = len(lines) - SHOWN_ISSUES
    return [*lines[:SHOWN_ISSUES], f"  ... and {hidden} more"] if hidden > 0 else lines


def location(path: tuple[str | int, ...]) -> str:
    """An RFC 6901 pointer, or `(root)` for the document itself."""
    return "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in path) or "(root)"


def _located(error: OSError) -> PathError:
    """An operating system error that reached the top, with whatever it knows about its path."""
    path = error.filename if isinstance(error.filename, str) else None
    return PathError("open", path, error.errno or 0)
