"""Where a mould parts: of many planes the one behind which the least of the casting hooks."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bunraku.arrays import Array
from bunraku.fabrication.shaping import Solid, triangles
from bunraku.fabrication.skinned.pieces import Plane

_SHARES = np.linspace(0.3, 0.7, 17)


def pull_directions(points: Array, opening: Array, axes: Sequence[Array]) -> list[Array]:
    """Directions to try: across the ``opening``'s normal, every 15 degrees about it, then the ``axes`` and the casting's own.

    A limb lies along a plane: the direction in which its ``points`` (n, 3) extend least is a good one.
    """
    n = opening / np.linalg.norm(opening)
    _, vectors = np.linalg.eigh(np.cov((points - points.mean(axis=0)).T))
    wanted = [*axes, *vectors.T, *np.eye(3)]
    u = np.eye(3)[int(np.argmin(np.abs(n)))]
    u = u - n * (n @ u)
    u /= np.linalg.norm(u)
    v = np.cross(n, u)
    wanted += [np.cos(a) * u + np.sin(a) * v for a in np.radians(np.arange(0.0, 180.0, 15.0))]
    found: list[Array] = []
    for d in wanted:
        d = np.asarray(d, dtype=float) / np.linalg.norm(d)
        if abs(d @ n) < 0.75 and all(abs(d @ other) < 0.9999 for other in found):
            found.append(d)
    return found


def parting_plane(solid: Solid, directions: Sequence[Array], leave_out: Sequence[Plane] = ()) -> Plane:
    """Of planes across the ``directions``, at several heights, that with the least hooked area; of equals the first."""
    middle, vector = _faces(solid, leave_out)
    corners = triangles(solid)[0]
    best, least = None, np.inf
    for d in directions:
        along = corners @ d
        low, high = float(along.min()), float(along.max())
        for share in sorted(_SHARES, key=lambda s: abs(s - 0.5)):
            plane = Plane(d, low + float(share) * (high - low))
            hooked = _hooked(middle, vector, plane)
            if hooked < least - 1.0:
                best, least = plane, hooked
    if best is None:
        raise ValueError("no directions to pull a mould in")
    return best


def _faces(solid: Solid, leave_out: Sequence[Plane]) -> tuple[Array, Array]:
    x, t = triangles(solid)
    a, b, c = (x[t[:, i]] for i in range(3))
    counts = np.ones(len(t), dtype=bool)
    for plane in leave_out:
        counts &= ~np.stack([np.abs(plane.height(p)) < 1e-3 for p in (a, b, c)]).all(axis=0)
    return ((a + b + c) / 3.0)[counts], (np.cross(b - a, c - a) / 2.0)[counts]


def _hooked(middle: Array, vector: Array, plane: Plane) -> float:
    side = np.where(plane.height(middle) > 0.0, 1.0, -1.0)
    return float(np.maximum(0.0, -side * (vector @ plane.normal)).sum())
