"""Levenberg-Marquardt with box bounds: minimise |r(x)|^2 / 2 over lower <= x <= upper, r smooth, Jacobian dense or sparse.

Each iteration solves the damped linear problem on the variables that are free to move,
(J^T J + mu D) p = -J^T r, projects the step into the box (fixing what the step would carry out and solving again for the
rest), and accepts it when the cost falls by a fair share of what the linear model promised. The damping mu follows that
share (Nielsen's rule); D holds the largest squared column norms seen (Moré), which makes the method indifferent to units.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from scipy.sparse.linalg import splu

from bunraku.arrays import Array
from bunraku.errors import BadInput
from bunraku.optimization.monitor import SILENT, Event, Monitor
from bunraku.optimization.solution import Status

ROUNDING = 1e-12
"""Costs that differ by less than this part of themselves are not told apart."""


@dataclass(frozen=True)
class LeastSquaresSolution:
    """The best point found: ``cost`` = |r|^2 / 2, ``gradient_norm`` the projected gradient there, computed afresh."""

    x: Array
    status: Status
    cost: float
    gradient_norm: float
    iterations: int


def projected_gradient_norm(x: Array, gradient: Array, lower: Array, upper: Array) -> float:
    """Largest component of x - clip(x - g, lower, upper): zero exactly at a stationary point of the box problem."""
    return float(np.abs(x - np.clip(x - gradient, lower, upper)).max(initial=0.0))


@dataclass(frozen=True, kw_only=True)
class LeastSquares:
    """The solver: options and one verb.

    ``tolerance``: converged when the projected gradient is at most tolerance * (1 + |r| max_j |J_j|), J_j the columns; the
    second term is the scale at which the gradient's own cancellation takes place. ``initial_damping``: mu at the start,
    relative to D.
    """

    max_iterations: int = 200
    tolerance: float = 1e-10
    initial_damping: float = 1e-3

    def __post_init__(self) -> None:
        if self.max_iterations < 0 or not self.tolerance > 0.0 or not self.initial_damping > 0.0:
            raise BadInput(f"{self}: iterations must not be negative, tolerance and damping positive")

    def solve(
        self,
        residual: Callable[[Array], ArrayLike],
        jacobian: Callable[[Array], Any],
        x0: ArrayLike,
        *,
        lower: ArrayLike = -np.inf,
        upper: ArrayLike = np.inf,
        monitor: Monitor = SILENT,
    ) -> LeastSquaresSolution:
        """Minimise from ``x0`` (n,), projected into the box. ``residual(x)`` (m,), ``jacobian(x)`` (m, n), dense or sparse.

        A trial point where the residual is not finite is refused like one that raises the cost. Ends with CONVERGED,
        STALLED when no step lowers the cost any more though the gradient is above the tolerance, MAX_ITERATIONS or
        CANCELLED; the point returned is always the best one.
        """
        x, lo, hi = _box(x0, lower, upper)
        r = _residual(residual, x)
        if r is None:
            raise BadInput("the residual is not finite at the starting point; start elsewhere")
        cost = 0.5 * float(r @ r)
        J = _jacobian(jacobian, x, r.size)
        D = _squares(J)
        mu, factor, status, iteration = self.initial_damping, 2.0, Status.MAX_ITERATIONS, 0
        for iteration in range(self.max_iterations + 1):
            gradient = np.asarray(J.T @ r)
            squares = _squares(J)
            norm = projected_gradient_norm(x, gradient, lo, hi)
            monitor.report(
                Event("least squares", iteration / max(self.max_iterations, 1), figures={"cost": cost, "gradient": norm})
            )
            if norm <= self.tolerance * (1.0 + np.sqrt(2.0 * cost * float(squares.max(initial=0.0)))):
                status = Status.CONVERGED
                break
            if iteration == self.max_iterations:
                break
            if monitor.cancelled:
                status = Status.CANCELLED
                break
            D = np.maximum(D, squares)
            moved = False
            while not moved and mu < 1e16:
                trial = _step(J, gradient, mu, D, x, lo, hi)
                p = trial - x
                model = np.asarray(J @ p)
                promised = -float(gradient @ p) - 0.5 * float(model @ model)
                there = _residual(residual, trial) if promised > 0.0 else None
                new_cost = 0.5 * float(there @ there) if there is not None else np.inf
                gain = (cost - new_cost) / promised if there is not None and new_cost < cost else 0.0
                if there is not None and gain < 1e-4 and max(promised, new_cost - cost) <= ROUNDING * cost:
                    # costs this close cannot be told apart: the gradient decides
                    slope = np.asarray(_jacobian(jacobian, trial, r.size).T @ there)
                    gain = 1.0 if projected_gradient_norm(trial, slope, lo, hi) <= 0.99 * norm else 0.0
                if there is not None and gain >= 1e-4:
                    mu, factor, moved = max(mu * max(1 / 3, 1.0 - (2.0 * gain - 1.0) ** 3), 1e-16), 2.0, True
                    x, r, cost = trial, there, new_cost
                else:
                    mu, factor = mu * factor, min(factor * 2.0, 1e8)
            if not moved:
                status = Status.STALLED
                break
            J = _jacobian(jacobian, x, r.size)
        final = _residual(residual, x)
        r = r if final is None else final
        norm = projected_gradient_norm(x, np.asarray(_jacobian(jacobian, x, r.size).T @ r), lo, hi)
        return LeastSquaresSolution(x, status, 0.5 * float(r @ r), norm, iteration)


def _box(x0: ArrayLike, lower: ArrayLike, upper: ArrayLike) -> tuple[Array, Array, Array]:
    x = np.array(x0, dtype=np.float64)
    if x.ndim != 1 or not np.isfinite(x).all():
        raise BadInput(f"the starting point has shape {x.shape}; a finite vector is needed")
    try:
        lo, hi = (np.broadcast_to(np.asarray(bound, dtype=np.float64), x.shape) for bound in (lower, upper))
    except ValueError as error:
        raise BadInput(f"bounds of shapes {np.shape(lower)} and {np.shape(upper)} for {x.size} variables; they must fit") from error
    if not (lo <= hi).all():
        i = int(np.argmax(~(lo <= hi)))
        raise BadInput(f"variable {i} has bounds [{lo[i]}, {hi[i]}]; the lower must not exceed the upper")
    return np.clip(x, lo, hi), lo, hi


def _residual(residual: Callable[[Array], ArrayLike], x: Array) -> Array | None:
    """The residual at x as a vector, None where it is not finite."""
    with np.errstate(all="ignore"):
        r = np.asarray(residual(x.copy()), dtype=np.float64)
    if r.ndim != 1:
        raise BadInput(f"the residual has shape {r.shape}; a vector is needed")
    return r if np.isfinite(r).all() and np.isfinite(r @ r) else None


def _jacobian(jacobian: Callable[[Array], Any], x: Array, rows: int) -> Any:
    given = jacobian(x.copy())
    J: Any = sparse.csc_array(given) if _is_sparse(given) else np.asarray(given, dtype=np.float64)
    if J.shape != (rows, x.size):
        raise BadInput(f"the Jacobian has shape {J.shape}; {rows} residuals of {x.size} variables need ({rows}, {x.size})")
    if not np.isfinite(J.data if _is_sparse(J) else J).all():
        raise BadInput("the Jacobian holds numbers that are not finite; check it with bunraku.optimization.derivative_check")
    return J


def _is_sparse(matrix: Any) -> bool:
    return bool(sparse.issparse(matrix))


def _squares(J: Any) -> Array:
    """Squared norms of the columns."""
    squared = J.multiply(J).sum(axis=0) if _is_sparse(J) else np.einsum("ij,ij->j", J, J)
    return np.asarray(squared, dtype=np.float64).ravel()


def _step(J: Any, gradient: Array, mu: float, D: Array, x: Array, lower: Array, upper: Array) -> Array:
    """The point the damped step leads to: variables that would leave the box stop at its wall, the rest is solved again."""
    held = ((x <= lower) & (gradient > 0.0)) | ((x >= upper) & (gradient < 0.0))
    point = x.copy()
    damping = mu * np.where(D > 0.0, D, 1.0)
    for _ in range(x.size):
        free = np.flatnonzero(~held)
        if free.size == 0:
            break
        moved = point - x
        moved[free] = 0.0
        right = -gradient[free]
        if moved.any():
            right = right - np.asarray(J[:, free].T @ (J @ moved))
        p = _damped(J[:, free], right, damping[free])
        trial = x[free] + p
        outside = (trial < lower[free]) | (trial > upper[free])
        point[free] = np.clip(trial, lower[free], upper[free])
        if not outside.any():
            break
        held[free[outside]] = True
    return point


def _damped(J: Any, right: Array, damping: Array) -> Array:
    """Solve (J^T J + diag(damping)) p = right."""
    scale = 1.0 / np.sqrt(_squares(J) + damping)
    if _is_sparse(J):
        S = sparse.diags_array(scale)
        system = sparse.csc_array(S @ (J.T @ J + sparse.diags_array(damping)) @ S)
        return scale * splu(system).solve(scale * right)
    system = scale[:, None] * (J.T @ J + np.diag(damping)) * scale
    try:
        p: Array = scale * np.linalg.solve(system, scale * right)
    except np.linalg.LinAlgError:
        p = scale * np.linalg.lstsq(system, scale * right, rcond=None)[0]
    return p
