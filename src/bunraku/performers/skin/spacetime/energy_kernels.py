"""The energy of a plan on soles: objective and augmented rows over all samples, with gradient and Gauss-Newton blocks on demand.

Blocks as in `optimization.blocks`: H (T, 3, nv, nv), H[i, d] the block (i + d, i); B (T, 3, nv) that of D; C (3, 3).
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls, no-check-untyped-defs
from __future__ import annotations

import numpy as np
from numba import njit

from bunraku.mechanics.centroidal.curvature_kernels import bend_com, bend_tip
from bunraku.mechanics.centroidal.cycle_kernels import boundary, extend
from bunraku.mechanics.centroidal.kinematics_kernels import move
from bunraku.optimization.blocks.residual_kernels import fold, penalty, scatter
from bunraku.performers.skin.spacetime.constraint_kernels import sample
from bunraku.performers.skin.spacetime.objective_kernels import followed, smoothness, tracked_com, tracked_soles


@njit(cache=True)
def move_all(v_ext, has, nq, model, places, centers, terrain, jac, K):
    """Kinematics of all extended samples, each with its own ``places`` (T + 2, p, 3) of masses and ``centers`` (T + 2, n_e, 3)."""
    tree, nodes, points, tips = model
    for i in range(v_ext.shape[0]):
        if has[i]:
            here = (points[0], places[i], points[2])
            soles = (tips[0], centers[i], tips[2], tips[3], tips[4], tips[5], tips[6])
            move(
                tree, nodes, here, soles, terrain, v_ext[i, :nq], jac,
                K[0][i], K[1][i], K[2][i], K[3][i], K[4][i], K[5][i], K[6][i], K[7][i], K[8][i], K[9][i], K[10][i], K[11][i],
                K[12][i], K[13][i], K[14][i], K[15][i],
            )  # fmt: skip


@njit(cache=True)
def bend(n, model, moves, pull, K, nv, L):
    """Curvature that the pulls (3, n_e + 1, 3) at soles and centre of mass of samples n - 1, n, n + 1 add."""
    kind, nodes, chain = model[0][1], model[1], model[3][6]
    A, x_rows, e_rows = K[2], K[4], K[12]
    for b in range(3):
        i = n + b - 1
        for j in range(chain.shape[0]):
            if pull[b, j, 0] != 0.0 or pull[b, j, 1] != 0.0 or pull[b, j, 2] != 0.0:
                bend_tip(pull[b, j], kind, nodes, chain[j], A[i], e_rows[i, j], b * nv, L)
        last = pull[b, chain.shape[0]]
        if last[0] != 0.0 or last[1] != 0.0 or last[2] != 0.0:
            bend_com(last, kind, nodes, moves, A[i], x_rows[i], b * nv, L)


@njit(cache=True)
def energy(
    v, D, numbers, home, model, terrain, shapes, limits, plan, skin, weights, targets, ends, bounds, K, v_ext, w, rows, shifts,
    held, values, tau, jac, curved, H, B, C, g, gD,
):  # fmt: skip
    """The energy at (v, D); the objective alone is returned second. ``values``: (r (T, m), r of the ends) out; ``tau`` (T, nq) out.

    ``held`` (T, m): 1 or -1 where the blocks shall count an inequality as pushing or not, 0 where its value decides.
    ``curved``: whether second derivatives of places count in the blocks (which may then be indefinite).
    ``rows``: (scale (m,), inequality (m,)); ``shifts``: (s (T, m), s of the ends); ``shapes``: (places, centers); ``weights``:
    (smoothness, size (nv,), rate (nv,)); ``targets``: goal, weight, heading of the centre of mass; goal, weight, level of the
    soles; goal, weight of the coordinates.
    """
    scale, inequality = rows
    T, nv = v.shape
    nq = model[1].shape[0]
    has = np.zeros(T + 2, dtype=np.int64)
    M, N = np.zeros((2, nv, nv)), np.zeros((2, nv, 3))
    extend(v, D, nq, ends, v_ext, has, M, N)
    move_all(v_ext, has, nq, model, shapes[0], shapes[1], terrain, jac, K)
    if jac:
        H[:] = 0.0
        B[:] = 0.0
        C[:] = 0.0
        g[:] = 0.0
        gD[:] = 0.0
    idx, co = np.empty(3 * nv + 8, dtype=np.int64), np.empty(3 * nv + 8)
    L, gl, LD = np.zeros((3 * nv, 3 * nv)), np.zeros(3 * nv), np.zeros((3, 3 * nv))
    k = model[0][0].shape[0]
    sums = (
        np.zeros(k), np.zeros((3, k, 3)), np.zeros((3, k, 3, 3)), np.zeros((k, 3)), np.zeros((k, 3)), np.zeros((k, 3, 3))
    )  # fmt: skip
    objective, total = 0.0, 0.0
    pull = np.zeros((3, K[6].shape[1] + 1, 3))
    for i in range(T):
        if jac:
            L[:] = 0.0
            gl[:] = 0.0
            LD[:] = 0.0
        n, before, after = i + 1, has[i] != 0, has[i + 2] != 0
        s, r = shifts[0][i], values[0][i]
        pull[:] = 0.0
        objective += sample(
            n,
            before,
            after,
            numbers,
            home,
            model,
            limits,
            plan,
            skin,
            sums,
            K,
            v_ext,
            tau[i],
            jac,
            w,
            scale,
            s,
            held[i],
            r,
            L,
            gl,
            idx,
            co,
            curved,
            pull,
        )
        total += penalty(w, scale, inequality, s, r)
        objective += smoothness(n, before, after, nq, weights[0], weights[1], weights[2], v_ext, jac, L, gl, idx, co)
        objective += tracked_com(
            n, targets[0][i], targets[1][i], targets[2][i], nq, nv, K[3], K[4], jac, L, gl, idx, co, pull[1, -1]
        )
        objective += tracked_soles(n, targets[3][i], targets[4][i], targets[5][i], model, nv, K, jac, L, gl, idx, co, pull[1])
        objective += followed(n, targets[6][i], targets[7][i], v_ext, jac, L, gl)
        if not jac:
            continue
        if curved:
            bend(n, model, plan[4], pull, K, nv, L)
        if i == 0 or i == T - 1:
            for a in range(3 * nv):
                for b in range(a):
                    L[b, a] = L[a, b]
            b = 0 if i == 0 else 1
            fold(L, gl, 2 * b, M[b], N[b], LD, C, gD)
        scatter(i, T, nv, L, gl, LD, H, B, g)
    boundary(v, D, nq, ends, bounds, K, jac, w, shifts[1], values[1], H, B, C, g, gD)
    for k in range(values[1].shape[0]):
        total += w * (bounds[0] * (values[1][k] + shifts[1][k])) ** 2
    return objective + total, objective
