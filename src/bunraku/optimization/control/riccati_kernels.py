"""Sweeps over a horizon, compiled: Riccati recursion, linear roll-outs, costates, Gramian. Arrays in, arrays out.

Loops where one might write slices: assigning an array compiles the words of a shape error too, 4 s. Measured on one core: the
Riccati sweep takes 4 ms for 62 states, 18 inputs and 100 steps, 30 ms for 80 states and 400 steps, 1.6 ms for 4 states and 1000
steps (benchmarks/how_fast_is_the_trajectory_newton.py).
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls, no-check-untyped-defs
from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True)
def _cholesky(G, L):
    """Lower factor of G into L; False when G is not positive definite to working precision."""
    m = G.shape[0]
    for i in range(m):
        for j in range(i + 1):
            s = G[i, j]
            for r in range(j):
                s -= L[i, r] * L[j, r]
            if i == j:
                if not s > 1e-14 * abs(G[i, i]):
                    return False
                L[i, i] = np.sqrt(s)
            else:
                L[i, j] = s / L[j, j]
    return True


@njit(cache=True)
def _solve_rows(L, Y):
    """Y <- (L L^T)^-1 Y in place, Y (m, columns), row by row so that the inner loop runs along memory."""
    m, n = Y.shape
    for i in range(m):
        for j in range(i):
            c = L[i, j]
            for r in range(n):
                Y[i, r] -= c * Y[j, r]
        d = 1.0 / L[i, i]
        for r in range(n):
            Y[i, r] *= d
    for i in range(m - 1, -1, -1):
        for j in range(i + 1, m):
            c = L[j, i]
            for r in range(n):
                Y[i, r] -= c * Y[j, r]
        d = 1.0 / L[i, i]
        for r in range(n):
            Y[i, r] *= d


@njit(cache=True)
def lq_backward(A, B, H, w, Pf, bf):
    """Riccati sweep of min sum w.y + y.H y / 2 + bf.z_N + z_N.Pf z_N / 2 with y = (z, v), z_{k+1} = A z + B v.

    Returns K (N, m, n), C (N, m) with v = -K z - C, P (N + 1, n, n), the slope sum w.y + bf.z_N = -sum C.G C along the
    minimiser from z_0 = 0, and the step at which G = R + B^T P B was not positive definite, -1 when it always was.
    """
    N, n, m = A.shape[0], A.shape[1], B.shape[2]
    K = np.zeros((N, m, n))
    C = np.zeros((N, m))
    P = np.empty((N + 1, n, n))
    for i in range(n):
        for j in range(n):
            P[N, i, j] = Pf[i, j]
    b = bf.copy()
    G = np.empty((m, m))
    L = np.zeros((m, m))
    Y = np.empty((m, n + 1))
    Kp = np.empty((m, n))
    slope = 0.0
    for k in range(N - 1, -1, -1):
        PA = np.dot(P[k + 1], A[k])
        PB = np.dot(P[k + 1], B[k])
        BPB = np.dot(B[k].T, PB)
        BPA = np.dot(B[k].T, PA)
        APA = np.dot(A[k].T, PA)
        Bb = np.dot(B[k].T, b)
        for i in range(m):
            for j in range(m):
                G[i, j] = 0.5 * (H[k, n + i, n + j] + H[k, n + j, n + i] + BPB[i, j] + BPB[j, i])
            for j in range(n):
                Kp[i, j] = H[k, n + i, j] + BPA[i, j]
                Y[i, j] = Kp[i, j]
            Y[i, n] = w[k, n + i] + Bb[i]
        if not _cholesky(G, L):
            return K, C, P, slope, k
        _solve_rows(L, Y)
        for i in range(m):
            g = w[k, n + i] + Bb[i]
            C[k, i] = Y[i, n]
            slope -= C[k, i] * g
            for j in range(n):
                K[k, i, j] = Y[i, j]
        b = np.dot(A[k].T, b)
        for j in range(n):
            b[j] += w[k, j]
        for i in range(m):
            g = w[k, n + i] + Bb[i]
            for j in range(n):
                b[j] -= K[k, i, j] * g
        KK = np.dot(Kp.T, K[k])
        for i in range(n):
            for j in range(i + 1):
                s = 0.5 * (H[k, i, j] + H[k, j, i] + APA[i, j] + APA[j, i] - KK[i, j] - KK[j, i])
                P[k, i, j] = s
                P[k, j, i] = s
    return K, C, P, slope, -1


@njit(cache=True)
def linear_rollout(A, B, K, x_wish, u_wish):
    """dx_0 = x_wish_0, du = u_wish - K (dx - x_wish), dx_{k+1} = A dx + B du: the derivative of the projection."""
    N, n, m = A.shape[0], A.shape[1], B.shape[2]
    x = np.empty((N + 1, n))
    u = np.empty((N, m))
    for i in range(n):
        x[0, i] = x_wish[0, i]
    for k in range(N):
        back = np.dot(K[k], x[k] - x_wish[k])
        for i in range(m):
            u[k, i] = u_wish[k, i] - back[i]
        drift, push = np.dot(A[k], x[k]), np.dot(B[k], u[k])
        for i in range(n):
            x[k + 1, i] = drift[i] + push[i]
    return x, u


@njit(cache=True)
def costates(A, B, K, w, bf):
    """chi_N = bf, chi_k = l_x - K^T l_u + (A - B K)^T chi_{k+1}, with w = (l_x, l_u): shape (N + 1, n)."""
    N, n = A.shape[0], A.shape[1]
    chi = np.empty((N + 1, n))
    for i in range(n):
        chi[N, i] = bf[i]
    for k in range(N - 1, -1, -1):
        pull = np.dot(B[k].T, chi[k + 1])
        for i in range(pull.shape[0]):
            pull[i] += w[k, n + i]
        along, back = np.dot(A[k].T, chi[k + 1]), np.dot(K[k].T, pull)
        for i in range(n):
            chi[k, i] = w[k, i] + along[i] - back[i]
    return chi


@njit(cache=True)
def gramian(A, B):
    """W_0 = 0, W_{k+1} = A W A^T + B B^T; returns W_N, symmetric."""
    n = A.shape[1]
    W = np.zeros((n, n))
    for k in range(A.shape[0]):
        W = np.dot(np.dot(A[k], W), A[k].T) + np.dot(B[k], B[k].T)
        W = 0.5 * (W + W.T)
    return W


@njit(cache=True)
def add_rows(H, w, G, stiffness, push):
    """H_k += G_k^T diag(stiffness_k) G_k and w_k += G_k^T push_k in place; ``G`` (N, rows, nw), zeros of a row are skipped.

    ``G`` (1, rows, nw) serves all steps. Most limits touch a few of the columns: 400 steps of 190 rows and 98 columns take 15 ms,
    a batched matrix product 400.
    """
    N, rows, nw = stiffness.shape[0], G.shape[1], G.shape[2]
    at = np.empty((rows, nw), dtype=np.int64)
    count = np.zeros(rows, dtype=np.int64)
    for k in range(N):
        j = min(k, G.shape[0] - 1)
        if j == k:
            for r in range(rows):
                count[r] = 0
                for i in range(nw):
                    if G[j, r, i] != 0.0:
                        at[r, count[r]] = i
                        count[r] += 1
        for r in range(rows):
            f, c = push[k, r], stiffness[k, r]
            for a in range(count[r]):
                i = at[r, a]
                w[k, i] += f * G[j, r, i]
                d = c * G[j, r, i]
                for b in range(count[r]):
                    H[k, i, at[r, b]] += d * G[j, r, at[r, b]]
