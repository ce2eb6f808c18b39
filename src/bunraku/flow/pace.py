"""How far compiling is: what is compiled now, in plain words, and how long the rest takes at the pace so far."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from bunraku.optimization.monitor import SILENT, Event, Monitor
from bunraku.performers.warm import GROUPS

INTERVAL = 1.0
"""Least time [s] between two reports."""


class Pace:
    """Reports what is compiled and how long it still takes; ``here`` in this process, ``aside`` in another one meanwhile.

    ``clocks``: the time and the CPU time of this process [s].
    """

    def __init__(
        self,
        here: Sequence[str],
        aside: Sequence[str],
        tell: Callable[[float, str], None],
        clocks: tuple[Callable[[], float], Callable[[], float]] = (time.monotonic, time.process_time),
    ) -> None:
        self._here, self._aside, self._tell, self._clocks = here, aside, tell, clocks
        self._began = [clock() for clock in clocks]
        self._done: list[str] = []
        self._now, self._told, self._cpu_done, self._busy = "", -INTERVAL, 0.0, 1.0

    def begin(self, group: str) -> None:
        """The ``group`` is next; the one before it is compiled."""
        if self._now:
            self._done.append(self._now)
            self._cpu_done = self._clocks[1]() - self._began[1]
        self._now = group
        self.look()

    def look(self) -> None:
        """Report, if the last report was long enough ago."""
        if (wall := self._clocks[0]() - self._began[0]) >= self._told + INTERVAL:
            self._told = wall
            left = self.left()
            named = GROUPS[self._now].words or self._now if self._now in GROUPS else self._now
            self._tell(wall / max(wall + left, 1e-9), f"about {rounded(left)} s left: {named}")

    def left(self) -> float:
        """How long [s] the rest takes.

        The CPU time that is expected, as much more or less as it was for what is compiled, at the share of a core that this process
        gets: a slow machine and a busy one are both told by what was measured.
        """
        wall, cpu = (clock() - began for clock, began in zip(self._clocks, self._began, strict=True))
        expected = sum(GROUPS[name].seconds for name in self._done)
        pace = self._cpu_done / expected if expected > 0.0 else 1.0
        waiting = self._now not in self._here
        if not waiting and cpu > 0.1:
            self._busy = max(wall / cpu, 1.0)
        own = 0.0 if waiting else max(pace * sum(GROUPS[name].seconds for name in self._here) - cpu, 0.1 * cpu)
        other = pace * sum(GROUPS[name].seconds for name in self._aside) * self._busy - wall
        return max(own * self._busy, other, 0.1 * wall if waiting else 0.0)


def rounded(seconds: float) -> int:
    """Whole seconds, at least 1; multiples of five from twenty on."""
    return max(1, round(seconds)) if seconds < 20.0 else 5 * round(seconds / 5.0)


def teller(monitor: Monitor) -> Callable[[float, str], None]:
    """Reports to the monitor; where nobody watches but a person at a terminal, a line there that is written over."""

    def tell(share: float, words: str) -> None:
        monitor.report(Event("compiling", share, words))

    def write(share: float, words: str) -> None:
        print(f"\r  {words:<60}" if share < 1.0 else f"\r{'':<62}\r", end="", file=sys.stderr, flush=True)

    return write if monitor is SILENT and sys.stderr.isatty() else tell


@contextmanager
def heard_compiling(heard: Callable[[], None]) -> Iterator[None]:
    """Call ``heard`` whenever Numba begins to compile a function in this process."""
    from numba.core.event import Listener, install_listener

    class Listening(Listener):  # type: ignore[misc]
        def on_start(self, event: Any) -> None:
            heard()

        def on_end(self, event: Any) -> None:
            pass

    with install_listener("numba:compile", Listening()):
        yield
