"""Quadratic programs with a dense Hessian and many rows, of which few bind.

Minimise x.H x / 2 + g.x subject to lower <= A x <= upper, H = L L^T positive definite. The unconstrained minimum breaks some rows;
only those are taken into a small dual problem over their multipliers y >= 0,

    minimise y.(A_w H^-1 A_w^T) y / 2 - y.(A_w x_0 - b_w),        x = x_0 - H^-1 A_w^T y,

whose minimum may break others, which are added until none is left. One factorization of H serves all of it; rows enter one by one
into the dual matrix through Z = L^-1 A_w^T. At the end x is the exact minimiser over all rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve, solve_triangular

from bunraku.arrays import Array
from bunraku.optimization.solution import Status

RUNAWAY = 1e9
"""Multipliers so many times the size of the violation (rows scaled to unit length) mean that no point satisfies all rows."""


@dataclass(frozen=True)
class FewActiveSolution:
    """The minimiser ``x`` (n,), multipliers ``y`` (m,) (positive at the upper limit), and how it ended."""

    x: Array
    y: Array
    status: Status
    rounds: int


def minimise_few_active(
    factor: Array, g: Array, A: Any, lower: Array, upper: Array, *, soft: Array | None = None, tolerance: float = 1e-9
) -> FewActiveSolution:
    """Solve it. ``factor``: lower Cholesky factor L (n, n) of H. Rows broken by less than ``tolerance`` hold.

    ``soft`` (m,): rows with s > 0 may be broken by s times their multiplier (a quadratic penalty 1/s), for rows that might
    contradict others. INFEASIBLE when rows contradict each other; x is then a compromise.
    """
    x0: Array = -cho_solve((factor, True), g)
    m, at_start = A.shape[0], np.asarray(A @ x0)
    give = np.zeros(m) if soft is None else soft
    x, value, y = x0, at_start, np.zeros(0)
    sign, rows = np.zeros(0), np.zeros(0, dtype=np.int64)
    Z, G = np.zeros((len(g), 0)), np.zeros((0, 0))
    full, status, rounds = np.zeros(m), Status.CONVERGED, 0
    while rounds < 200:
        rounds += 1
        known = np.zeros((2, m), dtype=bool)
        known[(sign > 0.0).astype(np.int64), rows] = True
        above, below = value - upper - give * full, lower - value + give * full
        broken = np.array([below, above]) > tolerance
        side_of, fresh = np.nonzero(broken & ~known)
        if not len(fresh):
            break
        side = np.where(side_of == 1, 1.0, -1.0)
        picked = A[fresh]
        N = side[:, None] * (picked.toarray() if hasattr(picked, "toarray") else np.asarray(picked))
        new = solve_triangular(factor, N.T, lower=True, check_finite=False)
        corner, cross = new.T @ new + np.diag(give[fresh]), Z.T @ new
        G = np.block([[G, cross], [cross.T, corner]])
        Z, sign, rows = np.hstack([Z, new]), np.concatenate([sign, side]), np.concatenate([rows, fresh])
        d = sign * at_start[rows] - np.where(sign > 0.0, upper[rows], -lower[rows])
        y, good = nonnegative_quadratic(G, d, np.pad(y, (0, len(fresh))))
        x = x0 - solve_triangular(factor, Z @ y, lower=True, trans="T", check_finite=False)
        value = np.asarray(A @ x)
        full = np.zeros(m)
        np.add.at(full, rows, sign * y)
        if not good:
            status = Status.INFEASIBLE
            break
    else:
        status = Status.MAX_ITERATIONS
    return FewActiveSolution(x, full, status, rounds)


def nonnegative_quadratic(G: Array, d: Array, start: Array | None = None) -> tuple[Array, bool]:
    """Minimise y.G y / 2 - d.y over y >= 0, G (k, k) positive semidefinite; also whether a minimum exists.

    Principal pivoting first: all wrong signs are exchanged at once. If that cycles, the active set method of Lawson and Hanson, one
    exchange at a time, from the set of positive multipliers of ``start``.
    """
    scale = np.sqrt(np.maximum(np.diag(G), 1e-300))
    M, c = G / scale[:, None] / scale, d / scale
    y = _pivoted(M, c)
    if y is None:
        y = _exchanged(M, c, np.zeros(len(c)) if start is None else start * scale)
    if y is None:
        return np.zeros(len(c)), False
    return y / scale, True


def _pivoted(M: Array, c: Array) -> Array | None:
    free = c > 0.0
    for _ in range(30):
        y = _restricted(M, c, free)
        if y is None:
            return None
        wrong = (free & (y < 0.0)) | (~free & (M @ y - c < -1e-11))
        if not wrong.any():
            return y if np.abs(y).max(initial=0.0) <= RUNAWAY * (1.0 + np.abs(c).max()) else None
        free = free ^ wrong
    return None


def _exchanged(M: Array, c: Array, y: Array) -> Array | None:
    """Lawson and Hanson; None when the minimum runs away (the rows contradict each other)."""
    free = y > 0.0
    y = np.where(free, y, 0.0)
    target = y
    for _turn in range(20 * len(c) + 50):
        for _ in range(len(c) + 1):
            restricted = _restricted(M, c, free)
            if restricted is None:
                return None
            target = restricted
            back = free & (target <= 0.0)
            if not back.any():
                break
            share = float((y[back] / np.maximum(y[back] - target[back], 1e-300)).min())
            y = y + share * (target - y)
            gone = free & (y <= 1e-14 * (1.0 + np.abs(y).max()))
            free &= ~(gone if gone.any() else back)
            y[~free] = 0.0
        y = target
        pull = np.where(free, 0.0, c - M @ y)
        j = int(np.argmax(pull))
        if pull[j] <= 1e-11 * (1.0 + np.abs(c).max()):
            return y if np.abs(y).max(initial=0.0) <= RUNAWAY * (1.0 + np.abs(c).max()) else None
        free[j] = True
    return None


def _restricted(M: Array, c: Array, free: NDArray[np.bool_]) -> Array | None:
    """The unconstrained minimiser over the free components, others zero; None where it does not exist."""
    y = np.zeros(len(c))
    at = np.flatnonzero(free)
    if len(at):
        try:
            y[at] = cho_solve(
                cho_factor(M[np.ix_(at, at)] + 1e-12 * np.eye(len(at)), check_finite=False), c[at], check_finite=False
            )
        except np.linalg.LinAlgError:
            return None
        if not np.isfinite(y).all():
            return None
    return y
