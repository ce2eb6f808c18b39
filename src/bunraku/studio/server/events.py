"""Events of the page's script: kept in order, handled one at a time in a thread of their own."""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import partial

from bunraku.studio.server.acts import ActQueue

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
        self.on_error: Callable[[str, Exception], None] = lambda name, error: _LOG.exception("handler of %s", name, exc_info=error)
        self._handlers: dict[str, list[Handler]] = {}
        self._acts = ActQueue("bunraku-studio-events", partial(_LOG.error, "the handler of errors failed: %s"), limit=limit)
        self.wait_idle, self.close = self._acts.wait_idle, self._acts.close

    def on(self, name: str, handler: Handler) -> None:
        """Call ``handler`` with the fields of every event of this name, after those registered before."""
        self._handlers.setdefault(name, []).append(handler)

    def knows(self, name: str) -> bool:
        """Whether anyone handles events of this name."""
        return name in self._handlers

    def put(self, name: str, fields: Fields) -> bool:
        """Add an event; ``False`` when too many wait already. Never blocks."""
        element = frozenset((key, value) for key, value in fields.items() if key not in ("phase", "x", "y"))
        return self._acts.post(lambda: self._handle(name, fields), key=(name, element), latest=fields.get("phase") == "move")

    def _handle(self, name: str, fields: Fields) -> None:
        for handler in tuple(self._handlers.get(name, ())):
            try:
                handler(dict(fields))
            except Exception as error:
                self.on_error(name, error)
