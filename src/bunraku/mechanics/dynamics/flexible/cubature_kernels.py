"""Neo-Hookean energy, force and stiffness of a flexible segment as a sum over weighted points. Real or complex modal coordinates.

At point p the displacement gradient is H = sum_a u_a G_pa, F = I + H, J = det F, T = F^-T; w the weight [m^3], lam and mu Lame's
numbers [Pa]:

    W = mu (|F|^2 - 3)/2 - mu ln J + lam (ln J)^2/2        P = mu (H + T H') + lam ln J T        V = sum_p w W
    dV/du_a = sum_p w P:G_pa        d2V/du_a du_b = sum_p w G_pa:A:G_pb
    A_ij,kl = mu delta_ik delta_jl + (mu - lam ln J) T_il T_kj + lam T_ij T_kl

``data`` from ``at`` on: [w, lam, mu] of every point, then G (points, 9, r), modes innermost. Where a point has collapsed (J <= 0)
the numbers are not a number. P is mu (F - T) + lam ln J T written so that nothing cancels at small strains.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls, no-check-untyped-defs
from __future__ import annotations

import numpy as np
from numba import njit

kernel = njit(cache=True, error_model="numpy", fastmath={"contract", "reassoc"})
exact = njit(cache=True, error_model="numpy")


@kernel
def gradient_at(data, at, r, u, c, H):
    """H (9,) = sum_a u[c + a] G_a."""
    for i in range(9):
        part = data[at + i * r : at + (i + 1) * r]
        total = 0.0 * u[c]
        for a in range(r):
            total += part[a] * u[c + a]
        H[i] = total


@exact
def cofactors(H, T):
    """T (9,) = F^-T; returns |F|^2 - 3 and ln J, not a number where J <= 0."""
    minors = H[0] * H[4] - H[1] * H[3] + H[0] * H[8] - H[2] * H[6] + H[4] * H[8] - H[5] * H[7]
    det = H[0] * (H[4] * H[8] - H[5] * H[7]) + H[1] * (H[5] * H[6] - H[3] * H[8]) + H[2] * (H[3] * H[7] - H[4] * H[6])
    change = H[0] + H[4] + H[8] + minors + det
    J = 1.0 + change
    a, e, i = 1.0 + H[0], 1.0 + H[4], 1.0 + H[8]
    T[0], T[1], T[2] = (e * i - H[5] * H[7]) / J, (H[5] * H[6] - H[3] * i) / J, (H[3] * H[7] - e * H[6]) / J
    T[3], T[4], T[5] = (H[2] * H[7] - H[1] * i) / J, (a * i - H[2] * H[6]) / J, (H[1] * H[6] - a * H[7]) / J
    T[6], T[7], T[8] = (H[1] * H[5] - H[2] * e) / J, (H[2] * H[3] - a * H[5]) / J, (a * e - H[1] * H[3]) / J
    squares = 2.0 * (H[0] + H[4] + H[8])
    for k in range(9):
        squares += H[k] * H[k]
    return squares, np.log1p(change) if J.real > 0.0 else np.nan * J


@kernel
def points_force(data, at, count, r, u, c, out):
    """Subtracts the elastic force from ``out`` (from ``c`` on); returns the energy [J]."""
    H, T = np.empty(9, u.dtype), np.empty(9, u.dtype)
    energy = 0.0 * u[c]
    G = at + 3 * count
    for p in range(count):
        w, lam, mu = data[at + 3 * p], data[at + 3 * p + 1], data[at + 3 * p + 2]
        gradient_at(data, G + 9 * p * r, r, u, c, H)
        squares, log_J = cofactors(H, T)
        energy += w * (mu * (0.5 * squares - log_J) + 0.5 * lam * log_J * log_J)
        for i in range(9):
            m, n = 3 * (i // 3), 3 * (i % 3)
            stress = w * (mu * (H[i] + T[m] * H[n] + T[m + 1] * H[n + 1] + T[m + 2] * H[n + 2]) + lam * log_J * T[i])
            o = G + (9 * p + i) * r
            part = data[o : o + r]
            for a in range(r):
                out[c + a] -= stress * part[a]
    return energy


@kernel
def points_stiffness(data, at, count, r, u, c, out):
    """Subtracts the stiffness from the block of ``out`` at (c, c)."""
    H, T, A, B = np.empty(9, u.dtype), np.empty(9, u.dtype), np.empty((9, 9), u.dtype), np.empty((9, r), u.dtype)
    G = at + 3 * count
    for p in range(count):
        w, lam, mu = data[at + 3 * p], data[at + 3 * p + 1], data[at + 3 * p + 2]
        o = G + 9 * p * r
        gradient_at(data, o, r, u, c, H)
        _, log_J = cofactors(H, T)
        for i in range(3):
            for j in range(3):
                for k in range(3):
                    for n in range(3):
                        same = mu if i == k and j == n else 0.0
                        A[3 * i + j, 3 * k + n] = w * (
                            same + (mu - lam * log_J) * T[3 * i + n] * T[3 * k + j] + lam * T[3 * i + j] * T[3 * k + n]
                        )
        for i in range(9):
            to = B[i]
            for a in range(r):
                to[a] = 0.0
            for j in range(9):
                x, part = A[i, j], data[o + j * r : o + (j + 1) * r]
                for a in range(r):
                    to[a] += x * part[a]
        for a in range(r):
            to = out[c + a, c : c + r]
            for i in range(9):
                x, part = data[o + i * r + a], B[i]
                for b in range(r):
                    to[b] -= x * part[b]
