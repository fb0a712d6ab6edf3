"""`eval-quality run`: the whole twin run of an experiment folder (spec 12)."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from eval_quality.cli.command import Command, Flag, Invocation, Positional, UsageError
from eval_quality.cli.output import emit, note

if TYPE_CHECKING:
    from eval_quality.app.run.driving import Result
    from eval_quality.app.run.options import Options

FORBIDDEN_INPUTS: Final = (
    "original-spec",
    "source-code",
    "repository",
    "builder-transcript",
    "implementation-logs",
    "comparator-results",
    "human-labels",
)
FIXED_AT_START: Final = (
    "--run-dir",
    "--label",
    "--trials",
    "--probe",
    "--evaluator",
    "--reproducible",
    "--confine",
    "--attest",
    "--store",
)
"""Flags that decide what is measured; a resumed run keeps those of its start."""

RUN_EXITS: Final = (
    (0, "every cell is as it should be (PASS, WAIVED, unpromoted CONCERNS), or --until was reached"),
    (1, "some cell CONCERNS, promoted by --strict"),
    (2, "some cell FAIL, a floor not met, or a known miss that is now caught"),
    (3, "the run, a cell or a probe is invalid: nothing can be said about the contract"),
    (4, "the experiment or the contract is refused; nothing was started"),
    (5, "fault"),
    (64, "usage error"),
    (75, "stopped by a cap or by infrastructure; --resume goes on"),
    (130, "interrupted; --resume goes on"),
    (143, "terminated; --resume goes on"),
)


def run(invocation: Invocation) -> int:
    """Start or resume a run; standard output carries the summary document or the event stream."""
    from eval_quality.app.run.driving import drive, result_of
    from eval_quality.app.run.opening import check_experiment, resume, start
    from eval_quality.cli.run_progress import progress_for
    from eval_quality.run.execution import Interrupted

    experiment, directory = invocation.positional("experiment"), invocation.text("--resume")
    _check(invocation, experiment, directory)
    options = _options(invocation)
    if directory is None and options.until in ("compile", "plan"):
        prepared = check_experiment(str(experiment), options)
        note(f"run: {prepared.experiment.id}: sound; {len(prepared.items)} items planned, nothing was started")
        return 0
    as_json = invocation.has("--json")
    finished = None if directory is None else result_of(directory)
    if finished is not None:
        return _finish(invocation, finished, as_json)
    opened = start(str(experiment), options) if directory is None else resume(directory, options)
    with progress_for(invocation.text("--progress") or "auto", as_json, opened) as notify:
        try:
            result = drive(opened, notify)
        except Interrupted as interrupted:
            note(f"run: {opened.run.directory.name}: {interrupted}; {_go_on(str(opened.run.directory))}")
            return interrupted.exit_code
    return _finish(invocation, result, as_json)


def _finish(invocation: Invocation, result: "Result", as_json: bool) -> int:
    from eval_quality.value.canonical import canonicalize

    if result.summary is None:
        note(f"run: stopped after --until {invocation.text('--until')}; {_go_on(result.directory)}")
        return result.exit_code
    if not as_json:
        from eval_quality.cli.run_progress import write_page

        write_page(result.text or "")
        out = invocation.text("--out")
        text = canonicalize(result.summary, "RunSummary").decode() + "\n"
        if out is not None or not _is_terminal():
            emit(text, out, "run-summary")
    for reason in result.summary["reasons"]:
        note(f"{reason['code']}: {reason['path']}: {reason['detail']}")
    return result.exit_code


def _go_on(directory: str) -> str:
    return f"go on with: eval-quality run --resume {directory}"


def _is_terminal() -> bool:
    import sys

    return sys.stdout is not None and sys.stdout.isatty()


def _check(invocation: Invocation, experiment: str | None, directory: str | None) -> None:
    """The exclusions of spec 12 §12.2."""
    if (experiment is None) == (directory is None):
        raise UsageError("run takes an experiment folder, or --resume and a run directory")
    if directory is not None:
        for flag in FIXED_AT_START:
            if invocation.has(flag):
                raise UsageError(f"{flag} was decided when the run was started and cannot go with --resume")
    if invocation.has("--json") and invocation.has("--out"):
        raise UsageError("--json writes the event stream to standard output, so --out has nothing to say")


def _options(invocation: Invocation) -> "Options":
    from eval_quality.app.run.options import Options

    return Options(
        store=invocation.text("--store") or ".eval-quality",
        run_dir=invocation.text("--run-dir"),
        evaluators=tuple(invocation.texts("--evaluator")),
        probes=tuple(invocation.texts("--probe")),
        trials=_number(invocation, "--trials", 1, 1000),
        concurrency=_number(invocation, "--concurrency", 1, 1024),
        confine=invocation.text("--confine"),
        attest=_attestations(invocation),
        until=invocation.text("--until") or "score",
        max_calls=_number(invocation, "--max-calls", 1, 2**31),
        max_wall_s=_number(invocation, "--max-wall-s", 1, 2**31),
        reproducible=invocation.has("--reproducible"),
        label=_label(invocation),
        strict=invocation.has("--strict"),
        store_unsafe=invocation.has("--store-unsafe"),
    )


def _number(invocation: Invocation, flag: str, low: int, high: int) -> int | None:
    text = invocation.text(flag)
    if text is None:
        return None
    if not (text.isascii() and text.isdigit() and low <= int(text[:12]) <= high):
        raise UsageError(f"{flag} takes a whole number from {low} to {high}, not {text}")
    return int(text)


def _label(invocation: Invocation) -> str | None:
    label = invocation.text("--label")
    if label is not None and len(label) > 64:
        raise UsageError("--label takes at most 64 characters")
    return label


def _attestations(invocation: Invocation) -> Mapping[str, str]:
    found: dict[str, str] = {}
    for text in invocation.texts("--attest"):
        name, separator, statement = text.partition("=")
        if name not in FORBIDDEN_INPUTS or not separator or not statement.strip():
            listed = ", ".join(FORBIDDEN_INPUTS)
            raise UsageError(f"--attest takes <forbidden input>=<statement>; the inputs are {listed}")
        found[name] = statement
    return found


COMMAND: Final = Command(
    "run",
    "run an experiment: clean and damaged system, evaluators, verdicts and strength",
    (
        Flag("--store", "root of run directories; .eval-quality when absent", value="dir"),
        Flag("--run-dir", "use this run directory, which must not exist or be empty", value="dir"),
        Flag("--resume", "continue the run in this directory", value="run-dir"),
        Flag("--evaluator", "only this evaluator of the experiment", value="id", repeatable=True),
        Flag("--probe", "only this probe of the experiment", value="P-id", repeatable=True),
        Flag("--trials", "trials a cell, instead of the experiment's", value="number"),
        Flag("--concurrency", "items in flight, instead of the experiment's", value="number"),
        Flag("--confine", "how processes are isolated", value="backend", choices=("auto", "bwrap", "none")),
        Flag(
            "--attest",
            "state that an input was withheld from an unconfined evaluator",
            value="input=text",
            repeatable=True,
        ),
        Flag(
            "--until",
            "stop after this phase",
            value="phase",
            choices=("compile", "plan", "preflight", "qualify", "measure", "score"),
        ),
        Flag("--max-calls", "at most this many subject calls; may only lower the experiment's cap", value="number"),
        Flag("--max-wall-s", "at most this many seconds; may only lower the experiment's cap", value="seconds"),
        Flag("--reproducible", "write 0 for every wall-clock member"),
        Flag("--store-unsafe", "accept a store on a network file system"),
        Flag("--label", "tells intended repetitions apart; part of every run id", value="text"),
        Flag("--out", "where the summary document goes; standard output when absent", value="target"),
        Flag("--json", "standard output carries one event a line, the last with the summary's exit code"),
        Flag("--progress", "what is shown while it runs", value="form", choices=("auto", "rich", "plain", "none")),
        Flag("--strict", "promote CONCERNS to exit code 1"),
    ),
    run,
    positionals=(Positional("experiment", "the experiment folder, or its experiment file", required=False),),
    notes=(
        "The page for people goes to standard error; standard output carries the summary document, unless it is a "
        "terminal. Processes are isolated with bubblewrap; on a host without it the run refuses unless --confine none "
        "says so, and the manifests record it. Ctrl-C leaves a run that --resume continues."
    ),
    exits=RUN_EXITS,
)
