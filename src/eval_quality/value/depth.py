"""Room on the interpreter's stack for recursive work over bounded documents.

A document has at most 1024 nested containers (spec 01 §2), but Python allows about a thousand frames and a recursive
decision takes two or three a level. Library entry points do their recursive work inside `room()`; `value/` itself
needs none, because it walks with stacks of its own.
"""

import sys
from collections.abc import Generator
from contextlib import contextmanager
from typing import Final

ROOM: Final = 20_000
"""Frames allowed inside: about twenty for each of the 1024 levels a document may have."""

_inside: list[None] = []
_outside: list[int] = [sys.getrecursionlimit()]


@contextmanager
def room() -> Generator[None]:
    """Allow at least `ROOM` frames while inside, and restore the caller's limit when the last one leaves.

    Re-entrant, and safe when several threads are inside at once: the limit is the process's, so it falls back only
    once nobody is left, and whoever lowers it looks again for someone who has just come in.
    """
    _inside.append(None)
    _raise_limit()
    try:
        yield
    finally:
        _inside.pop()
        if not _inside:
            _restore_limit()
        if _inside:
            _raise_limit()


def _raise_limit() -> None:
    limit = sys.getrecursionlimit()
    if limit < ROOM:
        _outside[0] = limit
        sys.setrecursionlimit(ROOM)


def _restore_limit() -> None:
    if sys.getrecursionlimit() == ROOM:
        sys.setrecursionlimit(_outside[0])
