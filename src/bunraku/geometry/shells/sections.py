"""Plane sections of triangle surfaces: the closed loops in which a plane meets them, and rays from a loop's centre."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bunraku.arrays import Array, Indices
from bunraku.errors import BadInput


@dataclass(frozen=True)
class Loop:
    """One closed loop of a section: ``points`` (k, 3) [m], each on an edge ``edges`` (k, 2); face i joins points i, i+1."""

    points: Array
    edges: Indices
    faces: Indices


def section_loops(vertices: Array, faces: Indices, origin: Array, normal: Array) -> list[Loop]:
    """The closed loops in which the plane through ``origin`` with unit ``normal`` meets a surface.

    Vertices on the plane count as lying on its positive side, so every crossed face has exactly two crossed edges and the loops are
    closed by construction; chains that end at a border of an open surface are left out.
    """
    d = (vertices - origin) @ normal
    positive = d >= 0.0
    sides = positive[faces]
    crossed = np.flatnonzero(sides.any(axis=1) & ~sides.all(axis=1))
    entry: dict[tuple[int, int], int] = {}
    leave: dict[int, tuple[int, int]] = {}
    for f, (a, b, c) in zip(crossed.tolist(), faces[crossed].tolist(), strict=True):
        for p, q in ((a, b), (b, c), (c, a)):
            if positive[q] and not positive[p]:
                entry[p, q] = f
            elif positive[p] and not positive[q]:
                leave[f] = (p, q)
    loops, left = [], set(crossed.tolist())
    while left:
        f = start = min(left)
        edges, chain = [], []
        closed = False
        while f in left:
            left.discard(f)
            p, q = leave[f]
            following = entry.get((q, p), -1)
            edges.append((p, q))
            chain.append(following)
            if following == start:
                closed = True
            f = following
        if closed and len(edges) >= 3:
            E = np.array(edges, dtype=np.int64)
            t = d[E[:, 0]] / (d[E[:, 0]] - d[E[:, 1]])
            points = vertices[E[:, 0]] + t[:, None] * (vertices[E[:, 1]] - vertices[E[:, 0]])
            loops.append(Loop(points, E, np.array(chain, dtype=np.int64)))
    return loops


def enclosing_loop(loops: list[Loop], origin: Array, u: Array, v: Array) -> Loop | None:
    """The shortest loop that goes round ``origin`` in the plane of the unit vectors u, v; turned so that it runs from u to v."""
    shortest, length = None, np.inf
    for loop in loops:
        phi = loop_angles(loop.points, origin, u, v)
        turns = round(float(phi[-1] - phi[0] + _wrapped(phi[0] - phi[-1])) / (2.0 * np.pi))
        size = float(np.linalg.norm(np.roll(loop.points, -1, axis=0) - loop.points, axis=1).sum())
        if turns and size < length:
            length = size
            shortest = loop if turns > 0 else Loop(loop.points[::-1], loop.edges[::-1], np.roll(loop.faces[::-1], -1))
    return shortest


def loop_centre(points: Array, origin: Array, u: Array, v: Array) -> Array:
    """Centre of area (3,) of the polygon ``points`` (k, 3) in the plane through ``origin`` along u, v."""
    x, y = (points - origin) @ u, (points - origin) @ v
    x1, y1 = np.roll(x, -1), np.roll(y, -1)
    cross = x * y1 - x1 * y
    area = cross.sum()
    if abs(area) < 1e-18:
        return np.asarray(points.mean(axis=0))
    return np.asarray(origin + (((x + x1) * cross).sum() * u + ((y + y1) * cross).sum() * v) / (3.0 * area))


def loop_angles(points: Array, centre: Array, u: Array, v: Array) -> Array:
    """Unwrapped angles (k,) [rad] of points (k, 3) about ``centre``, from u towards v, point by point."""
    return np.asarray(np.unwrap(np.arctan2((points - centre) @ v, (points - centre) @ u)))


def ray_radii(points: Array, centre: Array, u: Array, v: Array, angles: Array, place: str) -> Array:
    """Distances (n,) [m] from ``centre`` to the polygon ``points`` along rays at ``angles`` (n,); it must be star-shaped."""
    phi = loop_angles(points, centre, u, v)
    if np.append(np.diff(phi), phi[0] + 2.0 * np.pi - phi[-1]).min() < -0.02:
        raise BadInput("a cross-section is not star-shaped about its centre; turn the axis or move the region", place=place)
    phi = np.maximum.accumulate(phi)
    wrapped = phi[0] + np.mod(angles - phi[0], 2.0 * np.pi)
    i = np.searchsorted(phi, wrapped, side="right") - 1
    A, B = points[i], points[(i + 1) % len(points)]
    e = np.cos(angles)[:, None] * u + np.sin(angles)[:, None] * v
    n = -np.sin(angles)[:, None] * u + np.cos(angles)[:, None] * v
    a, b = ((A - centre) * n).sum(axis=1), ((B - centre) * n).sum(axis=1)
    t = np.clip(np.divide(a, a - b, out=np.zeros_like(a), where=np.abs(a - b) > 1e-15), 0.0, 1.0)
    return np.asarray(((A + t[:, None] * (B - A) - centre) * e).sum(axis=1))


def _wrapped(angle: float) -> float:
    return float(np.mod(angle + np.pi, 2.0 * np.pi) - np.pi)
