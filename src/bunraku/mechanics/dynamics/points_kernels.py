"""Positions of points along a motion, their Jacobians and contracted second derivatives. Arrays in, arrays out.

For the coordinates i, j of two nodes above a point p, j an ancestor of i or i itself, with world axes a and origins o:
dp/dq_i = d_i = a_i x (p - o_i) for a hinge and a_i for a slide; d2p/dq_j dq_i = a_j x d_i when j is a hinge, 0 when it slides.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls, no-check-untyped-defs
from __future__ import annotations

import numpy as np
from numba import njit

from bunraku.mechanics.tree.tree_kernels import HINGE, SLIDE, forward_kinematics


@njit(cache=True)
def place(R, origin, local, out):
    """Out = origin + R local."""
    for a in range(3):
        out[a] = origin[a] + R[a, 0] * local[0] + R[a, 1] * local[1] + R[a, 2] * local[2]


@njit(cache=True)
def positions(tree, q, node, local):
    """World positions (m, P, 3) of the points ``local`` (P, 3) in the nodes ``node`` (P,) at configurations ``q`` (m, nq)."""
    n = tree.parent.shape[0]
    rotation, position, world_axis = np.empty((n, 3, 3)), np.empty((n, 3)), np.empty((n, 3))
    out = np.empty((q.shape[0], node.shape[0], 3))
    for k in range(q.shape[0]):
        forward_kinematics(tree, q[k], rotation, position, world_axis)
        for i in range(node.shape[0]):
            place(rotation[node[i]], position[node[i]], local[i], out[k, i])
    return out


@njit(cache=True)
def jacobians(tree, q, node, local):
    """Derivatives (m, P, 3, nq) of the positions with respect to the coordinates."""
    n = tree.parent.shape[0]
    rotation, position, world_axis = np.empty((n, 3, 3)), np.empty((n, 3)), np.empty((n, 3))
    out = np.zeros((q.shape[0], node.shape[0], 3, q.shape[1]))
    p = np.empty(3)
    for k in range(q.shape[0]):
        forward_kinematics(tree, q[k], rotation, position, world_axis)
        for i in range(node.shape[0]):
            place(rotation[node[i]], position[node[i]], local[i], p)
            j = node[i]
            while j >= 0:
                c = tree.coordinate[j]
                x, y, z = world_axis[j]
                if tree.kind[j] == HINGE:
                    d0, d1, d2 = p[0] - position[j, 0], p[1] - position[j, 1], p[2] - position[j, 2]
                    out[k, i, 0, c] += y * d2 - z * d1
                    out[k, i, 1, c] += z * d0 - x * d2
                    out[k, i, 2, c] += x * d1 - y * d0
                elif tree.kind[j] == SLIDE:
                    out[k, i, 0, c] += x
                    out[k, i, 1, c] += y
                    out[k, i, 2, c] += z
                j = tree.parent[j]
    return out


@njit(cache=True)
def curvature(tree, q, node, local, weights):
    """Second derivatives (m, nq, nq) of the sum over the points of ``weights`` (m, P, 3) times their positions."""
    n = tree.parent.shape[0]
    rotation, position, world_axis = np.empty((n, 3, 3)), np.empty((n, 3)), np.empty((n, 3))
    out = np.zeros((q.shape[0], q.shape[1], q.shape[1]))
    p, d = np.empty(3), np.empty(3)
    for k in range(q.shape[0]):
        forward_kinematics(tree, q[k], rotation, position, world_axis)
        for i in range(node.shape[0]):
            place(rotation[node[i]], position[node[i]], local[i], p)
            f = weights[k, i]
            j = node[i]
            while j >= 0:
                if tree.kind[j] == HINGE:
                    x, y, z = world_axis[j]
                    e0, e1, e2 = p[0] - position[j, 0], p[1] - position[j, 1], p[2] - position[j, 2]
                    d[0], d[1], d[2] = y * e2 - z * e1, z * e0 - x * e2, x * e1 - y * e0
                elif tree.kind[j] == SLIDE:
                    d[:] = world_axis[j]
                else:
                    j = tree.parent[j]
                    continue
                h = j
                while h >= 0:
                    if tree.kind[h] == HINGE:
                        x, y, z = world_axis[h]
                        term = f[0] * (y * d[2] - z * d[1]) + f[1] * (z * d[0] - x * d[2]) + f[2] * (x * d[1] - y * d[0])
                        out[k, tree.coordinate[j], tree.coordinate[h]] += term
                        if h != j:
                            out[k, tree.coordinate[h], tree.coordinate[j]] += term
                    h = tree.parent[h]
                j = tree.parent[j]
    return out
