"""Cholesky of a block-pentadiagonal matrix with a border, compiled. Arrays in, arrays out.

The matrix is split into a chain of n blocks and b border rows. With L the lower factor, its block row i is
(S2_{i-2}, S1_{i-1}, L_i) and its border rows are E_i. Everything is stored transposed, rows along memory:

    U (n, nv, nv)       U[i] = L_i^T, upper
    W (n + 2, 2 nv, nv) W[i] = the two blocks left of L_i, transposed and stacked: W[i, :nv] = S2_{i-2}^T, W[i, nv:] = S1_{i-1}^T
    E (n nv, b)         rows i nv ... : E_i^T
    R (b, b)            upper factor of the border's Schur complement

so that what the columns i-2 and i-1 subtract from block row i is one product W[i]^T W[i], and what the whole chain subtracts from
the border is one product E^T E. Products go to BLAS (np.dot), eliminations are row operations that run along memory. Measured on
one core: 0.5 ms for nv = 30, T = 12, cyclic, 3 border unknowns (benchmarks/how_fast_is_the_block_solver.py).
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls, no-check-untyped-defs
from __future__ import annotations

import numpy as np
from numba import njit

SMALLEST = 1e-15
"""A pivot below this part of the diagonal entry it came from counts as not positive."""


@njit(cache=True, fastmath={"contract"})
def _eliminate(P, diagonal):
    """Row operations on P (m, columns), whose first m columns are symmetric (upper part given): P <- L^-1 P in place.

    Afterwards the first m columns hold L^T (upper part) and the others L^-1 times what they held. False at a pivot not positive.
    """
    m, columns = P.shape
    for i in range(m):
        row = P[i]
        j = 0
        while j + 3 < i:
            c0, c1, c2, c3 = P[j, i], P[j + 1, i], P[j + 2, i], P[j + 3, i]
            p0, p1, p2, p3 = P[j], P[j + 1], P[j + 2], P[j + 3]
            for k in range(i, columns):
                row[k] -= c0 * p0[k] + c1 * p1[k] + c2 * p2[k] + c3 * p3[k]
            j += 4
        while j < i:
            c0 = P[j, i]
            p0 = P[j]
            for k in range(i, columns):
                row[k] -= c0 * p0[k]
            j += 1
        pivot = row[i]
        if not pivot > SMALLEST * abs(diagonal[i]):
            return False
        scale = 1.0 / np.sqrt(pivot)
        for k in range(i, columns):
            row[k] *= scale
    return True


@njit(cache=True)
def _gather_border(H, B, cyclic, n, E):
    """Write the border rows of the matrix, transposed, into E (n nv, b)."""
    T, nv, nd = H.shape[0], H.shape[2], B.shape[1]
    first = 2 * nv if cyclic else 0
    for i in range(n):
        for c in range(nv):
            for r in range(first):
                E[i * nv + c, r] = 0.0
            for r in range(nd):
                E[i * nv + c, first + r] = B[i, r, c]
    if cyclic:
        for c in range(nv):
            for r in range(nv):
                E[(T - 4) * nv + c, r] += H[T - 4, 2, r, c]
                E[(T - 3) * nv + c, r] += H[T - 3, 1, r, c]
                E[c, r] += H[T - 2, 2, c, r]
                E[(T - 3) * nv + c, nv + r] += H[T - 3, 2, r, c]
                E[c, nv + r] += H[T - 1, 1, c, r]
                E[nv + c, nv + r] += H[T - 1, 2, c, r]


@njit(cache=True)
def _gather_corner(H, B, C, damping, cyclic, R):
    """Write the border's own matrix into the upper part of R (b, b): samples T-2 and T-1 (cyclic), then the border unknowns."""
    T, nv, nd = H.shape[0], H.shape[2], B.shape[1]
    first = 2 * nv if cyclic else 0
    if cyclic:
        for c in range(nv):
            for r in range(c, nv):
                R[c, r] = H[T - 2, 0, r, c]
                R[nv + c, nv + r] = H[T - 1, 0, r, c]
            for r in range(nv):
                R[c, nv + r] = H[T - 2, 1, r, c]
            for r in range(nd):
                R[c, first + r] = B[T - 2, r, c]
                R[nv + c, first + r] = B[T - 1, r, c]
            R[c, c] += damping[(T - 2) * nv + c]
            R[nv + c, nv + c] += damping[(T - 1) * nv + c]
    for c in range(nd):
        for r in range(c, nd):
            R[first + c, first + r] = C[r, c]
        R[first + c, first + c] += damping[T * nv + c]


