"""The ends of a motion over the ground: samples beyond them, shifted by D = (dx, dy, dyaw) (and mirrored), pins, gauge and travel.

A sample has the unknowns v = (q, f): coordinates, then vectors of the ground on the end effectors, three numbers each.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls, no-check-untyped-defs
from __future__ import annotations

import numpy as np
from numba import njit

PERIODIC, OPEN = 0, 1


@njit(cache=True)
def wrap(z, nq, D, inverse, permutation, sign, out, M, N):
    """Out = shift_D(S z) (or S shift_D^-1(z) if ``inverse``), M (nv, nv) and N (nv, 3) its derivatives in z and D.

    S: out[k] = sign[k] z[permutation[k]]; the shift turns (tx, ty) and forces by D[2], adds D to tx, ty and the yaw.
    """
    nv = z.shape[0]
    c, s = np.cos(D[2]), np.sin(D[2])
    for i in range(nv):
        for j in range(nv):
            M[i, j] = 0.0
        for j in range(3):
            N[i, j] = 0.0
    if inverse:
        s = -s
    y = np.empty(nv)
    for k in range(nv):
        y[k] = z[k] if inverse else sign[k] * z[permutation[k]]
    if inverse:
        y[0] -= D[0]
        y[1] -= D[1]
    shifted = y.copy()
    turn = -1.0 if inverse else 1.0
    k = 0
    while k < nv:
        if k == 0 or k >= nq:
            shifted[k] = c * y[k] - s * y[k + 1]
            shifted[k + 1] = s * y[k] + c * y[k + 1]
            # dR/dyaw y, the sign of the turn included
            N[k, 2] = turn * (-s * y[k] - c * y[k + 1])
            N[k + 1, 2] = turn * (c * y[k] - s * y[k + 1])
        k = nq if k == 0 else k + 3
    if inverse:
        shifted[3] -= D[2]
        N[3, 2] = -1.0
        N[0, 0], N[0, 1], N[1, 0], N[1, 1] = -c, s, -s, -c
    else:
        shifted[0] += D[0]
        shifted[1] += D[1]
        shifted[3] += D[2]
        N[3, 2] = 1.0
        N[0, 0], N[1, 1] = 1.0, 1.0
    # M: turn after S, or S after the inverse turn
    for k in range(nv):
        first = (k if k == 0 or k == 1 else -1) if k < nq else (k - nq) % 3
        if first == 0:
            M[k, k], M[k, k + 1] = c, -s
        elif first == 1:
            M[k, k], M[k, k - 1] = c, s
        else:
            M[k, k] = 1.0
    if inverse:
        rows, columns = M.copy(), N.copy()
        for k in range(nv):
            out[k] = sign[k] * shifted[permutation[k]]
            for j in range(nv):
                M[k, j] = sign[k] * rows[permutation[k], j]
            for j in range(3):
                N[k, j] = sign[k] * columns[permutation[k], j]
    else:
        rows = M.copy()
        for k in range(nv):
            out[k] = shifted[k]
            for j in range(nv):
                M[k, j] = 0.0
        for k in range(nv):
            for j in range(nv):
                if rows[k, j] != 0.0:
                    M[k, permutation[j]] += rows[k, j] * sign[j]


@njit(cache=True)
def extend(v, D, nq, beyond, v_ext, has, M, N):
    """Unknowns of the samples before the first and after the last: copies (periodic) or data, with their derivatives M, N.

    ``beyond``: `Neighbours`.
    """
    permutation, sign = beyond.permutation, beyond.sign
    T, nv = v.shape
    for i in range(T):
        has[i + 1] = 1
        for k in range(nv):
            v_ext[i + 1, k] = v[i, k]
    has[0], has[T + 1] = 1, 1
    if beyond.kind == PERIODIC:
        wrap(v[T - 1], nq, D, True, permutation, sign, v_ext[0], M[0], N[0])
        wrap(v[0], nq, D, False, permutation, sign, v_ext[T + 1], M[1], N[1])
        return
    has[0], has[T + 1] = beyond.has_before, beyond.has_after
    for k in range(nv):
        v_ext[0, k] = beyond.before[k]
    wrap(beyond.after, nq, D, False, permutation, sign, v_ext[T + 1], M[1], N[1])
    for b in range(2):
        for i in range(nv):
            for j in range(nv):
                M[b, i, j] = 0.0
            if b == 0:
                for j in range(3):
                    N[b, i, j] = 0.0


@njit(cache=True)
def pins(v, D, nq, ends, jac, weight, s, r, blocks):
    """The first pose, the last up to the shift D, and the gauge (place and heading of the first)."""
    end, H, B, C, g, gD = ends.end, blocks.H, blocks.B, blocks.C, blocks.g, blocks.gD
    T = v.shape[0]
    if ends.pin_start:
        for c in range(nq):
            r[c] = v[0, c] - ends.start[c]
            if jac:
                H[0, 0, c, c] += weight
                g[0, c] += weight * (r[c] + s[c])
    row = np.zeros(3)
    c3, s3 = np.cos(D[2]), np.sin(D[2])
    if ends.pin_end:
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
    if ends.gauge:
        for a in range(3):
            c = 3 if a == 2 else a
            r[2 * nq + a] = v[0, c]
            if jac:
                H[0, 0, c, c] += weight
                g[0, c] += weight * (r[2 * nq + a] + s[2 * nq + a])


@njit(cache=True)
def travels(v, D, nq, kind, ends, K, jac, weight, s, r, blocks):
    """How far the centre of mass goes and the base turns: of a cycle by what D makes of its start, else at the last sample."""
    T, x, Jx = v.shape[0], K.x, K.Jx
    H, B, C, g, gD = blocks.H, blocks.B, blocks.C, blocks.g, blocks.gD
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
        if ends.given[a] == 0.0:
            continue
        if kind == OPEN:
            at = T - 1
            if a == 2:
                r[o] = v[T - 1, 3] - ends.origin[2]
                whole[3] = 1.0
            else:
                r[o] = x[T, a] - ends.origin[a]
                for c in range(nq):
                    whole[c] = Jx[T, a, c]
        elif a == 2:
            r[o] = D[2]
            row[2] = 1.0
        elif ends.mirrored:
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
        r[o] -= ends.travel[a]
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
def boundary(v, D, nq, kind, ends, K, jac, w, s, r, blocks):
    """Constraints at the ends (`EndConstraints`): pins of first and last pose, gauge, travel. Values to ``r``."""
    weight = 2.0 * w * ends.scale * ends.scale
    for k in range(r.shape[0]):
        r[k] = 0.0
    pins(v, D, nq, ends, jac, weight, s, r, blocks)
    travels(v, D, nq, kind, ends, K, jac, weight, s, r, blocks)


@njit(cache=True)
def end_penalty(total, w, scale, s, r):
    """The total with the energy of the constraints at the ends."""
    for k in range(r.shape[0]):
        total += w * (scale * (r[k] + s[k])) ** 2
    return total
