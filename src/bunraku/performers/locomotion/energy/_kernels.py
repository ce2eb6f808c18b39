"""The energy of a motion: objective and augmented rows over all samples, with gradient and Gauss-Newton blocks on demand.

Blocks as in `optimization.blocks`: H (T, 3, nv, nv), H[i, d] the block (i + d, i); B (T, 3, nv) that of D; C (3, 3).
"""

from __future__ import annotations

import numpy as np
from numba import njit

from bunraku.mechanics.centroidal._kernels import move
from bunraku.performers.locomotion._kernels import fold, put, wrap
from bunraku.performers.locomotion.rows._kernels import sample

PERIODIC, OPEN = 0, 1


@njit(cache=True)
def extend(v, D, nq, ends, v_ext, has, M, N):
    """Unknowns of the samples before the first and after the last: copies (periodic) or data, with their derivatives M, N.

    ``ends``: (kind, permutation, sign, has_before, before, has_after, after).
    """
    kind, permutation, sign, has_before, before, has_after, after = ends
    T, nv = v.shape
    for i in range(T):
        has[i + 1] = 1
        for k in range(nv):
            v_ext[i + 1, k] = v[i, k]
    has[0], has[T + 1] = 1, 1
    if kind == PERIODIC:
        wrap(v[T - 1], nq, D, True, permutation, sign, v_ext[0], M[0], N[0])
        wrap(v[0], nq, D, False, permutation, sign, v_ext[T + 1], M[1], N[1])
        return
    has[0], has[T + 1] = has_before, has_after
    for k in range(nv):
        v_ext[0, k] = before[k]
    wrap(after, nq, D, False, permutation, sign, v_ext[T + 1], M[1], N[1])
    for b in range(2):
        for i in range(nv):
            for j in range(nv):
                M[b, i, j] = 0.0
            if b == 0:
                for j in range(3):
                    N[b, i, j] = 0.0


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
def pins(v, D, nq, bounds, jac, weight, s, r, H, B, C, g, gD):
    """The first pose, the last up to the shift D, and the gauge (place and heading of the first)."""
    _, pin_start, start, pin_end, end, gauge, _, _, _, _ = bounds
    T = v.shape[0]
    if pin_start:
        for c in range(nq):
            r[c] = v[0, c] - start[c]
            if jac:
                H[0, 0, c, c] += weight
                g[0, c] += weight * (r[c] + s[c])
    row = np.zeros(3)
    c3, s3 = np.cos(D[2]), np.sin(D[2])
    if pin_end:
        for c in range(nq):
            for a in range(3):
                row[a] = 0.0
            value = end[c]
            if c == 0:
                value = c3 * end[0] - s3 * end[1] + D[0]
                row[0], row[2] = -1.0, s3 * end[0] + c3 * end[1]
            elif c == 1:
                value = s3 * end[0] + c3 * end[1] + D[1]
                row[1], row[2] = -1.0, -c3 * end[0] + s3 * end[1]
            elif c == 3:
                value = end[3] + D[2]
                row[2] = -1.0
            r[nq + c] = v[T - 1, c] - value
            if jac:
                q = weight * (r[nq + c] + s[nq + c])
                H[T - 1, 0, c, c] += weight
                g[T - 1, c] += q
                for a in range(3):
                    gD[a] += q * row[a]
                    B[T - 1, a, c] += weight * row[a]
                    for b in range(3):
                        C[a, b] += weight * row[a] * row[b]
    if gauge:
        for a in range(3):
            c = 3 if a == 2 else a
            r[2 * nq + a] = v[0, c]
            if jac:
                H[0, 0, c, c] += weight
                g[0, c] += weight * (r[2 * nq + a] + s[2 * nq + a])


