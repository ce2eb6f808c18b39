"""Signed distances from points to primitive solids, and all pairs of nodes and shapes that are near. Arrays in, arrays out."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls, no-check-untyped-defs
from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from bunraku.arrays import Array

BOX, SPHERE, CAPSULE, CYLINDER = 0, 1, 2, 3


class PlacedShapes(NamedTuple):
    """Shapes: ``kind`` (s,), ``size`` (s, 3), radii ``ball`` (s,) of balls round them [m], poses ``X`` (s, 3, 4)."""

    kind: NDArray[np.int64]
    size: Array
    ball: Array
    X: Array


class NearPairs(NamedTuple):
    """Room for pairs: ``node`` (places in the query) and ``shape`` (k,), ``gap`` (k,) [m], world ``normal`` (k, 3)."""

    node: NDArray[np.int64]
    shape: NDArray[np.int64]
    gap: Array
    normal: Array


@njit(cache=True)
def corner_distance(a, b, c, sa, sb, sc, n):
    """Distance of a point to the region a, b, c <= 0 (sides along directions of signs sa, sb, sc); gradient into n."""
    oa, ob, oc = max(a, 0.0), max(b, 0.0), max(c, 0.0)
    d = np.sqrt(oa * oa + ob * ob + oc * oc)
    if d > 0.0:
        n[0], n[1], n[2] = sa * oa / d, sb * ob / d, sc * oc / d
        return d
    n[0], n[1], n[2] = 0.0, 0.0, 0.0
    if a >= b and a >= c:
        n[0] = sa
        return a
    if b >= c:
        n[1] = sb
        return b
    n[2] = sc
    return c


@njit(cache=True)
def distance(kind, size, p, n):
    """Signed distance [m] of p (3,) to a solid in its own frame, negative inside; its gradient into n (3,)."""
    if kind == BOX:
        sx, sy, sz = (1.0 if p[0] >= 0.0 else -1.0), (1.0 if p[1] >= 0.0 else -1.0), (1.0 if p[2] >= 0.0 else -1.0)
        return corner_distance(abs(p[0]) - size[0], abs(p[1]) - size[1], abs(p[2]) - size[2], sx, sy, sz, n)
    if kind == CYLINDER:
        r = np.sqrt(p[0] * p[0] + p[1] * p[1])
        ex, ey = (p[0] / r, p[1] / r) if r > 0.0 else (1.0, 0.0)
        d = corner_distance(r - size[0], -1e30, abs(p[2]) - size[1], 1.0, 1.0, 1.0 if p[2] >= 0.0 else -1.0, n)
        radial = n[0]
        n[0], n[1] = radial * ex, radial * ey
        return d
    z = p[2]
    if kind == CAPSULE:
        z = p[2] - min(max(p[2], -size[1]), size[1])
    r = np.sqrt(p[0] * p[0] + p[1] * p[1] + z * z)
    if r > 0.0:
        n[0], n[1], n[2] = p[0] / r, p[1] / r, z / r
    else:
        n[0], n[1], n[2] = 1.0, 0.0, 0.0
    return r - size[0]


@njit(cache=True)
def near_pairs(x, query, shapes, onset, deepest, allowed, out):
    """All pairs with -deepest < gap < onset[q, s] of nodes x[query] and shapes, into ``out`` as far as it reaches; how many."""
    kind, size, ball, X = shapes.kind, shapes.size, shapes.ball, shapes.X
    node, shape, gap, normal = out.node, out.shape, out.gap, out.normal
    count = 0
    local, n = np.empty(3), np.empty(3)
    for s in range(kind.shape[0]):
        cx, cy, cz = X[s, 0, 3], X[s, 1, 3], X[s, 2, 3]
        for q in range(query.shape[0]):
            i = query[q]
            dx, dy, dz = x[i, 0] - cx, x[i, 1] - cy, x[i, 2] - cz
            far = ball[s] + onset[q, s]
            if dx * dx + dy * dy + dz * dz >= far * far or not allowed[q, s]:
                continue
            for k in range(3):
                local[k] = X[s, 0, k] * dx + X[s, 1, k] * dy + X[s, 2, k] * dz
            g = distance(kind[s], size[s], local, n)
            if g >= onset[q, s] or g <= -deepest:
                continue
            if count < node.shape[0]:
                node[count], shape[count], gap[count] = q, s, g
                for k in range(3):
                    normal[count, k] = X[s, k, 0] * n[0] + X[s, k, 1] * n[1] + X[s, k, 2] * n[2]
            count += 1
    return count


@njit(cache=True)
def distances(kind, size, points, gap, normal):
    """Signed distances gap (m,) and gradients normal (m, 3) of points (m, 3) to one solid."""
    for i in range(points.shape[0]):
        gap[i] = distance(kind, size, points[i], normal[i])
