"""Hiding the repository from a provider's process (spec 11 §17.11).

Every call gets an empty working folder, a fresh HOME and an environment of PATH and the variables named with
`--pass-env`. Where bubblewrap works, the repository and the sealed root are covered by empty folders as well, and the
program itself is put back. Where it does not, `require` refuses and `auto` says so in the run log.
"""

import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence

import msgspec

from eval_quality.app.behavior.root import RepositoryRefused


class Isolation(msgspec.Struct, frozen=True):
    """How provider processes are started. `active` when the repository is really out of their reach."""

    active: bool
    hidden: tuple[str, ...] = ()
    visible: tuple[str, ...] = ()

    def argv(self, command: Sequence[str], folder: str) -> tuple[str, ...]:
        """The command line to start in `folder`."""
        if not self.active:
            return tuple(command)
        words = ["bwrap", "--die-with-parent", "--unshare-pid", "--unshare-ipc", "--ro-bind", "/", "/"]
        words += ["--dev", "/dev", "--proc", "/proc"]
        for path in self.hidden:
            words += ["--tmpfs", path]
        for path in self.visible:
            words += ["--ro-bind", path, path]
        return (*words, "--bind", folder, folder, "--chdir", folder, "--", *command)


def _works() -> bool:
    if shutil.which("bwrap") is None:
        return False
    trial = ["bwrap", "--die-with-parent", "--unshare-pid", "--unshare-ipc", "--ro-bind", "/", "/"]
    trial += ["--dev", "/dev", "--proc", "/proc", "--", "true"]
    try:
        return (
            subprocess.run(trial, capture_output=True, stdin=subprocess.DEVNULL, timeout=20, check=False).returncode
            == 0
        )
    except (OSError, subprocess.TimeoutExpired):
        return False


def resolve_program(command: Sequence[str]) -> tuple[str, ...]:
    """The command with its program and its file arguments as absolute paths: it starts in another folder."""
    program = shutil.which(command[0])
    if program is None:
        raise RepositoryRefused(f"--provider: no program {command[0]}")
    rest = [os.path.abspath(word) if os.path.isfile(word) else word for word in command[1:]]
    return (os.path.abspath(program), *rest)


def plan_isolation(mode: str, hidden: Sequence[str], command: Sequence[str], allowed: Sequence[str]) -> Isolation:
    """How to start a provider command. Raises `RepositoryRefused` where isolation is required and not to be had."""
    if mode == "off":
        return Isolation(active=False)
    if not _works():
        if mode == "require":
            raise RepositoryRefused("--isolate require: bubblewrap (bwrap) does not work on this machine")
        return Isolation(active=False)
    covered = tuple(os.path.realpath(path) for path in hidden if os.path.isdir(path))
    wanted = [word for word in command if os.path.isabs(word) and os.path.exists(word)]
    visible = dict.fromkeys(path for path in (*wanted, *map(os.path.abspath, allowed)) if _inside(path, covered))
    return Isolation(True, covered, tuple(visible))


def _inside(path: str, folders: Sequence[str]) -> bool:
    real = os.path.realpath(path)
    return any(os.path.commonpath((candidate, folder)) == folder for candidate in (path, real) for folder in folders)


def environment(folder: str, names: Sequence[str], surroundings: Mapping[str, str]) -> dict[str, str]:
    """The closed environment of one call."""
    passed = {name: surroundings[name] for name in names if name in surroundings}
    return {"PATH": surroundings.get("PATH", os.defpath), "LC_ALL": "C.UTF-8", **passed, "HOME": folder}
