"""One mutation is one change in one place (spec 12 §12.7.1).

`replace` changes one exact text in one file, `fixture` replaces one whole file, `environment` and `argument` change
how one interface is launched. All are pure here: bytes to bytes, launch to launch; who writes the bytes is the
qualification cycle. Whatever does not fit exactly once is `mutation-target-mismatch`.
"""

import base64
import binascii
from typing import NamedTuple

from eval_quality.run.errors import ExperimentFailure
from eval_quality.run.experiment.document import Mutation


class Launch(NamedTuple):
    """How one interface is started: the launch vector with placeholders unexpanded, and its variables."""

    interface_id: str
    argv: tuple[str, ...]
    environment: tuple[tuple[str, str], ...] = ()
    executable: str = ""
    """The logical executable, for a command binding."""


def mismatch(mutation: Mutation, detail: str) -> ExperimentFailure:
    """The failure of a mutation that does not fit what it is applied to."""
    return ExperimentFailure.of("mutation-target-mismatch", f"Mutation[{mutation.id}]", detail)


def is_file_change(mutation: Mutation) -> bool:
    """Whether the mutation changes the tree (otherwise it changes a launch)."""
    return mutation.kind in ("replace", "fixture")


def edit(mutation: Mutation, original: bytes | None, replacement: bytes | None) -> bytes:
    """The changed bytes of the target file.

    `original` is None when the tree has no such regular file; `replacement` are the bytes of the `with` file.
    Raises `ExperimentFailure` (`mutation-target-mismatch`).
    """
    if original is None:
        raise mismatch(mutation, f'"{mutation.file}" is not a regular file of the subject tree')
    if mutation.kind == "fixture":
        changed = replacement or b""
    else:
        find, replace = _texts(mutation)
        count = original.count(find)
        if count != 1:
            raise mismatch(mutation, f'`find` occurs {count} times in "{mutation.file}"; it must occur exactly once')
        changed = original.replace(find, replace)
    if changed == original:
        raise mismatch(mutation, f'the change leaves "{mutation.file}" as it is')
    return changed


def _texts(mutation: Mutation) -> tuple[bytes, bytes]:
    find, replace = mutation.find or "", mutation.replace or ""
    if mutation.encoding == "base64":
        try:
            return base64.b64decode(find, validate=True), base64.b64decode(replace, validate=True)
        except binascii.Error as error:
            raise mismatch(mutation, "`find` and `replace` must be base64 when encoding is base64") from error
    return find.encode(), replace.encode()


def relaunch(mutation: Mutation, launch: Launch) -> Launch:
    """The changed launch of an `environment` or `argument` mutation.

    Raises `ExperimentFailure` (`mutation-target-mismatch`).
    """
    if mutation.kind == "environment":
        variables = dict(launch.environment)
        for name in mutation.unset or ():
            if variables.pop(name, None) is None:
                raise mismatch(mutation, f"`unset` names {name}, which the launch environment does not carry")
        variables.update(mutation.set or {})
        changed = launch._replace(environment=tuple(sorted(variables.items())))
    else:
        changed = launch._replace(argv=(launch.argv[0], *_arguments(mutation, launch.argv[1:])))
    if changed == launch:
        raise mismatch(mutation, "the change leaves the launch as it is")
    return changed


def _arguments(mutation: Mutation, arguments: tuple[str, ...]) -> tuple[str, ...]:
    indexes = mutation.remove or ((mutation.swap.index,) if mutation.swap else ())
    for index in indexes:
        if index >= len(arguments):
            detail = f"argument {index} does not exist; the launch has {len(arguments)} after its program"
            raise mismatch(mutation, detail)
    if mutation.remove:
        return tuple(text for index, text in enumerate(arguments) if index not in mutation.remove)
    if mutation.swap:
        return (*arguments[: mutation.swap.index], mutation.swap.value, *arguments[mutation.swap.index + 1 :])
    return (*arguments, *(mutation.append or ()))
