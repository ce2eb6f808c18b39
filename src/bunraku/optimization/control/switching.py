"""The best switching times: Newton's method under the order tau_1 <= ... <= tau_r and a least duration of each mode.

What a cost and its derivatives by the times are, the problem says: :mod:`bunraku.performers.choreography.switching` has them for
feedback laws along a closed loop.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from bunraku.arrays import Array
from bunraku.errors import BadInput
from bunraku.optimization.monitor import SILENT, Event, Monitor
from bunraku.optimization.quadratic import QuadraticProgram, solve_quadratic
from bunraku.optimization.solution import Status


@dataclass(frozen=True)
class SwitchingDerivatives:
    """J at some switching times: ``cost``, ``gradient`` (r,), ``hessian`` (r, r), ``states`` (r, n) at the switches."""

    cost: float
    gradient: Array
    hessian: Array
    states: Array


class SwitchingProblem(ABC):
    """A cost as a function of ordered switching times in [``start``, ``end``]; two methods to write."""

    def __init__(self, start: float, end: float) -> None:
        if not (np.isfinite(start) and np.isfinite(end) and start < end):
            raise BadInput(f"a time span from {start} to {end} arrived; the end must come after the start")
        self.start = float(start)
        self.end = float(end)

    @abstractmethod
    def value(self, times: Array) -> float:
        """J; infinity where the system cannot be simulated."""

    @abstractmethod
    def derivatives(self, times: Array) -> SwitchingDerivatives:
        """J, gradient and Hessian."""

    def check(self, times: ArrayLike) -> Array:
        """The times as an array, refused unless they are ordered and inside the span."""
        tau = np.atleast_1d(np.array(times, dtype=np.float64))
        if tau.ndim != 1 or not np.isfinite(tau).all():
            raise BadInput(f"switching times of shape {tau.shape} arrived; a finite vector is needed")
        if (np.diff(np.concatenate([[self.start], tau, [self.end]])) < 0.0).any():
            raise BadInput(f"switching times {tau.tolist()} are not ordered inside [{self.start}, {self.end}]; sort and clip them")
        return tau


@dataclass(frozen=True)
class SwitchingSolution:
    """``times`` (r,), their ``cost``, ``gradient`` (r,), ``hessian`` (r, r), ``costs`` of all iterates.

    ``multipliers`` (r + 1,) belong to the durations: at the optimum gradient = D^T multipliers, multipliers >= 0 and zero where a
    mode lasts longer than its least duration; D times are the durations up to constants.
    """

    times: Array
    cost: float
    gradient: Array
    hessian: Array
    costs: Array
    multipliers: Array
    status: Status


def optimize_switching(
    problem: SwitchingProblem,
    times: ArrayLike,
    *,
    least_duration: float = 0.0,
    max_iterations: int = 50,
    tolerance: float = 1e-10,
    monitor: Monitor = SILENT,
) -> SwitchingSolution:
    """Minimise J over ordered switching times from ``times`` (r,), every mode lasting at least ``least_duration`` [s].

    Each iteration solves the quadratic model min g.p + 1/2 p.|H| p under the order (|H| has the absolute eigenvalues of H, so
    that a saddle is left downhill), then halves the step until Armijo's rule holds; all points on the way are ordered because the
    allowed times form a convex set. Converged when the model promises less than ``tolerance`` (1 + abs(J)).
    """
    tau = problem.check(times)
    r = len(tau)
    D = np.zeros((r + 1, r))
    D[np.arange(r), np.arange(r)] = 1.0
    D[np.arange(1, r + 1), np.arange(r)] = -1.0
    ends = np.zeros(r + 1)
    ends[0], ends[-1] = -problem.start, ends[-1] + problem.end
    if r == 0:
        raise BadInput("no switching times arrived; there is nothing to optimize")
    if (D @ tau + ends < least_duration - 1e-12).any():
        raise BadInput(f"switching times {tau.tolist()} leave a mode less than {least_duration} s; start from longer durations")
    at = problem.derivatives(tau)
    costs, multipliers, status = [at.cost], np.zeros(r + 1), Status.MAX_ITERATIONS
    for iteration in range(max_iterations + 1):
        values, vectors = np.linalg.eigh(at.hessian)
        values = np.maximum(np.abs(values), 1e-8 * max(float(np.abs(values).max()), 1e-12))
        lower = least_duration - ends - D @ tau
        solved = solve_quadratic(
            QuadraticProgram((vectors * values) @ vectors.T, at.gradient, A=D, lower=np.minimum(lower, 0.0), upper=np.inf)
        )
        p, multipliers = solved.x, -solved.row_multipliers
        slope = float(at.gradient @ p)
        monitor.report(Event("switching", iteration / max(max_iterations, 1), figures={"cost": at.cost, "slope": slope}))
        if -slope <= tolerance * (1.0 + abs(at.cost)):
            status = Status.CONVERGED
            break
        if iteration == max_iterations:
            break
        if monitor.cancelled:
            status = Status.CANCELLED
            break
        s, trial = 1.0, tau
        for _ in range(40):
            trial = _ordered(tau + s * p, problem, least_duration)
            if problem.value(trial) < at.cost + 1e-4 * s * slope:
                break
            s *= 0.5
        else:
            status = Status.STALLED
            break
        tau = trial
        at = problem.derivatives(tau)
        costs.append(at.cost)
    return SwitchingSolution(tau, at.cost, at.gradient, at.hessian, np.array(costs), multipliers, status)


def _ordered(tau: Array, problem: SwitchingProblem, least: float) -> Array:
    """Remove what rounding did to the order."""
    out = tau.copy()
    for i in range(len(out)):
        out[i] = max(out[i], (out[i - 1] if i else problem.start) + least)
    for i in range(len(out) - 1, -1, -1):
        out[i] = min(out[i], (out[i + 1] if i + 1 < len(out) else problem.end) - least)
    return out