@njit(cache=True)
def goals(v, D, nq, ends, bounds, K, jac, weight, s, r, H, B, C, g, gD):
    """How far the centre of mass goes and the base turns: of a cycle by what D makes of its start, else at the last sample."""
    _, _, _, _, _, _, goal, wanted, mirrored, origin = bounds
    T = v.shape[0]
    x, Jx = K[3], K[4]
    c3, s3 = np.cos(D[2]), np.sin(D[2])
    row = np.zeros(3)
    whole = np.zeros(nq)
    for a in range(3):
        o = 2 * nq + 3 + a
        for b in range(3):
            row[b] = 0.0
        for c in range(nq):
            whole[c] = 0.0
        at = 0
        if wanted[a] == 0.0:
            continue
        if ends[0] == OPEN:
            at = T - 1
            if a == 2:
                r[o] = v[T - 1, 3] - origin[2]
                whole[3] = 1.0
            else:
                r[o] = x[T, a] - origin[a]
                for c in range(nq):
                    whole[c] = Jx[T, a, c]
        elif a == 2:
            r[o] = D[2]
            row[2] = 1.0
        elif mirrored:
            if a == 0:
                r[o] = D[0] + c3 * D[0] + s3 * D[1]
                row[0], row[1], row[2] = 1.0 + c3, s3, -s3 * D[0] + c3 * D[1]
            else:
                r[o] = D[1] + s3 * D[0] - c3 * D[1]
                row[0], row[1], row[2] = s3, 1.0 - c3, c3 * D[0] + s3 * D[1]
        else:
            u, y = (c3, -s3) if a == 0 else (s3, c3)
            r[o] = u * x[1, 0] + y * x[1, 1] + D[a] - x[1, a]
            row[a] = 1.0
            row[2] = (-s3 * x[1, 0] - c3 * x[1, 1]) if a == 0 else (c3 * x[1, 0] - s3 * x[1, 1])
            for c in range(nq):
                whole[c] = u * Jx[1, 0, c] + y * Jx[1, 1, c] - Jx[1, a, c]
        r[o] -= goal[a]
        if jac:
            q = weight * (r[o] + s[o])
            for c in range(nq):
                g[at, c] += q * whole[c]
                for b in range(nq):
                    H[at, 0, c, b] += weight * whole[c] * whole[b]
                for b in range(3):
                    B[at, b, c] += weight * row[b] * whole[c]
            for b in range(3):
                gD[b] += q * row[b]
                for c in range(3):
                    C[b, c] += weight * row[b] * row[c]


@njit(cache=True)
def boundary(v, D, nq, ends, bounds, K, jac, w, s, r, H, B, C, g, gD):
    """Rows at the ends, scale in ``bounds``: pins of the first and last pose, gauge, goal. Values to ``r``.

    ``bounds``: (scale, pin_start, start, pin_end, end, gauge, goal (x, y, yaw), wanted (3), mirrored, origin).
    """
    weight = 2.0 * w * bounds[0] * bounds[0]
    for k in range(r.shape[0]):
        r[k] = 0.0
    pins(v, D, nq, bounds, jac, weight, s, r, H, B, C, g, gD)
    goals(v, D, nq, ends, bounds, K, jac, weight, s, r, H, B, C, g, gD)


@njit(cache=True)
def penalty(w, scale, inequality, s, r):
    """Sum w (scale (r + s))^2 over equalities, and over inequalities where r + s > 0."""
    total = 0.0
    for k in range(r.shape[0]):
        value = r[k] + s[k]
        if inequality[k] and value <= 0.0:
            continue
        total += w * (scale[k] * value) ** 2
    return total


@njit(cache=True)
def scatter(i, T, nv, L, g_local, LD, H, B, g):
    """Add the local matrix of sample i (lower triangle) to the blocks; samples outside 0..T-1 modulo T."""
    place = ((i - 1) % T, i, (i + 1) % T)
    for b in range(3):
        for c in range(nv):
            g[place[b], c] += g_local[b * nv + c]
            for k in range(3):
                B[place[b], k, c] += LD[k, b * nv + c]
        for a in range(b, 3):
            block = H[place[b], a - b]
            for p in range(nv):
                for q in range(p + 1 if a == b else nv):
                    block[p, q] += L[a * nv + p, b * nv + q]


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
