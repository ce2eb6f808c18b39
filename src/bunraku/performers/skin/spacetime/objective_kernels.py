"""Terms of the objective of a plan on soles at one sample, each returned with its weight; gradient and curvature on demand."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls, no-check-untyped-defs
from __future__ import annotations

import numpy as np
from numba import njit

from bunraku.mechanics.centroidal.kinematics_kernels import cross
from bunraku.mechanics.tree.tree_kernels import HINGE
from bunraku.optimization.blocks.residual_kernels import put


@njit(cache=True)
def tracked_com(i, wish, weight, heading, nv, K, local, pull):
    """Sum of weight (u.(x - wish))^2 over u forward, sideways (``heading``: cosine, sine of the yaw) and up.

    ``pull`` (3,): its derivative in x is added.
    """
    x, Jx, idx, co = K.x, K.Jx, local.idx, local.co
    nq, total = Jx.shape[2], 0.0
    c, s = heading[0], heading[1]
    for a in range(3):
        if weight[a] == 0.0:
            continue
        u0, u1, u2 = (c, s, 0.0) if a == 0 else ((-s, c, 0.0) if a == 1 else (0.0, 0.0, 1.0))
        value = u0 * (x[i, 0] - wish[0]) + u1 * (x[i, 1] - wish[1]) + u2 * (x[i, 2] - wish[2])
        total += weight[a] * value * value
        if local.jac:
            for k in range(nq):
                idx[k], co[k] = nv + k, u0 * Jx[i, 0, k] + u1 * Jx[i, 1, k] + u2 * Jx[i, 2, k]
            put(local.L, local.g, idx, co, nq, 2.0 * weight[a], value)
            pull[0] += 2.0 * weight[a] * value * u0
            pull[1] += 2.0 * weight[a] * value * u1
            pull[2] += 2.0 * weight[a] * value * u2
    return total


@njit(cache=True)
def tracked_soles(i, wish, weight, level, model, nv, K, local, pull):
    """Sum of weight (e - wish)^2 over soles and axes, and of level |R a - z|^2, a the normal of a sole.

    ``pull`` (n_e + 1, 3): the derivative of the first in e is added.
    """
    nodes, tips, chain, idx, co = model.nodes, model.tips, model.tips.chain, local.idx, local.co
    R, A, e, Je = K.R, K.A, K.e, K.Je
    up, v = np.empty(3), np.empty(3)
    total = 0.0
    for j in range(wish.shape[0]):
        for a in range(3):
            if weight[j, a] == 0.0:
                continue
            value = e[i, j, a] - wish[j, a]
            total += weight[j, a] * value * value
            if local.jac:
                k = 0
                while chain[j, k] >= 0:
                    idx[k], co[k] = nv + chain[j, k], Je[i, j, a, k]
                    k += 1
                put(local.L, local.g, idx, co, k, 2.0 * weight[j, a], value)
                pull[j, a] += 2.0 * weight[j, a] * value
        if level[j] == 0.0:
            continue
        b = tips.node[j]
        for a in range(3):
            up[a] = R[i, b, a, 0] * tips.axis[j, 0] + R[i, b, a, 1] * tips.axis[j, 1] + R[i, b, a, 2] * tips.axis[j, 2]
        for a in range(3):
            value = up[a] - (1.0 if a == 2 else 0.0)
            total += level[j] * value * value
            if local.jac:
                k, n = 0, 0
                while chain[j, k] >= 0:
                    node = nodes[chain[j, k]]
                    if model.tree.kind[node] == HINGE:
                        cross(A[i, node], up, v)
                        idx[n], co[n] = nv + chain[j, k], v[a]
                        n += 1
                    k += 1
                put(local.L, local.g, idx, co, n, 2.0 * level[j], value)
    return total


@njit(cache=True)
def followed(i, wish, weight, v, local):
    """Sum of weight (q - wish)^2 over the coordinates."""
    nv = v.shape[1]
    total = 0.0
    for c in range(wish.shape[0]):
        value = v[i, c] - wish[c]
        total += weight[c] * value * value
        if local.jac:
            local.g[nv + c] += 2.0 * weight[c] * value
            local.L[nv + c, nv + c] += 2.0 * weight[c]
    return total
