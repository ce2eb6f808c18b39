"""Depth of two intersecting cores by an expanding polytope (van den Bergen 2001). Arrays in, arrays out."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls, no-check-untyped-defs
from __future__ import annotations

import numpy as np
from numba import njit

from bunraku.mechanics.collision.support_kernels import plane_normal, support

MOST_POINTS = 132
MOST_FACES = 512


@njit(cache=True)
def add_face(points, faces, normal, offset, count, i, j, k, cx, cy, cz):
    """Append the face i, j, k with its normal away from the inner point c; a face of no area is never chosen."""
    nx, ny, nz = plane_normal(points, i, j, k)
    length = np.sqrt(nx * nx + ny * ny + nz * nz)
    faces[count, 0], faces[count, 1], faces[count, 2] = i, j, k
    if length < 1e-30:
        normal[count, 0], normal[count, 1], normal[count, 2] = 0.0, 0.0, 0.0
        offset[count] = np.inf
        return count + 1
    nx, ny, nz = nx / length, ny / length, nz / length
    if nx * (points[i, 0] - cx) + ny * (points[i, 1] - cy) + nz * (points[i, 2] - cz) < 0.0:
        nx, ny, nz = -nx, -ny, -nz
    normal[count, 0], normal[count, 1], normal[count, 2] = nx, ny, nz
    offset[count] = nx * points[i, 0] + ny * points[i, 1] + nz * points[i, 2]
    return count + 1


@njit(cache=True)
def first_tetrahedron(kind_a, size_a, kind_b, size_b, r, p, points):
    """Fill the first four ``points`` with a tetrahedron inside A - B; returns its size, 0.0 when A - B is flat.

    Two ends, the point farthest from their line, the point farthest from their plane.
    """
    points[0, 0], points[0, 1], points[0, 2] = support(kind_a, size_a, kind_b, size_b, r, p, 0.8, 0.36, 0.48)
    points[1, 0], points[1, 1], points[1, 2] = support(kind_a, size_a, kind_b, size_b, r, p, -0.8, -0.36, -0.48)
    ex, ey, ez = points[1, 0] - points[0, 0], points[1, 1] - points[0, 1], points[1, 2] - points[0, 2]
    scale = np.sqrt(ex * ex + ey * ey + ez * ez)
    if scale == 0.0:
        return 0.0
    if abs(ex) <= abs(ey) and abs(ex) <= abs(ez):
        ux, uy, uz = 0.0, -ez, ey
    elif abs(ey) <= abs(ez):
        ux, uy, uz = ez, 0.0, -ex
    else:
        ux, uy, uz = -ey, ex, 0.0
    vx, vy, vz = ey * uz - ez * uy, ez * ux - ex * uz, ex * uy - ey * ux
    farthest = -1.0
    for turn in range(4):
        s = 1.0 if turn % 2 == 0 else -1.0
        dx, dy, dz = (s * ux, s * uy, s * uz) if turn < 2 else (s * vx, s * vy, s * vz)
        points[3, 0], points[3, 1], points[3, 2] = support(kind_a, size_a, kind_b, size_b, r, p, dx, dy, dz)
        nx, ny, nz = plane_normal(points, np.int64(0), np.int64(1), np.int64(3))
        area = np.sqrt(nx * nx + ny * ny + nz * nz)
        if area > farthest:
            farthest = area
            points[2, 0], points[2, 1], points[2, 2] = points[3, 0], points[3, 1], points[3, 2]
    nx, ny, nz = plane_normal(points, np.int64(0), np.int64(1), np.int64(2))
    level = nx * points[0, 0] + ny * points[0, 1] + nz * points[0, 2]
    ax, ay, az = support(kind_a, size_a, kind_b, size_b, r, p, nx, ny, nz)
    bx, by, bz = support(kind_a, size_a, kind_b, size_b, r, p, -nx, -ny, -nz)
    above, below = nx * ax + ny * ay + nz * az - level, level - nx * bx - ny * by - nz * bz
    if above >= below:
        points[3, 0], points[3, 1], points[3, 2] = ax, ay, az
    else:
        points[3, 0], points[3, 1], points[3, 2] = bx, by, bz
    if max(above, below) <= 1e-12 * farthest * scale:
        return 0.0
    return scale


@njit(cache=True)
def core_depth(kind_a, size_a, kind_b, size_b, r, p):
    """How far intersecting cores must move to part: min over n of h(n), from a polytope grown inside A - B.

    Never less than the truth; exact for boxes, and above it by at most 1e-8 m for round shapes unless the steps run out.
    """
    points = np.empty((MOST_POINTS, 3))
    faces, normal, offset = np.empty((MOST_FACES, 3), np.int64), np.empty((MOST_FACES, 3)), np.empty(MOST_FACES)
    edges = np.empty((3 * MOST_FACES, 2), np.int64)
    scale = first_tetrahedron(kind_a, size_a, kind_b, size_b, r, p, points)
    if scale == 0.0:
        return 0.0
    cx = 0.25 * (points[0, 0] + points[1, 0] + points[2, 0] + points[3, 0])
    cy = 0.25 * (points[0, 1] + points[1, 1] + points[2, 1] + points[3, 1])
    cz = 0.25 * (points[0, 2] + points[1, 2] + points[2, 2] + points[3, 2])
    count = np.int64(0)
    for skip in range(4):
        count = add_face(points, faces, normal, offset, count, (skip + 1) % 4, (skip + 2) % 4, (skip + 3) % 4, cx, cy, cz)
    total = np.int64(4)
    best = np.inf
    while total < MOST_POINTS:
        least = 0
        for f in range(1, count):
            if offset[f] < offset[least]:
                least = f
        nx, ny, nz = normal[least, 0], normal[least, 1], normal[least, 2]
        wx, wy, wz = support(kind_a, size_a, kind_b, size_b, r, p, nx, ny, nz)
        height = nx * wx + ny * wy + nz * wz
        best = min(best, height)
        if best - offset[least] <= 1e-8:
            break
        points[total, 0], points[total, 1], points[total, 2] = wx, wy, wz
        edge_count, f = 0, 0
        while f < count:
            if normal[f, 0] * wx + normal[f, 1] * wy + normal[f, 2] * wz > offset[f] + 1e-14 * scale:
                for side in range(3):
                    i, j = faces[f, side], faces[f, (side + 1) % 3]
                    shared = -1
                    for e in range(edge_count):
                        if (edges[e, 0] == j and edges[e, 1] == i) or (edges[e, 0] == i and edges[e, 1] == j):
                            shared = e
                    if shared >= 0:
                        edge_count -= 1
                        edges[shared, 0], edges[shared, 1] = edges[edge_count, 0], edges[edge_count, 1]
                    else:
                        edges[edge_count, 0], edges[edge_count, 1] = i, j
                        edge_count += 1
                count -= 1
                offset[f] = offset[count]
                for a in range(3):
                    faces[f, a], normal[f, a] = faces[count, a], normal[count, a]
            else:
                f += 1
        if edge_count == 0 or count + edge_count > MOST_FACES:
            break
        for e in range(edge_count):
            count = add_face(points, faces, normal, offset, count, edges[e, 0], edges[e, 1], total, cx, cy, cz)
        total += 1
    return max(best, 0.0)
