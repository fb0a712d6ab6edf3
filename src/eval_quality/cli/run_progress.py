"""What a run shows while it runs: a live display, plain lines, or events as JSON (spec 12 §12.24)."""

import json
import sys
import time
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from typing import Any

from eval_quality.app.run.opening import OpenRun
from eval_quality.cli.output import note, write_stderr, write_stdout
from eval_quality.report.visible import visible

Notify = Callable[[str, Mapping[str, Any]], None]

PLAIN_SECONDS = 10.0
"""How often the plain form says how far it is."""


@contextmanager
def progress_for(form: str, as_json: bool, opened: OpenRun) -> Generator[Notify]:
    """The observer that fits the flags and the terminal."""
    if form == "auto":
        form = "rich" if sys.stderr is not None and sys.stderr.isatty() and not as_json else "plain"
    if as_json:
        yield _json(opened)
    elif form == "rich":
        with _rich(opened) as notify:
            yield notify
    elif form == "plain":
        yield _plain(opened)
    else:
        yield lambda name, body: None


def write_page(text: str) -> None:
    """The summary page, on standard error, with control characters made visible."""
    for line in text.splitlines():
        write_stderr(visible(line))


def _json(opened: OpenRun) -> Notify:
    from threading import Lock

    lock, sent = Lock(), [0]

    def notify(_name: str, _body: Mapping[str, Any]) -> None:
        # read back from the journal, so that a line that was printed is a line that is kept
        with lock:
            for event in opened.run.journal.events(after=sent[0]):
                sent[0] = event.seq
                line = {"seq": event.seq, "at": event.at_ms, "event": event.event, **event.body}
                write_stdout(json.dumps(line, ensure_ascii=True, sort_keys=True) + "\n")

    return notify


def _plain(opened: OpenRun) -> Notify:
    state = {"phase": "", "done": 0, "total": 0, "said": time.monotonic()}
    name = opened.run.directory.name

    def notify(event: str, body: Mapping[str, Any]) -> None:
        if event == "phase.started":
            state.update(phase=body["phase"], done=0, total=body["items"], said=time.monotonic())
            if body["items"]:
                note(f"run: {name}: {body['phase']}: {body['items']} item(s)")
        elif event == "item.captured":
            state["done"] = int(str(state["done"])) + 1
            if time.monotonic() - float(str(state["said"])) >= PLAIN_SECONDS:
                state["said"] = time.monotonic()
                note(f"run: {name}: {state['phase']}: {state['done']} of {state['total']}")
        elif event in ("probe.set-aside", "item.void", "item.exhausted"):
            note(f"run: {name}: {event}: {body.get('probe') or body.get('item')}: {body.get('code')}")

    return notify


@contextmanager
def _rich(opened: OpenRun) -> Generator[Notify]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (
        SpinnerColumn(),
        TextColumn("[bold]{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.fields[note]}"),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        tasks: dict[str, Any] = {}
        current = [""]

        def notify(event: str, body: Mapping[str, Any]) -> None:
            if event == "phase.started" and body["items"]:
                current[0] = body["phase"]
                tasks[current[0]] = progress.add_task(body["phase"], total=body["items"], note="")
            elif event == "item.captured" and current[0] in tasks:
                progress.advance(tasks[current[0]])
            elif event == "item.started" and current[0] in tasks:
                progress.update(tasks[current[0]], note=visible(str(body["item"])))
            elif event == "phase.finished" and body["phase"] in tasks:
                progress.update(tasks[body["phase"]], note="")

        yield notify
