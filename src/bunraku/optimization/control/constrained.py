"""Trajectory optimization under inequalities g <= 0, by augmented Lagrangian or by hinge and log barrier.

Augmented Lagrangian: with multipliers mu >= 0 and a penalty c, each round minimises

    J + sum 1/(2c) (max(0, mu + c g)^2 - mu^2),    then    mu <- max(0, mu + c g),

and c grows when the violation does not fall fast enough. With mu = 0 the first round is the squared hinge c/2 max(0, g)^2.

Barrier: the hinge on g + margin, stiffened until every g is below 0, and then J - w sum log(-g), w lowered round by round; every
trial outside is refused by the line search, so the answer is strictly inside. From a start outside it needs the hinge first: a
barrier straight from a neutral start crawls.
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


class _Penalised(TrajectoryCost):
    """The cost of one round: J + sum over rows of phi(g), phi'(g) the push and phi''(g) the stiffness of a row."""

    def __init__(
        self,
        cost: TrajectoryCost,
        constraints: Sequence[TrajectoryConstraint],
        multipliers: Sequence[Multipliers],
        penalty: float,
        barrier: float,
    ) -> None:
        self._cost, self._constraints, self._multipliers = cost, constraints, multipliers
        self._penalty, self._barrier = penalty, barrier

    def _terms(self, x: Array, u: Array) -> list[tuple[tuple[Array, Array], tuple[Array, Array], tuple[Array, Array]]]:
        """For each constraint: (value, push, stiffness) of the stage rows and of the terminal rows."""
        terms = []
        for constraint, multipliers in zip(self._constraints, self._multipliers, strict=True):
            pairs = [self._row(g, mu) for g, mu in zip(constraint.values(x, u), multipliers, strict=True)]
            terms.append(((pairs[0][0], pairs[1][0]), (pairs[0][1], pairs[1][1]), (pairs[0][2], pairs[1][2])))
        return terms

    def _row(self, g: Array, mu: Array) -> tuple[Array, Array, Array]:
        if self._barrier > 0.0:
            room: Array = np.where(g < 0.0, -g, np.nan).astype(np.float64)
            return -self._barrier * np.log(room), self._barrier / room, self._barrier / (room * room)
        push: Array = np.maximum(0.0, mu + self._penalty * g)
        return (push * push - mu * mu) / (2.0 * self._penalty), push, np.where(push > 0.0, self._penalty, 0.0)

    def value(self, x: Array, u: Array) -> float:
        """J and the terms; infinity outside a barrier."""
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

    ``newton`` solves each round. ``method``: "augmented" (Lagrangian; reaches the bound itself) or "barrier" (stays strictly
    inside). ``penalty`` [cost] of a unit violation at the start, ``growth`` its factor. ``tolerance``: largest g accepted, and
    for "augmented" also of |min(-g, mu / penalty)|, which makes the multipliers settle. ``barrier``: w from first to last,
    tenfold down each round; ``margin``: how far inside the hinge aims before the barrier takes over.
    """

    newton: TrajectoryNewton = field(default_factory=TrajectoryNewton)
    method: str = "augmented"
    penalty: float = 10.0
    growth: float = 10.0
    tolerance: float = 1e-6
    max_rounds: int = 20
    barrier: tuple[float, float] = (1e-1, 1e-4)
    margin: float = 1e-3

    def __post_init__(self) -> None:
        if self.method not in ("augmented", "barrier"):
            raise BadInput(f"the method {self.method!r} is not known; choose augmented or barrier")
        if not (self.penalty > 0.0 and self.growth > 1.0 and self.tolerance > 0.0 and self.barrier[0] >= self.barrier[1] > 0.0):
            raise BadInput(f"{self}: penalty, tolerance and barrier must be positive, growth above 1")

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
        """Minimise the cost under all ``constraints`` from a guess, which may violate them.

        INFEASIBLE means that the penalty grew to its end (growth^max_rounds) and a violation stayed; the trajectory is then the
        trajectory of the last round. CONVERGED asks for both the limits and the last Newton round.
        """
        run = _Run(self, dynamics, cost, list(constraints), feedback, monitor)
        return run.augmented(x_guess, u_guess) if self.method == "augmented" else run.inside(x_guess, u_guess)


class _Run:
    """One call of solve: the rounds and what they share."""

    def __init__(
        self,
        options: ConstrainedTrajectory,
        dynamics: DiscreteDynamics,
        cost: TrajectoryCost,
        constraints: list[TrajectoryConstraint],
        feedback: FeedbackWeights | None,
        monitor: Monitor,
    ) -> None:
        self.options, self.dynamics, self.cost, self.constraints = options, dynamics, cost, constraints
        self.feedback, self.monitor = feedback, monitor
        self.rounds = self.iterations = 0

    def round(
        self, x: ArrayLike, u: ArrayLike, multipliers: Sequence[Multipliers], penalty: float, barrier: float, loose: float
    ) -> TrajectorySolution:
        newton = self.options.newton
        if loose > 0.0:
            newton = replace(newton, relative_tolerance=max(newton.relative_tolerance, loose))
        cost = _Penalised(self.cost, self.constraints, multipliers, penalty, barrier)
        found = newton.solve(self.dynamics, cost, x, u, feedback=self.feedback, monitor=self.monitor)
        self.rounds, self.iterations = self.rounds + 1, self.iterations + found.iterations
        self.monitor.report(
            Event(
                "constraints",
                self.rounds / self.options.max_rounds,
                figures={"cost": found.cost, "violation": self.violation(found)},
            )
        )
        return found

    def values(self, found: TrajectorySolution) -> list[Multipliers]:
        return [constraint.values(found.x, found.u) for constraint in self.constraints]

    def violation(self, found: TrajectorySolution) -> float:
        return max((float(g.max(initial=0.0)) for pair in self.values(found) for g in pair), default=0.0)

    def nought(self, x: ArrayLike, u: ArrayLike) -> list[Multipliers]:
        a, b = np.array(x, dtype=np.float64), np.array(u, dtype=np.float64)
        shapes = [constraint.values(a, b) for constraint in self.constraints]
        return [(np.zeros_like(g), np.zeros_like(last)) for g, last in shapes]

    def answer(self, found: TrajectorySolution, multipliers: Sequence[Multipliers], status: Status) -> ConstrainedSolution:
        J = self.cost.value(found.x, found.u)
        return ConstrainedSolution(found, J, self.violation(found), tuple(multipliers), status, self.rounds, self.iterations)

    def augmented(self, x: ArrayLike, u: ArrayLike) -> ConstrainedSolution:
        """Rounds of the augmented Lagrangian; early rounds are solved loosely."""
        options = self.options
        multipliers, penalty, before = self.nought(x, u), options.penalty, np.inf
        status = Status.MAX_ITERATIONS
        for index in range(options.max_rounds):
            loose = 1e-4 * 0.1**index
            found = self.round(x, u, multipliers, penalty, 0.0, loose if loose > 1e-12 else 0.0)
            x, u = found.x, found.u
            residual = 0.0
            updated = []
            for pair, old in zip(self.values(found), multipliers, strict=True):
                new = [np.maximum(0.0, mu + penalty * g) for g, mu in zip(pair, old, strict=True)]
                updated.append((new[0], new[1]))
                residual = max(residual, *(float(np.abs(b - a).max(initial=0.0)) / penalty for a, b in zip(old, new, strict=True)))
            if found.status is Status.CANCELLED:
                status = Status.CANCELLED
                break
            multipliers = updated
            settled = found.status is Status.CONVERGED and -found.slope <= options.newton.tolerance * 10.0
            if residual <= options.tolerance and settled:
                status = Status.CONVERGED
                break
            if residual > 0.25 * before and residual > options.tolerance:
                penalty *= options.growth
            before = residual
        if status is Status.MAX_ITERATIONS and self.violation(found) > options.tolerance:
            status = Status.INFEASIBLE
        return self.answer(found, multipliers, status)

    def inside(self, x: ArrayLike, u: ArrayLike) -> ConstrainedSolution:
        """The hinge on g + margin until all g < 0, then barriers of falling weight."""
        options = self.options
        nothing = self.nought(x, u)
        shifted, penalty = (
            _Run(options, self.dynamics, self.cost, [_Shifted(c, options.margin) for c in self.constraints], None, self.monitor),
            options.penalty,
        )
        shifted.feedback = self.feedback
        for _ in range(options.max_rounds):
            found = shifted.round(x, u, nothing, penalty, 0.0, 1e-4)
            x, u = found.x, found.u
            if all(bool((g < 0.0).all()) for pair in self.values(found) for g in pair):
                break
            if found.status is Status.CANCELLED:
                return self.answer(found, nothing, Status.CANCELLED)
            penalty *= options.growth
        else:
            self.rounds, self.iterations = shifted.rounds, shifted.iterations
            return self.answer(found, nothing, Status.INFEASIBLE)
        self.rounds, self.iterations = shifted.rounds, shifted.iterations
        w, last = options.barrier
        while True:
            found = self.round(x, u, nothing, options.penalty, w, 0.0 if w <= last else 1e-4)
            x, u = found.x, found.u
            if w <= last or found.status is Status.CANCELLED:
                break
            w = max(0.1 * w, last)
        multipliers = [(-w / pair[0], -w / pair[1]) for pair in self.values(found)]
        return self.answer(found, multipliers, found.status)


class _Shifted(TrajectoryConstraint):
    """g + margin <= 0."""

    def __init__(self, inner: TrajectoryConstraint, margin: float) -> None:
        self._inner, self._margin = inner, margin

    def values(self, x: Array, u: Array) -> tuple[Array, Array]:
        """The values of the inner constraint, raised."""
        g, last = self._inner.values(x, u)
        return g + self._margin, last + self._margin

    def jacobians(self, x: Array, u: Array) -> tuple[Array, Array]:
        """Those of the inner constraint."""
        return self._inner.jacobians(x, u)

    def curvature(self, x: Array, u: Array, weights: Array, last: Array) -> tuple[Array, Array]:
        """That of the inner constraint."""
        return self._inner.curvature(x, u, weights, last)
