"""Process and memory ceilings through control groups, where the host lets us make one (spec 13 §13.9.4).

Version 2 is preferred, then the `pids` and `memory` hierarchies of version 1. A host that refuses is not an error: the
limit is recorded as not enforced.
"""

import os
import secrets
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from typing import Final, NamedTuple

ROOT: Final = "/sys/fs/cgroup"
PREFIX: Final = "eval-quality-"

_V2_FILES: Final = {"processes": "pids.max", "memory": "memory.max"}
_V1_FILES: Final = {"processes": ("pids", "pids.max"), "memory": ("memory", "memory.limit_in_bytes")}


class Group(NamedTuple):
    """Control groups made for one sandbox: their folders, and the mechanism by limit (`cgroup-v2`, `cgroup-v1`)."""

    folders: tuple[str, ...]
    mechanisms: Mapping[str, str]

    def join(self, pid: int) -> None:
        """Move a process, and with it all that it will start, into the groups. Raises `OSError`."""
        for folder in self.folders:
            _write(os.path.join(folder, "cgroup.procs"), str(pid))

    def close(self) -> None:
        """Remove the folders; one whose processes are not gone yet is left to the system."""
        for folder in self.folders:
            try:
                os.rmdir(folder)
            except OSError:
                continue


def create_group(name: str, limits: Mapping[str, int], root: str = ROOT) -> Group:
    """A group with the ceilings of `limits` (`processes`, `memory` in bytes) that this host can enforce."""
    folders: list[str] = []
    mechanisms: dict[str, str] = {}
    unified = _unified(root)
    if unified is not None:
        _create_v2(unified, name, limits, folders, mechanisms)
    for limit, value in limits.items():
        if limit not in mechanisms:
            hierarchy, file = _V1_FILES[limit]
            folder = os.path.join(root, hierarchy, _own_group(hierarchy), name)
            if _make(folder, {file: str(value)}):
                folders.append(folder)
                mechanisms[limit] = "cgroup-v1"
    return Group(tuple(folders), mechanisms)


def _create_v2(
    unified: str, name: str, limits: Mapping[str, int], folders: list[str], mechanisms: dict[str, str]
) -> None:
    parent = os.path.join(unified, _own_group(""))
    controllers = set(_read(os.path.join(parent, "cgroup.subtree_control")).split())
    usable = {limit: value for limit, value in limits.items() if {"processes": "pids"}.get(limit, limit) in controllers}
    folder = os.path.join(parent, name)
    if usable and _make(folder, {_V2_FILES[limit]: str(value) for limit, value in usable.items()}):
        folders.append(folder)
        mechanisms.update(dict.fromkeys(usable, "cgroup-v2"))


def _unified(root: str) -> str | None:
    for path in (root, os.path.join(root, "unified")):
        if os.path.exists(os.path.join(path, "cgroup.controllers")):
            return path
    return None


def _own_group(hierarchy: str) -> str:
    """The group of this process, relative to the hierarchy's root."""
    for line in _read("/proc/self/cgroup").splitlines():
        _, names, path = line.split(":", 2)
        if hierarchy in names.split(","):
            return path.lstrip("/")
    return ""


def _make(folder: str, files: Mapping[str, str]) -> bool:
    sweep(os.path.dirname(folder))
    try:
        os.mkdir(folder, 0o755)
    except OSError:
        return False
    try:
        for file, value in files.items():
            _write(os.path.join(folder, file), value)
    except OSError:
        os.rmdir(folder)
        return False
    return True


@cache
def sweep(parent: str) -> None:
    """Remove, once a process, the empty groups of processes that were killed before they could."""
    try:
        names = os.listdir(parent)
    except OSError:
        return
    for name in names:
        owner = name.removeprefix(PREFIX).partition("-")[0]
        if name.startswith(PREFIX) and owner.isdigit() and not os.path.exists(f"/proc/{owner}"):
            with suppress(OSError):
                os.rmdir(os.path.join(parent, name))


def group_name() -> str:
    """A new name, which says whose the group is."""
    return f"{PREFIX}{os.getpid()}-{secrets.token_hex(6)}"


def _write(path: str, value: str) -> None:
    descriptor = os.open(path, os.O_WRONLY)
    try:
        os.write(descriptor, value.encode())
    finally:
        os.close(descriptor)


def _read(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return ""
