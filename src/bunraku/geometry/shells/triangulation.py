"""A triangulation that can change: split, collapse and flip edges, with the checks that keep it a surface."""

from __future__ import annotations

from math import atan2
from typing import cast

import numpy as np
from numpy.typing import NDArray

from bunraku.arrays import Array, Indices

Point = tuple[float, float, float]
BEND = 0.2
"""Least cosine between the normals of a face before and after a collapse or flip."""


class Triangulation:
    """Points, faces and the faces round every point; removed faces are None, removed points have no faces.

    ``fixed`` points are neither moved nor removed.
    """

    def __init__(self, vertices: Array, faces: Indices, fixed: Indices) -> None:
        self.points: list[Point] = [(x, y, z) for x, y, z in np.asarray(vertices, dtype=np.float64).tolist()]
        self.faces: list[tuple[int, int, int] | None] = [(a, b, c) for a, b, c in faces.tolist()]
        self.at: list[set[int]] = [set() for _ in self.points]
        for f, face in enumerate(faces.tolist()):
            for p in face:
                self.at[p].add(f)
        self.fixed = set(fixed.tolist())

    def arrays(self) -> tuple[Array, Indices]:
        """All points (n, 3), used or not, and the faces (m, 3)."""
        return np.array(self.points), np.array([face for face in self.faces if face is not None], dtype=np.int64)

    def edges(self) -> tuple[Indices, NDArray[np.bool_]]:
        """Every edge once (k, 2), and whether it is on a border (k,)."""
        F = np.array([face for face in self.faces if face is not None], dtype=np.int64)
        pairs = np.sort(F[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), axis=1)
        keys, count = np.unique(pairs[:, 0] * len(self.points) + pairs[:, 1], return_counts=True)
        return np.column_stack(np.divmod(keys, len(self.points))), np.asarray(count == 1)

    def packed(self) -> tuple[Triangulation, Indices]:
        """The same without removed points and faces, and the new number (n,) of every point, -1 for removed ones."""
        X, F = self.arrays()
        used, faces = np.unique(F, return_inverse=True)
        number = np.full(len(X), -1, dtype=np.int64)
        number[used] = np.arange(len(used))
        return Triangulation(X[used], np.asarray(faces, dtype=np.int64).reshape(-1, 3), number[sorted(self.fixed)]), number

    def neighbours(self, p: int) -> set[int]:
        """The points joined to p by an edge."""
        points: set[int] = set()
        for f in self.at[p]:
            points.update(self._face(f))
        points.discard(p)
        return points

    def on_border(self, p: int) -> bool:
        """Whether an edge at p belongs to one face only."""
        return len(self.neighbours(p)) != len(self.at[p])

    def normal(self, a: int, b: int, c: int) -> Point:
        """Twice the area of the triangle times its normal."""
        return _cross(self.points[a], self.points[b], self.points[c])

    def angle(self, c: int, a: int, b: int) -> float:
        """Angle [rad] at c of the triangle a, b, c."""
        z, p, q = self.points[c], self.points[a], self.points[b]
        u, w = (p[0] - z[0], p[1] - z[1], p[2] - z[2]), (q[0] - z[0], q[1] - z[1], q[2] - z[2])
        n = _cross(z, p, q)
        return atan2(_dot(n, n) ** 0.5, _dot(u, w))

    def length(self, a: int, b: int) -> float:
        """Distance [m] between two points."""
        return _square(self.points[a], self.points[b]) ** 0.5

    def split(self, a: int, b: int) -> int:
        """Put a point in the middle of an edge; its number."""
        (ax, ay, az), (bx, by, bz) = self.points[a], self.points[b]
        m = len(self.points)
        self.points.append((0.5 * (ax + bx), 0.5 * (ay + by), 0.5 * (az + bz)))
        self.at.append(set())
        for f in list(self.at[a] & self.at[b]):
            face = self._face(f)
            self._replace(f, tuple(m if p == b else p for p in face))
            self._add(tuple(m if p == a else p for p in face))
        return m

    def collapse(self, keep: int, drop: int, position: Point, *, check: bool = True, longest: float = np.inf) -> bool:
        """Merge ``drop`` into ``keep`` at ``position`` if it stays a surface, faces keep their sides and edges are not too long."""
        shared = self.at[keep] & self.at[drop]
        if drop in self.fixed or not shared:
            return False
        opposite = {p for f in shared for p in self._face(f) if p not in (keep, drop)}
        near_keep, near_drop = self.neighbours(keep), self.neighbours(drop)
        if near_keep & near_drop != opposite or len(opposite) != len(shared):
            return False
        if len(shared) == 2 and len(near_drop) != len(self.at[drop]) and len(near_keep) != len(self.at[keep]):
            return False
        if any(len(self.at[p]) <= (3 if not self.on_border(p) else 1) for p in opposite):
            return False
        moved = self.points[keep] != position
        changed = (self.at[drop] - shared) | ((self.at[keep] - shared) if moved else set())
        if longest < np.inf:
            reach = near_drop | (near_keep if moved else set())
            if any(_square(position, self.points[p]) > longest * longest for p in reach if p not in (keep, drop)):
                return False
        if check and not all(self._keeps_side(f, keep, drop, position) for f in changed):
            return False
        self.points[keep] = position
        for f in shared:
            self._remove(f)
        for f in list(self.at[drop]):
            self._replace(f, tuple(keep if p == drop else p for p in self._face(f)))
        return True

    def wings(self, a: int, b: int) -> tuple[int, int] | None:
        """The points c, d opposite to an inner edge, (a, b, c) and (b, a, d) being its faces."""
        c = d = -1
        for f in self.at[a] & self.at[b]:
            p, q, r = self._face(f)
            if (a, b) in ((p, q), (q, r), (r, p)):
                c = p + q + r - a - b
            else:
                d = p + q + r - a - b
        return None if c < 0 or d < 0 else (c, d)

    def flip(self, a: int, b: int, *, bend: float = BEND) -> bool:
        """Replace the edge ab by the other diagonal cd, unless that edge exists, joins fixed points or folds the surface."""
        wings = self.wings(a, b)
        if wings is None:
            return False
        c, d = wings
        if (c in self.fixed and d in self.fixed) or self.at[c] & self.at[d] or min(len(self.at[a]), len(self.at[b])) <= 3:
            return False
        old, new = (self.normal(a, b, c), self.normal(b, a, d)), (self.normal(c, d, b), self.normal(d, c, a))
        if any(_dot(m, n) <= bend * (_dot(m, m) * _dot(n, n)) ** 0.5 for m in old for n in new):
            return False
        for f in list(self.at[a] & self.at[b]):
            self._remove(f)
        self._add((c, d, b))
        self._add((d, c, a))
        return True

    def _face(self, f: int) -> tuple[int, int, int]:
        return cast("tuple[int, int, int]", self.faces[f])

    def _keeps_side(self, f: int, keep: int, drop: int, position: Point) -> bool:
        face = self._face(f)
        m = self.normal(*face)
        n = _cross(*(position if p in (keep, drop) else self.points[p] for p in face))
        mm, nn = _dot(m, m), _dot(n, n)
        if mm < 1e-30:
            return True
        return _dot(m, n) > BEND * (mm * nn) ** 0.5 and nn > 0.0

    def _add(self, face: tuple[int, ...]) -> None:
        a, b, c = face
        for p in face:
            self.at[p].add(len(self.faces))
        self.faces.append((a, b, c))

    def _remove(self, f: int) -> None:
        for p in self._face(f):
            self.at[p].discard(f)
        self.faces[f] = None

    def _replace(self, f: int, face: tuple[int, ...]) -> None:
        self._remove(f)
        a, b, c = face
        for p in face:
            self.at[p].add(f)
        self.faces[f] = (a, b, c)


def _cross(p: Point, q: Point, r: Point) -> Point:
    ax, ay, az = q[0] - p[0], q[1] - p[1], q[2] - p[2]
    bx, by, bz = r[0] - p[0], r[1] - p[1], r[2] - p[2]
    return (ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx)


def _dot(p: Point, q: Point) -> float:
    return p[0] * q[0] + p[1] * q[1] + p[2] * q[2]


def _square(p: Point, q: Point) -> float:
    return (p[0] - q[0]) ** 2 + (p[1] - q[1]) ** 2 + (p[2] - q[2]) ** 2
