"""Meshes of tubes along z: a profile (radius over height) swept round the axis, a wall of given thickness about it.

The middle of the wall is a polygon of points (r, z). Each is moved half the wall outwards and inwards: along the mitre of the
polygon's corners, so that every straight piece has its nominal thickness. The two polygons and the layers between them are swept
round the axis in ``around`` steps, and the bricks so made are cut into six tetrahedra each, along the same diagonal everywhere.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bunraku.arrays import Array, Indices
from bunraku.errors import BadInput
from bunraku.geometry.tet_mesh import TetMesh, quadratic

_CUTS = ((0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0))
"""The six ways from one corner of a brick to the opposite one along its edges: six tetrahedra that share the diagonal."""


@dataclass(frozen=True, kw_only=True)
class Tube:
    """A tube round a joint at half its height: outer ``radius`` (of the crests), ``wall`` and ``length`` [m].

    ``folds`` teeth of ``depth`` [m] (crest to valley, cut inwards; flank, valley, flank, crest of equal heights) fill the length
    between smooth ends of ``end`` [m]. ``around`` and ``rows`` count bricks: rows of the whole length of a smooth tube, of one fold
    of a folded one (whose ends have two rows each).
    """

    radius: float = 0.038
    wall: float = 0.004
    length: float = 0.08
    folds: int = 0
    depth: float = 0.008
    end: float = 0.01
    around: int = 24
    rows: int = 8

    def __post_init__(self) -> None:
        sizes = (self.radius, self.wall, self.length)
        if not (np.isfinite(sizes).all() and min(sizes) > 0.0) or self.wall >= self.radius:
            raise BadInput(f"a tube has radius, wall, length {sizes} m; positive numbers with a wall below the radius are needed")
        if self.around < 3 or self.rows < 1 or self.folds < 0:
            raise BadInput("a tube needs at least 3 bricks around and one row")
        if self.folds and not (0.0 < 2.0 * self.end < self.length and self.depth > 0.0):
            raise BadInput(f"folds of {self.depth:g} m need ends of more than 0 and less than half the length, not {self.end:g} m")
        if self.folds and self.rows % 4:
            raise BadInput(f"teeth have four pieces a fold; {self.rows} rows a fold are no multiple of 4")


def tube_mesh(tube: Tube) -> TetMesh:
    """The quadratic mesh of a tube, straight-sided, with the patches ``bottom`` and ``top``; z from 0 to the length."""
    middle = tube_profile(tube)
    return quadratic(swept_wall(middle, tube.wall * mitres(middle), tube.around))


def tube_profile(tube: Tube) -> Array:
    """The middle of the wall, points (k, 2) of radius and height [m], upwards."""
    middle = tube.radius - 0.5 * tube.wall
    if not tube.folds:
        z = np.linspace(0.0, tube.length, tube.rows + 1)
        return np.column_stack([np.full(len(z), middle), z])
    knots = np.arange(4 * tube.folds)
    fine = np.arange((len(knots) - 1) * (tube.rows // 4) + 1) / (tube.rows // 4)
    t = np.interp(fine, knots, knots / knots[-1])
    inwards = np.interp(fine, knots, np.tile([0.0, 1.0, 1.0, 0.0], tube.folds))
    teeth = tube.end + (tube.length - 2.0 * tube.end) * t
    z = np.concatenate([[0.0, 0.5 * tube.end], teeth, tube.length - np.array([0.5 * tube.end, 0.0])])
    return np.column_stack([middle - tube.depth * np.concatenate([[0.0, 0.0], inwards, [0.0, 0.0]]), z])


def swept_wall(profile: Array, wall: Array, around: int, *, layers: int = 1) -> TetMesh:
    """The wall about a ``profile`` (k, 2) of radius and height, swept round the z axis; linear, patches ``bottom`` and ``top``.

    ``wall`` (k, 2) goes from the inner to the outer surface at each point of the profile.
    """
    share = np.linspace(-0.5, 0.5, layers + 1)
    rz = profile[:, None, :] + share[None, :, None] * wall[:, None, :]  # (k, layers + 1, 2)
    if (np.diff(rz, axis=0) * np.diff(profile, axis=0)[:, None, :]).sum(axis=2).min() <= 0.0 or rz[:, :, 0].min() <= 0.0:
        raise BadInput("the wall folds over itself: its folds are too deep, too narrow or too thick; make one of these smaller")
    angle = 2.0 * np.pi * np.arange(around) / around
    turn = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    nodes = np.empty((around, len(profile), layers + 1, 3))
    nodes[..., :2] = turn[:, None, None, :] * rz[None, :, :, :1]
    nodes[..., 2] = rz[None, :, :, 1]
    cells = bricks(around, len(profile) - 1, layers)
    row = (cells % (len(profile) * (layers + 1))) // (layers + 1)
    patches = {}
    for name, end in (("bottom", row == 0), ("top", row == len(profile) - 1)):
        three = end.sum(axis=1) == 3
        patches[name] = cells[three][end[three]].reshape(-1, 3)
    return TetMesh(nodes.reshape(-1, 3), cells, patches)


def mitres(profile: Array) -> Array:
    """Directions (k, 2) along which a unit of wall is laid at the corners, outwards: n / cos of half the bend."""
    along = np.diff(profile, axis=0)
    length = np.linalg.norm(along, axis=1)
    if (length <= 0.0).any():
        raise BadInput("a profile names the same point twice")
    n = np.column_stack([along[:, 1], -along[:, 0]]) / length[:, None]
    total = np.vstack([n[:1], n]) + np.vstack([n, n[-1:]])
    mitre: Array = 2.0 * total / (total**2).sum(axis=1)[:, None]
    return mitre


def bricks(around: int, rows: int, layers: int) -> Indices:
    """Cells (6 around rows layers, 4) over nodes numbered (around, row, layer)."""
    i, j, k = (a.ravel() for a in np.meshgrid(np.arange(around), np.arange(rows), np.arange(layers), indexing="ij"))
    cells = []
    for cut in _CUTS:
        at, corners = [0, 0, 0], []
        for axis in (None, *cut):
            if axis is not None:
                at[axis] = 1
            corners.append((((i + at[0]) % around) * (rows + 1) + j + at[1]) * (layers + 1) + k + at[2])
        if cut not in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
            corners[1], corners[2] = corners[2], corners[1]
        # tangent, z, radius are right-handed in this order: even ways round have positive volume
        cells.append(np.column_stack(corners))
    return np.concatenate(cells)
