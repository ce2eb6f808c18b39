"""Kinematics of a character on wheels and feet, sample by sample. See `model.py` for the arrays.

Notation: O, A origin and world direction of a coordinate's axis; R, P pose of a node; x centre of mass; d = P_p - x of points;
a world axle, n ground normal, t = a x n/|a x n| rolling direction, m = a x t towards the ground, e = centre + r m the contact
point (ball: e = centre - r n); sigma the spin of the carrying body about a against the frame (t, a): d(sigma) = A.a - dt.m.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls, no-check-untyped-defs
from __future__ import annotations

import numpy as np
from numba import njit

from bunraku.mechanics.tree.tree_kernels import HINGE, forward_kinematics

BALL, WELDED, PASSIVE, ACTIVE = 0, 1, 2, 3


@njit(cache=True)
def ground(grid, heights, x, y, out):
    """Height, slopes and curvatures (H, H_x, H_y, H_xx, H_xy, H_yy) of the biquadratic B-spline of ``heights``.

    ``grid``: origin x, y and spacing.
    """
    for k in range(6):
        out[k] = 0.0
    if heights.shape[0] == 0:
        return
    u, v = (x - grid[0]) / grid[2], (y - grid[1]) / grid[2]
    i, j = int(np.floor(u + 0.5)), int(np.floor(v + 0.5))
    a, b = u - i, v - j
    wx = (0.5 * (0.5 - a) ** 2, 0.75 - a * a, 0.5 * (0.5 + a) ** 2)
    wy = (0.5 * (0.5 - b) ** 2, 0.75 - b * b, 0.5 * (0.5 + b) ** 2)
    dx = (a - 0.5, -2.0 * a, a + 0.5)
    dy = (b - 0.5, -2.0 * b, b + 0.5)
    bend = (1.0, -2.0, 1.0)
    for k in range(3):
        p = min(max(i + k - 1, 0), heights.shape[0] - 1)
        for o in range(3):
            q = min(max(j + o - 1, 0), heights.shape[1] - 1)
            z = heights[p, q]
            out[0] += wx[k] * wy[o] * z
            out[1] += dx[k] * wy[o] * z / grid[2]
            out[2] += wx[k] * dy[o] * z / grid[2]
            out[3] += bend[k] * wy[o] * z / grid[2] ** 2
            out[4] += dx[k] * dy[o] * z / grid[2] ** 2
            out[5] += wx[k] * bend[o] * z / grid[2] ** 2


@njit(cache=True)
def cross(a, b, out):
    """Out = a x b."""
    out[0] = a[1] * b[2] - a[2] * b[1]
    out[1] = a[2] * b[0] - a[0] * b[2]
    out[2] = a[0] * b[1] - a[1] * b[0]


@njit(cache=True)
def dot(a, b):
    """The inner product of two vectors of three."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@njit(cache=True)
def transform(R, p, local, out):
    """Out = p + R local."""
    for i in range(3):
        out[i] = p[i] + R[i, 0] * local[0] + R[i, 1] * local[1] + R[i, 2] * local[2]


@njit(cache=True)
def column(kind, axis, origin, point, out):
    """Velocity of a point per rate of a coordinate: A x (P - O) of a hinge, A of a slide."""
    if kind == HINGE:
        r0, r1, r2 = point[0] - origin[0], point[1] - origin[1], point[2] - origin[2]
        out[0] = axis[1] * r2 - axis[2] * r1
        out[1] = axis[2] * r0 - axis[0] * r2
        out[2] = axis[0] * r1 - axis[1] * r0
    else:
        out[0], out[1], out[2] = axis[0], axis[1], axis[2]


