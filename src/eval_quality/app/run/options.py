"""What the command line decides about a run (spec 12 §12.2)."""

import os
from collections.abc import Mapping
from typing import Any, NamedTuple

from eval_quality.run.experiment.document import Experiment
from eval_quality.run.prepare import Selection


class Options(NamedTuple):
    """The flags of `run`; None means: as the experiment file says."""

    store: str = ".eval-quality"
    run_dir: str | None = None
    evaluators: tuple[str, ...] = ()
    probes: tuple[str, ...] = ()
    trials: int | None = None
    concurrency: int | None = None
    confine: str | None = None
    attest: Mapping[str, str] = {}
    until: str = "score"
    max_calls: int | None = None
    max_wall_s: int | None = None
    reproducible: bool = False
    label: str | None = None
    strict: bool = False
    store_unsafe: bool = False

    @property
    def selection(self) -> Selection:
        """What restricts or labels the plan."""
        return Selection(self.evaluators, self.probes, self.trials, self.label)

    def header(self, root: str) -> dict[str, Any]:
        """What a resumed run needs to plan the same again, as kept in `run.json`."""
        return {
            "experimentRoot": root,
            "evaluators": list(self.evaluators),
            "probes": list(self.probes),
            "trials": self.trials,
            "label": self.label,
            "reproducible": self.reproducible,
            "confine": self.confine,
            "attest": dict(self.attest),
        }

    def resumed(self, header: Mapping[str, Any]) -> "Options":
        """These options with what the started run fixed."""
        return self._replace(
            evaluators=tuple(header["evaluators"]),
            probes=tuple(header["probes"]),
            trials=header["trials"],
            label=header["label"],
            reproducible=header["reproducible"],
            confine=header["confine"],
            attest=header["attest"],
        )


def default_concurrency(experiment: Experiment) -> int:
    """Items in flight: the file's limit, or four a processor and sixteen at the most."""
    return experiment.limits.trials or min(16, 4 * (os.cpu_count() or 1))
