"""Constraints of one sample of a motion over the ground that any plan has: Newton, Euler, ranges and speeds of joints.

``K``: the kinematics of all extended samples (`KinematicArrays`, index i + 1 for sample i); ``local``: the sample's `LocalSystem`.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls, no-check-untyped-defs
from __future__ import annotations

import numpy as np
from numba import njit

from bunraku.mechanics.centroidal.kinematics_kernels import cross, momentum, momentum_jacobian
from bunraku.optimization.blocks.residual_kernels import active, put, put_all


@njit(cache=True, forceinline=True)
def pushes(k, local):
    """Whether inequality k pushes."""
    return active(k, local.r, local.s, local.held)


@njit(cache=True, forceinline=True)
def constrain(k, n, local):
    """Add constraint k, the ``n`` derivatives of whose value stand in ``local.idx`` and ``local.co``, to the sample's system."""
    put(local.L, local.g, local.idx, local.co, n, 2.0 * local.w * local.scale[k] ** 2, local.r[k] + local.s[k])


@njit(cache=True, forceinline=True)
def dynamics(i, h, M, gravity, model, K, f, local):
    """Newton (3): sum f - M (x+ - 2x + x-)/h^2 - M g z; Euler (3): sum (e - x) x f + t - (L+ - L-)/h. Sample i is extended.

    ``f``: forces (3 n_e) of the ground and, where it has 6 n_e numbers, its torques t about the contact points.
    """
    x, Jx, d, e, Je, r, mass = K.x, K.Jx, K.d, K.e, K.Je, local.r, model.points.mass
    nq, ne = model.nodes.shape[0], e.shape[1]
    nv = nq + f.shape[0]
    turned = f.shape[0] > 3 * ne
    chain = model.tips.chain
    for a in range(3):
        total = 0.0
        for j in range(ne):
            total += f[3 * j + a]
        r[a] = total - M * ((x[i + 1, a] - 2.0 * x[i, a] + x[i - 1, a]) / (h * h) + (gravity if a == 2 else 0.0))
    after, before, arm, v = np.empty(3), np.empty(3), np.empty(3), np.empty(3)
    momentum(mass, d[i], d[i + 1], h, after)
    momentum(mass, d[i - 1], d[i], h, before)
    for a in range(3):
        r[3 + a] = -(after[a] - before[a]) / h
    for j in range(ne):
        for a in range(3):
            arm[a] = e[i, j, a] - x[i, a]
        cross(arm, f[3 * j : 3 * j + 3], v)
        for a in range(3):
            r[3 + a] += v[a] + (f[3 * (ne + j) + a] if turned else 0.0)
    if not local.jac:
        return
    rows, c, values = np.zeros((6, 3 * nv)), np.empty(6), np.empty(6)
    for a in range(6):
        c[a], values[a] = 2.0 * local.w * local.scale[a] ** 2, r[a] + local.s[a]
    for a in range(3):
        for q in range(nq):
            rows[a, q] = -M * Jx[i - 1, a, q] / (h * h)
            rows[a, nv + q] = 2.0 * M * Jx[i, a, q] / (h * h)
            rows[a, 2 * nv + q] = -M * Jx[i + 1, a, q] / (h * h)
        for j in range(ne):
            rows[a, nv + nq + 3 * j + a] = 1.0
    J = np.zeros((4, 3, nq))
    # d(L+)/dq = sum m dP x d+/h, d(L-)/dq = sum m d- x dP/h; and the same seen from the neighbours
    momentum_jacobian(i, model, K, d[i + 1], -1.0 / (h * h), J[0])
    momentum_jacobian(i, model, K, d[i - 1], -1.0 / (h * h), J[1])
    momentum_jacobian(i - 1, model, K, d[i], 1.0 / (h * h), J[2])
    momentum_jacobian(i + 1, model, K, d[i], 1.0 / (h * h), J[3])
    for q in range(nq):
        for a in range(3):
            J[0, a, q] += J[1, a, q]
    total = np.zeros(3)
    for j in range(ne):
        for a in range(3):
            total[a] += f[3 * j + a]
    for q in range(nq):
        for a in range(3):
            arm[a] = Jx[i, a, q]
        cross(arm, total, v)
        for a in range(3):
            J[0, a, q] -= v[a]
    for j in range(ne):
        for k in range(chain.shape[1]):
            q = chain[j, k]
            if q < 0:
                break
            for a in range(3):
                arm[a] = Je[i, j, a, k]
            cross(arm, f[3 * j : 3 * j + 3], v)
            for a in range(3):
                J[0, a, q] += v[a]
    for a in range(3):
        for q in range(nq):
            rows[3 + a, q], rows[3 + a, nv + q], rows[3 + a, 2 * nv + q] = J[2, a, q], J[0, a, q], J[3, a, q]
        b, q = (a + 1) % 3, (a + 2) % 3
        for j in range(ne):
            # (arm x f)_a = arm_b f_q - arm_q f_b
            rows[3 + a, nv + nq + 3 * j + q] = e[i, j, b] - x[i, b]
            rows[3 + a, nv + nq + 3 * j + b] = -(e[i, j, q] - x[i, q])
            if turned:
                rows[3 + a, nv + nq + 3 * (ne + j) + a] = 1.0
    put_all(local.L, local.g, rows, c, values)


@njit(cache=True, forceinline=True)
def range_and_speed(c, i, k, h, limits, v, after, local):
    """Constraints k, k + 1: the range (an equality where it is zero) and the speed to the next sample of coordinate c."""
    nv, half, r, idx, co = v.shape[1], limits.half[c], local.r, local.idx, local.co
    off = v[i, c] - limits.middle[c]
    r[k] = abs(off) - half if half > 0.0 else off
    if local.jac and (half == 0.0 or pushes(k, local)):
        idx[0], co[0] = nv + c, -1.0 if half > 0.0 and off < 0.0 else 1.0
        constrain(k, 1, local)
    if not after:
        return
    rate = (v[i + 1, c] - v[i, c]) / h
    r[k + 1] = abs(rate) - limits.speed[c]
    if local.jac and pushes(k + 1, local):
        sign = (1.0 if rate >= 0.0 else -1.0) / h
        idx[0], co[0], idx[1], co[1] = nv + c, -sign, 2 * nv + c, sign
        constrain(k + 1, 2, local)
