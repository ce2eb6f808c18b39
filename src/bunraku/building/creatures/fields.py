"""Signed distances of simple solids, negative inside, and how they melt into one body. Points (n, 3) in, distances (n,) out [m]."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from bunraku.arrays import Array

Field = Callable[[Array], Array]


def round_cone(start: ArrayLike, end: ArrayLike, r1: float, r2: float) -> Field:
    """The hull of a ball of radius r1 at ``start`` and one of radius r2 at ``end``; a capsule where r1 = r2.

    With l the distance of the centres, sin β = (r1 - r2) / l, s the place of a point along the line, h its distance from it: the
    foot of the slanted side is at t = (s - h tan β) / l, cut to [0, 1], the distance √((s - t l)² + h²) - r1 - t (r2 - r1).
    """
    a, b = np.asarray(start, dtype=float), np.asarray(end, dtype=float)
    length = max(float(np.linalg.norm(b - a)), 1e-12)
    axis = (b - a) / length
    slope = np.clip((r1 - r2) / length, -0.999, 0.999)
    lean = slope / np.sqrt(1.0 - slope**2)

    def distance(points: Array) -> Array:
        offset = points - a
        s = offset @ axis
        h = np.sqrt(np.maximum((offset * offset).sum(axis=1) - s * s, 0.0))
        t = np.clip((s - h * lean) / length, 0.0, 1.0)
        return np.hypot(s - t * length, h) - (r1 + t * (r2 - r1))

    return distance


def chain(points: ArrayLike, radii: Sequence[float]) -> Field:
    """Round cones from point to point (n, 3), their union."""
    p = np.asarray(points, dtype=float)
    parts = [round_cone(p[k], p[k + 1], radii[k], radii[k + 1]) for k in range(len(p) - 1)]
    return lambda x: np.minimum.reduce([part(x) for part in parts])


def ellipsoid(center: ArrayLike, half: ArrayLike) -> Field:
    """An ellipsoid of half axes a: |q| (|q| - 1) / |q / a|, with q = (x - c) / a; exact on the surface, near it to first order."""
    c, a = np.asarray(center, dtype=float), np.asarray(half, dtype=float)

    def distance(points: Array) -> Array:
        q = (points - c) / a
        k0 = np.linalg.norm(q, axis=1)
        k1 = np.maximum(np.linalg.norm(q / a, axis=1), 1e-9)
        return np.where(k0 > 1e-6, k0 * (k0 - 1.0) / k1, -float(a.min()))

    return distance


def smooth_union(parts: Sequence[Field], blend: float) -> Field:
    """The union with fillets: pairwise min(a, b) - max(k - |a - b|, 0)² / (4 k), less than min where |a - b| < k."""

    def distance(points: Array) -> Array:
        found = parts[0](points)
        for part in parts[1:]:
            other = part(points)
            close = np.maximum(blend - np.abs(found - other), 0.0)
            found = np.minimum(found, other) - close * close / (4.0 * blend)
        return found

    return distance


def above(body: Field, height: float = 0.0) -> Field:
    """What of a body is above z = ``height``: its underside becomes flat."""
    return lambda x: np.maximum(body(x), height - x[:, 2])
