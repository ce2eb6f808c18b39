"""Cores of convex primitives and their support: the point farthest along a direction. Arrays in, arrays out.

A shape is a core and a radius around it: sphere = point, capsule = segment, the others have radius 0.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls, no-check-untyped-defs
from __future__ import annotations

import numpy as np
from numba import njit

SPHERE, CAPSULE, BOX, CYLINDER, ELLIPSOID = 0, 1, 2, 3, 4


@njit(cache=True)
def core_support(kind, size, x, y, z):
    """Point of a core farthest along (x, y, z), in the shape's frame."""
    if kind == SPHERE:
        return 0.0, 0.0, 0.0
    if kind == CAPSULE:
        return 0.0, 0.0, size[1] if z >= 0.0 else -size[1]
    if kind == BOX:
        return size[0] if x >= 0.0 else -size[0], size[1] if y >= 0.0 else -size[1], size[2] if z >= 0.0 else -size[2]
    if kind == CYLINDER:
        across = np.sqrt(x * x + y * y)
        if across > 0.0:
            return size[0] * x / across, size[0] * y / across, size[1] if z >= 0.0 else -size[1]
        return size[0], 0.0, size[1] if z >= 0.0 else -size[1]
    a, b, c = size[0] * x, size[1] * y, size[2] * z
    length = np.sqrt(a * a + b * b + c * c)
    if length > 0.0:
        return size[0] * a / length, size[1] * b / length, size[2] * c / length
    return size[0], 0.0, 0.0


@njit(cache=True)
def core_radius(kind, size):
    """Radius around the core."""
    return size[0] if kind in (SPHERE, CAPSULE) else 0.0


@njit(cache=True)
def support(kind_a, size_a, kind_b, size_b, r, p, x, y, z):
    """Point of A - B farthest along (x, y, z) in the frame of A, B standing at rotation ``r``, position ``p`` in it."""
    ax, ay, az = core_support(kind_a, size_a, x, y, z)
    bx, by, bz = core_support(
        kind_b,
        size_b,
        -(r[0, 0] * x + r[1, 0] * y + r[2, 0] * z),
        -(r[0, 1] * x + r[1, 1] * y + r[2, 1] * z),
        -(r[0, 2] * x + r[1, 2] * y + r[2, 2] * z),
    )
    return (
        ax - p[0] - r[0, 0] * bx - r[0, 1] * by - r[0, 2] * bz,
        ay - p[1] - r[1, 0] * bx - r[1, 1] * by - r[1, 2] * bz,
        az - p[2] - r[2, 0] * bx - r[2, 1] * by - r[2, 2] * bz,
    )


@njit(cache=True)
def plane_normal(y, i, j, k):
    """(y[j] - y[i]) x (y[k] - y[i])."""
    ax, ay, az = y[j, 0] - y[i, 0], y[j, 1] - y[i, 1], y[j, 2] - y[i, 2]
    bx, by, bz = y[k, 0] - y[i, 0], y[k, 1] - y[i, 1], y[k, 2] - y[i, 2]
    return ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx
