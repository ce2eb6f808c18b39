"""Joint torques of a plan by its own inverse dynamics, and the Jacobian of one of them.

``f``: the forces (3 n_e) of the ground on the end effectors and, where it has 6 n_e numbers, its torques on them after these.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls, no-check-untyped-defs
from __future__ import annotations

import numpy as np
from numba import njit

from bunraku.mechanics.centroidal.kinematics_kernels import column, cross, dot
from bunraku.mechanics.tree.tree_kernels import HINGE


@njit(cache=True)
def torques(i, model, K, f, h, gravity, load, tau):
    """Torque (nq,) at every coordinate at extended sample ``i``: A.[sum (P - O) x m (a + g) - sum ((e - O) x f + t)].

    The sums are over what the coordinate carries. ``load`` (p, 3) out: m (a + g) of the points, a their second difference.
    """
    parent, kind, nodes, point_node, point_mass = (
        model.tree.parent,
        model.tree.kind,
        model.nodes,
        model.points.node,
        model.points.mass,
    )
    tip_node, P, A, x, d, e = model.tips.node, K.P, K.A, K.x, K.d, K.e
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
def torque_columns(c, i, model, K, f, load, h, out):
    """Derivatives of torque c at extended sample i in the local unknowns (3 nv): before, now, after; written to ``out``."""
    kind, nodes, moves, point_node, point_mass = model.tree.kind, model.nodes, model.moves, model.points.node, model.points.mass
    tip_node, chain, P, A, x, d, e, Je = model.tips.node, model.tips.chain, K.P, K.A, K.x, K.d, K.e, K.Je
    nq, n_e = nodes.shape[0], tip_node.shape[0]
    nv = nq + f.shape[0]
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


@njit(cache=True)
def torque_sums(i, model, K, f, load, sums):
    """Sums over what each node carries at extended sample ``i``, for `torque_slopes`.

    ``mass`` (n,); ``first`` (3, n, 3): sum m P of the samples before, now and after; ``cross_moment`` (3, n, 3, 3): sum m P' P^T,
    P' of that sample; ``F``, ``Q`` (n, 3), ``K`` (n, 3, 3): sums of l, P x l and P l^T over the loads l of points (``load``, of
    `torques`) and the forces -f of the ground, Q with its torques.
    """
    parent, point_node, point_mass, tip_node = model.tree.parent, model.points.node, model.points.mass, model.tips.node
    x, d, e = K.x, K.d, K.e
    mass, first, cross_moment, F, Q, G = sums.mass, sums.first, sums.cross_moment, sums.F, sums.Q, sums.K
    n, n_e = parent.shape[0], tip_node.shape[0]
    turned = f.shape[0] > 3 * n_e
    for array in (F, Q):
        for b in range(n):
            for a in range(3):
                array[b, a] = 0.0
    for b in range(n):
        mass[b] = 0.0
        for a in range(3):
            for k in range(3):
                first[a, b, k] = 0.0
                G[b, a, k] = 0.0
                for s in range(3):
                    cross_moment[s, b, a, k] = 0.0
    r, v = np.empty(3), np.empty(3)
    for p in range(point_node.shape[0]):
        b, m = point_node[p], point_mass[p]
        for a in range(3):
            r[a] = d[i, p, a] + x[i, a]
        cross(r, load[p], v)
        mass[b] += m
        for a in range(3):
            F[b, a] += load[p, a]
            Q[b, a] += v[a]
            for k in range(3):
                G[b, a, k] += r[a] * load[p, k]
        for s in range(3):
            for a in range(3):
                there = m * (d[i + s - 1, p, a] + x[i + s - 1, a])
                first[s, b, a] += there
                for k in range(3):
                    cross_moment[s, b, a, k] += there * r[k]
    for j in range(n_e):
        b = tip_node[j]
        cross(e[i, j], f[3 * j : 3 * j + 3], v)
        for a in range(3):
            F[b, a] -= f[3 * j + a]
            Q[b, a] -= v[a] + (f[3 * (n_e + j) + a] if turned else 0.0)
            for k in range(3):
                G[b, a, k] -= e[i, j, a] * f[3 * j + k]
    for b in range(n - 1, -1, -1):
        q = parent[b]
        if q < 0:
            continue
        mass[q] += mass[b]
        for a in range(3):
            F[q, a] += F[b, a]
            Q[q, a] += Q[b, a]
            for k in range(3):
                first[a, q, k] += first[a, b, k]
                G[q, a, k] += G[b, a, k]
                for s in range(3):
                    cross_moment[s, q, a, k] += cross_moment[s, b, a, k]


@njit(cache=True)
def turned_by(u, A, origin, F, K):
    """The derivative u.[K' A - A tr K'], K' = K - O F^T, of u.sum (P - O) x l as all P turn about the axis A through O."""
    total, trace = 0.0, 0.0
    for a in range(3):
        trace += K[a, a] - origin[a] * F[a]
        for k in range(3):
            total += u[a] * (K[a, k] - origin[a] * F[k]) * A[k]
    return total - trace * dot(u, A)


