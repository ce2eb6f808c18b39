"""The solid angle under which triangles are seen, and with it exactly how often a surface goes around a point."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from bunraku.arrays import Array


def exact_winding_number(corners: ArrayLike, points: ArrayLike) -> Array:
    """How often (k,) triangles with ``corners`` (f, 3, 3) go around ``points`` (k, 3): 1 inside a closed surface, 0 outside.

    The sum of the solid angles over 4 π; that of a triangle a, b, c seen from the origin is 2 atan2(a · (b x c),
    |a||b||c| + (a · b)|c| + (b · c)|a| + (c · a)|b|) (Van Oosterom and Strackee 1983). Time grows as f k: for few points, where
    `distance.winding_number` and what it needs would be too much.
    """
    triangles = np.asarray(corners, dtype=np.float64)
    turns = np.empty(len(np.asarray(points)))
    for k, point in enumerate(np.asarray(points, dtype=np.float64)):
        a, b, c = np.moveaxis(triangles - point, 1, 0)
        la, lb, lc = (np.linalg.norm(side, axis=1) for side in (a, b, c))
        dots = (np.einsum("fi,fi->f", one, two) for one, two in ((a, b), (b, c), (c, a)))
        below = la * lb * lc + sum(dot * length for dot, length in zip(dots, (lc, la, lb), strict=True))
        turns[k] = np.arctan2(np.einsum("fi,fi->f", a, np.cross(b, c)), below).sum() / (2.0 * np.pi)
    return turns
