"""What pre-flight reports while it works (spec 06 §6.1.4)."""

from collections.abc import Callable
from typing import NamedTuple, TypeAlias


class Diagnostic(NamedTuple):
    """One line about one run: the stage, the run's label, and the message."""

    stage: str
    run_id: str
    message: str


DiagnosticSink: TypeAlias = Callable[[Diagnostic], None]
"""Receives each diagnostic as it happens. What it raises reaches the caller."""


def reporter(run_id: str, sink: DiagnosticSink | None) -> Callable[[str], None]:
    """A function that reports one message of this run; silent without a sink."""

    def report(message: str) -> None:
        if sink is not None:
            sink(Diagnostic("preflight", run_id, message))

    return report


def planned(leg_id: str) -> str:
    return f'leg "{leg_id}": planned'


def observed(leg_id: str) -> str:
    return f'leg "{leg_id}": observed'


def not_observed(leg_id: str) -> str:
    return f'leg "{leg_id}": no observation'


def reduced(legs: int, passed: bool) -> str:
    return f"reduced {legs} leg(s): {'passed' if passed else 'failed'}"
