"""Something typed: every key tells its value, and when the typing rests it is one edit."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from bunraku.studio.page.ui import Ui

REST = 0.7
"""Who has not typed for so long [s] has typed to the end."""


class Typed:
    """A field (``handle``) that is typed into: ``function`` gets the value once the typing rests, or when something else is done.

    A browser tells every key: of "60" first "6", which may be too small, and is no edit.
    """

    def __init__(self, ui: Ui, handle: Any, key: str, function: Callable[[Any], object]) -> None:
        self._ui, self._key, self._function = ui, key, function
        ui.changed(handle, self.put, key=key, drags=True)
        self._timer: threading.Timer | None = None
        self._last: Any = None

    def put(self, value: Any) -> None:
        """Another key was pressed."""
        self._last = value
        self._ui.hand.drags[self] = None
        if self._timer is not None:
            self._timer.cancel()
        self._timer = threading.Timer(REST, lambda: self._ui.act(self.finish, key=f"typed {self._key}"))
        self._timer.daemon = True
        self._timer.start()

    def finish(self) -> None:
        """Do not wait any longer."""
        if self._timer is None:
            return
        self._timer.cancel()
        self._timer = None
        self._ui.hand.drags.pop(self, None)
        self._function(self._last)

    def drop(self) -> None:
        """Whoever typed is gone; what was typed counts."""
        self._ui.act(self.finish)
