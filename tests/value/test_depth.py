"""Room on the stack: given while inside, taken back afterwards."""

import sys
import threading
from collections.abc import Iterator

import pytest

from eval_quality.value.depth import ROOM, room


@pytest.fixture(autouse=True)
def limit() -> Iterator[int]:
    before = sys.getrecursionlimit()
    yield before
    assert sys.getrecursionlimit() == before


def deep(levels: int) -> int:
    return levels and deep(levels - 1)


def test_recursive_work_over_the_deepest_document(limit: int) -> None:
    with pytest.raises(RecursionError):
        deep(limit + 10)
    with room():
        assert sys.getrecursionlimit() == ROOM
        assert deep(3 * 1024) == 0


def test_nested(limit: int) -> None:
    with room():
        with room():
            assert sys.getrecursionlimit() == ROOM
        assert sys.getrecursionlimit() == ROOM
    assert sys.getrecursionlimit() == limit


def test_an_error_restores_the_limit() -> None:
    with pytest.raises(KeyError), room():
        raise KeyError


def test_a_higher_limit_of_the_callers_own_is_kept(limit: int) -> None:
    sys.setrecursionlimit(ROOM + 1)
    try:
        with room():
            assert sys.getrecursionlimit() == ROOM + 1
        assert sys.getrecursionlimit() == ROOM + 1
    finally:
        sys.setrecursionlimit(limit)


def test_the_last_of_several_threads_takes_it_back(limit: int) -> None:
    entered, leave = threading.Event(), threading.Event()

    def stay() -> None:
        with room():
            entered.set()
            leave.wait()

    other = threading.Thread(target=stay)
    with room():
        other.start()
        entered.wait()
    assert sys.getrecursionlimit() == ROOM
    leave.set()
    other.join()
    assert sys.getrecursionlimit() == limit


def test_someone_who_comes_in_while_the_limit_falls_keeps_their_room(monkeypatch: pytest.MonkeyPatch) -> None:
    from eval_quality.value import depth

    restore = depth._restore_limit
    stayed = room()

    def restore_and_let_another_in() -> None:
        restore()
        depth._inside.append(None)

    monkeypatch.setattr(depth, "_restore_limit", restore_and_let_another_in)
    with stayed:
        pass
    assert sys.getrecursionlimit() == ROOM
    monkeypatch.setattr(depth, "_restore_limit", restore)
    depth._inside.pop()
    restore()
