"""A plan that follows the hand: drag where it goes or a target, and the motion answers at once; let go, and it is solved fully.

While dragging, samples, forces, multipliers (shifts), weight and damping of the last answer are kept, and only a few damped
Gauss-Newton steps are made (:meth:`~bunraku.optimization.augmented_lagrangian.AugmentedLagrangian.resolve`): at most three, then
one change of shifts, up to three times while a row is violated by more than 1e-4. The number of factorizations bounds the time.
"""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from bunraku.character import Character
from bunraku.errors import BadInput
from bunraku.gait.patterns import footfalls
from bunraku.motion import Gait
from bunraku.optimization.augmented_lagrangian import AugmentedLagrangian, AugmentedSolution, Warm
from bunraku.optimization.monitor import SILENT, Monitor
from bunraku.performers.locomotion.calmed import solve_from
from bunraku.performers.locomotion.plan import MotionPlan
from bunraku.performers.locomotion.problem import MotionProblem
from bunraku.performers.locomotion.state import stages, state_problem

WEIGHT = 1e3
"""Least weight of the rows while dragging: with the few steps of an answer they are met sooner than with that of the solve."""

Place = tuple[float | None, float | None, float | None]


class DraggedPlan:
    """A motion being edited: the last plan, and what is needed to change it quickly. ``plan`` is the newest answer."""

    def __init__(self, character: Character, gait: Gait, *, samples: int = 0) -> None:
        """Solve the gait from the calmed rest pose with ``samples`` (0: those of its coarsest stage: drag with few)."""
        self.solver = AugmentedLagrangian()
        self.gait = gait
        problem = state_problem(character, gait, samples=samples or min(stages(gait, footfalls(character, gait))))
        self.plan = MotionPlan(problem, solve_from(problem, problem.still(), self.solver))

    @classmethod
    def of(cls, gait: Gait, plan: MotionPlan, *, solver: AugmentedLagrangian | None = None) -> DraggedPlan:
        """A plan that is known already, to be dragged."""
        dragged = cls.__new__(cls)
        dragged.solver, dragged.gait, dragged.plan = solver or AugmentedLagrangian(), gait, plan
        return dragged

    def drag(
        self,
        *,
        distance: tuple[float | None, float | None] | None = None,
        turn: float | None = None,
        targets: Mapping[int, Place] | None = None,
        max_steps: int = 3,
        rounds: int = 3,
        tolerance: float = 1e-4,
        max_factorizations: int = 8,
    ) -> MotionPlan:
        """The plan after a small edit, resumed from the last one.

        ``distance`` (x, y) [m] and ``turn`` [rad]: the new travel, None where it stays; ``targets``: new places [m] of those of the
        gait, by their number in it, None where a coordinate stays as it is. The rest as in ``resolve``. The plan's status says
        whether every row is met within ``tolerance``; if not, the next drag goes on from there.
        """
        gait = self.edited(distance, turn, targets or {})
        problem = self._edit(gait)
        self.gait = gait
        return self.resume(problem, max_steps=max_steps, rounds=rounds, tolerance=tolerance, max_factorizations=max_factorizations)

    def resume(
        self,
        problem: MotionProblem,
        start: NDArray[np.float64] | None = None,
        shifts: NDArray[np.float64] | None = None,
        *,
        max_steps: int = 3,
        rounds: int = 3,
        tolerance: float = 1e-4,
        max_factorizations: int = 8,
    ) -> MotionPlan:
        """The plan of another problem of the same size, from the last answer, or from a ``start`` and ``shifts`` near it."""
        last = self.plan.solution
        if shifts is not None:
            last = dataclasses.replace(last, shifts=shifts)
        self.plan = MotionPlan(
            problem,
            self.solver.resolve(
                problem,
                last.z if start is None else start,
                _weighed(last, max(last.weight, WEIGHT), last.damping),
                max_steps=max_steps,
                rounds=rounds,
                tolerance=tolerance,
                max_factorizations=max_factorizations,
            ),
        )
        return self.plan

    def release(self, *, monitor: Monitor = SILENT) -> MotionPlan:
        """The plan solved to the end from where the drags left it, its multipliers kept."""
        last = self.plan.solution
        warm = _weighed(last, last.weight, self.solver.damping)
        self.plan = MotionPlan(self.plan.problem, self.solver.solve(self.plan.problem, last.z, warm=warm, monitor=monitor))
        return self.plan

    def edited(self, distance: tuple[float | None, float | None] | None, turn: float | None, targets: Mapping[int, Place]) -> Gait:
        """The gait with a new travel and new places of targets; see :meth:`drag`."""
        gait = self.gait
        if distance is not None:
            old = gait.distance or (None, None)
            gait = gait.changed(distance=tuple(b if a is None else a for a, b in zip(distance, old, strict=True)))
        if turn is not None:
            gait = gait.changed(turn=turn)
        if targets:
            known = list(gait.targets)
            for k, place in targets.items():
                if not 0 <= k < len(known):
                    raise BadInput(f"target {k} of a gait that has {len(known)} arrived; give numbers from 0 on")
                x, y, z = (b if a is None else a for a, b in zip(place, known[k].place, strict=True))
                known[k] = dataclasses.replace(known[k], place=(x, y, z))
            gait = gait.changed(targets=tuple(known))
        return gait

    def _edit(self, gait: Gait) -> MotionProblem:
        """The problem with the travel and the targets' places of ``gait``; model, rows and working arrays are those of the last."""
        old = self.plan.problem
        travel = tuple(np.nan if part is None else float(part) for part in (*(gait.distance or (None, None)), gait.turn))
        waypoints = []
        for point, target in zip(old.waypoints, gait.targets, strict=True):
            x, y, z = (0.0 if part is None else float(part) for part in target.place)
            wx, wy, wz = (0.0 if part is None else target.weight for part in target.place)
            waypoints.append(dataclasses.replace(point, place=(x, y, z), weight=(wx, wy, wz)))
        problem = copy.copy(old)  # with its cached arrays, of which only the travel's and the targets' are new
        object.__setattr__(problem, "travel", travel)
        object.__setattr__(problem, "waypoints", tuple(waypoints))
        problem.__dict__.pop("_arrays", None)
        return problem


def _weighed(solution: AugmentedSolution, weight: float, damping: float) -> Warm:
    """What to resume with at another weight: the multipliers, weight times shift, stay."""
    return Warm(solution.shifts * (solution.weight / weight), weight, damping)
