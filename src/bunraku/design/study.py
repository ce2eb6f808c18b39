"""What is studied: a design with parameters, the motion asked of it, and the optimal motion of each of its variants."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bunraku.character import Character
from bunraku.errors import BadInput
from bunraku.optimization.augmented_lagrangian import AugmentedLagrangian, AugmentedSolution, Warm
from bunraku.optimization.monitor import SILENT, Monitor
from bunraku.performers.locomotion.problem import MotionProblem, Weights

__all__ = ["DESIGN_WEIGHTS", "ParametricDesign", "Plan", "Study"]

Array: TypeAlias = NDArray[np.float64]

DESIGN_WEIGHTS = Weights(posture=1e-2, force=1e-3)
"""Weights for design: ten times those of planning on posture and forces, so that no direction of the motion is almost free."""


class ParametricDesign(Protocol):
    """A family of characters of one morphology. Parameters p (k,) with their names and the bounds within which they can be printed."""

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

    def character(self, parameters: Array) -> Character:
        """The character with these parameters, smooth in them; BadInput names what cannot be built."""


@dataclass(frozen=True)
class Plan:
    """An optimal motion of one variant: its ``parameters`` (k,), the ``problem`` it solves and the ``solution``."""

    parameters: Array
    problem: MotionProblem
    solution: AugmentedSolution

    @property
    def motion(self) -> Array:
        """The unknowns m (n,) of the motion."""
        return self.solution.z

    @property
    def energy(self) -> float:
        """The objective of the motion, all rows fulfilled."""
        return self.solution.objective

    @property
    def coordinates(self) -> Array:
        """Coordinates q (T, nq) at the samples [m, rad]."""
        T, nv, _ = self.problem.shape
        q: Array = self.motion[: T * nv].reshape(T, nv)[:, : self.problem.model.nq]
        return q


@dataclass(frozen=True)
class Study:
    """A design and what is asked of it. ``state`` makes the motion problem of a character; all else follows.

    ``solver``: tolerances tight enough that derivatives can be seen in differences of solutions.
    """

    design: ParametricDesign
    state: Callable[[Character], MotionProblem]
    solver: AugmentedLagrangian = field(default_factory=lambda: AugmentedLagrangian(tolerance=1e-8, stationarity=1e-12))

    def problem(self, parameters: ArrayLike) -> MotionProblem:
        """The motion problem of the variant with these parameters."""
        return self.state(self.design.character(np.array(parameters, dtype=np.float64)))

    def solve(
        self, parameters: ArrayLike, *, near: Plan | None = None, start: Array | None = None, monitor: Monitor = SILENT
    ) -> Plan:
        """The optimal motion of a variant: from rest, or ``near`` a known one, beginning at ``start`` (that one's motion)."""
        p = np.array(parameters, dtype=np.float64)
        problem = self.problem(p)
        if near is None:
            return Plan(p, problem, self.solver.solve(problem, problem.still() if start is None else start, monitor=monitor))
        begun = near.motion if start is None else start
        known = near.solution
        solution = self.solver.solve(problem, begun, warm=Warm(known.shifts, known.weight, known.damping), monitor=monitor)
        return Plan(p, problem, solution)

    def edited(self, parameters: Array, changes: dict[str, float]) -> Array:
        """Parameters with some of them set; unknown names and values that cannot be printed are refused."""
        p = np.array(parameters, dtype=np.float64)
        for name, value in changes.items():
            k = self.place(name)
            low, high = float(self.design.lower[k]), float(self.design.upper[k])
            if not low <= value <= high:
                raise BadInput(f"{name} = {value:g} cannot be printed; {low:g} to {high:g} can")
            p[k] = value
        return p

    def place(self, name: str) -> int:
        """The index of a parameter by name."""
        if name not in self.design.names:
            raise BadInput(f"the design has no parameter {name!r}; it has {', '.join(self.design.names)}")
        return self.design.names.index(name)

    def places(self, names: Sequence[str]) -> NDArray[np.int64]:
        """The indices of several parameters."""
        return np.array([self.place(name) for name in names], dtype=np.int64)
