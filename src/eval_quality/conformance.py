"""Prove that an adapter keeps the promises of its port (spec 07 §7.7).

    from eval_quality import conformance

    report = conformance.run(subject)
    print(report.text())

As a test module of its own, one test an assertion:

    test_my_adapter = conformance.tests_for(subject)

From the command line: `eval-quality conformance --adapter package.module:factory`, where `factory()` gives a subject or
a list of them.

What a subject is, is written at `Subject`. The suite never looks at how an adapter decides, only at what it does.
"""

from collections.abc import Callable
from typing import Any

from eval_quality.probe.conformance.runners import PUBLISHED_COUNTS, Case, cases, run
from eval_quality.probe.conformance.subject import FileSystemSubject, Instance, Outcome, Report, Scenario, Subject
from eval_quality.probe.signals import AbortController, AbortError, AbortSignal

__all__ = [
    "PUBLISHED_COUNTS",
    "AbortController",
    "AbortError",
    "AbortSignal",
    "Case",
    "FileSystemSubject",
    "Instance",
    "Outcome",
    "Report",
    "Scenario",
    "Subject",
    "cases",
    "run",
    "tests_for",
]


def tests_for(subject: Any) -> Callable[[Case], None]:
    """A pytest test function over every assertion about `subject`; bind it to a name that pytest collects."""
    import pytest

    @pytest.mark.parametrize("case", cases(subject), ids=str)
    def test_conformance(case: Case) -> None:
        case.check()

    return test_conformance


tests_for.__test__ = False  # pyright: ignore[reportFunctionMemberAccess]  # imported by name, it is no test itself
