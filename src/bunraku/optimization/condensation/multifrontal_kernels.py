"""The factorisation and the substitutions over all fronts. Matrices are flat here, column by column; see fronts.py for the words.

``fronts`` (f + 1, 8) holds a row a front: first pivot, pivots p, rows m, parent, where its panel (p + m, p) begins in the factor,
where its update (m, m) begins in the arena, where its entries begin, where its rows begin. A last row closes the ranges.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls, no-check-untyped-defs
from __future__ import annotations

import numpy as np
from numba import njit

from bunraku.optimization.condensation._blas import GEMM, GEMV, POTRF, SYRK, TRSM, TRSV, gemm, gemv, potrf, syrk, trsm, trsv

LEFT, RIGHT, LOWER, PLAIN, TURNED, ANY = 76, 82, 76, 78, 84, 78  # the letters L R L N T N that BLAS wants
BLOCK = 48


@njit(cache=True)
def _runs(places, start, m, p, ends):
    """Cut the rows of a child into runs with consecutive places in its parent, and at the parent's last pivot: where they end."""
    count, inner = 0, 0
    for i in range(m):
        here = places[start + i]
        if here < p:
            inner += 1
        if i > 0 and (here != places[start + i - 1] + 1 or here == p):
            ends[count] = i
            count += 1
    ends[count] = m
    return inner


@njit(cache=True)
def _extend(arena, child, m, places, start, ends, low, high, into, at, shift, height):
    """Add columns ``low`` to ``high`` of a child's update (m, m; lower half) to its parent's panel or update ``into``.

    That matrix begins at ``at`` with the parent's place ``shift`` and has columns of ``height`` numbers.
    """
    run = 0
    for j in range(low, high):
        while ends[run] <= j:
            run += 1
        column = at + (places[start + j] - shift) * height - shift
        come = child + j * m
        r, i = run, j
        while i < m:
            last = ends[r]
            x, y = column + places[start + i], come + i
            for d in range(last - i):
                into[x + d] += arena[y + d]
            i = last
            r += 1


@njit(cache=True)
def _panel(blas, panel, h, p, info):
    """Cholesky of the first p columns of a front, recursively halved: (p + m, p) of leading dimension h at address ``panel``."""
    for a in range(0, p, BLOCK):
        b = min(a + BLOCK, p)
        corner = panel + 8 * (a + a * h)
        potrf(blas[POTRF], LOWER, b - a, corner, h, info.ctypes.data)
        if info[0] != 0:
            return a + info[0]
        if b < h:
            trsm(blas[TRSM], RIGHT, LOWER, TURNED, ANY, h - b, b - a, 1.0, corner, h, corner + 8 * (b - a), h)
        w = BLOCK
        rest = a // BLOCK + 1
        while rest % 2 == 0:
            w *= 2
            rest //= 2
        width = min(w, p - b)
        if width > 0:
            left = panel + 8 * (b + (b - w) * h)
            gemm(blas[GEMM], PLAIN, TURNED, h - b, width, w, -1.0, left, h, left, h, 1.0, panel + 8 * (b + b * h), h)
    return 0


@njit(cache=True)
def factorize(blas, data, source, target, length, fronts, children, places, factor, arena):
    """Factorise; -1, or the place (in the order of elimination) of the first pivot that is not positive.

    ``length[i]`` numbers of the matrix from ``source[i]`` on go to the factor from ``target[i]`` on. ``children`` (f, 2): first
    child and next sibling of every front, -1 for none.
    """
    info = np.zeros(1, dtype=np.int32)
    ends = np.zeros(len(places) + 1, dtype=np.int64)
    for f in range(len(fronts) - 1):
        p, m, at, update = fronts[f, 1], fronts[f, 2], fronts[f, 4], fronts[f, 5]
        h = p + m
        for i in range(at, at + p * h):
            factor[i] = 0.0
        for i in range(fronts[f, 6], fronts[f + 1, 6]):
            s, t = source[i], target[i]
            for d in range(length[i]):
                factor[t + d] = data[s + d]
        child = children[f, 0]
        while child >= 0:
            rows, start = fronts[child, 2], fronts[child, 7]
            inner = _runs(places, start, rows, p, ends[start:])
            _extend(arena, fronts[child, 5], rows, places, start, ends[start:], 0, inner, factor, at, 0, h)
            child = children[child, 1]
        panel = factor.ctypes.data + 8 * at
        wrong = _panel(blas, panel, h, p, info)
        if wrong:
            return fronts[f, 0] + wrong - 1
        if m == 0:
            continue
        syrk(blas[SYRK], LOWER, PLAIN, m, p, -1.0, panel + 8 * p, h, 0.0, arena.ctypes.data + 8 * update, m)
        child = children[f, 0]
        while child >= 0:
            rows, start = fronts[child, 2], fronts[child, 7]
            inner = _runs(places, start, rows, p, ends[start:])
            _extend(arena, fronts[child, 5], rows, places, start, ends[start:], inner, rows, arena, update, p, m)
            child = children[child, 1]
    return -1


