"""Projected Gauss-Seidel for Coulomb contact: slow, simple, and therefore the oracle that faster methods are held against.

Patch by patch, over and over: F_n <- max(0, F_n - (gap + u_n) / W_nn), then F_t <- F_t - u_t / (largest eigenvalue of the patch's
tangential block of W), cut back to the disk of radius mu F_n. A point that no sweep changes obeys the law of `coulomb`.
"""

from __future__ import annotations

import numpy as np

from bunraku.arrays import Array
from bunraku.mechanics.contact import coulomb_kernels as kernels
from bunraku.optimization.solution import Status


def solve_by_gauss_seidel(
    W: Array, u0: Array, gap: Array, mu: Array, F0: Array | None = None, *, sweeps: int = 3000, tolerance: float = 1e-11
) -> tuple[Array, int, Status]:
    """The contact forces (P, 3) [N], the sweeps done, and whether they settled.

    Data as for `solve_contact`. Settled: a sweep changes no force by more than ``tolerance`` times the largest force. Sweeps that
    go round in circles, which strong friction can cause, are begun anew with half, then a fifth of each change; ``sweeps`` each.
    """
    W = np.ascontiguousarray(W, dtype=np.float64)
    u0, gap = np.ascontiguousarray(u0, dtype=np.float64).reshape(-1), np.ascontiguousarray(gap, dtype=np.float64)
    P = len(gap)
    mu = np.ascontiguousarray(np.broadcast_to(np.asarray(mu, dtype=np.float64), (P,)))
    F, total = np.zeros(3 * P), 0
    for relaxation in (1.0, 0.5, 0.2):
        F = np.zeros(3 * P) if F0 is None else np.array(F0, dtype=np.float64).reshape(-1)
        first, _ = kernels.gauss_seidel(W, u0, gap, mu, F, min(sweeps, 50), 0.0, relaxation)
        limit = tolerance * max(float(np.abs(F).max()), 1e-12)
        more, change = kernels.gauss_seidel(W, u0, gap, mu, F, sweeps, limit, relaxation)
        total += int(first) + int(more)
        if change <= limit:
            return F.reshape(P, 3), total, Status.CONVERGED
    return F.reshape(P, 3), total, Status.MAX_ITERATIONS
