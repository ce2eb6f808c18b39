"""How much of a problem the first Newton step solves: figure 3 of Murphey and Johnson (2011)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bunraku.mechanics.integrators.discrete_dynamics import VariationalDynamics
from bunraku.optimization.control.trajectory import TrajectoryNewton, TrajectorySolution
from bunraku.performers.marionette.actuated import ActuatedProblem


@dataclass(frozen=True)
class FirstStep:
    """Costs J of resting, after ``first`` one step and at the ``best``; the solution behind the last."""

    resting: float
    first: float
    best: float
    solution: TrajectorySolution

    @property
    def ratio(self) -> float:
        """J after one step as a multiple of the optimum's."""
        return self.first / self.best


def first_newton_step(problem: ActuatedProblem) -> FirstStep:
    """Newton's method from resting in the wish's first pose: after one step, and until DJ.zeta is below 1e-16."""
    dynamics, cost = VariationalDynamics(problem.integrator), problem.cost
    x, u = np.tile(problem.wish[0], (len(problem.wish), 1)), np.zeros((len(problem.wish) - 1, dynamics.nu))
    one = TrajectoryNewton(tolerance=1e-16, max_iterations=1).solve(dynamics, cost, x, u)
    best = TrajectoryNewton(tolerance=1e-16).solve(dynamics, cost, x, u)
    return FirstStep(float(cost.value(x, u)), one.cost, best.cost, best)
