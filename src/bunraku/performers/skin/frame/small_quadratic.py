"""The quadratic programs of a frame, a few dozen of 20 unknowns: straight to daqp, checked, the general door only in need."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bunraku.arrays import Array
from bunraku.optimization.quadratic import QuadraticProgram, solve_quadratic

GOOD = 1e-7
"""Residual, relative to the size of the data, up to which daqp is believed."""


@dataclass(frozen=True)
class SmallSolution:
    """A point (n,), the multipliers (m,) >= 0 of the rows, and whether it is the optimum (false: no point meets the rows)."""

    x: Array
    multipliers: Array
    solved: bool


def solve_small(P: Array, q: Array, E: Array, c: Array, low: Array, high: Array) -> SmallSolution:
    """Minimise x.P x / 2 + q.x subject to c + E x <= 0 and low <= x <= high; P (n, n) positive definite, E (m, n)."""
    import daqp

    n = len(q)
    length = np.linalg.norm(E, axis=1)
    kept = np.flatnonzero(length > 0.0)
    scale = 1.0 / length[kept]
    rows = np.ascontiguousarray(E[kept] * scale[:, None])
    limit = -c[kept] * scale
    upper, lower = np.concatenate([high, limit]), np.concatenate([low, np.full(len(kept), -1e30)])
    x, _, flag, info = daqp.solve(P.copy(), q.copy(), rows, upper, lower, np.zeros(len(upper), np.int32), primal_tol=1e-10)
    x, y = np.array(x, dtype=np.float64), np.array(info["lam"], dtype=np.float64)
    if flag == 1 and _holds(P, q, rows, limit, low, high, x, y):
        multipliers = np.zeros(len(c))
        multipliers[kept] = np.maximum(y[n:], 0.0) * scale
        return SmallSolution(np.clip(x, low, high), multipliers, True)
    if flag == -1:
        return SmallSolution(np.clip(np.zeros(n), low, high), np.zeros(len(c)), False)
    solution = solve_quadratic(QuadraticProgram(P, q, E, -np.inf, -c, low, high))
    return SmallSolution(np.clip(solution.x, low, high), np.maximum(solution.row_multipliers, 0.0), solution.status.good)


def _holds(P: Array, q: Array, rows: Array, limit: Array, low: Array, high: Array, x: Array, y: Array) -> bool:
    """Whether x is feasible and stationary with the multipliers y of bounds and rows, to rounding."""
    n = len(q)
    over = max(float(np.max(x - high)), float(np.max(low - x)), float(np.max(rows @ x - limit, initial=0.0)))
    Px = P @ x
    dual = float(np.abs(Px + q + y[:n] + rows.T @ y[n:]).max())
    size = 1e-12 + float(np.abs(q).max()) + float(np.abs(Px).max())
    return over <= GOOD * (1e-3 + float(np.abs(x).max())) and dual <= GOOD * size
