"""The way into immutable JSON values and out of them (spec 10 §8).

Both directions copy level by level with a stack of their own, so a document at the depth limit needs no recursion.
"""

from typing import Any

from eval_quality.value.frozen import FrozenDict, FrozenList
from eval_quality.value.kind import is_array, is_object


def freeze(value: Any) -> Any:
    """A deeply immutable copy of a JSON value: `FrozenDict` for each object, `FrozenList` for each array."""
    return _copy(value, FrozenDict, FrozenList)


def thaw(value: Any) -> Any:
    """A plain, changeable copy of a JSON value: `dict` and `list` throughout."""
    return _copy(value, dict, list)


def _copy(value: Any, make_object: type[dict[str, Any]], make_array: type[list[Any]]) -> Any:
    root: list[Any] = [value]
    pending: list[dict[str, Any] | list[Any]] = [root]
    while pending:
        container = pending.pop()
        # Its members were copied shallowly; each container among them is now replaced by a copy of its own. The base
        # classes' methods write, because a frozen container refuses its own.
        if isinstance(container, dict):
            for key, member in container.items():
                if is_object(member) or is_array(member):
                    copy = make_object(member) if is_object(member) else make_array(member)
                    dict[str, Any].__setitem__(container, key, copy)
                    pending.append(copy)
        else:
            for index, member in enumerate(container):
                if is_object(member) or is_array(member):
                    copy = make_object(member) if is_object(member) else make_array(member)
                    list[Any].__setitem__(container, index, copy)
                    pending.append(copy)
    return root[0]
