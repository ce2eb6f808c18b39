"""Closest points on a triangle surface, exactly: trees of face centres by size class narrow the faces, the rest is tried."""

from __future__ import annotations

import numpy as np
from scipy.spatial import cKDTree

from bunraku.arrays import Array, Indices


class ClosestPoints:
    """Answers closest-point queries on the surface of ``vertices`` (n, 3) [m] and ``faces`` (m, 3)."""

    def __init__(self, vertices: Array, faces: Indices) -> None:
        self.corners = vertices[faces]
        centres = self.corners.mean(axis=1)
        radius = np.linalg.norm(self.corners - centres[:, None], axis=2).max(axis=1)
        kind = np.floor(np.log2(np.maximum(radius, 1e-12))).astype(np.int64)
        self.classes = []
        for k in np.unique(kind).tolist():
            members = np.flatnonzero(kind == k)
            self.classes.append((members, cKDTree(centres[members]), float(radius[members].max())))

    def query(self, points: Array) -> tuple[Array, Indices, Array]:
        """Distances (k,) [m], faces (k,) and closest points (k, 3) of points (k, 3)."""
        best = np.full(len(points), np.inf)
        face = np.zeros(len(points), dtype=np.int64)
        closest = np.array(points, dtype=np.float64)
        for members, tree, _ in self.classes:
            self._try(points, np.arange(len(points)), members[tree.query(points)[1]], best, face, closest)
        for members, tree, radius in self.classes:
            lists = tree.query_ball_point(points, best + radius)
            count = np.fromiter((len(near) for near in lists), dtype=np.int64, count=len(points))
            if not count.sum():
                continue
            which = np.repeat(np.arange(len(points)), count)
            tried = members[np.concatenate([np.asarray(near, dtype=np.int64) for near in lists])]
            for start in range(0, len(which), 400_000):
                part = slice(start, start + 400_000)
                self._try(points, which[part], tried[part], best, face, closest)
        return best, face, closest

    def _try(self, points: Array, which: Indices, tried: Indices, best: Array, face: Indices, closest: Array) -> None:
        q = closest_on_triangles(points[which], self.corners[tried])
        d = np.linalg.norm(q - points[which], axis=1)
        order = np.lexsort((d, which))
        first = order[np.concatenate([[True], np.diff(which[order]) > 0])]
        better = first[d[first] < best[which[first]]]
        best[which[better]] = d[better]
        face[which[better]] = tried[better]
        closest[which[better]] = q[better]


def closest_on_triangles(points: Array, corners: Array) -> Array:
    """The point (k, 3) of triangle i, ``corners`` (k, 3, 3), closest to point i of ``points`` (k, 3)."""
    A, B, C = corners[:, 0], corners[:, 1], corners[:, 2]
    n = np.cross(B - A, C - A)
    nn = (n * n).sum(axis=1)
    flat = nn <= 1e-32
    safe = np.where(flat, 1.0, nn)
    w = points - A
    gamma = (np.cross(B - A, w) * n).sum(axis=1) / safe
    beta = (np.cross(w, C - A) * n).sum(axis=1) / safe
    inner = (gamma >= 0.0) & (beta >= 0.0) & (gamma + beta <= 1.0) & ~flat
    best = A + beta[:, None] * (B - A) + gamma[:, None] * (C - A)
    least = np.where(inner, -1.0, np.inf)
    for P, Q in ((A, B), (B, C), (C, A)):
        e = Q - P
        t = np.clip(((points - P) * e).sum(axis=1) / np.maximum((e * e).sum(axis=1), 1e-300), 0.0, 1.0)
        q = P + t[:, None] * e
        d = ((points - q) ** 2).sum(axis=1)
        take = d < least
        best[take], least = q[take], np.minimum(least, d)
    return np.asarray(best)
