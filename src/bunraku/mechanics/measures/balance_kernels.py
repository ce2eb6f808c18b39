"""Loops over many configurations for `balance.py` and `statics.py`. Arrays in, arrays out; 2,000 NAO frames: 7 and 9 ms."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls, no-check-untyped-defs
from __future__ import annotations

import numpy as np
from numba import njit

from bunraku.mechanics.tree.tree_kernels import HINGE, SLIDE, forward_kinematics


@njit(cache=True)
def convex_hull(points, count, hull):
    """Counter-clockwise hull of ``points[:count]`` (2 columns, sorted here) by the monotone chain; returns its size."""
    for i in range(1, count):
        x, y = points[i, 0], points[i, 1]
        j = i - 1
        while j >= 0 and (points[j, 0] > x or (points[j, 0] == x and points[j, 1] > y)):
            points[j + 1, 0], points[j + 1, 1] = points[j, 0], points[j, 1]
            j -= 1
        points[j + 1, 0], points[j + 1, 1] = x, y
    size = 0
    for turn in range(2):
        start = size
        for step in range(count):
            i = step if turn == 0 else count - 1 - step
            x, y = points[i, 0], points[i, 1]
            while size >= start + 2:
                ax, ay = hull[size - 1, 0] - hull[size - 2, 0], hull[size - 1, 1] - hull[size - 2, 1]
                if ax * (y - hull[size - 2, 1]) - ay * (x - hull[size - 2, 0]) <= 0.0:
                    size -= 1
                else:
                    break
            hull[size, 0], hull[size, 1] = x, y
            size += 1
        size -= 1
    return max(size, 1)


@njit(cache=True)
def polygon_margin(hull, size, x, y):
    """Signed distance of (x, y) to the boundary of a counter-clockwise convex polygon, positive inside."""
    inside = size >= 3
    nearest = np.inf
    for i in range(size):
        j = (i + 1) % size
        ex, ey = hull[j, 0] - hull[i, 0], hull[j, 1] - hull[i, 1]
        dx, dy = x - hull[i, 0], y - hull[i, 1]
        if ex * dy - ey * dx < 0.0:
            inside = False
        length = ex * ex + ey * ey
        t = min(max((ex * dx + ey * dy) / length, 0.0), 1.0) if length > 0.0 else 0.0
        nearest = min(nearest, (dx - t * ex) ** 2 + (dy - t * ey) ** 2)
    return np.sqrt(nearest) if inside else -np.sqrt(nearest)


@njit(cache=True)
def standing_points(rotation, position, foot_node, foot_point, reach, out, which):
    """World positions of the foot points that stand, within ``reach`` of the lowest, and their indices; returns how many."""
    lowest = np.inf
    n = foot_node.shape[0]
    for i in range(n):
        node = foot_node[i]
        for a in range(3):
            out[i, a] = foot_point[i, a]
            if node >= 0:
                out[i, a] = position[node, a]
                for b in range(3):
                    out[i, a] += rotation[node, a, b] * foot_point[i, b]
        lowest = min(lowest, out[i, 2])
    count = 0
    for i in range(n):
        if out[i, 2] <= lowest + reach:
            for a in range(3):
                out[count, a] = out[i, a]
            which[count] = i
            count += 1
    return count


@njit(cache=True)
def margins(rotation, position, mass, com, foot_node, foot_point, reach, out):
    """Margins (m,) of the centre of mass over the hull of the standing points, for poses (m, n, 3, 3) and (m, n, 3)."""
    n = foot_node.shape[0]
    world, hull, flat = np.empty((n, 3)), np.empty((2 * n + 2, 2)), np.empty((n, 2))
    which = np.empty(n, dtype=np.int64)
    for k in range(rotation.shape[0]):
        count = standing_points(rotation[k], position[k], foot_node, foot_point, reach, world, which)
        for i in range(count):
            flat[i, 0], flat[i, 1] = world[i, 0], world[i, 1]
        size = convex_hull(flat, count, hull)
        total, x, y = 0.0, 0.0, 0.0
        for i in range(mass.shape[0]):
            if mass[i] > 0.0:
                r, p, c = rotation[k, i], position[k, i], com[i]
                total += mass[i]
                x += mass[i] * (p[0] + r[0, 0] * c[0] + r[0, 1] * c[1] + r[0, 2] * c[2])
                y += mass[i] * (p[1] + r[1, 0] * c[0] + r[1, 1] * c[1] + r[1, 2] * c[2])
        out[k] = polygon_margin(hull, size, x / total, y / total)


@njit(cache=True)
def ground_forces(points, count, x, y, weight, force):
    """Vertical forces on standing points that balance ``weight`` at (x, y), of least sum of squares; zero moment elsewhere.

    f_p = a + b (x_p - x) + c (y_p - y) with sum f = weight and sum f (p - (x, y)) = 0; directions in which the points do not
    extend carry no moment and are left out.
    """
    mx, my = 0.0, 0.0
    for i in range(count):
        mx += points[i, 0] / count
        my += points[i, 1] / count
    sxx, sxy, syy = 0.0, 0.0, 0.0
    for i in range(count):
        dx, dy = points[i, 0] - mx, points[i, 1] - my
        sxx += dx * dx
        sxy += dx * dy
        syy += dy * dy
    half, spread = 0.5 * (sxx + syy), np.hypot(0.5 * (sxx - syy), sxy)
    angle = 0.5 * np.arctan2(2.0 * sxy, sxx - syy)
    for i in range(count):
        force[i] = weight / count
        for part in range(2):
            u, v = (np.cos(angle), np.sin(angle)) if part == 0 else (-np.sin(angle), np.cos(angle))
            moment = half + spread if part == 0 else half - spread
            if moment > 1e-12:
                along = (points[i, 0] - mx) * u + (points[i, 1] - my) * v
                force[i] += weight * ((x - mx) * u + (y - my) * v) * along / moment


@njit(cache=True)
def static_torques(tree, mass, com, q, gravity, foot_node, foot_point, reach, out):
    """Holding efforts (m, nq): dV/dq of gravity less the ground forces on standing points, by sums over subtrees.

    With w the weights (and minus the ground forces) of a subtree, s = sum w p: hinge a at p0: (a x (s - w p0))_z, slide: a_z w.
    """
    parent, kind, coordinate, n = tree.parent, tree.kind, tree.coordinate, tree.parent.shape[0]
    rotation, position, world_axis = np.empty((n, 3, 3)), np.empty((n, 3)), np.empty((n, 3))
    weight, first = np.empty(n), np.empty((n, 2))
    feet = foot_node.shape[0]
    points, force = np.empty((feet, 3)), np.empty(feet)
    which = np.empty(feet, dtype=np.int64)
    out[:, :] = 0.0
    for k in range(q.shape[0]):
        forward_kinematics(tree, q[k], rotation, position, world_axis)
        total, x, y = 0.0, 0.0, 0.0
        for i in range(n):
            w = mass[i] * gravity
            weight[i] = w
            for a in range(2):
                p = position[i, a] + rotation[i, a, 0] * com[i, 0] + rotation[i, a, 1] * com[i, 1] + rotation[i, a, 2] * com[i, 2]
                first[i, a] = w * p
            total += w
            x += first[i, 0]
            y += first[i, 1]
        if feet > 0 and total > 0.0:
            count = standing_points(rotation, position, foot_node, foot_point, reach, points, which)
            ground_forces(points, count, x / total, y / total, total, force)
            for i in range(count):
                node = foot_node[which[i]]
                if node >= 0:
                    weight[node] -= force[i]
                    first[node, 0] -= force[i] * points[i, 0]
                    first[node, 1] -= force[i] * points[i, 1]
        for i in range(n - 1, -1, -1):
            c = coordinate[i]
            if kind[i] == HINGE:
                out[k, c] += world_axis[i, 0] * (first[i, 1] - weight[i] * position[i, 1]) - world_axis[i, 1] * (
                    first[i, 0] - weight[i] * position[i, 0]
                )
            elif kind[i] == SLIDE:
                out[k, c] += world_axis[i, 2] * weight[i]
            p = parent[i]
            if p >= 0:
                weight[p] += weight[i]
                first[p, 0] += first[i, 0]
                first[p, 1] += first[i, 1]
