"""A plan: the solution of a motion problem, as coordinates, forces and shift, and what follows from them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import CubicSpline

from bunraku.mechanics.centroidal.kinematics import Kinematics, center_of_mass
from bunraku.mechanics.centroidal.model import GRAVITY
from bunraku.optimization.augmented_lagrangian import AugmentedSolution
from bunraku.performers.locomotion._kernels import wrap
from bunraku.performers.locomotion.problem import MotionProblem
from bunraku.performers.locomotion.torque import _kernels as torque_kernels

__all__ = ["Plan", "plan_torques", "resampled"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Plan:
    """The samples found for a problem, with how the solver ended."""

    problem: MotionProblem
    solution: AugmentedSolution

    @property
    def q(self) -> Array:
        """Coordinates (T, nq) of the samples."""
        return self.unknowns[:, : self.problem.model.nq]

    @property
    def unknowns(self) -> Array:
        """Coordinates and forces (T, nv) of the samples."""
        T, nv, _ = self.problem.shape
        return self.solution.z[: T * nv].reshape(T, nv)

    @property
    def shift(self) -> Array:
        """D = (dx, dy, dyaw) [m, rad]."""
        return self.solution.z[-3:]

    def sample(self, k: int) -> Array:
        """The unknowns (nv,) of sample k of the endless motion: beyond a cycle its shifted (and mirrored) copy; ends held."""
        problem = self.problem
        T = problem.samples
        v = self.unknowns
        if not problem.periodic:
            ends = problem.ends
            if k < 0:
                return v[0] if ends.before is None else ends.before
            if k >= T:
                return v[-1] if ends.after is None else self._carried(ends.after, 1)
            return v[k]
        return self._carried(v[k % T], k // T)

    def _carried(self, v: Array, cycles: int) -> Array:
        model = self.problem.model
        permutation, sign = np.arange(model.nv), np.ones(model.nv)
        if self.problem.ends.mirror is not None:
            permutation, sign = self.problem.ends.mirror
        out, M, N = np.empty(model.nv), np.empty((model.nv, model.nv)), np.empty((model.nv, 3))
        for _ in range(abs(cycles)):
            wrap(np.ascontiguousarray(v), model.nq, self.shift, cycles < 0, permutation, sign, out, M, N)
            v = out.copy()
        return np.array(v)

    def samples(self, first: int, last: int) -> Array:
        """The unknowns (last - first + 1, nv) of samples ``first`` to ``last`` of the endless motion."""
        return np.array([self.sample(k) for k in range(first, last + 1)])

    @cached_property
    def displacement(self) -> tuple[float, float, float]:
        """What the centre of mass travels (x, y) [m] and the base turns [rad], per cycle or from start to end."""
        problem, model = self.problem, self.problem.model
        cycle = problem.samples * (2 if problem.ends.mirror is not None else 1)
        first, last = self.sample(0), self.sample(cycle if problem.periodic else problem.samples - 1)
        moved = center_of_mass(model, last[: model.nq]) - center_of_mass(model, first[: model.nq])
        return float(moved[0]), float(moved[1]), float(last[3] - first[3])


def plan_torques(problem: MotionProblem, v: Array, seen: Kinematics) -> Array:
    """Torques (n - 2, nq) at the inner ones of the samples ``v`` (n, nv), by the plan's own inverse dynamics."""
    model, K = problem.model, seen.arrays
    torque = np.zeros((max(len(v) - 2, 0), model.nq))
    load = np.empty((len(model.points[0]), 3))
    tree = (model.tree[0], model.tree[1], model.nodes, model.points, model.tips[0])
    for i in range(1, len(v) - 1):
        forces = np.ascontiguousarray(v[i, model.nq :])
        torque_kernels.torques(*tree, K[1], K[2], K[3], K[5], K[6], forces, i, problem.step, GRAVITY, load, torque[i - 1])
    return torque


def resampled(plan: Plan, problem: MotionProblem) -> Array:
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
