"""The time of the show: which clock is the master, and how the player keeps to it.

A clock gives readings: pairs of the computer's monotonic time and of the show's time at that moment. A sound card counts samples
by a quartz of its own and tells its place in blocks; the `Follower` makes a smooth line from such readings, by which every
command has its moment in monotonic time. So the voice is the master and the motion follows it, without jumps and without growing
apart.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod

from bunraku.motion import Audio


class Clock(ABC):
    """The master of a show's time. ``name`` says in words which one it is."""

    name: str

    @abstractmethod
    def prepare(self, audio: Audio) -> None:
        """Make a sound ready to be played, before the start: while a show runs there is no time for it."""

    @abstractmethod
    def start(self) -> None:
        """The show's time begins at 0 now, or shortly after."""

    @abstractmethod
    def reading(self) -> tuple[float, float]:
        """(monotonic time [s], show time [s]) of one moment not long ago."""

    @abstractmethod
    def sound(self, audio: Audio, at: float) -> None:
        """Let a sound begin at the show time ``at`` [s]; a clock without sound notes it."""

    @abstractmethod
    def silence(self) -> None:
        """Drop every sound, begun or not; time goes on."""

    @abstractmethod
    def stop(self) -> None:
        """Silence at once; may be called twice."""


class MonotonicClock(Clock):
    """The computer's own clock; nothing is heard."""

    name = "the computer's clock, without sound"

    def __init__(self) -> None:
        self._begun = 0.0

    def prepare(self, audio: Audio) -> None:
        """Nothing to do."""

    def start(self) -> None:
        """Begin."""
        self._begun = time.monotonic()

    def reading(self) -> tuple[float, float]:
        """The present moment."""
        now = time.monotonic()
        return now, now - self._begun

    def sound(self, audio: Audio, at: float) -> None:
        """Nothing is heard."""

    def silence(self) -> None:
        """Nothing was heard."""

    def stop(self) -> None:
        """Nothing to do."""


class SimulatedSoundClock(Clock):
    """A sound card that is not there: it counts ``rate`` samples a second by a quartz that errs, and tells so block by block.

    ``error`` is that of the quartz (50e-6: 50 ppm, 30 ms in 10 minutes), ``block`` the samples of a block. `true` is the show time
    that a listener would measure; ``sounds`` lists what was to be heard and when.
    """

    def __init__(self, rate: float = 48_000.0, block: int = 480, error: float = 0.0) -> None:
        self.name = f"a simulated sound card ({rate:g} Hz, {1e6 * error:+.0f} ppm)"
        self._rate, self._block, self._error = rate, block, error
        self._begun = 0.0
        self.sounds: list[tuple[float, Audio]] = []

    def prepare(self, audio: Audio) -> None:
        """Nothing to do."""

    def start(self) -> None:
        """Begin."""
        self._begun = time.monotonic()

    def true(self, now: float) -> float:
        """The show time [s] at a monotonic time."""
        return (now - self._begun) * (1.0 + self._error)

    def reading(self) -> tuple[float, float]:
        """The beginning of the block that is playing."""
        blocks = int(self.true(time.monotonic()) * self._rate) // self._block
        shown = blocks * self._block / self._rate
        return self._begun + shown / (1.0 + self._error), shown

    def sound(self, audio: Audio, at: float) -> None:
        """Note it."""
        self.sounds.append((at, audio))

    def silence(self) -> None:
        """Note that nothing is heard any more."""
        self.sounds.clear()

    def stop(self) -> None:
        """Nothing to do."""


class Follower:
    """A line through the readings of a clock: show time s is at monotonic time ``when(s)``.

    A phase-locked loop: each reading corrects the line by a share of its error, and its slope by a smaller one, so that a block's
    jitter hardly shows and a quartz that errs leaves no offset. The slope stays within 1 % of one: a clock that stalls does not
    take the motion with it.
    """

    SHARE, SLOPE, LARGEST = 0.05, 0.002, 0.01

    def __init__(self) -> None:
        self._show = self._moment = 0.0
        self._pace = 1.0
        self._known = False
        self.error = 0.0

    def read(self, moment: float, show: float) -> None:
        """Take in one reading; an older or the same one again changes nothing."""
        if not self._known:
            self._show, self._moment, self._known = show, moment, True
            return
        if show <= self._show:
            return
        elapsed = show - self._show
        self.error = moment - self.when(show)
        most = self.LARGEST * elapsed
        correction = min(max(self.SHARE * self.error, -most), most)
        self._moment = self.when(show) + correction
        self._show = show
        gain = self.SLOPE * min(elapsed, 0.1) / 0.01
        self._pace = min(max(self._pace + gain * self.error, 1.0 - self.LARGEST), 1.0 + self.LARGEST)

    def when(self, show: float) -> float:
        """The monotonic time [s] of a show time."""
        return self._moment + (show - self._show) * self._pace

    def show(self, moment: float) -> float:
        """The show time [s] at a monotonic time."""
        return self._show + (moment - self._moment) / self._pace
