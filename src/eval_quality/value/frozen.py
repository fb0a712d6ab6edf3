"""Immutable JSON containers, and the way into them and out of them.

Records are immutable through and through (spec 10 §8), so the JSON values inside them are held in a `dict` and a
`list` that refuse to change. Code that reads JSON tests for `dict` and `list` and never notices.
"""

from typing import Any, NoReturn

type_error = "a record's JSON value cannot be changed; copy it with to_value()"


def _refuse(*_args: object, **_kwargs: object) -> NoReturn:
    raise TypeError(type_error)


class FrozenDict(dict[str, Any]):
    """A JSON object that refuses to change."""

    __slots__ = ()
    __setitem__ = __delitem__ = __ior__ = _refuse
    clear = pop = popitem = setdefault = update = _refuse

    def __deepcopy__(self, memo: object) -> "FrozenDict":
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return FrozenDict, (dict(self),)


class FrozenList(list[Any]):
    """A JSON array that refuses to change."""

    __slots__ = ()
    __setitem__ = __delitem__ = __iadd__ = __imul__ = _refuse
    append = clear = extend = insert = pop = remove = reverse = sort = _refuse

    def __deepcopy__(self, memo: object) -> "FrozenList":
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return FrozenList, (list(self),)
