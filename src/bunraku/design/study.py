"""What is studied: a design with parameters, the motion asked of it, and the optimal motion of each of its variants."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike

from bunraku.arrays import Array
from bunraku.character import Character
from bunraku.design.system import settled
from bunraku.errors import BadInput
from bunraku.gait.patterns import footfalls
from bunraku.mechanics.centroidal.kinematics import contact_points
from bunraku.mechanics.centroidal.model import centroidal_model
from bunraku.motion import Gait
from bunraku.optimization.augmented_lagrangian import AugmentedLagrangian, AugmentedSolution
from bunraku.optimization.blocks.descent import Descent
from bunraku.optimization.monitor import SILENT, Monitor
from bunraku.optimization.solution import Status
from bunraku.optimization.threads import one_thread
from bunraku.performers.locomotion.plan import MotionPlan
from bunraku.performers.locomotion.problem import MotionProblem, Weights
from bunraku.performers.locomotion.state import stages, state_problem

SOFT_WEIGHT = 1e2
"""Weight of the rows where they are only wished (:attr:`Study.soft`)."""

TIGHT = AugmentedLagrangian(tolerance=1e-8, stationarity=1e-12, max_iterations=300)
"""Multipliers enter the curvature, so they must be found well: looser ends leave it with the wrong sign in places."""

NEARLY = 1e-4
"""Residual from which a solution that the solver did not finish is finished by Newton's method."""


