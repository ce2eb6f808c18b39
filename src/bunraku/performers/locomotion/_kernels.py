"""Rows of the motion problem, sample by sample, with their Jacobians: robot as data, nothing compiled per robot.

Sample i has the unknowns v_i = (q_i, f_i); its rows look at v_{i-1}, v_i, v_{i+1}, the local columns 0.., nv.., 2 nv... Samples
before the first and after the last are copies of others, shifted by D (and mirrored), or data; `fold` brings their columns home.
Row r of an equality adds w (scale (r + s))^2 to the energy, row g of an inequality the same where g + s > 0; docs/theory has all.
"""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True)
def put(L, g, idx, co, k, c, v):
    """Add a row of ``k`` coefficients ``co`` at columns ``idx`` (each once): L += c J J^T (lower), g += c v J."""
    for a in range(k):
        ia = idx[a]
        ca = co[a] * c
        g[ia] += ca * v
        for b in range(a + 1):
            ib = idx[b]
            if ia >= ib:
                L[ia, ib] += ca * co[b]
            else:
                L[ib, ia] += ca * co[b]


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
def fold(L, g, b, M, N, LD, C, gD):
    """Local unknowns of block b are M v + N D: L (3 nv, 3 nv, full), g become those of v, and D's columns LD (3, 3 nv), C, gD."""
    nv = M.shape[0]
    o = b * nv
    n = L.shape[0]
    Lb = L[:, o : o + nv].copy()
    LN = np.dot(Lb, N)
    for i in range(3):
        for j in range(3):
            t = 0.0
            for k in range(nv):
                t += N[k, i] * LN[o + k, j]
            C[i, j] += t
        for k in range(nv):
            gD[i] += N[k, i] * g[o + k]
        for k in range(n):
            if k < o or k >= o + nv:
                LD[i, k] += LN[k, i]
    inner = np.dot(M.T.copy(), LN[o : o + nv].copy())
    for i in range(3):
        for k in range(nv):
            LD[i, o + k] += inner[k, i]
    LM = np.dot(Lb, M)
    mid = np.dot(M.T.copy(), LM[o : o + nv].copy())
    for k in range(n):
        for j in range(nv):
            value = LM[k, j]
            if o <= k < o + nv:
                value = mid[k - o, j]
            L[k, o + j] = value
            L[o + j, k] = value
    gb = np.dot(M.T.copy(), g[o : o + nv].copy())
    for k in range(nv):
        g[o + k] = gb[k]
