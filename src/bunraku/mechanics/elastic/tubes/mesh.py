"""Meshes of tubes along z: a profile (radius over height) swept round the axis, a wall of given thickness about it.

The middle of the wall is a polygon of points (r, z). Each is moved half the wall outwards and inwards: along the normal of the
curve it stands for, or along the mitre of the polygon's own corners (then every straight piece has its nominal thickness). The two
polygons and the layers between them are swept round the axis in ``around`` steps, and the bricks so made are cut into six
tetrahedra each, along the same diagonal everywhere.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from bunraku.arrays import Array
from bunraku.errors import BadInput
from bunraku.geometry.tet_mesh import TetMesh, quadratic

Indices = NDArray[np.int64]

_CUTS = ((0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0))
"""The six ways from one corner of a brick to the opposite one along its edges: six tetrahedra that share the diagonal."""


@dataclass(frozen=True, kw_only=True)
class Tube:
    """A tube round a joint at half its height: outer ``radius`` (of the crests), ``wall`` and ``length`` [m].

    ``folds`` waves of ``depth`` [m] (crest to valley, cut inwards) fill the length between smooth ends of ``end`` [m]. Their
    ``shape`` is a cosine, or teeth as of a gear (flank, valley, flank, crest, of heights in the ratio of ``tooth``). ``around`` and
    ``rows`` count bricks: rows of the whole length of a smooth tube, of one fold of a folded one (whose ends have two rows each).
    ``layers`` through the wall, ``order`` of the tetrahedra.
    """

    radius: float = 0.038
    wall: float = 0.004
    length: float = 0.08
    folds: int = 0
    depth: float = 0.008
    end: float = 0.01
    shape: Literal["cosine", "teeth"] = "cosine"
    tooth: tuple[float, float, float, float] = (1.0, 1.0, 1.0, 1.0)
    around: int = 24
    rows: int = 8
    layers: int = 1
    order: int = 2

    def __post_init__(self) -> None:
        sizes = (self.radius, self.wall, self.length)
        if not (np.isfinite(sizes).all() and min(sizes) > 0.0) or self.wall >= self.radius:
            raise BadInput(f"a tube has radius, wall, length {sizes} m; positive numbers with a wall below the radius are needed")
        if self.around < 3 or self.rows < 1 or self.layers < 1 or self.folds < 0 or self.order not in (1, 2):
            raise BadInput("a tube needs at least 3 bricks around, one row, one layer, and cells of order 1 or 2")
        if self.folds and not (0.0 < 2.0 * self.end < self.length and self.depth > 0.0):
            raise BadInput(f"folds of {self.depth:g} m need ends of more than 0 and less than half the length, not {self.end:g} m")
        if self.folds and self.shape == "teeth" and self.rows % 4:
            raise BadInput(f"teeth have four pieces a fold; {self.rows} rows a fold are no multiple of 4")


def tube_mesh(tube: Tube) -> TetMesh:
    """The mesh of a tube, straight-sided, with the patches ``bottom`` and ``top``; z from 0 to the length."""
    middle, outwards = tube_profile(tube)
    return swept_wall(middle, tube.wall * outwards, tube.around, layers=tube.layers, order=tube.order)


def tube_profile(tube: Tube) -> tuple[Array, Array]:
    """The middle of the wall, points (k, 2) of radius and height [m], upwards; and the directions (k, 2) of a unit of wall."""
    middle = tube.radius - 0.5 * tube.wall
    if not tube.folds:
        z = np.linspace(0.0, tube.length, tube.rows + 1)
        return np.column_stack([np.full(len(z), middle), z]), np.tile([1.0, 0.0], (len(z), 1))
    if tube.shape == "teeth":
        t, inwards = _teeth(tube)
    else:
        t = np.arange(tube.rows * tube.folds + 1) / (tube.rows * tube.folds)
        inwards = 0.5 * (1.0 - np.cos(2.0 * np.pi * tube.folds * t))
    height = tube.length - 2.0 * tube.end
    z = np.concatenate([[0.0, 0.5 * tube.end], tube.end + height * t, tube.length - np.array([0.5 * tube.end, 0.0])])
    r = middle - tube.depth * np.concatenate([[0.0, 0.0], inwards, [0.0, 0.0]])
    profile = np.column_stack([r, z])
    if tube.shape == "teeth":
        return profile, mitres(profile)
    slope = np.zeros(len(z))  # dr/dz of the cosine itself, not of the polygon: its wall has the nominal thickness at all rows
    slope[2:-2] = -np.pi * tube.folds * tube.depth / height * np.sin(2.0 * np.pi * tube.folds * t)
    normal = np.column_stack([np.ones(len(z)), -slope])
    return profile, normal / np.linalg.norm(normal, axis=1)[:, None]


def _teeth(tube: Tube) -> tuple[Array, Array]:
    """Heights (as shares of the folded part) and depths (as shares of the depth) of trapezoid teeth cut inwards.

    A fold goes flank, valley, flank; crests stand between folds.
    """
    flank, valley, other, crest = tube.tooth
    heights = np.cumsum(([flank, valley, other, crest] * tube.folds)[:-1])
    depths = np.array([0.0, *([1.0, 1.0, 0.0, 0.0] * tube.folds)[:-1]])
    knots = np.concatenate([[0.0], heights / heights[-1]])
    fine = np.arange((len(knots) - 1) * (tube.rows // 4) + 1) / (tube.rows // 4)
    return np.interp(fine, np.arange(len(knots)), knots), np.interp(fine, np.arange(len(knots)), depths)


def swept_wall(profile: Array, wall: Array, around: int, *, layers: int = 1, order: int = 2) -> TetMesh:
    """The wall about a ``profile`` (k, 2) of radius and height, swept round the z axis; patches ``bottom`` and ``top``.

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
    cells = _bricks(around, len(profile) - 1, layers)
    count = len(profile) * (layers + 1)
    ends = {"bottom": 0, "top": len(profile) - 1}
    row = (cells % count) // (layers + 1)
    patches = {}
    for name, at in ends.items():
        three = (row == at).sum(axis=1) == 3
        own = cells[three]
        patches[name] = np.array([c[r == at] for c, r in zip(own, row[three], strict=True)]).reshape(-1, 3)
    mesh = TetMesh(nodes.reshape(-1, 3), cells, patches)
    return quadratic(mesh) if order == 2 else mesh


