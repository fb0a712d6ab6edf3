"""The argument vector of the sandbox program (spec 13 §13.9.2, §13.12 point 1).

Order, so that the vector is reproducible: namespaces; further user namespaces disabled; die with the parent; a new
terminal session; the host name; identity; no capability; the environment, cleared and set; mounts; the root read-only;
the working folder; the information and block descriptors; the command.

Everything but the target's own command travels through a descriptor: no path and no environment value shows in a
process listing. The sandbox program itself gets no environment at all, so that nothing in the target's can take effect
outside.
"""

import os
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from eval_quality.run.confine.specification import HOST_NAME, WORKSPACE, Specification

PROGRAM: Final = "bwrap"
LEAST_VERSION: Final = (0, 8, 0)
"""The first that can forbid further user namespaces, on which the verification of mounts relies."""

SEARCH_PATH: Final = "/usr/local/bin:/usr/bin:/bin"
"""Where the sandbox program is looked for; the caller's own `PATH` decides nothing here."""

ARGUMENTS_NUMBER: Final = 3
INFORMATION_NUMBER: Final = 4
BLOCK_NUMBER: Final = 5
FIRST_FILE_NUMBER: Final = 6
"""Descriptor numbers in the sandbox program: its arguments, its information, its release, then one a text file."""

_NAMESPACES: Final = (
    b"--unshare-user",
    b"--unshare-pid",
    b"--unshare-ipc",
    b"--unshare-uts",
    b"--unshare-net",
    b"--unshare-cgroup-try",
)


class Wrapped(NamedTuple):
    """How to start a target inside: the program's words, its options for the descriptor, and what text files hold."""

    argv: tuple[bytes, ...]
    options: bytes
    texts: tuple[bytes, ...]


def find_program() -> str | None:
    """The sandbox program of this host, by absolute path."""
    return shutil.which(PROGRAM, path=SEARCH_PATH)


def version_of(program: str) -> tuple[int, ...]:
    """Its version; empty when it does not say."""
    try:
        done = subprocess.run([program, "--version"], capture_output=True, timeout=10, check=False, env={})
    except (OSError, subprocess.TimeoutExpired):
        return ()
    found = re.search(rb"([0-9]+)\.([0-9]+)(?:\.([0-9]+))?", done.stdout)
    return () if found is None else tuple(int(part or 0) for part in found.groups())


def wrap(
    program: str,
    specification: Specification,
    argv: Sequence[bytes],
    environment: Mapping[bytes, bytes],
    cwd: str = WORKSPACE,
) -> Wrapped:
    """The sandbox program's command line for one target, which starts in `cwd`, a folder inside."""
    user = str(specification.user_id).encode()
    words: list[bytes] = [*_NAMESPACES, b"--disable-userns", b"--die-with-parent", b"--new-session"]
    words += [b"--hostname", HOST_NAME.encode(), b"--uid", user, b"--gid", user, b"--cap-drop", b"ALL", b"--clearenv"]
    for key, value in sorted(environment.items()):
        words += [b"--setenv", key, value]
    texts: list[bytes] = []
    for mount in specification.mounts:
        target, source = os.fsencode(mount.target), os.fsencode(mount.source)
        if mount.kind == "ro":
            words += [b"--ro-bind", source, target]
        elif mount.kind == "rw":
            words += [b"--bind", source, target]
        elif mount.kind == "tmpfs":
            words += [b"--size", str(mount.size).encode(), b"--tmpfs", target]
        elif mount.kind == "link":
            words += [b"--symlink", source, target]
        elif mount.kind == "text":
            words += [b"--file", str(FIRST_FILE_NUMBER + len(texts)).encode(), target]
            texts.append(mount.source.format(uid=specification.user_id).encode())
        else:
            words += [b"--" + mount.kind.encode(), target]
    words += [b"--remount-ro", b"/dev", b"--remount-ro", b"/", b"--chdir", os.fsencode(cwd)]
    words += [b"--info-fd", str(INFORMATION_NUMBER).encode(), b"--block-fd", str(BLOCK_NUMBER).encode()]
    command = (os.fsencode(program), b"--args", str(ARGUMENTS_NUMBER).encode(), b"--", *argv)
    return Wrapped(command, b"".join(word + b"\0" for word in words), tuple(texts))