@njit(cache=True)
def torque_slopes(c, i, model, K, h, nv, sums, idx, co):
    """Derivatives of the torque of hinge c at extended sample i: columns ``idx`` (of 3 nv), values ``co``; how many there are.

    As `torque_columns`, from the sums of `torque_sums` and for end effectors that touch with a fixed point of their body (soles):
    through positions as the loads stay, and through the second differences of positions in the loads. Columns ascend.
    """
    kind, nodes, moves, tip_node, P, A, e = model.tree.kind, model.nodes, model.moves, model.tips.node, K.P, K.A, K.e
    mass, first, cross_moment, F, Q, G = sums.mass, sums.first, sums.cross_moment, sums.F, sums.Q, sums.K
    nq, n_e = nodes.shape[0], tip_node.shape[0]
    b = nodes[c]
    origin, u = P[i, b], A[i, b]
    N, v, w, uM = np.empty(3), np.empty(3), np.empty(3), np.empty(3)
    cross(origin, F[b], v)
    for a in range(3):
        N[a] = Q[b, a] - v[a]
    n = 0
    for s in range(3):
        k, share = i + s - 1, (-2.0 if s == 1 else 1.0) / (h * h)
        deep = -1
        for q in range(nq):
            node = nodes[q]
            above = moves[q, b] != 0
            if not above and moves[c, node] == 0:
                continue
            if deep != (b if above else node):
                deep = b if above else node
                M, now, then, m = cross_moment[s, deep], first[1, deep], first[s, deep], mass[deep]
                trace, across = M[0, 0] + M[1, 1] + M[2, 2] - dot(then, origin), dot(u, then)
                for g in range(3):
                    uM[g] = u[0] * M[0, g] + u[1] * M[1, g] + u[2] * M[2, g]
            axis, there = A[k, node], P[k, node]
            along = dot(u, axis)
            if kind[node] == HINGE:
                # sum m (P' - O') (P - O)^T, of which u. .axis and the trace count
                up = dot(u, there)
                value = along * (trace - dot(there, now) + m * dot(there, origin))
                value -= dot(uM, axis) - up * dot(now, axis) + (m * up - across) * dot(origin, axis)
            else:
                for a in range(3):
                    w[a] = now[a] - m * origin[a]
                cross(u, w, v)
                value = dot(axis, v)
            value *= share
            if s == 1 and kind[node] == HINGE:
                if above:
                    cross(axis, u, v)
                    value += dot(v, N) + turned_by(u, axis, origin, F[b], G[b])
                else:
                    value += turned_by(u, axis, there, F[node], G[node])
            idx[n], co[n] = s * nv + q, value
            n += 1
        if s != 1:
            continue
        for j in range(n_e):
            if moves[c, tip_node[j]] != 0:
                for a in range(3):
                    w[a] = e[i, j, a] - origin[a]
                cross(u, w, v)
                for a in range(3):
                    idx[n], co[n] = nv + nq + 3 * j + a, -v[a]
                    n += 1
        for j in range(n_e):
            if moves[c, tip_node[j]] != 0:
                for a in range(3):
                    idx[n], co[n] = nv + nq + 3 * (n_e + j) + a, -u[a]
                    n += 1
    return n
