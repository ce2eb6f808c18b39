"""A space-time plan: coordinates, forces, torques and shift of the samples, and what they are at any time between."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.interpolate import CubicSpline

from bunraku.arrays import Array, Indices
from bunraku.mechanics.centroidal.kinematics import Kinematics, kinematics
from bunraku.mechanics.centroidal.problem import GroundSolution
from bunraku.optimization.augmented_lagrangian import AugmentedSolution
from bunraku.optimization.solution import Status
from bunraku.performers.skin.spacetime.problem import SpacetimeProblem

MARGIN = 4
"""Samples of the neighbouring cycles that a spline through a cycle sees."""


@dataclass(frozen=True)
class SpacetimeSamples:
    """A plan at n ``times`` [s].

    ``q`` (n, nq); ``force`` and ``moment`` (n, n_e, 3) of the ground about the soles' centres [N, N·m]; ``torque`` (n, nq) of the
    joints [N·m]; ``touching`` (n, n_e): 1 where a sole stands.
    """

    times: Array
    q: Array
    force: Array
    moment: Array
    torque: Array
    touching: Indices


@dataclass(frozen=True)
class SpacetimePlan(GroundSolution):
    """The samples found for a problem, with how the solver ended."""

    problem: SpacetimeProblem
    solution: AugmentedSolution

    @property
    def status(self) -> Status:
        """How the solver ended."""
        return self.solution.status

    @property
    def residual(self) -> float:
        """The largest violation of a row, in the row's unit."""
        return self.solution.residual

    @property
    def objective(self) -> float:
        """The sum of the terms."""
        return self.solution.objective

    @property
    def iterations(self) -> int:
        """Accepted steps of the solver."""
        return self.solution.iterations

    @property
    def force(self) -> Array:
        """Forces (T, n_e, 3) [N] of the ground on the soles."""
        return self._ground[0]

    @property
    def moment(self) -> Array:
        """Torques (T, n_e, 3) [N·m] of the ground about the soles' centres."""
        return self._ground[1]

    @cached_property
    def _ground(self) -> tuple[Array, Array]:
        both = self.unknowns[:, self.problem.model.nq :].reshape(self.problem.samples, 2, -1, 3)
        return both[:, 0], both[:, 1]

    @cached_property
    def torque(self) -> Array:
        """Torques (T, nq) [N·m] of the joints, the skin's stiffness and torques included; zero for the base."""
        torques = self.problem.torques(self.solution.z)
        torques[:, :6] = 0.0
        return torques

    @property
    def times(self) -> Array:
        """Times (T,) [s] of the samples."""
        return self.problem.step * np.arange(self.problem.samples, dtype=np.float64)

    @property
    def duration(self) -> float:
        """Length [s] of a cycle, or of a motion that happens once."""
        return self.problem.step * self.problem.intervals

    @cached_property
    def seen(self) -> Kinematics:
        """Centre of mass and sole centres of the samples, without the skin's shifts."""
        return kinematics(self.problem.model, self.q)

    @cached_property
    def moved(self) -> tuple[Array, Array]:
        """Centre of mass (T, 3) and centres of the soles (T, n_e, 3) [m] with the skin's shifts, as the plan sees them."""
        self.problem.values(self.solution.z)
        K = self.problem.work.K
        return K.x[1:-1].copy(), K.e[1:-1].copy()

    def sample(self, k: int) -> Array:
        """The unknowns (nv,) of sample k of the endless motion: beyond a cycle its shifted copy; the ends of one held."""
        problem = self.problem
        T = problem.samples
        if not problem.periodic:
            return self.unknowns[min(max(k, 0), T - 1)]
        return problem.carried(self.unknowns[k % T], self.shift, k // T)

    def sample_at(self, times: ArrayLike) -> SpacetimeSamples:
        """The plan at ``times`` (n,) [s]: coordinates by cubic splines, forces and torques linearly, nothing from soles in the air.

        A cycle goes on for ever; a motion that happens once stands still before its start and after its end. A sole stands
        between two samples if it stands at both.
        """
        problem, model = self.problem, self.problem.model
        nq, T = model.nq, problem.samples
        t = np.atleast_1d(np.asarray(times, dtype=np.float64))
        at = t if problem.periodic else np.clip(t, 0.0, self.duration)
        first, last = int(np.floor(at.min() / problem.step)) - MARGIN, int(np.ceil(at.max() / problem.step)) + MARGIN
        if not problem.periodic:
            first, last = 0, T - 1
        numbers = np.arange(first, last + 1)
        v = np.array([self.sample(int(k)) for k in numbers])
        knots = problem.step * numbers.astype(np.float64)
        index = numbers % T if problem.periodic else numbers
        low = np.clip(np.floor(at / problem.step + 1e-9).astype(np.int64) - first, 0, len(numbers) - 2)
        share = np.clip(at / problem.step - numbers[low], 0.0, 1.0)[:, None]
        flags = problem.contacts[index]
        exact = np.where(share < 1e-6, flags[low], np.where(share > 1.0 - 1e-6, flags[low + 1], flags[low] & flags[low + 1]))
        torque = self.torque[index]
        ground = (1.0 - share) * v[low, nq:] + share * v[low + 1, nq:]
        both = ground.reshape(len(t), 2, -1, 3) * exact[:, None, :, None]
        joints = (1.0 - share) * torque[low] + share * torque[low + 1]
        return SpacetimeSamples(t, self._spline(knots, v[:, :nq])(at), both[:, 0], both[:, 1], joints, exact)

    def _spline(self, knots: Array, q: Array) -> CubicSpline:
        """The spline of the coordinates; an end at rest has speed zero."""
        ends: list[Any] = [
            (1, np.zeros(q.shape[1])) if not self.problem.periodic and rest else "not-a-knot" for rest in self.problem.rest
        ]
        return CubicSpline(knots, q, bc_type=(ends[0], ends[1]))

    def frames(self, step: float = 0.005) -> SpacetimeSamples:
        """The plan every ``step`` [s], one cycle or the whole motion, both ends included."""
        return self.sample_at(step * np.arange(int(np.floor(self.duration / step + 1e-9)) + 1))
