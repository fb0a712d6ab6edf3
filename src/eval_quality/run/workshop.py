"""Folders of a run: one master per arm, one disposable copy per trial, pass or pre-flight (spec 12 §12.8.1, §12.9).

1. A master is the arm's tree, written from the snapshot, prepared, purged and settled; nothing is ever run inside it
   but the prepare commands.
2. Before preparing, its tree digest is held against the arm's: a copy that differs is `workspace-drift`.
3. A workspace is a copy of a master; what a subject writes there nobody else sees, and it goes when it is closed.
"""

import contextlib
import os
import shutil
import tempfile
import threading
from collections.abc import Callable, Generator

from eval_quality.run.arm import Arm
from eval_quality.run.errors import RunInvalid
from eval_quality.run.glob import matcher
from eval_quality.run.tree import Tree, TreeRules, copy_tree, materialise, purge, scan_tree, settle

Prepare = Callable[[str], None]
"""Runs the subject's prepare commands in a folder. Raises `RunFault` (`prepare-failed`)."""


class Workshop:
    """Masters and workspaces below `root`, which is private to this process.

    rules: what belongs to the tree. artifacts: paths the bindings read artifacts from; never part of a master.
    content: the bytes of a digest. prepare: see `Prepare`.
    """

    def __init__(
        self,
        root: str,
        rules: TreeRules,
        artifacts: tuple[str, ...],
        content: Callable[[str], bytes],
        prepare: Prepare,
    ) -> None:
        self._root = root
        self._rules = rules
        self._left_out = matcher((*rules.volatile, *artifacts))
        self._content = content
        self._prepare = prepare
        self._masters: dict[str, str] = {}
        self._lock = threading.Lock()

    def build(self, name: str, arm: Arm) -> str:
        """A new master folder of the arm's tree, not yet prepared. Raises `RunInvalid` (`workspace-drift`)."""
        folder = tempfile.mkdtemp(prefix=f"{name}-", dir=self._root)
        if arm.tree is not None:
            materialise(arm.tree, lambda digest: arm.content(digest, self._content), folder)
            found = self.tree(folder).digest
            if found != arm.tree.digest:
                detail = f"the copy has digest {found}, the snapshot {arm.tree.digest}"
                raise RunInvalid.of("workspace-drift", f"Arm[{arm.arm_id}]", detail)
        return folder

    def finish(self, folder: str, changed: frozenset[str] = frozenset()) -> Tree:
        """Prepare a master, purge what is volatile, settle its time stamps; the tree it is now."""
        purge(folder, self._left_out)
        self._prepare(folder)
        purge(folder, self._left_out)
        settle(folder, changed)
        return self.tree(folder)

    def tree(self, folder: str) -> Tree:
        """The tree of a master as it is now."""
        return scan_tree(folder, self._rules)

    def master(self, arm: Arm) -> str:
        """The prepared master of an arm, built once."""
        with self._lock:
            if arm.arm_id not in self._masters:
                folder = self.build(arm.arm_id, arm)
                changed = arm.mutation.file if arm.mutation is not None else None
                self.finish(folder, frozenset((changed,)) if changed else frozenset())
                self._masters[arm.arm_id] = folder
            return self._masters[arm.arm_id]

    @contextlib.contextmanager
    def workspace(self, master: str) -> Generator[str]:
        """A fresh copy of a master, deleted afterwards."""
        folder = tempfile.mkdtemp(prefix="w-", dir=self._root)
        try:
            copy_tree(master, folder, self._left_out)
            yield folder
        finally:
            discard(folder)


def discard(folder: str) -> None:
    """Delete a folder tree, whatever modes its owner left in it."""

    def make_writable(function: Callable[[str], object], path: str, _error: object) -> None:
        with contextlib.suppress(OSError):
            os.chmod(os.path.dirname(path), 0o700)
            if os.path.isdir(path) and not os.path.islink(path):
                os.chmod(path, 0o700)
            function(path)

    shutil.rmtree(folder, onerror=make_writable)
