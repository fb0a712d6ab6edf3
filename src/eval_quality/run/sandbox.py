"""Where the processes of one side run: in sandboxes, or unconfined because somebody said so (spec 13 §13.9).

Both kinds answer the same questions, so that drivers and evaluators do not care which one they got. An unconfined
process still has a closed environment, one deadline, output caps and a supervisor that leaves no orphan; what it lacks
is recorded as `host` and `unconfined` wherever a manifest asks.
"""

import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from typing import Any, Final

from eval_quality.probe.lanes import Lane
from eval_quality.run.confine.lane import ConfinedLane
from eval_quality.run.confine.specification import (
    BRIDGE,
    WORKSPACE,
    Grants,
    Limits,
    Specification,
    repository_masks,
    specify,
)
from eval_quality.run.experiment.document import ConfineSide, size_in_bytes

UNCONFINED_MOUNTS: Final = ("host",)
UNCONFINED_NETWORK: Final = ("unconfined",)


def runtime_prefixes() -> tuple[str, ...]:
    """The installation of the running interpreter, which confined Python programs may use."""
    return tuple(dict.fromkeys((sys.base_prefix, sys.prefix)))


class Confined:
    """Every launch in a sandbox of its own.

    side: the limits and grants of `[confine.<side>]`. profile: the profile in force. masks: label -> path of what must
    not be seen. max_workspace: bytes a workspace may grow to. shared: a folder that appears as `/eq`, or None.
    """

    confined = True

    def __init__(
        self,
        side: ConfineSide,
        profile: str,
        masks: Mapping[str, str],
        reads: Sequence[str],
        max_workspace: int,
        shared: str | None = None,
    ) -> None:
        self.profile: Any = profile
        self._masks = repository_masks(masks)
        self._reads = tuple(reads)
        self._shared = shared
        self._limits = Limits(
            size_in_bytes(side.tmp_bytes),
            side.max_processes,
            None if side.max_memory is None else size_in_bytes(side.max_memory),
            size_in_bytes(side.max_file_bytes),
            side.max_open_files,
            max_workspace,
        )

    def share(self, folder: str) -> None:
        """Let every launch see `folder` as `/eq`."""
        self._shared = folder

    def specification(self, workspace: str, shared: str | None = None) -> Specification:
        """What a launch in this workspace sees."""
        grants = Grants(workspace, self._reads, runtime_prefixes(), shared or self._shared)
        return specify(self.profile, grants, self._masks, self._limits)

    def lane(self, workspace: str, shared: str | None = None) -> Lane:
        """A lane whose launches see `workspace` as `/box`, and `shared` as `/eq`."""
        return ConfinedLane(self.specification(workspace, shared))

    def seen(self, workspace: str) -> str:
        """Always `/box`."""
        del workspace
        return WORKSPACE

    def program(self, path: str) -> str:
        """A file of this package that stands in the shared folder."""
        return os.path.join(BRIDGE, os.path.basename(path))

    def check(self, lane: Lane) -> None:
        """Raise `RunFault` (`confinement-breach`) when a launch saw something else than specified."""
        if isinstance(lane, ConfinedLane):
            lane.facts()

    def overgrown(self, lane: Lane) -> bool:
        """Whether a launch of this lane was ended because its workspace grew beyond the ceiling."""
        return isinstance(lane, ConfinedLane) and lane.overgrown


class Unconfined:
    """Launches on the host as it is (`--confine none`)."""

    confined = False

    def lane(self, workspace: str, shared: str | None = None) -> Lane:
        """A plain lane."""
        del workspace, shared
        return Lane()

    def seen(self, workspace: str) -> str:
        """The workspace itself."""
        return workspace

    def program(self, path: str) -> str:
        """The file itself."""
        return path

    def check(self, lane: Lane) -> None:
        """Nothing was promised."""

    def overgrown(self, lane: Lane) -> bool:
        """Nobody watched."""
        del lane
        return False


def shared_folder(folder: str, programs: Sequence[str]) -> str:
    """Put copies of this package's programs into `folder`, readable by whoever runs inside."""
    os.makedirs(folder, exist_ok=True)
    os.chmod(folder, 0o755)
    for program in programs:
        target = os.path.join(folder, os.path.basename(program))
        shutil.copyfile(program, target)
        os.chmod(target, 0o444)
    return folder