class ParametricDesign(Protocol):
    """A family of characters of one morphology: parameters p (k,), their names, the bounds within which they can be built."""

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the parameters."""

    @property
    def initial(self) -> Array:
        """Their values (k,) before any change."""

    @property
    def lower(self) -> Array:
        """Least values (k,)."""

    @property
    def upper(self) -> Array:
        """Largest values (k,)."""

    def character(self, p: ArrayLike) -> Character:
        """The character with these parameters, smooth in them; BadInput names what cannot be built."""


@dataclass(frozen=True)
class Variant:
    """One choice of ``parameters`` (k,) with its optimal motion: the ``problem`` and its ``solution``. ``soft``: see `Study`."""

    parameters: Array
    problem: MotionProblem
    solution: AugmentedSolution
    soft: bool = False

    @property
    def motion(self) -> Array:
        """The unknowns m (n,) of the motion."""
        return self.solution.z

    @property
    def energy(self) -> float:
        """E of the motion: the objective where all rows hold; with the violations, weighted, where they are only wished."""
        return self.solution.energy if self.soft else self.solution.objective

    @property
    def plan(self) -> MotionPlan:
        """The motion as a plan."""
        return MotionPlan(self.problem, self.solution)

    @cached_property
    def worst(self) -> tuple[str, float]:
        """The kind of row violated most, in its own unit."""
        return worst_row(self.problem, self.motion)


def worst_row(problem: MotionProblem, z: Array) -> tuple[str, float]:
    """The kind of row violated most by a motion, and by how much, in its own unit."""
    violations = problem.violations(z)
    name = max(violations, key=lambda key: violations[key])
    return name, violations[name]


@dataclass(frozen=True)
class Study:
    """A design and what is asked of it. ``state`` makes the motion problem of a character; all else follows.

    ``soft``: rows are not demanded but wished, E = f + w sum (c r)^2 with a fixed weight, as in the paper. So a design that cannot
    move as asked still has a best motion, whose energy says how far it is from one that can.
    """

    design: ParametricDesign
    state: Callable[[Character], MotionProblem]
    soft: bool = False
    solver: AugmentedLagrangian = TIGHT

    def problem(self, parameters: ArrayLike) -> MotionProblem:
        """The motion problem of the variant with these parameters."""
        return self.state(self.design.character(np.array(parameters, dtype=np.float64)))

    @one_thread
    def solve(
        self, parameters: ArrayLike, *, near: Variant | None = None, start: Array | None = None, monitor: Monitor = SILENT
    ) -> Variant:
        """The optimal motion of a variant: from rest, or ``near`` a known one from ``start`` (else at that one's motion)."""
        p = np.array(parameters, dtype=np.float64)
        problem = self.problem(p)
        if start is None:
            start = problem.still() if near is None else near.motion
        if self.soft:
            return Variant(p, problem, _soft_solution(problem, start, monitor), True)
        warm = None if near is None or near.problem.zero_shifts().shape != problem.zero_shifts().shape else near.solution.warm
        solution = self.solver.solve(problem, start, warm=warm, monitor=monitor)
        if not solution.status.good and solution.residual <= NEARLY:
            solution = settled(problem, solution)
        return Variant(p, problem, solution)

    def softened(self) -> Study:
        """The same study with rows that are only wished."""
        return replace(self, soft=True)

    def edited(self, parameters: Array, changes: dict[str, float]) -> Array:
        """Parameters with some of them set; unknown names and values that cannot be built are refused."""
        p = np.array(parameters, dtype=np.float64)
        for name, value in changes.items():
            k = self.index(name)
            low, high = float(self.design.lower[k]), float(self.design.upper[k])
            if not low <= value <= high:
                raise BadInput(f"{self.design.names[k]} = {value:g} cannot be built; {low:g} to {high:g} can")
            p[k] = value
        return p

    def index(self, name: str) -> int:
        """The place of a parameter by name; underscores stand for spaces too."""
        for one in (name, name.replace("_", " ")):
            if one in self.design.names:
                return self.design.names.index(one)
        raise BadInput(f"the design has no parameter {name!r}; it has {', '.join(self.design.names)}")


def gait_study(design: ParametricDesign, gait: Gait, *, samples: int = 0, weights: Weights | None = None) -> Study:
    """The study of a design that should go as ``gait`` says, planned with ``samples``, 0: as a first coarse plan would be."""
    count = samples or stages(gait, footfalls(design.character(design.initial), gait))[0]

    def state(character: Character) -> MotionProblem:
        one = character if gait.periodic else levelled(character)
        return state_problem(one, gait, samples=count, weights=weights)

    return Study(design, state)


def levelled(character: Character, *, most: int = 20) -> Character:
    """The character with a home pose in which height, pitch and roll of the base bring its wheels and feet to the ground.

    A design with longer front legs stands on average where the ground is; what begins at rest must stand on it. By Gauss-Newton
    steps on the heights of the contact points; where more than three cannot touch at once, they do so as nearly as possible.
    """
    model = centroidal_model(character)
    q, free = model.home.copy(), [2, 4, 5]
    for _ in range(most):
        heights = contact_points(model, q)[:, 2]
        J = np.empty((len(heights), 3))
        for a, c in enumerate(free):
            e = np.zeros(len(q))
            e[c] = 1e-6
            J[:, a] = (contact_points(model, q + e)[:, 2] - contact_points(model, q - e)[:, 2]) / 2e-6
        step = np.linalg.lstsq(J, -heights, rcond=1e-9)[0]
        q[free] += step
        if np.abs(step).max() < 1e-13:
            break
    base = {name: float(q[c]) for c, name in ((c, model.names[c]) for c in free)}
    return character.changed(home={**character.home, **base})


def _soft_solution(problem: MotionProblem, start: Array, monitor: Monitor, most: int = 400) -> AugmentedSolution:
    """The least f + w sum (c r)^2; its shifts are the violations that remain, so that multipliers are 2 w c^2 s as ever."""
    descent = Descent(problem, np.array(start), SOFT_WEIGHT, problem.zero_shifts())
    status = Status.MAX_ITERATIONS
    for _ in range(most):
        if not descent.step() or descent.promise <= 1e-13:
            status = Status.CONVERGED
            break
        if monitor.cancelled:
            status = Status.CANCELLED
            break
    shifts, residual = problem.update(descent.z, problem.zero_shifts())
    return AugmentedSolution(
        z=descent.z,
        shifts=shifts,
        weight=SOFT_WEIGHT,
        damping=descent.damping,
        status=status,
        iterations=descent.iterations,
        factorizations=descent.factorizations,
        energy=problem.energy(descent.z, SOFT_WEIGHT, problem.zero_shifts()),
        objective=problem.objective(descent.z),
        residual=residual,
        stationarity=descent.promise,
        history=(),
    )
