"""Trajectory optimization under inequalities g <= 0, by augmented Lagrangian.

With multipliers mu >= 0 and a penalty c, each round minimises

    J + sum 1/(2c) (max(0, mu + c g)^2 - mu^2),    then    mu <- max(0, mu + c g),

and c grows when the violation does not fall fast enough. With mu = 0 the first round is the squared hinge c/2 max(0, g)^2.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import ArrayLike

from bunraku.arrays import Array
from bunraku.errors import BadInput
from bunraku.optimization.control.constraints import TrajectoryConstraint
from bunraku.optimization.control.cost import TrajectoryCost
from bunraku.optimization.control.dynamics import DiscreteDynamics
from bunraku.optimization.control.trajectory import FeedbackWeights, TrajectoryNewton, TrajectorySolution
from bunraku.optimization.monitor import SILENT, Event, Monitor
from bunraku.optimization.solution import Status

Multipliers = tuple[Array, Array]
"""One number a row: of the stages (N, rows), of the end (last,)."""


class _Penalised(TrajectoryCost):
    """The cost of one round: J + sum over rows of phi(g), phi'(g) the push and phi''(g) the stiffness of a row."""

    def __init__(
        self,
        cost: TrajectoryCost,
        constraints: Sequence[TrajectoryConstraint],
        multipliers: Sequence[Multipliers],
        penalty: float,
    ) -> None:
        self._cost, self._constraints, self._multipliers, self._penalty = cost, constraints, multipliers, penalty

    def _terms(self, x: Array, u: Array) -> list[list[Multipliers]]:
        """For each constraint: value, push and stiffness, each of the stage rows and of the terminal rows."""
        terms = []
        for constraint, (mu, mu_end) in zip(self._constraints, self._multipliers, strict=True):
            g, g_end = constraint.values(x, u)
            terms.append(list(zip(self._row(g, mu), self._row(g_end, mu_end), strict=True)))
        return terms

    def _row(self, g: Array, mu: Array) -> tuple[Array, Array, Array]:
        push: Array = np.maximum(0.0, mu + self._penalty * g)
        return (push * push - mu * mu) / (2.0 * self._penalty), push, np.where(push > 0.0, self._penalty, 0.0)

    def value(self, x: Array, u: Array) -> float:
        """J and the terms; infinity where they are not finite."""
        total = self._cost.value(x, u) + sum(float(v.sum()) for values, _, _ in self._terms(x, u) for v in values)
        return total if np.isfinite(total) else float("inf")

    def gradient(self, x: Array, u: Array) -> tuple[Array, Array]:
        """Gradient of J plus J_g^T push."""
        w, bf = self._cost.gradient(x, u)
        for constraint, (_, push, _) in zip(self._constraints, self._terms(x, u), strict=True):
            G, Gf = constraint.jacobians(x, u)
            w = w + (push[0][:, None, :] @ G)[:, 0]
            bf = bf + push[1] @ Gf
        return w, bf

    def add_hessian(self, H: Array, P: Array, x: Array, u: Array, *, exact: bool) -> None:
        """Hessian of J plus J_g^T stiffness J_g, and with ``exact`` the curvature of g under the push."""
        self._cost.add_hessian(H, P, x, u, exact=exact)
        for constraint, (_, push, stiffness) in zip(self._constraints, self._terms(x, u), strict=True):
            G, Gf = constraint.jacobians(x, u)
            H += G.transpose(0, 2, 1) @ (stiffness[0][:, :, None] * G)
            P += Gf.T @ (stiffness[1][:, None] * Gf)
            if exact:
                bend, end = constraint.curvature(x, u, push[0], push[1])
                H += bend
                P += end


@dataclass(frozen=True)
class ConstrainedSolution:
    """The best trajectory, ``violation`` = max(0, largest g) recomputed on it, ``cost`` J without penalties.

    ``multipliers`` of each constraint, stage (N, rows) and terminal; ``iterations`` Newton steps over all ``rounds``;
    ``trajectory`` the last round (its cost and feedback include the penalties).
    """

    trajectory: TrajectorySolution
    cost: float
    violation: float
    multipliers: tuple[Multipliers, ...]
    status: Status
    rounds: int
    iterations: int


