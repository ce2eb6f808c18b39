"""The transport: play, pause, step, loop, speed, scrub. A clock that can be asked; it has no thread of its own."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from bunraku.errors import BadInput

SPEEDS = (0.1, 0.25, 0.5, 1.0, 2.0)
"""The speeds that are offered; any from 0.01 to 10 is taken."""


@dataclass(frozen=True)
class PlayingMoment:
    """Where playing stands: at ``time`` [s] when the clock said ``clock``, going on at ``speed`` while ``playing``.

    ``start`` and ``end`` [s] of what is played, ``looped`` whether it then starts again. ``stamp`` counts every change by hand: a
    listener that follows by its own clock (the sound) starts afresh with each.
    """

    time: float = 0.0
    clock: float = 0.0
    playing: bool = False
    speed: float = 1.0
    start: float = 0.0
    end: float = 0.0
    looped: bool = True
    stamp: int = 0

    def at(self, clock: float) -> float:
        """The time [s] of the motion when the clock says ``clock`` [s]."""
        if not self.playing:
            return self.time
        now = self.time + self.speed * (clock - self.clock)
        if now < self.end:
            return max(now, self.start)
        if not self.looped or self.end <= self.start:
            return self.end
        return self.start + math.fmod(now - self.start, self.end - self.start)

    def ended(self, clock: float) -> bool:
        """Whether the end was reached and there is no loop."""
        return self.playing and not self.looped and self.at(clock) >= self.end

    def rounds(self, clock: float) -> int:
        """How often the loop has started again since the last change by hand."""
        if not self.playing or not self.looped or self.end <= self.start:
            return 0
        return max(0, int((self.time + self.speed * (clock - self.clock) - self.start) // (self.end - self.start)))


class Transport:
    """The moment, changed by the user's hand; safe to use from several threads."""

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._moment = PlayingMoment(clock=clock())
        self._duration = 0.0

    @property
    def moment(self) -> PlayingMoment:
        """The last change by hand."""
        return self._moment

    @property
    def duration(self) -> float:
        """Length [s] of what can be played."""
        return self._duration

    @property
    def now(self) -> float:
        """The present time [s] of the motion."""
        return self._moment.at(self._clock())

    @property
    def playing(self) -> bool:
        """Whether it plays; what has reached its end without a loop does not."""
        return self._moment.playing and not self._moment.ended(self._clock())

    @property
    def round(self) -> tuple[int, int]:
        """A number that changes with every change by hand and with every round of the loop."""
        return self._moment.stamp, self._moment.rounds(self._clock())

    def load(self, duration: float) -> None:
        """Another motion of ``duration`` [s]: the loop range is all of it, the time stays if it lies inside."""
        if not (math.isfinite(duration) and duration >= 0.0):
            raise BadInput(f"a motion of {duration} s cannot be played")
        if abs(duration - self._duration) < 1e-9:
            return
        self._duration = duration
        self._change(time=min(self.now, duration), start=0.0, end=duration)

    def play(self) -> None:
        """Go on; from the start of the range if the end was reached."""
        now = self.now
        self._change(time=self._moment.start if now >= self._moment.end - 1e-9 else now, playing=True)

    def pause(self) -> None:
        """Stand still here."""
        self._change(time=self.now, playing=False)

    def toggle(self) -> None:
        """Play or pause."""
        if self.playing:
            self.pause()
        else:
            self.play()

    def scrub(self, time: float) -> None:
        """Go to a time [s] of the motion; whether it plays stays as it is."""
        self._change(time=min(max(float(time), 0.0), self._duration))

    def step(self, frames: int, rate: float = 60.0) -> None:
        """Pause and go some frames forward or back."""
        self._change(time=min(max(self.now + frames / rate, 0.0), self._duration), playing=False)

    def set_speed(self, speed: float) -> None:
        """Play faster or slower."""
        if not 0.01 <= speed <= 10.0:
            raise BadInput(f"a speed of {speed} arrived; give 0.01 to 10")
        self._change(time=self.now, speed=float(speed))

    def set_range(self, start: float | None = None, end: float | None = None) -> None:
        """The part [s] that is played; at least 50 ms of it."""
        low = self._moment.start if start is None else float(start)
        high = self._moment.end if end is None else float(end)
        least = min(0.05, self._duration)
        low = min(max(low, 0.0), self._duration - least)
        high = min(max(high, low + least), self._duration)
        self._change(time=min(max(self.now, low), high), start=low, end=high)

    def set_loop(self, looped: bool) -> None:
        """Whether it starts again at the end."""
        self._change(time=self.now, looped=bool(looped))

    def _change(self, **fields: float | bool) -> None:
        with self._lock:
            self._moment = replace(self._moment, clock=self._clock(), stamp=self._moment.stamp + 1, **fields)  # type: ignore[arg-type]
