"""Terms of the objective of a plan on soles at one sample, each returned with its weight; gradient and curvature on demand."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls, no-check-untyped-defs
from __future__ import annotations

import numpy as np
from numba import njit

from bunraku.mechanics.centroidal.kinematics_kernels import cross
from bunraku.mechanics.tree.tree_kernels import HINGE
from bunraku.optimization.blocks.residual_kernels import put


@njit(cache=True)
def smoothness(i, before, after, nq, smooth, size, rate, v, jac, L, g, idx, co):
    """Second differences of q, sizes of forces and torques of the ground and their differences.

    ``size`` and ``rate`` (nv,): the weight of each unknown, zero for coordinates.
    """
    nv = v.shape[1]
    total = 0.0
    if before and after:
        for c in range(nq):
            value = v[i - 1, c] - 2.0 * v[i, c] + v[i + 1, c]
            total += smooth * value * value
            if jac:
                idx[0], co[0], idx[1], co[1], idx[2], co[2] = c, 1.0, nv + c, -2.0, 2 * nv + c, 1.0
                put(L, g, idx, co, 3, 2.0 * smooth, value)
    for c in range(nq, nv):
        total += size[c] * v[i, c] * v[i, c]
        if jac:
            g[nv + c] += 2.0 * size[c] * v[i, c]
            L[nv + c, nv + c] += 2.0 * size[c]
        if after:
            value = v[i + 1, c] - v[i, c]
            total += rate[c] * value * value
            if jac:
                idx[0], co[0], idx[1], co[1] = nv + c, -1.0, 2 * nv + c, 1.0
                put(L, g, idx, co, 2, 2.0 * rate[c], value)
    return total


@njit(cache=True)
def tracked_com(i, goal, weight, heading, nq, nv, x, Jx, jac, L, g, idx, co, pull):
    """Sum of weight (u.(x - goal))^2 over u forward, sideways (``heading``: cosine, sine of the yaw) and up.

    ``pull`` (3,): its derivative in x is added.
    """
    total = 0.0
    c, s = heading[0], heading[1]
    for a in range(3):
        if weight[a] == 0.0:
            continue
        u0, u1, u2 = (c, s, 0.0) if a == 0 else ((-s, c, 0.0) if a == 1 else (0.0, 0.0, 1.0))
        value = u0 * (x[i, 0] - goal[0]) + u1 * (x[i, 1] - goal[1]) + u2 * (x[i, 2] - goal[2])
        total += weight[a] * value * value
        if jac:
            for k in range(nq):
                idx[k], co[k] = nv + k, u0 * Jx[i, 0, k] + u1 * Jx[i, 1, k] + u2 * Jx[i, 2, k]
            put(L, g, idx, co, nq, 2.0 * weight[a], value)
            pull[0] += 2.0 * weight[a] * value * u0
            pull[1] += 2.0 * weight[a] * value * u1
            pull[2] += 2.0 * weight[a] * value * u2
    return total


@njit(cache=True)
def tracked_soles(i, goal, weight, level, model, nv, K, jac, L, g, idx, co, pull):
    """Sum of weight (e - goal)^2 over soles and axes, and of level |R a - z|^2, a the normal of a sole.

    ``pull`` (n_e + 1, 3): the derivative of the first in e is added.
    """
    tree, nodes, tips = model[0], model[1], model[3]
    R, A, e, Je = K[0], K[2], K[6], K[12]
    chain = tips[6]
    up, v = np.empty(3), np.empty(3)
    total = 0.0
    for j in range(goal.shape[0]):
        for a in range(3):
            if weight[j, a] == 0.0:
                continue
            value = e[i, j, a] - goal[j, a]
            total += weight[j, a] * value * value
            if jac:
                k = 0
                while chain[j, k] >= 0:
                    idx[k], co[k] = nv + chain[j, k], Je[i, j, a, k]
                    k += 1
                put(L, g, idx, co, k, 2.0 * weight[j, a], value)
                pull[j, a] += 2.0 * weight[j, a] * value
        if level[j] == 0.0:
            continue
        b = tips[0][j]
        for a in range(3):
            up[a] = R[i, b, a, 0] * tips[2][j, 0] + R[i, b, a, 1] * tips[2][j, 1] + R[i, b, a, 2] * tips[2][j, 2]
        for a in range(3):
            value = up[a] - (1.0 if a == 2 else 0.0)
            total += level[j] * value * value
            if jac:
                k, n = 0, 0
                while chain[j, k] >= 0:
                    node = nodes[chain[j, k]]
                    if tree[1][node] == HINGE:
                        cross(A[i, node], up, v)
                        idx[n], co[n] = nv + chain[j, k], v[a]
                        n += 1
                    k += 1
                put(L, g, idx, co, n, 2.0 * level[j], value)
    return total


@njit(cache=True)
def followed(i, goal, weight, v, jac, L, g):
    """Sum of weight (q - goal)^2 over the coordinates."""
    nv = v.shape[1]
    total = 0.0
    for c in range(goal.shape[0]):
        value = v[i, c] - goal[c]
        total += weight[c] * value * value
        if jac:
            g[nv + c] += 2.0 * weight[c] * value
            L[nv + c, nv + c] += 2.0 * weight[c]
    return total
