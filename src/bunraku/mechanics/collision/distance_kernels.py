"""Signed distance between convex primitives, and its least value over a motion. Arrays in, arrays out.

A shape is a core and a radius around it: sphere = point, capsule = segment, the others have radius 0. Outside each other the
distance of the cores comes from GJK (Gilbert, Johnson, Keerthi 1988; two segments in closed form) and the radii are taken off;
cores that intersect are measured by an expanding polytope (van den Bergen 2001) from inside. With M = A - B (Minkowski) and
h(n) = max over M of n.x its support, the signed distance is max over unit n of -h(n): both methods search that n.
Measured on one core: 0.2 to 1.4 us a distance of separate shapes, 2 to 40 us a deep penetration (ellipsoids the slowest);
2,000 frames of the built-in NAO 0.06 s.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls, no-check-untyped-defs
from __future__ import annotations

import numpy as np
from numba import njit

from bunraku.mechanics.collision.penetration_kernels import core_depth
from bunraku.mechanics.collision.support_kernels import CAPSULE, core_radius, plane_normal, support

TOLERANCE = 1e-10  # metres
MOST_STEPS = 100


@njit(cache=True)
def segment_distance(half_a, half_b, r, p):
    """Distance of two segments of half lengths along their z axes, the second at (r, p) in the frame of the first."""
    ux, uy, uz = r[0, 2], r[1, 2], r[2, 2]
    along_a, along_b = p[2], p[0] * ux + p[1] * uy + p[2] * uz
    across = 1.0 - uz * uz
    # the squared distance is convex in (s, t): clamp s, then t for that s, then s again for that t
    s = min(max((along_a - uz * along_b) / across, -half_a), half_a) if across > 1e-14 else min(max(along_a, -half_a), half_a)
    t = min(max(s * uz - along_b, -half_b), half_b)
    s = min(max(along_a + t * uz, -half_a), half_a)
    t = min(max(s * uz - along_b, -half_b), half_b)
    dx, dy, dz = p[0] + t * ux, p[1] + t * uy, p[2] + t * uz - s
    return np.sqrt(dx * dx + dy * dy + dz * dz)


@njit(cache=True)
def nearest_on_segment(y, a, b, weight):
    """Weights of the point of segment y[a] y[b] nearest the origin."""
    ex, ey, ez = y[b, 0] - y[a, 0], y[b, 1] - y[a, 1], y[b, 2] - y[a, 2]
    length = ex * ex + ey * ey + ez * ez
    t = -(y[a, 0] * ex + y[a, 1] * ey + y[a, 2] * ez) / length if length > 0.0 else 0.0
    t = min(max(t, 0.0), 1.0)
    weight[a], weight[b] = 1.0 - t, t


@njit(cache=True)
def nearest_on_triangle(y, a, b, c, weight):
    """Weights of the point of triangle y[a] y[b] y[c] nearest the origin, by its Voronoi regions (Ericson 2005, 5.1.5)."""
    weight[a], weight[b], weight[c] = 0.0, 0.0, 0.0
    d1, d2, d3, d4, d5, d6 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for i in range(3):
        ab, ac = y[b, i] - y[a, i], y[c, i] - y[a, i]
        d1 -= ab * y[a, i]
        d2 -= ac * y[a, i]
        d3 -= ab * y[b, i]
        d4 -= ac * y[b, i]
        d5 -= ab * y[c, i]
        d6 -= ac * y[c, i]
    if d1 <= 0.0 and d2 <= 0.0:
        weight[a] = 1.0
        return
    if d3 >= 0.0 and d4 <= d3:
        weight[b] = 1.0
        return
    vc = d1 * d4 - d3 * d2
    if vc <= 0.0 and d1 >= 0.0 and d3 <= 0.0:
        nearest_on_segment(y, a, b, weight)
        return
    if d6 >= 0.0 and d5 <= d6:
        weight[c] = 1.0
        return
    vb = d5 * d2 - d1 * d6
    if vb <= 0.0 and d2 >= 0.0 and d6 <= 0.0:
        nearest_on_segment(y, a, c, weight)
        return
    va = d3 * d6 - d5 * d4
    if va <= 0.0 and d4 >= d3 and d5 >= d6:
        nearest_on_segment(y, b, c, weight)
        return
    total = va + vb + vc
    if total <= 0.0:
        nearest_on_segment(y, a, b, weight)
        return
    weight[a], weight[b], weight[c] = va / total, vb / total, vc / total


@njit(cache=True)
def inside_tetrahedron(y):
    """Whether the origin lies strictly inside the tetrahedron y (4, 3)."""
    for face in range(4):
        i, j, k, other = face, (face + 1) % 4, (face + 2) % 4, (face + 3) % 4
        nx, ny, nz = plane_normal(y, i, j, k)
        origin = -(nx * y[i, 0] + ny * y[i, 1] + nz * y[i, 2])
        beyond = nx * y[other, 0] + ny * y[other, 1] + nz * y[other, 2] + origin
        if origin * beyond <= 1e-14 * beyond * beyond:
            return False
    return True


@njit(cache=True)
def reduce_simplex(y, count, weight, trial, v):
    """Move ``v`` to the point of the simplex nearest the origin, drop corners of weight zero; returns the count (5: inside)."""
    if count == 4:
        if inside_tetrahedron(y):
            return 5
        best = np.inf
        for face in range(4):
            i, j, k = face, (face + 1) % 4, (face + 2) % 4
            trial[(face + 3) % 4] = 0.0
            nearest_on_triangle(y, i, j, k, trial)
            square = 0.0
            for a in range(3):
                at = trial[i] * y[i, a] + trial[j] * y[j, a] + trial[k] * y[k, a]
                square += at * at
            if square < best:
                best = square
                for a in range(4):
                    weight[a] = trial[a]
    elif count == 3:
        nearest_on_triangle(y, np.int64(0), np.int64(1), np.int64(2), weight)
    elif count == 2:
        nearest_on_segment(y, np.int64(0), np.int64(1), weight)
    else:
        weight[0] = 1.0
    for a in range(3):
        v[a] = 0.0
    kept = 0
    for i in range(count):
        if weight[i] > 0.0:
            for a in range(3):
                v[a] += weight[i] * y[i, a]
                y[kept, a] = y[i, a]
            kept += 1
    return kept


@njit(cache=True)
def core_distance(kind_a, size_a, kind_b, size_b, r, p, y, weight, trial, v):
    """Distance of two cores by GJK, to ``TOLERANCE``; -1 when they intersect."""
    v[0], v[1], v[2] = support(kind_a, size_a, kind_b, size_b, r, p, p[0], p[1], p[2])
    y[0, 0], y[0, 1], y[0, 2] = v[0], v[1], v[2]
    count = 1
    square = v[0] * v[0] + v[1] * v[1] + v[2] * v[2]
    for _ in range(MOST_STEPS):
        if square < 1e-22:
            return -1.0
        wx, wy, wz = support(kind_a, size_a, kind_b, size_b, r, p, -v[0], -v[1], -v[2])
        gap = square - (v[0] * wx + v[1] * wy + v[2] * wz)
        if gap <= TOLERANCE * np.sqrt(square):
            break
        y[count, 0], y[count, 1], y[count, 2] = wx, wy, wz
        before = square
        x0, x1, x2 = v[0], v[1], v[2]
        count = reduce_simplex(y, count + 1, weight, trial, v)
        if count == 5:
            return -1.0
        square = v[0] * v[0] + v[1] * v[1] + v[2] * v[2]
        if square >= before:
            v[0], v[1], v[2] = x0, x1, x2
            square = before
            break
    return np.sqrt(square)


@njit(cache=True)
def signed_distance(kind_a, size_a, kind_b, size_b, r, p, y, weight, trial, v):
    """Signed distance [m] of shape B at (r, p) in the frame of shape A, negative by the depth when they penetrate."""
    radii = core_radius(kind_a, size_a) + core_radius(kind_b, size_b)
    if kind_a <= CAPSULE and kind_b <= CAPSULE:
        half_a, half_b = size_a[1] if kind_a == CAPSULE else 0.0, size_b[1] if kind_b == CAPSULE else 0.0
        return segment_distance(half_a, half_b, r, p) - radii
    apart = core_distance(kind_a, size_a, kind_b, size_b, r, p, y, weight, trial, v)
    if apart >= 0.0:
        return apart - radii
    return -core_depth(kind_a, size_a, kind_b, size_b, r, p) - radii


@njit(cache=True)
def relative_pose(ra, pa, rb, pb, r, p):
    """Pose (r, p) of B in the frame of A, from world poses: r = ra^T rb, p = ra^T (pb - pa)."""
    for i in range(3):
        p[i] = 0.0
        for j in range(3):
            p[i] += ra[j, i] * (pb[j] - pa[j])
            r[i, j] = ra[0, i] * rb[0, j] + ra[1, i] * rb[1, j] + ra[2, i] * rb[2, j]


@njit(cache=True)
def shape_poses(rotation, position, node, local_rotation, local_position, reach, shape_rotation, shape_position, moved):
    """World poses of shapes over frames, and how far any of their points moved since the frame before (a bound).

    A point at most ``reach`` from the centre moves at most |dc| + reach |dR|, with |dR| the spectral norm = |dR|_F / sqrt 2.
    """
    for k in range(rotation.shape[0]):
        for s in range(node.shape[0]):
            n = node[s]
            step, turned = 0.0, 0.0
            for i in range(3):
                at = local_position[s, i]
                if n >= 0:
                    at = position[k, n, i]
                    for j in range(3):
                        at += rotation[k, n, i, j] * local_position[s, j]
                shape_position[k, s, i] = at
                for j in range(3):
                    value = local_rotation[s, i, j]
                    if n >= 0:
                        value = 0.0
                        for a in range(3):
                            value += rotation[k, n, i, a] * local_rotation[s, a, j]
                    shape_rotation[k, s, i, j] = value
                    if k > 0:
                        turned += (value - shape_rotation[k - 1, s, i, j]) ** 2
                if k > 0:
                    step += (at - shape_position[k - 1, s, i]) ** 2
            moved[k, s] = np.sqrt(step) + reach[s] * np.sqrt(0.5 * turned)


@njit(cache=True)
def least_distances(kind, size, reach, first, second, shape_rotation, shape_position, moved, start, least, when):
    """Least signed distance of each pair over the frames, exactly, and its frame; ``least`` and ``when`` are updated.

    A frame is skipped when the bounding spheres, or the last distance less all motion since, show that it is no lower.
    """
    y, weight, trial, v = np.empty((4, 3)), np.zeros(4), np.zeros(4), np.empty(3)
    r, p = np.empty((3, 3)), np.empty(3)
    for pair in range(first.shape[0]):
        a, b = first[pair], second[pair]
        together = reach[a] + reach[b]
        bound = -np.inf
        for k in range(shape_rotation.shape[0]):
            bound -= moved[k, a] + moved[k, b]
            if bound >= least[pair]:
                continue
            dx = shape_position[k, a, 0] - shape_position[k, b, 0]
            dy = shape_position[k, a, 1] - shape_position[k, b, 1]
            dz = shape_position[k, a, 2] - shape_position[k, b, 2]
            bound = max(bound, np.sqrt(dx * dx + dy * dy + dz * dz) - together)
            if bound >= least[pair]:
                continue
            relative_pose(shape_rotation[k, a], shape_position[k, a], shape_rotation[k, b], shape_position[k, b], r, p)
            bound = signed_distance(kind[a], size[a], kind[b], size[b], r, p, y, weight, trial, v)
            if bound < least[pair]:
                least[pair] = bound
                when[pair] = start + k


@njit(cache=True)
def pair_distance(kind_a, size_a, rotation_a, position_a, kind_b, size_b, rotation_b, position_b):
    """Signed distance [m] of two shapes at world poses."""
    y, weight, trial, v = np.empty((4, 3)), np.zeros(4), np.zeros(4), np.empty(3)
    r, p = np.empty((3, 3)), np.empty(3)
    relative_pose(rotation_a, position_a, rotation_b, position_b, r, p)
    return signed_distance(kind_a, size_a, kind_b, size_b, r, p, y, weight, trial, v)
