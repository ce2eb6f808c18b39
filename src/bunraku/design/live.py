"""A motion that follows the hand: dimensions, goal and targets are dragged, and each answer takes bounded work.

Goal and targets are dragged as :class:`~bunraku.performers.locomotion.interactive.DraggedPlan` does. When dimensions move by dp,
the problem is stated anew for the character as it is then; the last motion and its multipliers are moved along dm/dp dp and
dlambda/dp dp, known from the last full solve, where that lowers the energy, and a few damped Gauss-Newton steps follow. Let go, and
the motion is solved to the end.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from bunraku.arrays import Array
from bunraku.character import Character
from bunraku.design.sensitivity import PARAMETER_STEP, Sensitivity
from bunraku.design.study import ParametricDesign, Study, Variant, levelled, worst_row
from bunraku.design.system import OptimalitySystem, optimality_system
from bunraku.errors import Cancelled
from bunraku.gait.patterns import footfalls
from bunraku.motion import Gait, JointCurves
from bunraku.optimization.augmented_lagrangian import AugmentedLagrangian
from bunraku.optimization.monitor import SILENT, Monitor
from bunraku.performers.locomotion.calmed import solve_from
from bunraku.performers.locomotion.interactive import DraggedPlan, Place
from bunraku.performers.locomotion.plan import MotionPlan
from bunraku.performers.locomotion.played import play
from bunraku.performers.locomotion.problem import MotionProblem
from bunraku.performers.locomotion.state import stages, state_problem

RATE = 60.0
"""Rate [Hz] of the curves that are shown while dragging."""


@dataclass(frozen=True)
class _Known:
    """What the last full solve knows of its neighbourhood: the variant, its optimality system, and columns found so far."""

    variant: Variant
    system: OptimalitySystem
    columns: dict[int, tuple[Array, Array]]


class LiveMotion:
    """A motion being edited together with its character. ``plan`` is the newest answer, ``parameters`` (k,) the dimensions [m]."""

    def __init__(
        self,
        design: ParametricDesign,
        gait: Gait,
        *,
        samples: int = 0,
        parameters: Array | None = None,
        solver: AugmentedLagrangian | None = None,
        monitor: Monitor = SILENT,
    ) -> None:
        """Solve the gait for the design as it is, or with ``parameters``; ``samples`` 0: those of the coarsest stage."""
        self.design = design
        self.parameters: Array = np.array(design.initial if parameters is None else parameters, dtype=np.float64)
        self.character = design.character(self.parameters)
        self._wanted = samples
        self._solver = solver or AugmentedLagrangian()
        self._known: _Known | None = None
        self._solved = False
        self._dragged: DraggedPlan
        self._begin(gait, None, monitor)

    @property
    def plan(self) -> MotionPlan:
        """The newest answer."""
        return self._dragged.plan

    @property
    def gait(self) -> Gait:
        """What is asked, as it is now."""
        return self._dragged.gait

    @property
    def size(self) -> int:
        """Number of unknowns n."""
        return self.plan.problem.size

    @property
    def worst(self) -> tuple[str, float]:
        """The kind of row that is violated most, and by how much, in its own unit."""
        return worst_row(self.plan.problem, self.plan.solution.z)

    def drag(
        self,
        *,
        parameters: Mapping[str, float] | None = None,
        distance: tuple[float | None, float | None] | None = None,
        turn: float | None = None,
        targets: Mapping[int, Place] | None = None,
    ) -> MotionPlan:
        """The plan after a small edit, with bounded work.

        ``parameters``: dimensions by name [m]; the others as in ``DraggedPlan.drag``. Names that the design does not have, values
        that cannot be built are refused, and nothing changes. Predicted is only what was learnt (:meth:`learn`). The plan's status
        says whether every row is met within 1e-4.
        """
        self._solved = False
        if not parameters:
            return self._dragged.drag(distance=distance, turn=turn, targets=targets)
        gait = self._dragged.edited(distance, turn, targets or {})
        p = Study(self.design, self._state).edited(self.parameters, dict(parameters))
        character = self.design.character(p)
        problem = self._problem(character, gait)
        start, shifts = self._predicted(problem, p - self.parameters)
        self.parameters, self.character = p, character
        self._dragged.gait = gait
        return self._dragged.resume(problem, start, shifts)

    def release(self, *, monitor: Monitor = SILENT) -> MotionPlan:
        """The plan solved to the end from where the drags left it; afresh where that fails, if it comes nearer so."""
        self._known = None
        plan = self._dragged.release(monitor=monitor)
        if not plan.solution.status.good and not monitor.cancelled:
            again = MotionPlan(plan.problem, solve_from(plan.problem, plan.problem.still(), self._solver, monitor=monitor))
            if again.solution.residual < plan.solution.residual:
                self._dragged = DraggedPlan.of(self.gait, again, solver=self._solver)
        self._solved = self.plan.solution.status.good
        return self.plan

    def regait(self, gait: Gait, *, monitor: Monitor = SILENT) -> MotionPlan:
        """The plan of another gait: from the last motion and its multipliers where the sizes agree, else from rest; solved."""
        self._begin(gait, self.plan, monitor)
        return self.plan

    def curves(self, *, cycles: int = 1, rate: float = RATE) -> JointCurves:
        """The motion of all coordinates, wheels turned, at ``rate`` [Hz]; of a cycle ``cycles`` times."""
        return play(self.character, self.plan, cycles, rate).motion

    def learn(self, *, monitor: Monitor = SILENT) -> bool:
        """Factor the optimality system of the last full solve, with which drags of dimensions are predicted: 0.2 to 0.6 s.

        Returns whether it is known now: not while the motion is being dragged, nor when the monitor asked to stop.
        """
        if self._known is None and self._solved:
            solution, problem = self.plan.solution, self.plan.problem
            try:
                system = optimality_system(problem, solution, monitor=monitor)
            except Cancelled:
                return False
            self._known = _Known(Variant(self.parameters, problem, solution), system, {})
        return self._known is not None

    def _begin(self, gait: Gait, last: MotionPlan | None, monitor: Monitor) -> None:
        self._known = None
        self._samples = self._wanted or min(stages(gait, footfalls(self.character, gait)))
        problem = self._problem(self.character, gait)
        if last is None or last.problem.size != problem.size:
            solution = solve_from(problem, problem.still(), self._solver, monitor=monitor)
        else:
            known = last.solution
            warm = known.warm if known.shifts.shape == problem.zero_shifts().shape else None
            solution = self._solver.solve(problem, known.z, warm=warm, monitor=monitor)
            if not solution.status.good and not monitor.cancelled:
                afresh = solve_from(problem, problem.still(), self._solver, monitor=monitor)
                solution = afresh if afresh.residual < solution.residual else solution
        self._dragged = DraggedPlan.of(gait, MotionPlan(problem, solution), solver=self._solver)
        self._solved = solution.status.good

    def _state(self, character: Character) -> MotionProblem:
        return self._problem(character, self.gait)

    def _problem(self, character: Character, gait: Gait) -> MotionProblem:
        one = character if gait.periodic else levelled(character)
        return state_problem(one, gait, samples=self._samples)

    def _predicted(self, problem: MotionProblem, dp: Array) -> tuple[Array, Array]:
        """Where to start after parameters changed by ``dp`` (k,): the last motion and shifts, moved along where that is better."""
        last = self.plan.solution
        z, shifts = last.z, last.shifts
        if problem.zero_shifts().shape != shifts.shape:
            return z, problem.zero_shifts()
        known = self._known
        if known is None or known.system.rows.scale.shape != shifts.shape:
            return z, shifts
        moved, pulled = z.copy(), np.zeros_like(shifts)
        for k in np.flatnonzero(dp):
            x, y = self._column(known, int(k))
            moved += x * dp[k]
            pulled += y * dp[k]
        rows = known.system.rows
        other = shifts + pulled / (2.0 * last.weight * rows.scale**2)
        other = np.where(rows.unequal, np.maximum(other, 0.0), other)
        better = problem.energy(moved, last.weight, other) < problem.energy(z, last.weight, shifts)
        return (moved, other) if better else (z, shifts)

    def _column(self, known: _Known, k: int) -> tuple[Array, Array]:
        """dm/dp_k (n,) and dlambda/dp_k (m,) at the last full solve."""
        if k not in known.columns:
            e = np.zeros(len(self.parameters))
            e[k] = PARAMETER_STEP
            study, p = Study(self.design, self._state), known.variant.parameters
            pair = (study.problem(p + e), study.problem(p - e))
            x, y = Sensitivity(study, known.variant, known.system, (pair,)).derivatives
            known.columns[k] = (x[:, 0], y[:, 0])
        return known.columns[k]
