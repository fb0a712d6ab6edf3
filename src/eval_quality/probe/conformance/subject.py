"""What the suite drives and what it says: subjects, outcomes, reports (spec 07 §7.7, §7.7.4).

The suite never takes a bare port. A subject builds a fresh instance for every scenario, so that the suite can ask for a
mechanism that fails or hangs, and can count how often it was used.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final, Literal, NamedTuple, Protocol

from eval_quality.probe.signals import AbortSignal

Scenario = Literal["resolves", "fails", "in-band-error", "hangs"]

DEFAULT_ABORT_BUDGET_MS: Final = 1000


class Instance(Protocol):
    """One freshly built port over one freshly built mechanism. `dispose()` is optional."""

    def port(self, request: Any, signal: AbortSignal, /) -> Any:
        """The port method under test."""
        ...

    def underlying_calls(self) -> int:
        """How often the mechanism, not the port, was called."""
        ...


class Subject(Protocol):
    """An adapter to be proven.

    `conforms_to` names the runner: `corpus`, `clock`, `file-system`, `environment-probe`, `command-probe` or
    `mcp-probe`. `abort_budget_ms` is optional. The three probe arms also need `policy`, `requests` and `expectations`
    (§7.7.3): mappings from the part of an assertion's id after the slash.
    """

    name: str
    conforms_to: str
    sample_request: Any

    def build(self, scenario: Scenario, /) -> Instance:
        """A fresh instance whose mechanism resolves, fails, answers an error in-band, or never answers."""
        ...


class FileSystemSubject(NamedTuple):
    """A file-system adapter: its two methods are two subjects."""

    read: Any
    write: Any
    conforms_to: str = "file-system"

    @property
    def name(self) -> str:
        """The common name, or both (§7.7.2)."""
        return self.read.name if self.read.name == self.write.name else f"{self.read.name} + {self.write.name}"


class Outcome(NamedTuple):
    """One assertion's result; `detail` says what was wrong, and is empty when it passed."""

    id: str
    title: str
    passed: bool
    detail: str = ""


class Report(NamedTuple):
    """Every outcome of one run, in report order. `expected` is the published count (§7.7.2)."""

    subject: str
    port: str
    outcomes: tuple[Outcome, ...]
    expected: int

    @property
    def passed(self) -> bool:
        """Whether the published number of assertions ran and all of them passed."""
        return len(self.outcomes) == self.expected and all(outcome.passed for outcome in self.outcomes)

    def text(self) -> str:
        """The text report, without a final newline (§7.7.4)."""
        good = sum(outcome.passed for outcome in self.outcomes)
        word = "PASS" if self.passed else "FAIL"
        lines = [f'{word} {self.port} conformance for "{self.subject}": {good}/{len(self.outcomes)} assertions passed']
        for outcome in self.outcomes:
            if outcome.passed:
                lines.append(f"pass {outcome.id}: {outcome.title}")
            else:
                lines.append(f"FAIL {outcome.id}: {outcome.title} - {outcome.detail}")
        return "\n".join(lines)

    def to_value(self) -> dict[str, Any]:
        """The report as a plain JSON value."""
        return {
            "subject": self.subject,
            "port": self.port,
            "passed": self.passed,
            "outcomes": [outcome._asdict() for outcome in self.outcomes],
        }


Check = Callable[[Any, Any], str | None]
"""Looks at an attempt and a subject; what is wrong, or None."""


def member(subject: Any, name: str, key: str) -> Any:
    """`subject.<name>[key]`, or `MISSING`."""
    table = getattr(subject, name, None)
    return table.get(key, MISSING) if isinstance(table, Mapping) else MISSING  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]


class Missing:
    """The type of `MISSING`."""


MISSING: Final = Missing()
"""A subject does not have the entry that an assertion needs."""
