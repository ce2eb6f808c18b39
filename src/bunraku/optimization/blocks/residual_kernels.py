"""Rows of a least-squares problem over samples, put into blocks: each row looks at a sample and its two neighbours.

Local columns of sample i: 0.. the sample before, nv.. itself, 2 nv.. the one after. Samples before the first and after the last
are functions of others and of the border unknowns D; `fold` brings their columns home. Row r of an equality adds
w (scale (r + s))^2 to the energy, row g of an inequality the same where g + s > 0.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls, no-check-untyped-defs
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
def active(k, r, s, held):
    """Whether inequality k pushes: as ``held`` says (1 or -1), or where r + s > 0 if it says nothing (0)."""
    return held[k] > 0 or (held[k] == 0 and r[k] + s[k] > 0.0)


@njit(cache=True, fastmath={"contract"})
def put_all(L, g, J, c, v):
    """Add rows J (k, columns), most of whose columns are not zero: L += sum c J J^T (lower), g += sum c v J, c and v (k,)."""
    k, n = J.shape
    for i in range(n):
        row = L[i]
        for a in range(k):
            t = c[a] * J[a, i]
            if t == 0.0:
                continue
            g[i] += t * v[a]
            other = J[a]
            for j in range(i + 1):
                row[j] += t * other[j]


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
