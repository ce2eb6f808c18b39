"""The ground as a height field: slopes, steps, whatever a grid of heights can say."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bunraku.errors import BadInput
from bunraku.motion.curves import frozen_array

__all__ = ["HeightField"]


@dataclass(frozen=True)
class HeightField:
    """Heights (nx, ny) [m] over a grid of ``spacing`` [m], the first at ``origin`` (x, y) [m]; outside, the edge goes on.

    Between the points the ground is the biquadratic B-spline of the heights: once differentiable, the mean of its neighbours
    (1/8, 6/8, 1/8 in each direction) at the points themselves, so that the edge of a step is as sharp as the grid is fine.
    """

    origin: tuple[float, float]
    spacing: float
    heights: NDArray[np.float64]

    def __post_init__(self) -> None:
        object.__setattr__(self, "heights", frozen_array(self.heights, (None, None), "the heights of the terrain"))
        if not (math.isfinite(self.spacing) and self.spacing > 0.0) or min(self.heights.shape) < 3:
            raise BadInput(
                f"a terrain of {self.heights.shape} points {self.spacing} m apart arrived; 3 by 3 with a positive spacing"
            )
