"""Which nodes of a skin are glued to the bodies: spread evenly over the bracing zones, farthest point first."""

from __future__ import annotations

import numpy as np

from bunraku.arrays import Array, Indices


def spread_points(points: Array, count: int, weight: Array | None = None) -> Indices:
    """``count`` of the points (n, 3), spread by farthest point sampling: each new one is the farthest from those chosen.

    The first is the point farthest from the centre of all. Distances to a point of ``weight`` w (n,) count w times, so that points
    of greater weight are preferred. Ties go to the lower number, so the choice depends on the points alone.
    """
    n = len(points)
    w = np.ones(n) if weight is None else weight
    count = min(count, n)
    if count == 0:
        return np.zeros(0, dtype=np.int64)
    chosen = [int(np.argmax(w * np.linalg.norm(points - points.mean(axis=0), axis=1)))]
    gap = np.linalg.norm(points - points[chosen[0]], axis=1)
    for _ in range(count - 1):
        chosen.append(int(np.argmax(w * gap)))
        gap = np.minimum(gap, np.linalg.norm(points - points[chosen[-1]], axis=1))
    return np.array(sorted(chosen), dtype=np.int64)


def shares(areas: Array, total: int, least: int) -> Indices:
    """``total`` things shared out (k,) in proportion to ``areas`` (k,), each zone at least ``least``, by largest remainders."""
    exact = least + (total - least * len(areas)) * areas / areas.sum()
    found = np.floor(exact).astype(np.int64)
    rest = total - int(found.sum())
    found[np.argsort(found - exact, kind="stable")[:rest]] += 1
    return found
