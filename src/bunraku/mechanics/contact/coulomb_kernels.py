"""Coulomb contact of patches with flat ground by semi-smooth Newton and by projected Gauss-Seidel. Arrays in, arrays out.

Forces F (3 P,) as x, y, normal a patch; displacement u = u0 + W F; a = F - rho (u + gap e_z), one rho a patch. The residual is
F - project(a): normal part max(0, a_n), tangential part a_t cut back to the disk of radius mu max(0, a_n).
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls, no-check-untyped-defs
from __future__ import annotations

import numpy as np
from numba import njit

OPEN, STICK, SLIDE = 0, 1, 2
FREE_STEPS = 3
ROUND_STEPS = 30
ROUNDS = 6
SWEEPS = 60
HALVINGS = 7


@njit(cache=True)
def displace(W, u0, F, u):
    """Write u0 + W F to ``u``."""
    n = u0.shape[0]
    for i in range(n):
        total = u0[i]
        for j in range(n):
            total += W[i, j] * F[j]
        u[i] = total


@njit(cache=True)
def project(F, u, gap, mu, rho, forced, G, D, label):
    """Write the residual ``G`` (3 P,) and the derivative ``D`` (P, 3, 3) of the projection; return the residual's square.

    ``label`` gets what the projection does with each patch; where ``forced`` is not negative the derivative is that of the
    label given there, taken at the same place.
    """
    square = 0.0
    for p in range(gap.shape[0]):
        i = 3 * p
        ax, ay = F[i] - rho[p] * u[i], F[i + 1] - rho[p] * u[i + 1]
        an = F[i + 2] - rho[p] * (u[i + 2] + gap[p])
        for r in range(3):
            for c in range(3):
                D[p, r, c] = 0.0
        radius, length = mu[p] * max(an, 0.0), np.sqrt(ax * ax + ay * ay)
        if an <= 0.0:
            kind = OPEN
        elif radius > 0.0 and length <= radius:
            kind = STICK
        else:
            kind = SLIDE
        shrink = 0.0
        if kind == STICK:
            shrink = 1.0
        elif kind == SLIDE and length > 0.0:
            shrink = radius / length
        G[i], G[i + 1], G[i + 2] = F[i] - shrink * ax, F[i + 1] - shrink * ay, F[i + 2] - max(an, 0.0)
        square += G[i] * G[i] + G[i + 1] * G[i + 1] + G[i + 2] * G[i + 2]
        if forced[p] >= 0:
            kind = forced[p]
            shrink = min(1.0, radius / length) if length > 0.0 else 0.0
        label[p] = kind
        if kind == STICK:
            D[p, 0, 0] = D[p, 1, 1] = D[p, 2, 2] = 1.0
        elif kind == SLIDE:
            D[p, 2, 2] = 1.0
            if length > 0.0:
                ex, ey = ax / length, ay / length
                D[p, 0, 0], D[p, 1, 1] = shrink * (1.0 - ex * ex), shrink * (1.0 - ey * ey)
                D[p, 0, 1] = D[p, 1, 0] = -shrink * ex * ey
                D[p, 0, 2], D[p, 1, 2] = mu[p] * ex, mu[p] * ey
    return square


@njit(cache=True)
def linear_step(W, rho, D, label, J, B):
    """Solve (1 - D + D rho W) X = B (3 P, m) in place, ``J`` (3 P, 3 P) being room; False if it is singular to rounding.

    The matrix is the derivative of the residual with respect to the forces. Rows of open patches say X = B; only the others are
    gathered and eliminated.
    """
    P, m = rho.shape[0], B.shape[1]
    closed, count = np.empty(P, np.int64), 0
    for p in range(P):
        if label[p] != OPEN:
            closed[count] = p
            count += 1
    X = np.empty((3 * count, m))
    for a in range(count):
        p = closed[a]
        for r in range(3):
            d0, d1, d2 = rho[p] * D[p, r, 0], rho[p] * D[p, r, 1], rho[p] * D[p, r, 2]
            w0, w1, w2, row = W[3 * p], W[3 * p + 1], W[3 * p + 2], J[3 * a + r]
            for b in range(count):
                for c in range(3):
                    j = 3 * closed[b] + c
                    row[3 * b + c] = d0 * w0[j] + d1 * w1[j] + d2 * w2[j]
            for c in range(3):
                row[3 * a + c] -= D[p, r, c]
            row[3 * a + r] += 1.0
            for k in range(m):
                X[3 * a + r, k] = B[3 * p + r, k]
            for q in range(P):
                if label[q] == OPEN:
                    for j in range(3 * q, 3 * q + 3):
                        coupling = d0 * w0[j] + d1 * w1[j] + d2 * w2[j]
                        for k in range(m):
                            X[3 * a + r, k] -= coupling * B[j, k]
    if not eliminate(J, X):
        return False
    for a in range(count):
        for r in range(3):
            for k in range(m):
                B[3 * closed[a] + r, k] = X[3 * a + r, k]
    return True


@njit(cache=True)
def eliminate(A, B):
    """Solve A X = B (n, m) in place, A the leading n rows and columns of its array, by Gaussian elimination with row exchanges.

    False if A is singular to rounding.
    """
    n, m = B.shape
    size = 0.0
    for i in range(n):
        for j in range(n):
            size = max(size, abs(A[i, j]))
    for k in range(n):
        best = k
        for i in range(k + 1, n):
            if abs(A[i, k]) > abs(A[best, k]):
                best = i
        if not abs(A[best, k]) > 1e-14 * size:
            return False
        if best != k:
            for j in range(k, n):
                A[k, j], A[best, j] = A[best, j], A[k, j]
            for j in range(m):
                B[k, j], B[best, j] = B[best, j], B[k, j]
        inverse, top, top_side = 1.0 / A[k, k], A[k, k + 1 : n], B[k]
        for i in range(k + 1, n):
            factor, row, side = A[i, k] * inverse, A[i, k + 1 : n], B[i]
            for j in range(row.shape[0]):
                row[j] -= factor * top[j]
            for j in range(m):
                side[j] -= factor * top_side[j]
    for k in range(n - 1, -1, -1):
        top_side = B[k]
        for i in range(k + 1, n):
            factor, side = A[k, i], B[i]
            for j in range(m):
                top_side[j] -= factor * side[j]
        for j in range(m):
            top_side[j] /= A[k, k]
    return True


@njit(cache=True)
def sweep(W, u0, gap, mu, F):
    """One pass of projected Gauss-Seidel over the patches, normal force and then friction; returns the largest change of F."""
    n, change = u0.shape[0], 0.0
    for p in range(gap.shape[0]):
        i = 3 * p
        un = u0[i + 2] + gap[p]
        for j in range(n):
            un += W[i + 2, j] * F[j]
        normal = max(0.0, F[i + 2] - un / W[i + 2, i + 2])
        change = max(change, abs(normal - F[i + 2]))
        F[i + 2] = normal
        ux, uy = u0[i], u0[i + 1]
        for j in range(n):
            ux += W[i, j] * F[j]
            uy += W[i + 1, j] * F[j]
        half, apart = 0.5 * (W[i, i] + W[i + 1, i + 1]), 0.5 * (W[i, i] - W[i + 1, i + 1])
        largest = half + np.sqrt(apart * apart + W[i, i + 1] * W[i, i + 1])
        fx, fy = F[i] - ux / largest, F[i + 1] - uy / largest
        length = np.sqrt(fx * fx + fy * fy)
        if length > mu[p] * normal:
            fx, fy = fx * (mu[p] * normal / length), fy * (mu[p] * normal / length)
        change = max(change, abs(fx - F[i]), abs(fy - F[i + 1]))
        F[i], F[i + 1] = fx, fy
    return change


@njit(cache=True)
def gauss_seidel(W, u0, gap, mu, F, sweeps, tolerance, relaxation):
    """Sweep until the forces change by no more than ``tolerance`` [N]; returns sweeps done and the last change. Changes F.

    Of the change of each sweep only the part ``relaxation`` is taken.
    """
    change, before = np.inf, np.empty(F.shape[0])
    for k in range(sweeps):
        for i in range(F.shape[0]):
            before[i] = F[i]
        change = sweep(W, u0, gap, mu, F)
        for i in range(F.shape[0]):
            F[i] = before[i] + relaxation * (F[i] - before[i])
        if change <= tolerance:
            return k + 1, change
    return sweeps, change


@njit(cache=True)
def solve(W, u0, gap, mu, rho, F, tolerance, u, label):
    """Newton from ``F`` (3 P,), which is changed; returns (Newton steps, rounds of Gauss-Seidel, largest residual [N]).

    Also writes the displacements ``u`` (3 P,) and the labels (P,).
    """
    n, P = u0.shape[0], gap.shape[0]
    G, D, J, step = np.empty(n), np.empty((P, 3, 3)), np.empty((n, n)), np.empty((n, 1))
    trial, forced = np.empty(n), np.full(P, -1)
    displace(W, u0, F, u)
    square = project(F, u, gap, mu, rho, forced, G, D, label)
    steps, sweeps = 0, SWEEPS
    for turn in range(ROUNDS):
        for k in range(ROUND_STEPS):
            if np.abs(G).max() <= tolerance:
                return steps, turn, np.abs(G).max()
            for i in range(n):
                step[i, 0] = -G[i]
            if not linear_step(W, rho, D, label, J, step):
                break
            steps += 1
            length, accepted = 1.0, False
            for _ in range(HALVINGS):
                for i in range(n):
                    trial[i] = F[i] + length * step[i, 0]
                displace(W, u0, trial, u)
                tried = project(trial, u, gap, mu, rho, forced, G, D, label)
                if k < FREE_STEPS or tried <= (1.0 - 2e-4 * length) * square:
                    accepted = True
                    break
                length *= 0.5
            if not accepted:
                break
            square = tried
            for i in range(n):
                F[i] = trial[i]
        for i in range(n):
            F[i] = max(min(F[i], 1e12), -1e12)
        gauss_seidel(W, u0, gap, mu, F, sweeps, 0.0, 1.0)
        sweeps *= 2
        displace(W, u0, F, u)
        square = project(F, u, gap, mu, rho, forced, G, D, label)
    return steps, ROUNDS, np.abs(G).max()


@njit(cache=True)
def slope(W, u0, gap, mu, rho, F, forced, R, S):
    """Write dF/dtau (3 P, na) for u = u0 + R tau + W F, ``u0`` being that at the present tau; False if the matrix is singular."""
    n, P, na = u0.shape[0], gap.shape[0], R.shape[1]
    u, G, D, J = np.empty(n), np.empty(n), np.empty((P, 3, 3)), np.empty((n, n))
    label = np.empty(P, np.int64)
    displace(W, u0, F, u)
    project(F, u, gap, mu, rho, forced, G, D, label)
    for p in range(P):
        for r in range(3):
            for j in range(na):
                total = 0.0
                for c in range(3):
                    total += D[p, r, c] * R[3 * p + c, j]
                S[3 * p + r, j] = -rho[p] * total
    return linear_step(W, rho, D, label, J, S)
