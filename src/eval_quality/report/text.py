"""A run's story as a page of plain text, for a terminal or a log (spec 12 §12.26).

Whoever has never seen this program must understand it: no digest, and a number only beside what it means. Why the exit
code is not 0 is not on the page: those lines are printed as diagnostics.
"""

from collections.abc import Iterator, Mapping
from typing import Any

INDENT = " " * 9


def text_page(story: Mapping[str, Any]) -> str:
    """The page, one trailing newline."""
    return "\n".join(_lines(story)) + "\n"


def _lines(story: Mapping[str, Any]) -> Iterator[str]:
    yield f"{story['title']}: would this evaluation have caught a known bug?"
    yield ""
    yield "What was planted, and was it real?"
    for probe in story["probes"]:
        yield f"  {probe['id']}  {probe['class']}: {probe['planted']}"
        refused = probe["refused"]
        yield f"{INDENT}{'real' if refused is None else f'REFUSED {refused}'}: {probe['proof']}"
    for evaluator in story["evaluators"]:
        yield ""
        trials = "1 trial" if evaluator["trials"] == 1 else f"{evaluator['trials']} trials"
        yield f"What the evaluator `{evaluator['name']}` made of it ({trials} each)"
        for cell in evaluator["cells"]:
            yield from _cell(cell)
        yield from _strength(evaluator)
    for side, facts in story["confinement"].items():
        if facts["backend"] == "none":
            yield ""
            yield f"  UNCONFINED: the {side} ran without isolation (--confine none); the manifests say so."
    yield ""
    yield f"Result: exit code {story['exitCode']}{_end(story)}"
    yield f"Report: {story['directory']}/report.html"


def _end(story: Mapping[str, Any]) -> str:
    if story["reasons"]:
        return ""
    concerns = sum(cell["verdict"] == "CONCERNS" for each in story["evaluators"] for cell in each["cells"])
    if concerns:
        return f", nothing failed; CONCERNS in {concerns} cell{'s' if concerns > 1 else ''}"
    return ", every cell is as it should be"


def _cell(cell: Mapping[str, Any]) -> Iterator[str]:
    pending = " (known miss, does not gate)" if cell["pending"] else ""
    yield f"  {cell['probe']}  {cell['word']:13} {cell['meaning']}{pending}"
    for reason in cell["why"]:
        yield f"{INDENT}{reason}"
    basis = f": {cell['basis'][0]}" if cell["basis"] else ""
    more = f" (+{len(cell['basis']) - 1} more)" if len(cell["basis"]) > 1 else ""
    yield f"{INDENT}verdict {cell['verdict']}{basis}{more}"
    for stop, count in cell["stops"].items():
        yield f"{INDENT}evaluator: {stop} in {count} trial{'s' if count > 1 else ''}"


def _strength(evaluator: Mapping[str, Any]) -> Iterator[str]:
    if evaluator["note"] is not None:
        yield f"  strength: not measured ({evaluator['note']})"
    for each in evaluator["strength"]:
        if each["low"] is None:
            yield f"  strength {each['class']}: not measured, nothing was exercised"
            continue
        comparable = "" if each["comparable"] else "; too few trials to compare"
        yield (
            f"  strength {each['class']}: {each['caught']} of {each['exercised']} caught, "
            f"rate {each['rate']:.2f}, Wilson 95 % {each['low']:.2f} to {each['high']:.2f}{comparable}"
        )
    if evaluator["gap"]:
        yield f"  caught by `deterministic` and not by this evaluator: {', '.join(evaluator['gap'])}"
