"""Run what the documentation shows, and compare.

A page's ```console blocks are one session, run in order in a temporary folder that holds a copy of the checkout's
`examples/`. A line that starts with `$ ` is a command (a trailing backslash continues it), the lines after it are what
it prints, both streams together. A line `...` stands for any number of lines. `$?` is the exit code of the command
before. `eval-quality` and `python` are those of the test run.

    @pytest.mark.parametrize("page", ["docs/tutorial.md"])
    def test_shows_what_it_prints(page, tmp_path):
        check_page(ROOT / page, tmp_path)
"""

import os
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
        if command and command[-1].endswith("\\") and not ends:
            command.append(line)
        elif ends or line.startswith("$ "):
            if command:
                yield Shown(start, "\n".join(command), tuple(output))
            command, output, start = ([] if ends else [line[2:]]), [], number
            inside = not ends
        else:
            assert command, f"line {number}: a console block must begin with a command"
            output.append(line)


def check_page(page: Path, folder: Path) -> int:
    """Run every command of `page` in `folder` and assert its output; returns how many ran."""
    shutil.copytree(ROOT / "examples", folder / "examples", dirs_exist_ok=True)
    code = 0
    ran = 0
    for step in shown(page.read_text(encoding="utf-8")):
        finished = run(step.command, folder, code)
        code = finished.returncode
        printed = finished.stdout.decode().splitlines()
        assert matches(printed, step.output), (
            f"{page.name}:{step.line}: `{step.command}` exits {code} and prints something else\n"
            + "\n".join(unified_diff(step.output, printed, "shown", "printed", lineterm=""))
        )
        ran += 1
    assert ran, f"{page.name} shows no command"
    return ran


def run(command: str, folder: Path, code: int = 0) -> subprocess.CompletedProcess[bytes]:
    """Run one shell command in `folder` with the test run's own `eval-quality`, both streams as one."""
    return subprocess.run(
        ["bash", "-c", f"(exit {code})\n{command}"],
        cwd=folder,
        env=environment(folder),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=TIMEOUT_SECONDS,
        check=False,
    )


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
