"""The distance between two straight pieces, for links that may be in each other's way."""

from __future__ import annotations

import numpy as np

from bunraku.arrays import Array


def segment_distance(a: Array, b: Array, c: Array, d: Array) -> float:
    """The least distance [m] between the segments a-b and c-d (3,) each.

    With u = b - a, v = d - c, w = a - c: |w + s u - t v|² is least inside where its derivatives in s and t vanish; else on the
    border, where one of the four ends is nearest to the other segment.
    """
    found = [_to_segment(a, c, d), _to_segment(b, c, d), _to_segment(c, a, b), _to_segment(d, a, b)]
    u, v, w = b - a, d - c, a - c
    uu, uv, vv = float(u @ u), float(u @ v), float(v @ v)
    determinant = uu * vv - uv * uv
    if determinant > 1e-12 * max(uu * vv, 1e-30):
        s = (uv * (v @ w) - vv * (u @ w)) / determinant
        t = (uu * (v @ w) - uv * (u @ w)) / determinant
        if 0.0 <= s <= 1.0 and 0.0 <= t <= 1.0:
            found.append(float(np.linalg.norm(w + s * u - t * v)))
    return min(found)


def _to_segment(point: Array, start: Array, end: Array) -> float:
    along = end - start
    square = float(along @ along)
    share = 0.0 if square == 0.0 else float(np.clip((point - start) @ along / square, 0.0, 1.0))
    return float(np.linalg.norm(start + share * along - point))
