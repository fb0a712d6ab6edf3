"""The subject tree: what it consists of, its digest, and copies of it (spec 12 §12.5.3).

1. Regular files and symbolic links only; anything else is `workspace-unsupported-entry`.
2. A link whose target leaves the tree is `workspace-link-escape`.
3. Permission bits are kept; set-uid, set-gid and sticky bits are dropped.
4. Every time stamp in a workspace is one fixed instant, a changed file's is two seconds later, so that a cache keyed
   by time and size (compiled Python modules, build tools) cannot serve what was there before the change.
5. The tree digest covers path, mode and content of everything but the volatile paths.
"""

import os
import stat
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

from eval_quality.run.errors import RunFault
from eval_quality.run.glob import matcher, pruner
from eval_quality.value.digest import digest_bytes, digest_composite

FIXED_INSTANT: Final = 1_577_836_800
"""2020-01-01T00:00:00Z, in seconds."""
CHANGED_INSTANT: Final = FIXED_INSTANT + 2
"""The time stamp of a changed file."""


class Entry(NamedTuple):
    """One file (with `digest`) or one symbolic link (with `link`) of a tree, by its relative POSIX path."""

    path: str
    mode: int
    digest: str
    size: int
    link: str = ""


class Tree(NamedTuple):
    """A subject tree, entries in ascending path order."""

    entries: tuple[Entry, ...]

    @property
    def digest(self) -> str:
        """The composite digest of 12.5.3."""
        members = {
            entry.path: {"link": entry.link} if entry.link else {"digest": entry.digest, "mode": f"{entry.mode:04o}"}
            for entry in self.entries
        }
        return digest_composite({"kind": "subject-tree", "members": members}, "SubjectTree")

    def entry(self, path: str) -> Entry | None:
        """The entry at a path."""
        return next((entry for entry in self.entries if entry.path == path), None)


class TreeRules(NamedTuple):
    """Which files make up a tree and how large it may be (bytes, files)."""

    include: tuple[str, ...] = ("**",)
    exclude: tuple[str, ...] = ()
    volatile: tuple[str, ...] = ()
    max_bytes: int = 512 * 1024 * 1024
    max_files: int = 50_000


def scan_tree(root: str, rules: TreeRules) -> Tree:
    """Read the tree below `root`. Raises `RunFault` with a `workspace-*` code."""
    return Tree(tuple(entry for entry, _ in read_tree(root, rules)))


def read_tree(root: str, rules: TreeRules) -> Iterator[tuple[Entry, bytes]]:
    """Every entry of the tree below `root` with its bytes, in ascending path order."""
    real_root = os.path.realpath(root)
    included, excluded, volatile = matcher(rules.include), matcher(rules.exclude), matcher(rules.volatile)
    total = files = 0
    for path in sorted(_walk(real_root, pruner((*rules.exclude, *rules.volatile)))):
        if not included(path) or excluded(path) or volatile(path):
            continue
        full = os.path.join(real_root, path)
        entry, data = _entry(real_root, path, full)
        files += 1
        total += entry.size
        if files > rules.max_files or total > rules.max_bytes:
            cap = f"{rules.max_files} files" if files > rules.max_files else f"{rules.max_bytes} bytes"
            raise RunFault.of("workspace-too-large", f"SubjectTree/{path}", f"the subject tree is larger than {cap}")
        yield entry, data


def _walk(root: str, pruned: Callable[[str], bool]) -> Iterator[str]:
    folders = [""]
    while folders:
        folder = folders.pop()
        with os.scandir(os.path.join(root, folder)) as found:
            for item in found:
                path = f"{folder}/{item.name}" if folder else item.name
                if not item.is_dir(follow_symlinks=False):
                    yield path
                elif not pruned(path):
                    folders.append(path)


