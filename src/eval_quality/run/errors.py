"""How a twin run ends when it does not end well (spec 12 §12.27), and how authored documents are refused.

EvalQualityError
└── RunError                 one or more coded problems, each with its own line
    ├── ExperimentFailure    the experiment cannot be what its author meant; exit 4
    ├── RunInvalid           the instrument was not shown to work; exit 3
    ├── RunStopped           a cap or lost infrastructure; resume may finish it; exit 75
    └── RunFault             the machine or the subject's tree broke a rule; exit 5
"""

from collections.abc import Iterable
from typing import ClassVar, NamedTuple, Self

from eval_quality.errors import EvalQualityError


class AuthoringProblem(NamedTuple):
    """One problem: a registry code, the input it is about, the sentence, and the place where the author wrote it.

    `file` is empty where no authored text is concerned; `line` and `column` count from 1.
    """

    code: str
    artifact_path: str
    detail: str
    file: str = ""
    line: int = 0
    column: int = 0


class RunError(EvalQualityError):
    """Every problem that ended a run, in a stable order, and the exit code of its family."""

    exit_code: ClassVar[int] = 5

    def __init__(self, problems: Iterable[AuthoringProblem] | AuthoringProblem) -> None:
        found = (problems,) if isinstance(problems, AuthoringProblem) else tuple(problems)
        if not found:
            raise ValueError("a run error names at least one problem")
        self.problems: tuple[AuthoringProblem, ...] = found
        super().__init__("; ".join(f"{p.code} in {p.artifact_path}: {p.detail}" for p in found))

    @classmethod
    def of(cls, code: str, artifact_path: str, detail: str) -> Self:
        """One problem without a source position."""
        return cls(AuthoringProblem(code, artifact_path, detail))


class ExperimentFailure(RunError):
    """The experiment folder contradicts itself or the contract; nothing was started."""

    exit_code = 4


class RunInvalid(RunError):
    """The run cannot be judged: a broken probe, an unfit clean arm, a fault that does not show."""

    exit_code = 3


class RunStopped(RunError):
    """A cap was reached or infrastructure ran out; what is captured is kept and `--resume` goes on."""

    exit_code = 75


class RunFault(RunError):
    """A rule about files, processes or providers was broken while running."""

    exit_code = 5
