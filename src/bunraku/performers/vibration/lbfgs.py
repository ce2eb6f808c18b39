"""The method of the paper: limited-memory BFGS on the gradient of the discrete adjoint, from the input.

It is here for comparison and knows no limits of the motors; Gauss-Newton keeps them all.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import minimize

from bunraku.arrays import Array
from bunraku.optimization.monitor import SILENT, Event, Monitor
from bunraku.optimization.solution import Status
from bunraku.performers.vibration.evaluate import cost_and_gradient
from bunraku.performers.vibration.problem import VibrationProblem
from bunraku.performers.vibration.solve import Retargeted


class _Stop(Exception):
    """Asked to stop."""


@dataclass
class _Best:
    parameters: Array
    cost: float = np.inf
    rms: float = np.inf


def solve_lbfgs(
    problem: VibrationProblem, *, max_iterations: int = 100, tolerance: float = 1e-6, monitor: Monitor = SILENT
) -> Retargeted:
    """Minimise F from the input; converged when the cost falls by less than ``tolerance`` of itself in an iteration.

    Variables are scaled by the square root of the regularizers' diagonal, which evens out their curvature a little.
    """
    P, C = problem.smoothness
    scale = 1.0 / np.sqrt(np.maximum((P + C).diagonal()[problem.free], 1e-300))
    scale *= 1.0 / scale.max()
    best = _Best(problem.wish)
    history: list[tuple[float, float]] = []
    first = [0.0]

    def value(y: Array) -> Any:
        parameters = problem.with_free(problem.wish, scale * y)
        cost, gradient, evaluation = cost_and_gradient(problem, parameters)
        if not np.isfinite(cost):
            return 1e30, np.zeros_like(y)
        first[0] = first[0] or cost
        if cost < best.cost:
            best.parameters, best.cost, best.rms = parameters, cost, evaluation.rms
        if monitor.cancelled:
            raise _Stop
        return cost / first[0], scale * gradient / first[0]

    def after(_: Array) -> None:
        history.append((best.cost, best.rms))
        figures = {"cost": best.cost, "rms_m": best.rms}
        monitor.report(Event("vibration", len(history) / max_iterations, f"iteration {len(history)}", figures))

    try:
        options: Any = {"maxiter": max_iterations, "ftol": tolerance, "gtol": 1e-14, "maxcor": 30, "maxfun": 3 * max_iterations}
        solver: Any = minimize
        result = solver(value, np.zeros(len(problem.free)), jac=True, method="L-BFGS-B", callback=after, options=options)
        status = Status.CONVERGED if result.success else Status.MAX_ITERATIONS
    except _Stop:
        status = Status.CANCELLED
    return Retargeted(best.parameters, best.cost, best.rms, status, len(history), tuple(history))
