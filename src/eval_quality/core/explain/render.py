"""A catalogue entry as text, and the whole catalogue as a list."""

import json
from collections.abc import Iterator
from itertools import groupby
from textwrap import wrap
from typing import Any, Final

from eval_quality.core.explain.catalogue import BASES, CATALOGUE
from eval_quality.core.explain.patch import Edit, apply
from eval_quality.core.explain.record import Explanation
from eval_quality.core.explain.twin_run import RUN_CODES, RunCode
from eval_quality.value.pointer import MISSING, lookup, split

_WIDTH: Final = 100
_SUBJECTS: Final = {
    "contract": "the base contract",
    "brief": "the base contract, sealed",
    "coverage": "the base contract",
    "probe": "the base probe",
    "preflight": "the base contract, its probe and what its system answered",
    "text": "a text",
    "evaluation": "a check, an observed body and a budget",
    "manifest": "a private artifact",
    "target": "a target policy and a request",
    "port": "a clock port",
    "aggregation": "an evidence artifact, its policy and no floors",
}


def explanation_text(entry: Explanation) -> str:
    """The entry for a terminal: meaning, reason, the failing example and the mended one."""
    lines = [f"{entry.code} ({entry.family})", "", *_paragraph(entry.means), "", *_paragraph(entry.matters)]
    lines += ["", f"Shows it, as a change of {_SUBJECTS[entry.subject]}:", ""]
    lines += [line for edit in entry.failing for line in _edit_lines(edit)]
    if entry.path:
        lines += ["", f"  reported at {entry.path}"]
    lines += ["", "Mended:", "", *_mended_lines(entry)]
    return "\n".join(lines) + "\n"


def run_code_text(entry: RunCode) -> str:
    """A code of a twin run for a terminal: meaning and remedy."""
    lines = [f"{entry.code} (twin run, exit code {entry.exit_code})", "", *_paragraph(entry.means), ""]
    return "\n".join([*lines, *_paragraph(entry.remedy)]) + "\n"


def _paragraph(text: str) -> list[str]:
    return wrap(text, _WIDTH, break_long_words=False, break_on_hyphens=False)


def _edit_lines(edit: Edit) -> Iterator[str]:
    if edit.op == "remove":
        yield f"  {edit.path} is not there"
    else:
        yield from _value_lines(edit.path, edit.value)


def _mended_lines(entry: Explanation) -> Iterator[str]:
    """The same members as they are in the mended document."""
    if entry.mended:
        for edit in entry.mended:
            yield from _edit_lines(edit)
        return
    base = BASES.get(entry.subject)
    if base is None:
        yield "  as it was scored"
        return
    mended = apply(base(), entry.mended)
    for edit in entry.failing:
        value = lookup(mended, split(edit.path))
        if value is MISSING:
            yield f"  {edit.path} is not there"
        else:
            yield from _value_lines(edit.path, value)


def _value_lines(path: str, value: Any) -> Iterator[str]:
    one_line = f"  {path}: {json.dumps(value, ensure_ascii=False)}"
    if len(one_line) <= _WIDTH:
        yield one_line
        return
    yield f"  {path}:"
    yield from (f"    {line}" for line in json.dumps(value, ensure_ascii=False, indent=2).splitlines())


def catalogue_text() -> str:
    """Every code, one a line, under its family."""
    lines: list[str] = []
    for family, entries in groupby(CATALOGUE.values(), key=lambda entry: entry.family):
        lines += ["", f"{family}:", *(f"  {entry.code}" for entry in entries)]
    lines += ["", "twin run:", *(f"  {code}" for code in RUN_CODES)]
    return "\n".join(lines[1:]) + "\n"
