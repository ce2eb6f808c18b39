"""A deforming surface over time: what a performer computed of a skin, kept so that it can be shown."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bunraku.errors import BadInput

MAX_NUMBERS = 50_000_000
"""The most coordinates, of all frames together, that a surface may have."""

MAX_FAR = 1000.0
"""The farthest [m] from the origin that a point may be."""


@dataclass(frozen=True, eq=False)
class SurfaceMotion:
    """Points of a surface over time: ``points[k, i]`` [m] is where vertex i is in the world at time k / ``rate`` [Hz].

    ``faces`` (f, 3) int32 of vertices, counter-clockwise seen from outside; ``points`` (m, v, 3) float32. Not writable.
    """

    faces: NDArray[np.int32]
    rate: float
    points: NDArray[np.float32]

    def __post_init__(self) -> None:
        given, points = np.asarray(self.faces), np.array(self.points, dtype=np.float32)
        if given.ndim != 2 or given.shape[1] != 3 or given.dtype.kind not in "iu":
            raise BadInput(f"the faces of a moving surface have shape {given.shape}; whole numbers (f, 3) are needed")
        if points.ndim != 3 or points.shape[2] != 3 or not len(points) or points.size > MAX_NUMBERS:
            raise BadInput(
                f"the points of a moving surface have shape {points.shape}; (frames, vertices, 3) is needed, at least one frame "
                f"and at most {MAX_NUMBERS} numbers"
            )
        if not np.isfinite(points).all() or float(np.abs(points).max(initial=0.0)) > MAX_FAR:
            raise BadInput(f"the points of a moving surface must be finite and within {MAX_FAR:g} m of the origin")
        if given.size and (int(given.min()) < 0 or int(given.max()) >= points.shape[1]):
            raise BadInput(
                f"faces of a moving surface name vertices {given.min()} to {given.max()}; it has 0 to {points.shape[1] - 1}"
            )
        if not 0.0 < self.rate <= 100_000.0:
            raise BadInput(f"a moving surface has the rate {self.rate} Hz; give one between 0 and 100000")
        faces = given.astype(np.int32)
        for name, array in (("faces", faces), ("points", points)):
            array.setflags(write=False)
            object.__setattr__(self, name, array)

    @property
    def duration(self) -> float:
        """Time of the last frame [s]."""
        return (len(self.points) - 1) / self.rate
