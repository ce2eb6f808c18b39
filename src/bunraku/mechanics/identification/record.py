"""What a camera or a motion-capture system saw: one marker over time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bunraku.arrays import Array
from bunraku.errors import BadInput
from bunraku.motion.curves import frozen_array

FEWEST = 20
"""Samples below which nothing is estimated."""


@dataclass(frozen=True)
class MarkerRecord:
    """A marker at ``times`` (M,) [s], rising, not necessarily even: ``points`` (M, 3) of space, or (M, 2) of a picture.

    Time zero is that of the motor's command. The axes may be any that stand still: position and orientation of camera or capture
    volume are found by the fit. ``scaled``: points are metres; otherwise they are of an unknown unit (pixels), found as well.
    """

    times: Array
    points: Array
    scaled: bool = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "times", frozen_array(self.times, (None,), "the times of a marker"))
        dimensions = np.shape(self.points)[-1] if np.ndim(self.points) == 2 else 0
        if dimensions not in (2, 3):
            raise BadInput(f"the points of a marker have shape {np.shape(self.points)}; (samples, 2) or (samples, 3) is needed")
        object.__setattr__(self, "points", frozen_array(self.points, (len(self.times), dimensions), "the points of a marker"))
        if len(self.times) < FEWEST:
            raise BadInput(f"the marker was seen {len(self.times)} times; at least {FEWEST} samples are needed: record for longer")
        if not (np.diff(self.times) > 0.0).all():
            raise BadInput("the times of a marker do not rise; sort its samples")

    @property
    def rate(self) -> float:
        """Typical samples a second [Hz]."""
        return float(1.0 / np.median(np.diff(self.times)))

    @property
    def dimensions(self) -> int:
        """2 for a picture, 3 for space."""
        return int(self.points.shape[1])
