"""The energy of a motion: objective and augmented rows over all samples, with gradient and Gauss-Newton blocks on demand.

Blocks as in `optimization.blocks`: H (T, 3, nv, nv), H[i, d] the block (i + d, i); B (T, 3, nv) that of D; C (3, 3).
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls, no-check-untyped-defs
from __future__ import annotations

import numpy as np
from numba import njit

from bunraku.mechanics.centroidal.cycle_kernels import boundary, extend
from bunraku.mechanics.centroidal.kinematics_kernels import move
from bunraku.optimization.blocks.residual_kernels import fold, penalty, put, scatter
from bunraku.performers.locomotion.constraint_kernels import sample


@njit(cache=True)
def smoothness(i, has_before, has_after, nq, numbers, home, v, jac, L, g, idx, co):
    """Regularizers of extended sample i: second differences of q, posture, forces and their differences; returns their sum."""
    reg, posture, force, rate = numbers[5], numbers[6], numbers[7], numbers[8]
    nv = v.shape[1]
    total = 0.0
    if has_before and has_after:
        for c in range(nq):
            value = v[i - 1, c] - 2.0 * v[i, c] + v[i + 1, c]
            total += reg * value * value
            if jac:
                idx[0], co[0], idx[1], co[1], idx[2], co[2] = c, 1.0, nv + c, -2.0, 2 * nv + c, 1.0
                put(L, g, idx, co, 3, 2.0 * reg, value)
    for c in range(2, nq):
        if c == 3:
            continue
        value = v[i, c] - home[c]
        total += posture * value * value
        if jac:
            g[nv + c] += 2.0 * posture * value
            L[nv + c, nv + c] += 2.0 * posture
    for c in range(nq, nv):
        total += force * v[i, c] * v[i, c]
        if jac:
            g[nv + c] += 2.0 * force * v[i, c]
            L[nv + c, nv + c] += 2.0 * force
        if has_after:
            value = v[i + 1, c] - v[i, c]
            total += rate * value * value
            if jac:
                g[nv + c] -= 2.0 * rate * value
                g[2 * nv + c] += 2.0 * rate * value
                L[nv + c, nv + c] += 2.0 * rate
                L[2 * nv + c, 2 * nv + c] += 2.0 * rate
                L[2 * nv + c, nv + c] -= 2.0 * rate
    return total


@njit(cache=True)
def aims(i, targets, model, K, nq, nv, jac, L, g, idx, co):
    """Targets between extended samples i and i + 1: weight |(1 - a) place_i + a place_{i+1} - target|^2; returns their sum."""
    at, share, what, place, weight = targets
    tips = model[3]
    x, Jx, e, Je, P = K[3], K[4], K[6], K[12], K[1]
    total = 0.0
    for n in range(at.shape[0]):
        if at[n] != i - 1:
            continue
        for a in range(3):
            if weight[n, a] == 0.0:
                continue
            value = -place[n, a]
            k = 0
            for side in range(2):
                part = share[n] if side else 1.0 - share[n]
                if part == 0.0:
                    continue
                q = i + side
                if what[n] == -1:
                    value += part * x[q, a]
                    if jac:
                        for c in range(nq):
                            idx[k], co[k] = (1 + side) * nv + c, part * Jx[q, a, c]
                            k += 1
                elif what[n] == -2:
                    value += part * P[q, model[1][5], a]
                    if jac:
                        idx[k], co[k] = (1 + side) * nv + a, part
                        k += 1
                else:
                    j = what[n]
                    value += part * e[q, j, a]
                    if jac:
                        c = 0
                        while tips[6][j, c] >= 0:
                            idx[k], co[k] = (1 + side) * nv + tips[6][j, c], part * Je[q, j, a, c]
                            k += 1
                            c += 1
            total += weight[n, a] * value * value
            if jac:
                put(L, g, idx, co, k, 2.0 * weight[n, a], value)
    return total


@njit(cache=True)
def energy(v, D, numbers, home, model, limits, plan, ends, bounds, targets, K, v_ext, w, rows, shifts, values, jac, H, B, C, g, gD):
    """The energy at (v, D); the objective alone is returned second. ``values``: (r (T, m), r of the ends) out.

    ``rows``: (scale (m,), inequality (m,)); ``shifts``: (s (T, m), s of the ends).
    """
    scale, inequality = rows
    T, nv = v.shape
    nq = model[1].shape[0]
    has = np.zeros(T + 2, dtype=np.int64)
    M, N = np.zeros((2, nv, nv)), np.zeros((2, nv, 3))
    extend(v, D, nq, ends, v_ext, has, M, N)
    for i in range(T + 2):
        if has[i]:
            move(
                model[0], model[1], model[2], model[3], plan[4], v_ext[i, :nq], jac,
                K[0][i], K[1][i], K[2][i], K[3][i], K[4][i], K[5][i], K[6][i], K[7][i], K[8][i], K[9][i], K[10][i], K[11][i],
                K[12][i], K[13][i], K[14][i], K[15][i],
            )  # fmt: skip
    if jac:
        H[:] = 0.0
        B[:] = 0.0
        C[:] = 0.0
        g[:] = 0.0
        gD[:] = 0.0
    idx, co = np.empty(3 * nv + 8, dtype=np.int64), np.empty(3 * nv + 8)
    L, g_local, LD = np.zeros((3 * nv, 3 * nv)), np.zeros(3 * nv), np.zeros((3, 3 * nv))
    objective, total = 0.0, 0.0
    for i in range(T):
        if jac:
            L[:] = 0.0
            g_local[:] = 0.0
            LD[:] = 0.0
        before, after = has[i] != 0, has[i + 2] != 0
        s, r = shifts[0][i], values[0][i]
        sample(i + 1, before, after, numbers, model, limits, plan, K, v_ext, jac, w, scale, s, r, L, g_local, idx, co)
        total += penalty(w, scale, inequality, s, r)
        objective += smoothness(i + 1, before, after, nq, numbers, home, v_ext, jac, L, g_local, idx, co)
        objective += aims(i + 1, targets, model, K, nq, nv, jac, L, g_local, idx, co)
        if not jac:
            continue
        if i == 0 or i == T - 1:
            for a in range(3 * nv):
                for b in range(a):
                    L[b, a] = L[a, b]
            b = 0 if i == 0 else 1
            fold(L, g_local, 2 * b, M[b], N[b], LD, C, gD)
        scatter(i, T, nv, L, g_local, LD, H, B, g)
    boundary(v, D, nq, ends, bounds, K, jac, w, shifts[1], values[1], H, B, C, g, gD)
    for k in range(values[1].shape[0]):
        total += w * (bounds[0] * (values[1][k] + shifts[1][k])) ** 2
    return objective + total, objective
