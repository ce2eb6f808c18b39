"""The monitor of a job in the worker: reports go to the studio, at most twenty a second; the figures of all of them are kept."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from bunraku.optimization.monitor import Event, Monitor

INTERVAL = 0.05
"""Least time [s] between two reports."""

MOST_POINTS = 100
"""Most points of the history in one report."""


class JobMonitor(Monitor):
    """Sends events of one job; ``cancel`` makes it say so to the computation. ``seen`` is called once the computation has asked."""

    def __init__(self, send: Callable[[dict[str, Any]], None], seen: Callable[[], None]) -> None:
        self._send, self._seen = send, seen
        self._begun, self._last = time.monotonic(), -math.inf
        self._history: list[tuple[float, dict[str, float]]] = []
        self._asked, self._told = threading.Event(), False
        self._newest, self._kernels = Event("", None, ""), 0

    def report(self, event: Event) -> None:
        """Keep the figures; send what is known if the last report was long enough ago."""
        now = time.monotonic()
        self._newest = event
        figures = {name: float(value) for name, value in event.figures.items() if math.isfinite(float(value))}
        if figures:
            self._history.append((now - self._begun, figures))
        if now - self._last < INTERVAL and (event.fraction is None or event.fraction < 1.0):
            return
        self._last = now
        thinned = self._history[:: max(1, math.ceil(len(self._history) / MOST_POINTS))]
        self._history = []
        self._send({"stage": event.stage, "fraction": event.fraction, "message": event.message[:400], "history": thinned})

    def compiling(self) -> None:
        """Say that a kernel is compiled, beside what was said last: nothing else can be heard until it is."""
        self._kernels += 1
        said = f"{self._newest.message}; " if self._newest.message else ""
        self._aside(f"{said}compiling kernels, once on this machine ({self._kernels} so far)")

    def compiled(self) -> None:
        """Say again what was said before a kernel was compiled."""
        self._aside(self._newest.message)

    def cancel(self) -> None:
        """Ask the computation to end with the best so far."""
        self._asked.set()

    @property
    def cancelled(self) -> bool:
        """Whether the computation should stop; the first time that it hears so, the studio is told."""
        if not self._asked.is_set():
            return False
        if not self._told:
            self._told = True
            self._seen()
        return True

    def _aside(self, words: str) -> None:
        """Other words at the same stage, at once, without figures."""
        self._send({"stage": self._newest.stage, "fraction": self._newest.fraction, "message": words[:400], "history": []})


@contextmanager
def told_of_compiling(began: Callable[[], None], ended: Callable[[], None]) -> Iterator[None]:
    """Call ``began`` before each kernel that Numba compiles in this process, ``ended`` after it; one that it finds on disk is none.

    A kernel with all others that it calls is one.
    """
    from numba.core.event import Listener, install_listener

    class Listening(Listener):  # type: ignore[misc]
        depth = 0

        def on_start(self, event: Any) -> None:
            self.depth += 1
            if self.depth == 1:
                began()

        def on_end(self, event: Any) -> None:
            self.depth -= 1
            if self.depth == 0:
                ended()

    with install_listener("numba:compile", Listening()):
        yield
