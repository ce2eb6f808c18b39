"""Surfaces that deform, as they are drawn."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Deforming:
    """A surface that deforms: ``points`` (m, v, 3) [m] float32, ``faces`` (f, 3) int32, one ``color`` (4), red to opacity."""

    name: str
    points: NDArray[np.float32]
    faces: NDArray[np.int32]
    color: tuple[float, float, float, float]
