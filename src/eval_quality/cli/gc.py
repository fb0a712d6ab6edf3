"""`eval-quality gc`: remove runs that nobody needs any more (spec 13 §13.14)."""

from typing import Final

from eval_quality.cli.capabilities import DEFAULT_STORE
from eval_quality.cli.command import Command, Flag, Invocation
from eval_quality.cli.output import note, write_stdout

KEEP_RUNS: Final = 50
KEEP_DAYS: Final = 90


def run(invocation: Invocation) -> int:
    """Collect the store; one line on standard output for each run directory removed."""
    from eval_quality.app.collect import collect_store

    dry = invocation.has("--dry-run")
    found = collect_store(
        invocation.text("--store") or DEFAULT_STORE,
        int(invocation.text("--keep-runs") or KEEP_RUNS),
        int(invocation.text("--keep-days") or KEEP_DAYS),
        invocation.texts("--keep"),
        dry,
    )
    write_stdout("".join(f"{path}\n" for path in found.removed))
    for path in found.locked:
        note(f"gc: {path} is being written and stays")
    verb = "would remove" if dry else "removed"
    note(f"gc: {verb} {len(found.removed)} runs, and {found.orphans} unused blobs ({found.orphan_bytes} bytes)")
    return 0


COMMAND: Final = Command(
    "gc",
    "remove old runs from a store, and blobs that nothing refers to",
    (
        Flag("--store", f"the store; {DEFAULT_STORE} by default", value="directory"),
        Flag("--dry-run", "only say what would be removed"),
        Flag("--keep", "a run directory that stays, whatever its age", value="directory", repeatable=True),
        Flag(
            "--keep-runs",
            f"how many of the newest runs of an experiment stay; {KEEP_RUNS} by default",
            value="number",
            pattern="[0-9]{1,9}",
            form="a number of runs",
        ),
        Flag(
            "--keep-days",
            f"for how many days every run stays; {KEEP_DAYS} by default",
            value="number",
            pattern="[0-9]{1,9}",
            form="a number of days",
        ),
    ),
    run,
    notes="A run is removed when its experiment has enough newer ones and it is old enough. A run that is being "
    "written stays, and so does the parent of a run that stays. An interrupted collection leaves a run whole or gone.",
    exits=((0, "collected"), (5, "runtime fault or internal error"), (64, "usage error")),
)
