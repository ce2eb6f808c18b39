"""Polygons of files as triangles."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bunraku.arrays import Array, Indices


def triangulated(vertices: Array, polygons: Sequence[Sequence[int]]) -> Indices:
    """Triangles (m, 3) that fill ``polygons`` of numbers of ``vertices`` (n, 3), in their order.

    Corners are cut off one after the other (ears): each time the one with the largest smallest angle among those that bulge
    outwards and hold no other corner, seen along the polygon's mean normal.
    """
    triangles: list[Sequence[int]] = []
    for polygon in polygons:
        if len(polygon) == 3:
            triangles.append(polygon)
        else:
            triangles += _ears(vertices, list(polygon))
    return np.array(triangles, dtype=np.int64).reshape(-1, 3)


def _ears(vertices: Array, polygon: list[int]) -> list[list[int]]:
    points = vertices[polygon]
    normal = np.cross(points, np.roll(points, -1, axis=0)).sum(axis=0)
    length = float(np.linalg.norm(normal))
    if length == 0.0:
        return [[polygon[0], polygon[i], polygon[i + 1]] for i in range(1, len(polygon) - 1)]
    axis = np.eye(3)[int(np.argmin(np.abs(normal)))]
    u = np.cross(axis, normal / length)
    flat = np.stack([points @ u, points @ np.cross(normal / length, u)], axis=1)
    left = list(range(len(polygon)))
    found = []
    while len(left) > 3:
        scores = [_ear_score(flat, left, i) for i in range(len(left))]
        best = int(np.argmax(scores))
        before, here, after = left[best - 1], left[best], left[(best + 1) % len(left)]
        found.append([polygon[before], polygon[here], polygon[after]])
        left.pop(best)
    return [*found, [polygon[i] for i in left]]


def _ear_score(flat: Array, left: list[int], i: int) -> float:
    """The sine of the smallest angle of the corner i, less 2 when it bulges inwards or holds another corner."""
    names = [left[i - 1], left[i], left[(i + 1) % len(left)]]
    a, b, c = flat[names]
    sides = np.array([b - a, c - b, a - c])
    lengths = np.maximum(np.hypot(sides[:, 0], sides[:, 1]), 1e-300)
    area = sides[0, 0] * sides[1, 1] - sides[0, 1] * sides[1, 0]
    sine = float(area * lengths.min() / np.prod(lengths))
    others = flat[[k for k in left if k not in names]]
    held = np.ones(len(others), dtype=bool)
    for corner, side in zip((a, b, c), sides, strict=True):
        held &= side[0] * (others[:, 1] - corner[1]) - side[1] * (others[:, 0] - corner[0]) > 0.0
    return sine - 2.0 if area <= 0.0 or held.any() else sine