def mitres(profile: Array) -> Array:
    """Directions (k, 2) along which a unit of wall is laid at the corners, outwards: n / cos of half the bend."""
    along = np.diff(profile, axis=0)
    length = np.linalg.norm(along, axis=1)
    if (length <= 0.0).any():
        raise BadInput("a profile names the same point twice")
    n = np.column_stack([along[:, 1], -along[:, 0]]) / length[:, None]
    before, after = np.vstack([n[:1], n]), np.vstack([n, n[-1:]])
    total = before + after
    mitre: Array = 2.0 * total / (total**2).sum(axis=1)[:, None]
    return mitre


def _bricks(around: int, rows: int, layers: int) -> Indices:
    """Cells (6 around rows layers, 4) over nodes numbered (around, row, layer)."""
    i, j, k = (a.ravel() for a in np.meshgrid(np.arange(around), np.arange(rows), np.arange(layers), indexing="ij"))

    def number(di: int, dj: int, dk: int) -> Indices:
        found: Indices = (((i + di) % around) * (rows + 1) + j + dj) * (layers + 1) + k + dk
        return found

    cells = []
    for cut in _CUTS:
        at, corners = [0, 0, 0], [number(0, 0, 0)]
        for axis in cut:
            at[axis] = 1
            corners.append(number(*at))
        even = cut in ((0, 1, 2), (1, 2, 0), (2, 0, 1))
        # tangent, z, radius are right-handed in this order: even ways round have positive volume
        cells.append(np.column_stack(corners if even else [corners[0], corners[2], corners[1], corners[3]]))
    return np.concatenate(cells)
