"""Hinge, then log barrier: the way to keep limits with which the interior point method is compared.

The hinge c/2 max(0, g + margin)^2, stiffened until every g is below 0, and then J - w sum log(-g), w lowered tenfold round by
round; every trial outside is refused by the line search, so the answer is strictly inside. From a start outside it needs the hinge
first: a barrier straight from a neutral start crawls.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from bunraku.optimization.control.constrained import _Penalised
from bunraku.optimization.control.constraints import TrajectoryConstraint
from bunraku.optimization.control.cost import TrajectoryCost
from bunraku.optimization.control.dynamics import DiscreteDynamics
from bunraku.optimization.control.trajectory import TrajectoryNewton, TrajectorySolution
from bunraku.optimization.monitor import SILENT, Monitor
from bunraku.optimization.solution import Status


class _Hinge(_Penalised):
    """The squared hinge on g + margin."""

    margin = 1e-3

    def _row(self, g, mu):
        return super()._row(g + self.margin, mu)


class _Barrier(_Penalised):
    """J - w sum log(-g), w the penalty."""

    def _row(self, g, mu):
        room = np.where(g < 0.0, -g, np.nan)
        return -self._penalty * np.log(room), self._penalty / room, self._penalty / (room * room)


@dataclass(frozen=True, kw_only=True)
class HingeThenBarrier:
    """``newton`` solves each round; ``penalty`` of the hinge and its ``growth``; ``barrier``: w from first to last."""

    newton: TrajectoryNewton = field(default_factory=TrajectoryNewton)
    penalty: float = 10.0
    growth: float = 10.0
    max_rounds: int = 20
    barrier: tuple[float, float] = (1e-1, 1e-4)

    def solve(
        self,
        dynamics: DiscreteDynamics,
        cost: TrajectoryCost,
        constraints: Sequence[TrajectoryConstraint],
        x: np.ndarray,
        u: np.ndarray,
        *,
        monitor: Monitor = SILENT,
    ) -> tuple[TrajectorySolution, int, Status]:
        """The last round, the iterations of all, and the end."""
        nothing = [(np.zeros_like(g), np.zeros_like(end)) for g, end in (c.values(x, u) for c in constraints)]
        rough = replace(self.newton, relative_tolerance=max(self.newton.relative_tolerance, 1e-4))
        penalty, iterations = self.penalty, 0
        for _ in range(self.max_rounds):
            reached = rough.solve(dynamics, _Hinge(cost, constraints, nothing, penalty), x, u, monitor=monitor)
            x, u, iterations = reached.x, reached.u, iterations + reached.iterations
            if all(bool((g < 0.0).all()) for c in constraints for g in c.values(x, u)):
                break
            if reached.status is Status.CANCELLED:
                return reached, iterations, Status.CANCELLED
            penalty *= self.growth
        else:
            return reached, iterations, Status.INFEASIBLE
        w, last = self.barrier
        while True:
            newton = self.newton if w <= last else rough
            reached = newton.solve(dynamics, _Barrier(cost, constraints, nothing, w), x, u, monitor=monitor)
            x, u, iterations = reached.x, reached.u, iterations + reached.iterations
            if w <= last or reached.status is Status.CANCELLED:
                return reached, iterations, reached.status
            w = max(0.1 * w, last)
