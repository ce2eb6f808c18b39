"""Solving an imitation: straight from hanging still, and by a ladder of gentler problems when that ends outside the limits.

Fast wishes lead the straight way into a corner where a string would have to push. The ladder first lets accelerations of carriages
and winches cost thirty times as much, then three times, then what was asked: each rung starts from the last and needs to be solved
only roughly. What is returned is the best result found: within the limits first, then by its cost.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from bunraku.optimization.control.cost import LinearResidualCost, SumOfCosts, TrajectoryCost
from bunraku.optimization.control.interior import InteriorSolution, InteriorTrajectory
from bunraku.optimization.monitor import SILENT, Monitor
from bunraku.optimization.solution import Status
from bunraku.performers.marionette.problem import PuppetProblem, acceleration_rows

__all__ = ["Imitation", "solve_puppet"]

Array = NDArray[np.float64]

LADDER = (30.0, 3.0)
"""How many times as much accelerations cost on the rungs before the last."""

ROUGH = 10.0
"""The tolerance of the rungs before the last, in tolerances of the last."""


@dataclass(frozen=True)
class Imitation:
    """What was found: ``solution`` of the problem as asked, ``initial`` cost of hanging still, ``iterations`` over all attempts."""

    solution: InteriorSolution
    initial: float
    iterations: int
    rungs: int


def solve_puppet(
    problem: PuppetProblem,
    solver: InteriorTrajectory,
    *,
    start: tuple[Array, Array] | None = None,
    keep: Callable[[Array, Array, float], None] | None = None,
    monitor: Monitor = SILENT,
) -> Imitation:
    """Solve the problem from ``start`` (hanging still if not given); climb the ladder if that ends outside the limits."""
    still = problem.still
    initial = float(problem.cost.value(*still))
    found = _attempt(problem, solver, problem.cost, *(start or still), None, keep, monitor)
    iterations, rungs = found.iterations, 0
    if found.violation <= 0.0 or found.status is Status.CANCELLED:
        return Imitation(found, initial, iterations, rungs)
    x, u, K = *still, None
    rough = replace(solver, relative_tolerance=min(ROUGH * solver.relative_tolerance, 0.1))
    for factor in (*LADDER, 1.0):
        last = factor == 1.0
        cost = problem.cost if last else _gentler(problem, factor)
        rung = _attempt(problem, solver if last else rough, cost, x, u, K, keep if last else None, monitor)
        x, u, K = rung.x, rung.u, rung.K
        iterations, rungs = iterations + rung.iterations, rungs + 1
        found = _better(problem, found, rung, last)
        if rung.status is Status.CANCELLED:
            found = replace(found, status=Status.CANCELLED)
            break
    return Imitation(found, initial, iterations, rungs)


def _better(problem: PuppetProblem, found: InteriorSolution, rung: InteriorSolution, last: bool) -> InteriorSolution:
    """Which of the two violates less, then costs less by the problem's own cost; a rung on the way has not solved the problem."""
    judged = replace(rung, cost=float(problem.cost.value(rung.x, rung.u)))
    if not last and judged.status is Status.CONVERGED:
        judged = replace(judged, status=Status.MAX_ITERATIONS)
    return judged if (judged.violation, judged.cost) < (found.violation, found.cost) else found


def _attempt(
    problem: PuppetProblem,
    solver: InteriorTrajectory,
    cost: TrajectoryCost,
    x: Array,
    u: Array,
    gains: Array | None,
    keep: Callable[[Array, Array, float], None] | None,
    monitor: Monitor,
) -> InteriorSolution:
    return solver.solve(problem.dynamics, cost, problem.constraints, x, u, gains=gains, keep=keep, monitor=monitor)


def _gentler(problem: PuppetProblem, factor: float) -> TrajectoryCost:
    """The cost with accelerations weighing ``factor`` times as much."""
    rows = acceleration_rows(problem.dynamics)
    return SumOfCosts(problem.cost, LinearResidualCost(rows, np.full(len(rows), (factor - 1.0) * problem.weights.acceleration)))
