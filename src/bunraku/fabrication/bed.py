"""How a part lies on the printer's bed: on the side that touches it most, where it fits that way."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bunraku.arrays import Array
from bunraku.fabrication.kit import rotations
from bunraku.fabrication.mesh import TriangleMesh


@dataclass(frozen=True)
class Lying:
    """The pose of a part on the bed: its drawing turned by ``turn`` R (3, 3), then moved by ``shift`` p (3,) [mm], x → R x + p.

    ``contact`` [mm²] is the area that touches the bed.
    """

    turn: Array
    shift: Array
    contact: float

    def put(self, mesh: TriangleMesh) -> TriangleMesh:
        """A drawn mesh on the bed."""
        return TriangleMesh(mesh.corners @ self.turn.T + self.shift)

    def take(self, mesh: TriangleMesh) -> TriangleMesh:
        """A mesh on the bed back in the frame it was drawn in."""
        return TriangleMesh((mesh.corners - self.shift) @ self.turn)


def lie_down(mesh: TriangleMesh, printer: tuple[float, float, float]) -> Lying:
    """Of the 24 ways to lay a part along the axes, that which fits, then touches the bed most, then is lowest.

    The corner of its box is at the origin.
    """
    corners = mesh.corners
    areas = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]) / 2.0
    flat = corners.reshape(-1, 3)
    best: tuple[tuple[bool, float, float], Lying] | None = None
    for R in rotations():
        turned = flat @ R.T
        low, high = turned.min(axis=0), turned.max(axis=0)
        fits = bool((high - low <= np.array(printer) + 1e-6).all())
        facing = areas @ R[2]
        on_bed = (turned[:, 2].reshape(-1, 3) < low[2] + 0.01).all(axis=1) & (facing < 0.0)
        contact = float(-facing[on_bed].sum())
        score = (fits, round(contact, 3), -round(float(high[2] - low[2]), 3))
        if best is None or score > best[0]:
            best = (score, Lying(R, -low, contact))
    if best is None:
        raise ValueError("a mesh without triangles")
    return best[1]