@njit(cache=True)
def factor(H, B, C, damping, cyclic, U, W, E, R):
    """Factor the matrix with ``damping`` (T nv + nd,) added to its diagonal into U, W, E, R; False when not positive definite."""
    T, nv = H.shape[0], H.shape[2]
    n = T - 2 if cyclic else T
    b = E.shape[1]
    _gather_border(H, B, cyclic, n, E)
    width = 3 * nv + b
    P = np.empty((nv, width))
    diagonal = np.empty(max(nv, b))
    for i in range(n):
        for c in range(nv):
            for r in range(c, nv):
                P[c, r] = H[i, 0, r, c]
            P[c, c] += damping[i * nv + c]
            diagonal[c] = P[c, c]
            for r in range(b):
                P[c, 3 * nv + r] = E[i * nv + c, r]
        for c in range(nv):
            for r in range(nv):
                P[c, nv + r] = H[i, 1, r, c] if i + 1 < n else 0.0
                P[c, 2 * nv + r] = H[i, 2, r, c] if i + 2 < n else 0.0
        if i > 0:
            low = 0 if i > 1 else nv  # the first rows of W[1] belong to no block
            left = W[i][low:]
            own = np.dot(left.T, left)
            near = np.dot(W[i][nv:].T, W[i + 1][:nv])
            for c in range(nv):
                for r in range(c, nv):
                    P[c, r] -= own[c, r]
                for r in range(nv):
                    P[c, nv + r] -= near[c, r]
            if b > 0:
                far = np.dot(left.T, E[(i - 2) * nv + low : i * nv])
                for c in range(nv):
                    for r in range(b):
                        P[c, 3 * nv + r] -= far[c, r]
        if not _eliminate(P, diagonal):
            return False
        for c in range(nv):
            for r in range(c, nv):
                U[i, c, r] = P[c, r]
            for r in range(nv):
                W[i + 1, nv + c, r] = P[c, nv + r]
                W[i + 2, c, r] = P[c, 2 * nv + r]
            for r in range(b):
                E[i * nv + c, r] = P[c, 3 * nv + r]
    if b > 0:
        _gather_corner(H, B, C, damping, cyclic, R)
        for c in range(b):
            diagonal[c] = R[c, c]
        gone = np.dot(E.T, E)
        for c in range(b):
            for r in range(c, b):
                R[c, r] -= gone[c, r]
        return _eliminate(R, diagonal)
    return True


@njit(cache=True, fastmath={"contract"})
def _forward(U, Y):
    """Y <- U^-T Y in place, Y (m, k), row operations."""
    m, k = Y.shape
    for i in range(m):
        row = Y[i]
        for j in range(i):
            c, other = U[j, i], Y[j]
            for r in range(k):
                row[r] -= c * other[r]
        d = 1.0 / U[i, i]
        for r in range(k):
            row[r] *= d


@njit(cache=True, fastmath={"contract"})
def _backward(U, Y):
    """Y <- U^-1 Y in place, Y (m, k), row operations."""
    m, k = Y.shape
    for i in range(m - 1, -1, -1):
        row = Y[i]
        for j in range(i + 1, m):
            c, other = U[i, j], Y[j]
            for r in range(k):
                row[r] -= c * other[r]
        d = 1.0 / U[i, i]
        for r in range(k):
            row[r] *= d


