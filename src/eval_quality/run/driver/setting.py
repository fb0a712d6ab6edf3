"""What every driver needs to start an interface in one workspace, and the templates of a binding (spec 12 §12.8)."""

import os
import re
from collections.abc import Callable, Mapping
from typing import NamedTuple, Protocol

from eval_quality.probe.lanes import Lane
from eval_quality.run.experiment.document import RetryTable

_PLACEHOLDER = re.compile(r"\{\{|\}\}|\{workspace\}|\{port\}|\{secret:([A-Za-z_][A-Za-z0-9_]*)\}")


class Sandbox(Protocol):
    """Where processes of one side run: confined or not."""

    @property
    def confined(self) -> bool:
        """Whether launches are put into sandboxes of their own."""
        ...

    def lane(self, workspace: str) -> Lane:
        """A lane whose launches see `workspace`; the caller closes it."""
        ...

    def seen(self, workspace: str) -> str:
        """The workspace's path as a launched process sees it."""
        ...

    def program(self, path: str) -> str:
        """Where a launched process finds a file of this package."""
        ...

    def check(self, lane: Lane) -> None:
        """Raise `RunFault` (`confinement-breach`) when a launch saw something else than specified."""
        ...

    def overgrown(self, lane: Lane) -> bool:
        """Whether a launch of this lane was ended because its workspace grew beyond the ceiling."""
        ...


class Setting(NamedTuple):
    """One workspace and the means to start things in it. `secrets` are the values of `[secrets] env`."""

    workspace: str
    sandbox: Sandbox
    secrets: Mapping[str, str]
    retry: RetryTable
    pause: Callable[[int], None]
    """Waits before attempt k (from 1) of something infrastructure broke."""

    @property
    def seen(self) -> str:
        """The workspace as the subject sees it."""
        return self.sandbox.seen(self.workspace)

    def folder(self, relative: str, *, seen: bool) -> str:
        """A folder below the workspace, as the host or as the subject names it."""
        root = self.seen if seen else self.workspace
        return root if relative == "." else os.path.join(root, relative)

    def expand(self, template: str, port: int | None = None) -> str:
        """A template with its placeholders filled in."""

        def replace(match: re.Match[str]) -> str:
            token = match[0]
            if token in ("{{", "}}"):
                return token[0]
            if token == "{workspace}":
                return self.seen
            return str(port) if token == "{port}" else self.secrets[match[1]]

        return _PLACEHOLDER.sub(replace, template)

    def variables(self, environment: Mapping[str, str], port: int | None = None) -> dict[str, str]:
        """A launch environment: the host's `PATH` and what the binding declares, nothing else."""
        path = os.environ.get("PATH")
        expanded = {name: self.expand(value, port) for name, value in environment.items()}
        return expanded if path is None else {"PATH": path, **expanded}
