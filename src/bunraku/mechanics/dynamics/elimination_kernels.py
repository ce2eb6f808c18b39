"""Gaussian elimination of small dense matrices, from the last row to the first.

In the order (multipliers, coordinates parents first) this works from the leaves of the tree to its root and then to the
constraints, which keeps the zeros between limbs: rows that need nothing are skipped. At 28 unknowns several times faster than
LAPACK's doors.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls, no-check-untyped-defs
from __future__ import annotations

import numpy as np

from bunraku.mechanics.dynamics.compiled import kernel


@kernel
def factor(A, pivot):
    """Factors P A = U L of ``A`` (n, n) in place; returns the smallest pivot over the largest, 0 if singular.

    A diagonal element of a tenth of the largest of its column is pivot enough: swapping rows would cost zeros.
    """
    n = A.shape[0]
    least, most = np.inf, 0.0
    for k in range(n - 1, -1, -1):
        best, row = 0.0, k
        for i in range(k + 1):
            size = abs(A[i, k])
            if not size <= best:
                best, row = size, i
        if abs(A[k, k]) >= 0.1 * best:
            best, row = abs(A[k, k]), k
        pivot[k] = row
        if not (best > 0.0 and best < np.inf):
            return 0.0
        least, most = min(least, best), max(most, best)
        if row != k:
            for j in range(n):
                A[k, j], A[row, j] = A[row, j], A[k, j]
        inverse = 1.0 / A[k, k]
        for i in range(k):
            if A[i, k] != 0.0:
                f = A[i, k] * inverse
                A[i, k] = f
                for j in range(k):
                    A[i, j] -= f * A[k, j]
    return least / most if n > 0 else 1.0


@kernel
def solve(UL, pivot, x):
    """Overwrites ``x`` (n,) with the solution of A x = x."""
    n = UL.shape[0]
    for k in range(n - 1, -1, -1):
        r = pivot[k]
        if r != k:
            x[k], x[r] = x[r], x[k]
    for i in range(n - 1, -1, -1):
        s = x[i]
        for j in range(i + 1, n):
            s -= UL[i, j] * x[j]
        x[i] = s
    for i in range(n):
        s = x[i]
        for j in range(i):
            s -= UL[i, j] * x[j]
        x[i] = s / UL[i, i]


@kernel
def solve_many(UL, pivot, X):
    """Overwrites ``X`` (n, m) with the solution of A X = X."""
    n, m = X.shape
    for k in range(n - 1, -1, -1):
        r = pivot[k]
        if r != k:
            for c in range(m):
                X[k, c], X[r, c] = X[r, c], X[k, c]
    for k in range(n - 1, -1, -1):
        for i in range(k):
            f = UL[i, k]
            if f != 0.0:
                for c in range(m):
                    X[i, c] -= f * X[k, c]
    for k in range(n):
        f = 1.0 / UL[k, k]
        for c in range(m):
            X[k, c] *= f
        for i in range(k + 1, n):
            f = UL[i, k]
            if f != 0.0:
                for c in range(m):
                    X[i, c] -= f * X[k, c]


@kernel
def solve_transposed(UL, pivot, x):
    """Overwrites ``x`` (n,) with the solution of A' x = x."""
    n = UL.shape[0]
    for k in range(n - 1, -1, -1):
        x[k] /= UL[k, k]
        f = x[k]
        for j in range(k):
            x[j] -= UL[k, j] * f
    for k in range(n):
        f = x[k]
        for j in range(k + 1, n):
            x[j] -= UL[k, j] * f
    for k in range(n):
        r = pivot[k]
        if r != k:
            x[k], x[r] = x[r], x[k]
