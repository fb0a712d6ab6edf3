"""Mount tables as the kernel shows them, and their normal form (spec 13 §13.9.3).

Normal form: `ro:<place>` or `rw:<place>` for binds, `tmpfs:<place>` for private file systems, `dev:/dev` and
`proc:/proc`, sorted and distinct. What lies below `/dev` and `/proc` belongs to these two. A mount hides what was
mounted at or below its place before it.
"""

import re
from collections.abc import Iterable
from typing import NamedTuple


class HostMount(NamedTuple):
    """One line of a mount table. `root` is the part of the file system that is mounted, `device` its number."""

    point: str
    root: str
    device: str
    read_only: bool
    file_system: str


_OCTAL = re.compile(r"\\([0-7]{3})")


def parse_mounts(text: str) -> tuple[HostMount, ...]:
    """The lines of a `mountinfo` file, in its order. Lines of another shape are not mounts and are skipped."""
    found: list[HostMount] = []
    for line in text.splitlines():
        left, separator, right = line.partition(" - ")
        fields = left.split(" ")
        if not separator or len(fields) < 6:
            continue
        root, point = (_OCTAL.sub(lambda match: chr(int(match[1], 8)), field) for field in fields[3:5])
        found.append(HostMount(point, root, fields[2], "ro" in fields[5].split(","), right.split(" ")[0]))
    return tuple(found)


def host_mounts() -> tuple[HostMount, ...]:
    """The mounts of this process."""
    with open("/proc/self/mountinfo", encoding="utf-8", errors="surrogateescape") as table:
        return parse_mounts(table.read())


def is_below(path: str, folder: str) -> bool:
    """Whether a normal absolute path is `folder` or lies in it."""
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def visible(made: Iterable[tuple[str, str, str]]) -> dict[str, tuple[str, str]]:
    """Mount point -> (kind, label) of what is still seen after every mount was made in order."""
    seen: dict[str, tuple[str, str]] = {}
    later: set[str] = set()
    for kind, point, label in reversed(list(made)):
        if not _is_covered(point, later):
            if point in ("/dev", "/proc") or not point.startswith(("/dev/", "/proc/")):
                seen[point] = (kind, label)
            later.add(point)
    return seen


def _is_covered(point: str, points: set[str]) -> bool:
    """Whether a place or a folder around it is one of `points`."""
    while point not in points:
        if point == "/":
            return False
        point = point.rpartition("/")[0] or "/"
    return True


def normal_table(made: Iterable[tuple[str, str, str]]) -> tuple[str, ...]:
    """The normal form of mounts `(kind, mount point, label)` made in this order."""
    return tuple(sorted({f"{kind}:{label}" for kind, label in visible(made).values()}))
