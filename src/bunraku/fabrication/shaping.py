"""Solids for printing, in millimetres: boxes, cylinders, hulls and what Booleans make of them (manifold3d does the work).

Every solid is closed and oriented by construction; :mod:`bunraku.fabrication.mesh` checks that again on the triangles.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bunraku.arrays import Array
from bunraku.errors import MissingExtra

Solid = Any
"""A manifold3d.Manifold."""
MM = 1000.0
"""Millimetres in a metre: the building room counts in metres, printers in millimetres."""
SEGMENTS = 48
_SMALL = 3.5


def _kernel() -> Any:
    try:
        import manifold3d
    except ImportError as error:
        raise MissingExtra("manifold3d", "fabrication", "making printable parts") from error
    return manifold3d


def box(center: ArrayLike, size: ArrayLike, axes: ArrayLike | None = None) -> Solid:
    """A box of full lengths ``size`` (3,) along ``axes`` (columns of a rotation; None: x, y, z) about ``center`` (3,)."""
    solid = _kernel().Manifold.cube([float(part) for part in np.asarray(size)], True)
    return moved(solid, np.eye(3) if axes is None else np.asarray(axes, dtype=float), center)


def cylinder(start: ArrayLike, end: ArrayLike, radius: float, tip_radius: float | None = None) -> Solid:
    """A cylinder from ``start`` to ``end`` (3,); a cone where ``tip_radius``, that at the end, differs."""
    p, q = np.asarray(start, dtype=float), np.asarray(end, dtype=float)
    length = float(np.linalg.norm(q - p))
    sides = SEGMENTS if radius > _SMALL else SEGMENTS // 2
    solid = _kernel().Manifold.cylinder(length, radius, radius if tip_radius is None else tip_radius, sides)
    return moved(solid, rod_frame(q - p), p)


def bore(start: ArrayLike, end: ArrayLike, radius: float) -> Solid:
    """What a hole of ``radius`` takes away: a prism around the cylinder, so that a rod of that radius goes through."""
    sides = SEGMENTS if radius > _SMALL else SEGMENTS // 2
    return cylinder(start, end, radius / float(np.cos(np.pi / sides)))


def ball(center: ArrayLike, radius: float) -> Solid:
    """A ball."""
    return moved(_kernel().Manifold.sphere(radius, SEGMENTS), np.eye(3), center)


def across(direction: ArrayLike) -> Array:
    """A unit vector perpendicular to a direction: the coordinate axis farthest from it, made perpendicular."""
    d = np.asarray(direction, dtype=float) / np.linalg.norm(direction)
    e = np.eye(3)[int(np.argmin(np.abs(d) + 1e-9 * np.arange(3)))]
    u = e - d * (d @ e)
    return u / np.linalg.norm(u)


def rod_frame(direction: ArrayLike) -> Array:
    """A rotation (3, 3) whose third column points along ``direction``, and whose first along a coordinate axis where it can."""
    d = np.asarray(direction, dtype=float) / np.linalg.norm(direction)
    u = across(d)
    return np.stack([u, np.cross(d, u), d], axis=1)


def hull(solids: Iterable[Solid]) -> Solid:
    """The convex hull of several solids."""
    return _kernel().Manifold.batch_hull(list(solids))


def union(solids: Iterable[Solid]) -> Solid:
    """Several solids as one."""
    kernel = _kernel()
    return kernel.Manifold.batch_boolean(list(solids), kernel.OpType.Add)


def difference(solid: Solid, cuts: Sequence[Solid]) -> Solid:
    """A solid less others."""
    return solid - union(cuts) if cuts else solid


def overlap(one: Solid, other: Solid) -> float:
    """The volume [mm³] that two solids share."""
    a, b = one.bounding_box(), other.bounding_box()
    if any(a[i] > b[i + 3] or b[i] > a[i + 3] for i in range(3)):
        return 0.0
    return max(float((one ^ other).volume()), 0.0)


def bounds(solid: Solid) -> Array:
    """The lowest and the highest corner (2, 3) [mm] of the box about a solid."""
    return np.array(solid.bounding_box()).reshape(2, 3)


def middle_of(solid: Solid) -> Array:
    """The middle (3,) [mm] of the box about a solid."""
    return bounds(solid).mean(axis=0)


def moved(solid: Solid, R: ArrayLike, p: ArrayLike) -> Solid:
    """A solid turned (or mirrored) by R (3, 3), then moved by p (3,)."""
    return solid.transform(np.concatenate([np.asarray(R, dtype=float), np.asarray(p, dtype=float)[:, None]], axis=1))


def triangles(solid: Solid) -> tuple[Array, NDArray[np.int64]]:
    """Vertices (n, 3) [mm] and triangles (m, 3) of a solid, counter-clockwise seen from outside."""
    mesh = solid.to_mesh()
    return np.asarray(mesh.vert_properties[:, :3], dtype=float), np.asarray(mesh.tri_verts, dtype=np.int64)
