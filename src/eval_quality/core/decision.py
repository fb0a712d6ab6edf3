"""Ordered decision tables as data (spec 08 §6, 09 §2).

A table is a tuple of rows. A row's guard is a conjunction: each entry names one fact and the values it may have. A
guard without entries always holds, so a table that ends with one is total. Because guards are data, the tables of
`docs/reference/decisions.md` are written from the same tuples that decide.

Rules:

1. Rows are tried in order; the first whose guard holds decides.
2. Values are compared with `in` over Python constants (strings, booleans, None), never over JSON values.
"""

from collections.abc import Iterable
from typing import Generic, NamedTuple, TypeVar

Fact = str | bool | None
Guard = tuple[tuple[str, tuple[Fact, ...]], ...]

Value = TypeVar("Value")


class Row(NamedTuple, Generic[Value]):
    """One row: the name of its rule, its guard, and what it decides."""

    rule: str
    guard: Guard
    value: Value


def holds(guard: Guard, facts: object) -> bool:
    """Whether every entry of `guard` admits the value that `facts` has under that name."""
    return all(getattr(facts, name) in admitted for name, admitted in guard)


def first(table: Iterable[Row[Value]], facts: object) -> Row[Value]:
    """The first row whose guard holds; a table without one is a programming error (`ValueError`)."""
    for row in table:
        if holds(row.guard, facts):
            return row
    raise ValueError("a decision table must end with a row that always holds")


def every(table: Iterable[Row[Value]], facts: object) -> tuple[Row[Value], ...]:
    """Every row whose guard holds, in order."""
    return tuple(row for row in table if holds(row.guard, facts))