@njit(cache=True)
def move(tree, nodes, points, tips, terrain, q, jac, R, P, A, x, Jx, d, e, t, m, n, sigma, C, Je, Jt, Js, Jn):
    """All kinematics at one configuration ``q``; the Jacobians Jx (3, nq), Je, Jt, Jn (n_e, 3, chain), Js (n_e, chain) if ``jac``.

    ``C`` (n_e, 3) centres of the tips. ``nodes``: the node of each coordinate; ``points``: (node, local place, mass);
    ``tips``: (node, centre, axis, reference, radius, kind, chain).
    """
    parent, kind, coordinate, fixed_rotation, fixed_position, axis = tree
    point_node, point_local, point_mass = points
    forward_kinematics(parent, kind, coordinate, fixed_rotation, fixed_position, axis, q, R, P, A)
    M = 0.0
    x[0], x[1], x[2] = 0.0, 0.0, 0.0
    for p in range(point_node.shape[0]):
        b = point_node[p]
        transform(R[b], P[b], point_local[p], d[p])
        M += point_mass[p]
        for i in range(3):
            x[i] += point_mass[p] * d[p, i]
    for i in range(3):
        x[i] /= M
    if jac:
        com_jacobian(parent, kind, nodes, points, P, A, d, M, Jx)
    for p in range(point_node.shape[0]):
        for i in range(3):
            d[p, i] -= x[i]
    for j in range(e.shape[0]):
        tip(j, kind, nodes, tips, terrain, jac, R, P, A, e, t, m, n, sigma, C, Je, Jt, Js, Jn)


@njit(cache=True)
def com_jacobian(parent, kind, nodes, points, P, A, place, M, Jx):
    """Jx[:, c] = A x (sum m P - m O)/M over the points below coordinate c; ``place`` (p, 3) are the points' places."""
    point_node, _, point_mass = points
    N = parent.shape[0]
    mass = np.zeros(N)
    first = np.zeros((N, 3))
    for p in range(point_node.shape[0]):
        b = point_node[p]
        mass[b] += point_mass[p]
        for i in range(3):
            first[b, i] += point_mass[p] * place[p, i]
    for b in range(N - 1, -1, -1):
        if parent[b] >= 0:
            mass[parent[b]] += mass[b]
            for i in range(3):
                first[parent[b], i] += first[b, i]
    r = np.empty(3)
    v = np.empty(3)
    for c in range(nodes.shape[0]):
        b = nodes[c]
        if kind[b] == HINGE:
            for i in range(3):
                r[i] = (first[b, i] - mass[b] * P[b, i]) / M
            cross(A[b], r, v)
        else:
            for i in range(3):
                v[i] = A[b, i] * mass[b] / M
        for i in range(3):
            Jx[i, c] = v[i]


