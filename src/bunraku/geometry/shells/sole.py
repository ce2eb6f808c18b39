"""A flat sole with a sharp rim: the end of a foot, made of rings, instead of being remeshed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from bunraku.arrays import Array, Indices
from bunraku.errors import BadInput
from bunraku.geometry.shells.fold_region import FoldRegion
from bunraku.geometry.shells.rings import Rings, fold_rings


@dataclass(frozen=True)
class SoleShell:
    """The end of a foot between its flat underside and a plane ``height`` [m] above: ``rows`` rows of rings of ``around`` points.

    ``center`` (3,) [m] lies on the underside, ``up`` (3,) points into the foot (normalized here). The underside becomes a flat
    disc: the rim of ``around`` (even) points, a ring of half as many at half the radius, and the centre.
    """

    center: ArrayLike
    up: ArrayLike
    height: float
    around: int
    rows: int = 1

    def __post_init__(self) -> None:
        if self.around < 6 or self.around % 2 or self.rows < 1:
            raise BadInput(
                f"a sole has {self.around} points a ring and {self.rows} rows; an even number from 6 and at least 1 row are needed"
            )
        region = FoldRegion(
            np.asarray(self.center, dtype=np.float64), self.up, self.height, 0, 0.0, 1e-9, self.around, rows=self.rows
        )
        object.__setattr__(self, "center", region.middle)
        object.__setattr__(self, "up", region.direction)


def sole_region(sole: SoleShell) -> FoldRegion:
    """The sole as a region without teeth between its underside and its upper plane."""
    center, up = np.asarray(sole.center, dtype=np.float64), np.asarray(sole.up, dtype=np.float64)
    return FoldRegion(center + 0.5 * sole.height * up, up, sole.height, 0, 0.0, 1e-9, sole.around, rows=sole.rows)


def sole_rings(vertices: Array, faces: Indices, sole: SoleShell, place: str) -> Rings:
    """The rings of a sole, the rim first; the rim has the outline of the cross-section just above the underside."""
    return fold_rings(vertices, faces, sole_region(sole), place, lift=2e-3 * sole.height)


def disc_points(rings: Rings) -> Array:
    """The points (n/2 + 1, 3) [m] within the rim: a ring at half the radius of every other point of the rim, and the centre."""
    return np.vstack([0.5 * (rings.points[0, ::2] + rings.centres[0]), rings.centres[:1]])


def disc_faces(rim: Indices, disc: Indices) -> Indices:
    """Triangles (2 n, 3) of a disc seen from below; ``rim`` (n,) anticlockwise seen from above, ``disc`` (n/2 + 1,) centre last."""
    n, half, centre = len(rim), len(rim) // 2, disc[-1]
    faces = []
    for i in range(half):
        a, b, c = rim[2 * i], rim[2 * i + 1], rim[(2 * i + 2) % n]
        p, q = disc[i], disc[(i + 1) % half]
        faces += [(a, p, b), (b, p, q), (b, q, c), (p, centre, q)]
    return np.array(faces, dtype=np.int64)
