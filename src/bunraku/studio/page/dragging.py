"""A drag: while it moves it is only shown, when it rests it is one edit."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

from bunraku.errors import BunrakuError
from bunraku.studio.document import Document
from bunraku.studio.edits.registry import Edit
from bunraku.studio.page.ui import Ui

REST = 0.4
"""A slider that does not move for so long [s] has been let go, if no browser says that it is still held."""
STRAGGLES = 5.0
"""A value that comes within so long [s] after the edit, from a hand that took nothing since, is a late one of the same drag."""


class Drag:
    """A drag of one handle: previews the edit ``name`` while it moves, makes it when it ends or rests.

    Values and the end of a drag come on two lines; on a busy computer a value may come after the end, and then amends the edit.

    ``valid``: whether what is dragged is still there; another browser, or undo, may have taken it away under the hand. When another
    character, clip or skin was opened since the first move, nothing comes of the drag either.
    """

    def __init__(self, ui: Ui, key: str, name: str, *, valid: Callable[[], bool] = lambda: True) -> None:
        self._ui, self._key, self._name, self._there = ui, key, name, valid
        self._began: tuple[object, ...] | None = None
        self._lost = False
        """Whether what was dragged was taken away: the rest of the drag counts for nothing."""
        self._timer: threading.Timer | None = None
        self._last: dict[str, Any] | None = None
        self._rest: tuple[Edit, int, float] | None = None
        """The edit that was made when the drag rested, the grip of the hand then, and when."""
        self._lock = threading.Lock()

    def follow(self, handle: Any, arguments: Callable[[Any], dict[str, Any]]) -> Any:
        """Let a slider be the handle: ``arguments`` of the edit from its value."""
        return self._ui.changed(handle, lambda value: self.move(arguments(value)), key=f"drag {self._key}", drags=True)

    def move(self, arguments: dict[str, Any], *, rests: bool = True) -> None:
        """Another value under the hand. ``rests``: the end is not told, so rest is taken for it."""
        if self._lost:
            return
        if self._last is None:
            self._began = _opened(self._ui.session.document)
        if not self._valid():
            self._taken()
            self._lost = not rests  # its end will be told
            return
        self._ui.session.preview(self._name, **arguments)
        self._ui.hand.drags[self] = None
        with self._lock:
            self._last = arguments
            if self._timer is not None:
                self._timer.cancel()
            if rests:
                self._wait()

    def _valid(self) -> bool:
        return self._there() and self._began in (None, _opened(self._ui.session.document))

    def _wait(self) -> None:
        """Look after a rest whether it was let go; the lock is held."""
        self._timer = threading.Timer(REST, self._rested)
        self._timer.daemon = True
        self._timer.start()

    def _rested(self) -> None:
        with self._lock:
            if self._last is not None and self._ui.hand.holds:
                self._wait()
                return
        self._ui.act(self._end_of_rest, key=f"end {self._key}")

    def _end_of_rest(self) -> None:
        grip, last = self._ui.hand.grip, self._last
        if self._finish(None, amend=self._straggles(grip)) and last is not None:
            self._rest = (Edit(self._name, last), grip, time.monotonic())

    def _straggles(self, grip: int) -> bool:
        """Whether what comes now belongs to the edit made last."""
        if self._rest is None:
            return False
        edit, held, then = self._rest
        history = self._ui.session.history
        newest = history.at > 0 and not history.can_redo and history.edits[-1] == edit
        return newest and held == grip and time.monotonic() - then < STRAGGLES

    def end(self, arguments: dict[str, Any] | None = None) -> None:
        """Let go: one edit; what is refused is forgotten."""
        lost, self._lost = self._lost, False
        if not lost:
            self._finish(arguments, amend=False)

    def finish(self) -> None:
        """Do not wait for the rest; a drag whose end will be told goes on."""
        if self._timer is not None:
            self._end_of_rest()

    def drop(self) -> None:
        """Forget it: the hand is gone."""
        self._taken()
        self._lost = False

    def _taken(self) -> dict[str, Any] | None:
        """The last value, which the drag has no more."""
        self._ui.hand.drags.pop(self, None)
        with self._lock:
            last, self._last = self._last, None
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None
        return last

    def _finish(self, arguments: dict[str, Any] | None, *, amend: bool) -> bool:
        taken, session = self._taken(), self._ui.session
        if taken is None:
            self._began = None
        last = arguments or taken
        if last is None or not self._valid():
            return False
        try:
            (session.amend if amend else session.do)(self._name, **last)
        except BunrakuError:
            session.drop_preview()
            raise
        return True


def _opened(document: Document) -> tuple[object, ...]:
    """What is open, whatever was edited of it since."""
    who, clip = document.base, document.clip
    return None if who is None else who.name, None if clip is None else clip.name, document.recipe.get("source")
