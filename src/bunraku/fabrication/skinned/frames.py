"""Sections of solids across any direction: turned so that the direction is z, cut flat, and measured."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bunraku.arrays import Array
from bunraku.fabrication.shaping import Solid, moved, rod_frame

Section = Any
"""A manifold3d.CrossSection."""


def lying(solid: Solid, direction: ArrayLike) -> Solid:
    """A solid turned so that ``direction`` is z: x → Fᵀ x with F = rod_frame(direction)."""
    return moved(solid, rod_frame(direction).T, np.zeros(3))


def standing(solid: Solid, direction: ArrayLike) -> Solid:
    """What was turned by :func:`lying`, turned back."""
    return moved(solid, rod_frame(direction), np.zeros(3))


def section(solid: Solid, normal: ArrayLike, offset: float) -> Section:
    """The flat section of a solid with the plane ``normal`` · x = ``offset``, in the first two axes of rod_frame(normal)."""
    return lying(solid, normal).slice(offset)


def prism(flat: Section, normal: ArrayLike, start: float, end: float) -> Solid:
    """A section of that frame extruded from ``start`` to ``end`` along ``normal``."""
    import manifold3d

    low = manifold3d.Manifold.extrude(flat, end - start).translate([0.0, 0.0, start])
    return standing(low, normal)


def outlines(flat: Section) -> list[Array]:
    """The closed lines (k, 2) [mm] that bound a section."""
    return [np.asarray(line, dtype=float) for line in flat.to_polygons() if len(line) >= 3]


def girth(flat: Section) -> float:
    """The length [mm] of a rubber band around a section: the perimeter of its convex hull."""
    lines = outlines(flat.hull()) if not flat.is_empty() else []
    return sum(float(np.linalg.norm(line - np.roll(line, 1, axis=0), axis=1).sum()) for line in lines)


def distance_to_outline(points: Array, flat: Section) -> Array:
    """How far (n,) [mm] points (n, 2) are from the nearest outline of a section; inf when it has none."""
    found = np.full(len(points), np.inf)
    for line in outlines(flat):
        a, b = line, np.roll(line, -1, axis=0)
        way = b - a
        square = np.maximum((way * way).sum(axis=1), 1e-18)
        share = np.clip(((points[:, None] - a) * way).sum(axis=2) / square, 0.0, 1.0)
        apart = np.linalg.norm(points[:, None] - a - share[:, :, None] * way, axis=2).min(axis=1)
        found = np.minimum(found, apart)
    return found


def half_width(flat: Section) -> float:
    """The largest r [mm] by which a section can be made smaller all round before nothing is left of it."""
    import manifold3d

    low, high = 0.0, float(np.sqrt(max(flat.area(), 0.0) / np.pi)) + 1e-9
    for _ in range(12):
        middle = 0.5 * (low + high)
        if flat.offset(-middle, manifold3d.JoinType.Miter).area() > 1e-6:
            low = middle
        else:
            high = middle
    return low


def within(points: Array, flat: Section) -> NDArray[np.bool_]:
    """Which points (n, 2) are in a section: an odd number of outlines' edges to their right."""
    inside = np.zeros(len(points), dtype=bool)
    for line in outlines(flat):
        a, b = line, np.roll(line, -1, axis=0)
        y = points[:, 1:2]
        spans = (a[:, 1] > y) != (b[:, 1] > y)
        rise = np.where(np.abs(b[:, 1] - a[:, 1]) > 1e-12, b[:, 1] - a[:, 1], 1.0)
        right = points[:, :1] < a[:, 0] + (y - a[:, 1]) / rise * (b[:, 0] - a[:, 0])
        inside ^= (spans & right).sum(axis=1) % 2 == 1
    return inside
