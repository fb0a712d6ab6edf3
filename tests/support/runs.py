"""Running experiments in tests: through the command line as a child process, in this process, or only planned."""

import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from eval_quality.app.run.driving import Result, drive, result_of
from eval_quality.app.run.opening import check_experiment, resume, start
from eval_quality.app.run.options import Options
from eval_quality.run.prepare import Prepared

QUICK = ("--progress", "none", "--reproducible")
"""Flags of a run that is only about what it comes to."""


class Ran(NamedTuple):
    """How one command ended."""

    code: int
    out: str
    err: str

    @property
    def summary(self) -> dict[str, Any]:
        """The summary document on standard output."""
        return json.loads(self.out)

    @property
    def events(self) -> list[dict[str, Any]]:
        """The event stream on standard output."""
        return [json.loads(line) for line in self.out.splitlines()]


def command(*words: str | Path) -> list[str]:
    """The program of this checkout under the running interpreter."""
    return [sys.executable, "-m", "eval_quality", *map(str, words)]


def eval_quality(
    *words: str | Path, cwd: Path | None = None, environment: Mapping[str, str] | None = None, timeout: float = 240
) -> Ran:
    """Run `eval-quality` as a child process and wait for it."""
    done = subprocess.run(
        command(*words),
        cwd=cwd,
        env={**os.environ, **(environment or {})},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )
    return Ran(done.returncode, done.stdout, done.stderr)


def run(folder: Path, directory: Path, *flags: str, **more: Any) -> Ran:
    """Run an experiment into `directory`, unconfined and without a display unless `flags` say otherwise."""
    confine = () if "--confine" in flags else ("--confine", "none")
    return eval_quality("run", folder, "--run-dir", directory, *QUICK, *confine, *flags, **more)


def planned(folder: Path, **options: Any) -> Prepared:
    """Phases 1 to 3 of an experiment, without starting anything."""
    return check_experiment(str(folder), Options(**options))


def edit(path: Path, *replacements: tuple[str, str]) -> None:
    """Replace texts in a file; each must occur in it. An empty old text appends."""
    text = path.read_text()
    for old, new in replacements:
        if old and old not in text:
            raise AssertionError(f"{path.name} has no {old!r}")
        text = text.replace(old, new, 1) if old else text + new
    path.write_text(text)


def write_json(path: Path, value: Any) -> None:
    """Write a document as indented JSON, so that every member has a line of its own."""
    path.write_text(json.dumps(value, indent=1))


def place(text: str, marker: str) -> tuple[int, int]:
    """Line and column (from 1) of a text's first occurrence."""
    before = text[: text.index(marker)]
    return before.count("\n") + 1, len(before) - (before.rfind("\n") + 1) + 1


def files(directory: Path, *, skip: Sequence[str] = ()) -> dict[str, bytes]:
    """Every file below a folder by relative path, without those below a first segment in `skip`."""
    return {
        str(path.relative_to(directory)): path.read_bytes()
        for path in sorted(directory.rglob("*"))
        if path.is_file() and path.relative_to(directory).parts[0] not in skip
    }


def artifacts(directory: Path, *classes: str) -> dict[str, bytes]:
    """The published files of a run directory that belong to one of the artifact classes, by name."""
    connection = sqlite3.connect(f"file:{directory / 'journal.sqlite3'}?mode=ro", uri=True)
    try:
        rows = connection.execute("SELECT name, class FROM artifact ORDER BY name").fetchall()
    finally:
        connection.close()
    return {name: (directory / name).read_bytes() for name, kind in rows if kind in classes}


def rows(directory: Path, query: str) -> list[tuple[Any, ...]]:
    """What the journal of a run directory answers to a query."""
    connection = sqlite3.connect(f"file:{directory / 'journal.sqlite3'}?mode=ro", uri=True)
    try:
        return connection.execute(query).fetchall()
    finally:
        connection.close()


def drive_here(folder: Path, directory: Path, seen: list[tuple[str, Any]] | None = None, **options: Any) -> Result:
    """Run an experiment in this process, unconfined and without times unless `options` say otherwise.

    Raises what the run raises; `seen` collects the events.
    """
    chosen = Options(run_dir=str(directory), **{"confine": "none", "reproducible": True, **options})
    return drive(start(str(folder), chosen), lambda name, body: None if seen is None else seen.append((name, body)))


def resume_here(directory: Path, **options: Any) -> Result:
    """Go on with a run in this process; a finished one is read."""
    return result_of(str(directory)) or drive(resume(str(directory), Options(**options)), lambda *_: None)
