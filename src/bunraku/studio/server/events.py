"""Events of the page's script: kept in order, handled one at a time in a thread of their own."""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable

Fields = dict[str, str]
"""The data attributes of the element, plus phase, x, y of a drag."""

Handler = Callable[[Fields], None]

_LOG = logging.getLogger("bunraku.studio.events")


class EventQueue:
    """A queue that never blocks who puts into it and never lets a drag pile up.

    While a handler is busy, a new move of a drag replaces the waiting move of the same element; starts, ends and clicks
    are never dropped; more than ``limit`` that wait are refused. A handler that raises does not stop the queue: the event's name
    and the error go to :attr:`on_error`.
    """

    def __init__(self, limit: int = 1000) -> None:
        self.limit = limit
        self.on_error: Callable[[str, Exception], None] = lambda name, error: _LOG.exception("handler of %s", name, exc_info=error)
        self._handlers: dict[str, list[Handler]] = {}
        self._waiting: deque[tuple[str, Fields]] = deque()
        self._changed = threading.Condition()
        self._busy = False
        self._open = True
        self._thread = threading.Thread(target=self._work, name="bunraku-studio-events", daemon=True)
        self._thread.start()

    def on(self, name: str, handler: Handler) -> None:
        """Call ``handler`` with the fields of every event of this name, after those registered before."""
        with self._changed:
            self._handlers.setdefault(name, []).append(handler)

    def knows(self, name: str) -> bool:
        """Whether anyone handles events of this name."""
        return name in self._handlers

    def put(self, name: str, fields: Fields) -> bool:
        """Add an event; ``False`` when too many wait already. Never blocks."""
        with self._changed:
            if not self._open:
                return False
            if fields.get("phase") == "move":
                self._forget_move(name, fields)
            if len(self._waiting) >= self.limit:
                return False
            self._waiting.append((name, fields))
            self._changed.notify_all()
        return True

    def wait_idle(self, timeout: float | None = None) -> bool:
        """Wait until every event put so far was handled; ``False`` when ``timeout`` [s] ran out first."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._waiting and not self._busy, timeout)

    def close(self) -> None:
        """Handle no further event; the one at work ends first (waits at most 5 s for it)."""
        with self._changed:
            self._open = False
            self._waiting.clear()
            self._changed.notify_all()
        if threading.current_thread() is not self._thread:
            self._thread.join(timeout=5.0)

    def _forget_move(self, name: str, fields: Fields) -> None:
        mine = _element(fields)
        for index in range(len(self._waiting) - 1, -1, -1):
            other, waiting = self._waiting[index]
            if other == name and _element(waiting) == mine:
                if waiting.get("phase") == "move":
                    del self._waiting[index]
                return

    def _work(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._waiting or not self._open)
                if not self._open:
                    return
                name, fields = self._waiting.popleft()
                handlers = list(self._handlers.get(name, ()))
                self._busy = True
            try:
                for handler in handlers:
                    self._call(name, handler, fields)
            finally:
                with self._changed:
                    self._busy = False
                    self._changed.notify_all()

    def _call(self, name: str, handler: Handler, fields: Fields) -> None:
        try:
            handler(dict(fields))
        except Exception as error:
            try:
                self.on_error(name, error)
            except Exception:
                _LOG.exception("the handler of errors failed on %s", name)


def _element(fields: Fields) -> Fields:
    return {key: value for key, value in fields.items() if key not in ("phase", "x", "y")}