@njit(cache=True)
def tip(j, kind, nodes, tips, terrain, jac, R, P, A, e, t, m, n, sigma, C, Je, Jt, Js, Jn):
    """Contact point, rolling direction, spin and ground normal of end effector j, with Jacobians over its chain."""
    tip_node, tip_center, tip_axis, tip_reference, tip_radius, tip_kind, chain = tips
    grid, heights = terrain
    b, r = tip_node[j], tip_radius[j]
    transform(R[b], P[b], tip_center[j], C[j])
    h = np.empty(6)
    curved = heights.shape[0] > 0
    ground(grid, heights, C[j, 0], C[j, 1], h)
    s = np.sqrt(1.0 + h[1] * h[1] + h[2] * h[2])
    n[j, 0], n[j, 1], n[j, 2] = -h[1] / s, -h[2] / s, 1.0 / s
    u = np.empty(3)
    a = np.empty(3)
    length = 1.0
    if tip_kind[j] == BALL:
        for i in range(3):
            e[j, i] = C[j, i] - r * n[j, i]
            t[j, i] = 0.0
            m[j, i] = -n[j, i]
        sigma[j] = 0.0
    else:
        zero = np.zeros(3)
        transform(R[b], zero, tip_axis[j], a)
        cross(a, n[j], u)
        length = np.sqrt(dot(u, u))
        for i in range(3):
            t[j, i] = u[i] / length
        cross(a, t[j], m[j])
        for i in range(3):
            e[j, i] = C[j, i] + r * m[j, i]
        transform(R[b], zero, tip_reference[j], u)
        # the reference turned about a from t towards a x t = m
        sigma[j] = np.arctan2(dot(u, m[j]), dot(u, t[j]))
    if not jac:
        return
    da, du, dt, dm, dn, v = np.zeros(3), np.empty(3), np.empty(3), np.empty(3), np.zeros(3), np.empty(3)
    for k in range(chain.shape[1]):
        c = chain[j, k]
        if c < 0:
            break
        w = nodes[c]
        column(kind[w], A[w], P[w], C[j], v)
        Js[j, k] = 0.0
        for i in range(3):
            Je[j, i, k] = v[i]
            Jt[j, i, k] = 0.0
        if curved:
            dn[0], dn[1], dn[2] = -h[3] * v[0] - h[4] * v[1], -h[4] * v[0] - h[5] * v[1], 0.0
            along = dot(n[j], dn)
            for i in range(3):
                dn[i] = (dn[i] - n[j, i] * along) / s
                Jn[j, i, k] = dn[i]
        if tip_kind[j] == BALL:
            for i in range(3):
                Je[j, i, k] -= r * dn[i]
            continue
        if kind[w] != HINGE and not curved:
            continue
        turning = 0.0
        for i in range(3):
            da[i] = 0.0
        if kind[w] == HINGE:
            cross(A[w], a, da)
            turning = dot(A[w], a)
        cross(da, n[j], du)
        cross(a, dn, v)
        for i in range(3):
            du[i] += v[i]
        along = dot(t[j], du)
        for i in range(3):
            dt[i] = (du[i] - t[j, i] * along) / length
            Jt[j, i, k] = dt[i]
        cross(da, t[j], dm)
        cross(a, dt, v)
        for i in range(3):
            Je[j, i, k] += r * (dm[i] + v[i])
        Js[j, k] = turning - dot(dt, m[j])


@njit(cache=True)
def momentum(point_mass, d, d_next, h, out):
    """Angular momentum about the centre of mass between two samples: L = (1/h) sum m d x d_next."""
    out[0], out[1], out[2] = 0.0, 0.0, 0.0
    for p in range(point_mass.shape[0]):
        w = point_mass[p] / h
        out[0] += w * (d[p, 1] * d_next[p, 2] - d[p, 2] * d_next[p, 1])
        out[1] += w * (d[p, 2] * d_next[p, 0] - d[p, 0] * d_next[p, 2])
        out[2] += w * (d[p, 0] * d_next[p, 1] - d[p, 1] * d_next[p, 0])


@njit(cache=True)
def momentum_jacobian(parent, kind, nodes, points, P, A, x, d, other, scale, out):
    """Out[:, c] = scale sum_{p below c} m (dP_p/dq_c) x other_p, with P_p = d_p + x.

    By the sums G = sum m (P - O) other^T of each subtree: a hinge gives G A - A tr G, a slide A x sum m other.
    """
    point_node, _, point_mass = points
    N = parent.shape[0]
    K = np.zeros((N, 3, 3))
    S = np.zeros((N, 3))
    for p in range(point_node.shape[0]):
        b = point_node[p]
        for i in range(3):
            S[b, i] += point_mass[p] * other[p, i]
            w = point_mass[p] * (d[p, i] + x[i])
            for k in range(3):
                K[b, i, k] += w * other[p, k]
    for b in range(N - 1, -1, -1):
        if parent[b] >= 0:
            for i in range(3):
                S[parent[b], i] += S[b, i]
                for k in range(3):
                    K[parent[b], i, k] += K[b, i, k]
    v = np.empty(3)
    for c in range(nodes.shape[0]):
        b = nodes[c]
        if kind[b] == HINGE:
            trace = 0.0
            for i in range(3):
                trace += K[b, i, i] - P[b, i] * S[b, i]
            for i in range(3):
                v[i] = -A[b, i] * trace
                for k in range(3):
                    v[i] += (K[b, i, k] - P[b, i] * S[b, k]) * A[b, k]
        else:
            cross(A[b], S[b], v)
        for i in range(3):
            out[i, c] = scale * v[i]