def _entry(root: str, path: str, full: str) -> tuple[Entry, bytes]:
    status = os.lstat(full)
    if stat.S_ISLNK(status.st_mode):
        target = os.readlink(full)
        real = os.path.realpath(full)
        if os.path.isabs(target) or os.path.commonpath((root, real)) != root or _leaves(path, target):
            detail = f"the link points to {target!r}, outside the subject tree; copy the target into the tree"
            raise RunFault.of("workspace-link-escape", f"SubjectTree/{path}", detail)
        return Entry(path, 0o777, "", 0, target), b""
    if not stat.S_ISREG(status.st_mode):
        detail = "only regular files and symbolic links can be copied; exclude this path in [subject] exclude"
        raise RunFault.of("workspace-unsupported-entry", f"SubjectTree/{path}", detail)
    descriptor = os.open(full, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    with os.fdopen(descriptor, "rb") as file:
        data = file.read()
    return Entry(path, stat.S_IMODE(status.st_mode) & 0o777, digest_bytes(data), len(data)), data


def _leaves(path: str, target: str) -> bool:
    """Whether a link's own text climbs above the root, wherever it ends."""
    depth = path.count("/")
    for part in target.split("/"):
        if part == "..":
            depth -= 1
        elif part not in ("", "."):
            depth += 1
        if depth < 0:
            return True
    return False


def materialise(tree: Tree, content: Callable[[str], bytes], target: str) -> None:
    """Write `tree` into the folder `target` (made if absent); `content` gives the bytes of a digest."""
    os.makedirs(target, exist_ok=True)
    folders: set[str] = {target}
    for entry in tree.entries:
        full = os.path.join(target, entry.path)
        folder = os.path.dirname(full)
        if folder not in folders:
            os.makedirs(folder, exist_ok=True)
            folders.add(folder)
        if entry.link:
            os.symlink(entry.link, full)
        else:
            write_file(full, content(entry.digest), entry.mode, FIXED_INSTANT)
    settle(target)


def write_file(path: str, data: bytes, mode: int, instant: int) -> None:
    """Replace the file at `path` by a new one, renamed into place, with exactly this mode and time stamp."""
    temporary = path + ".eval-quality-new"
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)
        os.fchmod(file.fileno(), mode)
    os.utime(temporary, (instant, instant))
    os.replace(temporary, path)


def copy_tree(source: str, target: str, left_out: Callable[[str], bool]) -> None:
    """Copy a master folder into a new workspace, leaving out what `left_out` matches; time stamps are kept."""
    os.makedirs(target, exist_ok=True)
    for path in sorted(_walk(source, lambda _: False)):
        if left_out(path):
            continue
        origin, copy = os.path.join(source, path), os.path.join(target, path)
        os.makedirs(os.path.dirname(copy), exist_ok=True)
        status = os.lstat(origin)
        if stat.S_ISLNK(status.st_mode):
            os.symlink(os.readlink(origin), copy)
            continue
        if not stat.S_ISREG(status.st_mode):
            detail = "preparing the subject left something that is neither a file nor a link"
            raise RunFault.of("workspace-unsupported-entry", f"SubjectTree/{path}", detail)
        with open(origin, "rb") as reading, open(copy, "xb") as writing:
            while chunk := reading.read(1 << 20):
                writing.write(chunk)
        os.chmod(copy, stat.S_IMODE(status.st_mode) & 0o777)
        os.utime(copy, ns=(status.st_mtime_ns, status.st_mtime_ns))
    _settle_folders(target)


def purge(root: str, doomed: Callable[[str], bool]) -> None:
    """Delete every file below `root` that `doomed` matches, and the folders this leaves empty."""
    for path in sorted(_walk(root, lambda _: False)):
        if doomed(path):
            os.unlink(os.path.join(root, path))
    for folder, _, _ in os.walk(root, topdown=False):
        if folder != root and not os.listdir(folder):
            os.rmdir(folder)


def settle(root: str, changed: frozenset[str] = frozenset()) -> None:
    """Give every file below `root` its fixed time stamp; those in `changed` (relative paths) are two seconds newer."""
    for path in _walk(root, lambda _: False):
        instant = CHANGED_INSTANT if path in changed else FIXED_INSTANT
        os.utime(os.path.join(root, path), (instant, instant), follow_symlinks=False)
    _settle_folders(root)


def _settle_folders(root: str) -> None:
    for folder, _, _ in os.walk(root, topdown=False):
        os.utime(folder, (FIXED_INSTANT, FIXED_INSTANT))
