"""Running something in a real sandbox; what cannot be made here is skipped with the reason."""

import os
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from eval_quality.probe.process import Caps, Completed, Launch, run_process
from eval_quality.run.confine import capability
from eval_quality.run.confine.lane import ConfinedLane, Facts
from eval_quality.run.confine.specification import Grants, Limits, Profile, Specification, specify

PYTHON = os.path.realpath(sys.executable)
"""The interpreter of these tests, below its own prefix."""


def _missing() -> str | None:
    try:
        capability.require_backend("bwrap")
    except Exception as error:
        return str(error)
    return None


_WHY = _missing()
needs_sandbox = pytest.mark.skipif(_WHY is not None, reason=f"NO SANDBOX ON THIS HOST, confinement is untested: {_WHY}")


def specification(
    workspace: Path,
    profile: Profile = "minimal",
    masks: Mapping[str, str] | None = None,
    limits: Limits | None = None,
    bridge: Path | None = None,
) -> Specification:
    """A sandbox that can run the interpreter of these tests."""
    grants = Grants(str(workspace), runtime=(sys.base_prefix,), bridge=None if bridge is None else str(bridge))
    return specify(profile, grants, masks, limits)


def run_inside(
    spec: Specification,
    *argv: str,
    stdin: bytes = b"",
    environment: Mapping[str, str] | None = None,
    seconds: float = 30,
) -> tuple[Completed, Facts]:
    """Run one command in a sandbox of its own, and give what was observed of it."""
    with ConfinedLane(spec) as lane:
        launch = Launch(argv, "/", {"PATH": "/usr/bin:/bin", **(environment or {})})
        completed = run_process(launch, stdin, Caps(int(seconds * 1000), 1 << 22), None, lane)
        return completed, lane.facts()