@njit(cache=True, fastmath={"contract"})
def _subtract(Y, start, update):
    """Y[start + i] -= update[i] for all rows of the update."""
    for i in range(update.shape[0]):
        row, other = Y[start + i], update[i]
        for r in range(row.shape[0]):
            row[r] -= other[r]


@njit(cache=True)
def solve_many(U, W, E, R, Y):
    """Replace the right-hand sides Y (n nv + b, k) by the solutions, chain first, border last."""
    n, nv, b = U.shape[0], U.shape[1], E.shape[1]
    N = n * nv
    for i in range(n):
        if i > 0:
            low = 0 if i > 1 else nv
            _subtract(Y, i * nv, np.dot(W[i][low:].T, Y[(i - 2) * nv + low : i * nv]))
        _forward(U[i], Y[i * nv : (i + 1) * nv])
    if b > 0:
        _subtract(Y, N, np.dot(E.T, Y[:N]))
        _forward(R, Y[N:])
        _backward(R, Y[N:])
        _subtract(Y, 0, np.dot(E, Y[N:]))
    for i in range(n - 1, -1, -1):
        if i + 1 < n:
            _subtract(Y, i * nv, np.dot(W[i + 1][nv:], Y[(i + 1) * nv : (i + 2) * nv]))
        if i + 2 < n:
            _subtract(Y, i * nv, np.dot(W[i + 2][:nv], Y[(i + 2) * nv : (i + 3) * nv]))
        _backward(U[i], Y[i * nv : (i + 1) * nv])


@njit(cache=True, fastmath={"contract", "reassoc"})
def _forward_one(U, y):
    """Do y <- U^-T y in place, U (m, m) upper."""
    m = U.shape[0]
    for j in range(m):
        row = U[j]
        c = y[j] / row[j]
        y[j] = c
        for i in range(j + 1, m):
            y[i] -= c * row[i]


@njit(cache=True, fastmath={"contract", "reassoc"})
def _backward_one(U, y):
    """Do y <- U^-1 y in place, U (m, m) upper."""
    m = U.shape[0]
    for i in range(m - 1, -1, -1):
        row = U[i]
        s = 0.0
        for j in range(i + 1, m):
            s += row[j] * y[j]
        y[i] = (y[i] - s) / row[i]


@njit(cache=True, fastmath={"contract", "reassoc"})
def _take_rows(A, x, y):
    """Do y -= A^T x, A (rows, columns)."""
    for i in range(A.shape[0]):
        row, c = A[i], x[i]
        for j in range(row.shape[0]):
            y[j] -= c * row[j]


@njit(cache=True, fastmath={"contract", "reassoc"})
def _take_columns(A, x, y):
    """Do y -= A x, A (rows, columns)."""
    for i in range(A.shape[0]):
        row = A[i]
        s = 0.0
        for j in range(row.shape[0]):
            s += row[j] * x[j]
        y[i] -= s


@njit(cache=True)
def solve_one(U, W, E, R, y):
    """Replace one right-hand side y (n nv + b,) by the solution; the same as :func:`solve_many`, without BLAS."""
    n, nv, b = U.shape[0], U.shape[1], E.shape[1]
    N = n * nv
    for i in range(n):
        own = y[i * nv : (i + 1) * nv]
        if i > 0:
            low = 0 if i > 1 else nv
            _take_rows(W[i][low:], y[(i - 2) * nv + low : i * nv], own)
        _forward_one(U[i], own)
    if b > 0:
        _take_rows(E, y[:N], y[N:])
        _forward_one(R, y[N:])
        _backward_one(R, y[N:])
        _take_columns(E, y[N:], y[:N])
    for i in range(n - 1, -1, -1):
        own = y[i * nv : (i + 1) * nv]
        if i + 1 < n:
            _take_columns(W[i + 1][nv:], y[(i + 1) * nv : (i + 2) * nv], own)
        if i + 2 < n:
            _take_columns(W[i + 2][:nv], y[(i + 2) * nv : (i + 3) * nv], own)
        _backward_one(U[i], own)