@dataclass(frozen=True, kw_only=True)
class ConstrainedTrajectory:
    """The solver: options and one verb.

    ``newton`` solves each round. ``penalty`` [cost] of a unit violation at the start, ``growth`` its factor. ``tolerance``: largest
    g accepted, and also of |min(-g, mu / penalty)|, which makes the multipliers settle.
    """

    newton: TrajectoryNewton = field(default_factory=TrajectoryNewton)
    penalty: float = 10.0
    growth: float = 10.0
    tolerance: float = 1e-6
    max_rounds: int = 20

    def __post_init__(self) -> None:
        if not (self.penalty > 0.0 and self.growth > 1.0 and self.tolerance > 0.0):
            raise BadInput(f"{self}: penalty and tolerance must be positive, growth above 1")

    def solve(
        self,
        dynamics: DiscreteDynamics,
        cost: TrajectoryCost,
        constraints: Sequence[TrajectoryConstraint],
        x_guess: ArrayLike,
        u_guess: ArrayLike,
        *,
        feedback: FeedbackWeights | None = None,
        monitor: Monitor = SILENT,
    ) -> ConstrainedSolution:
        """Minimise the cost under all ``constraints`` from a guess, which may violate them; early rounds are solved loosely.

        INFEASIBLE means that the penalty grew to its end (growth^max_rounds) and a violation stayed; the trajectory is then the
        trajectory of the last round. CONVERGED asks for both the limits and the last Newton round.
        """
        x, u = np.array(x_guess, dtype=np.float64), np.array(u_guess, dtype=np.float64)
        multipliers = [(np.zeros_like(g), np.zeros_like(end)) for g, end in _values(constraints, x, u)]
        penalty, before, iterations, status = self.penalty, np.inf, 0, Status.MAX_ITERATIONS
        for index in range(self.max_rounds):
            loose = 1e-4 * 0.1**index
            newton = self.newton
            if loose > 1e-12:
                newton = replace(newton, relative_tolerance=max(newton.relative_tolerance, loose))
            penalised = _Penalised(cost, constraints, multipliers, penalty)
            trajectory = newton.solve(dynamics, penalised, x, u, feedback=feedback, monitor=monitor)
            x, u, iterations = trajectory.x, trajectory.u, iterations + trajectory.iterations
            values = _values(constraints, x, u)
            violation = max((float(g.max(initial=0.0)) for pair in values for g in pair), default=0.0)
            figures = {"cost": trajectory.cost, "violation": violation}
            monitor.report(Event("constraints", (index + 1) / self.max_rounds, figures=figures))
            if trajectory.status is Status.CANCELLED:
                status = Status.CANCELLED
                break
            residual, updated = 0.0, []
            for pair, old in zip(values, multipliers, strict=True):
                mu, mu_end = (np.maximum(0.0, mu + penalty * g) for g, mu in zip(pair, old, strict=True))
                updated.append((mu, mu_end))
                changes = (float(np.abs(b - a).max(initial=0.0)) / penalty for a, b in zip(old, (mu, mu_end), strict=True))
                residual = max(residual, *changes)
            multipliers = updated
            settled = trajectory.status is Status.CONVERGED and -trajectory.slope <= self.newton.tolerance * 10.0
            if residual <= self.tolerance and settled:
                status = Status.CONVERGED
                break
            if residual > 0.25 * before and residual > self.tolerance:
                penalty *= self.growth
            before = residual
        if status is Status.MAX_ITERATIONS and violation > self.tolerance:
            status = Status.INFEASIBLE
        return ConstrainedSolution(trajectory, cost.value(x, u), violation, tuple(multipliers), status, index + 1, iterations)


def _values(constraints: Sequence[TrajectoryConstraint], x: Array, u: Array) -> list[Multipliers]:
    return [constraint.values(x, u) for constraint in constraints]
