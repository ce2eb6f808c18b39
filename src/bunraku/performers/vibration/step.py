"""One step of Gauss-Newton within the limits: a quadratic program over the free control points.

minimise g.x + 1/2 x.(H + mu D) x subject to lower <= A (p + x) <= upper, D the diagonal of H. The limits of the profiles are rows
of a few entries each; rows of torque are dense, and only there where a motor comes near its line.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.linalg import cholesky

from bunraku.arrays import Array
from bunraku.optimization.few_active import minimise_few_active
from bunraku.optimization.solution import Status
from bunraku.performers.vibration.evaluate import Normal
from bunraku.performers.vibration.problem import VibrationProblem

SOFT = 1e-9
"""Rows of torque, which are linearized, may be broken by this times their multiplier, so that they make no step impossible."""


@dataclass(frozen=True, eq=False)
class DenseRows:
    """Rows ``A`` (r, free) with A x <= ``upper`` (r,) for the change x of the free parameters."""

    A: Array
    upper: Array


def gauss_newton_step(
    problem: VibrationProblem, normal: Normal, parameters: Array, damping: float, rows: DenseRows | None = None
) -> tuple[Array, Status]:
    """The change of the free parameters, and how its quadratic program ended."""
    H = normal.hessian.copy()
    diagonal = np.diag(H)
    at = np.arange(len(H))
    H[at, at] += damping * diagonal + 1e-12 * diagonal.max()
    L = cholesky(H, lower=True, overwrite_a=True, check_finite=False)
    A, lower, upper, soft = _rows(problem, parameters, rows)
    scale = 1.0 / normal.value if normal.value > 0.0 else 1.0
    program = minimise_few_active(np.sqrt(scale) * L, scale * normal.gradient, A, lower, upper, soft=soft)
    return program.x, program.status


def _rows(problem: VibrationProblem, parameters: Array, rows: DenseRows | None) -> tuple[Any, Array, Array, Array]:
    limits, free = problem.limits, problem.free
    A = sparse.csr_array(limits.A[:, free]) if limits.A.shape[0] else sparse.csr_array((0, len(free)))
    moving = np.flatnonzero(np.diff(A.indptr)) if A.shape[0] else np.zeros(0, dtype=np.int64)
    A = A[moving]
    here = (limits.A @ parameters)[moving] if limits.A.shape[0] else np.zeros(0)
    lower, upper = limits.lower[moving] - here, limits.upper[moving] - here
    soft = np.zeros(len(lower))
    if rows is not None and len(rows.A):
        A = sparse.csr_array(sparse.vstack([A, sparse.csr_array(rows.A)]))
        lower = np.concatenate([lower, np.full(len(rows.A), -np.inf)])
        upper = np.concatenate([upper, rows.upper])
        soft = np.concatenate([soft, np.full(len(rows.A), SOFT)])
    return A, lower, upper, soft
