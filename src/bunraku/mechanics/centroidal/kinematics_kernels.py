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
def ground(terrain, x, y, out):
    """Height, slopes and curvatures (H, H_x, H_y, H_xx, H_xy, H_yy) of the biquadratic B-spline of a `GroundGrid`."""
    grid, heights = terrain.grid, terrain.heights
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
def move_all(q, has, model, places, centers, terrain, jac, K):
    """Kinematics of all samples i of ``q`` (n, >= nq) that there are (``has``); Jacobians too if ``jac``.

    ``places`` (n or 1, p, 3) and ``centers`` (n or 1, n_e, 3): where masses and end effectors are in their frames at each sample.
    """
    nq = model.nodes.shape[0]
    for i in range(q.shape[0]):
        if has[i]:
            move(i, model, places[i % places.shape[0]], centers[i % centers.shape[0]], terrain, q[i, :nq], jac, K)


@njit(cache=True)
def move(i, model, place, center, terrain, q, jac, K):
    """All kinematics of sample i at the configuration ``q``; the Jacobians Jx, Je, Jt, Js, Jn if ``jac``."""
    tree, points = model.tree, model.points
    R, P, x, d = K.R[i], K.P[i], K.x[i], K.d[i]
    forward_kinematics(tree, q, R, P, K.A[i])
    M = 0.0
    x[0], x[1], x[2] = 0.0, 0.0, 0.0
    for p in range(points.node.shape[0]):
        b = points.node[p]
        transform(R[b], P[b], place[p], d[p])
        M += points.mass[p]
        for a in range(3):
            x[a] += points.mass[p] * d[p, a]
    for a in range(3):
        x[a] /= M
    if jac:
        com_jacobian(model, P, K.A[i], d, M, K.Jx[i])
    for p in range(points.node.shape[0]):
        for a in range(3):
            d[p, a] -= x[a]
    for j in range(center.shape[0]):
        tip(i, j, model, center[j], terrain, jac, K)


@njit(cache=True)
def com_jacobian(model, P, A, place, M, Jx):
    """Jx[:, c] = A x (sum m P - m O)/M over the points below coordinate c; ``place`` (p, 3) are the points' places."""
    parent, kind, nodes = model.tree.parent, model.tree.kind, model.nodes
    point_node, point_mass = model.points.node, model.points.mass
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
def tip(i, j, model, center, terrain, jac, K):
    """Contact point, rolling direction, spin and ground normal of end effector j at sample i, with Jacobians over its chain."""
    tips, kind, nodes, chain = model.tips, model.tree.kind, model.nodes, model.tips.chain
    R, P, A, e, t, m, n, sigma, C = K.R[i], K.P[i], K.A[i], K.e[i], K.t[i], K.m[i], K.n[i], K.sigma[i], K.C[i]
    Je, Jt, Js, Jn = K.Je[i], K.Jt[i], K.Js[i], K.Jn[i]
    b, r = tips.node[j], tips.radius[j]
    transform(R[b], P[b], center, C[j])
    h = np.empty(6)
    curved = terrain.heights.shape[0] > 0
    ground(terrain, C[j, 0], C[j, 1], h)
    s = np.sqrt(1.0 + h[1] * h[1] + h[2] * h[2])
    n[j, 0], n[j, 1], n[j, 2] = -h[1] / s, -h[2] / s, 1.0 / s
    u = np.empty(3)
    a = np.empty(3)
    length = 1.0
    if tips.kind[j] == BALL:
        for p in range(3):
            e[j, p] = C[j, p] - r * n[j, p]
            t[j, p] = 0.0
            m[j, p] = -n[j, p]
        sigma[j] = 0.0
    else:
        zero = np.zeros(3)
        transform(R[b], zero, tips.axis[j], a)
        cross(a, n[j], u)
        length = np.sqrt(dot(u, u))
        for p in range(3):
            t[j, p] = u[p] / length
        cross(a, t[j], m[j])
        for p in range(3):
            e[j, p] = C[j, p] + r * m[j, p]
        transform(R[b], zero, tips.across[j], u)
        # the direction across, turned about a from t towards a x t = m
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
        for p in range(3):
            Je[j, p, k] = v[p]
            Jt[j, p, k] = 0.0
        if curved:
            dn[0], dn[1], dn[2] = -h[3] * v[0] - h[4] * v[1], -h[4] * v[0] - h[5] * v[1], 0.0
            along = dot(n[j], dn)
            for p in range(3):
                dn[p] = (dn[p] - n[j, p] * along) / s
                Jn[j, p, k] = dn[p]
        if tips.kind[j] == BALL:
            for p in range(3):
                Je[j, p, k] -= r * dn[p]
            continue
        if kind[w] != HINGE and not curved:
            continue
        turning = 0.0
        for p in range(3):
            da[p] = 0.0
        if kind[w] == HINGE:
            cross(A[w], a, da)
            turning = dot(A[w], a)
        cross(da, n[j], du)
        cross(a, dn, v)
        for p in range(3):
            du[p] += v[p]
        along = dot(t[j], du)
        for p in range(3):
            dt[p] = (du[p] - t[j, p] * along) / length
            Jt[j, p, k] = dt[p]
        cross(da, t[j], dm)
        cross(a, dt, v)
        for p in range(3):
            Je[j, p, k] += r * (dm[p] + v[p])
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
def momentum_jacobian(i, model, K, other, scale, out):
    """Out[:, c] = scale sum_{p below c} m (dP_p/dq_c) x other_p at sample i, with P_p = d_p + x.

    By the sums G = sum m (P - O) other^T of each subtree: a hinge gives G A - A tr G, a slide A x sum m other.
    """
    parent, kind, nodes, point_node, point_mass = (
        model.tree.parent,
        model.tree.kind,
        model.nodes,
        model.points.node,
        model.points.mass,
    )
    P, A, x, d = K.P[i], K.A[i], K.x[i], K.d[i]
    N = parent.shape[0]
    G = np.zeros((N, 3, 3))
    S = np.zeros((N, 3))
    for p in range(point_node.shape[0]):
        b = point_node[p]
        for a in range(3):
            S[b, a] += point_mass[p] * other[p, a]
            w = point_mass[p] * (d[p, a] + x[a])
            for k in range(3):
                G[b, a, k] += w * other[p, k]
    for b in range(N - 1, -1, -1):
        if parent[b] >= 0:
            for a in range(3):
                S[parent[b], a] += S[b, a]
                for k in range(3):
                    G[parent[b], a, k] += G[b, a, k]
    v = np.empty(3)
    for c in range(nodes.shape[0]):
        b = nodes[c]
        if kind[b] == HINGE:
            trace = 0.0
            for a in range(3):
                trace += G[b, a, a] - P[b, a] * S[b, a]
            for a in range(3):
                v[a] = -A[b, a] * trace
                for k in range(3):
                    v[a] += (G[b, a, k] - P[b, a] * S[b, k]) * A[b, k]
        else:
            cross(A[b], S[b], v)
        for a in range(3):
            out[a, c] = scale * v[a]
