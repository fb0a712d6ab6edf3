"""Arms: the frozen states of the subject that a run compares (spec 12 §12.9).

An arm is the clean subject, the clean subject with exactly one change, or a committed reply in its place. Its digest
covers the tree, how each interface is launched (placeholders unexpanded, secrets by name) and the change; no path,
port, time or host name enters it, so it is equal on every machine.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import msgspec

from eval_quality.run.experiment.document import Experiment, Interface, Mutation, Reply
from eval_quality.run.mutation import Launch, edit, is_file_change, relaunch
from eval_quality.run.tree import Entry, Tree
from eval_quality.value.digest import digest_bytes, digest_composite, digest_value


class Arm(NamedTuple):
    """One state of the subject. `tree` is None without a source, and for a reply arm.

    `edited` are the bytes of the one changed file, where the change is one.
    """

    arm_id: str
    tree: Tree | None
    launches: tuple[Launch, ...]
    mutation: Mutation | None = None
    reply: Reply | None = None
    edited: bytes | None = None

    def content(self, digest: str, clean: Callable[[str], bytes]) -> bytes:
        """The bytes of a file of this arm's tree; `clean` gives those of the clean tree."""
        if self.edited is not None and digest == digest_bytes(self.edited):
            return self.edited
        return clean(digest)

    @property
    def change(self) -> Any:
        """The mutation or reply document as a plain value, or None."""
        document = self.mutation or self.reply
        return None if document is None else document_value(document)

    @property
    def change_digest(self) -> str:
        """The artifact digest of the change; of a clean arm, the arm's own digest (12.11.5)."""
        return self.digest if self.change is None else digest_value(self.change, "ArmChange")

    @property
    def digest(self) -> str:
        """The arm digest."""
        fields = {
            "change": self.change,
            "kind": "arm",
            "launch": launch_value(self.launches),
            "subjectTree": None if self.tree is None else self.tree.digest,
        }
        return digest_composite(fields, f"Arm[{self.arm_id}]")

    @property
    def condition(self) -> str:
        """How records name the arm (12.17.1)."""
        if self.mutation is not None:
            return f"mutated:{self.mutation.id}"
        return "clean" if self.reply is None else f"gameability:{self.reply.id}"


def launch_value(launches: tuple[Launch, ...]) -> Any:
    """The launch specification as a plain value."""
    return [
        {
            "interfaceId": launch.interface_id,
            "executable": launch.executable or None,
            "argv": list(launch.argv),
            "environment": dict(launch.environment),
        }
        for launch in launches
    ]


def document_value(document: msgspec.Struct) -> Any:
    """An authored document as a plain value, without the members its author left out."""
    return _without_none(msgspec.to_builtins(document))


def _without_none(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_none(child) for key, child in value.items() if child is not None}  # pyright: ignore
    return [_without_none(child) for child in value] if isinstance(value, list | tuple) else value  # pyright: ignore


def launches_of(experiment: Experiment) -> tuple[Launch, ...]:
    """How each interface of the clean subject is launched, by ascending interface id."""
    return tuple(
        launch for name in sorted(experiment.interface) for launch in _launches(name, experiment.interface[name])
    )


def _launches(name: str, binding: Interface) -> tuple[Launch, ...]:
    environment = tuple(sorted(binding.environment.items()))
    if binding.executable is not None:
        return tuple(
            Launch(name, (bound.target, *bound.target_args), environment, logical)
            for logical, bound in sorted(binding.executable.items())
        )
    if binding.address is not None:
        return (Launch(name, (binding.address.url,), environment),)
    argv = binding.command or (binding.start.command if binding.start else ()) or (binding.target or "",)
    return (Launch(name, tuple(argv), environment),)


def clean_arm(experiment: Experiment, tree: Tree | None) -> Arm:
    """The untouched subject."""
    return Arm("clean", tree, launches_of(experiment))


def mutated_arm(clean: Arm, mutation: Mutation, original: bytes | None, replacement: bytes | None) -> Arm:
    """The clean arm with one mutation applied.

    `original` are the bytes of the mutation's file in the clean tree (None when there is no such regular file),
    `replacement` those of its `with` file. Raises `ExperimentFailure` (`mutation-target-mismatch`).
    """
    if is_file_change(mutation):
        changed = edit(mutation, original, replacement)
        assert clean.tree is not None
        tree = Tree(tuple(_edited(entry, mutation.file, changed) for entry in clean.tree.entries))
        return Arm(f"mut-{mutation.id}", tree, clean.launches, mutation, edited=changed)
    launches = tuple(
        relaunch(mutation, launch) if launch.interface_id == mutation.interface else launch for launch in clean.launches
    )
    return Arm(f"mut-{mutation.id}", clean.tree, launches, mutation)


def _edited(entry: Entry, path: str | None, data: bytes) -> Entry:
    return entry._replace(digest=digest_bytes(data), size=len(data)) if entry.path == path else entry


def reply_arm(reply: Reply) -> Arm:
    """A committed reply: no tree, nothing is launched."""
    return Arm(f"game-{reply.id}", None, (), reply=reply)
