"""The player: moves the scene with the transport's clock, in a thread of its own, and only when the time has changed."""

from __future__ import annotations

import threading
from collections.abc import Callable

from bunraku.studio.transport import Transport

FRAMES = 30.0
"""Frames a second while playing."""


class PlaybackTimer:
    """Calls ``move(time)`` at most 30 times a second while playing, and once after every change by hand."""

    def __init__(self, transport: Transport, move: Callable[[float], None], on_round: Callable[[], None]) -> None:
        self._transport, self._move, self._on_round = transport, move, on_round
        self._stop = threading.Event()
        self._wake = threading.Event()
        self._thread = threading.Thread(target=self._run, name="studio player", daemon=True)
        self._thread.start()

    def wake(self) -> None:
        """Look at the transport now."""
        self._wake.set()

    def close(self) -> None:
        """End the thread."""
        self._stop.set()
        self._wake.set()

    def _run(self) -> None:
        last: tuple[int, int, bool] | None = None
        time = -1.0
        while not self._stop.is_set():
            playing, now = self._transport.playing, self._transport.now
            mark = (*self._transport.round, playing)
            if mark != last:
                last = mark
                self._on_round()
            if now != time:
                time = now
                self._move(now)
            self._wake.wait(1.0 / FRAMES if playing else 0.25)
            self._wake.clear()
