"""Joint torques of a plan by its own inverse dynamics, and the Jacobian of one of them.

``f``: the forces (3 n_e) of the ground on the end effectors and, where it has 6 n_e numbers, its torques on them after these.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from bunraku.mechanics.centroidal._kernels import column, cross, dot
from bunraku.mechanics.tree._kernels import HINGE


@njit(cache=True)
def torques(parent, kind, nodes, points, tip_node, P, A, x, d, e, f, i, h, gravity, load, tau):
    """Torque (nq,) at every coordinate at extended sample ``i``: A.[sum (P - O) x m (a + g) - sum ((e - O) x f + t)].

    The sums are over what the coordinate carries. ``load`` (p, 3) out: m (a + g) of the points, a their second difference.
    """
    point_node, _, point_mass = points
    n = parent.shape[0]
    F, Q = np.zeros((n, 3)), np.zeros((n, 3))
    place, v = np.empty(3), np.empty(3)
    for p in range(point_node.shape[0]):
        for a in range(3):
            place[a] = d[i, p, a] + x[i, a]
            second = d[i + 1, p, a] + x[i + 1, a] - 2.0 * place[a] + d[i - 1, p, a] + x[i - 1, a]
            load[p, a] = point_mass[p] * (second / (h * h) + (gravity if a == 2 else 0.0))
        cross(place, load[p], v)
        for a in range(3):
            F[point_node[p], a] += load[p, a]
            Q[point_node[p], a] += v[a]
    n_e = tip_node.shape[0]
    turned = f.shape[0] > 3 * n_e
    for j in range(n_e):
        b = tip_node[j]
        cross(e[i, j], f[3 * j : 3 * j + 3], v)
        for a in range(3):
            F[b, a] -= f[3 * j + a]
            Q[b, a] -= v[a] + (f[3 * (n_e + j) + a] if turned else 0.0)
    for b in range(n - 1, -1, -1):
        if parent[b] >= 0:
            for a in range(3):
                F[parent[b], a] += F[b, a]
                Q[parent[b], a] += Q[b, a]
    for c in range(nodes.shape[0]):
        b = nodes[c]
        if kind[b] == HINGE:
            cross(P[i, b], F[b], v)
            tau[c] = A[i, b, 0] * (Q[b, 0] - v[0]) + A[i, b, 1] * (Q[b, 1] - v[1]) + A[i, b, 2] * (Q[b, 2] - v[2])
        else:
            tau[c] = dot(A[i, b], F[b])


@njit(cache=True)
def torque_columns(c, i, kind, nodes, points, tips, moves, P, A, x, d, e, Je, f, load, h, nv, out):
    """Derivatives of torque c at extended sample i in the local unknowns (3 nv): before, now, after; written to ``out``.

    ``moves`` (nq, nodes): whether a coordinate moves a node.
    """
    point_node, _, point_mass = points
    tip_node, chain = tips[0], tips[6]
    nq, n_e = nodes.shape[0], tip_node.shape[0]
    turned = f.shape[0] > 3 * n_e
    for k in range(3 * nv):
        out[k] = 0.0
    b = nodes[c]
    origin, u = P[i, b], A[i, b]
    turns = kind[b] == HINGE
    r, v, w, dr, d_origin, du = np.empty(3), np.empty(3), np.empty(3), np.empty(3), np.empty(3), np.empty(3)
    for q in range(nq):
        above = q != c and moves[q, b] != 0
        for a in range(3):
            d_origin[a], du[a] = 0.0, 0.0
        if above:
            column(kind[nodes[q]], A[i, nodes[q]], P[i, nodes[q]], origin, d_origin)
            if kind[nodes[q]] == HINGE:
                cross(A[i, nodes[q]], u, du)
        for p in range(point_node.shape[0]):
            if moves[c, point_node[p]] == 0 or (moves[q, point_node[p]] == 0):
                continue
            for a in range(3):
                r[a] = d[i, p, a] + x[i, a]
            column(kind[nodes[q]], A[i, nodes[q]], P[i, nodes[q]], r, dr)
            for s in range(3):
                k = i + s - 1
                for a in range(3):
                    w[a] = d[k, p, a] + x[k, a]
                column(kind[nodes[q]], A[k, nodes[q]], P[k, nodes[q]], w, v)
                share = point_mass[p] / (h * h) * (-2.0 if s == 1 else 1.0)
                if turns:
                    for a in range(3):
                        r[a] -= origin[a]
                    cross(r, v, w)
                    for a in range(3):
                        r[a] += origin[a]
                    out[s * nv + q] += share * dot(u, w)
                else:
                    out[s * nv + q] += share * dot(u, v)
            if turns:
                for a in range(3):
                    r[a] -= origin[a]
                    dr[a] -= d_origin[a]
                cross(r, load[p], w)
                cross(dr, load[p], v)
                out[nv + q] += dot(du, w) + dot(u, v)
            else:
                out[nv + q] += dot(du, load[p])
        for j in range(tip_node.shape[0]):
            if moves[c, tip_node[j]] == 0 or moves[q, tip_node[j]] == 0:
                continue
            g = f[3 * j : 3 * j + 3]
            if not turns:
                out[nv + q] -= dot(du, g)
                continue
            k = 0
            while chain[j, k] != q:
                k += 1
            for a in range(3):
                r[a] = e[i, j, a] - origin[a]
                dr[a] = Je[i, j, a, k] - d_origin[a]
            cross(r, g, w)
            cross(dr, g, v)
            out[nv + q] -= dot(du, w) + dot(u, v)
            if turned:
                out[nv + q] -= dot(du, f[3 * (n_e + j) : 3 * (n_e + j) + 3])
    for j in range(tip_node.shape[0]):
        if moves[c, tip_node[j]] == 0:
            continue
        for a in range(3):
            r[a] = e[i, j, a] - origin[a]
        cross(u, r, v)
        for a in range(3):
            out[nv + nq + 3 * j + a] = -v[a] if turns else -u[a]
            if turned and turns:
                out[nv + nq + 3 * (n_e + j) + a] = -u[a]