@njit(cache=True)
def active_columns(Y, fronts, active):
    """Which columns of Y (n, k) are not zero in the pivots of a front or of any below it."""
    k = Y.shape[1]
    for f in range(len(fronts) - 1):
        for i in range(fronts[f, 0], fronts[f, 0] + fronts[f, 1]):
            for j in range(k):
                active[f, j] |= Y[i, j] != 0.0
        parent = fronts[f, 3]
        if parent >= 0:
            for j in range(k):
                active[parent, j] |= active[f, j]


@njit(cache=True)
def forward(blas, factor, fronts, rows, active, Y, work):
    """Y (n, k) := L^-1 Y. ``work``: room for k (p + m) numbers of the largest front."""
    k = Y.shape[1]
    columns = np.zeros(k, dtype=np.int64)
    for f in range(len(fronts) - 1):
        c = 0
        for j in range(k):
            if active[f, j]:
                columns[c] = j
                c += 1
        if c == 0:
            continue
        first, p, m = fronts[f, 0], fronts[f, 1], fronts[f, 2]
        h, start = p + m, fronts[f, 7]
        for i in range(p):
            for j in range(c):
                work[i * c + j] = Y[first + i, columns[j]]
        panel = factor.ctypes.data + 8 * fronts[f, 4]
        top = work.ctypes.data
        trsm(blas[TRSM], RIGHT, LOWER, TURNED, ANY, c, p, 1.0, panel, h, top, c)
        for i in range(p):
            for j in range(c):
                Y[first + i, columns[j]] = work[i * c + j]
        if m:
            gemm(blas[GEMM], PLAIN, TURNED, c, m, p, 1.0, top, c, panel + 8 * p, h, 0.0, top + 8 * c * p, c)
            for i in range(m):
                row, come = rows[start + i], c * (p + i)
                for j in range(c):
                    Y[row, columns[j]] -= work[come + j]


@njit(cache=True)
def backward(blas, factor, fronts, rows, Y, work):
    """Y (n, k) := L^-T Y."""
    k = Y.shape[1]
    for g in range(len(fronts) - 1):
        f = len(fronts) - 2 - g
        first, p, m = fronts[f, 0], fronts[f, 1], fronts[f, 2]
        h, start = p + m, fronts[f, 7]
        panel = factor.ctypes.data + 8 * fronts[f, 4]
        top = Y.ctypes.data + 8 * k * first
        for i in range(m):
            for j in range(k):
                work[i * k + j] = Y[rows[start + i], j]
        if k == 1:
            if m:
                gemv(blas[GEMV], TURNED, m, p, -1.0, panel + 8 * p, h, work.ctypes.data, 1, 1.0, top, 1)
            trsv(blas[TRSV], LOWER, TURNED, ANY, p, panel, h, top, 1)
        else:
            if m:
                gemm(blas[GEMM], PLAIN, PLAIN, k, p, m, -1.0, work.ctypes.data, k, panel + 8 * p, h, 1.0, top, k)
            trsm(blas[TRSM], RIGHT, LOWER, PLAIN, ANY, k, p, 1.0, panel, h, top, k)


@njit(cache=True)
def gathered_columns(columns, order):
    """border[order, :] for a border stored column by column, given as its transpose (k, n)."""
    k = columns.shape[0]
    Y = np.empty((len(order), k))
    for a in range(0, len(order), 32):
        b = min(a + 32, len(order))
        for j in range(k):
            for i in range(a, b):
                Y[i, j] = columns[j, order[i]]
    return Y
