"""What the evidence commands share: flags, exit codes, JSON modes (spec 11 §13).

In a JSON mode standard output carries exactly one document; a failure without a payload prints nothing there.
"""

from typing import Any, Final

import msgspec

from eval_quality.app.behavior.repository import Repository
from eval_quality.app.behavior.store import utc_now
from eval_quality.cli.command import Flag, Invocation, UsageError
from eval_quality.cli.output import write_stdout
from eval_quality.report.visible import visible

EXITS: Final = (
    (0, "done; for status PASS, for lint and audit nothing found, for doctor no ERROR and no FAIL"),
    (1, "anything else, usage errors included"),
)

ROOT: Final = Flag("--root", "the repository; found from the working folder when absent", value="dir")
JSON: Final = Flag("--json", "print the bare payload as JSON")
JSON_V1: Final = Flag("--json-v1", 'print {"schemaVersion": 1, "command": "...", "data": ...}')
SKILL: Final = Flag("--skill", "only this skill; repeatable", value="id", repeatable=True)
OUT: Final = Flag("--out", "the file to write", value="path")
ALLOW_EXEC: Final = Flag("--allow-exec", "run evaluators that are commands of the repository")
ARM: Final = Flag(
    "--arm", "skill, or bare: the same questions without the instructions", value="arm", choices=("skill", "bare")
)

clock = utc_now


def open_repository(invocation: Invocation) -> Repository:
    """The repository the command works on."""
    return Repository.open(invocation.text("--root"))


def wants_json(invocation: Invocation) -> bool:
    """Whether a JSON mode was asked for."""
    return invocation.has("--json") or invocation.has("--json-v1")


def json_text(invocation: Invocation, command: str, payload: Any) -> str:
    """The one document of a JSON mode; `--json-v1` wins over `--json` (spec 11 §13.2)."""
    value = {"schemaVersion": 1, "command": command, "data": payload} if invocation.has("--json-v1") else payload
    return msgspec.json.encode(value).decode() + "\n"


def print_json(invocation: Invocation, command: str, payload: Any) -> None:
    """Print the one document of a JSON mode."""
    write_stdout(json_text(invocation, command, payload))


def print_lines(lines: list[str]) -> None:
    """Print lines for a person; names out of a repository never reach the terminal as control characters."""
    write_stdout("".join(f"{visible(line)}\n" for line in lines))


def whole_number(invocation: Invocation, flag: str, default: int | None, low: int) -> int | None:
    """The value of a flag that is a whole number of at least `low`. Raises `UsageError`."""
    text = invocation.text(flag)
    if text is None:
        return default
    if not text.isascii() or not text.isdigit() or len(text) > 15 or int(text) < low:
        raise UsageError(f"{flag}: expected a whole number of at least {low}")
    return int(text)
