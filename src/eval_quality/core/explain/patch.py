"""Minimal edits as data: the `add`, `replace` and `remove` operations of JSON Patch (RFC 6902).

Examples are written as patches of one base document, so that a reader sees the point and nothing else.
"""

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

from eval_quality.value.freeze import thaw
from eval_quality.value.kind import is_array
from eval_quality.value.pointer import lookup, split


class Edit(NamedTuple):
    """One operation: what to do, the JSON Pointer of the member, and the new value (unused by `remove`)."""

    op: Literal["add", "replace", "remove"]
    path: str
    value: Any = None


def put(path: str, value: Any) -> Edit:
    """Replace a member that exists."""
    return Edit("replace", path, value)


def add(path: str, value: Any) -> Edit:
    """Add a member, or insert an element; `-` stands for the end of an array."""
    return Edit("add", path, value)


def remove(path: str) -> Edit:
    """Remove a member or an element."""
    return Edit("remove", path)


def apply(document: Any, edits: Sequence[Edit]) -> Any:
    """A copy of a document with edits applied in order. An edit that does not fit the document is a `KeyError` or
    an `IndexError`: the data is wrong, not an input."""
    edited = thaw(document)
    for edit in edits:
        *parents, last = split(edit.path)
        holder = lookup(edited, parents)
        key: Any = last
        if is_array(holder):
            key = len(holder) if last == "-" else int(last)
        if edit.op == "remove":
            del holder[key]
        elif edit.op == "add" and is_array(holder):
            holder.insert(key, thaw(edit.value))
        else:
            if edit.op == "replace":
                holder[key]  # an edit that replaces nothing is a mistake
            holder[key] = thaw(edit.value)
    return edited
