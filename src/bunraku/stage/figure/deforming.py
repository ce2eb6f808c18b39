"""Surfaces that deform, as they are drawn."""

from __future__ import annotations

from collections.abc import Sequence
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


def merged(surfaces: Sequence[Deforming], name: str) -> Deforming:
    """Several surfaces as one, in the color of the first: one message a frame is cheaper than one for each."""
    before = np.cumsum([0, *(one.points.shape[1] for one in surfaces)])
    faces = np.vstack([one.faces + start for one, start in zip(surfaces, before, strict=False)])
    points = np.concatenate([one.points for one in surfaces], axis=1)
    return Deforming(name, points, faces.astype(np.int32), surfaces[0].color)
