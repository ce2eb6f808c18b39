"""Sound and its marks: audio samples, words and phrases at times."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bunraku.errors import BadInput
from bunraku.motion.curves import frozen_array


@dataclass(frozen=True)
class Audio:
    """Mono sound: samples in [-1, 1] at ``rate`` per second; ``file`` names where it came from."""

    samples: NDArray[np.float64]
    rate: float
    file: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "samples", frozen_array(self.samples, (None,), "the audio"))
        if not 0.0 < self.rate <= 1_000_000.0:
            raise BadInput(f"an audio rate of {self.rate} Hz cannot be used; give one between 0 and 1000000")

    @property
    def duration(self) -> float:
        """Length [s]."""
        return len(self.samples) / self.rate


@dataclass(frozen=True)
class Mark:
    """A stretch of time with a text: a word, a phrase. ``stroke`` names the time of the gesture that belongs to it, if any."""

    text: str
    start: float
    end: float
    stroke: float | None = None

    def __post_init__(self) -> None:
        if not 0.0 <= self.start <= self.end < 1e7:
            raise BadInput(f"the mark {self.text!r} runs from {self.start} to {self.end} s; times start at 0 and rise")
