"""Run what the documentation shows, and compare.

A page's ```console blocks are one shell session, run in order in a temporary folder that holds a copy of the checkout's
`examples/`; `cd`, variables and `$?` mean what they mean there. A line that starts with `$ ` is a command (a trailing
backslash or a here-document continues it), the lines after it are what it prints, both streams together. A line `...`
stands for any number of lines. `eval-quality` and `python` are those of the test run.

    @pytest.mark.parametrize("page", ["docs/tutorial.md"])
    def test_shows_what_it_prints(page, tmp_path):
        check_page(ROOT / page, tmp_path)
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from difflib import unified_diff
from fnmatch import fnmatchcase
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
"""The checkout."""

TIMEOUT_SECONDS = 120

HERE_DOCUMENT = re.compile(r"<<'?(?P<word>[A-Z]+)'?")


class Shown(NamedTuple):
    """One command of a page and the lines it is shown to print."""

    line: int
    command: str
    output: tuple[str, ...]


def shown(text: str) -> Iterator[Shown]:
    """Every command in the console blocks of a page, in order."""
    inside = False
    command: list[str] = []
    output: list[str] = []
    start = 0
    for number, line in enumerate([*text.splitlines(), "```"], 1):
        if not inside:
            inside = line.strip() == "```console"
            continue
        ends = line.strip() == "```"
        if command and not ends and is_open(command):
            command.append(line)
        elif ends or line.startswith("$ "):
            if command:
                yield Shown(start, "\n".join(command), tuple(output))
            command, output, start = ([] if ends else [line[2:]]), [], number
            inside = not ends
        else:
            assert command, f"line {number}: a console block must begin with a command"
            output.append(line)


def is_open(command: list[str]) -> bool:
    """Whether a command goes on: after a trailing backslash, and up to the end word of a here-document."""
    here = HERE_DOCUMENT.search(command[0])
    return command[-1].endswith("\\") if here is None else here["word"] not in command[1:]


def check_page(page: Path, folder: Path) -> int:
    """Run every command of `page` in `folder` and assert its output; returns how many ran."""
    shutil.copytree(ROOT / "examples", folder / "examples", dirs_exist_ok=True)
    steps = list(shown(page.read_text(encoding="utf-8")))
    assert steps, f"{page.name} shows no command"
    for step, (printed, code) in zip(steps, run([step.command for step in steps], folder), strict=True):
        assert matches(printed, step.output), (
            f"{page.name}:{step.line}: `{step.command}` exits {code} and prints something else\n"
            + "\n".join(unified_diff(step.output, printed, "shown", "printed", lineterm=""))
        )
    return len(steps)


def run(commands: list[str], folder: Path) -> list[tuple[list[str], int]]:
    """Run shell commands as one session in `folder`; what each prints, both streams as one, and its exit code."""
    script = "".join(f"{command}\n__code=$?; printf '\\036%d\\036' $__code; (exit $__code)\n" for command in commands)
    finished = subprocess.run(
        ["bash", "-c", script],
        cwd=folder,
        env=environment(folder),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=TIMEOUT_SECONDS,
        check=False,
    )
    parts = finished.stdout.decode().split("\x1e")
    assert len(parts) == 2 * len(commands) + 1, f"the session ended early:\n{finished.stdout.decode()}"
    return [(parts[index].splitlines(), int(parts[index + 1])) for index in range(0, len(parts) - 1, 2)]


def environment(home: Path) -> dict[str, str]:
    """A small environment: the interpreter's own folder first on the path, no colours, UTF-8."""
    return {
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)]),
        "HOME": str(home),
        "LC_ALL": "C.UTF-8",
        "NO_COLOR": "1",
        "COLUMNS": "100",
        "PYTHONDONTWRITEBYTECODE": "1",
    }


def matches(printed: list[str], expected: tuple[str, ...]) -> bool:
    """Whether the printed lines are those expected, `...` standing for any number of lines."""
    if not expected:
        return not printed
    if expected[0] == "...":
        return any(matches(printed[skip:], expected[1:]) for skip in range(len(printed) + 1))
    return bool(printed) and printed[0] == expected[0] and matches(printed[1:], expected[1:])


def pages(pattern: str = "docs/**/*.md") -> list[str]:
    """Every page of the documentation that shows a command, as paths relative to the checkout."""
    candidates = sorted({*ROOT.glob(pattern)})
    return [
        str(page.relative_to(ROOT))
        for page in candidates
        if not fnmatchcase(page.name, "_*") and any(shown(page.read_text(encoding="utf-8")))
    ]
