"""The outer surface of a skin: regions cut out, the rest remeshed, the rings of the regions welded in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.spatial import cKDTree

from bunraku.arrays import Array, Indices
from bunraku.geometry.shells.closest import ClosestPoints
from bunraku.geometry.shells.cutting import CutSurface, cut_region
from bunraku.geometry.shells.fold_region import FoldRegion
from bunraku.geometry.shells.quality import check_closed
from bunraku.geometry.shells.remeshing import Size, remesh
from bunraku.geometry.shells.rings import Rings, fold_rings, ring_faces
from bunraku.geometry.shells.sole import SoleShell, disc_faces, disc_points, sole_region, sole_rings

GRADE = 0.5
"""How fast edges may grow with the distance from a ring."""


@dataclass(frozen=True)
class OuterSurface:
    """``vertices`` (V, 3) [m], ``faces`` (F, 3); ``folds[r]`` (k, n) the vertices of a region's rings; those of each sole.

    ``soles[i]`` (m,) are the vertices of a flat underside: rim, ring, centre; ``sole_sides[i]`` (k, n) the rings of its side, the
    rim first. ``onto`` finds closest points of the original surface.
    """

    vertices: Array
    faces: Indices
    folds: tuple[Indices, ...]
    soles: tuple[Indices, ...]
    sole_sides: tuple[Indices, ...]
    onto: ClosestPoints


def folded_surface(
    vertices: Array, faces: Indices, folds: Sequence[FoldRegion], soles: Sequence[SoleShell], size: Size, limit: Size
) -> OuterSurface:
    """The outer surface with edges of length ``size``, at most ``limit``, both functions of points (k, 3) to lengths (k,) [m]."""
    names = [f"fold {i} at {_text(fold.middle)}" for i, fold in enumerate(folds)]
    feet = [f"sole {i} at {_text(np.asarray(sole.center))}" for i, sole in enumerate(soles)]
    rings = [fold_rings(vertices, faces, fold, name) for fold, name in zip(folds, names, strict=True)]
    ends = [sole_rings(vertices, faces, sole, name) for sole, name in zip(soles, feet, strict=True)]
    cut = CutSurface(vertices, faces)
    border = [cut_region(cut, fold, ring, name) for fold, ring, name in zip(folds, rings, names, strict=True)]
    border += [cut_region(cut, sole_region(s), ring, n, end=True) for s, ring, n in zip(soles, ends, feet, strict=True)]
    fixed = np.concatenate([np.empty(0, dtype=np.int64), *(ring for pair in border for ring in pair)])
    onto = ClosestPoints(vertices, faces)
    loops = [ring.points[i] for ring in rings for i in (0, -1)] + [ring.points[-1] for ring in ends]
    X, F, number = remesh(cut.vertices, cut.faces, fixed, _graded(size, limit, loops), onto)
    weld = _Weld(X, F, number)
    bands = [weld.band(ring, end=False) for ring in rings]
    sides = [weld.band(ring, end=True) for ring in ends]
    discs = [weld.disc(side[0], ring) for side, ring in zip(sides, ends, strict=True)]
    outer, tri = np.vstack(weld.points), np.concatenate(weld.faces)
    check_closed(tri, "the remeshed surface")
    return OuterSurface(outer, tri, tuple(bands), tuple(discs), tuple(sides), onto)


def blended_thickness(points: Array, thickness: Size, walls: list[tuple[Array, float]], blend: float) -> Array:
    """The thickness (k,) [m] at points (k, 3), going over to the wall of each (ring points (m, 3), wall) within ``blend`` [m]."""
    t = thickness(points)
    for ring, wall in walls:
        near = np.clip(cKDTree(ring).query(points)[0] / blend, 0.0, 1.0)
        t = np.where(near < 1.0, wall + (t - wall) * near, t)
    return t


class _Weld:
    """Points and faces that grow by bands and discs; ``number`` holds the vertices of the border rings in order."""

    def __init__(self, X: Array, F: Indices, number: Indices) -> None:
        self.points, self.faces, self.count = [X], [F], len(X)
        self.number, self.next = number, 0

    def band(self, rings: Rings, *, end: bool) -> Indices:
        k, n, _ = rings.points.shape
        numbers = np.empty((k, n), dtype=np.int64)
        fresh = rings.points[0 if end else 1 : -1]
        if not end:
            numbers[0] = self._taken(n)
        numbers[-1] = self._taken(n)
        numbers[0 if end else 1 : -1] = self._given(fresh.reshape(-1, 3)).reshape(-1, n)
        self.faces.append(ring_faces(numbers))
        return numbers

    def disc(self, rim: Indices, rings: Rings) -> Indices:
        inside = self._given(disc_points(rings))
        self.faces.append(disc_faces(rim, inside))
        return np.concatenate([rim, inside])

    def _taken(self, n: int) -> Indices:
        self.next += n
        return self.number[self.next - n : self.next]

    def _given(self, points: Array) -> Indices:
        self.points.append(points)
        self.count += len(points)
        return np.arange(self.count - len(points), self.count, dtype=np.int64)


def _graded(size: Size, limit: Size, loops: list[Array]) -> Size:
    """The size field below its limit, and growing from the edge length of each border ring."""
    ends = [(cKDTree(loop), float(np.linalg.norm(np.roll(loop, -1, axis=0) - loop, axis=1).mean())) for loop in loops]

    def field(points: Array) -> Array:
        h = np.minimum(size(points), limit(points))
        for tree, step in ends:
            h = np.minimum(h, step + GRADE * tree.query(points)[0])
        return h

    return field


def _text(point: Array) -> str:
    return f"({', '.join(f'{x:.3f}' for x in point)}) m"
