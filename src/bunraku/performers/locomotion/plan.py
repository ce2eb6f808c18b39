"""A plan: the solution of a motion problem, as coordinates, forces and shift, and what follows from them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import CubicSpline

from bunraku.arrays import Array
from bunraku.mechanics.centroidal.kinematics import center_of_mass
from bunraku.mechanics.centroidal.problem import GroundSolution
from bunraku.optimization.augmented_lagrangian import AugmentedSolution
from bunraku.performers.locomotion.problem import MotionProblem


def sample_at(problem: MotionProblem, z: Array, k: int) -> Array:
    """The unknowns (nv,) of sample k of the endless motion ``z``: beyond a cycle its shifted (and mirrored) copy; ends held."""
    T, nv, _ = problem.shape
    v, D, ends = z[: T * nv].reshape(T, nv), z[T * nv :], problem.ends
    if problem.periodic:
        return problem.carried(v[k % T], D, k // T)
    if k < 0:
        return v[0] if ends.before is None else ends.before
    if k >= T:
        return v[-1] if ends.after is None else problem.carried(ends.after, D, 1)
    return v[k]


@dataclass(frozen=True)
class MotionPlan(GroundSolution):
    """The samples found for a problem, with how the solver ended."""

    problem: MotionProblem
    solution: AugmentedSolution

    def sample(self, k: int) -> Array:
        """The unknowns (nv,) of sample k of the endless motion: beyond a cycle its shifted (and mirrored) copy; ends held."""
        return sample_at(self.problem, self.solution.z, k)

    def samples(self, first: int, last: int) -> Array:
        """The unknowns (last - first + 1, nv) of samples ``first`` to ``last`` of the endless motion."""
        return np.array([self.sample(k) for k in range(first, last + 1)])

    @property
    def cycle(self) -> int:
        """Samples of a whole cycle: twice those of a mirrored half."""
        return self.problem.samples * (2 if self.problem.ends.mirror is not None else 1)

    def touching(self, k: int) -> NDArray[np.int64]:
        """Which end effectors (n_e,) are on the ground at sample k of the endless motion."""
        problem = self.problem
        T, ends = problem.samples, problem.ends
        if not problem.periodic:
            if k < 0 and ends.contacts_before is not None:
                return ends.contacts_before
            if k >= T and ends.contacts_after is not None:
                return ends.contacts_after
            return problem.contacts[min(max(k, 0), T - 1)]
        flags = problem.contacts[k % T]
        if ends.mirror is not None and (k // T) % 2:
            nq = problem.model.nq
            flags = flags[(ends.mirror[0][nq::3] - nq) // 3]
        return flags

    @cached_property
    def displacement(self) -> tuple[float, float, float]:
        """What the centre of mass travels (x, y) [m] and the base turns [rad], per cycle or from start to end."""
        problem, model = self.problem, self.problem.model
        first, last = self.sample(0), self.sample(self.cycle if problem.periodic else problem.samples - 1)
        moved = center_of_mass(model, last[: model.nq]) - center_of_mass(model, first[: model.nq])
        return float(moved[0]), float(moved[1]), float(last[3] - first[3])


def resampled(plan: MotionPlan, problem: MotionProblem) -> Array:
    """The unknowns z of a finer ``problem`` of the same motion: coordinates by cubic splines, forces linearly."""
    coarse = plan.problem
    nq = coarse.model.nq
    margin = 3 if coarse.periodic else 1
    v = plan.samples(-margin, coarse.samples - 1 + margin)
    t = coarse.step * np.arange(-margin, coarse.samples + margin)
    if not coarse.periodic:
        inner = slice(0 if coarse.ends.before is not None else 1, None if coarse.ends.after is not None else -1)
        v, t = v[inner], t[inner]
    at = problem.step * np.arange(problem.samples)
    at = np.clip(at, t[0], t[-1])
    z = np.zeros(problem.size)
    fine = z[:-3].reshape(problem.samples, -1)
    fine[:, :nq] = CubicSpline(t, v[:, :nq])(at)
    for c in range(nq, v.shape[1]):
        fine[:, c] = np.interp(at, t, v[:, c])
    fine[:, nq:] *= np.repeat(problem.contacts, 3, axis=1)
    z[-3:] = plan.shift
    return z
