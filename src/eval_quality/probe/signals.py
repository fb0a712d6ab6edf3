"""The abort signal that every port method takes (spec 07 §7.1.1).

1. A signal is aborted at most once, by its controller, from any thread; the first reason stays.
2. A listener is called at most once, on the aborting thread, and can be taken back; on a signal that is already
   aborted it is called at once.
3. A listener's exception never reaches the aborting thread's caller before the other listeners were told.
"""

from collections.abc import Callable
from threading import Lock


class AbortSignal:
    """Tells a call in progress to stop. Made by an `AbortController`; safe to share between threads."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._aborted = False
        self._reason: object = None
        self._listeners: dict[int, Callable[[], object]] = {}
        self._next = 0

    @property
    def aborted(self) -> bool:
        """Whether `abort` was called."""
        return self._aborted

    @property
    def reason(self) -> object:
        """What `abort` was given, or None."""
        return self._reason

    @property
    def listener_count(self) -> int:
        """How many listeners wait; 0 after every completed call."""
        return len(self._listeners)

    def listen(self, listener: Callable[[], object]) -> Callable[[], None]:
        """Have `listener` called once on abort; the answer takes it back and may be called any number of times."""
        with self._lock:
            if not self._aborted:
                key = self._next
                self._next += 1
                self._listeners[key] = listener
                return lambda: self._forget(key)
        listener()
        return _nothing

    def _forget(self, key: int) -> None:
        with self._lock:
            self._listeners.pop(key, None)

    def _abort(self, reason: object) -> None:
        with self._lock:
            if self._aborted:
                return
            self._aborted = True
            self._reason = reason
            listeners, self._listeners = self._listeners, {}
        first: BaseException | None = None
        for listener in listeners.values():
            try:
                listener()
            except Exception as error:  # rule 3: the others still have to be told
                first = first or error
        if first is not None:
            raise first


class AbortController:
    """Owner of one `signal`."""

    def __init__(self) -> None:
        self.signal = AbortSignal()

    def abort(self, reason: object = None) -> None:
        """Abort the signal; later calls change nothing."""
        self.signal._abort(reason)  # pyright: ignore[reportPrivateUsage]


class AbortError(Exception):
    """What a mechanism raises when its signal was aborted; `code` is `ABORT_ERR`, the cause is the signal's reason.

    A reason that is no exception is kept in `reason` only.
    """

    code = "ABORT_ERR"

    def __init__(self, signal: AbortSignal) -> None:
        super().__init__("the operation was aborted")
        self.reason = signal.reason
        if isinstance(signal.reason, BaseException):
            self.__cause__ = signal.reason


def _nothing() -> None:
    return
